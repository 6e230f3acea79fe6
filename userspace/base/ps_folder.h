/* SPDX-License-Identifier: BSD-2-Clause */
/* The folder by which `trib apply` gives trib-ps its jobs: facts of both. */
#ifndef TRIB_BASE_PS_FOLDER_H
#define TRIB_BASE_PS_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#define PS_RUN_DIR "/run/trib"
#define PS_JOB_FILE_MAX (1u << 20) /* bytes of a job's file */
#define PS_STATUS_FILE ".status"   /* trib-ps's answer, see ps/jobs.h */
#define PS_LOCK_FILE ".lock"	   /* trib-ps holds it while it runs */

/* Write the path of this network namespace's folder. Return: 0 or -errno. */
int ps_jobs_dir(char *buf, size_t size);
/* Digest a file's content, to know it again. Not against attackers. */
uint64_t ps_digest(const void *data, size_t len);

#endif /* TRIB_BASE_PS_FOLDER_H */
