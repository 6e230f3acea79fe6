// SPDX-License-Identifier: BSD-2-Clause
/* Writes with completion data: the only place where a port over libfabric issues one. */
#include <errno.h>

#include "peer/net/ofi.h"
#include "peer/net/ofi_rc.h"

/* A write of libfabric failed. */
static int put_failed(struct ofi_port *o, uint32_t link, ssize_t err)
{
	uint32_t rank = o->links[link].rank;

	if (err == -FI_EAGAIN)
		return -EAGAIN;
	return peer_fault_set(&o->fault, (int)-err, (int)rank, "write to rank %u: %s", rank,
			      fi_strerror((int)-err));
}

int ofi_put(struct ofi_port *o, uint32_t link, const struct peer_mem *m, const void *src,
	    size_t len, uint64_t addr, uint64_t key, const struct peer_flow_word *w)
{
	struct ofi_link *l = &o->links[link];
	uint64_t data = peer_flow_pack(w);
	struct ofi_op *op;
	ssize_t err;

	if (!o->wide)
		data &= UINT32_MAX;
	if (o->rc && !ofi_rc_ready(l))
		return -EAGAIN;
	/* BYE has a completion, for which its sender waits before it closes. */
	if (w->kind != PEER_FLOW_BYE && len <= o->info->tx_attr->inject_size) {
		err = fi_inject_writedata(l->ep, src, len, data, l->addr, addr, key);
		return err ? put_failed(o, link, err) : 0;
	}
	op = o->free_ops;
	if (!op)
		return -EAGAIN;
	op->link = link;
	err = fi_writedata(l->ep, src, len, m->desc, data, l->addr, addr, key, op);
	if (err)
		return put_failed(o, link, err);
	o->free_ops = op->next;
	o->unsent++;
	return 0;
}
