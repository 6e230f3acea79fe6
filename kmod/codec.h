/* SPDX-License-Identifier: GPL-2.0 */
/* The codec of collective sockets: one that uses the FPU when it is to be had. */
#ifndef TRIB_KMOD_CODEC_H
#define TRIB_KMOD_CODEC_H

#include "kernels/codec/codec.h"

/* Choose the instructions. Return: 0, or -EINVAL: parameter codec names none. */
int trib_codec_init(void);

/* The codec, for whatever context. Its name is that of the instructions. */
const struct trib_codec *trib_codec_kernel(void);

#endif /* TRIB_KMOD_CODEC_H */
