/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the GPU's double. */
#ifndef GPU_DOUBLE_INNER_H
#define GPU_DOUBLE_INNER_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/gpu/gpu.h"

enum work_kind {
	WORK_KERNEL,
	WORK_RECORD,
	WORK_FOLLOW,
	WORK_TELL,
};

struct mark;

/**
 * struct work - given to a stream, to be done later
 * @launch: a kernel, for which the caller must use the stream's GPU.
 * @run:    does it.
 * @to, @from, @len: of a copy.
 * @out, @in, @old: areas of kernels.
 * @sum, @areas: of a reduction; its own list is the caller's.
 */
struct work {
	struct work *next;
	enum work_kind kind;
	bool launch;
	void (*run)(const struct work *w);
	struct mark *mark;
	trib_gpu_told fn;
	void *arg;

	void *to;
	const void *from;
	size_t len;
	struct trib_nm_range range;
	struct trib_gpu_rows rows;
	const uint32_t *mask;
	void *out;
	const void *in;
	const float *old;
	uint32_t *amax;
	size_t row;
	unsigned int divide;
	struct trib_gpu_sum sum;
	const void *areas[TRIB_GPU_REDUCE_MAX];
};

/* double.c */
int double_error(const char *text);
bool double_call_fails(void);
void double_count(int n);
int double_device(void);
int double_push(void *stream, const struct work *w);

/* memory.c */
/* Zeros; never NULL. Tests that let calloc() fail do not mean the double. */
void *double_alloc(size_t len);
void double_die(const char *what) __attribute__((noreturn));
/* The CPU's view of @len bytes of device memory; anything else ends the program. */
void *double_view(const void *p, size_t len);
void *double_memory_new(size_t len);
void double_memory_free(void *p);
void *double_host_new(size_t len);
void double_host_free(void *p);
int double_copy(void *to, const void *from, size_t len, void *stream);
int double_clear(void *p, size_t len, void *stream);
int double_owner(const void *p);
int double_export(unsigned char handle[TRIB_GPU_HANDLE], void *p);
int double_open(void **p, const unsigned char handle[TRIB_GPU_HANDLE]);

/* kernels.c */
int double_select(uint32_t *mask, uint32_t *amax, const struct trib_nm_range *g, size_t row,
		  void *stream);
int double_amax(uint32_t *amax, const struct trib_nm_range *g, const uint32_t *mask, size_t row,
		void *stream);
int double_pack(float *packed, const struct trib_nm_range *g, const uint32_t *mask, void *stream);
int double_pack_lanes(uint64_t *words, const struct trib_nm_range *g, const uint32_t *mask,
		      const struct trib_gpu_rows *rows, void *stream);
int double_unpack_lanes(float *packed, const uint64_t *words, size_t count,
			struct trib_nm_spec spec, const struct trib_gpu_rows *rows,
			unsigned int divide, void *stream);
int double_expand(void *x, uint32_t fmt, size_t count, struct trib_nm_spec spec,
		  const uint32_t *mask, const float *packed, unsigned int divide, void *stream);
int double_check(uint32_t *wrong, const uint32_t *mask, size_t count, struct trib_nm_spec spec,
		 void *stream);
int double_first_bad(uint64_t *index, const struct trib_nm_range *g, void *stream);
int double_energy(double *sums, const struct trib_nm_range *g, const float *old, void *stream);
int double_reduce(const struct trib_gpu_sum *sum, void *stream);

#endif /* GPU_DOUBLE_INNER_H */
