// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whole gradients of millions of values on the GPU against the CPU's best level, bit
 * by bit, until 10^8 values are compared. Other tests compare that level with the
 * scalar one.
 *
 *	bulk [MILLIONS]		default: 100
 */
#include "kernels/gpu/gpu.h"
#include "tests/unit/kernels/nm/nm_rig.h"

#define MOST ((size_t)1 << 22) /* values of a gradient */
#define ROW 1024	       /* values of a chunk, and of a row of amax */
#define ROWS (MOST / ROW)
#define BLOCK 4096 /* values of one kind */

static const struct trib_gpu_ops *gpu;
static const struct trib_nm_ops *host;
static void *stream;
static struct trib_nm_range range; /* of the host's gradient */
static unsigned int size;
static size_t npacked;

/* The host's memory, and what it makes of it. */
static unsigned char x[MOST * 4], out[MOST * 4];
static float first[MOST], residual[MOST], packed[MOST];
static uint32_t mask[MOST / 32], amax[ROWS];
static uint64_t words[MOST];
static int32_t scales[ROWS];

/* The same on the GPU. */
static struct {
	unsigned char *x, *out;
	float *residual, *packed;
	uint32_t *mask, *amax;
	uint64_t *words;
	int32_t *scales;
} d;

static void *device(size_t len)
{
	void *p = gpu->memory_new(len);

	if (!p) {
		printf("Bail out! no memory of the GPU: %s\n", gpu->error_text());
		exit(1);
	}
	return p;
}

static void make_devices(void)
{
	d.x = device(sizeof(x));
	d.out = device(sizeof(out));
	d.residual = device(sizeof(residual));
	d.packed = device(sizeof(packed));
	d.mask = device(sizeof(mask));
	d.amax = device(sizeof(amax));
	d.words = device(sizeof(words));
	d.scales = device(sizeof(scales));
}

static bool same(const void *device, const void *want, size_t len)
{
	static unsigned char got[sizeof(words)];

	expect_eq(gpu->copy(got, device, len, stream), 0);
	expect_eq(gpu->wait(stream), 0);
	return !memcmp(got, want, len);
}

/* A value whose sum with its residual is finite. */
static void make_value(size_t i, enum rig_kind kind, enum rig_kind both)
{
	uint32_t b, acc;

	do {
		b = rig_float(kind);
		if (range.fmt == TRIB_FMT_F16 && kind == HUGE_ONES)
			b -= 0x37000000; /* up to the largest half float */
		oracle_narrow((enum trib_fmt)range.fmt, x + i * size, b);
		b = oracle_widen((enum trib_fmt)range.fmt, x + i * size);
		first[i] = range.residual ? float_of(rig_float(both)) : 0;
		acc = float_bits((float)((double)float_of(b) + (double)first[i]));
	} while (!rig_finite(b) || !rig_finite(acc));
}

static void make_gradient(void)
{
	enum rig_kind kind = ANY, both = ANY;
	size_t i;

	range.spec = rig_any_spec();
	range.fmt = rig_fmts[rnd() % 3];
	range.residual = rnd() % 4 ? residual : NULL;
	range.count = MOST - rnd() % 5000;
	range.x = x;
	size = range.fmt == TRIB_FMT_F32 ? 4 : 2;
	for (i = 0; i < range.count; i++) {
		if (i % BLOCK == 0) {
			kind = (enum rig_kind)(rnd() % RIG_KINDS);
			both = rnd() % 3 ? kind : ANY;
		}
		make_value(i, kind, both);
	}
	npacked = trib_nm_packed(range.spec, range.count);
}

static uint32_t *mask_or_none(uint32_t *of)
{
	return range.spec.group == 1 ? NULL : of;
}

/* Both sides begin with the residual @first. Return: the GPU's range. */
static struct trib_nm_range begin(void)
{
	struct trib_nm_range g = range;

	memcpy(residual, first, sizeof(residual));
	expect_eq(gpu->copy(d.residual, first, 4 * range.count, stream), 0);
	g.x = d.x;
	g.residual = range.residual ? d.residual : NULL;
	return g;
}

/* Row @k of the host's gradient. */
static struct trib_nm_range row_of(size_t k)
{
	struct trib_nm_range g = range;

	g.x = x + k * ROW * size;
	g.residual = range.residual ? residual + k * ROW : NULL;
	g.count = range.count - k * ROW < ROW ? range.count - k * ROW : ROW;
	return g;
}

static size_t row_count(void)
{
	return (range.count + ROW - 1) / ROW;
}

static void floats_right(void)
{
	struct trib_nm_range g = begin(), part;
	size_t k;

	expect_eq(gpu->select_pack(mask_or_none(d.mask), d.packed, g.residual, d.amax, &g, ROW,
				   stream),
		  0);
	for (k = 0; k < row_count(); k++) {
		part = row_of(k);
		amax[k] = host->select_pack(mask_or_none(mask + k * ROW / 32),
					    packed + trib_nm_packed(range.spec, k * ROW), &part);
	}
	expect(range.spec.group == 1 ||
	       same(d.mask, mask, 4 * trib_nm_mask_words(range.spec, range.count)));
	expect(same(d.packed, packed, 4 * npacked));
	expect(same(d.amax, amax, 4 * row_count()));
	expect(!range.residual || same(d.residual, residual, 4 * range.count));
}

/* After floats_right(): its mask and packed values. */
static void expand_right(void)
{
	unsigned int divide = 1 + (unsigned int)(rnd() % 8);
	struct trib_nm_range part;
	size_t k;

	expect_eq(gpu->expand(d.out, range.fmt, range.count, range.spec, mask_or_none(d.mask),
			      d.packed, divide, stream),
		  0);
	for (k = 0; k < row_count(); k++) {
		part = row_of(k);
		host->expand(out + k * ROW * size, range.fmt, part.count,
			     mask_or_none(mask + k * ROW / 32),
			     packed + trib_nm_packed(range.spec, k * ROW), divide);
	}
	expect(same(d.out, out, range.count * size));
}

static void lanes_right(void)
{
	unsigned int bits = 4u << rnd() % 3, divide = 1 + (unsigned int)(rnd() % 8);
	unsigned int lane_bits = trib_nm_lane_bits(bits, divide);
	size_t each = trib_nm_packed(range.spec, ROW), k;
	struct trib_nm_chunk c = {.seed = rnd(),
				  .step = rnd(),
				  .index = rnd() << 5,
				  .words = (each / (64 / lane_bits) / 8 + 1) * 8,
				  .bits = (uint8_t)bits,
				  .lane_bits = (uint8_t)lane_bits};
	struct trib_gpu_rows rows = {.values = ROW, .scales = d.scales, .chunk = c};
	struct trib_nm_range g = begin(), part;

	for (k = 0; k < row_count(); k++)
		scales[k] = (int32_t)(rnd() % 60) - 50;
	expect_eq(gpu->copy(d.scales, scales, 4 * row_count(), stream), 0);
	expect_eq(gpu->pack_lanes(d.words, &g, mask_or_none(d.mask), &rows, stream), 0);
	expect_eq(gpu->unpack_lanes(d.packed, d.words, range.count, range.spec, &rows, divide,
				    stream),
		  0);
	for (k = 0; k < row_count(); k++) {
		part = row_of(k);
		c.index = rows.chunk.index + k * ROW;
		c.scale = scales[k];
		host->pack_lanes(words + k * c.words, &part, mask_or_none(mask + k * ROW / 32), &c);
		host->unpack_lanes(packed + k * each, words + k * c.words,
				   trib_nm_packed(range.spec, part.count), &c, divide);
	}
	expect(same(d.words, words, 8 * c.words * row_count()));
	expect(same(d.packed, packed, 4 * npacked));
	expect(!range.residual || same(d.residual, residual, 4 * range.count));
}

static size_t millions = 100;

static void bulk__gradients_have_the_cpu_s_bits(void)
{
	size_t left = millions * 1000000;

	while (left && !tap_bad) {
		make_gradient();
		expect_eq(gpu->copy(d.x, x, range.count * size, stream), 0);
		floats_right();
		expand_right();
		lanes_right();
		left -= left < range.count ? left : range.count;
		if (tap_bad)
			printf("# %u:%u count %zu format %u%s\n", range.spec.kept, range.spec.group,
			       range.count, range.fmt, range.residual ? " with residual" : "");
	}
}

int main(int argc, char **argv)
{
	char text[256];

	if (argc > 1)
		millions = strtoul(argv[1], NULL, 10);
	gpu = trib_gpu_load(getenv("TRIB_GPU_LIBRARY") ? NULL : "build/libtrib-gpu.so", text,
			    sizeof(text));
	if (!gpu)
		tap_skip_all(text);
	if (gpu->describe(text, sizeof(text)) || gpu->stream_new(&stream))
		tap_skip_all(gpu->error_text());
	host = trib_nm_best();
	printf("# %s, against %s\n", text, host->name);
	make_devices();
	run(bulk__gradients_have_the_cpu_s_bits);
	gpu->stream_free(stream);
	return tap_done();
}
