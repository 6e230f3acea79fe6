// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tickets: all that the grammar allows is accepted. Everything else is refused
 * with an error that quotes it.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "tests/lib/tap.h"
#include "lib/place/place.h"

#define KEYS "keys=000102030405060708090a0b0c0d0e0f:f0e0d0c0b0a090807060504030201000"
#define GOOD "trib://10.77.0.1/train?job=1&" KEYS "&rank=2&world=4&tree=1:2"
#define LONG "trib://[fd77::1]:1/t?job=1&" KEYS "&rank=2&world=4&tree=1:2:1@[ff15::7]"

static void ticket__is_understood(void)
{
	struct trib_place p;
	struct in_addr want;

	expect_eq(trib_ticket_parse(&p, GOOD), 0);
	inet_pton(AF_INET, "10.77.0.1", &want);
	expect_eq(p.rep.job, 1);
	expect(p.rep.up.b[1] == 1 && p.rep.down.b[0] == 0xf0);
	expect_eq(p.rep.rank, 2);
	expect_eq(p.rep.world, 4);
	expect_eq(p.rep.ntree, 1);
	expect_eq(p.rep.tree[0].tree, 1);
	expect_eq(p.rep.tree[0].child, 2);
	expect_eq(p.rep.tree[0].port, TRIB_UDP_PORT);
	expect_eq(p.rep.tree[0].recv_port, TRIB_UDP_PORT_WORKER + 2);
	expect_eq(p.rep.tree[0].addr[3], want.s_addr);
	expect_eq(p.rep.tree[0].addr[2], htonl(0xffff));
	expect_eq(p.rep.flags, 0);
	expect_eq(p.sock, -1);
	expect_eq(p.ring_fd, -1);
	expect_eq(p.cells_fd[31], -1);
}

static void ticket__may_name_a_port_trees_and_ipv6(void)
{
	struct trib_place p;
	struct in6_addr want;

	expect_eq(trib_ticket_parse(&p, "trib://[fd77::1]:9000/j?tree=7:0&tree=65535:63&world=1024"
					"&rank=1023&job=65535&" KEYS),
		  0);
	inet_pton(AF_INET6, "fd77::1", &want);
	expect(!memcmp(p.rep.tree[1].addr, &want, 16));
	expect_eq(p.rep.tree[1].port, 9000);
	expect_eq(p.rep.ntree, 2);
	expect_eq(p.rep.tree[1].tree, 65535);
	expect_eq(p.rep.tree[1].child, 63);
	expect_eq(p.rep.rank, 1023);
}

#define BASE4 "trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=1&"
#define BASE6 "trib://[fd77::1]/t?job=1&" KEYS "&rank=0&world=1&"

static void ticket__may_name_port_and_group_of_each_tree(void)
{
	struct in6_addr want6;
	struct in_addr want;
	struct trib_place p;

	expect_eq(trib_ticket_parse(&p, BASE4 "tree=1:0:7420@239.77.0.1&tree=2:5&tree=3:6:9000"),
		  0);
	expect_eq(p.rep.ntree, 3);
	expect_eq(p.rep.tree[0].recv_port, 7420);
	inet_pton(AF_INET, "239.77.0.1", &want);
	expect_eq(p.rep.tree[0].mcast_addr[2], htonl(0xffff));
	expect_eq(p.rep.tree[0].mcast_addr[3], want.s_addr);
	expect_eq(p.rep.tree[1].recv_port, TRIB_UDP_PORT_WORKER + 5);
	expect_eq(p.rep.tree[1].mcast_addr[3], 0);
	expect_eq(p.rep.tree[2].recv_port, 9000);
	expect_eq(p.rep.tree[2].mcast_addr[3], 0);
	expect_eq(trib_ticket_parse(&p, BASE6 "tree=1:0:7418@[ff15::77]"), 0);
	inet_pton(AF_INET6, "ff15::77", &want6);
	expect(!memcmp(p.rep.tree[0].mcast_addr, &want6, 16));
}

static void ticket__may_give_trees_weights(void)
{
	static const char *const bad[] = {
		"weight=1:0", "weight=1:65",	       "weight=2:1",  "weight=1",
		"weight=1:",  "weight=1:3&weight=1:3", "weight=1:-1",
	};
	struct trib_place p;
	char text[160];
	unsigned int i;

	expect_eq(trib_ticket_parse(&p, BASE4 "tree=1:0&weight=1:64&tree=2:5"), 0);
	expect_eq(p.rep.tree[0].weight, 64);
	expect_eq(p.rep.tree[1].weight, 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "%stree=1:0&%s", BASE4, bad[i]);
		if (!expect(trib_ticket_parse(&p, text) == -EINVAL))
			printf("# accepted: %s\n", text);
	}
}

/* The error quotes the parameter, but not the keys. */
static void ticket__wrong_port_or_group_is_named(void)
{
	static const struct {
		const char *base, *tree, *why;
	} bad[] = {
		{BASE4, "tree=1:0:", "1 to 65535"},
		{BASE4, "tree=1:0:0@239.77.0.1", "1 to 65535"},
		{BASE4, "tree=1:0:65536", "1 to 65535"},
		{BASE4, "tree=1:0:-1", "1 to 65535"},
		{BASE4, "tree=1:0@239.77.0.1", "unexpected text"},
		{BASE4, "tree=1:0:7418@", "bad group"},
		{BASE4, "tree=1:0:7418@everybody", "bad group"},
		{BASE4, "tree=1:0:7418@239.77.0", "bad group"},
		{BASE4, "tree=1:0:7418@239.77.0.1x", "bad group"},
		{BASE4, "tree=1:0:7418@239.77.0.1:1", "unexpected text"},
		{BASE4, "tree=1:0:7418@10.77.0.1", "not a multicast"},
		{BASE4, "tree=1:0:7418@223.255.255.255", "not a multicast"},
		{BASE4, "tree=1:0:7418@240.0.0.1", "not a multicast"},
		{BASE4, "tree=1:0:7418@0.0.0.0", "not a multicast"},
		{BASE4, "tree=1:0:7418@[::]", "not a multicast"},
		{BASE4, "tree=1:0:7418@[ff15::77]", "IP version"},
		{BASE6, "tree=1:0:7418@239.77.0.1", "IP version"},
		{BASE6, "tree=1:0:7418@ff15::77", "bad group"},
		{BASE6, "tree=1:0:7418@[ff15::77", "bad group"},
		{BASE6, "tree=1:0:7418@[]", "bad group"},
		{BASE6, "tree=1:0:7418@[fe80::77]", "not a multicast"},
		{BASE6, "tree=1:0:7418@[ff15::77%lo]", "bad group"},
		{BASE6, "tree=1:0:7418@[ff15:1111:1111:1111:1111:1111:1111:1111:1111:1111:1111]",
		 "bad group"},
	};
	struct trib_error e;
	struct trib_place p;
	char text[256];
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "%s%s&tree=2:1", bad[i].base, bad[i].tree);
		if (!expect(trib_ticket_parse(&p, text) == -EINVAL))
			printf("# accepted: %s\n", text);
		trib_error(NULL, &e);
		if (!expect(strstr(e.text, bad[i].tree) && strstr(e.text, bad[i].why) &&
			    !strstr(e.text, "0102")))
			printf("# %s: %s\n", bad[i].tree, e.text);
	}
}

/* Errors go to logs. */
static void ticket__keys_are_in_no_error(void)
{
	static const char *const bad[] = {
		"trib://10.77.0.1/t?job=1&" KEYS "0&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&" KEYS "&" KEYS "&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&x" KEYS "&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?" KEYS "&rank=0&world=1&tree=1:0",
		"trib://10.77.0/t?" KEYS "&rank=0&world=1&tree=1:0",
		"trib:/10.77.0.1/t?" KEYS "&rank=0&world=1&tree=1:0",
		KEYS,
	};
	struct trib_error e;
	struct trib_place p;
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		expect_eq(trib_ticket_parse(&p, bad[i]), -EINVAL);
		trib_error(NULL, &e);
		if (!expect(!strstr(e.text, "0001") && !strstr(e.text, "f0e0")))
			printf("# %s\n", e.text);
	}
}

static void ticket__may_say_what_floats_travel_as(void)
{
	static const struct {
		const char *name;
		int fmt;
	} good[] = {
		{"int", TRIB_FMT_Q32},
		{"f32", TRIB_FMT_F32},
		{"f16", TRIB_FMT_F16},
		{"bf16", TRIB_FMT_BF16},
	};
	struct trib_place p;
	char text[200];
	unsigned int i;

	for (i = 0; i < 4; i++) {
		snprintf(text, sizeof(text), "%s&fmt=%s", GOOD, good[i].name);
		expect_eq(trib_ticket_parse(&p, text), 0);
		expect_eq(p.rep.fmt, good[i].fmt);
		snprintf(text, sizeof(text), "%sfmt=%s&tree=1:0", BASE4, good[i].name);
		expect_eq(trib_ticket_parse(&p, text), 0);
		expect_eq(p.rep.fmt, good[i].fmt);
	}
}

static void ticket__is_refused_if_anything_is_wrong(void)
{
	static const char *const bad[] = {
		"",
		"http://10.77.0.1/train",
		"trib://",
		"trib:///train?job=1",
		"trib://10.77.0.1",
		"trib://10.77.0.1/train",
		"trib://10.77.0.256/t?job=1&" KEYS "&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1:0/t?job=1&" KEYS "&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1:65536/t?job=1&" KEYS "&rank=0&world=1&tree=1:0",
		"trib://[fd77::1/t?job=1&" KEYS "&rank=0&world=1&tree=1:0",
		"trib://fd77::1/t?job=1&" KEYS "&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/?job=1&" KEYS "&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&" KEYS "&rank=1&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=0&tree=1:0",
		"trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=1025&tree=1:0",
		"trib://10.77.0.1/t?job=65536&" KEYS "&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=-1&" KEYS "&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job= 1&" KEYS "&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&keys=000102030405060708090a0b0c0d0e0f:f0e0d0c0b0a09080706050403020100x&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&keys=0x000102030405060708090a0b0c0d0e0f:f0e0d0c0b0a090807060504030201000&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&keys=000102030405060708090a0b0c0d0e0f:f0e0d0c0b0a0908070605040302010000&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=1&tree=1:64",
		"trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=1&tree=1",
		"trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=1&tree=1:",
		"trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=1&tree=1:0&tree=1:1",
		"trib://10.77.0.1/t?job=1&job=2&" KEYS "&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=1",
		"trib://10.77.0.1/t?" KEYS "&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=1&tree=1:0&",
		"trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=1&tree=1:0 ",
		"trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=1&tree=1:0&x=1",
		"trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=1&tree=1:0&fmt=f64",
		"trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=1&tree=1:0&fmt=",
		"trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=1&tree=1:0&fmt=f321",
		"trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=1&tree=1:0&fmt=f32&fmt=f32",
		"trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=1&shared=1:2:10.0.0.9&fmt=f32",
	};
	char tree[16], *many = malloc(200 + 16 * TRIB_ATTACH_TREES);
	struct trib_error e;
	struct trib_place p;
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!expect(trib_ticket_parse(&p, bad[i]) == -EINVAL))
			printf("# accepted: %s\n", bad[i]);
		trib_error(NULL, &e);
		expect_eq(e.code, TRIB_ERR_ARGUMENT);
	}
	expect_eq(trib_ticket_parse(&p, "trib://10.77.0.1/t?job=1&" KEYS "&world=1&tree=1:0"),
		  -EINVAL);
	trib_error(NULL, &e);
	expect(strstr(e.text, "rank= is missing") != NULL);
	/* A long name, and more and more trees. */
	strcpy(many, "trib://10.77.0.1/");
	memset(many + strlen(many), 'n', 80);
	strcpy(many + 17 + 80, "?job=1&" KEYS "&rank=0&world=1&tree=1:0");
	expect_eq(trib_ticket_parse(&p, many), -EINVAL);
	strcpy(many, "trib://10.77.0.1/t?job=1&" KEYS "&rank=0&world=1");
	for (i = 0; i < TRIB_ATTACH_TREES; i++) {
		snprintf(tree, sizeof(tree), "&tree=%u:0", i + 1);
		strcat(many, tree);
	}
	expect_eq(trib_ticket_parse(&p, many), 0);
	strcat(many, "&tree=99:0");
	expect_eq(trib_ticket_parse(&p, many), -EINVAL);
	free(many);
}

/*
 * A ticket that is cut, or has one byte changed, is accepted or refused,
 * without a crash.
 */
static void any_bytes(const char *good, size_t shortest)
{
	size_t i, len = strlen(good);
	char *copy = malloc(len + 1); /* a buffer of the exact size, for ASan */
	struct trib_place p;
	unsigned int c;

	for (i = 0; i < len; i++) {
		memcpy(copy, good, len + 1);
		copy[i] = '\0';
		if (i < shortest)
			expect_eq(trib_ticket_parse(&p, copy), -EINVAL);
		for (c = 0; c < 256; c++) {
			memcpy(copy, good, len + 1);
			copy[i] = (char)c;
			if (!trib_ticket_parse(&p, copy))
				expect(p.rep.ntree == 1 && p.rep.rank < p.rep.world);
		}
	}
	free(copy);
}

static void ticket__of_any_bytes_does_no_harm(void)
{
	any_bytes(GOOD, strlen(GOOD));
	/* The part before port and group is a valid ticket, too. */
	any_bytes(LONG, strlen(LONG) - strlen(":1@[ff15::7]"));
}

int main(void)
{
	run(ticket__is_understood);
	run(ticket__may_name_a_port_trees_and_ipv6);
	run(ticket__may_name_port_and_group_of_each_tree);
	run(ticket__wrong_port_or_group_is_named);
	run(ticket__may_give_trees_weights);
	run(ticket__keys_are_in_no_error);
	run(ticket__may_say_what_floats_travel_as);
	run(ticket__is_refused_if_anything_is_wrong);
	run(ticket__of_any_bytes_does_no_harm);
	return tap_done();
}
