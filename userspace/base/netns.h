/* SPDX-License-Identifier: BSD-2-Clause */
/* The name of this network namespace, by which instances and folders are known. */
#ifndef TRIB_BASE_NETNS_H
#define TRIB_BASE_NETNS_H

#include <stddef.h>

/* Write "default", or "net-INODE" of another one. Return: 0 or -errno. */
int netns_name(char *buf, size_t size);

#endif /* TRIB_BASE_NETNS_H */
