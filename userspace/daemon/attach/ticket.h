/* SPDX-License-Identifier: BSD-2-Clause */
/* Tickets: see uapi/trib_attach.h for their grammar. */
#ifndef TRIBD_TICKET_H
#define TRIBD_TICKET_H

#include "daemon/job/job.h"

/* Write the line by which rank @rank joins from a host without tribd. */
int ticket_write(struct tribd *d, const struct job *job, uint16_t rank, char *buf, size_t size,
		 struct reason *why);

#endif /* TRIBD_TICKET_H */
