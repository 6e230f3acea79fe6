/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the engine's files call of each other. README.md has the picture.
 */
#ifndef TRIB_ENGINE_INNER_H
#define TRIB_ENGINE_INNER_H

#include "engine.h"

/* Packets that are about to leave together. */
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

/* As long as packets can be. */
struct trib_largest {
	struct trib_hdr h;
	uint8_t v[TRIB_BMWORDS_MAX * 8 + TRIB_NVAL_LARGE * 4];
};

/**
 * struct trib_scratch - what is too large for the kernel's stack
 * Nobody keeps anything there.
 *
 * @burst:  trib_stream_push().
 * @packet: JOIN and LEAVE.
 * @values: a chunk of which only some elements are stored.
 */
struct trib_scratch {
	struct trib_burst burst;
	struct trib_largest packet;
	uint32_t values[TRIB_NVAL_LARGE];
};

/* --- shape.c: what one chunk holds ------------------------------------------ */

/**
 * struct trib_shape - what a chunk is, the same on all ranks
 * @op, @fmt, @nval, @scale: of its RESULT.
 * @push:  it carries TRIB_F_PUSH.
 * @exp:   it is an EXP chunk: @first is its first data chunk, @n their number.
 * @group: the EXP group that its scale comes from.
 * @first: first element in the message; @n their number.
 * @bad:   its exponent is a report of a value that is not finite.
 *
 * Whole words, because compilers compare neighbouring bytes as one word: that
 * load would wait until all stores before it have left for the cache, and
 * those of the chunk before are still on their way.
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

/* In &trib_part.exp, beside the real ones: a value is not finite. */
#define TRIB_PART_BAD INT16_MIN

/* Count a part's chunks, for streams of @nval values per chunk, in a job whose
 * floats travel as @fmt.
 */
void trib_part_count(struct trib_part *p, uint16_t nval, uint16_t fmt);
void trib_chunk_shape(const struct trib_stream *s, const struct trib_part *p,
		      uint64_t off, struct trib_shape *shape);
/* Is what chunk @off is made of there? (Its exponents may not be.) */
bool trib_chunk_ready(const struct trib_stream *s, const struct trib_part *p,
		      uint64_t off);
/* Data chunk @i of a part: its elements, where each has @each. */
void trib_shape_data(const struct trib_part *p, uint64_t i, unsigned int each,
		     struct trib_shape *shape);

/* --- chunk.c: elements to packet and back ------------------------------------ */

/* Freeze GRAD @c in its cell. */
void trib_chunk_pack(struct trib_stream *s, struct trib_part *p, uint64_t off,
		     uint64_t c);
/* Consume RESULT @c; -EPROTO if it is not what it must be. */
int trib_chunk_unpack(struct trib_stream *s, struct trib_part *p, uint64_t off,
		      uint64_t c, const struct trib_rx *rx);
/* Bytes of the packet in a cell. */
unsigned int trib_packet_len(const void *cell);

/* Where a chunk's values are in its cell: behind the bitmap, if it has one. */
static inline uint8_t *trib_cell_values(void *cell)
{
	struct trib_hdr *h = (struct trib_hdr *)cell;

	return (uint8_t *)(h + 1) + 8u * h->bmwords;
}

/* --- stream.c: requests become chunks, chunks become packets -------------- */

/* START(RUN) has set window, nval, epoch: allocate. */
int trib_stream_start(struct trib_stream *s);
void trib_stream_free(struct trib_stream *s);
/* Queue a part; its chunk numbers are fixed by this. */
void trib_stream_queue(struct trib_stream *s, struct trib_part *p);
/* Send what the rules and the window allow. */
void trib_stream_push(struct trib_stream *s);
/* Send chunk @c as it stands in its cell, with or without TRIB_F_RESEND. */
void trib_stream_resend(struct trib_stream *s, uint64_t c, bool resend);
/* Send a packet without values up, with @flags beside TRIB_F_UP. */
void trib_stream_control(struct trib_stream *s, uint8_t type, uint8_t flags,
			 uint32_t chunk, uint16_t aux);
/* A header that goes up from @s. */
void trib_hdr_fill(const struct trib_stream *s, struct trib_hdr *h,
		   uint8_t type, uint32_t chunk);

/* --- shared.c: trees of shared pools ---------------------------------------- */

/* From the place, before anything is sent. */
void trib_shared_init(struct trib_stream *s, const struct trib_attach_tree *a);
/* What a GRAD has besides: for whom it is, and whose values these are. */
void trib_shared_label(const struct trib_stream *s, struct trib_hdr *h);
/* Where GRADs go: for &trib_stream.via. */
unsigned int trib_shared_via(const struct trib_stream *s);
/* Chunk @c is taken for lost (@timeout), or asked for by NEED: send it, or ask.
 * Return: whether its values were sent.
 */
bool trib_shared_resend(struct trib_stream *s, uint64_t c, bool timeout);
/* The answer to a PROBE. */
void trib_shared_alive(struct trib_stream *s, const struct trib_rx *rx);
void trib_shared_timer(struct trib_stream *s);

/* How errors call what a stream sends to. */
static inline const char *trib_peer(const struct trib_stream *s)
{
	return s->shared ? "PS" : "relay";
}

/* --- silence.c: who is alive ------------------------------------------------ */

/* START(RUN) has come. Return: 0 or -ENOMEM. */
int trib_silence_start(struct trib_stream *s);
/* Something is under way: look at it once a beat. */
void trib_silence_arm(struct trib_stream *s);
/* Nothing is under way any more. */
void trib_silence_rest(struct trib_stream *s);
/* Say what is to be said; ends the engine if somebody was silent too long. */
void trib_silence_check(struct trib_stream *s);
/* A NEED named chunk @c, which is not ours to answer. */
void trib_silence_asked(struct trib_stream *s, uint64_t c);
/* Somebody else lacks chunk @c. */
void trib_silence_lacks(struct trib_stream *s, uint64_t c);
void trib_silence_alive(struct trib_stream *s, const struct trib_rx *rx);

/* --- window.c: how much may be in flight ------------------------------------- */

void trib_window_start(struct trib_stream *s);
/* May chunk @c be in flight, too? */
bool trib_window_open(const struct trib_stream *s, uint64_t c);
/* Does the planned rate allow another packet? And one of @len bytes goes. */
bool trib_window_paced(struct trib_stream *s);
void trib_window_pace(struct trib_stream *s, unsigned int len);
void trib_window_result(struct trib_stream *s, uint64_t c,
			const struct trib_rx *rx);
/* Our packet of @c was lost, as far as can be known. */
void trib_window_lost(struct trib_stream *s, uint64_t c);
/* Those after @c have come: it may be lost, or late. */
void trib_window_gap(struct trib_stream *s, uint64_t c);

/* --- loss.c: what is taken for lost, and sent again ------------------------- */

void trib_loss_sent(struct trib_stream *s, uint64_t c);
void trib_loss_resent(struct trib_stream *s, uint64_t c);
/* The relay said that it has our packet of @c. */
void trib_loss_known(struct trib_stream *s, uint64_t c);
/* The longest time-out that there is. */
uint64_t trib_loss_longest(const struct trib_engine *eng);
/* Gaps, after a batch; time-outs, when due. */
void trib_loss_gaps(struct trib_stream *s);
void trib_loss_timer(struct trib_stream *s);

/* --- call.c ------------------------------------------------------------------- */

/* The barrier of those who leave, on every stream; NULL: out of memory. */
struct trib_req *trib_req_leave(struct trib_engine *eng);

/* --- join.c ------------------------------------------------------------------- */

/* START has come. */
void trib_join_rx(struct trib_stream *s, const struct trib_rx *rx);
/* JOIN or LEAVE, padded to @nval values. Return: as the transport says. */
int trib_session_send(struct trib_stream *s, uint8_t type, uint16_t nval);

#endif /* TRIB_ENGINE_INNER_H */
