// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Checks of messages. No kernel interface: tests/unit/kmod/sock_want.c runs it.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include "want.h"

#define ELEMENT 4

static int check(const struct trib_cm_send *cm, unsigned int world)
{
	if (cm->zero || cm->collective > TRIB_COLL_BARRIER || cm->op > TRIB_SOCK_MIN ||
	    cm->dtype > TRIB_SOCK_I32)
		return -EINVAL;
	if (cm->op == TRIB_SOCK_AVG && cm->dtype != TRIB_SOCK_F32)
		return -EINVAL;
	if (cm->op && cm->collective != TRIB_COLL_ALLREDUCE &&
	    cm->collective != TRIB_COLL_REDUCE_SCATTER)
		return -EINVAL;
	if (cm->root >= (cm->collective == TRIB_COLL_BROADCAST ? world : 1))
		return -EINVAL;
	return 0;
}

int trib_want_of(struct trib_want *w, const struct trib_cm_send *cm, __u64 len, unsigned int world,
		 unsigned int rank)
{
	__u64 ranks = cm->collective == TRIB_COLL_REDUCE_SCATTER ? world : 1;
	int rc = check(cm, world);

	if (rc || len % (ELEMENT * ranks) || (len && cm->collective == TRIB_COLL_BARRIER))
		return -EINVAL;
	w->count = len / ELEMENT / ranks;
	w->size = len;
	w->first = 0;
	w->bytes = len / ranks;
	if (cm->collective == TRIB_COLL_ALLGATHER) {
		w->size = len * world;
		w->first = len * rank;
		w->bytes = w->size;
	}
	return 0;
}
