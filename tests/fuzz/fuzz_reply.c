// SPDX-License-Identifier: BSD-2-Clause
/*
 * Answers of tribd and of the module, as trib reads them: any netlink message becomes
 * an object or an error. Its texts have no control characters, it prints as JSON, and
 * it is the same when it is read again.
 */
#include <ctype.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/netlink/client.h"
#include "cli/netlink/schema.h"
#include "tests/fuzz/input.h"
#include "uapi/trib.h"

#define MESSAGE_MAX 4096

static union {
	struct nlmsghdr h;
	uint8_t b[MESSAGE_MAX];
} m;
static size_t used;

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "reply: %s\n", what);
	abort();
}

static void *put(size_t n)
{
	void *at = m.b + used;

	if (used + NLA_ALIGN(n) > MESSAGE_MAX)
		return NULL;
	used += NLA_ALIGN(n);
	return memset(at, 0, NLA_ALIGN(n));
}

static size_t size_of(enum schema_kind kind)
{
	switch (kind) {
	case KIND_U16:
		return 2;
	case KIND_U32:
		return 4;
	case KIND_U64:
	case KIND_BITS:
		return 8;
	case KIND_MAC:
		return 6;
	case KIND_ADDR:
		return 16;
	case KIND_RANKS:
		return 128;
	case KIND_STRING:
	case KIND_NEST:
		return 0;
	default:
		return 1;
	}
}

/* One attribute, mostly as its set has it. */
static void put_attr(struct input *in, const struct schema_set *set, int depth)
{
	uint8_t which = take8(in), bend = take8(in);
	const struct schema_attr *a = set->n ? &set->attrs[which % set->n] : NULL;
	size_t start = used, n = a ? size_of(a->kind) : which % 9;
	struct nlattr *at = put(NLA_HDRLEN);
	uint8_t *body;

	if (!at)
		return;
	if (a && a->kind == KIND_NEST && depth) {
		for (int i = 1 + bend % 8; i && in->left; i--)
			put_attr(in, schema_set(TRIB_A_UNSPEC), depth - 1);
		n = used - start - NLA_HDRLEN;
	} else {
		if (a && a->kind == KIND_STRING)
			n = take8(in) % 64;
		n += bend == 0xff;
		body = put(n);
		for (size_t i = 0; body && i < n; i++)
			body[i] = take8(in);
		if (body && n && a && a->kind == KIND_STRING && bend < 0xf0)
			body[n - 1] = 0;
	}
	at->nla_type = (uint16_t)(a ? a->attr : which);
	at->nla_len = (uint16_t)(NLA_HDRLEN + n + (bend == 0xfe) * 4);
}

static void put_object(struct input *in, int top)
{
	size_t start = used;
	struct nlattr *at = put(NLA_HDRLEN);

	if (!at)
		return;
	while (in->left && used + 256 < MESSAGE_MAX)
		put_attr(in, schema_set(top), 2);
	at->nla_type = (uint16_t)top;
	at->nla_len = (uint16_t)(used - start);
}

static void texts_hold(const json_t *v)
{
	const char *key, *s;
	json_t *child;
	size_t i;

	if (json_is_string(v))
		for (s = json_string_value(v); *s; s++)
			must(!iscntrl((unsigned char)*s), "a text has control characters");
	json_array_foreach(v, i, child)
		texts_hold(child);
	json_object_foreach((json_t *)v, key, child)
		texts_hold(child);
}

static void decode(const struct nlmsghdr *h, int top)
{
	json_t *one = NULL, *two = NULL;
	char *text;

	if (schema_decode(h, top, &one)) {
		must(!one, "an error, and an object");
		return;
	}
	must(json_is_object(one) && !schema_decode(h, top, &two), "not an object");
	must(json_equal(one, two), "another object when it is read again");
	texts_hold(one);
	text = json_dumps(one, 0);
	must(text != NULL, "it does not print");
	free(text);
	json_decref(one);
	json_decref(two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t how = take8(&in);
	int top = how % TRIB_A__MAX;
	struct nlmsghdr *h;
	char text[64];

	used = 0;
	put(NLMSG_HDRLEN + GENL_HDRLEN);
	if (how & 0x80)
		put_object(&in, top);
	else
		while (in.left && used + 4 <= MESSAGE_MAX)
			*(uint8_t *)(m.b + used++) = take8(&in);
	m.h.nlmsg_len = (uint32_t)used;
	/* Exactly as long, so that a byte read behind it is noticed. */
	h = malloc(used);
	must(h != NULL, "memory");
	memcpy(h, m.b, used);
	decode(h, top);
	client_error_text(h, text, sizeof(text));
	must(memchr(text, 0, sizeof(text)) != NULL, "an error's text does not end");
	free(h);
	return 0;
}
