// SPDX-License-Identifier: BSD-2-Clause
#include "message.h"

#include <endian.h>
#include <string.h>

#include "base/addr.h"

#define AUTH_LEN sizeof(((struct trib_ways_hdr *)0)->auth)

/* --- authenticators */

static void hash_words(struct trib_sip *s, const uint8_t *p, size_t len)
{
	uint8_t rest[8] = {};

	for (; len >= 8; p += 8, len -= 8)
		trib_sip_word(s, trib_sip_load(p));
	if (!len)
		return;
	memcpy(rest, p, len);
	trib_sip_word(s, trib_sip_load(rest));
}

/* A message from @from to @to: one that is sent back has another authenticator. */
static __be64 authenticator(const struct trib_key *key, const struct in6_addr *from,
			    const struct in6_addr *to, const uint8_t *buf, size_t len)
{
	struct trib_sip s;
	__be64 out;

	trib_sip_init(&s, key);
	hash_words(&s, from->s6_addr, sizeof(*from));
	hash_words(&s, to->s6_addr, sizeof(*to));
	hash_words(&s, buf + AUTH_LEN, len - AUTH_LEN);
	/* The length, so that zeros at the end differ from none. */
	trib_sip_store(&out, trib_sip_end(&s, len));
	return out;
}

static size_t seal(const struct ways_link *l, uint8_t *buf, size_t len)
{
	struct trib_ways_hdr *h = (struct trib_ways_hdr *)buf;

	h->auth = authenticator(&l->key, &l->local, &l->peer, buf, len);
	return len;
}

const struct trib_ways_hdr *ways_message_open(const struct ways_link *l, const void *buf,
					      size_t len)
{
	const struct trib_ways_hdr *h = buf;

	if (len < sizeof(*h) || len > WAYS_MESSAGE_MAX || h->magic != htobe32(TRIB_WAYS_MAGIC) ||
	    h->version != TRIB_WAYS_VERSION ||
	    h->auth != authenticator(&l->key, &l->peer, &l->local, buf, len))
		return NULL;
	return h;
}

static struct trib_ways_hdr *header(uint8_t *buf, uint8_t type)
{
	struct trib_ways_hdr *h = (struct trib_ways_hdr *)buf;

	memset(h, 0, sizeof(*h));
	h->magic = htobe32(TRIB_WAYS_MAGIC);
	h->version = TRIB_WAYS_VERSION;
	h->type = type;
	return h;
}

/* --- probes */

size_t ways_probe_write(const struct ways_link *l, const struct ways_probe *p,
			uint8_t buf[WAYS_MESSAGE_MAX])
{
	struct trib_ways_hdr *h = header(buf, TRIB_WAYS_PROBE);

	h->number = htobe64(p->number);
	h->echo = htobe64(p->echo);
	h->digest = htobe64(p->digest);
	return seal(l, buf, sizeof(*h));
}

void ways_probe_read(const struct trib_ways_hdr *h, struct ways_probe *p)
{
	p->number = be64toh(h->number);
	p->echo = be64toh(h->echo);
	p->digest = be64toh(h->digest);
}

/* --- news */

static size_t addr_len(bool v4)
{
	return v4 ? 4 : 16;
}

static uint8_t *addr_write(uint8_t *p, const struct in6_addr *a, bool v4)
{
	memcpy(p, a->s6_addr + 16 - addr_len(v4), addr_len(v4));
	return p + addr_len(v4);
}

static const uint8_t *addr_read(const uint8_t *p, struct in6_addr *a, bool v4)
{
	struct in_addr in;

	memcpy(v4 ? (void *)&in : (void *)a, p, addr_len(v4));
	if (v4)
		addr_from_v4(a, &in);
	return p + addr_len(v4);
}

/* Write @r before @end. Return: its end; NULL: there is no room. */
static uint8_t *report_write(uint8_t *p, const uint8_t *end, const struct ways_report *r)
{
	struct trib_ways_report h = {.node = htobe64(r->node),
				     .number = htobe64(r->number),
				     .flags = r->flags,
				     .nlinks = r->nlinks};
	unsigned int i;

	if ((size_t)(end - p) < sizeof(h) + r->nlinks * (size_t)33)
		return NULL;
	memcpy(p, &h, sizeof(h));
	p += sizeof(h);
	for (i = 0; i < r->nlinks; i++) {
		bool v4 = addr_is_v4(&r->link[i].local);

		*p++ = (uint8_t)((r->link[i].dead ? TRIB_WAYS_LINK_DEAD : 0) |
				 (v4 ? 0 : TRIB_WAYS_LINK_V6));
		p = addr_write(p, &r->link[i].local, v4);
		p = addr_write(p, &r->link[i].peer, v4);
	}
	return p;
}

size_t ways_news_write(const struct ways_link *l, const struct ways_reports *all,
		       unsigned int *next, uint8_t buf[WAYS_MESSAGE_MAX])
{
	struct trib_ways_hdr *h = header(buf, TRIB_WAYS_NEWS);
	uint8_t *p = buf + sizeof(*h), *q;
	unsigned int count = 0;

	for (; *next < all->n; ++*next) {
		if (!all->at[*next].nlinks)
			continue;
		q = report_write(p, buf + WAYS_MESSAGE_MAX, &all->at[*next]);
		if (!q)
			break;
		p = q;
		count++;
	}
	h->count = htobe16((uint16_t)count);
	return seal(l, buf, (size_t)(p - buf));
}

/* Return: false if the bytes up to @end do not hold @r->nlinks links. */
static bool links_read(const uint8_t **at, const uint8_t *end, struct ways_report *r)
{
	const uint8_t *p = *at;
	unsigned int i;
	bool v4;

	for (i = 0; i < r->nlinks; i++) {
		if (p == end || *p & ~(TRIB_WAYS_LINK_DEAD | TRIB_WAYS_LINK_V6))
			return false;
		r->link[i].dead = *p & TRIB_WAYS_LINK_DEAD;
		v4 = !(*p++ & TRIB_WAYS_LINK_V6);
		if ((size_t)(end - p) < 2 * addr_len(v4))
			return false;
		p = addr_read(p, &r->link[i].local, v4);
		p = addr_read(p, &r->link[i].peer, v4);
	}
	*at = p;
	return true;
}

bool ways_news_read(const struct trib_ways_hdr *h, size_t len, size_t *off, struct ways_report *r)
{
	const uint8_t *buf = (const uint8_t *)h, *p = buf + *off;
	struct trib_ways_report head;

	memset(r, 0, sizeof(*r));
	if (len - *off < sizeof(head))
		return false;
	memcpy(&head, p, sizeof(head));
	r->node = be64toh(head.node);
	r->number = be64toh(head.number);
	r->flags = head.flags;
	r->nlinks = head.nlinks;
	p += sizeof(head);
	/* A number that cannot be outbid would last for ever. */
	if (!r->node || r->number > INT64_MAX || !r->nlinks || r->nlinks > TRIB_WAYS_LINKS ||
	    !links_read(&p, buf + len, r))
		return false;
	*off = (size_t)(p - buf);
	return true;
}
