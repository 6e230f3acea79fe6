// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compression on the GPU against the scalar level, bit by bit: every N:M, format,
 * length and kind of values, rows of any size. Built twice: for libtrib-gpu.so, and
 * for the emulated GPU, whose areas end at memory that traps.
 */
#include <errno.h>

#include "kernels/gpu/gpu.h"
#include "tests/unit/kernels/nm/nm_rig.h"

#define ROWS_MAX (RIG_MAX / 32 + 1)

static const struct trib_gpu_ops *gpu;
static const struct trib_nm_ops *host = &trib_nm_scalar;
static void *stream;
static struct rig r;
static struct call c; /* the scalar level's memory */
static size_t row;

/* Device memory of a trial. */
static struct {
	void *x, *out;
	float *residual, *next, *packed, *back;
	uint32_t *mask, *amax, *wrong;
	uint64_t *words, *index;
	int32_t *scales;
} d;

static size_t mask_len(void)
{
	return 4 * trib_nm_mask_words(r.spec, r.count);
}

static size_t row_count(void)
{
	return (r.count + row - 1) / row;
}

static void *device(const void *from, size_t len)
{
	void *p = gpu->memory_new(len);

	if (!p) {
		printf("Bail out! no device memory: %s\n", gpu->error_text());
		exit(1);
	}
	if (from)
		expect_eq(gpu->copy(p, from, len, stream), 0);
	return p;
}

static bool same(const void *device, const void *want, size_t len)
{
	static unsigned char got[RIG_MAX * 8 + 4096];

	expect_eq(gpu->copy(got, device, len, stream), 0);
	expect_eq(gpu->wait(stream), 0);
	return !memcmp(got, want, len);
}

static void devices_make(size_t words)
{
	rig_call(&c, &r, 0);
	memcpy(c.mask, r.mask, mask_len());
	d.x = device(r.x, r.count * r.size);
	d.out = device(NULL, r.count * r.size);
	d.residual = r.feedback ? device(r.residual, 4 * r.count) : NULL;
	d.next = device(NULL, 4 * r.count);
	d.packed = device(NULL, 4 * r.npacked);
	d.back = device(NULL, 4 * r.npacked);
	d.mask = device(r.mask, mask_len());
	d.amax = device(NULL, 4 * row_count());
	d.wrong = device(NULL, 4);
	d.index = device(NULL, 8);
	d.words = device(NULL, 8 * words * row_count());
	d.scales = device(NULL, 4 * row_count());
}

static void devices_free(void)
{
	void *all[] = {d.x,    d.out,  d.residual, d.next,  d.packed, d.back,
		       d.mask, d.amax, d.wrong,	   d.index, d.words,  d.scales};
	unsigned int i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i])
			gpu->memory_free(all[i]);
}

static struct trib_nm_range device_range(void)
{
	return (struct trib_nm_range){d.x, d.residual, r.count, r.fmt, r.spec};
}

/* The host's range of row @k, and its part of the mask. */
static struct trib_nm_range row_range(size_t k, const unsigned char **mask)
{
	struct trib_nm_range g = c.range;

	g.x = c.x + k * row * r.size;
	g.residual = r.feedback ? c.residual + k * row : NULL;
	g.count = r.count - k * row < row ? r.count - k * row : row;
	*mask = r.spec.group == 1 ? NULL : c.mask + k * row / 8;
	return g;
}

static bool amax_right(bool selected)
{
	const unsigned char *mask;
	uint32_t want[ROWS_MAX];
	struct trib_nm_range g;
	size_t k;

	for (k = 0; k < row_count(); k++) {
		g = row_range(k, &mask);
		want[k] = host->amax(&g, selected ? mask : NULL);
	}
	return same(d.amax, want, 4 * row_count());
}

static uint32_t *device_mask(void)
{
	return r.spec.group == 1 ? NULL : d.mask;
}

static void any_row(void)
{
	row = 32 * (1 + rnd() % (rnd() & 1 ? 4 : 40));
	if (rnd() % 4 == 0)
		row = 128 * (1 + rnd() % 8);
}

/* r.mask is the gradient's own; r.packed its values. */
static void floats_right(void)
{
	struct trib_nm_range g;
	uint32_t one = 7;

	any_row();
	devices_make(8);
	g = device_range();
	expect_eq(gpu->copy(d.wrong, &one, 4, stream), 0);
	expect_eq(gpu->select(device_mask(), d.amax, &g, row, stream), 0);
	expect(same(d.mask, r.mask, mask_len()) && amax_right(false));
	expect(!r.feedback || same(d.residual, r.residual, 4 * r.count));
	expect_eq(gpu->check(d.wrong, device_mask(), r.count, r.spec, stream), 0);
	one = 0;
	expect(same(d.wrong, &one, 4));
	expect_eq(gpu->select_pack(device_mask(), d.packed, d.next, d.amax, &g, row, stream), 0);
	expect(same(d.mask, r.mask, mask_len()) && amax_right(false));
	host->pack(c.packed, &c.range, r.spec.group == 1 ? NULL : c.mask);
	expect(same(d.packed, r.packed, 4 * r.npacked));
	expect(!r.feedback || same(d.next, c.residual, 4 * r.count));
	expect(!r.feedback || same(d.residual, r.residual, 4 * r.count));
	devices_free();
}

/* The same with a mask that came from elsewhere. */
static void shared_right(void)
{
	unsigned int divide = rnd() & 1 ? 1 : 1 + (unsigned int)(rnd() % 1024);
	struct trib_nm_range g;
	uint64_t none = ~0ULL;

	rig_share(&r);
	any_row();
	devices_make(8);
	g = device_range();
	expect_eq(gpu->amax(d.amax, &g, device_mask(), row, stream), 0);
	expect(amax_right(true));
	expect_eq(gpu->first_bad(d.index, &g, stream), 0);
	expect(same(d.index, &none, 8));
	expect_eq(gpu->pack(d.packed, &g, device_mask(), stream), 0);
	host->pack(c.packed, &c.range, r.spec.group == 1 ? NULL : c.mask);
	expect(same(d.packed, r.packed, 4 * r.npacked));
	expect(!r.feedback || same(d.residual, c.residual, 4 * r.count));
	expect_eq(
		gpu->expand(d.out, r.fmt, r.count, r.spec, device_mask(), d.packed, divide, stream),
		0);
	host->expand(c.x, r.fmt, r.count, r.spec.group == 1 ? NULL : c.mask, c.packed, divide);
	expect(same(d.out, c.x, r.count * r.size));
	devices_free();
}

static struct trib_gpu_rows rows;
static int32_t scales[ROWS_MAX];

static void make_rows(void)
{
	unsigned int bits = 4u << rnd() % 3, world = 1 + (unsigned int)(rnd() % 1024);
	size_t lanes, k;

	rows.values = row;
	rows.chunk = (struct trib_nm_chunk){.seed = rnd(),
					    .step = rnd(),
					    .index = rnd() % 3 ? rnd() % 100000 * 32
							       : (1ULL << 32) - rnd() % RIG_MAX,
					    .bits = (uint8_t)bits,
					    .lane_bits = (uint8_t)trib_nm_lane_bits(bits, world)};
	lanes = 64 / rows.chunk.lane_bits;
	rows.chunk.words = (trib_nm_packed(r.spec, row) / lanes / 8 + 1 + rnd() % 3) * 8;
	for (k = 0; k < row_count(); k++) {
		scales[k] = (int32_t)(rnd() % 20) - 20;
		if (rnd() % 4 == 0)
			scales[k] = (int32_t)(rnd() % 270) - 163;
	}
}

/* Pack row by row on the host. */
static void pack_rows(uint64_t *words)
{
	const unsigned char *mask;
	struct trib_nm_chunk chunk;
	struct trib_nm_range g;
	size_t k;

	for (k = 0; k < row_count(); k++) {
		g = row_range(k, &mask);
		chunk = rows.chunk;
		chunk.index += k * row;
		chunk.scale = scales[k];
		host->pack_lanes(words + k * chunk.words, &g, mask, &chunk);
	}
}

static void unpack_rows(float *packed, const uint64_t *words, unsigned int divide)
{
	struct trib_nm_chunk chunk = rows.chunk;
	size_t each = trib_nm_packed(r.spec, row), k, n;

	for (k = 0; k < row_count(); k++) {
		n = r.npacked - k * each < each ? r.npacked - k * each : each;
		chunk.scale = scales[k];
		host->unpack_lanes(packed + k * each, words + k * chunk.words, n, &chunk, divide);
	}
}

static void lanes_right(void)
{
	static uint64_t words[RIG_MAX * 4 + 2048];
	unsigned int divide = rnd() & 1 ? 1 : 1 + (unsigned int)(rnd() % 1024);
	static float packed[RIG_MAX];
	struct trib_nm_range g;
	size_t total;

	any_row();
	make_rows();
	total = rows.chunk.words * row_count();
	if (total * 8 > RIG_MAX * 8)
		return;
	devices_make(rows.chunk.words);
	g = device_range();
	rows.scales = d.scales;
	expect_eq(gpu->copy(d.scales, scales, 4 * row_count(), stream), 0);
	expect_eq(gpu->pack_lanes(d.words, &g, device_mask(), &rows, stream), 0);
	pack_rows(words);
	expect(same(d.words, words, 8 * total));
	expect(!r.feedback || same(d.residual, c.residual, 4 * r.count));
	expect_eq(gpu->unpack_lanes(d.back, d.words, r.count, r.spec, &rows, divide, stream), 0);
	unpack_rows(packed, words, divide);
	expect(same(d.back, packed, 4 * r.npacked));
	devices_free();
}

static void floats__every_group_gives_the_scalar_level_s_bits(void)
{
	unsigned int group, kept, i;

	for (group = 1; group <= 32; group *= 2)
		for (kept = 1; kept < group || kept == 1; kept++)
			for (i = 0; i < 3 && !tap_bad; i++) {
				rig_make(&r, rig_group(group, kept), rig_any_count());
				floats_right();
				shared_right();
				if (tap_bad)
					rig_print("floats", gpu->name, &r);
			}
}

static void lanes__every_group_gives_the_scalar_level_s_bits(void)
{
	unsigned int group, kept, i;

	for (group = 1; group <= 32; group *= 2)
		for (kept = 1; kept < group || kept == 1; kept++)
			for (i = 0; i < 6 && !tap_bad; i++) {
				rig_make(&r, rig_group(group, kept), rig_any_count());
				lanes_right();
				if (tap_bad)
					rig_print("lanes", gpu->name, &r);
			}
}

static void all__many_values_give_the_scalar_level_s_bits(void)
{
	size_t left = rig_budget(200000);

	while (left && !tap_bad) {
		rig_make(&r, rig_any_spec(), rig_any_count());
		floats_right();
		lanes_right();
		shared_right();
		left -= left < r.count ? left : r.count;
		if (tap_bad)
			rig_print("all", gpu->name, &r);
	}
}

static void bad__values_are_seen_wherever_they_are(void)
{
	struct trib_nm_range g;
	uint64_t first;
	int i;

	for (i = 0; i < 150; i++) {
		rig_make(&r, rig_any_spec(), 1 + rig_any_count());
		first = rnd() % r.count;
		oracle_narrow((enum trib_fmt)r.fmt, r.x + first * r.size,
			      rnd() & 1 ? 0x7fc00000 : 0xff800000);
		if (r.count - first > 1)
			oracle_narrow((enum trib_fmt)r.fmt, r.x + (r.count - 1) * r.size,
				      0x7f800000);
		any_row();
		devices_make(8);
		g = device_range();
		expect_eq(gpu->first_bad(d.index, &g, stream), 0);
		expect(same(d.index, &first, 8));
		expect_eq(gpu->amax(d.amax, &g, device_mask(), row, stream), 0);
		expect(amax_right(true));
		expect_eq(
			gpu->select_pack(device_mask(), d.packed, d.next, d.amax, &g, row, stream),
			0);
		expect(amax_right(false));
		expect(!r.feedback || same(d.residual, r.residual, 4 * r.count));
		devices_free();
	}
}

static void check__refuses_wrong_bits(void)
{
	uint32_t mask[RIG_MAX / 32 + 1], want = 1;
	size_t bit;
	int i;

	for (i = 0; i < 300; i++) {
		do
			rig_make(&r, rig_any_spec(), 1 + rig_any_count());
		while (r.spec.group == 1);
		row = 32;
		devices_make(8);
		memcpy(mask, r.mask, sizeof(mask));
		bit = rnd() % (8 * mask_len());
		mask[bit / 32] ^= 1u << bit % 32;
		expect_eq(gpu->copy(d.mask, mask, mask_len(), stream), 0);
		expect_eq(gpu->check(d.wrong, d.mask, r.count, r.spec, stream), 0);
		expect(same(d.wrong, &want, 4));
		devices_free();
	}
}

/* A peer's mask and values are restored and added, in float. */
static void add_peer__adds_where_the_mask_has_bits(void)
{
	static float sum[RIG_MAX];
	size_t i, n;
	int round;

	for (round = 0; round < 300; round++) {
		rig_make(&r, rig_any_spec(), rig_any_count());
		row = 32;
		devices_make(8);
		for (i = n = 0; i < r.count; i++) {
			sum[i] = float_of(rig_float(BELL));
			memcpy(r.x + 4 * i, &sum[i], 4);
			if (rig_sent(&r, i))
				sum[i] += float_of(r.packed[n++]);
		}
		gpu->memory_free(d.out);
		d.out = device(r.x, 4 * r.count);
		expect_eq(gpu->copy(d.packed, r.packed, 4 * r.npacked, stream), 0);
		expect_eq(gpu->add_peer(d.out, r.count, r.spec, device_mask(), d.packed, stream),
			  0);
		expect(same(d.out, sum, 4 * r.count));
		devices_free();
	}
}

/* Words for the chunk's values only, not for all that a row may have. */
static void lanes__of_a_single_short_chunk_fill_its_words(void)
{
	static float packed[RIG_MAX];
	uint64_t words[RIG_MAX];
	int i;

	for (i = 0; i < 300 && !tap_bad; i++) {
		struct trib_nm_range g;
		unsigned int lanes;

		rig_make(&r, rig_any_spec(), 1 + rnd() % 1000);
		row = 32 * (r.count / 32 + 1 + rnd() % 9);
		make_rows();
		lanes = 64 / rows.chunk.lane_bits;
		rows.chunk.words = ((r.npacked + lanes - 1) / lanes + 7) / 8 * 8;
		devices_make(rows.chunk.words);
		g = device_range();
		rows.scales = device(scales, 4);
		expect_eq(gpu->pack_lanes(d.words, &g, device_mask(), &rows, stream), 0);
		pack_rows(words);
		expect(same(d.words, words, 8 * rows.chunk.words));
		expect_eq(gpu->unpack_lanes(d.back, d.words, r.count, r.spec, &rows, 3, stream), 0);
		unpack_rows(packed, words, 3);
		expect(same(d.back, packed, 4 * r.npacked));
		gpu->memory_free((void *)rows.scales);
		devices_free();
	}
}

static void energy__has_the_cpu_s_bits(void)
{
	static const size_t counts[] = {1, 127, 128, 129, 4095, 4096, 4097, 3 * 4096 + 77};
	static float x[3][3 * 4096 + 77];
	double want[3], got[12], sum;
	unsigned int i, k, j;
	float *dev[3];
	double *sums;

	for (k = 0; k < 3; k++)
		for (i = 0; i < 3 * 4096 + 77; i++)
			x[k][i] = float_of(rig_float(BELL));
	sums = device(NULL, sizeof(got));
	for (k = 0; k < 3; k++)
		dev[k] = device(x[k], sizeof(x[k]));
	for (i = 0; i < 16; i++) {
		bool all = i < 8;
		struct trib_nm_range g = {x[0], all ? x[1] : NULL, counts[i % 8], TRIB_FMT_F32,
					  rig_group(4, 2)};

		trib_nm_energy(want, &g, all ? x[2] : NULL);
		g.x = dev[0];
		g.residual = all ? dev[1] : NULL;
		expect_eq(gpu->energy(sums, &g, all ? dev[2] : NULL, stream), 0);
		expect_eq(gpu->copy(got, sums, (g.count + 4095) / 4096 * 24, stream), 0);
		expect_eq(gpu->wait(stream), 0);
		for (k = 0; k < 3; k++) {
			for (sum = 0, j = 0; j * 4096 < g.count; j++)
				sum += got[3 * j + k];
			expect(sum == want[k]);
		}
	}
	for (k = 0; k < 3; k++)
		gpu->memory_free(dev[k]);
	gpu->memory_free(sums);
}

static void wrong__arguments_are_refused(void)
{
	struct trib_nm_range g;

	rig_make(&r, rig_group(4, 2), 640);
	row = 320;
	devices_make(8);
	make_rows();
	rows.scales = d.scales;
	g = device_range();
	expect_eq(gpu->select(d.mask, d.amax, &g, 33, stream), -EINVAL);
	expect_eq(gpu->select(d.mask, d.amax, &g, 0, stream), -EINVAL);
	g.fmt = TRIB_FMT_I32;
	expect_eq(gpu->pack(d.packed, &g, d.mask, stream), -EINVAL);
	g = device_range();
	g.spec.kept = 4;
	expect_eq(gpu->pack(d.packed, &g, d.mask, stream), -EINVAL);
	g = device_range();
	rows.chunk.words = 8; /* too few for 160 values */
	rows.chunk.lane_bits = 26;
	expect_eq(gpu->pack_lanes(d.words, &g, d.mask, &rows, stream), -EINVAL);
	rows.chunk.words = TRIB_GPU_CHUNK_MAX;
	expect_eq(gpu->pack_lanes(d.words, &g, d.mask, &rows, stream), -EINVAL);
	devices_free();
}

static void find_gpu(void)
{
	char text[256];

#ifdef TRIB_GPU_EMULATED
	gpu = trib_gpu_library(TRIB_GPU_ABI);
#else
	gpu = trib_gpu_load("build/libtrib-gpu.so", text, sizeof(text));
	if (!gpu)
		tap_skip_all(text);
#endif
	if (gpu->describe(text, sizeof(text)))
		tap_skip_all(gpu->error_text());
	printf("# %s\n", text);
	if (gpu->stream_new(&stream))
		tap_skip_all(gpu->error_text());
}

/* With --find it only looks for a GPU: the exit status is 0, or 4. */
int main(int argc, char **argv)
{
	find_gpu();
	if (argc > 1 && !strcmp(argv[1], "--find"))
		return 0;
	rig_areas_make();
	run(floats__every_group_gives_the_scalar_level_s_bits);
	run(lanes__every_group_gives_the_scalar_level_s_bits);
	run(all__many_values_give_the_scalar_level_s_bits);
	run(bad__values_are_seen_wherever_they_are);
	run(check__refuses_wrong_bits);
	run(add_peer__adds_where_the_mask_has_bits);
	run(lanes__of_a_single_short_chunk_fill_its_words);
	run(energy__has_the_cpu_s_bits);
	run(wrong__arguments_are_refused);
	gpu->stream_free(stream);
	return tap_done();
}
