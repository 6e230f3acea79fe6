/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The owner word of a row: a try-lock that gives up. Unlike bpf_spin_lock, it
 * allows helper calls while it is held.
 */
#ifndef TRIB_BPF_LOCK_H
#define TRIB_BPF_LOCK_H

#include <stdbool.h>
#include <bpf/bpf_helpers.h>

#define LOCK_TRIES 64
#define LOCK_POLLS 32 /* looks between two tries */

/*
 * wait_lock() - try to take an owner word that is held, within a bounded time
 *
 * A holder on another CPU fetches the row line by line, which takes longer than
 * LOCK_TRIES exchanges, and each exchange takes the first line away from it. So
 * poll until the word looks free before the next try.
 */
__noinline int wait_lock(__u32 *busy)
{
	if (!busy)
		return 0;
	for (int i = 1; i < LOCK_TRIES; i++) {
		for (int j = 0; j < LOCK_POLLS; j++)
			if (!*(volatile __u32 *)busy)
				break;
		if (!__sync_lock_test_and_set(busy, 1))
			return 1;
	}
	return 0;
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
