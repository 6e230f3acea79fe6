/* SPDX-License-Identifier: BSD-2-Clause */
/* where.c: what trib-ps and those who give it jobs must agree on. */
#ifndef TRIB_PS_WHERE_H
#define TRIB_PS_WHERE_H

#include <stddef.h>
#include <stdint.h>

#define PS_JOB_FILE_MAX (1u << 20) /* bytes of a job's file */
#define PS_STATUS_FILE ".status"   /* what was made of the files, see jobs.h */
#define PS_LOCK_FILE ".lock"	   /* held while trib-ps reads the folder */

/* The folder of this network namespace. Return: 0 or -errno. */
int ps_jobs_dir(char *buf, size_t size);
/* By which a file's content is known again. */
uint64_t ps_digest(const void *data, size_t len);

#endif /* TRIB_PS_WHERE_H */
