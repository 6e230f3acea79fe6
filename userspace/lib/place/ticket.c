// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tickets: one line of text by which a worker on a host without tribd knows
 * its relay, its job and itself. uapi/trib_attach.h has the grammar.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>

#include "base/dtype.h"
#include "base/text.h"
#include "place.h"

#define SCHEME "trib://"

/* Errors go to logs: show no more of a ticket than its relay and job. */
static int refuse(const char *text, const char *why)
{
	size_t len = strcspn(text, "?&=");

	return trib_fail(NULL, TRIB_ERR_ARGUMENT, -EINVAL, "ticket: %s: %.*s%s", why,
			 (int)(len < 160 ? len : 160), text, text[len] ? "?..." : "");
}

/* Refuse one parameter: show it up to the next one, unless it may be the keys. */
static int refuse_pair(const char *pair, const char *why)
{
	static const char *const plain[] = {
		"job=", "rank=", "world=", "tree=", "shared=", "via=", "weight=", "fmt=", "peers="};
	size_t len = strcspn(pair, "&"), name = strcspn(pair, "=&");
	unsigned int i;

	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (!strncmp(pair, plain[i], strlen(plain[i])))
			return trib_fail(NULL, TRIB_ERR_ARGUMENT, -EINVAL, "ticket: %s: %.*s", why,
					 (int)(len < 160 ? len : 160), pair);
	return trib_fail(NULL, TRIB_ERR_ARGUMENT, -EINVAL, "ticket: %s: %.*s%s", why,
			 (int)(name < 16 ? name : 16), pair, name < len ? "=..." : "");
}

/* Parse digits of @base, at most @max. Advances *@s. */
static int number(const char **s, unsigned int base, uint64_t max, uint64_t *out)
{
	return text_digits(s, base, out) || *out > max ? -EINVAL : 0;
}

/* ADDR: IPv4, or IPv6 in brackets. */
static int parse_addr(const char **s, __be32 out[4])
{
	char addr[INET6_ADDRSTRLEN + 1];
	bool v6 = **s == '[';
	const char *from = *s + v6;
	size_t len = strcspn(from, v6 ? "]" : ":/&,");
	struct in_addr in;

	if (!len || len >= sizeof(addr))
		return -EINVAL;
	memcpy(addr, from, len);
	addr[len] = '\0';
	*s = from + len;
	if (v6)
		return inet_pton(AF_INET6, addr, out) == 1 && *(*s)++ == ']' ? 0 : -EINVAL;
	if (inet_pton(AF_INET, addr, &in) != 1)
		return -EINVAL;
	out[0] = out[1] = 0;
	out[2] = htobe32(0xffff);
	out[3] = in.s_addr;
	return 0;
}

/* PORT */
static int parse_port(const char **s, uint16_t *out)
{
	uint64_t port;

	if (number(s, 10, 65535, &port) || !port)
		return -EINVAL;
	*out = (uint16_t)port;
	return 0;
}

/* ADDR[:PORT]; *port is the default. */
static int parse_host(const char **s, __be32 addr[4], uint16_t *port)
{
	if (parse_addr(s, addr))
		return -EINVAL;
	if (**s != ':')
		return 0;
	(*s)++;
	return parse_port(s, port);
}

/* ADDR[:PORT]/ */
static int parse_relay(const char **s, struct trib_attach_tree *a)
{
	a->port = TRIB_UDP_PORT;
	if (parse_host(s, a->addr, &a->port))
		return -EINVAL;
	return *(*s)++ == '/' ? 0 : -EINVAL;
}

static bool is_v4(const __be32 addr[4])
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)addr);
}

static bool is_multicast(const __be32 addr[4])
{
	return is_v4(addr) ? be32toh(addr[3]) >> 28 == 0xe : be32toh(addr[0]) >> 24 == 0xff;
}

static struct trib_attach_tree *find_tree(struct trib_attach_rep *rep, uint64_t tree)
{
	unsigned int i;

	for (i = 0; i < rep->ntree; i++)
		if (rep->tree[i].tree == tree)
			return &rep->tree[i];
	return NULL;
}

/* GROUP. Return: the error, or NULL. */
static const char *parse_group(const char **s, struct trib_attach_tree *a)
{
	if (parse_addr(s, a->mcast_addr))
		return "bad group address: want IPv4, or IPv6 in brackets";
	if (!is_multicast(a->mcast_addr))
		return "the group is not a multicast address";
	if (is_v4(a->mcast_addr) != is_v4(a->addr))
		return "the group and the relay must have the same IP version";
	return NULL;
}

/* Parse <sep>PORT[@GROUP], the optional receiver. Return: the error, or NULL. */
static const char *parse_recv(const char **s, char sep, struct trib_attach_tree *a)
{
	if (**s != sep)
		return NULL;
	(*s)++;
	if (parse_port(s, &a->recv_port))
		return "PORT must be 1 to 65535";
	if (**s != '@')
		return NULL;
	(*s)++;
	return parse_group(s, a);
}

/* T:CHILD[:PORT[@GROUP]]. Return: the error, or NULL. */
static const char *parse_tree(const char **s, struct trib_attach_rep *rep,
			      const struct trib_attach_tree *relay)
{
	struct trib_attach_tree *a = &rep->tree[rep->ntree];
	uint64_t tree, child;

	if (rep->ntree == TRIB_ATTACH_TREES)
		return "more trees than a ticket can hold";
	if (number(s, 10, 65535, &tree) || *(*s)++ != ':' ||
	    number(s, 10, TRIB_CHILDREN_MAX - 1, &child))
		return "want TREE:CHILD with a tree up to 65535 and a child of its relay";
	if (find_tree(rep, tree))
		return "this tree is given twice";
	*a = *relay;
	a->tree = (uint16_t)tree;
	a->child = (uint16_t)child;
	a->recv_port = (uint16_t)(TRIB_UDP_PORT_WORKER + child);
	rep->ntree++;
	return parse_recv(s, ':', a);
}

/* Parse T:RELAY: of a shared tree. */
static int parse_hop(const char **s, uint64_t *tree, uint64_t *relay)
{
	if (number(s, 10, 65535, tree) || *(*s)++ != ':' ||
	    number(s, 10, TRIB_RELAY_PS - 1, relay) || *(*s)++ != ':')
		return -EINVAL;
	return 0;
}

/*
 * T:RELAY:PS[:PORT][,RECV[@GROUP]]. Return: the error, or NULL. finish_shared()
 * fills in the child, which is the rank, and the port that follows from it.
 */
static const char *parse_shared(const char **s, struct trib_attach_rep *rep,
				const struct trib_attach_tree *first)
{
	struct trib_attach_tree *a = &rep->tree[rep->ntree];
	uint64_t tree, relay;

	if (rep->ntree == TRIB_ATTACH_TREES)
		return "more trees than a ticket can hold";
	if (parse_hop(s, &tree, &relay))
		return "want TREE:RELAY:, numbers up to 65535 and 65534";
	if (find_tree(rep, tree))
		return "this tree is given twice";
	memset(a, 0, sizeof(*a));
	a->tree = (uint16_t)tree;
	a->flags = TRIB_ATTACH_SHARED;
	a->port = TRIB_UDP_PORT_PS;
	if (parse_host(s, a->addr, &a->port))
		return "bad PS address: want ADDR or ADDR:PORT";
	if (relay) {
		memcpy(a->hop[0].addr, first->addr, sizeof(first->addr));
		a->hop[0].port = first->port;
		a->hop[0].relay = (uint16_t)relay;
		a->nhop = 1;
	}
	if (is_v4(first->addr) != is_v4(a->addr))
		return "the PS and the relay must have the same IP version";
	rep->ntree++;
	return parse_recv(s, ',', a);
}

/* T:RELAY:ADDR[:PORT]. Return: the error, or NULL. */
static const char *parse_via(const char **s, struct trib_attach_rep *rep)
{
	struct trib_attach_tree *a;
	struct trib_attach_hop *hop;
	uint64_t tree, relay;
	unsigned int i;

	if (parse_hop(s, &tree, &relay) || !relay)
		return "want TREE:RELAY:, numbers up to 65535 and 65534, relay not 0";
	a = find_tree(rep, tree);
	if (!a || !a->nhop)
		return "via= needs a shared= with a relay for this tree before it";
	if (a->nhop == TRIB_ATTACH_HOPS)
		return "too many relays for this tree";
	for (i = 0; i < a->nhop; i++)
		if (a->hop[i].relay == relay)
			return "this relay is given twice";
	hop = &a->hop[a->nhop++];
	hop->relay = (uint16_t)relay;
	hop->port = TRIB_UDP_PORT;
	if (parse_host(s, hop->addr, &hop->port))
		return "bad relay address: want ADDR or ADDR:PORT";
	if (is_v4(hop->addr) != is_v4(a->addr))
		return "the PS and the relay must have the same IP version";
	return NULL;
}

/* T:W, after its tree. Return: the error, or NULL. */
static const char *parse_weight(const char **s, struct trib_attach_rep *rep)
{
	struct trib_attach_tree *a;
	uint64_t tree, weight;

	if (number(s, 10, 65535, &tree) || *(*s)++ != ':' ||
	    number(s, 10, TRIB_TREE_WEIGHT_MAX, &weight) || !weight)
		return "want TREE:WEIGHT with a weight of 1 or more";
	a = find_tree(rep, tree);
	if (!a || a->weight)
		return "weight= needs its tree before it, and is given once";
	a->weight = (uint8_t)weight;
	return NULL;
}

/* f32, f16 or bf16. Return: the error, or NULL. */
static const char *parse_fmt(const char **s, struct trib_attach_rep *rep)
{
	size_t len = strcspn(*s, "&");
	char name[8] = "";

	if (rep->fmt)
		return "this parameter is given twice";
	if (len < sizeof(name))
		memcpy(name, *s, len);
	rep->fmt = trib_dtype_parse(name);
	if (!rep->fmt)
		return "want fmt=f32, fmt=f16 or fmt=bf16";
	*s += len;
	return NULL;
}

/*
 * Return: whether the ticket asks for float sums in a shared pool, which cannot
 * add floats.
 */
static bool is_mixed(const struct trib_attach_rep *rep)
{
	unsigned int i;

	for (i = 0; i < rep->ntree; i++)
		if (rep->tree[i].flags & TRIB_ATTACH_SHARED)
			return trib_fmt_is_float((uint8_t)rep->fmt);
	return false;
}

/* Set the rank in shared trees; the ticket may give it before or after them. */
static void finish_shared(struct trib_attach_rep *rep)
{
	unsigned int i;

	for (i = 0; i < rep->ntree; i++) {
		struct trib_attach_tree *a = &rep->tree[i];

		if (!(a->flags & TRIB_ATTACH_SHARED))
			continue;
		a->child = rep->rank;
		if (!a->recv_port)
			a->recv_port = (uint16_t)(TRIB_UDP_PORT_WORKER + rep->rank);
	}
}

enum { HAVE_JOB = 1, HAVE_RANK = 2, HAVE_WORLD = 4, HAVE_KEYS = 8 };

/* UP:DOWN. Return: the error, or NULL. */
static const char *parse_keys(const char **s, struct trib_attach_rep *rep, unsigned int *have)
{
	char text[TRIB_KEY_HEX + 1] = "";
	unsigned int i;
	bool ok = true;

	if (*have & HAVE_KEYS)
		return "this parameter is given twice";
	*have |= HAVE_KEYS;
	for (i = 0; ok && i < 2; i++) {
		if (i && *(*s)++ != ':')
			break;
		snprintf(text, sizeof(text), "%s", *s);
		ok = !text_key(text, i ? &rep->down : &rep->up);
		*s += strlen(text);
	}
	explicit_bzero(text, sizeof(text));
	return ok && i == 2 ? NULL : "want UP:DOWN, 32 hexadecimal digits each";
}

/* ADDR:PORT. Return: the error, or NULL. */
static const char *parse_peers(const char **s, struct trib_place *p)
{
	const char *from = *s;
	uint16_t port = 0;
	__be32 addr[4];

	if (p->peers[0])
		return "this parameter is given twice";
	if (parse_host(s, addr, &port) || !port || (size_t)(*s - from) >= sizeof(p->peers))
		return "want peers=ADDR:PORT, where rank 0 listens";
	memcpy(p->peers, from, (size_t)(*s - from));
	return NULL;
}

/* KEY=VALUE. Return: the error, or NULL. */
static const char *parse_pair(const char **s, struct trib_place *p,
			      const struct trib_attach_tree *relay, unsigned int *have)
{
	static const struct {
		const char *key;
		unsigned int base;
		uint64_t max;
		const char *want;
	} keys[] = {
		{"job=", 10, 65535, "want a number up to 65535"},
		{"rank=", 10, TRIB_WORLD_MAX - 1, "want a number below 1024"},
		{"world=", 10, TRIB_WORLD_MAX, "want a number up to 1024"},
	};
	struct trib_attach_rep *rep = &p->rep;
	uint64_t v;
	unsigned int i;

	if (!strncmp(*s, "tree=", 5)) {
		*s += 5;
		return parse_tree(s, rep, relay);
	}
	if (!strncmp(*s, "shared=", 7)) {
		*s += 7;
		return parse_shared(s, rep, relay);
	}
	if (!strncmp(*s, "via=", 4)) {
		*s += 4;
		return parse_via(s, rep);
	}
	if (!strncmp(*s, "weight=", 7)) {
		*s += 7;
		return parse_weight(s, rep);
	}
	if (!strncmp(*s, "fmt=", 4)) {
		*s += 4;
		return parse_fmt(s, rep);
	}
	if (!strncmp(*s, "peers=", 6)) {
		*s += 6;
		return parse_peers(s, p);
	}
	if (!strncmp(*s, "keys=", 5)) {
		*s += 5;
		return parse_keys(s, rep, have);
	}
	for (i = 0; i < 3; i++)
		if (!strncmp(*s, keys[i].key, strlen(keys[i].key)))
			break;
	if (i == 3)
		return "unknown parameter";
	if (*have & 1u << i)
		return "this parameter is given twice";
	*s += strlen(keys[i].key);
	if (number(s, keys[i].base, keys[i].max, &v))
		return keys[i].want;
	*have |= 1u << i;
	switch (1u << i) {
	case HAVE_JOB:
		rep->job = (uint16_t)v;
		break;
	case HAVE_RANK:
		rep->rank = (uint16_t)v;
		break;
	case HAVE_WORLD:
		rep->world = (uint16_t)v;
		break;
	}
	return NULL;
}

/* Return: the parameter that a ticket must have and this has not, or NULL. */
static const char *missing(const struct trib_place *p, unsigned int have)
{
	if (!(have & HAVE_JOB))
		return "job= is missing";
	if (!(have & HAVE_KEYS))
		return "keys= is missing";
	if (!(have & HAVE_RANK))
		return "rank= is missing";
	if (!(have & HAVE_WORLD))
		return "world= is missing";
	return p->rep.ntree || p->peers[0] ? NULL : "tree=, shared= or peers= is missing";
}

int trib_ticket_parse(struct trib_place *p, const char *text)
{
	struct trib_attach_rep *rep = &p->rep;
	struct trib_attach_tree relay = {0};
	const char *s = text, *pair, *why;
	unsigned int have = 0, i;
	size_t len;

	memset(p, 0, sizeof(*p));
	p->sock = p->ring_fd = -1;
	for (i = 0; i < TRIB_ATTACH_TREES; i++)
		p->cells_fd[i] = -1;
	if (strncmp(s, SCHEME, strlen(SCHEME)))
		return refuse(text, "must begin with " SCHEME);
	s += strlen(SCHEME);
	if (parse_relay(&s, &relay))
		return refuse(text,
			      "want a relay like 10.0.0.1, 10.0.0.1:7417 or [fd00::1]:7417, and /");
	len = strcspn(s, "?");
	if (!len || len >= TRIB_NAME_MAX || s[len] != '?')
		return refuse(text, "want trib://RELAY/JOB?..., and at most 63 bytes of JOB");
	s += len;
	while (*s) {
		pair = ++s;
		why = parse_pair(&s, p, &relay, &have);
		if (!why && *s && *s != '&')
			why = "unexpected text after the parameter";
		if (why)
			return refuse_pair(pair, why);
	}
	why = missing(p, have);
	if (why)
		return refuse(text, why);
	if (!rep->world || rep->rank >= rep->world)
		return refuse(text, "rank= must be below world=");
	if (is_mixed(rep))
		return refuse(text, "shared pools cannot add floats: drop fmt=, or use tree=");
	finish_shared(rep);
	return 0;
}
