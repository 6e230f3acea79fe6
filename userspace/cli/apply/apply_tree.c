// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns trees as words behind "tree add", the form in which they are compared
 * and loaded. The words are made from a row of a plan or from a tree of tribd.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "uapi/trib_attach.h"
#include "uapi/trib_maps.h"
#include "uapi/trib_wire.h"
#include "apply.h"

json_t *apply_words(const char *fmt, ...)
{
	json_t *list = json_array();
	char *text, *word, *at;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return list;
	for (word = strtok_r(text, " ", &at); word; word = strtok_r(NULL, " ", &at))
		json_array_append_new(list, json_string(word));
	free(text);
	return list;
}

static void put(json_t *words, json_t *more)
{
	json_array_extend(words, more);
	json_decref(more);
}

static void put_children(json_t *words, const json_t *children)
{
	const json_t *v;
	size_t i;

	json_array_foreach(children, i, v) {
		const char *key = i ? "" : "child ";

		if (json_object_get(v, "rank"))
			put(words, apply_words("%s%s:%llu", key, jstr(v, "face"),
					       (unsigned long long)jnum(v, "rank")));
		else
			put(words, apply_words("%s%s", key, jstr(v, "face")));
	}
}

static void put_rest(json_t *words, const json_t *local, const json_t *down)
{
	const json_t *v;
	size_t i;

	/* An index is a port in a row with a PS. */
	json_array_foreach(local, i, v)
		put(words, apply_words("%s%llu:%llu", i ? "" : "local ",
				       (unsigned long long)jnum(v, "rank"),
				       (unsigned long long)jnum(
					       v, json_object_get(v, "port") ? "port" : "index")));
	json_array_foreach(down, i, v)
		put(words, apply_words("%s%s", i ? "" : "down ", json_string_value(v) ?: ""));
}

/* Words that only a row of workers has. */
static void put_ps(json_t *words, const json_t *t)
{
	const char *ps = jstr(t, "ps");
	bool v6 = strchr(ps, ':');
	const json_t *h;
	size_t i;

	if (!*ps)
		return;
	put(words, apply_words("ps %s%s%s:%llu", v6 ? "[" : "", ps, v6 ? "]" : "",
			       (unsigned long long)jnum(t, "ps_port")));
	json_array_foreach(json_object_get(t, "hops"), i, h)
		put(words, apply_words("%s%llu:%s", i ? "" : "hop ",
				       (unsigned long long)jnum(h, "relay"), jstr(h, "face")));
	if (*jstr(t, "group"))
		put(words, apply_words("group %s", jstr(t, "group")));
}

json_t *apply_tree_words(const json_t *t)
{
	json_t *words = apply_words("%s", jstr(t, "job"));

	put_children(words, json_object_get(t, "children"));
	if (json_object_get(t, "parent"))
		put(words, apply_words("parent %s", jstr(t, "parent")));
	if (json_object_get(t, "up_child"))
		put(words, apply_words("index %llu", (unsigned long long)jnum(t, "up_child")));
	put_rest(words, json_object_get(t, "local"), json_object_get(t, "down"));
	if (jnum(t, "relay"))
		put(words, apply_words("relay %llu next %llu workers %s",
				       (unsigned long long)jnum(t, "relay"),
				       (unsigned long long)jnum(t, "next"), jstr(t, "workers")));
	put_ps(words, t);
	if (json_object_get(t, "weight"))
		put(words, apply_words("weight %llu", (unsigned long long)jnum(t, "weight")));
	return words;
}

static bool is_number(const json_t *o, const char *key, json_int_t max)
{
	const json_t *v = json_object_get(o, key);

	return json_is_integer(v) && json_integer_value(v) >= 0 && json_integer_value(v) <= max;
}

/* Name on the host of a face of the plan. */
static const char *face_of(const json_t *faces, const json_t *name)
{
	const char *s = json_string_value(name);

	return s ? json_string_value(json_object_get(faces, s)) : NULL;
}

static json_t *bad(char *why, size_t size, const json_t *row, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static json_t *bad(char *why, size_t size, const json_t *row, const char *fmt, ...)
{
	int n = snprintf(why, size, "tree %llu: ", (unsigned long long)jnum(row, "id"));
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why + n, size - (size_t)n, fmt, ap);
	va_end(ap);
	text_one_line(why);
	return NULL;
}

/* Copy the row with the host's names of faces. */
static json_t *translate(const json_t *row, const json_t *faces, char *why, size_t size)
{
	json_t *copy = json_deep_copy(row), *v, *name;
	const json_t *list;
	const char *face;
	size_t i;

	json_array_foreach(json_object_get(copy, "children"), i, v) {
		name = json_object_get(v, "face");
		face = face_of(faces, name);
		if (!face) {
			bad(why, size, row, "child %zu: no face \"%.64s\"", i,
			    json_string_value(name) ?: "");
			goto fail;
		}
		if (json_object_get(v, "rank") && !is_number(v, "rank", TRIB_WORLD_MAX - 1)) {
			bad(why, size, row, "child %s: a rank is 0 to %u", face,
			    TRIB_WORLD_MAX - 1);
			goto fail;
		}
		json_object_set_new(v, "face", json_string(face));
	}
	name = json_object_get(copy, "parent");
	face = face_of(faces, name);
	if (name && !face) {
		bad(why, size, row, "parent: no face \"%.64s\"", json_string_value(name) ?: "");
		goto fail;
	}
	if (name)
		json_object_set_new(copy, "parent", json_string(face));
	json_array_foreach(json_object_get(copy, "hops"), i, v) {
		name = json_object_get(v, "face");
		face = face_of(faces, name);
		if (!face) {
			bad(why, size, row, "hop %llu: no face \"%.64s\"",
			    (unsigned long long)jnum(v, "relay"), json_string_value(name) ?: "");
			goto fail;
		}
		json_object_set_new(v, "face", json_string(face));
	}
	list = json_object_get(copy, "down");
	json_array_foreach(list, i, v) {
		face = face_of(faces, v);
		if (!face) {
			bad(why, size, row, "down: no face \"%.64s\"", json_string_value(v) ?: "");
			goto fail;
		}
		json_array_set_new((json_t *)list, i, json_string(face));
	}
	return copy;
fail:
	json_decref(copy);
	return NULL;
}

/* Words that only a row of a shared pool has. */
static bool shared_ok(const json_t *row)
{
	const char *workers = jstr(row, "workers");
	uint8_t addr[16];

	return strspn(workers, "0123456789,-") == strlen(workers) &&
	       (!json_object_get(row, "relay") ||
		(is_number(row, "relay", TRIB_RELAY_PS - 1) && *workers &&
		 is_number(row, "next", TRIB_RELAY_PS))) &&
	       (!json_object_get(row, "ps") ||
		(!parse_addr(jstr(row, "ps"), addr) && is_number(row, "ps_port", 65535)));
}

json_t *apply_row_words(const json_t *row, const json_t *faces, char *why, size_t size)
{
	const json_t *children = json_object_get(row, "children");
	const json_t *local = json_object_get(row, "local"), *v;
	json_t *words, *copy;
	size_t i;

	if (json_array_size(children) > TRIB_CHILDREN_MAX)
		return bad(why, size, row, "%zu children, but a bitmap holds %u",
			   json_array_size(children), TRIB_CHILDREN_MAX);
	if (json_array_size(local) > TRIB_RINGS_MAX)
		return bad(why, size, row, "%zu ranks on one host: at most %u",
			   json_array_size(local), TRIB_RINGS_MAX);
	if (json_object_get(row, "index") && !is_number(row, "index", TRIB_CHILDREN_MAX - 1))
		return bad(why, size, row, "an index is 0 to %u", TRIB_CHILDREN_MAX - 1);
	if (json_object_get(row, "weight") && !is_number(row, "weight", TRIB_TREE_WEIGHT_MAX))
		return bad(why, size, row, "a weight is 1 to %u", TRIB_TREE_WEIGHT_MAX);
	json_array_foreach(local, i, v)
		if (!is_number(v, "rank", TRIB_WORLD_MAX - 1) ||
		    (json_object_get(v, "port") ? !is_number(v, "port", 65535)
						: !is_number(v, "index", TRIB_CHILDREN_MAX - 1)))
			return bad(why, size, row, "local: a rank is 0 to %u, an index 0 to %u",
				   TRIB_WORLD_MAX - 1, TRIB_CHILDREN_MAX - 1);
	if (!shared_ok(row))
		return bad(why, size, row, "relay, next, workers or ps is not right");
	copy = translate(row, faces, why, size);
	if (!copy)
		return NULL;
	if (json_object_get(copy, "index"))
		json_object_set(copy, "up_child", json_object_get(copy, "index"));
	words = apply_tree_words(copy);
	json_decref(copy);
	return words;
}
