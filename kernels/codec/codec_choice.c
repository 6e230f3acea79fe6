// SPDX-License-Identifier: BSD-2-Clause
/* Chooses the codec for this CPU. */
#include "codec.h"

const struct trib_codec *trib_codec_get(enum trib_codec_level level)
{
	switch (level) {
	case TRIB_CODEC_SCALAR:
		return &trib_codec_scalar;
#if defined(__x86_64__)
	case TRIB_CODEC_AVX2:
		return __builtin_cpu_supports("avx2") &&
				       __builtin_cpu_supports("f16c")
			       ? &trib_codec_avx2
			       : NULL;
	case TRIB_CODEC_AVX512:
		return __builtin_cpu_supports("avx512f") &&
				       __builtin_cpu_supports("avx512bw") &&
				       __builtin_cpu_supports("avx512dq") &&
				       __builtin_cpu_supports("avx512vl")
			       ? &trib_codec_avx512
			       : NULL;
#endif
	default:
		return NULL;
	}
}

const struct trib_codec *trib_codec_best(void)
{
	const struct trib_codec *c = NULL;
	int level;

	for (level = TRIB_CODEC__MAX - 1; !c; level--)
		c = trib_codec_get(level);
	return c;
}
