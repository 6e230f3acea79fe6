// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the search for a value in JSON text: jansson keeps no positions. The
 * text has been parsed, so it is well formed.
 */
#include <stdbool.h>
#include <string.h>

#include "json_read.h"

struct cursor {
	const char *p, *end;
};

static void blanks(struct cursor *c)
{
	while (c->p < c->end && strchr(" \t\r\n", *c->p) && *c->p)
		c->p++;
}

/* Skip a string. The cursor is at its first quote. */
static void skip_string(struct cursor *c)
{
	for (c->p++; c->p < c->end && *c->p != '"'; c->p++)
		if (*c->p == '\\')
			c->p++;
	if (c->p < c->end)
		c->p++;
}

static void skip_value(struct cursor *c)
{
	size_t depth = 0;

	blanks(c);
	while (c->p < c->end) {
		if (*c->p == '"') {
			skip_string(c);
			if (!depth)
				return;
			continue;
		}
		if (strchr(",]} \t\r\n", *c->p) && *c->p && !depth)
			return;
		if (*c->p == '{' || *c->p == '[')
			depth++;
		if (*c->p == '}' || *c->p == ']')
			if (!--depth) {
				c->p++;
				return;
			}
		c->p++;
	}
}

/* Go to a member. If there is none, return false; the cursor stays. */
static bool enter(struct cursor *c, const struct json_at *at)
{
	struct cursor k = *c;
	size_t i, len;
	const char *key;

	if (k.p >= k.end || (*k.p != '{' && *k.p != '['))
		return false;
	k.p++;
	for (i = 0;; i++) {
		blanks(&k);
		if (k.p >= k.end || *k.p == '}' || *k.p == ']')
			return false;
		if (*k.p == ',') {
			k.p++;
			blanks(&k);
		}
		if (at->key) {
			key = k.p + 1;
			skip_string(&k);
			len = (size_t)(k.p - key) - 1;
			blanks(&k);
			if (k.p < k.end && *k.p == ':')
				k.p++;
			blanks(&k);
			if (strlen(at->key) == len && !memcmp(key, at->key, len))
				break;
		} else if (i == at->index) {
			break;
		}
		skip_value(&k);
	}
	*c = k;
	return true;
}

/*
 * A key written with escapes is not found: then the position is that of its
 * object.
 */
static bool walk(struct cursor *c, const struct json_at *at)
{
	blanks(c);
	if (!at)
		return true;
	return walk(c, at->up) && enter(c, at);
}

void json_locate(const struct json_read *r, const struct json_at *at, size_t *line, size_t *col)
{
	struct cursor c = {r->text, r->text + r->len};
	const char *p;

	walk(&c, at);
	*line = 1;
	*col = 1;
	for (p = r->text; p < c.p; p++) {
		if (*p == '\n') {
			(*line)++;
			*col = 1;
		} else if (((unsigned char)*p & 0xc0) != 0x80) {
			(*col)++;
		}
	}
}
