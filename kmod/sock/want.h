/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a message is: struct trib_cm_send and its length, as one collective. */
#ifndef TRIB_SOCK_WANT_H
#define TRIB_SOCK_WANT_H

#include "uapi/trib_sock.h"

/**
 * struct trib_want - a message that is right
 * @count: elements, as in enum trib_collective.
 * @size:  bytes of the buffer that it is computed in.
 * @first: in it, of what was sent.
 * @bytes: of the result, which is at its beginning.
 */
struct trib_want {
	__u64 count;
	__u64 size;
	__u64 first;
	__u64 bytes;
};

/**
 * trib_want_of() - check a message
 * @len: bytes that were sent; below 2^32.
 *
 * Return: 0, or -EINVAL.
 */
int trib_want_of(struct trib_want *w, const struct trib_cm_send *cm, __u64 len,
		 unsigned int world, unsigned int rank);

#endif /* TRIB_SOCK_WANT_H */
