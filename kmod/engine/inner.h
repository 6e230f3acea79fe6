/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared by the engine's files only. README.md has the picture. */
#ifndef TRIB_ENGINE_INNER_H
#define TRIB_ENGINE_INNER_H

#include "engine.h"

/* Packets that leave in one call of the transport. */
struct trib_burst {
	struct trib_iovec iov[TRIB_TUNE_BURST];
	struct trib_part *part[TRIB_TUNE_BURST];
	uint64_t chunk[TRIB_TUNE_BURST];
	unsigned int niov;
	unsigned int n;
	unsigned int seg;
	unsigned int bytes;
	bool closed; /* a short packet ends it */
};

/* A packet of maximum length. */
struct trib_largest {
	struct trib_hdr h;
	uint8_t v[TRIB_BMWORDS_MAX * 8 + TRIB_NVAL_LARGE * 4];
};

/**
 * struct trib_scratch - buffers that are too large for the kernel's stack
 * Their contents last for one call.
 *
 * @burst:  for trib_stream_push().
 * @packet: for JOIN and LEAVE.
 * @values: for a chunk of which only some elements are stored.
 * @lanes:  for values of TRIB_KIND_LOCAL.
 */
struct trib_scratch {
	struct trib_burst burst;
	struct trib_largest packet;
	uint32_t values[TRIB_NVAL_LARGE];
	__le64 lanes[TRIB_NVAL_LARGE / 2];
};

/* --- shape.c: what one chunk holds ------------------------------------------ */

/**
 * struct trib_shape - contents of a chunk, the same on all ranks
 * @op, @fmt, @nval, @scale: fields of its RESULT.
 * @push:  it carries TRIB_F_PUSH.
 * @exp:   an EXP chunk: @first is its first data chunk, @n their number.
 * @group: the EXP group that its scale comes from.
 * @first: first element in the message; @n: number of elements.
 * @bad:   its exponent reports a value that is not finite.
 *
 * Fields are whole words: compilers compare neighbouring bytes as one word, and
 * that load would stall on the byte stores before it.
 */
struct trib_shape {
	unsigned int op;
	unsigned int fmt;
	unsigned int nval;
	int32_t scale;
	bool push;
	bool exp;
	bool bad;
	uint64_t group;
	uint64_t first;
	uint32_t n;
};

/* Value in &trib_part.exp: a value in the chunk is not finite. */
#define TRIB_PART_BAD INT16_MIN

/* Count a part's chunks. The stream has @nval values per chunk; the job's format of
 * floats is @fmt.
 */
void trib_part_count(struct trib_part *p, uint16_t nval, uint16_t fmt);
/* Compute the shape of chunk @off of a part. */
void trib_chunk_shape(const struct trib_stream *s, const struct trib_part *p, uint64_t off,
		      struct trib_shape *shape);
/* Can chunk @off be packed? Data chunks wait for their exponents, held ones for the host. */
bool trib_chunk_ready(const struct trib_stream *s, struct trib_part *p, uint64_t off);
/* Set first and number of elements of data chunk @i of a float sum. */
void trib_shape_sum(const struct trib_stream *s, const struct trib_part *p, uint64_t i,
		    struct trib_shape *sh);
/* Set the elements of data chunk @i, with @each elements per chunk. */
void trib_shape_data(const struct trib_part *p, uint64_t i, unsigned int each,
		     struct trib_shape *shape);

/* --- chunk.c: elements to packet and back ------------------------------------ */

/* Write GRAD @c into its cell. */
void trib_chunk_pack(struct trib_stream *s, struct trib_part *p, uint64_t off, uint64_t c);
/* Store RESULT @c for the caller. Return: 0, or -EPROTO if its shape is wrong. */
int trib_chunk_unpack(struct trib_stream *s, struct trib_part *p, uint64_t off,
		      const struct trib_rx *rx);

/* Values of a GRAD, after the bitmap if there is one. */
static inline uint8_t *trib_cell_values(const struct trib_stream *s, void *cell)
{
	return (uint8_t *)cell + sizeof(struct trib_hdr) + 8u * s->bmwords;
}

/* --- stream.c: requests become chunks, chunks become packets -------------- */

/* Allocate a stream whose window and nval are set. Return: 0 or -errno. */
int trib_stream_start(struct trib_stream *s);
void trib_stream_free(struct trib_stream *s);
/* Queue a part and assign its chunk numbers. */
void trib_stream_queue(struct trib_stream *s, struct trib_part *p);
/* Send the chunks that the rules and the window allow. */
void trib_stream_push(struct trib_stream *s);
/* Send chunks in state TRIB_CHUNK_LATE for the first time. */
void trib_stream_late(struct trib_stream *s);
/* Is the cell of chunk @c free at the relays, and does it keep no result that others lack? */
bool trib_stream_may_send(const struct trib_stream *s, uint64_t c);
/* Describe chunk @c of a part. */
struct trib_chunk *trib_stream_begin(struct trib_stream *s, struct trib_part *p, uint64_t c,
				     enum trib_chunk_state state);

/* --- packet.c: secrets ---------------------------------------------------------- */

/* Take the keys of the place. s->shared is set. */
void trib_auth_init(struct trib_stream *s, const struct trib_attach_tree *a);
/* Number and sign a control packet, which is complete otherwise. */
void trib_auth_number(struct trib_stream *s, struct trib_hdr *h);
/* Is a packet from our relay or PS, and no copy? @len bytes at @body are all behind @h. */
bool trib_auth_ok(struct trib_stream *s, const struct trib_hdr *h, const void *body,
		  unsigned int len);

/* --- local.c: sums of masked values ------------------------------------------- */

/* Elements of a chunk, if packets carry @nval values. */
uint32_t trib_local_each(uint16_t nval);
/* The packed values of a chunk; *@n: how many. */
const float *trib_local_values(const struct trib_req *r, const struct trib_shape *sh, uint32_t *n);
/* Element of packed value @k of the chunk. */
uint64_t trib_local_index(const struct trib_req *r, const struct trib_shape *sh, uint32_t k);
/* Write mask and values of a data chunk at @v, and what @h says of them. */
void trib_local_pack(struct trib_stream *s, const struct trib_part *p, const struct trib_shape *sh,
		     struct trib_hdr *h, uint8_t *v);
/* A result of integers, at @v, as TRIB_FMT_Q32; valid for one call. */
const void *trib_local_words(struct trib_stream *s, const struct trib_shape *sh, const void *v);

/* --- packet.c: headers and packets without values ---------------------------- */

/* Length in bytes of a packet, by its header. */
unsigned int trib_packet_len(const struct trib_hdr *h);
/*
 * Length in bytes of the packet in chunk @c's cell: within the cell, whoever else writes
 * there. Two calls may differ.
 */
unsigned int trib_cell_len(struct trib_stream *s, uint64_t c);
/* Fill in a header of a packet from @s, with the secret of GRADs. */
void trib_hdr_fill(const struct trib_stream *s, struct trib_hdr *h, uint8_t type, uint32_t chunk);
/* Send a packet without values up, with @flags beside TRIB_F_UP. */
void trib_send_control(struct trib_stream *s, uint8_t type, uint8_t flags, uint32_t chunk,
		       uint16_t aux);
/* Count a packet of @len bytes that the transport took. */
void trib_send_count(struct trib_stream *s, unsigned int len);

/* --- shared.c: trees of shared pools ---------------------------------------- */

/* Set up a stream from its place, before it sends. */
void trib_shared_init(struct trib_stream *s, const struct trib_attach_tree *a);
/* Add the relay that keeps a GRAD, and the bitmap of its rank. */
void trib_shared_label(const struct trib_stream *s, struct trib_hdr *h);
/* Destination of GRADs, for &trib_stream.via. */
unsigned int trib_shared_via(const struct trib_stream *s);
/* Resend chunk @c, or ask for its result: after a loss (@timeout) or a NEED.
 * Return: true if its values were sent.
 */
bool trib_shared_resend(struct trib_stream *s, uint64_t c, bool timeout);
/* Process an answer to a PROBE. */
void trib_shared_alive(struct trib_stream *s, const struct trib_rx *rx);
/* Probe relays if it is time. */
void trib_shared_timer(struct trib_stream *s);

/* Name of the destination in error texts. */
static inline const char *trib_peer(const struct trib_stream *s)
{
	return s->shared ? "PS" : "relay";
}

/* --- silence.c: signs of life ------------------------------------------------ */

/* Allocate. Return: 0 or -ENOMEM. */
int trib_silence_start(struct trib_stream *s);
/* Check once a beat, as long as chunks are in flight. */
void trib_silence_arm(struct trib_stream *s);
/* Stop checking: no chunk is in flight. */
void trib_silence_rest(struct trib_stream *s);
/* Send ALIVE if due, and end the engine if a rank or relay is dead. */
void trib_silence_check(struct trib_stream *s);
/* The transport has refused packets since s->refused_ns. */
void trib_silence_refused(struct trib_stream *s);
/* A NEED named chunk @c, which we have not sent. */
void trib_silence_asked(struct trib_stream *s, uint64_t c);
/* Another rank lacks chunk @c. */
void trib_silence_lacks(struct trib_stream *s, uint64_t c);
/* Process an ALIVE. */
void trib_silence_alive(struct trib_stream *s, const struct trib_rx *rx);

/* --- window.c: the congestion window ------------------------------------- */

void trib_window_start(struct trib_stream *s);
/* Does the window allow sending chunk @c? */
bool trib_window_open(const struct trib_stream *s, uint64_t c);
/* Does the planned rate allow another packet? */
bool trib_window_paced(struct trib_stream *s);
/* Count a packet of @len bytes against the planned rate. */
void trib_window_pace(struct trib_stream *s, unsigned int len);
/* Update the window by RESULT @c. */
void trib_window_result(struct trib_stream *s, uint64_t c, const struct trib_rx *rx);
/* Our packet of @c was probably lost. */
void trib_window_lost(struct trib_stream *s, uint64_t c);
/* Tell XDP the window. */
void trib_window_fit(struct trib_stream *s);
/*
 * After a try of the window instead of lanes: did it get more? Its size over the round trip
 * tells. On a slow wire or a busy host round trips of few lanes are long although nothing else
 * fills a queue.
 */
void trib_window_judge(struct trib_stream *s);
/* Results after @c came: @c is lost or late. */
void trib_window_gap(struct trib_stream *s, uint64_t c);

/* --- lanes.c: cells shared with XDP ------------------------------------------ */

/* The cell of chunk @c, with the words that XDP shares; and its state as a word. */
static inline struct trib_cell *trib_cell_shared(const struct trib_stream *s, uint64_t c)
{
	uint8_t *h = s->cells + (size_t)(c & s->cell_mask) * s->stride;

	return (struct trib_cell *)(h - offsetof(struct trib_cell, h));
}

static inline uint64_t trib_cell_word(const struct trib_stream *s, uint64_t c,
				      enum trib_cell_state state)
{
	return TRIB_CELL(s->epoch, (uint32_t)c, state);
}

/* Take the cells of a stream whose window, nval and epoch are set. Return: 0 or -errno. */
int trib_cells_start(struct trib_stream *s, const struct trib_cells *cells);
/* RESULTs before the first chunk are there, so that its window needs no exception. */
void trib_cells_begin(struct trib_stream *s);
/* XDP sends nothing more. Any time. */
void trib_cells_end(struct trib_stream *s);
/* State of chunk @c's cell; TRIB_CELL_FREE if another chunk has it. */
enum trib_cell_state trib_cells_state(const struct trib_stream *s, uint64_t c);
/* May the cell of chunk @c be filled? */
bool trib_cells_room(const struct trib_stream *s, uint64_t c);
/* Offer chunk @c, which is in its cell, to XDP. */
void trib_cells_ready(struct trib_stream *s, uint64_t c);
/* Take a ready chunk. Return: false if XDP has it. */
bool trib_cells_take(struct trib_stream *s, uint64_t c);
/* Chunk @c, which XDP was never offered, is about to be sent; and back. */
void trib_cells_send(struct trib_stream *s, uint64_t c);
void trib_cells_unsend(struct trib_stream *s, uint64_t c);
/* Copy the packet of a sent chunk. Return: false if its result came meanwhile. */
bool trib_cells_copy(const struct trib_stream *s, uint64_t c, struct trib_largest *to);
/* Tell XDP the window, in the unit of cwnd. */
void trib_cells_distance(struct trib_stream *s, uint64_t window);
/* A round ends. */
void trib_cells_round(struct trib_stream *s);
/* RESULTs that XDP has delivered. */
uint64_t trib_cells_delivered(struct trib_stream *s);

/* --- lanes.c: sending by XDP ------------------------------------------------- */

/* Offer chunk @c, which is in its cell, to XDP, or keep it: it is late. */
void trib_lanes_fill(struct trib_stream *s, struct trib_part *p, uint64_t c);
/* After filling: send late chunks, look for losses. */
void trib_lanes_turn(struct trib_stream *s);
/* While the window counts instead: send what lanes left in cells, or go back to them. */
void trib_lanes_filled(struct trib_stream *s);
/* Count chunk @c as sent now. */
void trib_lanes_begin(struct trib_stream *s, uint64_t c);
/* Learn from a round trip. */
void trib_lanes_sample(struct trib_stream *s, uint32_t took_ns);
/* Was something lost lately? */
bool trib_lanes_lossy(const struct trib_stream *s);

/* Hand the result of chunk @c, which is in its cell, to the engine. */
void trib_cells_deliver(struct trib_stream *s, uint64_t c);

/* --- detour.c --------------------------------------------------------------- */

/* Give a burst to the host. Return: its packets. */
int trib_detour_send(struct trib_stream *s, const struct trib_burst *b);
/* Give what was under way when the relay died. */
void trib_detour_push(struct trib_stream *s);
/* START(RUN) came. */
void trib_detour_started(struct trib_stream *s, const struct trib_start *st);

/* --- result.c ----------------------------------------------------------------- */

/* Consume the result of a chunk that waits for it. Return: false if its shape is wrong. */
bool trib_result_take(struct trib_stream *s, uint64_t c, const struct trib_rx *rx);

/* --- loss.c: retransmission ------------------------- */

/* Chunk @c was sent for the first time. */
void trib_loss_sent(struct trib_stream *s, uint64_t c);
/* Resend chunk @c from its cell, with or without TRIB_F_RESEND. */
void trib_loss_resend(struct trib_stream *s, uint64_t c, bool resend);
/* The relay said that it has our packet of @c. */
void trib_loss_known(struct trib_stream *s, uint64_t c);
/* Time that this host's ports need for all packets in flight, at the planned rate. */
uint64_t trib_loss_passing(const struct trib_stream *s);
/* The maximum timeout in ns. */
uint64_t trib_loss_longest(const struct trib_engine *eng);
/* Resend after gaps, and after timeouts. */
void trib_loss_gaps(struct trib_stream *s);
void trib_loss_timer(struct trib_stream *s);

/* --- req.c: life of requests ---------------------------------------------------- */

/* Put a request into the engine's list. */
void trib_req_link(struct trib_req *r);

/* --- call.c ------------------------------------------------------------------- */

/* Issue the barrier of leaving on every stream. Return: NULL without memory. */
struct trib_req *trib_req_leave(struct trib_engine *eng);

/* --- join.c ------------------------------------------------------------------- */

/* Process a START. */
void trib_join_rx(struct trib_stream *s, const struct trib_rx *rx);
/* Send JOIN or LEAVE, padded to @nval values. Return: the transport's result. */
int trib_session_send(struct trib_stream *s, uint8_t type, uint16_t nval);

#endif /* TRIB_ENGINE_INNER_H */
