/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The quantised half of nm_simd.h: planar lanes.
 *
 * Packing goes by tiles that stay in L1: compress values and their indexes,
 * quantise what is left in whole vectors, expand the errors into the residual.
 */

/* Mask words in a tile. */
#define TILE 16

struct SIMD(tile) {
	float acc[TILE * 32 + LANES];	/* packed */
	int32_t low[TILE * 32 + LANES]; /* their indexes */
	float error[TILE * 32 + LANES];
};

/* Random bits of the values whose indexes are @low, shifted down to the fraction. */
NM_EACH vi SIMD(random)(struct trib_nm_key key, vi low, int fraction)
{
	vi x = vi_xor(low, vi_set((int32_t)key.first));

	x = vi_mul(vi_xor(x, vi_shift_down(x, 17)), vi_set((int32_t)TRIB_NM_MUL1));
	x = vi_add(vi_xor(x, vi_shift_down(x, 11)), vi_set((int32_t)key.inner));
	x = vi_mul(x, vi_set((int32_t)TRIB_NM_MUL2));
	x = vi_mul(vi_xor(x, vi_shift_down(x, 15)), vi_set((int32_t)TRIB_NM_MUL3));
	return vi_shift_down(vi_xor(x, vi_shift_down(x, 14)), 32 - fraction);
}

NM_EACH vi SIMD(quantise)(vf acc, const struct trib_nm_unit *u, vi fraction)
{
	vf t = vf_mul(vf_mul(acc, vf_set(u->up[0])), vf_set(u->up[1]));
	vi q;

	t = vf_max(vf_min(t, vf_set(TRIB_NM_T_MAX)), vf_set(-TRIB_NM_T_MAX));
	q = vi_shift_signed(vi_add(vf_round(t), fraction), u->fraction);
	return vi_max(vi_min(q, vi_set(u->limit)), vi_set(-u->limit));
}

/* State of a chunk that is being packed. */
struct SIMD(chunk) {
	struct trib_nm_key key;
	struct trib_nm_unit unit;
	char *words;
	size_t total; /* words of the chunk */
	size_t word;  /* the next value's */
	unsigned int shift;
	unsigned int lane_bits;
};

/* Quantise @n packed values of a tile. */
NM_EACH void SIMD(quantise_tile)(struct SIMD(chunk) * c, struct SIMD(tile) * t, size_t n)
{
	size_t i = 0, end;
	vf acc;
	vi q;

	while (i < n) {
		end = n - i < c->total - c->word ? n : i + c->total - c->word;
		for (; i < end; i += LANES, c->word += LANES) {
			acc = vf_load(t->acc + i);
			q = SIMD(random)(c->key, vi_load(t->low + i), c->unit.fraction);
			q = SIMD(quantise)(acc, &c->unit, q);
			vi_add_to_words(c->words + 8 * c->word, q, c->shift,
					end - i < LANES ? end - i : LANES);
			acc = vf_sub(acc, vf_mul(vf_mul(vf_of_int(q), vf_set(c->unit.down[0])),
						 vf_set(c->unit.down[1])));
			vf_store(t->error + i, acc);
		}
		/* The last vector may have gone beyond the end. */
		c->word -= i - end;
		i = end;
		if (c->word == c->total) {
			c->word = 0;
			c->shift += c->lane_bits;
		}
	}
}

/* Pack @words mask words; @low is the index of the first value. */
NM_EACH void SIMD(pack_tile)(struct SIMD(chunk) * c, const struct trib_nm_range *g,
			     const void *mask, size_t words, uint32_t low, uint32_t fmt)
{
	uint32_t word = 0xffffffff, bits;
	struct SIMD(tile) t;
	size_t i, n = 0;
	vi index = vi_add(vi_set((int32_t)low), vi_iota());
	vf acc;

	for (i = 0; i < words * 32; i += LANES, index = vi_add(index, vi_set(LANES))) {
		if (mask)
			word = nm_word(mask, i / 32);
		bits = word >> i % 32 & LANE_BITS;
		acc = SIMD(acc)(g, fmt, i);
		if (g->residual)
			vf_store(g->residual + i, acc);
		vf_store(t.acc + n, vf_compress(acc, bits));
		vf_store(t.low + n, vf_compress(vf_of_bits(index), bits));
		n += (size_t)__builtin_popcount(bits);
	}
	/* The rest of the last vector is computed, and ignored. */
	vf_store(t.acc + n, vf_set(0));
	vf_store(t.low + n, vf_set(0));
	SIMD(quantise_tile)(c, &t, n);
	if (!g->residual)
		return;
	for (i = n = 0; i < words * 32; i += LANES) {
		if (mask)
			word = nm_word(mask, i / 32);
		bits = word >> i % 32 & LANE_BITS;
		acc = vf_expand(vf_load(t.error + n), bits);
		vf_store(g->residual + i, vf_select(bits, acc, vf_load(g->residual + i)));
		n += (size_t)__builtin_popcount(bits);
	}
}

/* Values behind the last whole mask word, from a copy that zeros follow. */
NM_EACH void SIMD(pack_tail)(struct SIMD(chunk) * c, const struct trib_nm_range *tail,
			     const void *mask, uint32_t low, uint32_t fmt)
{
	uint32_t word = mask ? nm_word(mask, 0) : (1u << tail->count) - 1;
	float residual[32] = {0};
	char x[128] = {0};
	struct trib_nm_range copy = *tail;

	copy.x = x;
	copy.residual = residual;
	copy.count = 32;
	memcpy(x, tail->x, tail->count * nm_size(fmt));
	if (tail->residual)
		memcpy(residual, tail->residual, 4 * tail->count);
	else
		copy.residual = NULL;
	SIMD(pack_tile)(c, &copy, &word, 1, low, fmt);
	if (tail->residual)
		memcpy(tail->residual, residual, 4 * tail->count);
}

NM_EACH void SIMD(pack_lanes_fmt)(void *to, const struct trib_nm_range *g, const void *mask,
				  const struct trib_nm_chunk *chunk, uint32_t fmt)
{
	struct SIMD(chunk) c = {
		.key = trib_nm_key(chunk->seed, chunk->step, (uint32_t)(chunk->index >> 32)),
		.unit = trib_nm_unit(chunk->scale, chunk->bits),
		.words = to,
		.total = chunk->words,
		.lane_bits = chunk->lane_bits,
	};
	size_t w, n, words = g->count / 32;
	uint32_t low = (uint32_t)chunk->index;
	struct trib_nm_range part;

	memset(to, 0, chunk->words * 8);
	for (w = 0; w < words; w += n) {
		n = words - w < TILE ? words - w : TILE;
		part = nm_rest(g, w * 32);
		SIMD(pack_tile)
		(&c, &part, mask ? (const char *)mask + 4 * w : NULL, n, low + (uint32_t)w * 32,
		 fmt);
	}
	part = nm_rest(g, words * 32);
	if (part.count)
		SIMD(pack_tail)
	(&c, &part, mask ? (const char *)mask + 4 * words : NULL, low + (uint32_t)words * 32, fmt);
}

static void SIMD(pack_lanes)(void *words, const struct trib_nm_range *g, const void *mask,
			     const struct trib_nm_chunk *c)
{
	__auto_type fp = trib_fp_enter();

	/* The key changes within a range once in 2^32 values. */
	if ((uint32_t)c->index + (uint64_t)g->count > 1ULL << 32)
		trib_nm_scalar.pack_lanes(words, g, mask, c);
	else
		NM_BY_FMT(g->fmt, SIMD(pack_lanes_fmt), words, g, mask, c);
	trib_fp_leave(fp);
}

/* @n values of one lane of successive words. */
NM_EACH void SIMD(unpack_lane)(char *to, const char *words, size_t n, unsigned int shift,
			       const struct trib_nm_chunk *c, unsigned int divide)
{
	const int32_t half = (int32_t)(1u << (c->lane_bits - 1));
	const uint64_t bias = trib_nm_bias(c->lane_bits), field = (1ULL << c->lane_bits) - 1;
	const double unit = trib_pow2(c->scale);
	char part[8 * LANES] = {0};
	size_t i;
	vi q;

	for (i = 0; i + LANES <= n; i += LANES) {
		q = vi_of_words(words + 8 * i, bias, shift, field);
		vf_store(to + 4 * i, vf_scale(vi_add(q, vi_set(-half)), divide, unit));
	}
	if (i == n)
		return;
	memcpy(part, words + 8 * i, 8 * (n - i));
	q = vi_of_words(part, bias, shift, field);
	vf_store_some(to + 4 * i, (uint32_t)(n - i),
		      vf_scale(vi_add(q, vi_set(-half)), divide, unit));
}

static void SIMD(unpack_lanes)(void *packed, const void *words, size_t count,
			       const struct trib_nm_chunk *c, unsigned int divide)
{
	__auto_type fp = trib_fp_enter();
	unsigned int shift = 0;
	char *to = packed;
	size_t i, n;

	for (i = 0; i < count; i += n, shift += c->lane_bits) {
		n = count - i < c->words ? count - i : c->words;
		SIMD(unpack_lane)(to + 4 * i, words, n, shift, c, divide);
	}
	trib_fp_leave(fp);
}
