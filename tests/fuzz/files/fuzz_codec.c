// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files of compressed floats: userspace/cli/codec. The input's first byte selects a
 * level and where a good file is bent; the rest is a file.
 *
 * An error has one line. An accepted file has the size that its head says, and finite
 * values; they are the same on every level; and compressed once more, by the same
 * spec, they come back as they are.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/codec/nm_file.h"
#include "cli/codec/nm_stats.h"

/* Larger blocks only take time. */
#define BLOCK_MOST 4096

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "codec: %s\n", what);
	abort();
}

static void one_line(const char *why)
{
	must(*why && strlen(why) < 159, "an error without text, or with too much");
	for (; *why; why++)
		must(*why >= ' ', "an error with control characters");
}

static struct nm_level level_of(unsigned int i)
{
	static const char *const names[] = {"scalar", "avx2", "avx512"};
	struct nm_level level;

	if (nm_level_find(&level, names[i % 3]))
		nm_level_find(&level, NULL);
	return level;
}

/* A block that came back is compressed and expanded again. */
static void again(const struct nm_file *f, const struct nm_level *level, struct nm_work *w,
		  uint64_t at, const void *x, size_t n)
{
	size_t len = nm_file_block_bytes(f, n);
	void *block = malloc(len), *y = malloc(n * nm_file_size(f->fmt));
	struct nm_stats s = {0};
	char why[160];
	uint64_t bad;

	must(nm_block_write(f, level, w, at, x, n, block, &bad) == (int64_t)len,
	     "an accepted block cannot be compressed");
	must(!nm_block_read(f, level, w, at, y, n, block, why, sizeof(why)), why);
	nm_stats_add(&s, f->fmt, x, y, n);
	must(s.largest == 0, "values change when they are compressed again");
	free(block);
	free(y);
}

/* Return: false if the block is refused. */
static bool block(const struct nm_file *f, struct nm_level level, uint64_t at, size_t n,
		  const uint8_t *from)
{
	size_t len = nm_file_block_bytes(f, n), floats = n * nm_file_size(f->fmt);
	/* Exactly as large as the block, so that reading behind it is seen. */
	void *in = malloc(len), *x = malloc(floats), *y = malloc(floats);
	struct nm_level other = level_of(0);
	struct nm_work w = {0};
	char why[160] = "", why2[160];
	int rc;

	must(!nm_work_init(&w, f), "memory");
	memcpy(in, from, len);
	rc = nm_block_read(f, &level, &w, at, x, n, in, why, sizeof(why));
	must(rc == nm_block_read(f, &other, &w, at, y, n, in, why2, sizeof(why2)),
	     "levels do not agree");
	if (rc) {
		one_line(why);
		must(!strcmp(why, why2), "levels give different reasons");
	} else {
		must(!memcmp(x, y, floats), "levels give different values");
		again(f, &level, &w, at, x, n);
	}
	nm_work_free(&w);
	free(in);
	free(x);
	free(y);
	return !rc;
}

/* Make a good file of the input's floats, with one byte changed. */
static size_t make(const uint8_t *data, size_t size, uint8_t *to, size_t room)
{
	static const uint32_t fmts[] = {TRIB_FMT_F32, TRIB_FMT_F16, TRIB_FMT_BF16};
	static const uint8_t bits[] = {0, 16, 8, 4};
	struct nm_file f = {.block = 32, .spec = {.group = 1, .kept = 1}};
	struct nm_level level = level_of(data[0]);
	struct nm_work w = {0};
	uint64_t at, bad;
	int64_t len = NM_FILE_HEAD, n;

	f.fmt = fmts[data[1] % 3];
	f.spec.bits = bits[data[1] / 3 % 4];
	f.spec.group = (uint8_t)(1 << data[2] % 6);
	f.spec.kept = (uint8_t)(f.spec.group == 1 ? 1 : 1 + data[3] % (f.spec.group - 1));
	f.count = (size - 8) / nm_file_size(f.fmt);
	if (nm_file_bytes(&f) > room)
		return 0;
	nm_file_head_write(to, &f);
	must(!nm_work_init(&w, &f), "memory");
	for (at = 0; len > 0 && at < f.count; at += f.block) {
		n = nm_block_write(&f, &level, &w, at, data + 8 + at * nm_file_size(f.fmt),
				   f.count - at < f.block ? f.count - at : f.block, to + len, &bad);
		len = n < 0 ? 0 : len + n;
		must(n >= 0 || bad < f.count, "no value is that bad one");
	}
	nm_work_free(&w);
	if (len)
		to[(data[4] << 8 | data[5]) % len] ^= data[6];
	return (size_t)len;
}

static void read_file(const uint8_t *data, size_t size, struct nm_level level)
{
	const uint8_t *at = data + NM_FILE_HEAD;
	struct nm_file f;
	char why[160] = "";
	uint64_t i;
	size_t n;

	if (nm_file_head_read(&f, data, size, why, sizeof(why))) {
		one_line(why);
		return;
	}
	if (f.block > BLOCK_MOST || nm_file_bytes(&f) != size)
		return;
	for (i = 0; i < f.count; i += f.block) {
		n = f.count - i < f.block ? f.count - i : f.block;
		if (!block(&f, level, i, n, at))
			return;
		at += nm_file_block_bytes(&f, n);
	}
	must(at == data + size, "the file is longer than its blocks");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t made[16384];

	if (size < 9)
		return 0;
	if (data[0] & 0x80)
		read_file(made, make(data, size, made, sizeof(made)), level_of(data[0]));
	else
		read_file(data + 1, size - 1, level_of(data[0]));
	return 0;
}
