// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Chooses the codec for this CPU. */
#include "codec.h"
#include "kernels/cpu.h"

static const struct {
	const struct trib_codec *codec;
	uint32_t needs;
} levels[TRIB_CODEC__MAX] = {
	[TRIB_CODEC_SCALAR] = {.codec = &trib_codec_scalar},
#if defined(__x86_64__)
	[TRIB_CODEC_AVX2] = {&trib_codec_avx2, TRIB_CPU_AVX2 | TRIB_CPU_F16C},
	[TRIB_CODEC_AVX512] = {&trib_codec_avx512, TRIB_CPU_AVX512F | TRIB_CPU_AVX512BW |
							   TRIB_CPU_AVX512DQ | TRIB_CPU_AVX512VL},
#endif
};

const struct trib_codec *trib_codec_get(enum trib_codec_level level)
{
	if ((unsigned int)level >= TRIB_CODEC__MAX || levels[level].needs & ~trib_cpu_caps())
		return NULL;
	return levels[level].codec;
}

const struct trib_codec *trib_codec_best(void)
{
	const struct trib_codec *c = NULL;
	int level;

	for (level = TRIB_CODEC__MAX - 1; !c; level--)
		c = trib_codec_get(level);
	return c;
}
