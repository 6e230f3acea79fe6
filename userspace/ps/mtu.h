/* SPDX-License-Identifier: BSD-2-Clause */
/* mtu.c: checks that packets of the jobs fit through the network. */
#ifndef TRIB_PS_MTU_H
#define TRIB_PS_MTU_H

#include "ps/sum/ps.h"

/*
 * Return: 0, or -EMSGSIZE with one line in @why. Hosts without a route now are not
 * checked, and of a path only its first link.
 */
int ps_mtu_check(const struct ps *ps, char *why, size_t size);

#endif /* TRIB_PS_MTU_H */
