// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Code of all levels: exponents, finding non-finite values, plain integers. */
#include "codec.h"

int trib_exponent(uint32_t amax)
{
	if (!amax)
		return TRIB_EXP_ZERO;
	if (amax >> 23) /* 1.f * 2^(biased - 127) */
		return (int)(amax >> 23) - 126;
	return 32 - __builtin_clz(amax) - 149;
}

size_t trib_first_bad(const float *x, size_t n)
{
	uint32_t b;
	size_t i;

	for (i = 0; i < n; i++) {
		memcpy(&b, &x[i], sizeof(b));
		if ((b & 0x7fffffff) >= 0x7f800000)
			break;
	}
	return i;
}

void trib_i32_pack(void *w, const int32_t *x, size_t n)
{
	size_t len = n * sizeof(*x);

	if (n)
		memcpy(w, x, len);
	memset((char *)w + len, 0, trib_payload_len((uint32_t)n) - len);
}

void trib_i32_unpack(int32_t *x, const void *w, size_t n)
{
	if (n)
		memcpy(x, w, n * sizeof(*x));
}
