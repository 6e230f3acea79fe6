// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names between text and rows; checks and defaults of a face's attributes. Pure.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ndnd.h"
#include "ndn/packet/ndn.h"

int ndnd_name_parse(const char *text, struct ndn_row_name *name, struct reason *why)
{
	struct ndn_name_buf buf = {};
	enum ndn_err err = ndn_name_parse(&buf, text);
	struct ndn_name n;

	memset(name, 0, sizeof(*name));
	if (err)
		return reason_set(why, -EINVAL, "name '%.100s': %s", text, ndn_err_text(err));
	n = ndn_name_of(&buf);
	name->len = n.len;
	name->count = n.count;
	memcpy(name->value, n.value, n.len);
	return 0;
}

const char *ndnd_name_text(const struct ndn_row_name *name, char buf[NDND_TEXT_MAX])
{
	struct ndn_name n;

	if (name->len > NDN_NAME_BYTES || ndn_name_decode(&n, name->value, name->len) ||
	    ndn_name_text(&n, buf, NDND_TEXT_MAX))
		return "?";
	return buf;
}

bool ndnd_name_is_equal(const struct ndn_row_name *a, const struct ndn_row_name *b)
{
	return a->len == b->len && !memcmp(a->value, b->value, a->len);
}

/* Prefixes end with a component, so bytes can be compared. */
bool ndnd_name_is_below(const struct ndn_row_name *prefix, const struct ndn_row_name *n)
{
	return prefix->len <= n->len && prefix->count <= n->count &&
	       !memcmp(prefix->value, n->value, prefix->len);
}

int ndnd_prefix_parse(const struct ndnd *fw, const char *text, struct ndn_row_name *name,
		      struct reason *why)
{
	int err = ndnd_name_parse(text, name, why), i;

	for (i = NDN_MARK_DISTRIBUTE; fw && !err && i < NDN_MARK__MAX; i++)
		if (name->len >= fw->marker[i].len && fw->marker[i].len &&
		    !memcmp(name->value, fw->marker[i].tlv, fw->marker[i].len))
			return reason_set(
				why, -EINVAL,
				"name '%.100s' begins with a marker: leave the marker out", text);
	return err;
}

int ndnd_marker_parse(const char *text, struct ndn_marker *m, struct reason *why)
{
	struct ndn_row_name name;
	char path[NDND_TEXT_MAX];
	int err;

	memset(m, 0, sizeof(*m));
	if (!*text || strchr(text, '/') || strlen(text) >= sizeof(path) - 1)
		return reason_set(why, -EINVAL, "marker '%.60s': must be one component", text);
	path[0] = '/';
	strcpy(path + 1, text);
	err = ndnd_name_parse(path, &name, why);
	if (err)
		return err;
	if (name.len > NDN_MARKER_BYTES)
		return reason_set(why, -E2BIG, "marker '%.60s': %u bytes, at most %u", text,
				  name.len - 2, NDN_MARKER_BYTES - 2);
	m->len = name.len;
	memcpy(m->tlv, name.value, name.len);
	return 0;
}

const char *ndnd_marker_text(const struct ndn_marker *m, char buf[NDND_TEXT_MAX])
{
	struct ndn_row_name name = {.len = (uint16_t)m->len, .count = 1};
	const char *text;

	if (m->len > NDN_MARKER_BYTES)
		return "?";
	memcpy(name.value, m->tlv, m->len);
	text = ndnd_name_text(&name, buf);
	return *text == '/' ? text + 1 : text;
}

size_t ndnd_prefixes_text(const struct ndnd_prefix *p, unsigned int n)
{
	char buf[NDND_TEXT_MAX];
	size_t sum = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		sum += strlen(ndnd_name_text(&p[i].name, buf)) *
		       ((p[i].may & NDN_MAY_SUBSCRIBE ? 1 : 0) +
			(p[i].may & NDN_MAY_WRITE ? 1 : 0));
	return sum;
}

static int prefix_add(struct ndnd_spec *s, uint8_t may, const struct ndn_row_name *name,
		      struct reason *why)
{
	unsigned int i;

	for (i = 0; i < s->n; i++)
		if (ndnd_name_is_equal(&s->prefix[i].name, name))
			break;
	if (i == NDND_PREFIXES_MAX)
		return reason_set(why, -E2BIG, "a face has at most %u prefixes", NDND_PREFIXES_MAX);
	if (i == s->n) {
		s->prefix[s->n].may = 0;
		s->prefix[s->n++].name = *name;
	}
	s->prefix[i].may |= may;
	return 0;
}

int ndnd_spec_add(const struct ndnd *fw, struct ndnd_spec *s, uint8_t may, const char *text,
		  struct reason *why)
{
	struct ndn_row_name name;
	int err;

	if (!*text)
		return 0;
	err = ndnd_prefix_parse(fw, text, &name, why);
	return err ? err : prefix_add(s, may, &name, why);
}

/* Defaults of a new face. A router has all rights unless prefixes are given. */
static int defaults(struct ndnd_spec *s, struct reason *why)
{
	static const struct ndn_row_name all;
	uint8_t may = NDN_MAY_SUBSCRIBE | NDN_MAY_WRITE;

	if (!s->has_port)
		s->port = TRIB_NDN_UDP_PORT;
	if (s->kind != TRIB_FACE_NDN_ROUTER || s->has_subscribe || s->has_write)
		return 0;
	return prefix_add(s, may, &all, why);
}

/* Order of prefixes, whatever the order of the request. */
static int by_name(const void *a, const void *b)
{
	const struct ndnd_prefix *p = a, *q = b;

	return memcmp(p->name.value, q->name.value, NDN_NAME_BYTES);
}

int ndnd_spec_apply(const struct ndnd_peer *p, struct ndnd_spec *s, struct reason *why)
{
	uint8_t gone =
		(s->has_subscribe ? NDN_MAY_SUBSCRIBE : 0) | (s->has_write ? NDN_MAY_WRITE : 0);
	unsigned int i;
	int err = 0;

	if (!s->has_kind)
		s->kind = p ? p->kind : TRIB_FACE_NDN_NONE;
	if (s->kind > TRIB_FACE_NDN_HOST)
		return reason_set(why, -ERANGE, "ndn %u: must be 0 (none), 1 (router) or 2 (host)",
				  s->kind);
	if (!s->kind && (s->has_port || s->n))
		return reason_set(why, -EINVAL,
				  "ndn-port and prefixes need ndn host or ndn router");
	if (!s->kind)
		return 0;
	if (!p) {
		err = defaults(s, why);
	} else if (!s->has_port) {
		s->port = p->port;
	}
	for (i = 0; p && !err && i < p->n; i++)
		if (p->prefix[i].may & ~gone)
			err = prefix_add(s, p->prefix[i].may & ~gone, &p->prefix[i].name, why);
	qsort(s->prefix, s->n, sizeof(s->prefix[0]), by_name);
	if (!err && ndnd_prefixes_text(s->prefix, s->n) > NDND_PREFIXES_TEXT)
		return reason_set(why, -E2BIG, "the prefixes of a face have at most %u characters",
				  NDND_PREFIXES_TEXT);
	return err;
}
