/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of kfuncs, per CPU. How they are counted up is in call.h. */
#ifndef TRIB_KMOD_STATS_H
#define TRIB_KMOD_STATS_H

#include <linux/types.h>

#include "call.h"

/**
 * struct trib_kstat - one function's counters
 * @calls:     that did their work.
 * @bytes:     of packet values, in these.
 * @fallbacks: of these, scalar for want of an FPU.
 * @refused:   arguments were wrong.
 */
struct trib_kstat {
	u64 calls;
	u64 bytes;
	u64 fallbacks;
	u64 refused;
};

int trib_stats_init(void);
void trib_stats_exit(void);

/* Sum over CPUs, since the last reset. */
void trib_stats_get(enum trib_kfunc_id id, struct trib_kstat *out);

/* May sleep. */
void trib_stats_reset(void);

/* Fall-backs of all functions since the module was loaded. */
u64 trib_stats_fallbacks(void);

#endif /* TRIB_KMOD_STATS_H */
