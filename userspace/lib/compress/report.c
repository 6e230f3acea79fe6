// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exponents that say: this value is not finite. They are larger than every exponent, so
 * that a maximum over the ranks keeps them; the largest rank wins, then its first value.
 */
#include <errno.h>

#include "compress.h"

#define REPORT (1 << 30)

int32_t report_bad(const struct bucket *b, size_t index)
{
	unsigned int rank = b->m->c->t->eng.rank;

	return (int32_t)(REPORT | rank << BUCKET_BITS | (unsigned int)(BUCKET_MAX - 1 - index));
}

int report_find(struct bucket *b)
{
	int32_t e;
	size_t i;

	for (i = 0; i < b->cut.ranges; i++) {
		e = b->exp[i];
		if (e >= REPORT) {
			if ((e & (REPORT - 1)) >> BUCKET_BITS >= (int)b->m->c->t->eng.world ||
			    BUCKET_MAX - 1 - (e & (BUCKET_MAX - 1)) >= b->cut.values)
				return -EPROTO;
			b->bad = e > b->bad ? e : b->bad;
		} else if (e != TRIB_EXP_ZERO && (e < TRIB_EXP_MIN || e > TRIB_EXP_LARGEST)) {
			return -EPROTO;
		}
	}
	return 0;
}

int64_t report_of(const struct bucket *b)
{
	unsigned int word = (unsigned int)b->bad & (REPORT - 1);

	return trib_exp_bad(word >> BUCKET_BITS,
			    b->first + BUCKET_MAX - 1 - (word & (BUCKET_MAX - 1)));
}
