/* SPDX-License-Identifier: BSD-2-Clause */
/* process.c: what trib-ps and trib-ps ndn have in common as programs. */
#ifndef TRIB_PS_PROCESS_H
#define TRIB_PS_PROCESS_H

#include <stdbool.h>

/* Of --interval, in milliseconds. */
#define PS_INTERVAL_DEFAULT 1000

/* 10 to 86400000. */
bool ps_interval_parse(const char *s, unsigned int *out);
/* SIGINT, SIGTERM and SIGUSR1 come by this descriptor from now on; -1: errno. */
int ps_signals_open(void);

#endif /* TRIB_PS_PROCESS_H */
