/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process may do everything if it has CAP_NET_ADMIN over tribd's network
 * namespace, as in the kernel. Its user namespace is the one that owns the network
 * namespace, or above it.
 *
 * The kernel tells tribd the sender's process and real user as they were when it
 * sent. Capabilities are looked up later, when the process may be another program:
 *
 *	- it ended, and its number was used again; or it sent a netlink message from
 *	  another PID namespace, with the number that it has there. The process then
 *	  found does not have the sender's socket. At the attach socket a descriptor
 *	  of the process says that it has ended.
 *	- it executed a program that has more rights than the sender (set-user-ID, file
 *	  capabilities). So the capability must be one that no such program gets: the
 *	  sender is root of its user namespace, or has CAP_NET_ADMIN in its ambient set,
 *	  which such programs lose.
 */
#ifndef TRIBD_ADMIN_H
#define TRIBD_ADMIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "log.h"

/**
 * admin_by_netlink() - may the sender of a netlink message do everything?
 * @pid, @uid: as the kernel passed them with the message; @port: its address.
 *
 * Return: 0; -EPERM with the reason. A sender that has ended is refused.
 */
int admin_by_netlink(pid_t pid, uid_t uid, uint32_t port, struct reason *why);

/*
 * The same for the process at the other end of a Unix socket, at the time of
 * connect(). @pidfd: from admin_pidfd().
 */
int admin_by_unix(pid_t pid, uid_t uid, int pidfd, struct reason *why);
/*
 * Open process @pid, which is at the other end of @sock: exactly that one on Linux
 * 6.5 and later. Earlier kernels find it by its number; so call it at once after
 * accept(). Return: the caller's descriptor; -1: the process has ended.
 */
int admin_pidfd(int sock, pid_t pid);

/* --- the parts, for tests */

/**
 * struct admin_status - what /proc/PID/status says
 * @same_user: its four user ids are equal; @uid is that one.
 */
struct admin_status {
	uid_t uid;
	bool same_user;
	uint64_t effective;
	uint64_t ambient;
};

/* Return: whether @text had all of it. */
bool admin_status_parse(const char *text, struct admin_status *s);
/* Find which user is root in a user namespace, in its uid_map; (uid_t)-1: none. */
uid_t admin_root_of(const char *uid_map);

#endif /* TRIBD_ADMIN_H */
