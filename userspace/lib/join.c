// SPDX-License-Identifier: BSD-2-Clause
/*
 * From places to running trees, and back: JOIN is repeated until the relay of
 * each tree says START(RUN); LEAVE ends it.
 *
 * JOIN is padded to the size of a full data packet and must not be fragmented,
 * so a path that is too small for the job shows here. The size is known from
 * tribd, or else from the first START: then JOIN is sent again in that size,
 * and only the answer to it counts.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "internal.h"

/* START says more than this only by mistake. */
#define WINDOW_MAX 16384

static int send_session(struct trib_stream *s, uint8_t type, uint16_t nval)
{
	struct {
		struct trib_hdr h;
		uint8_t v[TRIB_BMWORDS_MAX * 8 + TRIB_NVAL_LARGE * 4];
	} pkt;
	struct trib_join j = {
		.nonce = htobe64(s->t->nonce),
		/* Joining: what this host's cells may still hold. */
		.epoch = htobe32(s->epoch ? s->epoch : s->t->place.rep.epoch),
		.rank = htobe32(s->t->rank),
	};
	/* As long as a GRAD, which has a bitmap in shared pools. */
	unsigned int len = sizeof(pkt.h) + 8u * s->bmwords +
			   trib_payload_len(nval);
	struct iovec iov = {&pkt, len};

	memset(&pkt, 0, sizeof(pkt));
	trib_hdr_fill(s, &pkt.h, type, 0);
	pkt.h.aux = htobe16((uint16_t)s->t->rank);
	pkt.h.nval = htobe16(nval);
	if (s->shared)
		trib_shared_label(s, &pkt.h);
	pkt.h.relay = s->shared ? htobe16(TRIB_RELAY_PS) : 0;
	memcpy(trib_cell_values(&pkt), &j, sizeof(j));
	return s->t->ops->send(s->t, s, &iov, 1, len);
}

static void send_join(struct trib_stream *s)
{
	struct trib *t = s->t;
	int rc = send_session(s, TRIB_T_JOIN, s->join_nval);

	if (rc == -EMSGSIZE)
		trib_die_rank(
			t, TRIB_ERR_SYSTEM, rc, -1,
			"the path to the %s of tree %u does not take packets of %u bytes: check the MTU",
			trib_peer(s), s->tree,
			s->overhead - 14 +
				(unsigned int)sizeof(struct trib_hdr) +
				8u * s->bmwords +
				trib_payload_len(s->join_nval));
}

static void run(struct trib_stream *s, const struct trib_start *st)
{
	uint16_t window = be16toh(st->window), nval = be16toh(st->nval);
	struct trib *t = s->t;
	int rc;

	if (be16toh(st->world) != t->world || !st->epoch || !window ||
	    window > WINDOW_MAX || window & (window - 1) || !nval ||
	    nval > TRIB_NVAL_LARGE || nval % TRIB_NVAL_BLOCK ||
	    (!s->shared && s->child >= s->nchild)) {
		trib_die_rank(
			t, TRIB_ERR_RELAY, -EPROTO, -1,
			"the %s of tree %u starts another job (world %u, window %u, %u values)",
			trib_peer(s), s->tree, be16toh(st->world), window, nval);
		return;
	}
	if (nval > s->join_nval) {
		s->join_nval = nval;
		send_join(s);
		return;
	}
	s->window = window;
	s->nval = nval;
	if (!t->timeout_ns)
		t->timeout_ns = be32toh(st->timeout_ms) * TRIB_MS;
	rc = trib_stream_start(s);
	if (rc) {
		trib_die_rank(t, TRIB_ERR_SYSTEM, rc, -1, "out of memory");
		return;
	}
	s->epoch = be32toh(st->epoch);
}

void trib_join_rx(struct trib_stream *s, const struct trib_rx *rx)
{
	struct trib_start st;
	unsigned int i;

	if (s->epoch || s->t->dead)
		return; /* said again */
	if (!rx->v || rx->len < sizeof(st)) {
		s->t->count.bad_packets++;
		return;
	}
	memcpy(&st, rx->v, sizeof(st));
	if (be64toh(st.nonce) != s->t->nonce ||
	    be16toh(st.nchild) > TRIB_CHILDREN_MAX) {
		s->t->count.bad_packets++;
		return;
	}
	s->heard = true;
	s->join_seen = be64toh(st.seen);
	s->nchild = be16toh(st.nchild);
	for (i = 0; i < s->nchild; i++)
		s->child_rank[i] = be16toh(st.child_rank[i]);
	switch (be16toh(st.state)) {
	case TRIB_START_WAIT:
		/* A JOIN of another size does not count yet. */
		if (be16toh(st.nval) > s->join_nval &&
		    be16toh(st.nval) <= TRIB_NVAL_LARGE) {
			s->join_nval = be16toh(st.nval);
			send_join(s);
		}
		break;
	case TRIB_START_RUN:
		run(s, &st);
		break;
	case TRIB_START_REFUSED:
		trib_die_rank(s->t, TRIB_ERR_RELAY, -EACCES, -1,
			      "the %s of tree %u refuses rank %u",
			      trib_peer(s), s->tree, s->t->rank);
		break;
	}
}

/* Which ranks the relays still wait for, as text. */
static int tell_missing(struct trib *t)
{
	unsigned int i, j, n = 0, first = 0, more = 0;
	bool heard = false;
	char list[120];
	size_t len = 0;

	for (i = 0; i < t->nstream; i++) {
		struct trib_stream *s = t->stream[i];

		if (s->epoch)
			continue;
		heard |= s->heard;
		for (j = 0; j < s->nchild; j++) {
			if (s->join_seen >> j & 1 || s->child_rank[j] == 0xffff)
				continue;
			if (!n++)
				first = s->child_rank[j];
			if (len > sizeof(list) - 8)
				more++;
			else
				len += (size_t)snprintf(
					list + len, sizeof(list) - len, "%s%u",
					len ? ", " : "", s->child_rank[j]);
		}
		break; /* one tree's list; the others' are the same ranks */
	}
	if (!heard)
		return trib_fail(
			t, TRIB_ERR_RELAY, -ETIMEDOUT,
			"no answer from the %s of tree %u within %llu ms",
			trib_peer(t->stream[i < t->nstream ? i : 0]),
			t->stream[i < t->nstream ? i : 0]->tree,
			(unsigned long long)(t->join_timeout_ns / TRIB_MS));
	if (!n)
		return trib_fail(
			t, TRIB_ERR_MISSING, -ETIMEDOUT,
			"ranks behind another relay did not join within %llu ms",
			(unsigned long long)(t->join_timeout_ns / TRIB_MS));
	return trib_fail_rank(
		t, TRIB_ERR_MISSING, -ETIMEDOUT, (int)first, -1,
		"rank%s %s%s did not join within %llu ms", n > 1 ? "s" : "",
		list, more ? " ..." : "",
		(unsigned long long)(t->join_timeout_ns / TRIB_MS));
}

static bool all_run(const struct trib *t)
{
	unsigned int i;

	for (i = 0; i < t->nstream; i++)
		if (!t->stream[i]->epoch)
			return false;
	return true;
}

int trib_join(struct trib *t)
{
	uint64_t end, next = 0, wake;
	struct timespec ts;
	unsigned int i;
	int rc;

	t->nonce = trib_nonce_next();
	if (!t->nonce)
		return trib_fail(t, TRIB_ERR_SYSTEM, -EIO, "no random numbers");
	t->now = trib_now();
	end = t->now + t->join_timeout_ns;
	while (!t->dead && !all_run(t)) {
		if (t->now >= end)
			return tell_missing(t);
		if (t->now >= next) {
			for (i = 0; i < t->nstream && !t->dead; i++)
				if (!t->stream[i]->epoch)
					send_join(t->stream[i]);
			next = t->now + TRIB_TUNE_JOIN_REPEAT;
		}
		wake = (next < end ? next : end) - t->now;
		ts.tv_sec = (time_t)(wake / TRIB_SEC);
		ts.tv_nsec = (long)(wake % TRIB_SEC);
		ppoll(t->pfd, t->npfd - 1, &ts, NULL);
		t->now = trib_now();
		rc = t->ops->recv(t);
		if (rc < 0)
			return trib_fail(t, TRIB_ERR_SYSTEM, rc,
					 "receiving failed: %s", strerror(-rc));
	}
	return t->dead;
}

void trib_leave(struct trib *t)
{
	unsigned int i, j;

	for (i = 0; i < t->nstream; i++)
		for (j = 0; j < TRIB_TUNE_LEAVE_COPIES; j++)
			send_session(t->stream[i], TRIB_T_LEAVE,
				     sizeof(struct trib_join) / 4);
}
