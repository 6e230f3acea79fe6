// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Trees of shared pools: differences from trees with their own slots.
 * uapi/PROTOCOL.md has the rules ("A shared pool", "Worker").
 *
 * - A GRAD has a bitmap with its rank and the number of the relay that adds it.
 *   Packets that no relay may keep carry the PS's number and go to the PS.
 * - A chunk without result is sent again once. After that the rank asks the PS,
 *   which answers NEED if it lacks the values. So a rank that computes for long
 *   does not make all others resend their windows repeatedly.
 * - A timeout probes the relays on the way. A relay that owes answers is skipped,
 *   with all relays below it: packets go to the first relay that answers and has
 *   only answering relays above it. A wrong guess costs packets, never a result.
 *   Multicast results end at the dead relay, so the rank keeps asking the PS for
 *   copies.
 */
#include "inner.h"

/* Values of the shortest JOIN: its answer has the same length and holds a START. */
#define JOIN_NVAL                                                                                  \
	((uint16_t)((sizeof(struct trib_start) / 4 + TRIB_NVAL_BLOCK - 1) / TRIB_NVAL_BLOCK *      \
		    TRIB_NVAL_BLOCK))

void trib_shared_init(struct trib_stream *s, const struct trib_attach_tree *a)
{
	unsigned int i;

	s->shared = true;
	/* The PS announces nval; the place's nval does not count, because long
	 * bitmaps of many workers leave less room for values. */
	s->join_nval = JOIN_NVAL;
	s->bmwords = (uint8_t)((s->eng->world + 63) / 64);
	s->nhop = (uint8_t)a->nhop;
	for (i = 0; i < a->nhop; i++)
		s->hop[i].relay = a->hop[i].relay;
}

/* Index of the first relay that answers, with all above it; nhop: the PS. */
static unsigned int first_living(const struct trib_stream *s)
{
	unsigned int i = s->nhop;

	while (i && s->hop[i - 1].owes < TRIB_TUNE_PROBES)
		i--;
	return i;
}

unsigned int trib_shared_via(const struct trib_stream *s)
{
	unsigned int i = first_living(s);

	return i < s->nhop ? 1 + i : 0;
}

static __be16 label(const struct trib_stream *s)
{
	unsigned int i = first_living(s);

	return htobe16(i < s->nhop ? s->hop[i].relay : TRIB_RELAY_PS);
}

void trib_shared_label(const struct trib_stream *s, struct trib_hdr *h)
{
	uint8_t *bitmap = (uint8_t *)(h + 1);
	unsigned int rank = s->eng->rank;
	__be64 word = htobe64(1ULL << rank % 64);

	h->relay = label(s);
	h->bmwords = s->bmwords;
	memset(bitmap, 0, 8u * s->bmwords);
	memcpy(bitmap + 8u * (rank / 64), &word, sizeof(word));
}

static bool send_to(struct trib_stream *s, unsigned int via, const struct trib_hdr *h,
		    unsigned int len)
{
	struct trib_iovec iov = {(void *)h, len};
	bool sent;

	s->via = (uint8_t)via;
	sent = s->eng->ops->send(s->eng, s, &iov, 1, len) == 1;
	s->via = 0;
	return sent;
}

bool trib_shared_resend(struct trib_stream *s, uint64_t c, bool timeout)
{
	struct trib_hdr *h = (void *)trib_cell(s, c);
	struct trib_chunk *e = trib_chunk(s, c);

	if (timeout) {
		s->probe_wanted = true;
		if (s->nhop)
			s->probe_ns = s->eng->now; /* trib_shared_timer() paces it */
		if (e->resent) {
			trib_send_control(s, TRIB_T_NEED, 0, (uint32_t)c, 0);
			return false;
		}
		e->resent = true;
	}
	e->given_ns = s->eng->now;
	h->flags |= TRIB_F_RESEND;
	h->relay = timeout ? label(s) : htobe16(TRIB_RELAY_PS);
	return send_to(s, timeout ? trib_shared_via(s) : 0, h, trib_packet_len(h));
}

/* --- dead relays */

static void send_probe(struct trib_stream *s, unsigned int via, uint16_t relay)
{
	struct trib_hdr h;

	trib_hdr_fill(s, &h, TRIB_T_PROBE, 0);
	h.relay = htobe16(relay);
	trib_auth_number(s, &h);
	send_to(s, via, &h, sizeof(h));
}

/* Resend all chunks that went to a dead relay. */
static void send_around(struct trib_stream *s)
{
	uint64_t c;

	for (c = s->una; c < s->high; c++) {
		if (trib_chunk_state(s, c) != TRIB_CHUNK_SENT)
			continue;
		trib_chunk(s, c)->resent = false;
		s->eng->count.resends++;
		trib_loss_resend(s, c, true);
	}
}

/* Does a relay owe an answer without being considered dead? */
static bool is_in_doubt(const struct trib_stream *s)
{
	unsigned int i;

	for (i = 0; i < s->nhop; i++)
		if (s->hop[i].owes && s->hop[i].owes < TRIB_TUNE_PROBES)
			return true;
	return false;
}

static void probe(struct trib_stream *s)
{
	unsigned int i, before = first_living(s), living;

	s->probe_wanted = false;
	s->probed_ns = s->eng->now;
	for (i = 0; i < s->nhop; i++) {
		if (s->hop[i].owes < UINT16_MAX)
			s->hop[i].owes++;
		send_probe(s, 1 + i, s->hop[i].relay);
	}
	living = first_living(s);
	if (living)
		send_probe(s, 0, s->hop[living - 1].relay);
	if (living > before)
		send_around(s);
	s->probe_wanted = false;
}

void trib_shared_timer(struct trib_stream *s)
{
	uint64_t now = s->eng->now, pace = TRIB_TUNE_PROBE_PACE;
	bool dead = first_living(s) != 0;

	if (!s->probe_ns || now < s->probe_ns)
		return;
	if (!s->probe_wanted && !is_in_doubt(s)) {
		s->probe_ns = 0;
		if (!dead)
			return;
		pace = TRIB_TUNE_PROBE_AGAIN;
	}
	if (!s->probed_ns || now - s->probed_ns >= pace) {
		probe(s);
		pace = is_in_doubt(s) ? TRIB_TUNE_PROBE_PACE : TRIB_TUNE_PROBE_AGAIN;
	}
	s->probe_ns = s->probed_ns + pace;
}

void trib_shared_alive(struct trib_stream *s, const struct trib_rx *rx)
{
	uint32_t number = (uint32_t)rx->scale;
	unsigned int i;

	if (!s->shared) {
		s->eng->count.bad_packets++;
		return;
	}
	/*
	 * The PS answers probes, too, but is no hop. A copy of an old answer says
	 * nothing of now.
	 */
	for (i = 0; i < s->nhop; i++) {
		if (s->hop[i].relay != rx->relay || number <= s->hop[i].answered)
			continue;
		s->hop[i].answered = number;
		s->hop[i].owes = 0;
	}
}
