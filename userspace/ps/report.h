/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c: the log, and the counters as JSON. */
#ifndef TRIB_PS_REPORT_H
#define TRIB_PS_REPORT_H

#include <jansson.h>

#include "net.h"

/* A line on standard error; what others sent stays one printable line. */
void ps_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Write all counters to @path, or, if it is NULL, the log. 0 or -errno. */
int ps_report(const struct ps *ps, const struct ps_net *n, const char *path);
/* Replace the file by @doc, at once. 0 or -errno. */
int ps_report_write(const char *path, const json_t *doc);

#endif /* TRIB_PS_REPORT_H */
