/* SPDX-License-Identifier: BSD-2-Clause */
/* The reason why a port failed: the first one stays. Checks that all kinds of ports make. */
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

/** peer_port_check() - refuse what no port can be opened with. Return: 0 or -EINVAL. */
int peer_port_check(const struct peer_port_conf *conf, struct peer_fault *f);

/* Are @len bytes at @off inside the @announced ones of @peer? If not, it is at fault. */
bool peer_target_check(struct peer_fault *f, uint32_t peer, uint64_t announced, uint64_t off,
		       size_t len);

#endif /* PEER_FAULT_H */
