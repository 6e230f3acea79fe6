// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets: headers of those that leave, and those without values; the parse of received
 * ones, which drops malformed and forged ones, and those for others. Owns the secrets of
 * a stream (uapi/trib_auth.h).
 */
#include "inner.h"

unsigned int trib_packet_len(const struct trib_hdr *h)
{
	return sizeof(*h) + 8u * h->bmwords + trib_values_len(h->flags, h->nm, be16toh(h->nval));
}

void trib_hdr_fill(const struct trib_stream *s, struct trib_hdr *h, uint8_t type, uint32_t chunk)
{
	memset(h, 0, sizeof(*h));
	h->version = TRIB_WIRE_VERSION;
	h->type = type;
	h->flags = TRIB_F_UP;
	h->job = htobe16(s->eng->rep->job);
	h->tree = htobe16(s->tree);
	h->relay = s->shared ? htobe16(TRIB_RELAY_PS) : 0;
	h->child = htobe16(s->child);
	h->chunk = htobe32(chunk);
	h->epoch = htobe32(s->epoch);
	h->auth = s->auth.up_secret;
}

unsigned int trib_cell_len(struct trib_stream *s, uint64_t c)
{
	unsigned int len, most = s->stride;
	struct trib_hdr h;

	if (s->lanes.desk)
		most -= (unsigned int)offsetof(struct trib_cell, h);
	trib_snapshot(&h, trib_cell(s, c), sizeof(h));
	len = trib_packet_len(&h);
	return len < most ? len : most;
}

void trib_send_count(struct trib_stream *s, unsigned int len)
{
	s->eng->count.sent_packets++;
	s->eng->count.sent_bytes += s->overhead + len;
}

void trib_send_control(struct trib_stream *s, uint8_t type, uint8_t flags, uint32_t chunk,
		       uint16_t aux)
{
	struct trib_hdr h;
	struct trib_iovec iov = {&h, sizeof(h)};

	trib_hdr_fill(s, &h, type, chunk);
	h.flags |= flags;
	h.aux = htobe16(aux);
	trib_auth_number(s, &h);
	s->eng->ops->send(s->eng, s, &iov, 1, sizeof(h));
}

void trib_auth_init(struct trib_stream *s, const struct trib_attach_tree *a)
{
	struct trib_secrets *k = &s->auth;

	trib_key_tree(&k->up, &s->eng->rep->up, s->tree);
	k->up_secret = trib_key_secret(&k->up);
	trib_key_tree(&k->down, &s->eng->rep->down, s->tree);
	k->down_secret = trib_key_secret(&k->down);
	/* Every relay numbers its own; a PS is the only one. */
	if (!s->shared)
		trib_key_node(&k->down, &k->down, a->addr);
}

void trib_auth_number(struct trib_stream *s, struct trib_hdr *h)
{
	h->scale = htobe32(++s->auth.sent);
	h->auth = trib_auth(&s->auth.up, h, NULL, 0);
}

/* Does it come to this rank alone? Then other members of the job cannot forge it. */
static bool is_own(const struct trib_stream *s, uint8_t type)
{
	return type == TRIB_T_START || type == TRIB_T_PROBE || (s->shared && type == TRIB_T_NEED);
}

bool trib_auth_ok(struct trib_stream *s, const struct trib_hdr *h, const void *body,
		  unsigned int len)
{
	struct trib_secrets *k = &s->auth;
	bool own = is_own(s, h->type);

	if (trib_auth_is_secret(h->type))
		return h->auth == k->down_secret;
	if (h->auth != trib_auth(own ? &k->up : &k->down, h, body, len))
		return false;
	/* START names our nonce, an answer our PROBE; trib_rx() refuses other epochs. */
	if (h->type == TRIB_T_START || h->type == TRIB_T_PROBE || !s->epoch ||
	    be32toh(h->epoch) != s->epoch)
		return true;
	return trib_replay_take(own ? &k->own : &k->seen, s->epoch, be32toh(h->scale));
}

/* Does the bitmap have the size that the type needs? */
static bool has_bitmap(const struct trib_stream *s, const struct trib_hdr *h)
{
	if (!s->shared)
		return h->bmwords == (h->type == TRIB_T_NEED);
	if (h->type == TRIB_T_NEED)
		return h->bmwords == s->bmwords;
	return !h->bmwords || (h->type == TRIB_T_RESULT && h->bmwords == s->bmwords);
}

void trib_packet_rx(struct trib_engine *eng, const void *pkt, size_t len, bool ce)
{
	const uint8_t *p = pkt;
	struct trib_hdr h;
	struct trib_rx rx;
	struct trib_stream *s;
	unsigned int nval;
	__be64 seen = 0;

	if (len < sizeof(h))
		goto bad;
	memcpy(&h, p, sizeof(h));
	p += sizeof(h);
	len -= sizeof(h);
	nval = be16toh(h.nval);
	/* Packets that come down are dense. */
	if (h.version != TRIB_WIRE_VERSION || nval > TRIB_NVAL_LARGE || h.nm ||
	    (h.flags & TRIB_F_MASK) || h.bmwords > TRIB_BMWORDS_MAX ||
	    len != 8u * h.bmwords + trib_payload_len(nval) || be16toh(h.job) != eng->rep->job)
		goto bad;
	s = trib_stream_of(eng, be16toh(h.tree));
	if (!s || !has_bitmap(s, &h) || !trib_auth_ok(s, &h, p, (unsigned int)len))
		goto bad;
	if (h.bmwords && !s->shared)
		memcpy(&seen, p, sizeof(seen));
	rx = (struct trib_rx){
		.type = h.type,
		.flags = h.flags | (ce ? TRIB_F_CE : 0),
		.op = h.op,
		.fmt = h.fmt,
		.child = be16toh(h.child),
		.nval = (uint16_t)nval,
		.aux = be16toh(h.aux),
		.relay = be16toh(h.relay),
		.chunk = be32toh(h.chunk),
		.epoch = be32toh(h.epoch),
		.scale = (int32_t)be32toh(h.scale),
		.seen = be64toh(seen),
		.v = nval ? p + 8u * h.bmwords : NULL,
		.len = (uint32_t)(len - 8u * h.bmwords),
	};
	trib_rx(s, &rx);
	return;
bad:
	eng->count.bad_packets++;
}
