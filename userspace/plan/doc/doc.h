/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Documents and errors of the planner: base/json_read.h with its limits.
 */
#ifndef TRIB_PLAN_DOC_H
#define TRIB_PLAN_DOC_H

#include "base/json_read.h"
#include "plan/plan.h"

/* Write one line of text into @err; returns @code. */
int plan_fail(struct plan_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* json_read_open() for at most PLAN_TEXT_MAX bytes, with errors in @err. */
int doc_open(struct json_read *d, const char *name, const char *text, size_t len,
	     struct plan_error *err);

/* Check that @s, the value at @at, is a name that tribd accepts: of a job, of a face. */
int doc_job_name(const struct json_read *d, const struct json_at *at, const char *s);
int doc_name(const struct json_read *d, const struct json_at *at, const char *s);
/* Write "out of memory"; returns -ENOMEM. */
int doc_no_memory(const struct json_read *d);

#endif /* TRIB_PLAN_DOC_H */
