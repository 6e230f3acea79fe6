/* SPDX-License-Identifier: BSD-2-Clause */
/* A hostile network: see sockevil.c. */
#ifndef SOCKEVIL_H
#define SOCKEVIL_H

#include "sockops.h"

/* Counters of struct stress. */
enum {
	EVIL_HEARD = 2 * OPS,
	EVIL_SENT,
	HONEST_DONE,
	HONEST_SEEN,
	HONEST_NOWHERE,
	VICTIMS,
	LOOKS,
	LONG_LOOKS,
	CHURNED,
};

/* Threads that run until stress_over(). */
void *evil_relay(void *unused);
void *evil_sender(void *unused);

#endif /* SOCKEVIL_H */
