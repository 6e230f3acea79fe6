// SPDX-License-Identifier: BSD-2-Clause
/*
 * A mutator of JSON for all readers of files, linked into their fuzzers: it changes
 * values, not bytes, so that most inputs get behind the parser. Bytes are changed,
 * too. An input is bytes that are no document (mutate.h says how many), then
 * documents with NUL bytes between them.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);

static uint32_t state;

static uint32_t rnd(uint32_t n)
{
	state = state * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)(state >> 8) * n) >> 24);
}

/* --- choosing a value */

/* A value in its container, which is an array if @key is NULL. */
struct place {
	json_t *in;
	const char *key;
	size_t index;
};

/* Count the values below @v. The value of that number goes into @out. */
static void visit(json_t *v, uint32_t *n, uint32_t wanted, struct place *out)
{
	const char *key;
	json_t *child;
	size_t i;

	json_array_foreach(v, i, child) {
		if ((*n)++ == wanted)
			*out = (struct place){v, NULL, i};
		visit(child, n, wanted, out);
	}
	json_object_foreach(v, key, child) {
		if ((*n)++ == wanted)
			*out = (struct place){v, key, 0};
		visit(child, n, wanted, out);
	}
}

static bool choose(json_t *root, struct place *out)
{
	uint32_t n = 0, again = 0;

	visit(root, &n, UINT32_MAX, out);
	if (!n)
		return false;
	visit(root, &again, rnd(n), out);
	return true;
}

static json_t *get(const struct place *p)
{
	return p->key ? json_object_get(p->in, p->key) : json_array_get(p->in, p->index);
}

static void set(const struct place *p, json_t *v)
{
	if (p->key)
		json_object_set_new(p->in, p->key, v);
	else
		json_array_set_new(p->in, p->index, v);
}

/* --- new values */

static json_t *number(const json_t *old)
{
	static const json_int_t odd[] = {
		0,	 1,	     2,		 3,	     -1,	 63,	    64,
		65,	 127,	     255,	 256,	     1023,	 1024,	    1025,
		4094,	 4095,	     4096,	 16384,	     65534,	 65535,	    65536,
		1 << 20, 2147483647, 4294967294, 4294967295, 4294967296, INT64_MAX, INT64_MIN};
	json_int_t v = json_integer_value(old);

	switch (rnd(5)) {
	case 0:
		return json_integer((json_int_t)((uint64_t)v + 1));
	case 1:
		return json_integer((json_int_t)((uint64_t)v - 1));
	case 2:
		return json_integer((json_int_t)((uint64_t)v << rnd(4)));
	case 3:
		return json_real(rnd(2) ? 1e308 : (double)rnd(1000) / 7);
	default:
		return json_integer(odd[rnd(sizeof(odd) / sizeof(odd[0]))]);
	}
}

/* Another text of the document, or this one with changed bytes. */
static json_t *text(const json_t *old, json_t *root)
{
	char buf[256];
	size_t n = json_string_length(old);
	struct place p;
	json_t *v;

	if (rnd(2) && choose(root, &p)) {
		v = get(&p);
		return json_is_string(v) ? json_deep_copy(v)
		       : p.key		 ? json_string(p.key)
					 : json_string("");
	}
	if (n >= sizeof(buf))
		n = sizeof(buf) - 1;
	memcpy(buf, json_string_value(old), n);
	n = LLVMFuzzerMutate((uint8_t *)buf, n, sizeof(buf));
	v = json_stringn(buf, n);
	return v ? v : json_string_nocheck("?");
}

static json_t *other(const json_t *old, json_t *root)
{
	struct place p;

	if (rnd(3) && json_is_number(old))
		return number(old);
	if (rnd(3) && json_is_string(old))
		return text(old, root);
	switch (rnd(8)) {
	case 0:
		return json_array();
	case 1:
		return json_object();
	case 2:
		return json_null();
	case 3:
		return json_boolean(rnd(2));
	case 4:
		return number(old);
	default:
		return choose(root, &p) ? json_deep_copy(get(&p)) : json_string("x");
	}
}

static void one_change(json_t *root)
{
	struct place p, q;
	json_t *v;

	if (!choose(root, &p))
		return;
	switch (rnd(6)) {
	case 0: /* remove */
		if (p.key)
			json_object_del(p.in, p.key);
		else
			json_array_remove(p.in, p.index);
		break;
	case 1: /* double an entry of a list */
		v = get(&p);
		if (!p.key)
			json_array_append_new(p.in, json_deep_copy(v));
		else if (json_array_size(v))
			json_array_append_new(v, json_deep_copy(json_array_get(v, 0)));
		break;
	case 2: /* a member of an object under another name, or in another object */
		if (p.key && choose(root, &q) && q.key)
			json_object_set_new(q.in, p.key, json_deep_copy(get(&p)));
		break;
	default:
		set(&p, other(get(&p), root));
	}
}

/* --- memory of the mutator alone, which no sanitizer needs to watch */

#define ROOM (1 << 20)

static _Alignas(16) char room[ROOM];
static size_t used;

static void *room_alloc(size_t n)
{
	size_t at = used;

	if (n > ROOM - 16 - used)
		return NULL;
	used += (n + 15) & ~(size_t)15;
	return room + at;
}

static void room_free(void *p)
{
	(void)p;
}

/* --- inputs */

/* Change the document at @from; the input ends at @size. Return: the new size, or 0. */
static size_t change(uint8_t *data, size_t from, size_t len, size_t size, size_t max)
{
	json_t *root = json_loadb((char *)data + from, len, 0, NULL);
	size_t n = 0, rest = size - from - len;
	char *out; /* in the room: it is freed with all */

	if (!root)
		return 0;
	for (uint32_t i = 1 + rnd(3); i; i--)
		one_change(root);
	out = json_dumps(root, JSON_COMPACT);
	if (out)
		n = strlen(out);
	if (n && from + n + rest <= max) {
		memmove(data + from + n, data + from + len, rest);
		memcpy(data + from, out, n);
		n += from + rest;
	} else {
		n = 0;
	}
	return n;
}

/* Choose one of the documents. Return: where it begins. */
static size_t choose_document(const uint8_t *data, size_t size, size_t *len)
{
	size_t from = mutate_from;
	const uint8_t *end;

	while ((end = memchr(data + from, 0, size - from)) && rnd(3))
		from = (size_t)(end - data) + 1;
	*len = end ? (size_t)(end - data) - from : size - from;
	return from;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	size_t from, len, n;

	state = seed;
	if (size <= mutate_from || !rnd(8))
		return LLVMFuzzerMutate(data, size, max);
	from = choose_document(data, size, &len);
	used = 0;
	json_set_alloc_funcs(room_alloc, room_free);
	n = change(data, from, len, size, max);
	json_set_alloc_funcs(malloc, free);
	return n ? n : LLVMFuzzerMutate(data, size, max);
}
