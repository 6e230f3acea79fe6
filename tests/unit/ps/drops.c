// SPDX-License-Identifier: BSD-2-Clause
/* trib-ps drops wrong packets, each for its own reason. */
#include "ps_fixture.h"

static uint8_t raw[PS_PACKET_MAX + 1];
static size_t raw_len;

static struct trib_hdr *make_raw(void)
{
	struct in p = grad(1, 9, 2, 1);

	raw_len = pack(&p, raw);
	return (void *)raw;
}

/* Rank @rank signs what make_raw() made. */
static void resign(unsigned int rank)
{
	struct trib_hdr *h = (void *)raw;

	h->auth = trib_auth(&tree->rank[rank].up, h, h + 1, (uint32_t)(raw_len - sizeof(*h)));
}

static void expect_drop(enum ps_drop why, bool stranger)
{
	uint64_t *n = stranger ? &ps->stats.drop[why] : &tree->stats.drop[why];
	uint64_t before = *n;
	struct ps_addr from = host(1, 1);

	forget();
	ps_rx(ps, &from, raw, raw_len, false, now);
	expect_eq(*n, before + 1);
	expect_eq(nsent, 0);
	expect_eq(tree->stats.count[PS_COUNT_GRAD], 0);
}

static void packets__that_are_wrong_are_dropped_for_a_reason(void)
{
	begin(3, 4);
	make_raw();
	raw_len = 39;
	expect_drop(PS_DROP_SHORT, true);
	make_raw()->version = TRIB_WIRE_VERSION + 1;
	expect_drop(PS_DROP_VERSION, true);
	make_raw()->nval = htobe16(NVAL - 16);
	expect_drop(PS_DROP_LENGTH, true);
	make_raw()->nval = htobe16(0xffff);
	expect_drop(PS_DROP_LENGTH, true);
	make_raw()->bmwords = 2;
	expect_drop(PS_DROP_LENGTH, true);
	make_raw()->bmwords = 255;
	expect_drop(PS_DROP_LENGTH, true);
	make_raw();
	raw_len++;
	expect_drop(PS_DROP_LENGTH, true);
	make_raw()->flags = 0;
	expect_drop(PS_DROP_TYPE, true);
	make_raw()->tree = 0;
	expect_drop(PS_DROP_TREE, true);
	make_raw()->job = 0;
	expect_drop(PS_DROP_TREE, true);
	make_raw()->auth ^= 1;
	expect_drop(PS_DROP_AUTH, false);
	make_raw()->child = htobe16(3);
	expect_drop(PS_DROP_RANK, false);
	make_raw()->type = TRIB_T_START;
	expect_drop(PS_DROP_AUTH, false);
	make_raw()->type = TRIB_T_START;
	resign(1);
	expect_drop(PS_DROP_TYPE, false);
	make_raw()->type = 64;
	resign(1);
	expect_drop(PS_DROP_TYPE, false);
	make_raw()->auth = tree->rank[2].secret;
	expect_drop(PS_DROP_AUTH, false);
	make_raw()->auth = tree->down_secret; /* what all members know */
	expect_drop(PS_DROP_AUTH, false);
	make_raw();
	raw[sizeof(struct trib_hdr) + 7] = 4; /* for rank 2, with the secret of rank 1 */
	expect_drop(PS_DROP_BITMAP, false);
	make_raw()->fmt = TRIB_FMT_F32;
	expect_drop(PS_DROP_FORMAT, false);
	make_raw()->fmt = TRIB_FMT_NONE;
	expect_drop(PS_DROP_FORMAT, false);
	make_raw()->op = TRIB_WOP_MAX; /* of Q32 */
	expect_drop(PS_DROP_FORMAT, false);
	make_raw()->nm = 1;
	expect_drop(PS_DROP_FORMAT, false);
	make_raw()->flags |= TRIB_F_MASK; /* 48 values fill no mask words */
	expect_drop(PS_DROP_FORMAT, true);
	memset(make_raw() + 1, 0, 8);
	expect_drop(PS_DROP_BITMAP, false);
	raw[sizeof(struct trib_hdr) + 7] = 8 | 2; /* rank 3 of 3 */
	expect_drop(PS_DROP_BITMAP, false);
	make_raw()->bmwords = 0; /* the word becomes values, too many */
	raw_len -= 8;
	expect_drop(PS_DROP_BITMAP, false);
	end();
}

/* A good masked GRAD of 32 values, to be spoilt. */
static struct trib_hdr *make_masked(uint8_t nm)
{
	struct in p = grad(1, 9, 2, 1);

	in_mask(&p, nm);
	raw_len = pack(&p, raw);
	return (void *)raw;
}

static void packets__with_wrong_masks_change_nothing(void)
{
	static const uint8_t masks[] = {1 << 5, 2 << 5 | 1, 3 << 5 | 4, 4 << 5, 5 << 5 | 30};
	unsigned int i, nm;

	begin(3, 4);
	for (i = 0; i < sizeof(masks); i++) {
		make_masked(masks[i]);
		raw[sizeof(struct trib_hdr) + 8 + i % 4] ^= 16;
		expect_drop(PS_DROP_MASK, false);
		make_masked(masks[i]);
		raw_len -= 64;
		expect_drop(PS_DROP_LENGTH, true);
		make_masked(masks[i])->flags |= TRIB_F_EMPTY;
		expect_drop(PS_DROP_FORMAT, false);
		make_masked(masks[i])->fmt = TRIB_FMT_Q32;
		expect_drop(PS_DROP_FORMAT, false);
		make_masked(masks[i])->op = TRIB_WOP_MAX;
		expect_drop(PS_DROP_FORMAT, false);
		make_masked(masks[i])->type = TRIB_T_RESULT;
		expect_drop(PS_DROP_FORMAT, false);
	}
	for (nm = 0; nm < 256; nm++) {
		if (trib_nm_is_mask((uint8_t)nm))
			continue;
		make_masked(masks[1])->nm = (uint8_t)nm;
		expect_drop(PS_DROP_FORMAT, true);
	}
	end();
}

static void packets__more_values_than_the_jobs_are_refused(void)
{
	begin(3, 4);
	memset(raw, 0, sizeof(raw));
	make_raw()->nval = htobe16(NVAL + 16);
	raw_len += 64;
	expect_drop(PS_DROP_FORMAT, false);
	end();
}

static void packets__of_random_bytes_do_no_harm(void)
{
	struct ps_addr from = host(1, 1);
	struct trib_hdr *h;
	unsigned int i, k;
	uint64_t seed = 1;

	begin(70, 4);
	for (i = 0; i < 200000; i++) {
		h = make_raw();
		for (k = 0; k < 3; k++) {
			seed = seed * 6364136223846793005ULL + 1;
			raw[seed >> 33 & 63] = (uint8_t)(seed >> 41);
		}
		if (i & 1)
			h->auth = tree->relay_secret;
		if (i % 3)
			raw_len = sizeof(*h) + 8u * h->bmwords +
				  trib_values_len(h->flags, h->nm, be16toh(h->nval));
		if (raw_len > sizeof(raw))
			raw_len = sizeof(raw);
		nsent = 0;
		ps_rx(ps, &from, raw, raw_len, false, now += i & 1);
	}
	expect(tree->stats.count[PS_COUNT_GRAD] > 100);
	end();
}

/* Signs of life, PROBE and ASK have an effect once, and for their sender alone. */
static void control__forged_or_repeated_is_dropped(void)
{
	static const uint8_t types[] = {TRIB_T_NEED, TRIB_T_PROBE, TRIB_T_ALIVE, TRIB_T_ABORT};
	struct in p;
	unsigned int i;

	for (i = 0; i < sizeof(types); i++) {
		begin(3, 4);
		p = plain(types[i], 1, 9);
		raw_len = pack(&p, raw);
		((struct trib_hdr *)raw)->auth ^= 1;
		expect_drop(PS_DROP_AUTH, false);
		((struct trib_hdr *)raw)->auth ^= 1;
		((struct trib_hdr *)raw)->child = htobe16(2);
		expect_drop(PS_DROP_AUTH, false);
		((struct trib_hdr *)raw)->child = htobe16(1);
		rx(p);
		expect(nsent > 0);
		raw_len = pack(&p, raw);
		ps_rx(ps, &(struct ps_addr){0}, raw, raw_len, false, now);
		expect_drop(PS_DROP_REPLAY, false);
		end();
	}
}

int main(void)
{
	run(control__forged_or_repeated_is_dropped);
	run(packets__that_are_wrong_are_dropped_for_a_reason);
	run(packets__with_wrong_masks_change_nothing);
	run(packets__more_values_than_the_jobs_are_refused);
	run(packets__of_random_bytes_do_no_harm);
	return tap_done();
}
