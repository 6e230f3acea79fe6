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

static void in_range(const struct trib_attach_rep *r)
{
	must(r->ntree >= 1 && r->ntree <= TRIB_ATTACH_TREES, "trees");
	must(r->world >= 1 && r->world <= TRIB_WORLD_MAX, "world");
	must(r->rank < r->world, "rank");
	for (unsigned int i = 0; i < r->ntree; i++) {
		must(r->tree[i].child < TRIB_CHILDREN_MAX, "child");
		must(r->tree[i].port, "port");
		must(r->tree[i].recv_port >= TRIB_UDP_PORT_WORKER, "recv_port");
	}
}

static void write_down(const struct trib_attach_rep *r, char *buf, size_t size)
{
	const struct trib_attach_tree *a = &r->tree[0];
	char addr[INET6_ADDRSTRLEN];
	int n;

	if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)a->addr))
		inet_ntop(AF_INET, &a->addr[3], addr, sizeof(addr));
	else
		inet_ntop(AF_INET6, a->addr, addr, sizeof(addr));
	n = snprintf(buf, size, strchr(addr, ':') ? "trib://[%s]" : "trib://%s",
		     addr);
	n += snprintf(buf + n, size - n,
		      ":%u/job?job=%u&cookie=%llx&rank=%u&world=%u", a->port,
		      r->job, (unsigned long long)be64toh(r->cookie), r->rank,
		      r->world);
	for (unsigned int i = 0; i < r->ntree; i++)
		n += snprintf(buf + n, size - n, "&tree=%u:%u", r->tree[i].tree,
			      r->tree[i].child);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct trib_place p, q;
	char again[2048];
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
