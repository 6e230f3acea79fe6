/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs are their owners': where the kernel module is loaded, each job's number
 * is claimed for its owner in this network namespace, so that no other user's
 * collective socket can bind to it. A claim is made with the job, at tribd's
 * start and whenever the module comes; it stays while tribd is down, and goes
 * with the job. Failing is logged and changes nothing else.
 */
#ifndef TRIBD_CLAIMS_H
#define TRIBD_CLAIMS_H

#include <linux/netlink.h>

#include "daemon/core/tribd.h"

/* With the jobs of the state file there. Fails only for want of memory. */
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
