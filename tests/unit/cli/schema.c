/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * userspace/cli/netlink/schema.c: complete tables, and decoding of good, odd
 * and broken attributes.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <linux/genetlink.h>

#include "cli/netlink/client.h"
#include "cli/netlink/schema.h"
#include "cli/out/out.h"
#include "uapi/trib.h"
#include "uapi/trib_sock.h"
#include "uapi/trib_wire.h"
#include "tests/lib/tap.h"

static struct nlattr *begin(struct nl_msg **msg, int top)
{
	*msg = client_message(TRIB_CMD_STATUS_GET, 0);
	return nla_nest_start(*msg, top);
}

/* Close the nest, decode, free. */
static int decode(struct nl_msg *msg, struct nlattr *nest, int top, json_t **out)
{
	int err;

	nla_nest_end(msg, nest);
	*out = NULL;
	err = schema_decode(nlmsg_hdr(msg), top, out);
	nlmsg_free(msg);
	return err;
}

static void schema__every_attribute_is_known(void)
{
	const struct schema_set *s;
	int top, attr;
	size_t i;
	bool found;

	for (top = 0; top < TRIB_A__MAX; top++) {
		s = schema_set(top);
		expect_eq(s->top, top);
		expect_eq(s->n, s->max - 1);
		for (attr = 1; attr < s->max; attr++) {
			found = false;
			for (i = 0; i < s->n; i++)
				found |= s->attrs[i].attr == attr;
			if (!expect(found))
				printf("# set %d lacks %d\n", top, attr);
		}
	}
	expect(schema_set(TRIB_A__MAX) == NULL);
	expect(schema_set(-1) == NULL);
}

static void schema__keys_are_unique(void)
{
	const struct schema_set *s;
	size_t i, k;
	int top;

	for (top = 0; top < TRIB_A__MAX; top++) {
		s = schema_set(top);
		for (i = 0; i < s->n; i++)
			for (k = 0; k < i; k++)
				expect(strcmp(s->attrs[i].key, s->attrs[k].key));
	}
}

static void decode__face_in_full(void)
{
	static const uint8_t v4[16] = {[10] = 0xff, 0xff, 10, 0, 0, 1};
	static const uint8_t v6[16] = {0xfd, 0, [15] = 1};
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 0xfe};
	struct nl_msg *msg;
	struct nlattr *nest = begin(&msg, TRIB_A_FACE);
	json_t *o;

	nla_put_string(msg, TRIB_A_FACE_NAME, "w0");
	nla_put(msg, TRIB_A_FACE_ADDR, 16, v4);
	nla_put(msg, TRIB_A_FACE_LOCAL_ADDR, 16, v6);
	nla_put(msg, TRIB_A_FACE_MAC, 6, mac);
	nla_put_u16(msg, TRIB_A_FACE_PORT, 65535);
	nla_put_u32(msg, TRIB_A_FACE_MTU, 4000000000u);
	nla_put_u8(msg, TRIB_A_FACE_XDP_MODE, TRIB_XDP_MODE_GENERIC);
	expect_eq(decode(msg, nest, TRIB_A_FACE, &o), 0);
	expect(!strcmp(jstr(o, "name"), "w0"));
	expect(!strcmp(jstr(o, "addr"), "10.0.0.1"));
	expect(!strcmp(jstr(o, "local_addr"), "fd00::1"));
	expect(!strcmp(jstr(o, "mac"), "02:00:00:00:00:fe"));
	expect(!strcmp(jstr(o, "xdp_mode"), "generic"));
	expect_eq(jnum(o, "port"), 65535);
	expect_eq(jnum(o, "mtu"), 4000000000u);
	expect(json_object_get(o, "vlan") == NULL);
	json_decref(o);
}

static void decode__tree_with_children(void)
{
	struct nl_msg *msg;
	struct nlattr *nest = begin(&msg, TRIB_A_TREE), *child;
	json_t *o, *list;
	int i;

	nla_put_u64(msg, TRIB_A_TREE_JOINED, 1ULL << 63 | 5);
	for (i = 0; i < 3; i++) {
		child = nla_nest_start(msg, TRIB_A_TREE_CHILD);
		nla_put_u16(msg, TRIB_A_CHILD_INDEX, (uint16_t)i);
		nla_put_u8(msg, TRIB_A_CHILD_JOINED, i == 1);
		nla_nest_end(msg, child);
	}
	nla_put_string(msg, TRIB_A_TREE_DOWN, "m0");
	nla_put_string(msg, TRIB_A_TREE_DOWN, "m1");
	expect_eq(decode(msg, nest, TRIB_A_TREE, &o), 0);
	list = json_object_get(o, "children");
	expect_eq(json_array_size(list), 3);
	expect_eq(jnum(json_array_get(list, 2), "index"), 2);
	expect(jbool(json_array_get(list, 1), "joined"));
	expect(!jbool(json_array_get(list, 2), "joined"));
	expect_eq(json_array_size(json_object_get(o, "down")), 2);
	/* Lists are there even if they are empty. */
	expect(json_is_array(json_object_get(o, "local")));
	list = json_object_get(o, "joined");
	expect_eq(json_array_size(list), 3);
	expect_eq(json_integer_value(json_array_get(list, 2)), 63);
	json_decref(o);
}

static void decode__large_numbers_survive(void)
{
	struct nl_msg *msg;
	struct nlattr *nest = begin(&msg, TRIB_A_JOB);
	json_t *o;

	nla_put(msg, TRIB_A_JOB_KEY, 16,
		"\x01\x23\x45\x67\x89\xab\xcd\xef\xfe\xdc\xba\x98\x76\x54\x32\x10");
	nla_put_u64(msg, TRIB_A_JOB_RATE, UINT64_MAX);
	expect_eq(decode(msg, nest, TRIB_A_JOB, &o), 0);
	expect(!strcmp(jstr(o, "key"), "0123456789abcdeffedcba9876543210"));
	expect_eq(jnum(o, "rate"), INT64_MAX);
	json_decref(o);
}

static void decode__unknown_attribute_is_skipped(void)
{
	struct nl_msg *msg;
	struct nlattr *nest = begin(&msg, TRIB_A_JOB);
	json_t *o;

	nla_put_u64(msg, TRIB_A_JOB__MAX + 3, 1);
	nla_put_u32(msg, TRIB_A_JOB_WORLD, 4);
	expect_eq(decode(msg, nest, TRIB_A_JOB, &o), 0);
	expect_eq(json_object_size(o), 1);
	json_decref(o);
}

static int decode_one(int top, int attr, const void *data, int len)
{
	struct nl_msg *msg;
	struct nlattr *nest = begin(&msg, top);
	json_t *o;
	int err;

	nla_put(msg, attr, len, data);
	err = decode(msg, nest, top, &o);
	json_decref(o);
	return err;
}

static void decode__wrong_lengths_are_refused(void)
{
	static const char data[32];

	expect_eq(decode_one(TRIB_A_JOB, TRIB_A_JOB_ID, data, 4), -EINVAL);
	expect_eq(decode_one(TRIB_A_JOB, TRIB_A_JOB_WORLD, data, 2), -EINVAL);
	expect_eq(decode_one(TRIB_A_JOB, TRIB_A_JOB_KEY, data, 4), -EINVAL);
	expect_eq(decode_one(TRIB_A_FACE, TRIB_A_FACE_ADDR, data, 4), -EINVAL);
	expect_eq(decode_one(TRIB_A_FACE, TRIB_A_FACE_MAC, data, 8), -EINVAL);
	expect_eq(decode_one(TRIB_A_FACE, TRIB_A_FACE_XDP_MODE, data, 0), -EINVAL);
	/* A string that does not end. */
	expect_eq(decode_one(TRIB_A_FACE, TRIB_A_FACE_NAME, "w0", 2), -EINVAL);
	expect_eq(decode_one(TRIB_A_FACE, TRIB_A_FACE_NAME, "", 0), -EINVAL);
}

static void decode__wrong_object_is_noticed(void)
{
	struct nl_msg *msg;
	struct nlattr *nest = begin(&msg, TRIB_A_JOB);
	json_t *o;

	expect_eq(decode(msg, nest, TRIB_A_FACE, &o), -ENOENT);
}

static void decode__odd_bytes_stay_valid_json(void)
{
	static const char bad[] = "a\x1b[2J\xff\xfe";
	struct nl_msg *msg;
	struct nlattr *nest = begin(&msg, TRIB_A_FACE);
	json_t *o;

	nla_put(msg, TRIB_A_FACE_NAME, sizeof(bad), bad);
	expect_eq(decode(msg, nest, TRIB_A_FACE, &o), 0);
	expect(!strcmp(jstr(o, "name"), "a?[2J??"));
	json_decref(o);
}

static void decode__words_stand_for_small_numbers(void)
{
	struct nl_msg *msg;
	struct nlattr *nest = begin(&msg, TRIB_A_SOCK);
	json_t *o;

	nla_put_u8(msg, TRIB_A_SOCK_STATE, TRIB_SOCK_DEAD);
	nla_put_u16(msg, TRIB_A_SOCK_RANK, 3);
	expect_eq(decode(msg, nest, TRIB_A_SOCK, &o), 0);
	expect(!strcmp(jstr(o, "state"), "dead"));
	expect_eq(jnum(o, "rank"), 3);
	json_decref(o);

	nest = begin(&msg, TRIB_A_SOCK);
	nla_put_u8(msg, TRIB_A_SOCK_STATE, TRIB_SOCK_DEAD + 1);
	expect_eq(decode(msg, nest, TRIB_A_SOCK, &o), 0);
	expect(!strcmp(jstr(o, "state"), "unknown"));
	json_decref(o);

	nest = begin(&msg, TRIB_A_JOB);
	nla_put_u8(msg, TRIB_A_JOB_FMT, TRIB_FMT_BF16);
	nla_put_string(msg, TRIB_A_JOB_PEERS, "10.0.0.1:7416");
	expect_eq(decode(msg, nest, TRIB_A_JOB, &o), 0);
	expect(!strcmp(jstr(o, "dtype"), "bf16"));
	expect(!strcmp(jstr(o, "peers"), "10.0.0.1:7416"));
	json_decref(o);
}

int main(void)
{
	run(schema__every_attribute_is_known);
	run(schema__keys_are_unique);
	run(decode__face_in_full);
	run(decode__tree_with_children);
	run(decode__large_numbers_survive);
	run(decode__unknown_attribute_is_skipped);
	run(decode__wrong_lengths_are_refused);
	run(decode__wrong_object_is_noticed);
	run(decode__odd_bytes_stay_valid_json);
	run(decode__words_stand_for_small_numbers);
	return tap_done();
}
