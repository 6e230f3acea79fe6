/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the process that has an address, by the tables in /proc/net and the
 * descriptors of all processes.
 */
#ifndef TRIB_BASE_HOLDER_H
#define TRIB_BASE_HOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/**
 * struct holder - a process that has an address
 * @pid:   0: it cannot be seen from here (another PID namespace, or no right to
 *         look at its descriptors).
 * @uid:   its user; (uid_t)-1: unknown.
 * @comm:  its command; "" without @pid.
 * @is_root: its real and its effective user are 0.
 */
struct holder {
	pid_t pid;
	uid_t uid;
	bool is_root;
	char comm[32];
};

/**
 * holder_find() - find who has the address @sa of this network namespace
 * @sa:   an abstract name of a SEQPACKET socket, an IP address, or a netlink port.
 * @protocol: of a netlink socket. IPPROTO_TCP: who listens at an IP address; else UDP.
 *
 * Return: 0; -ENOENT if nobody has it, as far as the tables say; -errno.
 */
int holder_find(const struct sockaddr *sa, socklen_t len, int protocol, struct holder *h);
/* Does the process with the folder @proc in /proc have that address? */
bool holder_has(int proc, const struct sockaddr *sa, socklen_t len, int protocol);
/* Write "process 12 (nc, uid 1000)", or what is known. Return: @buf. */
const char *holder_text(const struct holder *h, char *buf, size_t size);
#define HOLDER_TEXT_MAX 128

/*
 * Fill in @h about process @pid. Return: false if it has ended.
 */
bool holder_process(pid_t pid, struct holder *h);

#endif /* TRIB_BASE_HOLDER_H */
