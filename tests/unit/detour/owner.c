// SPDX-License-Identifier: BSD-2-Clause
/* Sums of owned chunks, compared with those of the relay model. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "lib/detour/owner.h"
#include "tests/lib/tap.h"
#include "tests/model/node.h"

#define WORLD 5
#define NVAL 352

static const struct {
	uint8_t op, fmt;
	bool masks;
} kinds[] = {
	{TRIB_WOP_ADD, TRIB_FMT_Q32, false},  {TRIB_WOP_ADD, TRIB_FMT_I32, true},
	{TRIB_WOP_ADD, TRIB_FMT_W64, false},  {TRIB_WOP_MAX, TRIB_FMT_W64, false},
	{TRIB_WOP_ADD, TRIB_FMT_F32, true},   {TRIB_WOP_ADD, TRIB_FMT_F16, false},
	{TRIB_WOP_ADD, TRIB_FMT_BF16, false},
};

static struct trib_owner owner;
static uint32_t rng = 7;

static uint32_t draw(uint32_t n)
{
	rng = rng * 1664525 + 1013904223;
	return (rng >> 8) % n;
}

/* Values of a GRAD, padding 0. Floats are small and finite. */
static unsigned int values(const struct trib_hdr *h, uint8_t *v)
{
	unsigned int nval = be16toh(h->nval), len = trib_values_len(h->flags, h->nm, nval), i;
	uint32_t mask = 0x55555555, x;

	memset(v, 0, 4 * NVAL);
	for (i = 0; i < len / 4 && (h->flags & TRIB_F_MASK || i < nval); i++) {
		x = draw(1 << 24) << 8 | draw(256);
		if (trib_fmt_is_float(h->fmt))
			x = (x & 0x807f807f) | 0x3c003c00;
		memcpy(v + 4 * i, &x, 4);
	}
	for (i = 0; h->flags & TRIB_F_MASK && i < nval / TRIB_MASK_UNITS; i++)
		memcpy(v + 4 * i, &mask, 4);
	return len;
}

static struct trib_hdr grad(unsigned int kind, unsigned int nval)
{
	return (struct trib_hdr){
		.version = TRIB_WIRE_VERSION,
		.type = TRIB_T_GRAD,
		.op = kinds[kind].op,
		.fmt = kinds[kind].fmt,
		.scale = htobe32(3),
		.nval = htobe16((uint16_t)nval),
	};
}

/* One chunk of a kind: some ranks are empty, some masked. Return: it is as the model's. */
static bool same(unsigned int kind, unsigned int nval, uint64_t chunk)
{
	__u64 want[NVAL] = {0};
	uint8_t v[4 * NVAL];
	struct trib_sum_place *z = NULL;
	struct trib_hdr h;
	unsigned int had = 0, r, len;
	int rc = 0;

	for (r = 0; r < WORLD; r++) {
		h = grad(kind, nval);
		if (!draw(4)) {
			h.flags = TRIB_F_EMPTY;
			h.nval = 0;
		} else if (kinds[kind].masks && nval % TRIB_MASK_UNITS == 0 && draw(2)) {
			h.flags = TRIB_F_MASK;
			h.nm = trib_nm(1, 1);
		}
		len = values(&h, v);
		if (h.nval) {
			values_merge(want, had, &h, v);
			had = nval;
		}
		expect(!z);
		rc = trib_owner_add(&owner, r, chunk, &h, v, len, &z);
		if (r + 1 < WORLD)
			expect_eq(rc, 0);
		expect_eq(trib_owner_add(&owner, r, chunk, &h, v, len, &z), 0); /* once */
	}
	values_round(want, kinds[kind].fmt, had);
	return rc == 1 && z && be16toh(z->h.nval) == had && z->h.type == TRIB_T_RESULT &&
	       z->h.scale == htobe32(3) && !memcmp(z->v, want, trib_payload_len(had));
}

static void owner__sums_as_relays_do(void)
{
	unsigned int i;

	expect_eq(trib_owner_init(&owner, WORLD, 4, NVAL), 0);
	for (i = 0; i < 2000; i++)
		expect(same(i % 7, draw(2) ? NVAL : 2 + 2 * draw(NVAL / 2 - 1), i));
	trib_owner_free(&owner);
}

static void owner__forgets_what_all_have(void)
{
	struct trib_sum_place *z = NULL;
	struct trib_hdr h = grad(1, 16);
	uint8_t v[64] = {1};

	expect_eq(trib_owner_init(&owner, 2, 4, NVAL), 0);
	expect_eq(trib_owner_add(&owner, 0, 13, &h, v, 64, &z), 0);
	expect_eq(trib_owner_add(&owner, 0, 5, &h, v, 64, &z), 0); /* older than its place's */
	expect_eq(trib_owner_add(&owner, 1, 5, &h, v, 64, &z), 0);
	expect(!z);
	expect_eq(trib_owner_add(&owner, 1, 13, &h, v, 64, &z), 1);
	expect(z && z->chunk == 13 && z->v[0] == 2);
	trib_owner_free(&owner);
}

static int add(unsigned int rank, struct trib_hdr h, unsigned int len)
{
	struct trib_sum_place *z = NULL;
	uint8_t v[4 * TRIB_NVAL_LARGE] = {0};

	return trib_owner_add(&owner, rank, 1, &h, v, len, &z);
}

static void owner__refuses_what_no_rank_sends(void)
{
	struct trib_hdr good = grad(1, NVAL), h = good;

	expect_eq(trib_owner_init(&owner, 2, 4, NVAL), 0);
	expect_eq(add(0, good, 4 * NVAL - 4), -EPROTO);
	h.nval = htobe16(NVAL + 16);
	expect_eq(add(0, h, 4 * NVAL + 64), -EPROTO);
	h = good;
	h.fmt = TRIB_FMT_Q8;
	expect_eq(add(0, h, 4 * NVAL), -EPROTO);
	h.fmt = TRIB_FMT_NONE;
	expect_eq(add(0, h, 4 * NVAL), -EPROTO);
	h = good;
	h.op = TRIB_WOP_MAX;
	expect_eq(add(0, h, 4 * NVAL), -EPROTO);
	h = good;
	h.nm = trib_nm(1, 1);
	expect_eq(add(0, h, 4 * NVAL), -EPROTO);
	h.flags = TRIB_F_MASK; /* whose mask has no bits */
	expect_eq(add(0, h, trib_masked_len(NVAL, h.nm)), -EPROTO);
	expect_eq(add(0, good, 4 * NVAL), 0);
	h = good;
	h.scale = 0;
	expect_eq(add(1, h, 4 * NVAL), -EINVAL);
	h = grad(1, 336);
	expect_eq(add(1, h, 4 * 336), -EINVAL);
	expect_eq(add(1, good, 4 * NVAL), 1);
	trib_owner_free(&owner);
}

int main(void)
{
	run(owner__sums_as_relays_do);
	run(owner__forgets_what_all_have);
	run(owner__refuses_what_no_rank_sends);
	return tap_done();
}
