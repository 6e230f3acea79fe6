/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The owner word of a row: a try-lock that gives up. Unlike bpf_spin_lock, it
 * allows helper calls while it is held.
 */
#ifndef TRIB_BPF_LOCK_H
#define TRIB_BPF_LOCK_H

#include <stdbool.h>
#include <bpf/bpf_helpers.h>

/* Some 30 us: longer than an interrupt that the holder's CPU handles. */
#define LOCK_LOOKS 8192

struct lock_wait {
	__u32 *busy;
	int won;
};

/* One look of wait_lock(). Return: 1: stop. */
static long lock_look(__u32 i, void *ctx)
{
	struct lock_wait *w = ctx;

	if (*(volatile __u32 *)w->busy || __sync_lock_test_and_set(w->busy, 1))
		return 0;
	w->won = 1;
	return 1;
}

/*
 * wait_lock() - try to take an owner word that is held, within a bounded time
 *
 * An exchange takes the row's first line away from the holder: so poll until the word
 * looks free.
 */
__noinline int wait_lock(__u32 *busy)
{
	struct lock_wait w = {.busy = busy};

	if (busy)
		bpf_loop(LOCK_LOOKS, lock_look, &w, 0);
	return w.won;
}

static __always_inline bool try_lock(__u32 *busy)
{
	return !__sync_lock_test_and_set(busy, 1) || wait_lock(busy);
}

/*
 * Release the word; all stores of the owner must be visible before. x86 keeps
 * stores in order: an exchange would only wait 8 ns for the store buffer.
 */
static __always_inline void unlock(__u32 *busy)
{
#ifdef __TARGET_ARCH_x86
	asm volatile("" ::: "memory");
	*(volatile __u32 *)busy = 0;
#else
	(void)__sync_lock_test_and_set(busy, 0);
#endif
}

#endif /* TRIB_BPF_LOCK_H */
