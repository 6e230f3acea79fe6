/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Checks of a place (struct trib_attach_rep) for collective sockets. */
#ifndef TRIB_SOCK_PLACE_H
#define TRIB_SOCK_PLACE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#endif

#include "uapi/trib_attach.h"

/* Bytes of a place with @ntree trees. */
static inline size_t trib_place_len(unsigned int ntree)
{
	return offsetof(struct trib_attach_rep, tree) + ntree * sizeof(struct trib_attach_tree);
}

/* Address fields are zero if unused. */
static inline bool trib_addr_is_set(const __be32 *a)
{
	return a[0] | a[1] | a[2] | a[3];
}

bool trib_addr_is_v4(const __be32 *addr);

/**
 * trib_place_wrong() - check a place
 * @rep: @len bytes from user space, in a buffer as large as the struct.
 *
 * Return: NULL if a collective socket can use it, else one line of text.
 */
const char *trib_place_wrong(const struct trib_attach_rep *rep, size_t len);

/** trib_window_is_wrong() - check TRIB_SO_WINDOW: a power of 2 from 4 on, or 0 */
bool trib_window_is_wrong(__u32 window);

#endif /* TRIB_SOCK_PLACE_H */
