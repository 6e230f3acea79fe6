// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Arithmetic and texts of limits; see limit.h. */
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include "limit.h"

bool trib_limit_fits(__s64 old, __u64 bytes, __u64 most)
{
	return bytes <= most && (old < 0 || (__u64)old <= most - bytes);
}

__u64 trib_limit_user(__u64 mem_user, __u64 mem_total)
{
	return mem_user ? mem_user : mem_total / 2;
}

const char *trib_limit_text(int err)
{
	switch (err) {
	case -EDQUOT:
		return "sockets of this user use all of mem_user: close some, or raise this module parameter";
	case -ENOBUFS:
		return "sockets use all of mem_total: raise this module parameter";
	case -E2BIG:
		return "the place takes more memory than mem_max: raise this module parameter, or lower the job's window";
	default:
		return "out of memory";
	}
}
