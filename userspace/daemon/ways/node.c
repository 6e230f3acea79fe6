// SPDX-License-Identifier: BSD-2-Clause
#include "node.h"

#include <endian.h>
#include <string.h>

/* Bits of a probe's number that nobody can know before. */
#define RANDOM_BITS 20

int ways_node_start(struct ways_node *node, uint64_t id, uint64_t clock)
{
	/* Milliseconds, because a host sends at most 640 probes a second. */
	node->last = clock / 1000 << RANDOM_BITS;
	return ways_reports_start(&node->all, id, clock);
}

void ways_node_free(struct ways_node *node)
{
	ways_reports_free(&node->all);
}

/* --- links */

/* Make the own report say what the links are now. */
static void report(struct ways_node *node)
{
	struct ways_report own = {.flags = node->flags, .nlinks = (uint8_t)node->nlinks};
	unsigned int i;

	for (i = 0; i < node->nlinks; i++) {
		own.link[i].local = node->link[i].local;
		own.link[i].peer = node->link[i].peer;
		own.link[i].dead = node->link[i].dead;
	}
	ways_reports_own(&node->all, &own, 0);
	node->moved = true;
}

static bool same_link(const struct ways_link *l, const struct ways_want *w)
{
	return IN6_ARE_ADDR_EQUAL(&l->local, &w->local) && IN6_ARE_ADDR_EQUAL(&l->peer, &w->peer) &&
	       !memcmp(&l->key, &w->key, sizeof(w->key));
}

static void link_take(const struct ways_node *node, const struct ways_want *w,
		      struct ways_link *out)
{
	unsigned int i;

	for (i = 0; i < node->nlinks; i++)
		if (same_link(&node->link[i], w)) {
			*out = node->link[i];
			return;
		}
	*out = (struct ways_link){.local = w->local, .peer = w->peer, .key = w->key};
	ways_link_start(out);
}

void ways_node_links(struct ways_node *node, const struct ways_want *want, unsigned int n,
		     uint8_t flags)
{
	struct ways_link fresh[TRIB_WAYS_LINKS];
	bool same = n == node->nlinks && flags == node->flags;
	unsigned int i;

	for (i = 0; same && i < n; i++)
		same = same_link(&node->link[i], &want[i]);
	if (same)
		return;
	for (i = 0; i < n; i++)
		link_take(node, &want[i], &fresh[i]);
	memcpy(node->link, fresh, n * sizeof(fresh[0]));
	node->nlinks = n;
	node->flags = flags;
	report(node);
}

/* --- turns */

static void probe(struct ways_node *node, unsigned int i)
{
	struct ways_link *l = &node->link[i];
	struct ways_probe p = {.echo = l->heard, .digest = node->all.digest};
	uint8_t buf[WAYS_MESSAGE_MAX];

	node->last = ((node->last >> RANDOM_BITS) + 1) << RANDOM_BITS;
	node->last |= node->random(node) >> (64 - RANDOM_BITS);
	p.number = node->last;
	ways_link_asked(l, p.number);
	node->send(node, i, buf, ways_probe_write(l, &p, buf));
}

/* Tell all that is known. */
static void tell(struct ways_node *node, unsigned int i)
{
	uint8_t buf[WAYS_MESSAGE_MAX];
	unsigned int next = 0;
	size_t len;

	while (next < node->all.n) {
		len = ways_news_write(&node->link[i], &node->all, &next, buf);
		node->send(node, i, buf, len);
	}
}

void ways_node_turn(struct ways_node *node)
{
	bool changed = false;
	unsigned int i;

	for (i = 0; i < node->nlinks; i++)
		changed |= ways_link_judge(&node->link[i]);
	if (changed)
		report(node);
	for (i = 0; i < node->nlinks; i++) {
		const struct ways_link *l = &node->link[i];

		if (l->known && l->digest != node->all.digest)
			tell(node, i);
		probe(node, i);
	}
}

/* --- messages */

static bool probe_take(struct ways_node *node, unsigned int i, const struct trib_ways_hdr *h,
		       size_t len)
{
	struct ways_probe p;

	if (len != sizeof(*h) || h->count)
		return false;
	ways_probe_read(h, &p);
	if (ways_link_heard(&node->link[i], p.number, p.echo, p.digest))
		report(node);
	return true;
}

static bool news_take(struct ways_node *node, const struct trib_ways_hdr *h, size_t len)
{
	unsigned int n = be16toh(h->count);
	size_t off = sizeof(*h);
	struct ways_report r;

	while (n--) {
		if (!ways_news_read(h, len, &off, &r))
			return false;
		if (ways_reports_hear(&node->all, &r))
			node->moved = true;
	}
	return off == len;
}

bool ways_node_receive(struct ways_node *node, unsigned int link, const void *buf, size_t len)
{
	const struct trib_ways_hdr *h = ways_message_open(&node->link[link], buf, len);

	if (!h)
		return false;
	switch (h->type) {
	case TRIB_WAYS_PROBE:
		return probe_take(node, link, h, len);
	case TRIB_WAYS_NEWS:
		return news_take(node, h, len);
	default:
		return false;
	}
}
