/* SPDX-License-Identifier: BSD-2-Clause */
/* Two ranks that do what they should, amid all others: see sockhonest.c. */
#ifndef SOCKHONEST_H
#define SOCKHONEST_H

/* Before anybody else can take their ports. */
void honest_start(void);
/* After messages that both of them know, both leave; waits for that. */
void honest_stop(void);

#endif /* SOCKHONEST_H */
