/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Claims. If the kernel module is loaded, tribd claims the number of each job
 * for its owner in this network namespace: collective sockets of other users
 * cannot bind to it. tribd claims when a job is made, at its start, and when
 * the module comes; a claim stays while tribd is down, and goes with the job. A
 * failure is logged and changes nothing else.
 */
#ifndef TRIBD_CLAIMS_H
#define TRIBD_CLAIMS_H

#include <linux/netlink.h>

#include "daemon/core/tribd.h"

/* Claim all restored jobs. -ENOMEM, or 0 also without generic netlink. */
int claims_init(struct tribd *d);
void claims_exit(struct tribd *d);

void claims_job_added(struct tribd *d, const struct job *j);
void claims_job_removed(struct tribd *d, const struct job *j);

/**
 * claims_family() - what a message of the kernel's says of the module (pure)
 * @nlh: of the controller of generic netlink, whole.
 * @id:  of the module's family: set, or 0 if it is gone; else left alone.
 */
void claims_family(struct nlmsghdr *nlh, uint16_t *id);

#endif /* TRIBD_CLAIMS_H */
