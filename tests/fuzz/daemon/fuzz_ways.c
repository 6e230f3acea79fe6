// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages of neighbours' tribds: userspace/daemon/ways. Two hosts exchange turns; the
 * input edits what passes, before the authenticator is made and after. A route leads over a
 * living link of the host; what is refused changes nothing; the own report is never lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/ways/node.h"
#include "daemon/ways/paths.h"
#include "tests/fuzz/input.h"

#define LINKS 4

static struct ways_node host;
static struct ways_link other[LINKS]; /* the ends at its neighbours */

static void must(bool good, const char *rule)
{
	if (good)
		return;
	fprintf(stderr, "ways: %s\n", rule);
	abort();
}

static void send_out(struct ways_node *node, unsigned int link, const void *buf, size_t len)
{
	must(link < node->nlinks, "a link that is none");
	must(ways_message_open(&other[link], buf, len) != NULL, "its own message is refused");
}

static uint64_t random_bits(struct ways_node *node)
{
	(void)node;
	return 4;
}

static struct in6_addr addr(unsigned int link, unsigned int end, bool v4)
{
	struct in6_addr a = {};

	if (v4)
		a.s6_addr[10] = a.s6_addr[11] = 0xff;
	else
		a.s6_addr[0] = 0xfd;
	a.s6_addr[12] = 10;
	a.s6_addr[14] = (uint8_t)link;
	a.s6_addr[15] = (uint8_t)(1 + end);
	return a;
}

static void start(void)
{
	struct ways_want want[LINKS] = {};
	unsigned int i;

	memset(&host, 0, sizeof(host));
	host.send = send_out;
	host.random = random_bits;
	must(!ways_node_start(&host, 1, 1000000), "no memory");
	for (i = 0; i < LINKS; i++) {
		want[i].local = addr(i, 0, i < 3);
		want[i].peer = addr(i, 1, i < 3);
		memset(&want[i].key, (int)i, sizeof(want[i].key));
		memset(&other[i], 0, sizeof(other[i]));
		other[i].local = want[i].peer;
		other[i].peer = want[i].local;
		other[i].key = want[i].key;
	}
	ways_node_links(&host, want, LINKS, TRIB_WAYS_PASSES_V4 | TRIB_WAYS_PASSES_V6);
}

/* A report as the input says, of few nodes and addresses, so that they meet. */
static void report(struct input *in, struct ways_report *r)
{
	unsigned int i, shape;

	memset(r, 0, sizeof(*r));
	r->node = 1 + take8(in) % 8;
	r->number = 999990 + take8(in);
	r->flags = take8(in) & 3;
	r->nlinks = (uint8_t)(1 + take8(in) % 6);
	for (i = 0; i < r->nlinks; i++) {
		shape = take8(in);
		r->link[i].local = addr(shape & 7, shape >> 3 & 3, !(shape & 0x20));
		r->link[i].peer = addr(shape & 7, take8(in) & 3, !(shape & 0x20));
		r->link[i].dead = shape & 0x40;
	}
}

/* A message by @l with a right authenticator. Its length. */
static size_t message(struct input *in, const struct ways_link *l, uint8_t buf[WAYS_MESSAGE_MAX])
{
	struct ways_report at[4] = {};
	struct ways_reports all = {.at = at, .n = 1 + take8(in) % 4};
	struct ways_probe p = {.number = take(in, 8)};
	unsigned int next = 0, i;

	if (take8(in) & 1) {
		for (i = 0; i < all.n; i++)
			report(in, &at[i]);
		return ways_news_write(l, &all, &next, buf);
	}
	p.echo = host.link[0].asked[take8(in) % WAYS_PROBES];
	p.digest = take8(in);
	return ways_probe_write(l, &p, buf);
}

static void check(void)
{
	struct ways_route *r;
	int i, n = ways_paths(&host.all, &r);

	must(n >= 0, "no memory for routes");
	for (i = 0; i < n; i++) {
		must(r[i].link < host.nlinks, "a route by no link");
		must(!host.link[r[i].link].dead, "a route by a dead link");
		must(!i || memcmp(&r[i - 1].to, &r[i].to, sizeof(r->to)) < 0, "two routes to one");
	}
	free(r);
	must(host.all.n && host.all.n <= TRIB_WAYS_NODES && host.all.at[0].node == 1 &&
		     host.all.at[0].nlinks == LINKS,
	     "the own report is lost");
}

static void edit(struct input *in, uint8_t *buf, size_t *len)
{
	unsigned int n = take8(in) % 4;

	while (n-- && *len)
		buf[take(in, 2) % *len] ^= take8(in);
	if (take8(in) & 1)
		*len -= take8(in) % (*len + 1);
}

static void arrive(struct input *in)
{
	unsigned int link = take8(in) % LINKS, how = take8(in);
	uint64_t digest = host.all.digest;
	uint8_t buf[WAYS_MESSAGE_MAX], whole[WAYS_MESSAGE_MAX];
	size_t len = message(in, &other[link], buf), was = len;
	bool taken;

	memcpy(whole, buf, len);
	if (how & 1)
		edit(in, buf, &len);
	taken = ways_node_receive(&host, link, buf, len);
	if (len != was || memcmp(buf, whole, len)) {
		must(!taken, "an edited message is taken");
		must(digest == host.all.digest, "a refused message changed something");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};

	start();
	while (in.left) {
		if (take8(&in) & 3)
			arrive(&in);
		else
			ways_node_turn(&host);
		check();
	}
	ways_node_free(&host);
	return 0;
}
