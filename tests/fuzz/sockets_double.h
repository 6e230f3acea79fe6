/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connected sockets of datagrams (SOCK_SEQPACKET) without a kernel: the linker wraps
 * recv(), sendmsg(), poll() and close(). They do what the kernel's do, without waiting;
 * and a descriptor that is closed twice, or sent and not open, ends the program.
 */
#ifndef TESTS_FUZZ_SOCKETS_DOUBLE_H
#define TESTS_FUZZ_SOCKETS_DOUBLE_H

#include <stddef.h>
#include <sys/types.h>

/* Make two ends. */
void sockets_pair(int fd[2]);
/* Open a file that is no socket. */
int sockets_file(void);
/* Send without waiting, and without descriptors. */
void sockets_send(int fd, const void *data, size_t len);
/**
 * sockets_take() - receive without waiting
 * @nfd: descriptors that came with it, which are closed.
 * Return: as recv().
 */
ssize_t sockets_take(int fd, void *data, size_t room, unsigned int *nfd);
void sockets_close(int fd);
/* Return: descriptors that are open. */
unsigned int sockets_open(void);

#endif /* TESTS_FUZZ_SOCKETS_DOUBLE_H */
