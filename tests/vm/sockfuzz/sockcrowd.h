/* SPDX-License-Identifier: BSD-2-Clause */
/* Many sockets, for long lists, closed while packets come: see sockcrowd.c. */
#ifndef SOCKCROWD_H
#define SOCKCROWD_H

#define CROWD 64

void crowd_start(void);
/* Close all sockets; a child closes its copies. */
void crowd_stop(void);
/* Thread that runs until stress_over(). */
void *crowd_churn(void *unused);

#endif /* SOCKCROWD_H */
