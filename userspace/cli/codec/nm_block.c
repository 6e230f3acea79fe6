// SPDX-License-Identifier: BSD-2-Clause
/* Blocks of files of compressed floats: see nm_file.h. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nm_file.h"

/* The parts of a block, each with its bytes. */
struct parts {
	size_t exponent;
	size_t mask;
	size_t values;
	size_t packed; /* number of values */
};

static struct parts parts_of(const struct nm_file *f, size_t count)
{
	struct parts p = {
		.exponent = f->spec.bits ? 4 : 0,
		.mask = 4 * trib_nm_mask_words(f->spec, count),
		.packed = trib_nm_packed(f->spec, count),
	};

	p.values = nm_file_block_bytes(f, count) - p.exponent - p.mask;
	return p;
}

int nm_work_init(struct nm_work *w, const struct nm_file *f)
{
	size_t most = trib_nm_packed(f->spec, f->block);

	/* Payloads of halves are filled up to 64 bytes. */
	w->packed = malloc(most * sizeof(float));
	w->half = calloc(1, most * 2 + 64);
	return w->packed && w->half ? 0 : -ENOMEM;
}

void nm_work_free(struct nm_work *w)
{
	free(w->packed);
	free(w->half);
	*w = (struct nm_work){0};
}

static struct trib_nm_chunk chunk_of(const struct nm_file *f, uint64_t first, const struct parts *p,
				     int exponent)
{
	return (struct trib_nm_chunk){
		.seed = f->seed,
		.index = first,
		.words = p->values / 8,
		.scale = trib_nm_scale(exponent, f->spec.bits),
		.bits = f->spec.bits,
		.lane_bits = (uint8_t)trib_nm_lane_bits(f->spec.bits, 1),
	};
}

/* Write packed floats in the file's format. */
static void put_floats(const struct nm_file *f, const struct nm_level *level, struct nm_work *w,
		       void *to, size_t n)
{
	if (f->fmt == TRIB_FMT_F32) {
		memcpy(to, w->packed, n * 4);
		return;
	}
	if (f->fmt == TRIB_FMT_F16)
		level->codec->f16_pack(w->half, w->packed, n);
	else
		level->codec->bf16_pack(w->half, w->packed, n);
	memcpy(to, w->half, n * 2);
}

static void get_floats(const struct nm_file *f, const struct nm_level *level, struct nm_work *w,
		       const void *from, size_t n)
{
	if (f->fmt == TRIB_FMT_F32) {
		memcpy(w->packed, from, n * 4);
		return;
	}
	memcpy(w->half, from, n * 2);
	if (f->fmt == TRIB_FMT_F16)
		level->codec->f16_unpack(w->packed, w->half, n);
	else
		level->codec->bf16_unpack(w->packed, w->half, n);
}

static struct trib_nm_range range_of(const struct nm_file *f, const void *x, size_t count)
{
	return (struct trib_nm_range){.x = x, .count = count, .fmt = f->fmt, .spec = f->spec};
}

int64_t nm_block_write(const struct nm_file *f, const struct nm_level *level, struct nm_work *w,
		       uint64_t first, const void *x, size_t count, void *block, uint64_t *bad)
{
	struct trib_nm_range range = range_of(f, x, count);
	struct parts p = parts_of(f, count);
	char *at = block;
	void *mask = p.mask ? at + p.exponent : NULL;
	struct trib_nm_chunk chunk;
	int32_t exponent;
	uint32_t amax;

	amax = mask ? level->nm->select(mask, &range) : level->nm->amax(&range, NULL);
	if (amax >= TRIB_NM_BAD) {
		*bad = first + trib_nm_first_bad(&range);
		return -EDOM;
	}
	if (!f->spec.bits) {
		level->nm->pack(w->packed, &range, mask);
		put_floats(f, level, w, at + p.mask, p.packed);
		return (int64_t)(p.mask + p.values);
	}
	exponent = trib_exponent(amax);
	chunk = chunk_of(f, first, &p, exponent);
	level->nm->pack_lanes(at + p.exponent + p.mask, &range, mask, &chunk);
	exponent = (int32_t)htole32((uint32_t)exponent);
	memcpy(at, &exponent, sizeof(exponent));
	return (int64_t)(p.exponent + p.mask + p.values);
}

static int read_exponent(const void *block, int32_t *exponent)
{
	uint32_t raw;

	memcpy(&raw, block, sizeof(raw));
	*exponent = (int32_t)le32toh(raw);
	return *exponent == TRIB_EXP_ZERO ||
	       (*exponent >= TRIB_EXP_MIN && *exponent <= TRIB_EXP_LARGEST);
}

int nm_block_read(const struct nm_file *f, const struct nm_level *level, struct nm_work *w,
		  uint64_t first, void *x, size_t count, const void *block, char *why,
		  size_t why_len)
{
	struct trib_nm_range range = range_of(f, x, count);
	unsigned long long last = first + count - 1;
	struct parts p = parts_of(f, count);
	const char *at = block, *values = at + p.exponent + p.mask;
	const void *mask = p.mask ? at + p.exponent : NULL;
	int32_t exponent = TRIB_EXP_LARGEST;
	struct trib_nm_chunk chunk;
	uint32_t amax;

	if (mask && level->nm->check(mask, count, f->spec)) {
		snprintf(why, why_len,
			 "values %llu to %llu: a mask does not select %u of every %u values",
			 (unsigned long long)first, last, f->spec.kept, f->spec.group);
		return -EINVAL;
	}
	if (!f->spec.bits) {
		get_floats(f, level, w, values, p.packed);
	} else if (read_exponent(block, &exponent)) {
		chunk = chunk_of(f, first, &p, exponent);
		level->nm->unpack_lanes(w->packed, values, p.packed, &chunk, 1);
	} else {
		snprintf(why, why_len, "values %llu to %llu: exponent %d: want %d to %d",
			 (unsigned long long)first, last, exponent, TRIB_EXP_MIN, TRIB_EXP_LARGEST);
		return -EINVAL;
	}
	level->nm->expand(x, f->fmt, count, mask, w->packed, 1);
	amax = level->nm->amax(&range, NULL);
	if (amax < TRIB_NM_BAD && trib_exponent(amax) <= exponent)
		return 0;
	if (amax < TRIB_NM_BAD)
		snprintf(why, why_len,
			 "values %llu to %llu: one is beyond their exponent, which is %d",
			 (unsigned long long)first, last, exponent);
	else
		snprintf(why, why_len, "value %llu is not finite",
			 (unsigned long long)first + trib_nm_first_bad(&range));
	return -EINVAL;
}
