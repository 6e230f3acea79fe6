// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tickets: one line of text by which a worker on a host without tribd knows
 * its relay, its job and itself. uapi/trib_attach.h has the grammar.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

#define SCHEME "trib://"

static int refuse(const char *text, const char *why)
{
	return trib_fail(NULL, TRIB_ERR_ARGUMENT, -EINVAL, "ticket: %s: %.160s",
			 why, text);
}

/* A number without sign or blanks, at most @max, up to @end. */
static int number(const char **s, int base, uint64_t max, uint64_t *out)
{
	char *end;

	if (!**s || !strchr("0123456789abcdefABCDEF", **s))
		return -EINVAL;
	errno = 0;
	*out = strtoull(*s, &end, base);
	if (errno || end == *s || *out > max)
		return -EINVAL;
	*s = end;
	return 0;
}

/* ADDR[:PORT]/ */
static int parse_relay(const char **s, struct trib_attach_tree *a)
{
	char addr[INET6_ADDRSTRLEN + 1];
	bool v6 = **s == '[';
	const char *from = *s + v6;
	size_t len = strcspn(from, v6 ? "]" : ":/");
	struct in_addr in;
	uint64_t port = TRIB_UDP_PORT;

	if (!len || len >= sizeof(addr))
		return -EINVAL;
	memcpy(addr, from, len);
	addr[len] = '\0';
	*s = from + len;
	if (v6) {
		if (inet_pton(AF_INET6, addr, a->addr) != 1 || *(*s)++ != ']')
			return -EINVAL;
	} else {
		if (inet_pton(AF_INET, addr, &in) != 1)
			return -EINVAL;
		a->addr[2] = htobe32(0xffff);
		a->addr[3] = in.s_addr;
	}
	if (**s == ':') {
		(*s)++;
		if (number(s, 10, 65535, &port) || !port)
			return -EINVAL;
	}
	a->port = (uint16_t)port;
	return *(*s)++ == '/' ? 0 : -EINVAL;
}

/* T:CHILD */
static int parse_tree(const char **s, struct trib_attach_rep *rep,
		      const struct trib_attach_tree *relay)
{
	struct trib_attach_tree *a = &rep->tree[rep->ntree];
	uint64_t tree, child;
	unsigned int i;

	if (rep->ntree == TRIB_ATTACH_TREES || number(s, 10, 65535, &tree) ||
	    *(*s)++ != ':' || number(s, 10, TRIB_CHILDREN_MAX - 1, &child))
		return -EINVAL;
	for (i = 0; i < rep->ntree; i++)
		if (rep->tree[i].tree == tree)
			return -EINVAL;
	*a = *relay;
	a->tree = (uint16_t)tree;
	a->child = (uint16_t)child;
	a->recv_port = (uint16_t)(TRIB_UDP_PORT_WORKER + child);
	rep->ntree++;
	return 0;
}

enum { HAVE_JOB = 1, HAVE_COOKIE = 2, HAVE_RANK = 4, HAVE_WORLD = 8 };

/* KEY=VALUE */
static int parse_pair(const char **s, struct trib_attach_rep *rep,
		      const struct trib_attach_tree *relay, unsigned int *have)
{
	static const struct {
		const char *key;
		int base;
		uint64_t max;
	} keys[] = {
		{"job=", 10, 65535},
		{"cookie=", 16, UINT64_MAX},
		{"rank=", 10, TRIB_WORLD_MAX - 1},
		{"world=", 10, TRIB_WORLD_MAX},
	};
	uint64_t v;
	unsigned int i;

	if (!strncmp(*s, "tree=", 5)) {
		*s += 5;
		return parse_tree(s, rep, relay);
	}
	for (i = 0; i < 4; i++)
		if (!strncmp(*s, keys[i].key, strlen(keys[i].key)))
			break;
	if (i == 4 || *have & 1u << i)
		return -EINVAL;
	*s += strlen(keys[i].key);
	if (number(s, keys[i].base, keys[i].max, &v))
		return -EINVAL;
	*have |= 1u << i;
	switch (1u << i) {
	case HAVE_JOB:
		rep->job = (uint16_t)v;
		break;
	case HAVE_COOKIE:
		rep->cookie = htobe64(v);
		break;
	case HAVE_RANK:
		rep->rank = (uint16_t)v;
		break;
	case HAVE_WORLD:
		rep->world = (uint16_t)v;
		break;
	}
	return 0;
}

int trib_ticket_parse(struct trib_place *p, const char *text)
{
	struct trib_attach_rep *rep = &p->rep;
	struct trib_attach_tree relay = {0};
	const char *s = text;
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
		return refuse(text, "bad relay address");
	len = strcspn(s, "?");
	if (!len || len >= TRIB_NAME_MAX || s[len] != '?')
		return refuse(text, "bad job name");
	s += len;
	while (*s == '?' || *s == '&') {
		s++;
		if (parse_pair(&s, rep, &relay, &have))
			return refuse(text, "bad parameter");
	}
	if (*s)
		return refuse(text, "rubbish at its end");
	if (have != (HAVE_JOB | HAVE_COOKIE | HAVE_RANK | HAVE_WORLD) ||
	    !rep->ntree)
		return refuse(text, "job, cookie, rank, world or tree missing");
	if (!rep->world || rep->rank >= rep->world)
		return refuse(text, "rank is not below world");
	return 0;
}
