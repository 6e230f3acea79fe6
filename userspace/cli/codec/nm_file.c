// SPDX-License-Identifier: BSD-2-Clause
/* Heads and sizes of files of compressed floats: see nm_file.h. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nm_file.h"

#define VERSION 1

static const unsigned char magic[8] = {0x8e, 'T', 'R', 'I', 'B', 'N', 'M', '\n'};

/* The head in memory. */
struct head {
	unsigned char magic[8];
	uint16_t version;
	uint8_t fmt;
	uint8_t group;
	uint8_t kept;
	uint8_t bits;
	uint16_t zero16;
	uint32_t block;
	uint32_t zero32;
	uint64_t count;
	uint64_t seed;
};

_Static_assert(sizeof(struct head) == NM_FILE_HEAD, "the head of nm_file.h");

static const struct {
	uint32_t fmt;
	uint8_t code;
} formats[] = {{TRIB_FMT_F32, 1}, {TRIB_FMT_F16, 2}, {TRIB_FMT_BF16, 3}};

#define NFORMATS (sizeof(formats) / sizeof(formats[0]))

void nm_file_head_write(unsigned char head[NM_FILE_HEAD], const struct nm_file *f)
{
	struct head h = {
		.version = htole16(VERSION),
		.group = f->spec.group,
		.kept = f->spec.kept,
		.bits = f->spec.bits,
		.block = htole32(f->block),
		.count = htole64(f->count),
		.seed = htole64(f->seed),
	};
	size_t i;

	memcpy(h.magic, magic, sizeof(magic));
	for (i = 0; i < NFORMATS; i++)
		if (formats[i].fmt == f->fmt)
			h.fmt = formats[i].code;
	memcpy(head, &h, sizeof(h));
}

int nm_file_is(const void *data, size_t len)
{
	return len >= sizeof(magic) && !memcmp(data, magic, sizeof(magic));
}

static int read_fmt(struct nm_file *f, uint8_t code)
{
	size_t i;

	for (i = 0; i < NFORMATS; i++)
		if (formats[i].code == code) {
			f->fmt = formats[i].fmt;
			return 0;
		}
	return -1;
}

int nm_file_head_read(struct nm_file *f, const void *head, size_t len, char *why, size_t why_len)
{
	struct head h;

	if (!nm_file_is(head, len)) {
		snprintf(why, why_len, "is no file of trib codec");
		return -EINVAL;
	}
	if (len < sizeof(h)) {
		snprintf(why, why_len, "ends within its head, after %zu bytes", len);
		return -EINVAL;
	}
	memcpy(&h, head, sizeof(h));
	*f = (struct nm_file){
		.spec = {.group = h.group, .kept = h.kept, .bits = h.bits},
		.block = le32toh(h.block),
		.count = le64toh(h.count),
		.seed = le64toh(h.seed),
	};
	if (le16toh(h.version) != VERSION)
		snprintf(why, why_len, "has version %u of the format: this trib reads version %u",
			 le16toh(h.version), VERSION);
	else if (h.zero16 || h.zero32)
		snprintf(why, why_len, "has a head with unknown fields");
	else if (read_fmt(f, h.fmt))
		snprintf(why, why_len, "has floats of kind %u: there are 1 to 3", h.fmt);
	else if (!trib_nm_valid(f->spec))
		snprintf(why, why_len, "keeps %u of every %u values in %u bits, which is no spec",
			 h.kept, h.group, h.bits);
	else if (!f->block || f->block % 32 || f->block > NM_FILE_BLOCK_MAX)
		snprintf(why, why_len, "has blocks of %u values: want a multiple of 32, at most %u",
			 f->block, NM_FILE_BLOCK_MAX);
	else if (f->count > NM_FILE_VALUES_MAX)
		snprintf(why, why_len, "says that it has %llu values: at most 2^40 are read",
			 (unsigned long long)f->count);
	else
		return 0;
	return -EINVAL;
}

static size_t words(const struct nm_file *f, size_t count)
{
	size_t lanes = 64 / trib_nm_lane_bits(f->spec.bits, 1) * 8;

	return (trib_nm_packed(f->spec, count) + lanes - 1) / lanes * 8;
}

size_t nm_file_block_bytes(const struct nm_file *f, size_t count)
{
	size_t mask = 4 * trib_nm_mask_words(f->spec, count);

	if (!f->spec.bits)
		return mask + trib_nm_packed(f->spec, count) * nm_file_size(f->fmt);
	return 4 + mask + 8 * words(f, count);
}

uint64_t nm_file_bytes(const struct nm_file *f)
{
	uint64_t blocks = f->count / f->block, rest = f->count % f->block;

	return NM_FILE_HEAD + blocks * nm_file_block_bytes(f, f->block) +
	       (rest ? nm_file_block_bytes(f, rest) : 0);
}

int nm_level_find(struct nm_level *level, const char *name)
{
	static const char *const names[] = {"scalar", "avx2", "avx512"};
	int i;

	_Static_assert((int)TRIB_NM__MAX == (int)TRIB_CODEC__MAX, "levels have one number");
	*level = (struct nm_level){trib_nm_best(), trib_codec_best()};
	if (!name)
		return 0;
	for (i = 0; i < TRIB_NM__MAX; i++)
		if (!strcmp(names[i], name))
			break;
	if (i == TRIB_NM__MAX)
		return -EINVAL;
	level->nm = trib_nm_get((enum trib_nm_level)i);
	level->codec = trib_codec_get((enum trib_codec_level)i);
	return level->nm && level->codec ? 0 : -EOPNOTSUPP;
}
