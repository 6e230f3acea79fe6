// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tickets, as libtrib reads them. What it takes must be in range, and mean the
 * same when it is written down again.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/lib/internal.h"

int trib_fail(struct trib *t, int code, int err, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	(void)t;
	(void)code;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err;
}

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "ticket: %s\n", what);
	abort();
}

static bool is_v4(const __be32 *a)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)a);
}

static bool has_group(const struct trib_attach_tree *a)
{
	static const __be32 none[4];

	return memcmp(a->mcast_addr, none, sizeof(none)) != 0;
}

static void group_in_range(const struct trib_attach_tree *a)
{
	const uint8_t *g = (const uint8_t *)a->mcast_addr;

	if (!has_group(a))
		return;
	must(is_v4(a->mcast_addr) == is_v4(a->addr), "the group's version");
	must(is_v4(a->mcast_addr) ? g[12] >= 224 && g[12] < 240 : g[0] == 0xff,
	     "the group is none");
}

static void in_range(const struct trib_attach_rep *r)
{
	must(r->ntree >= 1 && r->ntree <= TRIB_ATTACH_TREES, "trees");
	must(r->world >= 1 && r->world <= TRIB_WORLD_MAX, "world");
	must(r->rank < r->world, "rank");
	for (unsigned int i = 0; i < r->ntree; i++) {
		must(r->tree[i].child < TRIB_CHILDREN_MAX, "child");
		must(r->tree[i].port, "port");
		must(r->tree[i].recv_port, "recv_port");
		group_in_range(&r->tree[i]);
	}
}

static void addr_write(const __be32 *a, char buf[INET6_ADDRSTRLEN + 2])
{
	char text[INET6_ADDRSTRLEN];

	if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)a))
		inet_ntop(AF_INET, &a[3], text, sizeof(text));
	else
		inet_ntop(AF_INET6, a, text, sizeof(text));
	sprintf(buf, strchr(text, ':') ? "[%s]" : "%s", text);
}

static void write_down(const struct trib_attach_rep *r, char *buf, size_t size)
{
	const struct trib_attach_tree *a = &r->tree[0];
	char addr[INET6_ADDRSTRLEN + 2];
	int n;

	addr_write(a->addr, addr);
	n = snprintf(buf, size,
		     "trib://%s:%u/job?job=%u&cookie=%llx&rank=%u&world=%u",
		     addr, a->port, r->job,
		     (unsigned long long)be64toh(r->cookie), r->rank, r->world);
	for (unsigned int i = 0; i < r->ntree; i++) {
		a = &r->tree[i];
		n += snprintf(buf + n, size - n, "&tree=%u:%u:%u", a->tree,
			      a->child, a->recv_port);
		addr_write(a->mcast_addr, addr);
		if (has_group(a))
			n += snprintf(buf + n, size - n, "@%s", addr);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct trib_place p, q;
	char again[4096];
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = 0;
	if (!trib_ticket_parse(&p, text)) {
		in_range(&p.rep);
		write_down(&p.rep, again, sizeof(again));
		must(!trib_ticket_parse(&q, again), again);
		must(!memcmp(&p, &q, sizeof(p)), again);
	}
	free(text);
	return 0;
}
