/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of kfuncs, per CPU. call.h declares the functions that count. */
#ifndef TRIB_KMOD_STATS_H
#define TRIB_KMOD_STATS_H

#include <linux/types.h>

#include "call.h"

/**
 * struct trib_kstat - one function's counters
 * @calls:     calls that worked.
 * @bytes:     bytes of packet values in these calls.
 * @fallbacks: calls among them that used scalar code because the FPU was busy.
 * @refused:   calls with bad arguments.
 */
struct trib_kstat {
	u64 calls;
	u64 bytes;
	u64 fallbacks;
	u64 refused;
};

/** trib_stats_init() - allocate the counters; 0 or -ENOMEM */
int trib_stats_init(void);
void trib_stats_exit(void);

/** trib_stats_get() - sum a function's counters over CPUs since the last reset */
void trib_stats_get(enum trib_kfunc_id id, struct trib_kstat *out);

/** trib_stats_reset() - start counting from zero; may sleep */
void trib_stats_reset(void);

/** trib_stats_fallbacks() - count fallbacks of all functions since load */
u64 trib_stats_fallbacks(void);

#endif /* TRIB_KMOD_STATS_H */
