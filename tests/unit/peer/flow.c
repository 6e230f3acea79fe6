// SPDX-License-Identifier: BSD-2-Clause
/* Numbers and credits of a link, on a network that reorders as it likes. */
#include <errno.h>
#include <string.h>

#include "peer/net/flow.h"
#include "tests/lib/tap.h"

static uint32_t rng = 1;

static uint32_t draw(uint32_t n)
{
	rng = rng * 1664525 + 1013904223;
	return (rng >> 8) % n;
}

static void word__keeps_all_its_fields(void)
{
	struct peer_flow_word w, back;
	unsigned int i;

	for (i = 0; i < 10000; i++) {
		w = (struct peer_flow_word){
			.kind = (enum peer_flow_kind)(1 + draw(PEER_FLOW_BYE)),
			.whole = draw(2),
			.link = draw(PEER_FLOW_LINKS),
			.number = (uint16_t)draw(65536),
			.len = draw(1 << 24) * 251,
		};
		expect_eq(peer_flow_unpack(peer_flow_pack(&w), &back), 0);
		expect(w.kind == back.kind && w.whole == back.whole && w.link == back.link &&
		       w.number == back.number && w.len == back.len);
	}
	expect_eq(peer_flow_unpack(0, &back), -EPROTO);
	expect_eq(peer_flow_unpack(7ULL << 29, &back), -EPROTO);
}

/* Words under way, which leave in any order. */
struct wire {
	uint64_t words[1024];
	unsigned int n;
};

static void put(struct wire *w, enum peer_flow_kind kind, uint32_t number, uint32_t len)
{
	struct peer_flow_word x = {.kind = kind, .number = (uint16_t)number, .len = len};

	w->words[w->n++] = peer_flow_pack(&x);
}

static bool get(struct wire *w, struct peer_flow_word *out)
{
	unsigned int i;

	if (!w->n)
		return false;
	i = draw(w->n);
	peer_flow_unpack(w->words[i], out);
	w->words[i] = w->words[--w->n];
	return true;
}

/* Length of chunk @i, and whether it goes to a slot. */
static uint32_t length(uint32_t i)
{
	return (i * 2654435761u) % 1025;
}

static bool staged(uint32_t i)
{
	return (i * 40503u) >> 7 & 1;
}

/* One word arrives at the receiver. Return: 0 or -EPROTO. */
static int receive(struct peer_flow *f, const struct peer_flow_word *w, bool split)
{
	if (w->kind == PEER_FLOW_LEN)
		return peer_flow_length(f, w->number, w->len);
	return peer_flow_arrived(f, w->number, w->kind == PEER_FLOW_STAGED,
				 split ? UINT32_MAX : w->len);
}

/* Send @total chunks over wires that reorder. */
static void reordered(uint32_t slots, uint32_t total, bool split)
{
	static struct wire there, back;
	struct peer_flow a, b;
	struct peer_flow_word w;
	uint32_t taken = 0, slot_next = 0, len;
	int slot;

	there.n = back.n = 0;
	peer_flow_init(&a, 1024, slots);
	peer_flow_init(&b, 1024, slots);
	while (taken < total) {
		if (a.sent < total && draw(2) && peer_flow_may_send(&a)) {
			put(&there, staged(a.sent) ? PEER_FLOW_STAGED : PEER_FLOW_DIRECT, a.sent,
			    length(a.sent));
			if (split)
				put(&there, PEER_FLOW_LEN, a.sent, length(a.sent));
			peer_flow_sent(&a, staged(a.sent));
		}
		if (draw(2) && get(&there, &w) && !expect(!receive(&b, &w, split)))
			return;
		if (draw(3) && peer_flow_next(&b, &slot, &len)) {
			expect_eq(len, length(taken));
			expect_eq(slot, staged(taken) ? (int)(slot_next++ % slots) : -1);
			taken++;
			peer_flow_done(&b);
		}
		if (peer_flow_owes(&b)) {
			put(&back, PEER_FLOW_CREDIT, b.taken, 0);
			peer_flow_tell(&b);
		}
		if (draw(2) && get(&back, &w) && !expect(!peer_flow_credit(&a, w.number)))
			return;
		if (!expect(a.sent - b.taken <= slots))
			return;
	}
	expect(!there.n);
	expect_eq(a.sent, total);
}

static void order__is_kept_whatever_the_network_does(void)
{
	reordered(2, 5000, false);
	reordered(8, 5000, false);
	reordered(64, 200000, false); /* numbers wrap thrice */
}

static void order__with_lengths_on_their_own(void)
{
	reordered(2, 5000, true);
	reordered(8, 200000, true);
}

static void window__direct_chunks_end_with_it(void)
{
	struct peer_flow a;
	unsigned int i;

	peer_flow_init(&a, 64, 4);
	for (i = 0; peer_flow_may_send(&a); i++)
		peer_flow_sent(&a, false);
	expect_eq(i, 4);
	expect_eq(peer_flow_credit(&a, 1), 0);
	expect(peer_flow_may_send(&a));
}

static void credit__comes_back_before_the_sender_starves(void)
{
	struct peer_flow b;
	uint32_t slots, i;

	for (slots = 2; slots <= 64; slots++) {
		peer_flow_init(&b, 64, slots);
		for (i = 0; !peer_flow_owes(&b); i++) {
			expect_eq(peer_flow_arrived(&b, (uint16_t)i, true, 1), 0);
			peer_flow_done(&b);
		}
		expect(i <= (slots + 1) / 2);
	}
	peer_flow_init(&b, 64, 64);
	for (i = 0; !peer_flow_owes(&b); i++) {
		expect_eq(peer_flow_arrived(&b, (uint16_t)i, false, 1), 0);
		peer_flow_done(&b);
	}
	expect(i <= 32);
}

static void credit__old_ones_are_ignored_and_false_ones_refused(void)
{
	struct peer_flow a;
	unsigned int i;

	peer_flow_init(&a, 64, 64);
	for (i = 0; i < 20; i++)
		peer_flow_sent(&a, true);
	expect_eq(peer_flow_credit(&a, 10), 0);
	expect_eq(peer_flow_credit(&a, 5), 0);
	expect_eq(a.acked, 10);
	expect_eq(peer_flow_credit(&a, 21), -EPROTO);
	expect_eq(peer_flow_credit(&a, 30000), -EPROTO);
	expect_eq(a.acked, 10);
	expect_eq(peer_flow_credit(&a, 20), 0);
	expect_eq(a.acked, 20);
}

static void arrived__copies_and_strangers_are_refused(void)
{
	struct peer_flow b;
	uint32_t len;
	int slot;

	peer_flow_init(&b, 64, 4);
	expect_eq(peer_flow_arrived(&b, 1, true, 64), 0);
	expect_eq(peer_flow_arrived(&b, 1, true, 64), -EPROTO);
	expect_eq(peer_flow_arrived(&b, 0, true, 65), -EPROTO);
	expect_eq(peer_flow_arrived(&b, 4, true, 1), -EPROTO);
	expect_eq(peer_flow_arrived(&b, 65535, true, 1), -EPROTO);
	expect_eq(peer_flow_length(&b, 1, 10), -EPROTO);
	expect_eq(peer_flow_length(&b, 2, 65), -EPROTO);
	expect(!peer_flow_next(&b, &slot, &len));
	expect_eq(peer_flow_arrived(&b, 0, false, UINT32_MAX), 0);
	expect_eq(peer_flow_arrived(&b, 0, false, UINT32_MAX), -EPROTO);
	expect(!peer_flow_next(&b, &slot, &len));
	expect_eq(peer_flow_length(&b, 0, 7), 0);
	expect(peer_flow_next(&b, &slot, &len));
	expect_eq(len, 7);
	expect_eq(slot, -1);
}

int main(void)
{
	run(word__keeps_all_its_fields);
	run(order__is_kept_whatever_the_network_does);
	run(order__with_lengths_on_their_own);
	run(window__direct_chunks_end_with_it);
	run(credit__comes_back_before_the_sender_starves);
	run(credit__old_ones_are_ignored_and_false_ones_refused);
	run(arrived__copies_and_strangers_are_refused);
	return tap_done();
}
