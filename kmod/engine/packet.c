// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Parses received packets, and drops those for others and malformed ones. */
#include "inner.h"

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
	if (h.version != TRIB_WIRE_VERSION || nval > TRIB_NVAL_LARGE ||
	    h.bmwords > TRIB_BMWORDS_MAX || len != 8u * h.bmwords + trib_payload_len(nval) ||
	    be16toh(h.job) != eng->rep->job || h.cookie != eng->rep->cookie)
		goto bad;
	s = trib_stream_of(eng, be16toh(h.tree));
	if (!s || !has_bitmap(s, &h))
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
