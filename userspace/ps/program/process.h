/* SPDX-License-Identifier: BSD-2-Clause */
/* process.c: log, signals and options of trib-ps and trib-ps ndn. */
#ifndef TRIB_PS_PROCESS_H
#define TRIB_PS_PROCESS_H

#include <stdbool.h>

/* --interval, in milliseconds. */
#define PS_INTERVAL_DEFAULT 1000

/*
 * Write one line to standard error; unprintable characters become '?'. Under
 * systemd it begins with its priority, else with the program's name.
 */
void ps_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * Print an error of the command line, @fmt with @value, and then @usage.
 * Return: 2, the exit status.
 */
int ps_usage(const char *usage, const char *fmt, const char *value);
/* Parse a number from 10 to 86400000. Return: whether @s is one. */
bool ps_interval_parse(const char *s, unsigned int *out);
/*
 * Block SIGINT, SIGTERM and SIGUSR1, and receive them by a descriptor.
 * Return: the descriptor, or -1 with errno.
 */
int ps_signals_open(void);

/* Bits of ps_signals_take(). */
enum ps_signal {
	PS_SIGNAL_REPORT = 1, /* SIGUSR1 */
	PS_SIGNAL_STOP = 2,   /* SIGINT, SIGTERM */
};

/* Take the signals that have come to the descriptor @fd. Return: their bits. */
unsigned int ps_signals_take(int fd);

#endif /* TRIB_PS_PROCESS_H */
