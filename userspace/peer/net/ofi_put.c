// SPDX-License-Identifier: BSD-2-Clause
/* Writes with completion data: the only place where a port over libfabric issues one. */
#include <errno.h>
#include <string.h>

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

/*
 * A small write has a copy of its source. It is not injected: if the connection ends
 * with an injected write on its way, ofi_rxm of libfabric 1.17 follows a null pointer.
 */
int ofi_put(struct ofi_port *o, uint32_t link, const struct peer_mem *m, const void *src,
	    size_t len, uint64_t addr, uint64_t key, const struct peer_flow_word *w)
{
	struct ofi_link *l = &o->links[link];
	uint64_t data = peer_flow_pack(w);
	bool small = len <= OFI_SMALL;
	struct ofi_op *op;
	ssize_t err;

	if (!o->wide)
		data &= UINT32_MAX;
	if (o->rc && !ofi_rc_ready(l))
		return -EAGAIN;
	op = o->free_ops;
	if (!op)
		return -EAGAIN;
	op->link = link;
	op->small = small;
	if (small) {
		uint8_t *copy = o->small + (size_t)(op - o->ops) * OFI_SMALL;

		if (len)
			memcpy(copy, src, len);
		src = copy;
		m = o->small_mem;
	}
	err = fi_writedata(l->ep, src, len, m->desc, data, l->addr, addr, key, op);
	if (err)
		return put_failed(o, link, err);
	o->free_ops = op->next;
	o->unsent += !small;
	o->flying++;
	return 0;
}
