/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of compressed floats, as trib codec writes them: a head, then blocks. All
 * numbers are little-endian, nothing is aligned.
 *
 *	offset	bytes	head
 *	0	8	8e "TRIBNM" 0a
 *	8	2	version: 1
 *	10	1	fmt: 1 f32, 2 f16, 3 bf16
 *	11	1	N: 1, 2, 4, 8, 16 or 32; 1 is dense
 *	12	1	M: below N; 1 if dense
 *	13	1	bits of integers: 16, 8 or 4; 0: values stay floats
 *	14	2	0
 *	16	4	values of a block: a multiple of 32, at most 2^20
 *	20	4	0
 *	24	8	values of the file, at most 2^40
 *	32	8	seed of the rounding to integers
 *
 * A block holds the next values, the last block what is left of them:
 *
 *	4	exponent, signed; only with integers
 *	4 * k	masks, one bit a value; none if dense
 *	rest	the values that the masks select: in fmt; or, as integers, planar
 *		lanes in a multiple of eight 64-bit words
 *
 * kernels/nm/nm.h defines masks, exponents, rounding and lanes. There is no
 * checksum. A reader refuses what no writer writes: other lengths, masks that select
 * more or fewer than M of N, values that are not finite, or beyond their exponent.
 */
#ifndef TRIB_CLI_NM_FILE_H
#define TRIB_CLI_NM_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/codec/codec.h"
#include "kernels/nm/nm.h"

#define NM_FILE_HEAD 40
#define NM_FILE_BLOCK_MAX (1u << 20)
#define NM_FILE_VALUES_MAX (1ULL << 40)

/**
 * struct nm_file - what the head says
 * @fmt: TRIB_FMT_F32, TRIB_FMT_F16 or TRIB_FMT_BF16.
 */
struct nm_file {
	struct trib_nm_spec spec;
	uint32_t fmt;
	uint32_t block;
	uint64_t count;
	uint64_t seed;
};

/**
 * struct nm_level - an instruction set
 * @nm, @codec: of the same level.
 */
struct nm_level {
	const struct trib_nm_ops *nm;
	const struct trib_codec *codec;
};

/**
 * nm_level_find() - find a level by name; the best one for NULL
 *
 * Return: 0; -EINVAL: no such name; -EOPNOTSUPP: this CPU cannot run it.
 */
int nm_level_find(struct nm_level *level, const char *name);

/* Bytes of a float. */
static inline size_t nm_file_size(uint32_t fmt)
{
	return fmt == TRIB_FMT_F32 ? 4 : 2;
}

void nm_file_head_write(unsigned char head[NM_FILE_HEAD], const struct nm_file *f);

/* True if the bytes begin as every file does. */
int nm_file_is(const void *data, size_t len);

/**
 * nm_file_head_read() - check and read a head
 * @why: receives a sentence if the head is wrong.
 *
 * Return: 0, or -EINVAL.
 */
int nm_file_head_read(struct nm_file *f, const void *head, size_t len, char *why, size_t why_len);

/* Bytes of a block of @count values, of the largest one, and of the whole file. */
size_t nm_file_block_bytes(const struct nm_file *f, size_t count);
uint64_t nm_file_bytes(const struct nm_file *f);

/**
 * struct nm_work - memory for one block; zero is empty
 * @packed: as floats.
 * @half:   payload of @codec.
 */
struct nm_work {
	float *packed;
	void *half;
};

/* nm_work_free() also after a failure. Return: 0 or -ENOMEM. */
int nm_work_init(struct nm_work *w, const struct nm_file *f);
void nm_work_free(struct nm_work *w);

/**
 * nm_block_write() - compress a block
 * @first: the block's first value.
 * @x:     @count values of the file's format.
 * @bad:   receives the index in the file of a value that is not finite.
 *
 * Return: bytes of the block, or -EDOM.
 */
int64_t nm_block_write(const struct nm_file *f, const struct nm_level *level, struct nm_work *w,
		       uint64_t first, const void *x, size_t count, void *block, uint64_t *bad);

/**
 * nm_block_read() - check and expand a block
 * @block: nm_file_block_bytes() bytes from outside.
 * @why:   receives a sentence if the block is wrong. @x is undefined then.
 *
 * Return: 0, or -EINVAL.
 */
int nm_block_read(const struct nm_file *f, const struct nm_level *level, struct nm_work *w,
		  uint64_t first, void *x, size_t count, const void *block, char *why,
		  size_t why_len);

#endif /* TRIB_CLI_NM_FILE_H */
