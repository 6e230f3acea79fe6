/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * State of the engine: requests, their parts, and per tree the stream of chunks
 * with its window. The host's lock protects all of it.
 */
#ifndef TRIB_ENGINE_STREAM_H
#define TRIB_ENGINE_STREAM_H

#include "host.h"
#include "uapi/trib_attach.h"
#include "uapi/trib_auth.h"
#include "uapi/trib_cell.h"
#include "uapi/trib_sock.h"
#include "uapi/trib_wire.h"

enum trib_chunk_state {
	TRIB_CHUNK_FREE = 0,  /* not sent yet */
	TRIB_CHUNK_SENT = 1,  /* GRAD frozen and sent, no RESULT */
	TRIB_CHUNK_HELD = 2,  /* RESULT consumed, and retained */
	TRIB_CHUNK_READY = 3, /* in its cell for XDP, which may have sent it; no RESULT */
	TRIB_CHUNK_LATE = 4,  /* taken from XDP; the first packet has not gone */
};

/**
 * struct trib_chunk - state of one of the newest 2W chunks; with XDP's cells of N
 * @no: the chunk's number; see trib_chunk_state().
 * @sent_ns: last transmission, or last answer to NEED. READY: when it was first seen sent;
 *         0: not yet.
 * @first_ns: first transmission.
 * @given_ns: last transmission of its values; asking for its result does not count.
 * @part: the message part it belongs to; only while SENT.
 * @off:  its index in the part.
 * @tx:   serial number of the last transmission, over all chunks. With XDP's cells: results
 *        that had come at @sent_ns.
 * @tx0:  serial number of the first one, which a result proves to have arrived.
 * @state: enum trib_chunk_state.
 * @tries: resends so far, saturating.
 * @lost: our packet or its answer counts as lost (counted once).
 * @known: the relay once had our contribution.
 * @resent: shared pools: its values were resent; from now on ask for the result.
 */
struct trib_chunk {
	uint64_t no;
	uint64_t sent_ns;
	uint64_t first_ns;
	uint64_t given_ns;
	struct trib_part *part;
	uint32_t off;
	uint32_t tx;
	uint32_t tx0;
	uint8_t state;
	uint8_t tries;
	bool lost;
	bool known;
	bool resent;
};

enum trib_kind {
	TRIB_KIND_FSUM,	   /* f32 sum or average: EXP and Q32 chunks */
	TRIB_KIND_FLOATS,  /* the same in a job of floats: F32, F16, BF16 */
	TRIB_KIND_LOCAL,   /* f32 sum of masked values: EXP and I32 chunks, or F32 chunks */
	TRIB_KIND_ISUM,	   /* i32 sum: I32 chunks */
	TRIB_KIND_WORDS,   /* sum of 64-bit words: Q32 chunks with scale 0 */
	TRIB_KIND_ORDER,   /* max, min: W64 chunks */
	TRIB_KIND_BITS,	   /* allgather, broadcast: I32 chunks, one author */
	TRIB_KIND_BARRIER, /* one chunk without values */
	TRIB_KIND_LEAVE,   /* the barrier of leaving */
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
 * @front:  EXP chunks before the first data chunk.
 * @open:   chunks before this one do not wait for exponents.
 * @sent:   chunks sent; they go in order within a part.
 * @left:   chunks without result.
 * @exp:    float sums: exponent of every data chunk, from EXP results.
 * @exp_seen: bit i: the result of EXP group i came.
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
	uint64_t front;
	uint64_t open;
	uint64_t sent;
	uint64_t left;
	int16_t *exp;
	uint8_t *exp_seen;
};

/**
 * struct trib_req - one collective
 * @eng:    engine; NULL: an orphan, with only @status and @ctx.
 * @ctx:    for the host.
 * @notify: for the host, which calls it, or not, in its done().
 * @src:    this rank's elements; for allgather, of its own region.
 * @mask:   LOCAL: mask words of its elements; @src are the values that they select.
 * @dst:    the result.
 * @dst_first: index of @dst[0] in the message; only @dst_count elements from there
 *          on are stored.
 * @dst_count: see above.
 * @own_first: BITS: this rank sends @own_count elements from there on.
 * @own_count: see above.
 * @dtype:  element type.
 * @op:     operation.
 * @left:   parts without result.
 * @nm:     LOCAL: trib_nm() of the mask.
 * @held:   its elements are not there yet: no chunk of it is sent.
 * @kept:   the host completes it, also when the engine dies.
 * @status: 0, or the negative errno it failed with.
 * @done:   @status is final; the host may free it.
 * @bad:    largest report of a non-finite value in its results, or 0.
 * @over:   1 + index of the first element whose sum exceeds the largest float, or 0.
 * @next:   in the engine's list of requests that are not freed.
 * @prev:   see above.
 * @part:   one per tree used.
 */
struct trib_req {
	struct trib_engine *eng;
	void *ctx;
	void (*notify)(struct trib_req *r);
	const void *src;
	const void *mask;
	void *dst;
	uint64_t dst_first;
	uint64_t dst_count;
	uint64_t own_first;
	uint64_t own_count;
	enum trib_sock_dtype dtype;
	enum trib_sock_op op;
	unsigned int left;
	uint8_t nm;
	bool held;
	bool kept;
	int status;
	bool done;
	int64_t bad;
	uint64_t over;
	struct trib_req *next;
	struct trib_req *prev;
	unsigned int npart;
	struct trib_part part[];
};

/* Fixed-point unit of windows: fractions of a chunk. */
#define TRIB_CHUNK_ONE (1ULL << 20)
/* Fixed-point unit of shares. */
#define TRIB_SHARE_ALL (1LL << 32)

/**
 * struct trib_cong - congestion window of one stream (window.c)
 * @cwnd: limit of chunks in flight, in 1 / TRIB_CHUNK_ONE. At most 2^14 chunks, so
 *        34 bits.
 * @cap:  bound of @cwnd by W, receive buffer, and planned rate. The same unit.
 * @limited: @cwnd stopped the last push.
 * @slow_start: @cwnd doubles per round trip.
 * @compete: other traffic fills a standing queue: ignore delay.
 * @srtt, @rttvar: smoothed over all samples, waiting for other ranks included.
 * @rtt_min: minimum of this period and the one before: no queue.
 * @rtt_pure: smoothed over samples without waiting for other ranks; 0: none yet.
 * @min_now, @min_before, @min_ns: minima of the two periods; start of this one.
 * @round_end: the chunk whose result ends this round trip.
 * @round_any: minimum of this round; 0: none.
 * @round_pure: minimum of pure samples of this round; 0: none.
 * @last_pure: @round_pure of the newest round that had one.
 * @round_ce: results of this round with a congestion mark.
 * @path: chunks that the path holds without a queue, in the unit of @cwnd; @path_n results
 *        came since @path_ns. @most: limit of the window. Sending by XDP only.
 * @cut_ns: last reduction.
 * @base_cwnd, @base_rtt: values at the first of several reductions because of
 *        delay. Halving the window must shorten the round trip if the queue is
 *        ours. @base_cwnd is in the unit of @cwnd; 0: none.
 * @loss: share of own packets lost among recent chunks, in 1 / TRIB_SHARE_ALL.
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
	uint64_t path;
	uint64_t path_n;
	uint64_t path_ns;
	uint64_t most;
	uint64_t cut_ns;
	uint64_t base_cwnd;
	uint64_t base_rtt;
	int64_t loss;
};

/**
 * struct trib_life - the newest ALIVE of a rank (silence.c)
 * @heard_ns: when it came; 0: never.
 * @waits_for: the chunk that the rank has sent and has no result of, if any.
 * @since_ns: start of its uninterrupted reports of the same chunk.
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
 * @answered: number of the newest PROBE that it answered; 0: none.
 */
struct trib_hop {
	uint16_t relay;
	uint16_t owes;
	uint32_t answered;
};

/**
 * struct trib_secrets - a stream's keys (packet.c)
 * @up:    key of control packets and JOIN, and of what comes to this rank alone.
 * @down:  key of control packets that come to all.
 * @up_secret, @down_secret: of GRADs and RESULTs, as on the wire.
 * @sent:  number of our newest control packet.
 * @seen:  numbers that came with @down; @own: with @up.
 * @token: of the newest START, as on the wire.
 */
struct trib_secrets {
	struct trib_key up;
	struct trib_key down;
	__be64 up_secret;
	__be64 down_secret;
	uint32_t sent;
	struct trib_replay seen;
	struct trib_replay own;
	__be64 token;
};

/**
 * struct trib_lanes - cells shared with XDP, and their recovery (lanes.c)
 *
 * XDP sends chunk c + D when chunk c has its result: D lanes, each with one chunk in flight.
 *
 * @desk:   the rank's desk; NULL: the cells are the engine's own, and all else is 0.
 * @able:   XDP can send. @reflex: it does; else all packets leave by ops->send().
 * @unsent: chunks in state TRIB_CHUNK_READY while it does not.
 * @slow:   rounds with a queue that may be others'; @patience: so many are borne.
 * @trial:  more were, so the window is tried. @got: chunks a second that lanes got before.
 * @less:   newest rounds of @slow in which they get less than half of that.
 * @ahead:  newest rounds of @slow in which other ranks completed all chunks.
 * @entered: chunks before this one left by the window.
 * @gaps:   share of chunks that counted as lost among the last results, as @loss.
 * @dist:   D, as in the desk.
 * @step:   no chunk in flight is more than so many ahead of another result.
 * @flight: the largest D of this round and the one before: so many chunks are in flight.
 *          @peak: of this round.
 * @begun:  no chunk from there on is known to have been sent.
 * @wide:   chunks may be free to go although the part before has not filled those that
 *          they would wait for.
 * @settled: @step is @dist once all chunks before have results.
 * @ncpu:   lines of the desk that were in use at the last look; @cpu: which ones.
 * @had:    results of each line then; @had_ns: when they were seen to have become more;
 *          @back_ns: when they did after a pause.
 * @filled: chunks sent, or offered to XDP, since the start: results that can have come.
 * @seen:   results delivered when the cells were last read; @armed: when the rank last armed
 *          its desk.
 * @nread:  results read: the clock of this stream, by which chunks age.
 * @count:  @nread at the last look for losses; @moved_ns: when it changed.
 * @rtt:    typical round trip, ns; 0: none measured. @took_ns: the newest.
 * @quiet:  looks without a loss, saturating.
 * @late:   the chunks in state TRIB_CHUNK_LATE, @nlate of them; room for W.
 */
struct trib_lanes {
	struct trib_desk *desk;
	bool able;
	bool reflex;
	unsigned int unsent;
	int64_t gaps;
	unsigned int slow;
	unsigned int patience;
	unsigned int less;
	unsigned int ahead;
	bool trial;
	uint64_t got;
	uint64_t entered;
	uint16_t dist;
	uint16_t step;
	uint16_t flight;
	uint16_t peak;
	uint64_t begun;
	bool wide;
	uint64_t settled;
	uint8_t ncpu;
	uint8_t cpu[TRIB_DESK_CPUS];
	uint64_t had[TRIB_DESK_CPUS];
	uint64_t had_ns[TRIB_DESK_CPUS];
	uint64_t back_ns[TRIB_DESK_CPUS];
	uint64_t filled;
	uint64_t seen;
	uint64_t armed;
	uint32_t nread;
	uint32_t count;
	uint64_t moved_ns;
	uint64_t rtt;
	uint64_t took_ns;
	unsigned int quiet;
	uint64_t *late;
	unsigned int nlate;
};

enum trib_detour_state {
	TRIB_DETOUR_NONE = 0,	/* the relay sums */
	TRIB_DETOUR_FROZEN = 1, /* nothing is sent; states of all ranks are not known yet */
	TRIB_DETOUR_RANKS = 2,	/* ranks sum */
};

/**
 * struct trib_detour - a tree whose relay is dead (detour.c)
 * @state: enum trib_detour_state.
 * @epoch: newest epoch of the relay.
 * @back:  epoch that runs at the relay for this rank again; 0: none.
 * @given: chunks before this one that were LATE have been given to the host.
 */
struct trib_detour {
	uint8_t state;
	uint32_t epoch;
	uint32_t back;
	uint64_t given;
};

/**
 * struct trib_stream - one tree: a sequence of chunks
 *
 * Chunk numbers have 64 bits here and are truncated on the wire. chunk[c & mask]
 * describes chunk c, and cell c & cell_mask holds its packet, until c + 2W is sent; in
 * XDP's cells until c + N is filled.
 *
 * @eng:    engine (fixed).
 * @index:  index in eng->stream and rep->tree (fixed).
 * @tree:   tree number (fixed).
 * @child:  our child index at the relay (fixed).
 * @weight: share of messages relative to the other trees (fixed).
 * @assigned: chunks of all requests so far, prepared ones included.
 * @overhead: bytes of a frame around a packet, Ethernet to UDP header; the host
 *          sets it before joining.
 * @epoch:  running epoch; 0: not started.
 * @window: W (fixed once started).
 * @nval:   values per chunk (fixed once started).
 * @nchild: children of our relay; @child_rank: their ranks (fixed once started).
 * @una:    lowest chunk without result: all before are held and consumed.
 * @next:   first chunk number of the next part.
 * @high:   highest chunk sent + 1; with XDP's cells: highest chunk filled + 1.
 * @held:   highest chunk with a result + 1.
 * @stride: bytes from one cell to the next.
 * @cells:  packets: a frozen GRAD, later the RESULT. The first one's header.
 * @lanes:  of XDP's cells.
 * @head:   queue of parts with unsent chunks; @tail: its end.
 * @inflight: chunks sent, or filled for XDP, and without result.
 * @tx:     number of transmissions; @tx_acked: the newest first one with a result.
 * @timer_ns: no timeout is due before this time; 0: no timer.
 * @check_ns: time of the next check for silence; 0: none.
 * @retry_ns: the transport refused packets: send again then; 0: it did not.
 * @paced_ns: the planned rate allows no packet before; 0: it does.
 * @refused_ns: since then the transport has refused everything; 0: it has not.
 * @result_ns: last new RESULT.
 * @alive_ns: our last ALIVE.
 * @asked:  newest chunk + 1 that a NEED named before we sent it; 0: none.
 * @heard_ns: last packet that shows that all relays of the tree work.
 * @asks:   ALIVEs sent since; see silence.c. @asked_ns: the newest one.
 * @lacks_ns: when a rank last showed that it lacks a result which we have.
 * @life:   one for each rank.
 * @auth:   secrets.
 * @nonce:  of our JOINs.
 * @hold:   no chunk from this one on is sent; UINT64_MAX: all may be.
 * @detour: if the relay is dead.
 * @heard:  bytes of values of the longest answer to a JOIN; 0: no answer.
 * @join_seen: children that had joined by the newest START(WAIT).
 * @join_nval: number of values that JOIN is padded to.
 *
 * For trees of shared pools (fixed, except @hop's owes, @via and the last three):
 * @shared:  the tree uses a shared pool.
 * @bmwords: words of bitmap in each GRAD.
 * @hop:     @nhop relays on the way to the PS.
 * @via:     destination for the transport: 0: our relay, or the PS; i + 1: hop i.
 * @probe_ns: time of the next probe of relays; 0: none.
 * @probed_ns: time of the last probe.
 * @probe_wanted: a timeout passed since.
 */
struct trib_stream {
	struct trib_engine *eng;
	unsigned int index;
	unsigned int overhead;
	uint16_t tree;
	uint16_t child;
	uint16_t weight;
	uint64_t assigned;
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
	struct trib_lanes lanes;

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
	uint64_t heard_ns;
	uint64_t asked_ns;
	unsigned int asks;
	uint64_t lacks_ns;
	struct trib_life *life;

	struct trib_secrets auth;
	uint64_t nonce;
	uint64_t hold;
	struct trib_detour detour;

	uint32_t heard;
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

static inline struct trib_chunk *trib_chunk(const struct trib_stream *s, uint64_t c)
{
	return &s->chunk[c & s->mask];
}

/* State of chunk @c; TRIB_CHUNK_FREE if it is not known, or no longer known. */
static inline enum trib_chunk_state trib_chunk_state(const struct trib_stream *s, uint64_t c)
{
	const struct trib_chunk *e = trib_chunk(s, c);

	return e->no == c ? (enum trib_chunk_state)e->state : TRIB_CHUNK_FREE;
}

/* Does chunk @c wait for its result? */
static inline bool trib_chunk_waits(const struct trib_stream *s, uint64_t c)
{
	enum trib_chunk_state state = trib_chunk_state(s, c);

	return state == TRIB_CHUNK_SENT || state == TRIB_CHUNK_READY || state == TRIB_CHUNK_LATE;
}

static inline uint8_t *trib_cell(struct trib_stream *s, uint64_t c)
{
	return s->cells + (size_t)(c & s->cell_mask) * s->stride;
}

/* Extend a chunk number of the wire to 64 bits: the one nearest to una. */
static inline uint64_t trib_chunk_wide(const struct trib_stream *s, uint32_t c)
{
	return s->una + (int64_t)trib_chunk_diff(c, (uint32_t)s->una);
}

#endif /* TRIB_ENGINE_STREAM_H */
