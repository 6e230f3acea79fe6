/* SPDX-License-Identifier: BSD-2-Clause */
/* Who this tribd is: its name, its folders, and its right to run. */
#ifndef TRIBD_INSTANCE_H
#define TRIBD_INSTANCE_H

#include "tribd.h"

#define BPFFS "/sys/fs/bpf"
#define RUN_DIR "/run/trib"

/* Letters, digits, - and _ (bpffs takes no dots), at most 48 of them. */
bool instance_name_ok(const char *name);
/* Capabilities, bpffs, name, folders, lock. 0 or -errno, logged. */
int instance_open(struct tribd *d);
/* Removes the run folder's files, keeps the lock until exit. */
void instance_forget(struct tribd *d);
void instance_close(struct tribd *d);

#endif /* TRIBD_INSTANCE_H */
