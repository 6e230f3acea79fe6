/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Limits of memory, and the texts that name them. */
#ifndef TRIB_SOCK_LIMIT_H
#define TRIB_SOCK_LIMIT_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <linux/types.h>
#endif

/* May @bytes be added to a sum of @old, whose limit is @most? No sum overflows. */
bool trib_limit_fits(__s64 old, __u64 bytes, __u64 most);

/*
 * Limit of one user: parameter mem_user, or half of mem_total if that is 0. So one user
 * leaves half of the memory to the others.
 */
__u64 trib_limit_user(__u64 mem_user, __u64 mem_total);

/* Say which limit a charge met with error @err, and how to raise it. */
const char *trib_limit_text(int err);

#endif /* TRIB_SOCK_LIMIT_H */
