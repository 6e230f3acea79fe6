/* SPDX-License-Identifier: BSD-2-Clause */
/* The reason why a port failed: the first one stays. */
#ifndef PEER_FAULT_H
#define PEER_FAULT_H

#include "port.h"

/**
 * peer_fault_set() - note why a port failed, unless something is noted already
 * @err:  positive errno.
 * @peer: rank to blame, or -1.
 * Return: the negative errno that is noted.
 */
int peer_fault_set(struct peer_fault *f, int err, int peer, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif /* PEER_FAULT_H */
