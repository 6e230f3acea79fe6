// SPDX-License-Identifier: BSD-2-Clause
/* Preloaded: a kernel module of before TRIB_SO_CELLS, by what libtrib asks it. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uapi/trib_sock.h"

int getsockopt(int fd, int level, int name, void *v, socklen_t *len)
{
	if (level != SOL_TRIB || name != TRIB_SO_EPOCHS)
		return (int)syscall(SYS_getsockopt, fd, level, name, v, len);
	errno = ENOPROTOOPT;
	return -1;
}
