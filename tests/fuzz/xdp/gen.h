/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the fuzzer's bytes to packets that mostly make sense, and are then bent
 * here and there.
 */
#ifndef FUZZ_GEN_H
#define FUZZ_GEN_H

#include "rig.h"
#include "tests/fuzz/input.h"

/* Input bytes of an unbent packet, with the byte for what follows it. */
#define RECORD 9
#define OP_RAW 0xf0	/* from here on: gen_raw() */
#define OP_WRITE 0xf4	/* tree, rank, gen_write() */
#define OP_DISTURB 0xf8 /* tree, how */

/**
 * gen_packet() - one packet
 * @base: first chunk number.
 *
 * Return: the port it arrives at.
 */
uint32_t gen_packet(struct input *in, uint32_t base, struct frame *f);

/* A rank has sent @sent chunks, and has filled its other cells; D is @dist. */
void gen_cells(uint8_t *cells, uint32_t epoch, uint32_t base, uint32_t sent, uint32_t dist);
/* The rank writes something into its array. */
void gen_write(struct input *in, uint8_t *cells, uint32_t epoch, uint32_t base);

/* A frame made of raw input bytes. */
uint32_t gen_raw(struct input *in, struct frame *f);

#endif /* FUZZ_GEN_H */
