// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files of hwloc, checked before hwloc sees them. hwloc believes much: it takes a PCI
 * device without an address, and descends as deep as a file does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "topo_own.h"

#define FILE_MAX (16 << 20)
#define DEPTH_MAX 100
#define TAGS_MAX 200000
#define VALUE_MAX (64 << 10)

static const char head[] = "<topology version=\"2.";

/**
 * struct scan - a walk over the tags of a file
 * @at: behind the tag.
 * @tag, @end: the tag, from < to behind >.
 */
struct scan {
	const char *path;
	const char *text, *at, *tag, *end;
	char *why;
	size_t size;
	unsigned int depth, tags, nodes, pus;
};

static int fail(const struct scan *s, const char *what, const char *which)
{
	unsigned int line = 1;
	const char *p;

	for (p = s->text; p < s->tag; p++)
		line += *p == '\n';
	return text_fail(s->why, s->size, -EINVAL, "%s: line %u: %s%s", s->path, line, what, which);
}

/* Find the end of the tag at s->tag. Quotes may hold >. */
static int close_tag(struct scan *s)
{
	const char *p, *quote = NULL;

	for (p = s->tag + 1; *p; p++) {
		if (*p == '"') {
			if (quote && p - quote > VALUE_MAX)
				return fail(s, "a value is too long", "");
			quote = quote ? NULL : p;
		} else if (*p == '>' && !quote) {
			s->end = p + 1;
			return 0;
		} else if (*p == '<') {
			return fail(s, "< within a tag", "");
		}
	}
	return fail(s, "a tag does not end", "");
}

/* Find the value of an attribute of the tag; NULL if it has none. */
static const char *value_of(const struct scan *s, const char *name, size_t *len)
{
	size_t n = strlen(name);
	const char *p = s->tag, *end;

	while ((p = memchr(p, ' ', (size_t)(s->end - p)))) {
		p++;
		if (!strncmp(p, name, n) && p[n] == '=' && p[n + 1] == '"') {
			p += n + 2;
			end = memchr(p, '"', (size_t)(s->end - p));
			*len = (size_t)(end - p);
			return p;
		}
		/* Behind this attribute's value, where no blank is mistaken for its end. */
		p = memchr(p, '"', (size_t)(s->end - p));
		p = p ? memchr(p + 1, '"', (size_t)(s->end - p - 1)) : NULL;
		if (!p)
			return NULL;
	}
	return NULL;
}

static bool is(const char *value, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(value, word, len);
}

static int want_attributes(const struct scan *s, const char *type, size_t tlen)
{
	static const struct {
		const char *type, *name;
	} wanted[] = {
		{"PCIDev", "pci_busid"},  {"PCIDev", "pci_type"}, {"Bridge", "bridge_type"},
		{"Bridge", "bridge_pci"}, {"OSDev", "name"},	  {"OSDev", "osdev_type"},
		{"NUMANode", "os_index"}, {"PU", "os_index"},
	};
	size_t i, len;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (!is(type, tlen, wanted[i].type))
			continue;
		if (!value_of(s, wanted[i].name, &len) || !len)
			return fail(s, "an object lacks ", wanted[i].name);
	}
	return 0;
}

static int check_object(struct scan *s)
{
	size_t len, klen = 0, unused;
	const char *type, *kind;

	type = value_of(s, "type", &len);
	if (!type)
		return fail(s, "an object lacks type", "");
	s->nodes += is(type, len, "NUMANode");
	s->pus += is(type, len, "PU");
	kind = is(type, len, "Bridge") ? value_of(s, "bridge_type", &klen) : NULL;
	if (kind && !is(kind, klen, "0-1") && !is(kind, klen, "1-1"))
		return fail(s, "a bridge's type is neither 0-1 nor 1-1", "");
	if (kind && is(kind, klen, "1-1") && !value_of(s, "pci_busid", &unused))
		return fail(s, "an object lacks ", "pci_busid");
	return want_attributes(s, type, len);
}

static int check_tag(struct scan *s)
{
	int err = close_tag(s);

	if (err)
		return err;
	if (++s->tags > TAGS_MAX)
		return fail(s, "too many objects", "");
	if (s->tag[1] == '/') {
		if (!s->depth)
			return fail(s, "an end without a beginning", "");
		s->depth--;
		return 0;
	}
	if (s->tag[1] == '!' || s->tag[1] == '?')
		return fail(s, "comments and declarations are not hwloc's", "");
	if (!strncmp(s->tag, "<object ", 8))
		err = check_object(s);
	if (!err && s->end[-2] != '/' && ++s->depth > DEPTH_MAX)
		err = fail(s, "nested too deeply", "");
	return err;
}

/* Skip what hwloc writes before the topology. */
static const char *skip_head(const char *text)
{
	static const char doctype[] = "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">";
	const char *p = text;

	if (!strncmp(p, "<?xml ", 6)) {
		p = strchr(p, '\n');
		p = p ? p + 1 : "";
	}
	if (!strncmp(p, doctype, sizeof(doctype) - 1)) {
		p = strchr(p, '\n');
		p = p ? p + 1 : "";
	}
	return strncmp(p, head, sizeof(head) - 1) ? NULL : p;
}

static int check(const char *path, const char *text, char *why, size_t size)
{
	struct scan s = {.path = path, .text = text, .why = why, .size = size};
	int err = 0;

	s.at = skip_head(text);
	if (!s.at)
		return text_fail(why, size, -EINVAL,
				 "%s: no file of hwloc 2: want %s...; run: lstopo machine.xml",
				 path, head);
	while (!err && (s.tag = strchr(s.at, '<'))) {
		err = check_tag(&s);
		s.at = s.end;
	}
	if (err)
		return err;
	if (s.depth)
		return text_fail(why, size, -EINVAL, "%s: ends before its objects do", path);
	if (!s.nodes || !s.pus)
		return text_fail(why, size, -EINVAL, "%s: a machine without %s", path,
				 s.nodes ? "CPUs (PU)" : "NUMA nodes");
	return 0;
}

int peer_topo_xml_read(const char *path, char **text, size_t *len, char *why, size_t size)
{
	int err = file_read(path, FILE_MAX, text, len);

	if (err == -EFBIG)
		return text_fail(why, size, err, "%s: more than %d MiB", path, FILE_MAX >> 20);
	if (err)
		return text_fail(why, size, err, "%s: %s", path, strerror(-err));
	err = strlen(*text) == *len ? check(path, *text, why, size)
				    : text_fail(why, size, -EINVAL, "%s: no text", path);
	if (err) {
		free(*text);
		*text = NULL;
	}
	return err;
}
