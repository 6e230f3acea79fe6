/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c: the counters as JSON. */
#ifndef TRIB_PS_REPORT_H
#define TRIB_PS_REPORT_H

#include "net.h"

/*
 * Replace the file @path by all counters, or log them if it is NULL.
 * Return: 0 or -errno.
 */
int ps_report(const struct ps *ps, const struct ps_net *n, const char *path);

#endif /* TRIB_PS_REPORT_H */
