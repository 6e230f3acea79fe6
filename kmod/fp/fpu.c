// SPDX-License-Identifier: GPL-2.0
/*
 * The level of sums on this machine, and, per call, whether the FPU is free. A
 * softirq that interrupted a task inside kernel_fpu_begin() may not use it.
 */
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/string.h>
#ifdef CONFIG_X86_64
#include <asm/fpu/api.h>
#endif

#include "fpu.h"
#include "kernels/cpu.h"
#include "kernels/sum/sum.h"

static bool fpu_busy;
module_param(fpu_busy, bool, 0644);
MODULE_PARM_DESC(fpu_busy, "Compute as if the FPU were never free (for tests)");

static char *level;
module_param(level, charp, 0444);
MODULE_PARM_DESC(level, "Level of sums: scalar, sse2, avx2, avx512 (default: the best)");

static const struct trib_sum *best;
static const struct trib_sum *scalar;

int trib_fpu_init(void)
{
	u32 caps = trib_cpu_caps();
	int i = trib_sum_level_best(caps);

	scalar = trib_sum_get(TRIB_SUM_SCALAR, 0);
	for (; i >= TRIB_SUM_SCALAR; i--) {
		best = trib_sum_get(i, caps);
		if (best && (!level || !strcmp(level, best->name)))
			return 0;
	}
	pr_err("trib: this CPU lacks level '%s'; load with level=scalar, sse2, avx2 or avx512, or without level\n",
	       level);
	return -EINVAL;
}

const char *trib_fpu_level(void)
{
	return best->name;
}

bool trib_fpu_forced_busy(void)
{
	return READ_ONCE(fpu_busy);
}

#ifdef CONFIG_X86_64

bool trib_fpu_enter(void)
{
	if (unlikely(trib_fpu_forced_busy() || !irq_fpu_usable()))
		return false;
	kernel_fpu_begin();
	return true;
}

int trib_fpu_begin(const struct trib_sum **s)
{
	*s = scalar;
	if (best == scalar)
		return 0;
	if (!trib_fpu_enter())
		return -EBUSY;
	*s = best;
	return 1;
}

void trib_fpu_end(void)
{
	kernel_fpu_end();
}

#else /* other machines have the scalar level only */

bool trib_fpu_enter(void)
{
	return false;
}

int trib_fpu_begin(const struct trib_sum **s)
{
	*s = scalar;
	return 0;
}

void trib_fpu_end(void)
{
}

#endif
