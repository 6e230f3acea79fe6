// SPDX-License-Identifier: BSD-2-Clause
/* See masked.h. */
#include "masked.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "uapi/trib_wire.h"

_Static_assert(PEER_MASKED_SUM == TRIB_MASK_UNITS * sizeof(uint32_t), "a unit has 32 values");

#define QUIET 0x400000u /* the bit of a float that makes a NaN quiet */

static uint32_t load(const unsigned char *p)
{
	uint32_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

static uint32_t mask_of(const unsigned char *unit)
{
	return le32toh(load(unit));
}

int peer_masked_init(struct peer_masked *m, const void *mask, uint32_t per, uint64_t count,
		     bool ints, size_t chunk)
{
	m->mask = mask;
	m->per = per;
	m->units = (count + TRIB_MASK_UNITS - 1) / TRIB_MASK_UNITS;
	m->size = (1 + per) * sizeof(uint32_t);
	m->whole = m->size >= PEER_MASKED_SUM || chunk < PEER_MASKED_SUM;
	m->ints = ints;
	m->fn = trib_reduce(ints ? TRIB_REDUCE_I32 : TRIB_REDUCE_F32, TRIB_REDUCE_SUM);
	m->sum = malloc(m->units * PEER_MASKED_SUM + 1);
	m->own = malloc(m->units * m->size + 1);
	return m->sum && m->own ? 0 : -ENOMEM;
}

void peer_masked_free(struct peer_masked *m)
{
	free(m->sum);
	free(m->own);
}

void peer_masked_put(struct peer_masked *m, uint64_t first, const void *values, uint64_t n)
{
	size_t each = m->per * sizeof(uint32_t);
	const unsigned char *v = values;
	unsigned char *unit = m->own + first * m->size;
	uint64_t i;

	for (i = 0; i < n; i++, unit += m->size, v += each) {
		memcpy(unit, &m->mask[first + i], sizeof(uint32_t));
		memcpy(unit + sizeof(uint32_t), v, each);
	}
}

/* Write a unit's 32 values. A mask of too many bits takes no more than the unit has. */
static void expand(const struct peer_masked *m, unsigned char *out, const unsigned char *unit)
{
	uint32_t w = mask_of(unit), k;

	memset(out, 0, PEER_MASKED_SUM);
	for (k = 1; w && k <= m->per; w &= w - 1, k++)
		memcpy(out + 4 * __builtin_ctz(w), unit + 4 * k, 4);
}

void peer_masked_expand(struct peer_masked *m)
{
	uint64_t i;

	for (i = 0; i < m->units; i++)
		expand(m, (unsigned char *)m->sum + i * PEER_MASKED_SUM, m->own + i * m->size);
}

static bool are_right(const struct peer_masked *m, const unsigned char *unit, uint64_t n)
{
	for (; n--; unit += m->size)
		if ((uint32_t)__builtin_popcount(load(unit)) != m->per)
			return false;
	return true;
}

static uint32_t add_ints(uint32_t a, uint32_t b)
{
	return a + b;
}

/* kernels/reduce/reduce.h: of two NaNs, @a's is the sum. A compiler may turn them round. */
static uint32_t add_floats(uint32_t a, uint32_t b)
{
	float x, y;

	memcpy(&x, &a, sizeof(x));
	memcpy(&y, &b, sizeof(y));
	if (__builtin_isnan(x))
		return a | QUIET;
	x += y;
	memcpy(&a, &x, sizeof(a));
	return a;
}

/* Add a unit's values to their places. */
static void add_unit(const struct peer_masked *m, unsigned char *out, const unsigned char *unit,
		     bool swap)
{
	uint32_t w = mask_of(unit), k, a, b, v;
	unsigned char *at;

	for (k = 1; w; w &= w - 1, k++) {
		at = out + 4 * __builtin_ctz(w);
		a = load(swap ? unit + 4 * k : at);
		b = load(swap ? at : unit + 4 * k);
		v = m->ints ? add_ints(a, b) : add_floats(a, b);
		memcpy(at, &v, sizeof(v));
	}
}

bool peer_masked_add(const struct peer_masked *m, void *out, const void *own, bool own_packed,
		     const void *in, bool in_packed, bool swap, uint64_t n)
{
	unsigned char *to = out;
	uint64_t i;

	if (in_packed && !are_right(m, in, n))
		return false;
	for (i = 0; i < n && own_packed; i++)
		expand(m, to + i * PEER_MASKED_SUM, (const unsigned char *)own + i * m->size);
	for (i = 0; i < n && in_packed; i++)
		add_unit(m, to + i * PEER_MASKED_SUM, (const unsigned char *)in + i * m->size,
			 swap);
	if (!in_packed)
		m->fn(out, swap ? in : out, swap ? out : in, n * TRIB_MASK_UNITS);
	return true;
}
