// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of bench-codec: each method on the gradients of several workers. The
 * gradients are synthetic: values of a bell curve times a scale; scales differ
 * by layer, and again by worker and layer, both log-normally.
 *
 * energy_*     share of the gradient's squared sum that arrives, the least of all
 *              workers: 1 - |x - received|^2 / |x|^2
 * bytes_*      bytes sent per value, mean of the workers
 * imbalance_*  the largest worker's message over the smallest's
 * encode_ns_*, decode_ns_*  nanoseconds a value, one core; ours add the residual,
 *              and store it
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "peers.h"
#include "kernels/nm/nm.h"

#define LAYER ((size_t)1 << 16)
#define CHUNK 1024 /* dense values of a packet's chunk */
#define ROUNDS 3

static float *residual; /* zeros before each encode */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double uniform(void)
{
	static uint64_t s = 88172645463325252ULL;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return ((double)(s >> 12) + 0.5) * 0x1p-52;
}

static double bell(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static void make_gradients(float *x[PEER_WORKERS])
{
	size_t layer, i;
	double scale, own;
	int w;

	for (layer = 0; layer < PEER_VALUES / LAYER; layer++) {
		scale = 1e-3 * exp(1.5 * bell());
		for (w = 0; w < PEER_WORKERS; w++) {
			own = scale * exp(0.5 * bell());
			for (i = 0; i < LAYER; i++)
				x[w][layer * LAYER + i] = (float)(own * bell());
		}
	}
}

static struct trib_nm_range range_of(const float *x, size_t at, struct trib_nm_spec spec)
{
	return (struct trib_nm_range){.x = x + at,
				      .residual = residual + at,
				      .count = CHUNK,
				      .fmt = TRIB_FMT_F32,
				      .spec = spec};
}

/* Mask, then floats, of each chunk. */
static size_t nm_encode(unsigned char *to, const float *x)
{
	struct trib_nm_spec spec = {.group = 4, .kept = 2};
	const struct trib_nm_ops *ops = trib_nm_best();
	unsigned char *at = to;
	struct trib_nm_range g;
	size_t i;

	for (i = 0; i < PEER_VALUES; i += CHUNK) {
		g = range_of(x, i, spec);
		ops->select_pack(at, at + CHUNK / 8, &g);
		at += CHUNK / 8 + CHUNK / 2 * 4;
	}
	return (size_t)(at - to);
}

static void nm_decode(float *x, const unsigned char *from, size_t len)
{
	const struct trib_nm_ops *ops = trib_nm_best();
	size_t i;

	for (i = 0; i < PEER_VALUES; i += CHUNK, from += CHUNK / 8 + CHUNK / 2 * 4)
		ops->expand(x + i, TRIB_FMT_F32, CHUNK, from, from + CHUNK / 8, 1);
	(void)len;
}

/* An exponent, the mask if there is one, and words, of each chunk. */
static struct trib_nm_chunk chunk_of(struct trib_nm_spec spec, int scale, size_t at)
{
	unsigned int r = trib_nm_lane_bits(spec.bits, PEER_WORKERS), lanes = 64 / r;

	return (struct trib_nm_chunk){.words = (trib_nm_packed(spec, CHUNK) + lanes * 8 - 1) /
					       (lanes * 8) * 8,
				      .scale = scale,
				      .bits = spec.bits,
				      .lane_bits = (uint8_t)r,
				      .index = at};
}

static size_t lanes_encode(unsigned char *to, const float *x, struct trib_nm_spec spec)
{
	size_t mask_len = 4 * trib_nm_mask_words(spec, CHUNK), i;
	const struct trib_nm_ops *ops = trib_nm_best();
	unsigned char *at = to, *mask;
	struct trib_nm_chunk chunk;
	struct trib_nm_range g;
	uint32_t amax;
	int32_t e;
	float f;

	for (i = 0; i < PEER_VALUES; i += CHUNK) {
		g = range_of(x, i, spec);
		mask = mask_len ? at + 4 : NULL;
		amax = ops->select(mask, &g);
		memcpy(&f, &amax, 4);
		frexpf(f, &e);
		chunk = chunk_of(spec, trib_nm_scale(e, spec.bits), i);
		memcpy(at, &e, 4);
		ops->pack_lanes(at + 4 + mask_len, &g, mask, &chunk);
		at += 4 + mask_len + 8 * chunk.words;
	}
	return (size_t)(at - to);
}

static void lanes_decode(float *x, const unsigned char *from, struct trib_nm_spec spec)
{
	size_t mask_len = 4 * trib_nm_mask_words(spec, CHUNK), i;
	const struct trib_nm_ops *ops = trib_nm_best();
	struct trib_nm_chunk chunk;
	float packed[CHUNK];
	int32_t e;

	for (i = 0; i < PEER_VALUES; i += CHUNK) {
		memcpy(&e, from, 4);
		chunk = chunk_of(spec, trib_nm_scale(e, spec.bits), i);
		ops->unpack_lanes(packed, from + 4 + mask_len, trib_nm_packed(spec, CHUNK), &chunk,
				  1);
		ops->expand(x + i, TRIB_FMT_F32, CHUNK, mask_len ? from + 4 : NULL, packed, 1);
		from += 4 + mask_len + 8 * chunk.words;
	}
}

#define LANES_PEER(name, label, ...)                                                               \
	static size_t name##_encode(unsigned char *to, const float *x)                             \
	{                                                                                          \
		return lanes_encode(to, x, (struct trib_nm_spec){__VA_ARGS__});                    \
	}                                                                                          \
	static void name##_decode(float *x, const unsigned char *from, size_t len)                 \
	{                                                                                          \
		lanes_decode(x, from, (struct trib_nm_spec){__VA_ARGS__});                         \
		(void)len;                                                                         \
	}                                                                                          \
	static const struct peer name = {label, name##_encode, name##_decode}

LANES_PEER(peer_int8, "int8", .group = 1, .kept = 1, .bits = 8);
LANES_PEER(peer_int4, "int4", .group = 1, .kept = 1, .bits = 4);
LANES_PEER(peer_nm_int8, "24_int8", .group = 4, .kept = 2, .bits = 8);

static const struct peer peer_nm = {"24", nm_encode, nm_decode};

static const struct peer *const peers[] = {&peer_bf16, &peer_int8,    &peer_top_k, &peer_block_l1,
					   &peer_nm,   &peer_nm_int8, &peer_int4};

#define NPEERS (sizeof(peers) / sizeof(peers[0]))

/* Share of the energy of @x that is in @got. */
static double energy(const float *x, const float *got)
{
	double lost = 0, all = 0;
	size_t i;

	for (i = 0; i < PEER_VALUES; i++) {
		lost += ((double)x[i] - got[i]) * ((double)x[i] - got[i]);
		all += (double)x[i] * x[i];
	}
	return 1 - lost / all;
}

struct result {
	double energy, encode_ns, decode_ns, bytes, smallest, largest;
};

static void one_worker(struct result *r, const struct peer *p, const float *x,
		       unsigned char *message, float *got)
{
	double start, bytes;
	size_t len;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		memset(residual, 0, PEER_VALUES * 4);
		memset(got, 0, PEER_VALUES * 4);
		start = now();
		len = p->encode(message, x);
		r->encode_ns = fmin(r->encode_ns, (now() - start) / PEER_VALUES);
		start = now();
		p->decode(got, message, len);
		r->decode_ns = fmin(r->decode_ns, (now() - start) / PEER_VALUES);
	}
	bytes = (double)len / PEER_VALUES;
	r->bytes += bytes / PEER_WORKERS;
	r->smallest = fmin(r->smallest, bytes);
	r->largest = fmax(r->largest, bytes);
	r->energy = fmin(r->energy, energy(x, got));
}

static void *memory(size_t len)
{
	void *p = calloc(1, len);

	if (!p) {
		fprintf(stderr, "bench-codec: wants %zu MiB of memory\n", len >> 20);
		exit(1);
	}
	return p;
}

void peers_measure(FILE *out)
{
	unsigned char *message = memory(PEER_BYTES);
	float *x[PEER_WORKERS], *got = memory(PEER_VALUES * 4);
	struct result r;
	unsigned int i;
	int w;

	residual = memory(PEER_VALUES * 4);
	for (w = 0; w < PEER_WORKERS; w++)
		x[w] = memory(PEER_VALUES * 4);
	make_gradients(x);
	peer_top_k_learn(x[0]);
	for (i = 0; i < NPEERS; i++) {
		r = (struct result){1, INFINITY, INFINITY, 0, INFINITY, 0};
		for (w = 0; w < PEER_WORKERS; w++)
			one_worker(&r, peers[i], x[w], message, got);
		fprintf(out,
			",\n\"energy_%s\": %.4f, \"bytes_%s\": %.3f, \"imbalance_%s\": %.2f, "
			"\"encode_ns_%s\": %.2f, \"decode_ns_%s\": %.2f",
			peers[i]->name, r.energy, peers[i]->name, r.bytes, peers[i]->name,
			r.largest / r.smallest, peers[i]->name, r.encode_ns, peers[i]->name,
			r.decode_ns);
	}
	for (w = 0; w < PEER_WORKERS; w++)
		free(x[w]);
	free(residual);
	free(got);
	free(message);
}
