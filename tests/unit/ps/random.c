// SPDX-License-Identifier: BSD-2-Clause
/* trib-ps: random orders of all events, against an exact oracle. */
#include "ps_fixture.h"

#define F_WORLD 70
#define F_CHUNKS 60
#define F_WINDOW 4

static struct {
	unsigned int world;
	uint64_t rng;
	struct in own[F_CHUNKS][F_WORLD];
	struct in want[F_CHUNKS];
	bool got[F_CHUNKS][F_WORLD];
	bool out[F_CHUNKS][F_WORLD]; /* was sent */
	unsigned int wrong;
} fz;

static unsigned int rnd(unsigned int n)
{
	fz.rng ^= fz.rng << 13;
	fz.rng ^= fz.rng >> 7;
	fz.rng ^= fz.rng << 17;
	return (unsigned int)((fz.rng * 0x2545f4914f6cdd1dULL >> 33) % n);
}

static uint64_t combine(const struct in *like, uint64_t a, uint64_t b)
{
	if (like->op == TRIB_WOP_MAX)
		return (int64_t)a > (int64_t)b ? a : b;
	if (like->fmt == TRIB_FMT_I32)
		return ((a >> 32) + (b >> 32)) << 32 | (uint32_t)(a + b);
	return a + b;
}

/* Add @from to @to. */
static void fz_add(struct in *to, const struct in *from)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		to->who[i] |= from->who[i];
	if (from->flags & TRIB_F_EMPTY)
		return;
	for (i = 0; i < WORDS; i++)
		to->v[i] =
			to->flags & TRIB_F_EMPTY ? from->v[i] : combine(from, to->v[i], from->v[i]);
	to->nval = from->nval;
	to->flags &= (uint8_t)~TRIB_F_EMPTY;
}

static void fz_make(void)
{
	static const struct {
		uint8_t op, fmt;
	} kinds[] = {{TRIB_WOP_ADD, TRIB_FMT_Q32},
		     {TRIB_WOP_ADD, TRIB_FMT_I32},
		     {TRIB_WOP_ADD, TRIB_FMT_W64},
		     {TRIB_WOP_MAX, TRIB_FMT_W64},
		     {TRIB_WOP_ADD, TRIB_FMT_I32}}; /* masked, most of them */
	static const uint8_t masks[] = {1 << 5, 2 << 5 | 1, 3 << 5 | 4, 5 << 5 | 30};
	unsigned int c, r, i, kind, nval;

	memset(fz.got, 0, sizeof(fz.got));
	memset(fz.out, 0, sizeof(fz.out));
	for (c = 0; c < F_CHUNKS; c++) {
		kind = rnd(5);
		nval = kind == 4 ? 32 : 2 + 2 * rnd(NVAL / 2);
		for (r = 0; r < fz.world; r++) {
			struct in *p = &fz.own[c][r];

			*p = (struct in){.type = TRIB_T_GRAD,
					 .op = kinds[kind].op,
					 .fmt = kinds[kind].fmt,
					 .child = r,
					 .chunk = c,
					 .epoch = 5,
					 .scale = (int32_t)c,
					 .nval = nval};
			p->who[r / 64] = 1ULL << r % 64;
			for (i = 0; i < nval / 2; i++)
				p->v[i] = (uint64_t)rnd(1u << 31) << 33 ^ rnd(1u << 31);
			if (kind == 4 && rnd(4))
				in_mask(p, masks[rnd(4)]);
			if (rnd(8))
				continue;
			p->flags = TRIB_F_EMPTY;
			p->nm = 0;
			memset(p->v, 0, sizeof(p->v));
			p->nval = rnd(2) ? nval : 0;
		}
		fz.want[c] = in_dense(fz.own[c][0]);
		for (r = 1; r < fz.world; r++)
			fz_add(&fz.want[c], &fz.own[c][r]);
		if (fz.want[c].flags & TRIB_F_EMPTY)
			fz.want[c].nval = 0;
	}
}

/* Deliver packets of the network to a worker. */
static void fz_tap(unsigned int rank, const struct trib_hdr *h)
{
	uint32_t c = be32toh(h->chunk);
	unsigned int r;

	if (h->type == TRIB_T_RESULT) {
		if (c >= F_CHUNKS || be16toh(h->nval) != fz.want[c].nval ||
		    memcmp(h + 1, fz.want[c].v, trib_payload_len(fz.want[c].nval))) {
			fz.wrong++;
			return;
		}
		for (r = 0; r < fz.world; r++)
			if ((rank == GROUP_RANK || rank == r) && rnd(3) && fz.out[c][r])
				fz.got[c][r] = true;
	}
}

/* Answer the NEEDs that came before. */
static struct {
	unsigned int rank;
	uint32_t chunk;
} asked[64];
static unsigned int nasked;

static void fz_answer(unsigned int r, uint32_t c)
{
	struct in p;

	if (c >= F_CHUNKS || !fz.out[c][r])
		return;
	p = fz.got[c][r] ? fz.want[c] : resend(fz.own[c][r]);
	if (fz.got[c][r])
		p.type = TRIB_T_RESULT;
	p.child = r;
	rx(p);
}

static void fz_collect(void)
{
	unsigned int i;

	for (i = 0; i < nsent; i++)
		if (sent[i].type == TRIB_T_NEED && nasked < 64 && rnd(4)) {
			asked[nasked].rank = sent[i].rank;
			asked[nasked++].chunk = sent[i].chunk;
		}
	nsent = 0;
}

/* A sum that a relay could have made of sent packets. */
static void fz_partial(uint32_t c)
{
	struct in sum;
	unsigned int r, n = 0;

	for (r = 0; r < fz.world; r++) {
		if (!fz.out[c][r] || rnd(2))
			continue;
		if (!n++)
			sum = in_dense(fz.own[c][r]);
		else
			fz_add(&sum, &fz.own[c][r]);
	}
	if (n)
		rx(rnd(4) ? sum : resend(sum));
}

static void fz_step(unsigned int low)
{
	unsigned int r = rnd(fz.world), i;
	uint32_t c = low + rnd(F_WINDOW);

	if (c >= F_CHUNKS)
		c = F_CHUNKS - 1;
	switch (rnd(8)) {
	case 0:
	case 1:
	case 2: /* a gradient, if it is due; it may get lost */
		if (c >= F_WINDOW && !fz.got[c - F_WINDOW][r])
			break;
		fz.out[c][r] = true;
		if (rnd(4))
			rx(fz.own[c][r]);
		break;
	case 3:
		fz_partial(c);
		break;
	case 4: /* a time-out */
		if (fz.out[c][r] && !fz.got[c][r])
			rx(rnd(2) ? resend(fz.own[c][r]) : plain(TRIB_T_NEED, r, c));
		break;
	case 5: /* an old copy */
		c = rnd(low + 1);
		if (fz.out[c][r])
			rx(rnd(2) ? fz.own[c][r] : resend(fz.own[c][r]));
		break;
	case 6:
		if (nasked) {
			i = rnd(nasked);
			r = asked[i].rank;
			c = asked[i].chunk;
			asked[i] = asked[--nasked];
			fz_answer(r, c);
		}
		break;
	default:
		if (!rnd(60)) /* a restart */
			memset(tree->place, 0, (size_t)(tree->mask + 1) * tree->stride);
		now += rnd(20);
		break;
	}
}

static bool fz_run(uint64_t seed)
{
	unsigned int low = 0, r, step = 0;

	fz.rng = seed * 0x9e3779b97f4a7c15ULL + 1;
	fz.world = 1 + rnd(seed % 4 ? 6 : F_WORLD);
	fz.wrong = nasked = 0;
	begin(fz.world, F_WINDOW);
	fz_make();
	tap = fz_tap;
	while (low < F_CHUNKS && step++ < 4000000) {
		fz_step(low);
		fz_collect();
		for (r = 0; r < fz.world && fz.got[low][r]; r++)
			;
		low += r == fz.world;
	}
	if (fz.wrong || low < F_CHUNKS)
		printf("# seed %llu world %u: chunk %u, %u wrong\n", (unsigned long long)seed,
		       fz.world, low, fz.wrong);
	end();
	return !fz.wrong && low == F_CHUNKS;
}

static void fuzz__any_order_gives_the_exact_sum_to_everybody(void)
{
	uint64_t seed;

	for (seed = 0; seed < 60; seed++)
		if (!expect(fz_run(seed)))
			return;
}

int main(void)
{
	run(fuzz__any_order_gives_the_exact_sum_to_everybody);
	return tap_done();
}
