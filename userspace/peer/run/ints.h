/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Floats as integers in units of a shared scale, one int32 each: those that relays add
 * up (kernels/codec), but in lanes of their own. So sums may be cut at any value, and
 * sparse ones be added without their neighbours.
 */
#ifndef PEER_INTS_H
#define PEER_INTS_H

#include <stddef.h>
#include <stdint.h>

/** peer_ints_pack() - as &trib_codec.q32_pack, of at most TRIB_NVAL_LARGE values */
void peer_ints_pack(int32_t *out, const float *x, uint32_t n, int scale, uint32_t world);

/**
 * peer_ints_unpack() - as &trib_codec.q32_unpack, of any number of values
 * @divide: by which sums are divided; 1: none.
 */
void peer_ints_unpack(float *out, const int32_t *in, size_t n, int scale, uint32_t divide);

#endif /* PEER_INTS_H */
