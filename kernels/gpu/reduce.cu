// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values of several areas become one, element by element, in the order of the areas. The
 * arithmetic is on bits, as in kernels/reduce/reduce_scalar.c: what NaN a GPU makes, or
 * how it orders zeros, shows nowhere.
 *
 * A thread has VECTORS vectors of 16 bytes of an area in flight.
 */
#include "kernels.h"

#define THREADS 256
#define VECTORS 2
#define BLOCKS_MAX 8192

#define AVERAGE 1 /* beside enum trib_reduce_op */

#define F32_INF 0x7f800000u
#define F32_QUIET 0x00400000u
#define F32_NAN 0xffc00000u
#define F64_INF 0x7ff0000000000000ull
#define F64_QUIET 0x0008000000000000ull
#define F64_NAN 0xfff8000000000000ull

/* All areas of a launch. */
struct areas {
	const unsigned char *p[TRIB_GPU_REDUCE_MAX];
};

/* --- 32 bits */

static __device__ bool is_nan(uint32_t b)
{
	return (b & 0x7fffffffu) > F32_INF;
}

static __device__ uint32_t made(float f)
{
	uint32_t b = __float_as_uint(f);

	return is_nan(b) ? F32_NAN : b;
}

template <int OP> static __device__ uint32_t combine(uint32_t a, uint32_t b)
{
	float x = __uint_as_float(a), y = __uint_as_float(b);
	uint32_t r;

	if (OP == TRIB_REDUCE_SUM)
		r = made(x + y);
	else if (OP == TRIB_REDUCE_PROD)
		r = made(x * y);
	else if (x == y) /* equal, but for the sign of a zero */
		r = OP == TRIB_REDUCE_MAX ? a & b : a | b;
	else
		r = (x > y) == (OP == TRIB_REDUCE_MAX) ? a : b;
	if (is_nan(b))
		r = b | F32_QUIET;
	return is_nan(a) ? a | F32_QUIET : r;
}

static __device__ uint32_t divide(uint32_t a, float by)
{
	return is_nan(a) ? a | F32_QUIET : made(__uint_as_float(a) / by);
}

template <int OP> static __device__ uint32_t combine_int(uint32_t a, uint32_t b)
{
	if (OP == TRIB_REDUCE_SUM)
		return a + b;
	if (OP == TRIB_REDUCE_PROD)
		return a * b;
	return ((int32_t)a > (int32_t)b) == (OP == TRIB_REDUCE_MAX) ? a : b;
}

/* --- 64 bits */

static __device__ bool is_nan_64(uint64_t b)
{
	return (b & ~(1ull << 63)) > F64_INF;
}

static __device__ uint64_t made_64(double d)
{
	uint64_t b = (uint64_t)__double_as_longlong(d);

	return is_nan_64(b) ? F64_NAN : b;
}

static __device__ double double_of(uint64_t b)
{
	return __longlong_as_double((long long)b);
}

template <int OP> static __device__ uint64_t combine_64(uint64_t a, uint64_t b)
{
	double x = double_of(a), y = double_of(b);
	uint64_t r;

	if (OP == TRIB_REDUCE_SUM)
		r = made_64(x + y);
	else if (OP == TRIB_REDUCE_PROD)
		r = made_64(x * y);
	else if (x == y)
		r = OP == TRIB_REDUCE_MAX ? a & b : a | b;
	else
		r = (x > y) == (OP == TRIB_REDUCE_MAX) ? a : b;
	if (is_nan_64(b))
		r = b | F64_QUIET;
	return is_nan_64(a) ? a | F64_QUIET : r;
}

static __device__ uint64_t divide_64(uint64_t a, double by)
{
	return is_nan_64(a) ? a | F64_QUIET : made_64(double_of(a) / by);
}

/* --- 16 bits, by those of fp32 */

template <int TYPE> static __device__ uint32_t widen(uint32_t h)
{
	if (TYPE == TRIB_REDUCE_BF16)
		return h << 16;
	if ((h & 0x7fff) > 0x7c00)
		return (h & 0x8000) << 16 | 0x7fc00000 | (h & 0x7fff) << 13;
	return __float_as_uint(__half2float(__ushort_as_half((uint16_t)h)));
}

template <int TYPE> static __device__ uint32_t narrow(uint32_t b)
{
	if (TYPE == TRIB_REDUCE_BF16)
		return is_nan(b) ? b >> 16 | 0x40 : (b + 0x7fff + (b >> 16 & 1)) >> 16;
	if (is_nan(b))
		return (b >> 16 & 0x8000) | 0x7e00 | (b >> 13 & 0x3ff);
	return __half_as_ushort(__float2half_rn(__uint_as_float(b)));
}

/* --- elements: the next area's value is combined with that of the areas before */

template <int TYPE> struct element {
	typedef uint32_t bits;
};
template <> struct element<TRIB_REDUCE_F64> {
	typedef uint64_t bits;
};
template <> struct element<TRIB_REDUCE_F16> {
	typedef uint16_t bits;
};
template <> struct element<TRIB_REDUCE_BF16> {
	typedef uint16_t bits;
};

template <int TYPE, int OP, typename B> static __device__ B step(B a, B b)
{
	if (TYPE == TRIB_REDUCE_F64)
		return (B)combine_64<OP>(a, b);
	if (TYPE == TRIB_REDUCE_I32)
		return (B)combine_int<OP>((uint32_t)a, (uint32_t)b);
	if (TYPE == TRIB_REDUCE_F32)
		return (B)combine<OP>((uint32_t)a, (uint32_t)b);
	return (B)narrow<TYPE>(
		combine<OP>(widen<TYPE>((uint32_t)a), widen<TYPE>((uint32_t)b)));
}

/* The last addition of an average; halves are rounded once. */
template <int TYPE, typename B> static __device__ B last(B a, B b, unsigned int world)
{
	if (TYPE == TRIB_REDUCE_F64)
		return (B)divide_64(combine_64<TRIB_REDUCE_SUM>(a, b), world);
	if (TYPE == TRIB_REDUCE_F32)
		return (B)divide(combine<TRIB_REDUCE_SUM>((uint32_t)a, (uint32_t)b), (float)world);
	return (B)narrow<TYPE>(
		divide(combine<TRIB_REDUCE_SUM>(widen<TYPE>((uint32_t)a), widen<TYPE>((uint32_t)b)),
		       (float)world));
}

/* The average of a single area's values. */
template <int TYPE, typename B> static __device__ B only(B a, unsigned int world)
{
	if (TYPE == TRIB_REDUCE_F64)
		return (B)divide_64(a, world);
	if (TYPE == TRIB_REDUCE_F32)
		return (B)divide((uint32_t)a, (float)world);
	return (B)narrow<TYPE>(divide(widen<TYPE>((uint32_t)a), (float)world));
}

/* --- vectors of 16 bytes */

template <typename B> union vector {
	uint4 whole;
	B part[16 / sizeof(B)];
};

template <int TYPE, int OP, typename B>
static __device__ void steps(vector<B> *acc, const vector<B> *next, bool ends, unsigned int world)
{
#pragma unroll
	for (int v = 0; v < VECTORS; v++)
#pragma unroll
		for (unsigned int i = 0; i < 16 / sizeof(B); i++) {
			B a = acc[v].part[i], b = next[v].part[i];

			if (OP != AVERAGE)
				acc[v].part[i] = step<TYPE, OP>(a, b);
			else if (ends)
				acc[v].part[i] = last<TYPE>(a, b, world);
			else
				acc[v].part[i] = step<TYPE, TRIB_REDUCE_SUM>(a, b);
		}
}

/* @nvec vectors from @first on, @stride apart; fewer than VECTORS of them at the end. */
template <typename B>
static __device__ void take(vector<B> *to, const unsigned char *from, uint64_t first,
			    uint64_t stride, uint64_t nvec)
{
	const uint4 *p = (const uint4 *)from;

#pragma unroll
	for (int v = 0; v < VECTORS; v++)
		if (first + v * stride < nvec)
			to[v].whole = p[first + v * stride];
}

template <int TYPE, int OP, typename B>
static __device__ B one(const areas &in, unsigned int n, uint64_t i, unsigned int world)
{
	B acc = ((const B *)in.p[0])[i];

	if (OP == AVERAGE && n == 1)
		return only<TYPE>(acc, world);
	for (unsigned int k = 1; k < n; k++) {
		B b = ((const B *)in.p[k])[i];

		if (OP != AVERAGE)
			acc = step<TYPE, OP>(acc, b);
		else
			acc = k + 1 == n ? last<TYPE>(acc, b, world)
					 : step<TYPE, TRIB_REDUCE_SUM>(acc, b);
	}
	return acc;
}

/* @nvec vectors, then single elements up to @count. */
template <int TYPE, int OP>
static __global__ void reduce_kernel(void *out, GRID_CONSTANT const areas in, unsigned int n,
				     uint64_t nvec, uint64_t count, unsigned int world)
{
	typedef typename element<TYPE>::bits B;
	const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
	const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
	vector<B> acc[VECTORS], next[VECTORS];

	for (uint64_t i = thread; i < nvec; i += VECTORS * stride) {
		take(acc, in.p[0], i, stride, nvec);
		for (unsigned int k = 1; k < n; k++) {
			take(next, in.p[k], i, stride, nvec);
			steps<TYPE, OP>(acc, next, k + 1 == n, world);
		}
#pragma unroll
		for (int v = 0; v < VECTORS; v++)
			if (i + v * stride < nvec)
				((uint4 *)out)[i + v * stride] = acc[v].whole;
	}
	for (uint64_t i = nvec * (16 / sizeof(B)) + thread; i < count; i += stride)
		((B *)out)[i] = one<TYPE, OP, B>(in, n, i, world);
}

/* --- launches */

static unsigned int blocks_for(uint64_t threads)
{
	uint64_t n = (threads + THREADS - 1) / THREADS;

	return (unsigned int)(n > BLOCKS_MAX ? BLOCKS_MAX : n);
}

/* Vectors that all areas have in common; those of a single area's average go one by one. */
static uint64_t vectors_of(const trib_gpu_sum *s, size_t size)
{
	uintptr_t all = (uintptr_t)s->out;

	for (unsigned int k = 0; k < s->n; k++)
		all |= (uintptr_t)s->in[k];
	return all % 16 || (s->n == 1 && s->world) ? 0 : s->count / (16 / size);
}

template <int TYPE, int OP> static int launch(const trib_gpu_sum *s, void *stream)
{
	typedef typename element<TYPE>::bits B;
	uint64_t nvec = vectors_of(s, sizeof(B));
	uint64_t threads = nvec ? (nvec + VECTORS - 1) / VECTORS : s->count;
	areas in = {};

	for (unsigned int k = 0; k < s->n; k++)
		in.p[k] = (const unsigned char *)s->in[k];
	LAUNCH((reduce_kernel<TYPE, OP>), blocks_for(threads), THREADS, 0, (cudaStream_t)stream,
	       s->out, in, s->n, nvec, (uint64_t)s->count, s->world);
	return gpu_rc(cudaGetLastError());
}

template <int TYPE> static int launch_op(const trib_gpu_sum *s, void *stream)
{
	switch (s->op) {
	case TRIB_REDUCE_SUM:
		return launch<TYPE, TRIB_REDUCE_SUM>(s, stream);
	case TRIB_REDUCE_MAX:
		return launch<TYPE, TRIB_REDUCE_MAX>(s, stream);
	case TRIB_REDUCE_MIN:
		return launch<TYPE, TRIB_REDUCE_MIN>(s, stream);
	default:
		return launch<TYPE, TRIB_REDUCE_PROD>(s, stream);
	}
}

template <int TYPE> static int launch_float(const trib_gpu_sum *s, void *stream)
{
	return s->world ? launch<TYPE, AVERAGE>(s, stream) : launch_op<TYPE>(s, stream);
}

static bool is_wrong(const trib_gpu_sum *s)
{
	size_t size = s->type == TRIB_REDUCE_F64				      ? 8
		      : s->type == TRIB_REDUCE_F16 || s->type == TRIB_REDUCE_BF16 ? 2
										      : 4;
	uintptr_t all = (uintptr_t)s->out;

	if (!s->n || s->n > TRIB_GPU_REDUCE_MAX || s->type >= TRIB_REDUCE_TYPE__MAX ||
	    s->op >= TRIB_REDUCE_OP__MAX || s->op == AVERAGE || s->count >> 40)
		return true;
	if (s->world && (s->op != TRIB_REDUCE_SUM || s->type == TRIB_REDUCE_I32 ||
			 s->world > 1u << 24))
		return true;
	for (unsigned int k = 0; k < s->n; k++)
		all |= (uintptr_t)s->in[k];
	return all % size;
}

int gpu_reduce(const struct trib_gpu_sum *s, void *stream)
{
	if (is_wrong(s))
		return -EINVAL;
	if (!s->count)
		return 0;
	switch (s->type) {
	case TRIB_REDUCE_F32:
		return launch_float<TRIB_REDUCE_F32>(s, stream);
	case TRIB_REDUCE_F16:
		return launch_float<TRIB_REDUCE_F16>(s, stream);
	case TRIB_REDUCE_BF16:
		return launch_float<TRIB_REDUCE_BF16>(s, stream);
	case TRIB_REDUCE_F64:
		return launch_float<TRIB_REDUCE_F64>(s, stream);
	default:
		return launch_op<TRIB_REDUCE_I32>(s, stream);
	}
}
