/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the engine keeps: requests, their parts, and the stream of chunks of
 * each tree with its window. All of it is under the host's lock.
 */
#ifndef TRIB_ENGINE_STREAM_H
#define TRIB_ENGINE_STREAM_H

#include "host.h"
#include "uapi/trib_attach.h"
#include "uapi/trib_sock.h"
#include "uapi/trib_wire.h"

enum trib_chunk_state {
	TRIB_CHUNK_FREE = 0, /* not sent yet */
	TRIB_CHUNK_SENT = 1, /* GRAD frozen and sent, no RESULT */
	TRIB_CHUNK_HELD = 2, /* RESULT consumed, and retained */
};

/**
 * struct trib_chunk - what the engine knows of one of the newest 2W chunks
 * @no: which chunk this is about; see trib_chunk_state().
 * @sent_ns: last transmission, or last answer to NEED.
 * @first_ns: first transmission.
 * @given_ns: when its values were last sent; asking for its result is not that.
 * @part: the message part it belongs to; only while SENT.
 * @off:  its place in the part's sequence.
 * @tx:   serial number of the last transmission, over all chunks.
 * @state: enum trib_chunk_state.
 * @tries: resends so far, saturating.
 * @lost: our packet, or its answer, was taken for lost (counted once).
 * @known: the relay once had our contribution.
 * @resent: shared pools: its values were sent again; later they are asked for.
 */
struct trib_chunk {
	uint64_t no;
	uint64_t sent_ns;
	uint64_t first_ns;
	uint64_t given_ns;
	struct trib_part *part;
	uint32_t off;
	uint32_t tx;
	uint8_t state;
	uint8_t tries;
	bool lost;
	bool known;
	bool resent;
};

enum trib_kind {
	TRIB_KIND_FSUM,	   /* f32 sum or average: EXP and Q32 chunks */
	TRIB_KIND_FLOATS,  /* the same where floats travel as such */
	TRIB_KIND_ISUM,	   /* i32 sum: I32 chunks */
	TRIB_KIND_ORDER,   /* max, min: W64 chunks */
	TRIB_KIND_BITS,	   /* allgather, broadcast: I32 chunks, one author */
	TRIB_KIND_BARRIER, /* one chunk without values */
	TRIB_KIND_LEAVE,   /* the same, of trib_detach() */
};

/**
 * struct trib_part - the share of one request that travels in one tree
 * @req:    request.
 * @stream: that it travels in.
 * @next:   in the stream's queue, in order of chunks.
 * @kind:   enum trib_kind.
 * @first:  first element.
 * @count:  elements.
 * @chunk0: its first chunk in the stream.
 * @ndata:  data chunks.
 * @nexp:   EXP chunks.
 * @nchunk: @ndata + @nexp.
 * @sent:   chunks sent; they go in order within a part.
 * @left:   chunks without result.
 * @exp:    float sums: exponent of every data chunk, as EXP results come.
 * @exp_seen: bit i: that of EXP group i came.
 */
struct trib_part {
	struct trib_req *req;
	struct trib_stream *stream;
	struct trib_part *next;
	enum trib_kind kind;
	uint64_t first;
	uint64_t count;
	uint64_t chunk0;
	uint64_t ndata;
	uint64_t nexp;
	uint64_t nchunk;
	uint64_t sent;
	uint64_t left;
	int16_t *exp;
	uint8_t *exp_seen;
};

/**
 * struct trib_req - one collective
 * @eng:    engine; NULL: it outlived it, and only @status and @ctx are left.
 * @ctx:    the host's.
 * @src:    this rank's elements; for allgather, of its own region.
 * @dst:    where the result goes.
 * @dst_first: element that @dst[0] stands for; elements outside
 *          @dst_first .. + @dst_count are not stored.
 * @dst_count: see above.
 * @own_first: BITS: elements this rank is the author of.
 * @own_count: see above.
 * @dtype:  element type.
 * @op:     operation.
 * @left:   parts without result.
 * @status: 0, or the negative errno it failed with.
 * @done:   @status is final; the host's to free.
 * @bad:    largest non-finite report among its words, or 0.
 * @next:   in the engine's list of requests that were not freed.
 * @prev:   see above.
 * @part:   one per tree used.
 */
struct trib_req {
	struct trib_engine *eng;
	void *ctx;
	const void *src;
	void *dst;
	uint64_t dst_first;
	uint64_t dst_count;
	uint64_t own_first;
	uint64_t own_count;
	enum trib_sock_dtype dtype;
	enum trib_sock_op op;
	unsigned int left;
	int status;
	bool done;
	int64_t bad;
	struct trib_req *next;
	struct trib_req *prev;
	unsigned int npart;
	struct trib_part part[];
};

/* Windows are in fractions of a chunk, this many to one. */
#define TRIB_CHUNK_ONE (1ULL << 20)
/* Shares: all of it. */
#define TRIB_SHARE_ALL (1LL << 32)

/**
 * struct trib_cong - congestion window of one stream (window.c)
 * @cwnd: chunks in flight allowed, in 1 / TRIB_CHUNK_ONE. No more than 2^14
 *        chunks, so 34 bits.
 * @cap:  its upper bound: W, receive buffer, planned rate. The same unit.
 * @limited: it is what held the last push back.
 * @slow_start: doubling per round trip, until something speaks against it.
 * @compete: there is a standing queue that is not ours: delay says nothing.
 * @srtt, @rttvar: of all samples: waiting for others included.
 * @rtt_min: least sample of this period and the one before: no queue.
 * @rtt_pure: smoothed, of samples without waiting for others; 0 = none yet.
 * @min_now, @min_before, @min_ns: the two periods, and when this one began.
 * @round_end: chunk whose result ends this round trip.
 * @round_any: least sample of this round; 0 = none.
 * @round_pure: least pure sample of this round; 0 = none.
 * @last_pure: that of the round before, or of an older one.
 * @round_ce: results of this round with a congestion mark.
 * @cut_ns: last reduction.
 * @base_cwnd, @base_rtt: at the first of a row of reductions because of delay:
 *        halving the one must shorten the other, if the queue is ours.
 *        @base_cwnd is in the unit of @cwnd; 0 = none.
 * @loss: share of own packets lost, of recent chunks, in 1 / TRIB_SHARE_ALL.
 */
struct trib_cong {
	uint64_t cwnd;
	uint64_t cap;
	bool limited;
	bool slow_start;
	bool compete;
	uint64_t srtt, rttvar;
	uint64_t rtt_min;
	uint64_t rtt_pure;
	uint64_t min_now, min_before, min_ns;
	uint64_t round_end;
	uint64_t round_any;
	uint64_t round_pure;
	uint64_t last_pure;
	unsigned int round_ce;
	uint64_t cut_ns;
	uint64_t base_cwnd;
	uint64_t base_rtt;
	int64_t loss;
};

/**
 * struct trib_life - what a rank's newest ALIVE said (silence.c)
 * @heard_ns: when it came; 0 = never.
 * @waits_for: the chunk that it has sent and lacks the result of, if any.
 * @since_ns: since when it says so: without a pause, and of the same chunk.
 */
struct trib_life {
	uint64_t heard_ns;
	uint64_t waits_for;
	uint64_t since_ns;
};

/**
 * struct trib_hop - a relay on the way to the PS (shared.c)
 * @relay: its number (fixed).
 * @owes:  PROBEs that it has not answered, saturating.
 */
struct trib_hop {
	uint16_t relay;
	uint16_t owes;
};

/**
 * struct trib_stream - one tree: a sequence of chunks
 *
 * Chunks are counted in 64 bits here and truncated on the wire. What is known
 * of chunk c is in chunk[c & mask], its packet in cell c & cell_mask, until
 * c + 2W is sent (cells of transports with TRIB_TRANSPORT_HOLDS: W of them,
 * until c + W is sent).
 *
 * A transport that looks for results itself looks at the chunks from @una to
 * @high - 1 whose trib_chunk_state() is TRIB_CHUNK_SENT.
 *
 * @eng:    engine (fixed).
 * @index:  among its streams, and in rep->tree (fixed).
 * @tree:   number (fixed).
 * @child:  ours at the relay (fixed).
 * @weight: its share of messages, against the others (fixed).
 * @overhead: bytes around a packet, Ethernet to UDP header; set by the
 *          host before joining.
 * @epoch:  running epoch; 0 = not started.
 * @window: W (fixed once started).
 * @nval:   values per chunk (fixed once started).
 * @nchild: children of our relay, @child_rank their ranks (fixed once started).
 * @una:    lowest chunk without result: all before are held and consumed.
 * @next:   chunk number the next part begins with.
 * @high:   highest chunk sent + 1.
 * @held:   highest chunk with a result + 1.
 * @stride: bytes of a cell: header and nval values.
 * @cells:  packets: a frozen GRAD, later the RESULT.
 * @head:   parts with chunks not sent, @tail its end.
 * @inflight: chunks sent and without result.
 * @tx:     transmissions so far; @tx_acked the newest that was answered.
 * @timer_ns: no time-out is due before; 0 = none runs.
 * @check_ns: when to look who has been silent for too long; 0 = not.
 * @retry_ns: the socket was full: send again then; 0 = it was not.
 * @paced_ns: the planned rate allows no more before; 0 = it does.
 * @refused_ns: since when the transport takes nothing; 0 = it does.
 * @result_ns: last new RESULT.
 * @alive_ns: we last said ALIVE.
 * @asked:  newest chunk + 1 that NEED named before it was sent; 0 = none.
 * @lacks_ns: a sign came that somebody lacks a result which we have.
 * @life:   of each rank.
 * @heard:  the relay answered a JOIN.
 * @join_seen: children that had joined by the newest START(WAIT).
 * @join_nval: JOIN is padded to so many values.
 *
 * Of trees of shared pools (fixed, but for @hop's, @via and what follows):
 * @shared:  it is one.
 * @bmwords: words of bitmap in each GRAD.
 * @hop:     @nhop relays on the way to the PS.
 * @via:     where the transport is to send to: 0 its relay, or the PS; i + 1:
 *           hop i.
 * @probe_ns: when to ask the relays whether they live; 0 = no need.
 * @probed_ns: when they were last asked.
 * @probe_wanted: a time-out came since.
 */
struct trib_stream {
	struct trib_engine *eng;
	unsigned int index;
	unsigned int overhead;
	uint16_t tree;
	uint16_t child;
	uint16_t weight;
	uint32_t epoch;
	uint16_t window;
	uint16_t nval;
	uint16_t nchild;
	uint16_t child_rank[TRIB_CHILDREN_MAX];

	uint64_t una;
	uint64_t next;
	uint64_t high;
	uint64_t held;
	uint32_t mask;
	struct trib_chunk *chunk;
	uint32_t cell_mask;
	uint32_t stride;
	uint8_t *cells;

	struct trib_part *head, **tail;
	uint32_t inflight;
	uint32_t tx;
	uint32_t tx_acked;

	struct trib_cong cong;
	uint64_t timer_ns;
	uint64_t check_ns;
	uint64_t retry_ns;
	uint64_t paced_ns;
	uint64_t refused_ns;

	uint64_t result_ns;
	uint64_t alive_ns;
	uint64_t asked;
	uint64_t lacks_ns;
	struct trib_life *life;

	bool heard;
	uint64_t join_seen;
	uint16_t join_nval;

	bool shared;
	uint8_t bmwords;
	uint8_t nhop;
	uint8_t via;
	struct trib_hop hop[TRIB_ATTACH_HOPS];
	uint64_t probe_ns;
	uint64_t probed_ns;
	bool probe_wanted;
};

static inline struct trib_chunk *trib_chunk(const struct trib_stream *s,
					    uint64_t c)
{
	return &s->chunk[c & s->mask];
}

/* What is known of chunk @c; FREE if nothing, or nothing any more. */
static inline enum trib_chunk_state
trib_chunk_state(const struct trib_stream *s, uint64_t c)
{
	const struct trib_chunk *e = trib_chunk(s, c);

	return e->no == c ? (enum trib_chunk_state)e->state : TRIB_CHUNK_FREE;
}

static inline uint8_t *trib_cell(struct trib_stream *s, uint64_t c)
{
	return s->cells + (size_t)(c & s->cell_mask) * s->stride;
}

/* The 64-bit number of a chunk named on the wire, near what is under way. */
static inline uint64_t trib_chunk_wide(const struct trib_stream *s, uint32_t c)
{
	return s->una + (int64_t)trib_chunk_diff(c, (uint32_t)s->una);
}

#endif /* TRIB_ENGINE_STREAM_H */
