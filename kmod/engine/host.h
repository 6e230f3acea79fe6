/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Types, memory, byte order and tracepoints of the host: the kernel or a process.
 * Only this file distinguishes them.
 */
#ifndef TRIB_ENGINE_HOST_H
#define TRIB_ENGINE_HOST_H

#ifdef __KERNEL__

#include <asm/byteorder.h>
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uio.h>

#if BITS_PER_LONG != 64
#error "the engine divides 64-bit numbers"
#endif

#define htobe16(x) cpu_to_be16(x)
#define htobe32(x) cpu_to_be32(x)
#define htobe64(x) cpu_to_be64(x)
#define be16toh(x) be16_to_cpu(x)
#define be32toh(x) be32_to_cpu(x)
#define be64toh(x) be64_to_cpu(x)
#define htole64(x) cpu_to_le64(x)
#define le32toh(x) le32_to_cpu(x)
#define le64toh(x) le64_to_cpu(x)

#define INT16_MIN S16_MIN
#define UINT8_MAX U8_MAX
#define UINT16_MAX U16_MAX
#define UINT64_MAX U64_MAX

#define trib_iovec kvec

/* Words that other CPUs change. */
#define trib_word_load(w) smp_load_acquire(w)
#define trib_word_store(w, v) WRITE_ONCE(*(w), v)
#define trib_word_publish(w, v) smp_store_release(w, v)
#define trib_word_fence() smp_mb()
#define trib_word_swap(w, v) xchg(w, v)
#define trib_word_cas(w, old, new) (cmpxchg(w, old, new) == (old))

/* Return: zeroed memory, charged to the memory cgroup, or NULL. May sleep. */
static inline void *trib_alloc(size_t size)
{
	return kvzalloc(size, GFP_KERNEL_ACCOUNT);
}

static inline void trib_free(const void *p)
{
	kvfree(p);
}

/* Tracepoints: the result of @chunk came; @chunk is sent again. */
struct trib_stream;
void trib_trace_done(const struct trib_stream *s, uint64_t chunk);
void trib_trace_resend(const struct trib_stream *s, uint64_t chunk);

#else /* a process */

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include <linux/types.h>

#define trib_iovec iovec

/* Words that XDP and other processes change. */
#define trib_word_load(w) __atomic_load_n(w, __ATOMIC_ACQUIRE)
#define trib_word_store(w, v) __atomic_store_n(w, v, __ATOMIC_RELAXED)
#define trib_word_publish(w, v) __atomic_store_n(w, v, __ATOMIC_RELEASE)
#define trib_word_swap(w, v) __atomic_exchange_n(w, v, __ATOMIC_SEQ_CST)

static inline void trib_word_fence(void)
{
#ifdef __SANITIZE_THREAD__
	/* Its runtime knows no fences. */
	static int word;

	__atomic_exchange_n(&word, 0, __ATOMIC_SEQ_CST);
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static inline bool trib_word_cas(__u64 *w, __u64 old, __u64 new)
{
	return __atomic_compare_exchange_n(w, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static inline void *trib_alloc(size_t size)
{
	return calloc(1, size);
}

static inline void trib_free(const void *p)
{
	free((void *)(uintptr_t)p);
}

#define trib_trace_done(s, chunk) ((void)(s), (void)(chunk))
#define trib_trace_resend(s, chunk) ((void)(s), (void)(chunk))

#endif

/*
 * Copy what another process may be writing, in both directions: later uses see the copy,
 * which the compiler must not read again.
 */
static inline void trib_snapshot(void *to, const void *from, size_t len)
{
	memcpy(to, from, len);
	asm volatile("" : : "r"(to) : "memory");
}

#endif /* TRIB_ENGINE_HOST_H */
