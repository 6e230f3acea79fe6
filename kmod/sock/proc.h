/* SPDX-License-Identifier: GPL-2.0 */
/* /proc/net/trib: a line for each collective socket of the namespace. */
#ifndef TRIB_SOCK_PROC_H
#define TRIB_SOCK_PROC_H

struct net;

/* Return: 0 or -ENOMEM. */
int trib_proc_add(struct net *net);
void trib_proc_remove(struct net *net);

#endif /* TRIB_SOCK_PROC_H */
