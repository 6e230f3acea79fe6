// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tickets: what the grammar allows is understood, everything else is refused
 * with an error that shows it.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "tests/tap.h"
#include "userspace/lib/internal.h"

#define GOOD                                                                   \
	"trib://10.77.0.1/train?job=1&cookie=abcdef&rank=2&world=4&tree=1:2"

static void ticket__is_understood(void)
{
	struct trib_place p;
	struct in_addr want;

	expect_eq(trib_ticket_parse(&p, GOOD), 0);
	inet_pton(AF_INET, "10.77.0.1", &want);
	expect_eq(p.rep.job, 1);
	expect(p.rep.cookie == htobe64(0xabcdef));
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

	expect_eq(
		trib_ticket_parse(
			&p,
			"trib://[fd77::1]:9000/j?tree=7:0&tree=65535:63&world=1024"
			"&rank=1023&job=65535&cookie=ffffffffffffffff"),
		0);
	inet_pton(AF_INET6, "fd77::1", &want);
	expect(!memcmp(p.rep.tree[1].addr, &want, 16));
	expect_eq(p.rep.tree[1].port, 9000);
	expect_eq(p.rep.ntree, 2);
	expect_eq(p.rep.tree[1].tree, 65535);
	expect_eq(p.rep.tree[1].child, 63);
	expect_eq(p.rep.rank, 1023);
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
		"trib://10.77.0.256/t?job=1&cookie=1&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1:0/t?job=1&cookie=1&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1:65536/t?job=1&cookie=1&rank=0&world=1&tree=1:0",
		"trib://[fd77::1/t?job=1&cookie=1&rank=0&world=1&tree=1:0",
		"trib://fd77::1/t?job=1&cookie=1&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/?job=1&cookie=1&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&cookie=1&rank=1&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&cookie=1&rank=0&world=0&tree=1:0",
		"trib://10.77.0.1/t?job=1&cookie=1&rank=0&world=1025&tree=1:0",
		"trib://10.77.0.1/t?job=65536&cookie=1&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=-1&cookie=1&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job= 1&cookie=1&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&cookie=xyz&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&cookie=11111111111111111&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&cookie=1&rank=0&world=1&tree=1:64",
		"trib://10.77.0.1/t?job=1&cookie=1&rank=0&world=1&tree=1",
		"trib://10.77.0.1/t?job=1&cookie=1&rank=0&world=1&tree=1:",
		"trib://10.77.0.1/t?job=1&cookie=1&rank=0&world=1&tree=1:0&tree=1:1",
		"trib://10.77.0.1/t?job=1&job=2&cookie=1&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&cookie=1&rank=0&world=1",
		"trib://10.77.0.1/t?cookie=1&rank=0&world=1&tree=1:0",
		"trib://10.77.0.1/t?job=1&cookie=1&rank=0&world=1&tree=1:0&",
		"trib://10.77.0.1/t?job=1&cookie=1&rank=0&world=1&tree=1:0 ",
		"trib://10.77.0.1/t?job=1&cookie=1&rank=0&world=1&tree=1:0&x=1",
	};
	char tree[16], *many = malloc(2000);
	struct trib_error e;
	struct trib_place p;
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!expect(trib_ticket_parse(&p, bad[i]) == -EINVAL))
			printf("# accepted: %s\n", bad[i]);
		trib_error(NULL, &e);
		expect_eq(e.code, TRIB_ERR_ARGUMENT);
	}
	/* A name, and trees, without end. */
	strcpy(many, "trib://10.77.0.1/");
	memset(many + strlen(many), 'n', 80);
	strcpy(many + 17 + 80, "?job=1&cookie=1&rank=0&world=1&tree=1:0");
	expect_eq(trib_ticket_parse(&p, many), -EINVAL);
	strcpy(many, "trib://10.77.0.1/t?job=1&cookie=1&rank=0&world=1");
	for (i = 0; i < TRIB_ATTACH_TREES; i++) {
		snprintf(tree, sizeof(tree), "&tree=%u:0", i + 1);
		strcat(many, tree);
	}
	expect_eq(trib_ticket_parse(&p, many), 0);
	strcat(many, "&tree=99:0");
	expect_eq(trib_ticket_parse(&p, many), -EINVAL);
	free(many);
}

/* Cut anywhere, or with any byte changed, it is read or refused. */
static void ticket__of_any_bytes_does_no_harm(void)
{
	struct trib_place p;
	char copy[sizeof(GOOD)];
	unsigned int i, c;

	for (i = 0; i < sizeof(GOOD) - 1; i++) {
		memcpy(copy, GOOD, sizeof(copy));
		copy[i] = '\0';
		expect_eq(trib_ticket_parse(&p, copy), -EINVAL);
		for (c = 1; c < 256; c++) {
			memcpy(copy, GOOD, sizeof(copy));
			copy[i] = (char)c;
			if (!trib_ticket_parse(&p, copy))
				expect(p.rep.ntree == 1 &&
				       p.rep.rank < p.rep.world);
		}
	}
}

int main(void)
{
	run(ticket__is_understood);
	run(ticket__may_name_a_port_trees_and_ipv6);
	run(ticket__is_refused_if_anything_is_wrong);
	run(ticket__of_any_bytes_does_no_harm);
	return tap_done();
}
