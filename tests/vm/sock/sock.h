/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the tests of collective sockets (sock_star.c): a star of workers, each
 * with a network namespace and a ticket, made by tests/vm/sock.t:
 *
 *	w0 -- relay -- w1	tribd in the relay's namespace, none elsewhere
 *	     /     \		job "train"
 *	    w2      w3
 *
 * All ranks are sockets of this process, unless a test forks.
 */
#ifndef TESTS_VM_SOCK_H
#define TESTS_VM_SOCK_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "lib/place/place.h"
#include "uapi/trib_sock.h"

#define WORLD 4

struct world {
	unsigned int n;
	char ns[WORLD][64];
	char ticket[WORLD][256];
	struct trib_attach_rep rep[WORLD];
	struct sockaddr_trib addr[WORLD];
	int fd[WORLD];
};

extern struct world w;

/* Read namespaces and tickets of the fabric $FABRIC, or "sock". */
void world_read(void);
void enter(unsigned int rank);
/* Open a socket in the namespace of @rank and set its place, without bind(). */
int make_socket(unsigned int rank);
/* The same in the current namespace. */
int make_socket_here(unsigned int rank);
int bind_socket(int fd, unsigned int rank);
/* Let all ranks from @first on join; sets w.fd. Return: 0 or negative errno. */
int join_all(unsigned int first);
/* Wait for @events. Return: 0 if none came within ten seconds. */
int await(int fd, short events, int ms);
/* Let all sockets leave together, and close them. */
void leave_all(unsigned int first);
/* Close all sockets at once. */
void close_all(unsigned int first);

uint32_t state_of(int fd);
struct trib_sock_error error_of(int fd);
struct trib_sock_info info_of(int fd);
int set_u32(int fd, int name, uint32_t v);

/* Send a message with a control message. */
ssize_t send_cm(int fd, const void *p, size_t len, const struct trib_cm_send *cm, int flags);
/* Receive a result and its control message. */
ssize_t recv_cm(int fd, void *p, size_t len, struct trib_cm_recv *cm, int flags);

/* Run @fn as an unprivileged user in a child; its result is the exit status. */
int as_nobody(int (*fn)(void *arg), void *arg);

#endif /* TESTS_VM_SOCK_H */
