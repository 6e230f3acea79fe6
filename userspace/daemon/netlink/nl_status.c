// SPDX-License-Identifier: BSD-2-Clause
/* Netlink: status of the daemon. */
#include <errno.h>
#include <unistd.h>

#include "daemon/attach/attach.h"
#include "daemon/tree/tree.h"
#include "nl.h"

int nl_status_get(struct tribd *d, struct nl_request *r)
{
	struct nl_msg *m = r->reply;
	struct nlattr *nest = nla_nest_start(m, TRIB_A_STATUS);

	if (!nest || nla_put_string(m, TRIB_A_STATUS_VERSION, TRIB_VERSION) ||
	    nla_put_string(m, TRIB_A_STATUS_INSTANCE, d->pin_dir) ||
	    nla_put_u32(m, TRIB_A_STATUS_ABI, TRIB_MAPS_ABI) ||
	    nla_put_u32(m, TRIB_A_STATUS_PID, (uint32_t)getpid()) ||
	    nla_put_u64(m, TRIB_A_STATUS_UPTIME_MS, (loop_now() - d->start_ns) / 1000000) ||
	    nla_put_u8(m, TRIB_A_STATUS_ADOPTED, d->adopted) ||
	    nla_put_u32(m, TRIB_A_STATUS_NVAL, d->config.nval) ||
	    nla_put_u32(m, TRIB_A_STATUS_SLOTS, d->config.nslots) ||
	    nla_put_u32(m, TRIB_A_STATUS_SLOTS_USED, dedicated_slots_used(d)) ||
	    nla_put_u8(m, TRIB_A_STATUS_MODULE, d->kfuncs) ||
	    nla_put_u32(m, TRIB_A_STATUS_FACES, d->nfaces) ||
	    nla_put_u32(m, TRIB_A_STATUS_JOBS, d->njobs) ||
	    nla_put_u32(m, TRIB_A_STATUS_TREES, d->ntrees) ||
	    nla_put_u32(m, TRIB_A_STATUS_WORKERS, attach_count(d, NULL)) ||
	    nla_put_u32(m, TRIB_A_STATUS_POOL, d->pool) ||
	    nla_put_u64(m, TRIB_A_STATUS_UNPROVEN, d->unproven))
		return -EMSGSIZE;
	nla_nest_end(m, nest);
	return 0;
}
