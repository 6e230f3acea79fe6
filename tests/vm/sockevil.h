/* SPDX-License-Identifier: BSD-2-Clause */
/* A network that means no good: see sockevil.c. */
#ifndef SOCKEVIL_H
#define SOCKEVIL_H

#include "tests/vm/sockops.h"

/* Counters of struct stress. */
enum {
	EVIL_HEARD = 2 * OPS,
	EVIL_SENT,
	HONEST_DONE,
	VICTIMS,
	LOOKS,
};

/* Threads, until the int that they are given is not 0. */
void *evil_relay(void *stop);
void *evil_sender(void *stop);

#endif /* SOCKEVIL_H */
