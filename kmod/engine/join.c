// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Joins trees and leaves them: together with all ranks, or alone, and then tells the others.
 * Joining repeats JOIN until the relay of each tree answers START(RUN).
 *
 * JOIN is padded to the size of a full data packet and must not be fragmented, so
 * joining fails on a path whose MTU is too small. The size comes from the place,
 * or from the first START: then JOIN is sent again in that size, and only its
 * answer counts. The sockets ignore what the kernel remembers of the path's MTU:
 * it would refuse large packets until ten minutes after the path is mended.
 * START also has the token that the JOIN must have.
 */
#include "inner.h"

/* Largest window that a START may announce. */
#define WINDOW_MAX 16384

/* The epoch of results that this host may hold. */
static uint32_t newest_epoch(const struct trib_stream *s)
{
	if (s->detour.state)
		return s->detour.epoch;
	return s->epoch ? s->epoch : s->eng->rep->epoch;
}

int trib_session_send(struct trib_stream *s, uint8_t type, uint16_t nval)
{
	struct trib_largest *pkt = &s->eng->scratch->packet;
	struct trib_join j = {
		.nonce = htobe64(s->nonce),
		.epoch = htobe32(newest_epoch(s)),
		.rank = htobe32(s->eng->rank),
		.token = type == TRIB_T_JOIN ? s->auth.token : 0,
	};
	/* Same length as a GRAD, with its bitmap in shared pools. */
	unsigned int len = sizeof(pkt->h) + 8u * s->bmwords + trib_payload_len(nval);
	struct trib_iovec iov = {pkt, len};

	memset(pkt, 0, sizeof(*pkt));
	trib_hdr_fill(s, &pkt->h, type, 0);
	pkt->h.aux = htobe16((uint16_t)s->eng->rank);
	pkt->h.nval = htobe16(nval);
	if (s->shared)
		trib_shared_label(s, &pkt->h);
	pkt->h.relay = s->shared ? htobe16(TRIB_RELAY_PS) : 0;
	memcpy(trib_cell_values(s, &pkt->h), &j, sizeof(j));
	pkt->h.auth = trib_auth(&s->auth.up, &pkt->h, pkt->v, len - sizeof(pkt->h));
	return s->eng->ops->send(s->eng, s, &iov, 1, len);
}

/* Bytes of a JOIN with its IP header. */
static unsigned int join_bytes(const struct trib_stream *s)
{
	return s->overhead - 14 + (unsigned int)sizeof(struct trib_hdr) + 8u * s->bmwords +
	       trib_payload_len(s->join_nval);
}

static void send_join(struct trib_stream *s)
{
	struct trib_engine *eng = s->eng;
	int rc = trib_session_send(s, TRIB_T_JOIN, s->join_nval);

	if (rc == -EMSGSIZE && !s->detour.state)
		trib_die_rank(
			eng, TRIB_SOCK_ERR_SYSTEM, rc, -1,
			"the path to the %s of tree %u does not take packets of %u bytes: check the MTU",
			trib_peer(s), s->tree, join_bytes(s));
}

static void run(struct trib_stream *s, const struct trib_start *st)
{
	uint16_t window = be16toh(st->window), nval = be16toh(st->nval);
	struct trib_engine *eng = s->eng;
	int rc;

	if (be16toh(st->world) != eng->world || !st->epoch || !window || window > WINDOW_MAX ||
	    window & (window - 1) || !nval || nval > TRIB_NVAL_LARGE || nval % TRIB_NVAL_BLOCK ||
	    (!s->shared && s->child >= s->nchild)) {
		trib_die_rank(
			eng, TRIB_SOCK_ERR_RELAY, -EPROTO, -1,
			"the %s of tree %u starts another job (world %u, window %u, %u values)",
			trib_peer(s), s->tree, be16toh(st->world), window, nval);
		return;
	}
	if (nval > s->join_nval) {
		s->join_nval = nval;
		send_join(s);
		return;
	}
	if (eng->ops->cells && (window != eng->rep->window || nval != eng->rep->nval)) {
		trib_die_rank(
			eng, TRIB_SOCK_ERR_SYSTEM, -EPROTO, -1,
			"tree %u: the relay's window is %u with %u values per chunk, but tribd here has %u and %u: use the same window and --values on all hosts",
			s->tree, window, nval, eng->rep->window, eng->rep->nval);
		return;
	}
	s->window = window;
	s->nval = nval;
	s->epoch = be32toh(st->epoch);
	if (!eng->timeout_ns)
		eng->timeout_ns = be32toh(st->timeout_ms) * TRIB_MS;
	rc = trib_stream_start(s);
	if (rc) {
		s->epoch = 0;
		trib_die_rank(eng, TRIB_SOCK_ERR_SYSTEM, rc, -1, "out of memory");
	}
}

void trib_join_rx(struct trib_stream *s, const struct trib_rx *rx)
{
	struct trib_start st;
	unsigned int i;
	bool again;

	if ((s->epoch && !s->detour.state) || s->eng->dead)
		return; /* repeated */
	if (!rx->v || rx->len < sizeof(st)) {
		s->eng->count.bad_packets++;
		return;
	}
	memcpy(&st, rx->v, sizeof(st));
	if (be64toh(st.nonce) != s->nonce || be16toh(st.nchild) > TRIB_CHILDREN_MAX) {
		s->eng->count.bad_packets++;
		return;
	}
	if (rx->len > s->heard)
		s->heard = rx->len;
	s->join_seen = be64toh(st.seen);
	s->nchild = be16toh(st.nchild);
	for (i = 0; i < s->nchild; i++)
		s->child_rank[i] = be16toh(st.child_rank[i]);
	switch (be16toh(st.state)) {
	case TRIB_START_WAIT:
		/* The relay counts only a JOIN with its token, and of its own size. */
		again = st.token != s->auth.token;
		s->auth.token = st.token;
		if (be16toh(st.nval) > s->join_nval && be16toh(st.nval) <= TRIB_NVAL_LARGE) {
			s->join_nval = be16toh(st.nval);
			again = true;
		}
		if (again)
			send_join(s);
		break;
	case TRIB_START_RUN:
		if (s->detour.state)
			trib_detour_started(s, &st);
		else
			run(s, &st);
		break;
	case TRIB_START_REFUSED:
		if (s->detour.state)
			break;
		trib_die_rank(s->eng, TRIB_SOCK_ERR_RELAY, -EACCES, -1,
			      "the %s of tree %u refuses rank %u: its log says why", trib_peer(s),
			      s->tree, s->eng->rank);
		break;
	}
}

/* The join timeout has passed: report the missing ranks. */
static void give_up(struct trib_engine *eng)
{
	unsigned long long ms = eng->join_timeout_ns / TRIB_MS;
	unsigned int i = 0, j, n = 0, first = 0, more = 0;
	struct trib_stream *s;
	char list[120];
	size_t len = 0;

	/* The first tree that does not run: all trees miss the same ranks. */
	while (eng->stream[i]->epoch)
		i++;
	s = eng->stream[i];
	if (!s->heard) {
		trib_die_rank(
			eng, TRIB_SOCK_ERR_RELAY, -ETIMEDOUT, -1,
			"no answer from the %s of tree %u to packets of %u bytes within %llu ms: see trib doctor there; a ticket works on its rank's host only",
			trib_peer(s), s->tree, join_bytes(s), ms);
		return;
	}
	if (s->heard < trib_payload_len(s->join_nval)) {
		trib_die_rank(
			eng, TRIB_SOCK_ERR_SYSTEM, -EMSGSIZE, -1,
			"the %s of tree %u answers short packets, but none of %u bytes within %llu ms: check the MTU of all links on the path",
			trib_peer(s), s->tree, join_bytes(s), ms);
		return;
	}
	for (j = 0; j < s->nchild; j++) {
		if (s->join_seen >> j & 1 || s->child_rank[j] == 0xffff)
			continue;
		if (!n++)
			first = s->child_rank[j];
		if (len > sizeof(list) - 8)
			more++;
		else
			len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%u",
						len ? ", " : "", s->child_rank[j]);
	}
	if (!n)
		trib_die_rank(eng, TRIB_SOCK_ERR_MISSING, -ETIMEDOUT, -1,
			      "ranks behind another relay did not join within %llu ms", ms);
	else
		trib_die_rank(eng, TRIB_SOCK_ERR_MISSING, -ETIMEDOUT, (int)first,
			      "rank%s %s%s did not join within %llu ms", n > 1 ? "s" : "", list,
			      more ? " ..." : "", ms);
}

static bool all_run(const struct trib_engine *eng)
{
	unsigned int i;

	for (i = 0; i < eng->nstream; i++)
		if (!eng->stream[i]->epoch)
			return false;
	return true;
}

void trib_join_start(struct trib_engine *eng, uint64_t nonce)
{
	unsigned int i;

	if (!eng->join_timeout_ns)
		eng->join_timeout_ns = TRIB_TUNE_JOIN_TIMEOUT_MS * TRIB_MS;
	for (i = 0; i < eng->nstream; i++)
		eng->stream[i]->nonce = nonce;
	eng->join_ns = eng->now;
	eng->join_end_ns = eng->now + eng->join_timeout_ns;
}

int trib_join_turn(struct trib_engine *eng)
{
	unsigned int i;

	if (!eng->dead && all_run(eng))
		return 1;
	if (!eng->dead && eng->now >= eng->join_end_ns)
		give_up(eng);
	if (eng->dead)
		return eng->dead;
	if (eng->now < eng->join_ns)
		return 0;
	for (i = 0; i < eng->nstream && !eng->dead; i++)
		if (!eng->stream[i]->epoch)
			send_join(eng->stream[i]);
	eng->join_ns = eng->now + TRIB_TUNE_JOIN_REPEAT;
	return eng->dead;
}

uint64_t trib_join_deadline(const struct trib_engine *eng)
{
	return eng->join_ns < eng->join_end_ns ? eng->join_ns : eng->join_end_ns;
}

/* --- leaving */

/* When another rank last showed that it lacks a result which we have. */
static uint64_t last_lack(const struct trib_engine *eng)
{
	uint64_t when = 0;
	unsigned int i;

	for (i = 0; i < eng->nstream; i++)
		if (eng->stream[i]->lacks_ns > when)
			when = eng->stream[i]->lacks_ns;
	return when;
}

/*
 * How long to listen for ranks that lack results. In shared pools the PS sends
 * NEED to one rank after another, with timeouts in between.
 */
static uint64_t listens_for(const struct trib_engine *eng)
{
	uint64_t ns = eng->timeout_ns, longest = trib_loss_longest(eng);
	unsigned int i;

	for (i = 0; i < eng->nstream; i++)
		if (eng->stream[i]->shared && ns < TRIB_TUNE_DETACH_TIMEOUTS * longest)
			ns = TRIB_TUNE_DETACH_TIMEOUTS * longest;
	return ns;
}

void trib_leave_start(struct trib_engine *eng)
{
	eng->leaving = true;
	eng->leave_ns = eng->now + listens_for(eng);
	if (eng->running && !eng->dead && !eng->unfinished)
		eng->barrier = trib_req_leave(eng);
}

/*
 * The barrier's result can be lost for good if the ranks that had it have left.
 * But while others fetch earlier results, we may be the only rank that still has
 * them.
 */
bool trib_leave_turn(struct trib_engine *eng)
{
	uint64_t next;

	if (eng->dead || !eng->barrier || eng->barrier->done)
		return true;
	if (eng->now < eng->leave_ns)
		return false;
	next = last_lack(eng) + listens_for(eng);
	if (next <= eng->leave_ns)
		return true;
	eng->leave_ns = next;
	return false;
}

/*
 * After the barrier no rank lacks a result that we have. Without it, or with
 * requests left, tell the others that we are gone.
 */
void trib_leave_end(struct trib_engine *eng)
{
	bool together = eng->barrier && eng->barrier->done;
	unsigned int i, j;

	if (eng->running && !eng->dead && !together) {
		for (i = 0; i < TRIB_TUNE_ABORT_COPIES; i++)
			trib_send_control(eng->stream[0], TRIB_T_ABORT, 0, TRIB_ABORT_GONE,
					  (uint16_t)eng->rank);
		trib_die_rank(eng, TRIB_SOCK_ERR_GONE, -ECANCELED, (int)eng->rank,
			      "this rank detached");
	}
	for (i = 0; i < eng->nstream; i++)
		trib_cells_end(eng->stream[i]);
	for (i = 0; i < eng->nstream; i++)
		for (j = 0; j < TRIB_TUNE_LEAVE_COPIES; j++)
			trib_session_send(eng->stream[i], TRIB_T_LEAVE,
					  sizeof(struct trib_join) / 4);
}
