/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flow of one link: numbers and credits, whatever carries it. Each write carries
 * a word of completion data, and nothing is assumed about the order of writes:
 *
 *	bits	63..32	length, where the network carries 64 bits
 *		31..29	kind
 *		28	the length is a whole chunk
 *		27..16	link, as its receiver counts
 *		15..0	number: of the chunk, the credit or the announcement
 *
 * If it carries 32 bits only, the length of a chunk that is not whole comes as a write
 * of its own (PEER_FLOW_LEN), before or after the chunk's.
 *
 *	sender                                     receiver
 *	may_send, slot, sent   --- STAGED --->     arrived, next
 *	                       --- DIRECT --->       |
 *	credit                 <-- CREDIT ----     owes <- done
 *
 * All that comes from the other end is hostile: a number outside the window, a second
 * chunk with a number, a length beyond the slot are errors.
 */
#ifndef PEER_FLOW_H
#define PEER_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Slots of a link, at most. A power of two. */
#define PEER_FLOW_WINDOW 64
#define PEER_FLOW_LINKS 4096

/**
 * enum peer_flow_kind - kinds of words
 * @PEER_FLOW_STAGED:   a chunk, in the next slot.
 * @PEER_FLOW_DIRECT:   a chunk, in its place.
 * @PEER_FLOW_LEN:      the length of a chunk.
 * @PEER_FLOW_CREDIT:   all chunks before the number are given back.
 * @PEER_FLOW_ANNOUNCE: an announcement is in the control block.
 * @PEER_FLOW_BYE:      the other end closes.
 */
enum peer_flow_kind {
	PEER_FLOW_STAGED = 1,
	PEER_FLOW_DIRECT = 2,
	PEER_FLOW_LEN = 3,
	PEER_FLOW_CREDIT = 4,
	PEER_FLOW_ANNOUNCE = 5,
	PEER_FLOW_BYE = 6,
};

struct peer_flow_word {
	enum peer_flow_kind kind;
	bool whole;
	uint32_t link;
	uint16_t number;
	uint32_t len;
};

uint64_t peer_flow_pack(const struct peer_flow_word *w);
/* Return: 0 or -EPROTO. */
int peer_flow_unpack(uint64_t data, struct peer_flow_word *w);

/**
 * struct peer_flow - one link, both ways; owned by its port
 * @chunk, @slots: as in struct peer_port_conf. No more than @slots chunks are under way,
 *          those to their place, too: with more of them queued in a network, what is
 *          sent last, and credits, would arrive late.
 * @sent:   chunks issued. @acked: those of them that the peer gave back.
 * @staged: chunks issued to slots.
 * @in:     chunks that come, by number.
 * @taken:  chunks given back; @slot: of these, from slots.
 * @told:   value of @taken that the peer knows.
 */
struct peer_flow {
	uint32_t chunk;
	uint32_t slots;
	uint32_t sent;
	uint32_t acked;
	uint32_t staged;
	struct peer_flow_in {
		uint32_t len;
		uint8_t state;
	} in[PEER_FLOW_WINDOW];
	uint32_t taken;
	uint32_t slot;
	uint32_t told;
};

void peer_flow_init(struct peer_flow *f, uint32_t chunk, uint32_t slots);

/* Whether a credit is there for one more chunk. */
static inline bool peer_flow_may_send(const struct peer_flow *f)
{
	return f->sent - f->acked < f->slots;
}

/* Slot of the peer for the next staged chunk. */
static inline uint32_t peer_flow_slot(const struct peer_flow *f)
{
	return f->staged % f->slots;
}

/* One more chunk was issued; its number was the value of @sent. */
void peer_flow_sent(struct peer_flow *f, bool staged);

/* The peer gave back all before @number. Return: 0 or -EPROTO. */
int peer_flow_credit(struct peer_flow *f, uint16_t number);

/**
 * peer_flow_arrived() - a chunk came
 * @len: or UINT32_MAX: PEER_FLOW_LEN tells it.
 * Return: 0, or -EPROTO.
 */
int peer_flow_arrived(struct peer_flow *f, uint16_t number, bool staged, uint32_t len);

/* The length of a chunk came. Return: 0, or -EPROTO. */
int peer_flow_length(struct peer_flow *f, uint16_t number, uint32_t len);

/**
 * peer_flow_next() - the oldest chunk that came
 * @slot: its slot, or -1: it is in its place.
 * Return: whether there is one.
 */
bool peer_flow_next(const struct peer_flow *f, int *slot, uint32_t *len);

/* Give that chunk back. */
void peer_flow_done(struct peer_flow *f);

/*
 * Whether the peer should hear of credits now: every quarter of the slots, which leaves it
 * enough to go on with meanwhile.
 */
static inline bool peer_flow_owes(const struct peer_flow *f)
{
	return f->taken - f->told >= (f->slots >= 8 ? f->slots / 4 : 1);
}

/* The peer was told @taken. */
static inline void peer_flow_tell(struct peer_flow *f)
{
	f->told = f->taken;
}

#endif /* PEER_FLOW_H */
