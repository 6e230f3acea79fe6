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

#include "base/dtype.h"
#include "base/text.h"
#include "lib/place/place.h"

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

static void hops_in_range(const struct trib_attach_rep *r, const struct trib_attach_tree *a)
{
	must(a->child == r->rank, "the child is not the rank");
	must(a->nhop <= TRIB_ATTACH_HOPS, "hops");
	for (unsigned int i = 0; i < a->nhop; i++) {
		must(a->hop[i].relay && a->hop[i].relay != TRIB_RELAY_PS, "relay");
		must(a->hop[i].port, "a relay's port");
		must(is_v4(a->hop[i].addr) == is_v4(a->addr), "a relay's version");
	}
}

static void in_range(const struct trib_attach_rep *r)
{
	must(r->ntree <= TRIB_ATTACH_TREES, "trees");
	must(r->world >= 1 && r->world <= TRIB_WORLD_MAX, "world");
	must(r->rank < r->world, "rank");
	for (unsigned int i = 0; i < r->ntree; i++) {
		if (r->tree[i].flags & TRIB_ATTACH_SHARED)
			hops_in_range(r, &r->tree[i]);
		else
			must(r->tree[i].child < TRIB_CHILDREN_MAX, "child");
		must(r->tree[i].port, "port");
		must(r->tree[i].recv_port, "recv_port");
		must(r->tree[i].weight <= TRIB_TREE_WEIGHT_MAX, "weight");
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

/* ADDR:PORT */
static int host_write(char *buf, size_t size, const __be32 *addr, uint16_t port)
{
	char text[INET6_ADDRSTRLEN + 2];

	addr_write(addr, text);
	return snprintf(buf, size, "%s:%u", text, port);
}

static int shared_write(const struct trib_attach_tree *a, char *buf, size_t size)
{
	char addr[INET6_ADDRSTRLEN + 2];
	int n;

	n = snprintf(buf, size, "&shared=%u:%u:", a->tree, a->hop[0].relay);
	n += host_write(buf + n, size - n, a->addr, a->port);
	n += snprintf(buf + n, size - n, ",%u", a->recv_port);
	addr_write(a->mcast_addr, addr);
	if (has_group(a))
		n += snprintf(buf + n, size - n, "@%s", addr);
	for (unsigned int i = 1; i < a->nhop; i++) {
		n += snprintf(buf + n, size - n, "&via=%u:%u:", a->tree, a->hop[i].relay);
		n += host_write(buf + n, size - n, a->hop[i].addr, a->hop[i].port);
	}
	return n;
}

static int tree_write(const struct trib_attach_tree *a, char *buf, size_t size)
{
	char addr[INET6_ADDRSTRLEN + 2];
	int n;

	n = snprintf(buf, size, "&tree=%u:%u:%u", a->tree, a->child, a->recv_port);
	addr_write(a->mcast_addr, addr);
	if (has_group(a))
		n += snprintf(buf + n, size - n, "@%s", addr);
	return n;
}

/* The ticket's own address: a relay's, which not every shared tree has. */
static int first_write(const struct trib_attach_rep *r, char *buf, size_t size)
{
	for (unsigned int i = 0; i < r->ntree; i++) {
		const struct trib_attach_tree *a = &r->tree[i];

		if (!(a->flags & TRIB_ATTACH_SHARED))
			return host_write(buf, size, a->addr, a->port);
		if (a->nhop)
			return host_write(buf, size, a->hop[0].addr, a->hop[0].port);
	}
	return host_write(buf, size, r->tree[0].addr, r->tree[0].port);
}

static void write_down(const struct trib_place *p, char *buf, size_t size)
{
	char up[TRIB_KEY_HEX + 1], down[TRIB_KEY_HEX + 1];
	const struct trib_attach_rep *r = &p->rep;
	int n = snprintf(buf, size, "trib://");

	if (r->ntree)
		n += first_write(r, buf + n, size - n);
	else
		n += snprintf(buf + n, size - n, "%s", p->peers);
	n += snprintf(buf + n, size - n, "/job?job=%u&keys=%s:%s&rank=%u&world=%u", r->job,
		      text_key_put(&r->up, up), text_key_put(&r->down, down), r->rank, r->world);
	for (unsigned int i = 0; i < r->ntree; i++) {
		const struct trib_attach_tree *a = &r->tree[i];

		n += a->flags & TRIB_ATTACH_SHARED ? shared_write(a, buf + n, size - n)
						   : tree_write(a, buf + n, size - n);
		if (a->weight)
			n += snprintf(buf + n, size - n, "&weight=%u:%u", a->tree, a->weight);
	}
	if (*p->peers)
		n += snprintf(buf + n, size - n, "&peers=%s", p->peers);
	if (r->fmt)
		snprintf(buf + n, size - n, "&fmt=%s", trib_dtype_name(r->fmt));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct trib_place p, q;
	char again[16384];
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = 0;
	if (!trib_ticket_parse(&p, text)) {
		in_range(&p.rep);
		must(p.rep.ntree || *p.peers, "neither trees nor peers");
		write_down(&p, again, sizeof(again));
		must(!trib_ticket_parse(&q, again), again);
		must(!memcmp(&p, &q, sizeof(p)), again);
	}
	free(text);
	return 0;
}
