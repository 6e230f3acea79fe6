/* SPDX-License-Identifier: GPL-2.0 */
/* Differences between the kernels that the module builds for: 6.1 and later. */
#ifndef TRIB_KMOD_COMPAT_H
#define TRIB_KMOD_COMPAT_H

#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/hrtimer.h>
#include <linux/version.h>
#include <net/genetlink.h>

/* Since 6.3: keeps the compiler from dropping or renaming a kfunc. */
#ifndef __bpf_kfunc
#define __bpf_kfunc __used noinline
#endif

/* Since 6.7: no warning for functions that only BPF programs call. */
#ifndef __bpf_kfunc_start_defs
#define __bpf_kfunc_start_defs()                                                                   \
	__diag_push();                                                                             \
	__diag_ignore_all("-Wmissing-prototypes", "called by BPF programs")
#define __bpf_kfunc_end_defs() __diag_pop()
#endif

/* Since 6.9 the kernel refuses a set that is not marked as one of kfuncs. */
#ifndef BTF_KFUNCS_START
#define BTF_KFUNCS_START(name) BTF_SET8_START(name)
#define BTF_KFUNCS_END(name) BTF_SET8_END(name)
#endif

/** trib_dump_attrs() - attributes of a dump's request */
static inline struct nlattr **trib_dump_attrs(struct netlink_callback *cb)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

/** trib_hrtimer_setup() - prepare a timer; since 6.15 hrtimer_setup() */
static inline void trib_hrtimer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*fired)(struct hrtimer *),
				      clockid_t clock, enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	hrtimer_setup(timer, fired, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = fired;
#endif
}

#endif /* TRIB_KMOD_COMPAT_H */
