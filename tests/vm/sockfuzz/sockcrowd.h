/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets enough for long lists, which go while packets come: see sockcrowd.c. */
#ifndef SOCKCROWD_H
#define SOCKCROWD_H

#define CROWD 64

void crowd_start(void);
/* Closes them, in a child, too. */
void crowd_stop(void);
/* A thread, until stress_over(). */
void *crowd_churn(void *unused);

#endif /* SOCKCROWD_H */
