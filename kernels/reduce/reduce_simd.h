/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Loops over vectors of any width. The including file owns an instruction set: it
 * defines LANES, the 32-bit lanes of a vector, and REG, the constraint of a vector
 * register in inline assembly.
 *
 * Operations of floats are assembly: of two NaNs the first operand's survives, but a
 * compiler may swap the operands of + and *.
 */
#ifndef TRIB_REDUCE_SIMD_H
#define TRIB_REDUCE_SIMD_H

#include "kernels/codec/codec_fp.h"
#include "reduce_levels.h"

/* Compiler's vectors: floats, doubles, integers, 16-bit values, and comparisons. */
typedef float vf __attribute__((vector_size(LANES * 4)));
typedef double vd __attribute__((vector_size(LANES * 4)));
typedef uint32_t vi __attribute__((vector_size(LANES * 4)));
typedef int32_t vs __attribute__((vector_size(LANES * 4)));
typedef int64_t vq __attribute__((vector_size(LANES * 4)));
typedef uint16_t vh __attribute__((vector_size(LANES * 2)));
/* In memory, at any address. */
typedef vi vi_mem __attribute__((aligned(1), may_alias));
typedef vh vh_mem __attribute__((aligned(1), may_alias));

#define BINARY(name, instruction, type)                                                            \
	TRIB_REDUCE_EACH type name(type a, type b)                                                 \
	{                                                                                          \
		type r;                                                                            \
                                                                                                   \
		asm(instruction " %2, %1, %0" : "=" REG(r) : REG(a), REG(b));                      \
		return r;                                                                          \
	}

BINARY(vf_add, "vaddps", vf)
BINARY(vf_mul, "vmulps", vf)
BINARY(vf_div, "vdivps", vf)
BINARY(vf_max, "vmaxps", vf)
BINARY(vf_min, "vminps", vf)
BINARY(vd_add, "vaddpd", vd)
BINARY(vd_mul, "vmulpd", vd)
BINARY(vd_div, "vdivpd", vd)
BINARY(vd_max, "vmaxpd", vd)
BINARY(vd_min, "vminpd", vd)

TRIB_REDUCE_EACH vi vi_select(vi mask, vi yes, vi no)
{
	return (mask & yes) | (~mask & no);
}

TRIB_REDUCE_EACH vi vi_load(const void *p)
{
	return *(const vi_mem *)p;
}

TRIB_REDUCE_EACH void vi_store(void *p, vi v)
{
	*(vi_mem *)p = v;
}

TRIB_REDUCE_EACH vi vi_of_f16(const void *p)
{
	vh h = *(const vh_mem *)p;
	vi r;

	asm("vcvtph2ps %1, %0" : "=" REG(r) : REG(h));
	return r;
}

TRIB_REDUCE_EACH void vi_to_f16(void *p, vi v)
{
	vh h;

	asm("vcvtps2ph $0, %1, %0" : "=" REG(h) : REG(v));
	*(vh_mem *)p = h;
}

/*
 * Round to nearest even. The lower half of a NaN is zero, as it came from a bf16 or
 * from Inf - Inf, so that rounding does not change it.
 */
TRIB_REDUCE_EACH void vi_to_bf16(void *p, vi v)
{
	v += 0x7fff + (v >> 16 & 1);
	*(vh_mem *)p = __builtin_convertvector(v >> 16, vh);
}

TRIB_REDUCE_EACH vi vi_of_bf16(const void *p)
{
	vh h = *(const vh_mem *)p;
	vi r;

	asm("vpmovzxwd %1, %0" : "=" REG(r) : REG(h));
	return r << 16;
}

/* A vector of values of @type, those of 16 bits as floats. */
TRIB_REDUCE_EACH vi load(enum trib_reduce_type type, const void *p)
{
	if (type == TRIB_REDUCE_F16)
		return vi_of_f16(p);
	if (type == TRIB_REDUCE_BF16)
		return vi_of_bf16(p);
	return vi_load(p);
}

TRIB_REDUCE_EACH void store(enum trib_reduce_type type, void *p, vi v)
{
	if (type == TRIB_REDUCE_F16)
		vi_to_f16(p, v);
	else if (type == TRIB_REDUCE_BF16)
		vi_to_bf16(p, v);
	else
		vi_store(p, v);
}

/*
 * VMAXPS gives its second operand if one is NaN, or if they are equal. Both orders
 * together tell +0 from -0; the sum of two values is the NaN among them, quiet.
 */
TRIB_REDUCE_EACH vi f32_op(enum trib_reduce_op op, vi x, vi y)
{
	vf a = (vf)x, b = (vf)y;
	vi nan, r;

	if (op == TRIB_REDUCE_SUM)
		return (vi)vf_add(a, b);
	if (op == TRIB_REDUCE_PROD)
		return (vi)vf_mul(a, b);
	nan = (vi)((a != a) | (b != b));
	r = op == TRIB_REDUCE_MAX ? (vi)vf_max(a, b) & (vi)vf_max(b, a)
				  : (vi)vf_min(a, b) | (vi)vf_min(b, a);
	return vi_select(nan, (vi)vf_add(a, b), r);
}

TRIB_REDUCE_EACH vi f64_op(enum trib_reduce_op op, vi x, vi y)
{
	vd a = (vd)x, b = (vd)y;
	vi nan, r;

	if (op == TRIB_REDUCE_SUM)
		return (vi)vd_add(a, b);
	if (op == TRIB_REDUCE_PROD)
		return (vi)vd_mul(a, b);
	nan = (vi)((a != a) | (b != b));
	r = op == TRIB_REDUCE_MAX ? (vi)vd_max(a, b) & (vi)vd_max(b, a)
				  : (vi)vd_min(a, b) | (vi)vd_min(b, a);
	return vi_select(nan, (vi)vd_add(a, b), r);
}

TRIB_REDUCE_EACH vi i32_op(enum trib_reduce_op op, vi a, vi b)
{
	vi more = (vi)((vs)a > (vs)b);

	if (op == TRIB_REDUCE_SUM)
		return a + b;
	if (op == TRIB_REDUCE_PROD)
		return a * b;
	return op == TRIB_REDUCE_MAX ? vi_select(more, a, b) : vi_select(more, b, a);
}

TRIB_REDUCE_EACH vi apply(enum trib_reduce_type type, enum trib_reduce_op op, vi a, vi b)
{
	if (type == TRIB_REDUCE_F64)
		return f64_op(op, a, b);
	return type == TRIB_REDUCE_I32 ? i32_op(op, a, b) : f32_op(op, a, b);
}

/* Bytes of values of @type that fill a vector. */
TRIB_REDUCE_EACH size_t step_of(enum trib_reduce_type type)
{
	return reduce_size(type) == 2 ? LANES * 2 : LANES * 4;
}

/* Values that fill no vector are left to the scalar level. */
TRIB_REDUCE_EACH void do_reduce(enum trib_reduce_type type, enum trib_reduce_op op, char *out,
				const char *a, const char *b, size_t n)
{
	__auto_type fp = trib_fp_enter();
	size_t step = step_of(type), len = n * reduce_size(type), whole = len - len % step, i;

#pragma GCC unroll 4
	for (i = 0; i < whole; i += step)
		store(type, out + i, apply(type, op, load(type, a + i), load(type, b + i)));
	trib_fp_leave(fp);
	if (i < len)
		trib_reduce_table_scalar.reduce[type][op](out + i, a + i, b + i,
							  (len - i) / reduce_size(type));
}

TRIB_REDUCE_EACH vi divide(enum trib_reduce_type type, vi v, unsigned int world)
{
	if (type == TRIB_REDUCE_F64)
		return (vi)vd_div((vd)v, (vd){0} + (double)world);
	return (vi)vf_div((vf)v, (vf){0} + (float)world);
}

TRIB_REDUCE_EACH void do_average(enum trib_reduce_type type, char *out, const char *a,
				 const char *b, size_t n, unsigned int world)
{
	__auto_type fp = trib_fp_enter();
	size_t step = step_of(type), len = n * reduce_size(type), whole = len - len % step, i;
	vi v;

	for (i = 0; i < whole; i += step) {
		v = load(type, a + i);
		if (b)
			v = apply(type, TRIB_REDUCE_SUM, v, load(type, b + i));
		store(type, out + i, divide(type, v, world));
	}
	trib_fp_leave(fp);
	if (i < len)
		trib_reduce_table_scalar.average[type](out + i, a + i, b ? b + i : NULL,
						       (len - i) / reduce_size(type), world);
}

TRIB_REDUCE_ALL_FUNCTIONS

#endif /* TRIB_REDUCE_SIMD_H */
