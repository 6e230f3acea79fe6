/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The benchmarks' table, in the columns of nccl-tests, and the same as JSON.
 * Only rank 0 calls this.
 */
#ifndef PERF_REPORT_H
#define PERF_REPORT_H

#include "measure.h"

#ifdef __cplusplus
extern "C" {
#endif

struct perf_report; /* rows so far */

/* Print the head of the table to stdout. NULL: out of memory. */
struct perf_report *perf_report_begin(const struct perf_net *net, const struct perf_opts *o);

/* 0 or -ENOMEM. */
int perf_report_row(struct perf_report *p, const struct perf_row *row);

/*
 * Print the foot of the table, write the JSON file of -J, and free @p.
 * @counters: trib_counters() of rank 0, or NULL.
 * @failed:   some sizes were not measured: no verdict, no JSON.
 * Return: 0, or -errno of writing the JSON.
 */
int perf_report_end(struct perf_report *p, const struct trib_counters *counters, int failed);

#ifdef __cplusplus
}
#endif
#endif /* PERF_REPORT_H */
