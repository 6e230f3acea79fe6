/* SPDX-License-Identifier: GPL-2.0 */
/* The codec of collective sockets: it uses the FPU whenever that is free. */
#ifndef TRIB_KMOD_CODEC_H
#define TRIB_KMOD_CODEC_H

#include "kernels/codec/codec.h"

/**
 * trib_codec_init() - choose the fastest codec on this machine
 * Return: 0, or -EINVAL if this CPU lacks the codec that the parameter names.
 */
int trib_codec_init(void);

/**
 * trib_codec_kernel() - the chosen codec
 * Any context may call its functions: they enter the FPU or fall back to scalar
 * code. Its name is the level's.
 */
const struct trib_codec *trib_codec_kernel(void);

#endif /* TRIB_KMOD_CODEC_H */
