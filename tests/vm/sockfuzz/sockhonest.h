/* SPDX-License-Identifier: BSD-2-Clause */
/* Two correct ranks among all others: see sockhonest.c. */
#ifndef SOCKHONEST_H
#define SOCKHONEST_H

/* Open both ranks, before other sockets can take their ports. */
void honest_start(void);
/* Let both leave after the same message, and wait for it. */
void honest_stop(void);

#endif /* SOCKHONEST_H */
