// SPDX-License-Identifier: BSD-2-Clause
/*
 * userspace/cli/codec: blocks of every spec, format and level there and back, against
 * values compressed one by one here; and heads and blocks that no writer writes.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "cli/codec/nm_file.h"
#include "cli/codec/nm_stats.h"
#include "kernels/half.h"
#include "tests/lib/tap.h"

#define VALUES 1003
#define BLOCK 256

static const uint32_t fmts[] = {TRIB_FMT_F32, TRIB_FMT_F16, TRIB_FMT_BF16};
static const char *const specs[] = {"dense",	 "1:2",	     "2:4",	 "3:8",	      "5:16",
				    "1:32",	 "31:32",    "int16",	 "int8",      "int4",
				    "2:4+int16", "2:4+int8", "2:4+int4", "1:32+int4", "7:8+int8"};

#define NSPECS (sizeof(specs) / sizeof(specs[0]))

static float x[VALUES];
static unsigned char raw[VALUES * 4], back[VALUES * 4], file[VALUES * 8 + NM_FILE_HEAD];

/* Values of very different sizes, also equal ones and zeros, exact in @fmt. */
static void make(uint32_t fmt)
{
	uint32_t s = 12345, b;
	int i;

	for (i = 0; i < VALUES; i++) {
		s = s * 1664525 + 1013904223;
		x[i] = (float)((int32_t)s >> 20) * ldexpf(1, -(int)(s >> 3 & 7));
		memcpy(&b, &x[i], 4);
		if (fmt == TRIB_FMT_F16)
			b = trib_f16_to(trib_f16_of(b));
		else if (fmt == TRIB_FMT_BF16)
			b = trib_bf16_to(trib_bf16_of(b));
		memcpy(&x[i], &b, 4);
		if (fmt == TRIB_FMT_F32)
			memcpy(raw + 4 * i, &b, 4);
		else
			trib_half_put(raw, (size_t)i,
				      fmt == TRIB_FMT_F16 ? trib_f16_of(b) : trib_bf16_of(b));
	}
}

static float at(uint32_t fmt, const void *v, int i)
{
	uint32_t b;
	float f;

	memcpy(&b, (const char *)v + (fmt == TRIB_FMT_F32 ? 4 * i : 0), 4);
	if (fmt == TRIB_FMT_F16)
		b = trib_f16_to(trib_half_at(v, (size_t)i));
	else if (fmt == TRIB_FMT_BF16)
		b = trib_bf16_to(trib_half_at(v, (size_t)i));
	memcpy(&f, &b, 4);
	return f;
}

static struct nm_file file_of(const char *spec, uint32_t fmt)
{
	struct nm_file f = {.fmt = fmt, .block = BLOCK, .count = VALUES, .seed = 7};
	char why[160];

	expect(!trib_nm_parse(&f.spec, spec, strlen(spec), why, sizeof(why)));
	return f;
}

/* Return: bytes written to file[]. */
static size_t write_all(const struct nm_file *f, const struct nm_level *level)
{
	size_t len = NM_FILE_HEAD, n, i;
	struct nm_work w = {0};
	uint64_t bad;
	int64_t got;

	nm_file_head_write(file, f);
	expect(!nm_work_init(&w, f));
	for (i = 0; i < f->count; i += n) {
		n = f->count - i < f->block ? f->count - i : f->block;
		got = nm_block_write(f, level, &w, i, raw + i * nm_file_size(f->fmt), n, file + len,
				     &bad);
		expect_eq(got, nm_file_block_bytes(f, n));
		len += (size_t)got;
	}
	nm_work_free(&w);
	return len;
}

/* Read all of file[] into back[]. Return: 0, or what the first bad block gave. */
static int read_all(const struct nm_level *level, char *why)
{
	size_t len = NM_FILE_HEAD, n, i;
	struct nm_work w = {0};
	struct nm_file f;
	int rc;

	rc = nm_file_head_read(&f, file, NM_FILE_HEAD, why, 160);
	if (rc)
		return rc;
	expect(!nm_work_init(&w, &f));
	for (i = 0; !rc && i < f.count; i += n) {
		n = f.count - i < f.block ? f.count - i : f.block;
		rc = nm_block_read(&f, level, &w, i, back + i * nm_file_size(f.fmt), n, file + len,
				   why, 160);
		len += nm_file_block_bytes(&f, n);
	}
	nm_work_free(&w);
	return rc;
}

/* True if value @i is among the M largest of its group. */
static bool is_kept(struct trib_nm_spec s, int i)
{
	int first = i - i % s.group, end = first + s.group, larger = 0, k;

	for (k = first; k < end && k < VALUES; k++)
		larger += fabsf(x[k]) > fabsf(x[i]) || (fabsf(x[k]) == fabsf(x[i]) && k < i);
	return larger < s.kept;
}

/* The largest magnitude that is sent of a value's block. */
static float block_amax(struct trib_nm_spec s, int i)
{
	int first = i - i % BLOCK, k;
	float most = 0;

	for (k = first; k < first + BLOCK && k < VALUES; k++)
		if (is_kept(s, k))
			most = fmaxf(most, fabsf(x[k]));
	return most;
}

static void compare(const struct nm_file *f)
{
	float got, unit;
	int i, e;

	for (i = 0; i < VALUES; i++) {
		got = at(f->fmt, back, i);
		if (!is_kept(f->spec, i)) {
			expect(got == 0);
			continue;
		}
		if (!f->spec.bits) {
			expect(got == x[i]);
			continue;
		}
		frexpf(block_amax(f->spec, i), &e);
		unit = ldexpf(1, e - (f->spec.bits - 1));
		/* Rounding to integers, then to the file's format. */
		expect(fabsf(got - x[i]) <= unit + fabsf(x[i]) * 0x1p-8f);
	}
}

static void codec__every_spec_comes_back_on_every_level(void)
{
	static const char *const names[] = {"scalar", "avx2", "avx512"};
	static unsigned char first[sizeof(file)];
	struct nm_level level;
	struct nm_file f;
	size_t k, s, l, len;
	char why[160];

	for (k = 0; k < 3; k++) {
		make(fmts[k]);
		for (s = 0; s < NSPECS; s++) {
			f = file_of(specs[s], fmts[k]);
			for (l = 0; l < 3; l++) {
				if (nm_level_find(&level, names[l]))
					continue;
				len = write_all(&f, &level);
				expect_eq(len, nm_file_bytes(&f));
				if (!l)
					memcpy(first, file, len);
				expect(!memcmp(first, file, len));
				expect_eq(read_all(&level, why), 0);
				compare(&f);
			}
		}
	}
}

static void codec__sizes_are_those_of_the_format(void)
{
	struct nm_file f = file_of("2:4+int8", TRIB_FMT_F32);

	/* 128 values in 16 words; 118 of 235 fill 15, rounded up to 16. */
	expect_eq(nm_file_block_bytes(&f, BLOCK), 4 + 32 + 128);
	expect_eq(nm_file_block_bytes(&f, 235), 4 + 32 + 128);
	f = file_of("2:4", TRIB_FMT_BF16);
	expect_eq(nm_file_block_bytes(&f, BLOCK), 32 + 256);
	f = file_of("dense", TRIB_FMT_F16);
	expect_eq(nm_file_bytes(&f), NM_FILE_HEAD + 2 * VALUES);
	f.count = 0;
	expect_eq(nm_file_bytes(&f), NM_FILE_HEAD);
	f = file_of("1:32+int4", TRIB_FMT_F32);
	f.count = NM_FILE_VALUES_MAX;
	f.block = 32;
	expect(nm_file_bytes(&f) == NM_FILE_HEAD + NM_FILE_VALUES_MAX / 32 * (4 + 4 + 64));
}

static void codec__values_that_are_not_finite_are_refused(void)
{
	static const uint32_t bad_bits[] = {0x7f800000, 0xff800000, 0x7fc00000};
	struct nm_file f = file_of("2:4+int8", TRIB_FMT_F32);
	struct nm_work w = {0};
	struct nm_level level;
	uint64_t bad = 0;
	size_t i;

	nm_level_find(&level, NULL);
	expect(!nm_work_init(&w, &f));
	for (i = 0; i < 3; i++) {
		make(f.fmt);
		memcpy(raw + 4 * (77 + i), &bad_bits[i], 4);
		expect_eq(nm_block_write(&f, &level, &w, 512, raw, BLOCK, file, &bad), -EDOM);
		expect_eq(bad, 512 + 77 + i);
	}
	nm_work_free(&w);
}

/* Change a byte of a good file's head. */
static void head(size_t offset, uint8_t to, const char *want)
{
	struct nm_file f = file_of("2:4+int8", TRIB_FMT_F32);
	char why[160] = "";

	nm_file_head_write(file, &f);
	file[offset] = to;
	expect_eq(nm_file_head_read(&f, file, NM_FILE_HEAD, why, sizeof(why)), -EINVAL);
	if (!expect(strstr(why, want) != NULL))
		printf("# %s\n", why);
}

static void codec__wrong_heads_are_refused(void)
{
	struct nm_file f = file_of("2:4", TRIB_FMT_F32);
	char why[160];

	head(0, 0x8f, "is no file of trib codec");
	head(7, '\r', "is no file of trib codec");
	head(8, 2, "version 2");
	head(10, 0, "kind 0");
	head(10, 4, "kind 4");
	head(11, 3, "keeps 2 of every 3");
	head(11, 64, "keeps 2 of every 64");
	head(12, 0, "keeps 0 of every 4");
	head(12, 4, "keeps 4 of every 4");
	head(13, 5, "in 5 bits");
	head(14, 1, "unknown fields");
	head(22, 1, "unknown fields");
	head(16, 1, "blocks of 257 values");
	head(17, 0, "blocks of 0 values");
	head(19, 1, "blocks of");
	head(30, 1, "values: at most 2^40");
	nm_file_head_write(file, &f);
	expect_eq(nm_file_head_read(&f, file, NM_FILE_HEAD - 1, why, sizeof(why)), -EINVAL);
	expect(strstr(why, "within its head") != NULL);
	expect_eq(nm_file_head_read(&f, file, 0, why, sizeof(why)), -EINVAL);
}

/* Change a byte of a good file, behind the head. */
static void bend(const char *spec, uint32_t fmt, size_t offset, uint8_t xor, const char *want)
{
	struct nm_file f = file_of(spec, fmt);
	struct nm_level level;
	char why[160] = "";

	nm_level_find(&level, NULL);
	make(fmt);
	write_all(&f, &level);
	expect_eq(read_all(&level, why), 0);
	file[NM_FILE_HEAD + offset] ^= xor;
	expect_eq(read_all(&level, why), -EINVAL);
	if (!expect(strstr(why, want) != NULL))
		printf("# %s\n", why);
}

static void codec__wrong_blocks_are_refused(void)
{
	size_t last = 3 * (4 + 32 + 128) + 4;

	bend("2:4+int8", TRIB_FMT_F32, 4, 1,
	     "values 0 to 255: a mask does not select 2 of every 4");
	bend("2:4+int8", TRIB_FMT_F32, last + 31, 0x80, "values 768 to 1002: a mask");
	bend("2:4+int8", TRIB_FMT_F32, 1, 0x40, "exponent");
	bend("int8", TRIB_FMT_F32, 3, 0x80, "exponent -");
	bend("2:4", TRIB_FMT_F32, 0, 2, "a mask");
}

/* Set some bytes behind the head of a good file to one value. */
static void fill(const char *spec, uint32_t fmt, size_t offset, uint8_t byte, const char *want)
{
	struct nm_file f = file_of(spec, fmt);
	struct nm_level level;
	char why[160] = "";

	nm_level_find(&level, NULL);
	make(fmt);
	write_all(&f, &level);
	memset(file + NM_FILE_HEAD + offset, byte, 8);
	expect_eq(read_all(&level, why), -EINVAL);
	if (!expect(strstr(why, want) != NULL))
		printf("# %s\n", why);
}

static void codec__values_that_no_writer_writes_are_refused(void)
{
	fill("dense", TRIB_FMT_F16, 6, 0x7f, "value 3 is not finite");
	fill("2:4", TRIB_FMT_F32, 32, 0xff, "is not finite");
	/* The one integer that no value is rounded to. */
	fill("int8", TRIB_FMT_F32, 4, 0x80, "beyond their exponent");
}

static void codec__stats_are_sums_of_squares(void)
{
	static const float was[4] = {3, 4, -1, 0}, is[4] = {3, 0, -1, 0};
	struct nm_stats s = {0};

	expect(nm_stats_kept(&s) == 1);
	nm_stats_add(&s, TRIB_FMT_F32, was, is, 4);
	expect(s.energy == 26 && s.lost == 16 && s.largest == 4);
	expect(fabs(nm_stats_kept(&s) - 10. / 26) < 1e-12);
}

int main(void)
{
	run(codec__every_spec_comes_back_on_every_level);
	run(codec__sizes_are_those_of_the_format);
	run(codec__values_that_are_not_finite_are_refused);
	run(codec__wrong_heads_are_refused);
	run(codec__wrong_blocks_are_refused);
	run(codec__values_that_no_writer_writes_are_refused);
	run(codec__stats_are_sums_of_squares);
	return tap_done();
}
