/* SPDX-License-Identifier: BSD-2-Clause */
/* Identity of this tribd: its name, its folders, and its lock. */
#ifndef TRIBD_INSTANCE_H
#define TRIBD_INSTANCE_H

#include "tribd.h"

#define BPFFS "/sys/fs/bpf"
#define RUN_DIR "/run/trib"

/* True for 1 to 48 letters, digits, - and _ (bpffs takes no dots). */
bool instance_name_ok(const char *name);
/*
 * Check capabilities, find bpffs, name, folders and lock; with --check nothing is
 * made or locked. 0 or -errno, logged.
 */
int instance_open(struct tribd *d);
/* Remove the files of the run folder; the lock is held until exit. */
void instance_forget(struct tribd *d);
void instance_close(struct tribd *d);

#endif /* TRIBD_INSTANCE_H */
