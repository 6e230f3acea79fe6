/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Checks of a message: struct trib_cm_send and its length. */
#ifndef TRIB_SOCK_WANT_H
#define TRIB_SOCK_WANT_H

#include "uapi/trib_sock.h"

/**
 * struct trib_want - sizes of a valid message
 * @count: elements, as in enum trib_collective.
 * @size:  bytes of the buffer.
 * @first: offset of the sent elements in the buffer.
 * @bytes: bytes of the result, which starts at offset 0.
 */
struct trib_want {
	__u64 count;
	__u64 size;
	__u64 first;
	__u64 bytes;
};

/**
 * trib_want_of() - check a message and compute its sizes
 * @len: sent bytes; below 2^32.
 *
 * Return: 0, or -EINVAL.
 */
int trib_want_of(struct trib_want *w, const struct trib_cm_send *cm, __u64 len, unsigned int world,
		 unsigned int rank);

#endif /* TRIB_SOCK_WANT_H */
