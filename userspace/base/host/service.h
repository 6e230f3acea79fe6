/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protocol between a service and systemd: sockets that come with the start,
 * and news by $NOTIFY_SOCKET (sd_listen_fds(3), sd_notify(3)). A program that
 * systemd did not start gets no sockets, and its news go nowhere.
 *
 * Not libsystemd: it would bring five more libraries into a process with
 * CAP_SYS_ADMIN, for these two stable interfaces.
 */
#ifndef TRIB_BASE_SERVICE_H
#define TRIB_BASE_SERVICE_H

#include <stdbool.h>
#include <sys/socket.h>

#define SERVICE_SOCKETS_MAX 64
#define SERVICE_NAME_MAX 64

/**
 * struct service_sockets - sockets that came with the start
 * @fd:   close-on-exec, and the caller's; -1: taken.
 * @name: the one it is kept under, or that of its unit.
 */
struct service_sockets {
	unsigned int n;
	int fd[SERVICE_SOCKETS_MAX];
	char name[SERVICE_SOCKETS_MAX][SERVICE_NAME_MAX];
};

/*
 * Find the sockets that systemd passed to this process. The first call only: it
 * removes the variables, which are not for children.
 */
void service_sockets_get(struct service_sockets *s);
/* Take the socket that is bound to @sa and has @type. Return: it; -1: there is none. */
int service_sockets_take(struct service_sockets *s, int type, const struct sockaddr *sa,
			 socklen_t len);
/*
 * Close what nobody took, and have systemd keep nothing under these names: another
 * address was wanted at the last start.
 */
void service_sockets_close(struct service_sockets *s);
/*
 * Drop what a kept UDP socket received while the service was down: senders have sent
 * again, or have given up.
 */
void service_drain(int fd);

/*
 * Have systemd keep a copy of @fd for the next start; it needs
 * FileDescriptorStoreMax. @name: letters only. Return: 0; -ENOENT without systemd;
 * -errno.
 */
int service_keep(int fd, const char *name);
/* Send "READY=1", "STATUS=...". Return: as above. */
int service_tell(const char *news);

#endif /* TRIB_BASE_SERVICE_H */
