/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jobs.c: a folder of jobs' files, NAME.json each. trib-ps
 * adds, changes and drops jobs as files appear, change and go. A refused file
 * changes nothing, and its job runs on. .status tells the outcome of each file:
 *
 *	{"listen": "10.0.0.1:7417", "pid": 1, "files":
 *	 {"train.json": {"digest": "cbf29ce484222325", "error": ""}}}
 */
#ifndef TRIB_PS_JOBS_H
#define TRIB_PS_JOBS_H

#include "ps/sum/ps.h"

struct ps_jobs;

/**
 * ps_jobs_open() - lock the folder, and add the jobs in it
 * @dir:    made if missing; must live as long as the result.
 * @v4:     as for ps_config_load().
 * @listen: for .status.
 *
 * Return: 0, or -errno with one line in @why. A refused file is not an error.
 */
int ps_jobs_open(struct ps_jobs **out, struct ps *ps, const char *dir, bool v4, const char *listen,
		 char *why, size_t size);
void ps_jobs_close(struct ps_jobs *j);
/* Descriptor that is readable when something changed in the folder. */
int ps_jobs_fd(const struct ps_jobs *j);
/* Look at the folder again; nothing may be queued for sending. */
void ps_jobs_turn(struct ps_jobs *j);
/* Return: the number of refused files. */
unsigned int ps_jobs_refused(const struct ps_jobs *j);

#endif /* TRIB_PS_JOBS_H */
