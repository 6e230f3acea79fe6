// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Headers, packets without values, and counters of sent packets. */
#include "inner.h"

unsigned int trib_packet_len(const void *cell)
{
	const struct trib_hdr *h = cell;

	return sizeof(*h) + 8u * h->bmwords + trib_payload_len(be16toh(h->nval));
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

void trib_send_count(struct trib_stream *s, const void *cell)
{
	s->eng->count.sent_packets++;
	s->eng->count.sent_bytes += s->overhead + trib_packet_len(cell);
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
