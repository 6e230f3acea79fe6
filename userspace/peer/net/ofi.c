// SPDX-License-Identifier: BSD-2-Clause
/*
 * The operations of a port over libfabric: one-sided writes with completion data into
 * slots or announced memory, and what the completion queue says of them.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "peer/net/ofi.h"
#include "peer/net/ofi_rc.h"

#define READS_MAX 8  /* of the completion queue, in one poll() */
#define CLOSE_MS 100 /* for writes on the way when a port closes */

/* Issue a chunk, to a slot or in place. */
static int issue(struct ofi_port *o, uint32_t link, struct peer_mem *m, const void *src, size_t len,
		 bool staged, uint64_t addr, uint64_t key)
{
	struct ofi_link *l = &o->links[link];
	struct peer_flow_word w = {
		.kind = staged ? PEER_FLOW_STAGED : PEER_FLOW_DIRECT,
		.whole = len == o->chunk,
		.link = l->there,
		.number = (uint16_t)l->flow.sent,
		.len = (uint32_t)len,
	};
	bool tell = !o->wide && !w.whole;
	int err;

	/* One length at a time waits to be told. */
	if (tell && l->due & OFI_DUE_LEN)
		return -EAGAIN;
	err = ofi_put(o, link, m, src, len, addr, key, &w);
	if (err)
		return err;
	peer_flow_sent(&l->flow, staged);
	if (!tell)
		return 0;
	l->len_number = w.number;
	l->len_value = w.len;
	ofi_due(o, l, OFI_DUE_LEN);
	ofi_due_try(o, link);
	return 0;
}

static int ofi_send(struct peer_port *p, uint32_t link, struct peer_mem *m, const void *src,
		    size_t len)
{
	struct ofi_port *o = ofi_port(p);
	struct ofi_link *l = &o->links[link];
	int err;

	if (len > o->chunk)
		return -EINVAL;
	if (o->fault.err || !l->known || !peer_flow_may_send(&l->flow))
		return -EAGAIN;
	err = issue(o, link, m, src, len, true, l->slots + peer_flow_slot(&l->flow) * o->chunk,
		    l->key);
	return err ? -EAGAIN : 0;
}

static int ofi_write(struct peer_port *p, uint32_t link, struct peer_mem *m, const void *src,
		     size_t len, uint64_t off)
{
	struct ofi_port *o = ofi_port(p);
	struct ofi_link *l = &o->links[link];
	int err;

	if (len > o->chunk)
		return -EINVAL;
	if (o->fault.err || !l->known || !l->heard || !peer_flow_may_send(&l->flow))
		return -EAGAIN;
	if (!peer_target_check(&o->fault, l->rank, l->target.len, off, len))
		return -EAGAIN;
	err = issue(o, link, m, src, len, false, l->target.addr + off, l->target.key);
	return err ? -EAGAIN : 0;
}

static bool ofi_next(struct peer_port *p, uint32_t link, struct peer_chunk *c)
{
	struct ofi_port *o = ofi_port(p);
	const uint8_t *slots = o->area + o->npeer * sizeof(struct ofi_ctrl);
	uint32_t len;
	int slot;

	if (!peer_flow_next(&o->links[link].flow, &slot, &len))
		return false;
	c->len = len;
	c->data = slot < 0 ? NULL : slots + ((size_t)link * o->slots + slot) * o->chunk;
	return true;
}

static void ofi_done(struct peer_port *p, uint32_t link)
{
	struct ofi_port *o = ofi_port(p);
	struct ofi_link *l = &o->links[link];

	peer_flow_done(&l->flow);
	if (!peer_flow_owes(&l->flow))
		return;
	ofi_due(o, l, OFI_DUE_CREDIT);
	if (!o->fault.err)
		ofi_due_try(o, link);
}

static int ofi_announce(struct peer_port *p, uint32_t link, struct peer_mem *m, void *dst,
			size_t len)
{
	struct ofi_port *o = ofi_port(p);
	struct ofi_link *l = &o->links[link];
	int err;

	if (o->fault.err)
		return -o->fault.err;
	if (l->due & OFI_DUE_NOTE)
		return -EAGAIN;
	err = ofi_mem_register(o, m);
	if (err)
		return err;
	l->note.addr = ofi_mem_address(o, m, dst);
	l->note.key = m->key;
	l->note.len = len;
	l->note.nth = l->notes++;
	ofi_due(o, l, OFI_DUE_NOTE);
	err = ofi_due_try(o, link);
	return err == -EAGAIN ? 0 : err;
}

static bool ofi_ready(struct peer_port *p, uint32_t link, uint32_t nth)
{
	return ofi_port(p)->links[link].heard > nth;
}

static unsigned int ofi_unsent(const struct peer_port *p)
{
	return ofi_port_const(p)->unsent;
}

/* A write has ended, well or not. */
static void op_end(struct ofi_port *o, struct ofi_op *op)
{
	op->next = o->free_ops;
	o->free_ops = op;
	o->unsent -= !op->small;
	o->flying--;
}

/* The completion queue holds an error. */
static int poll_error(struct ofi_port *o)
{
	struct fi_cq_err_entry e = {0};
	struct ofi_op *op;
	int peer = -1;

	if (fi_cq_readerr(o->cq, &e, 0) != 1)
		return 0;
	op = e.op_context;
	if (o->rc && ofi_rc_is_receive(o, op)) {
		peer = (int)o->links[ofi_rc_take(o, op, false)].rank;
	} else if (op) {
		peer = (int)o->links[op->link].rank;
		op_end(o, op);
	}
	if (peer >= 0)
		return peer_fault_set(&o->fault, e.err, peer, "link to rank %d: %s", peer,
				      fi_strerror(e.err));
	return ofi_fault(o, e.err, -1, "completion queue");
}

/* Take one completion. */
static int poll_event(struct ofi_port *o, const struct fi_cq_data_entry *e)
{
	int via = -1;

	if (o->rc && ofi_rc_is_receive(o, e->op_context))
		via = ofi_rc_take(o, e->op_context, true);
	if (e->flags & FI_REMOTE_CQ_DATA)
		return ofi_word(o, e->data, via);
	if (via < 0 && e->op_context)
		op_end(o, e->op_context);
	return 0;
}

/* Read the queue. Return: number of events, or -errno. */
static int poll_queue(struct ofi_port *o)
{
	struct fi_cq_data_entry events[OFI_EVENTS];
	int reads, total = 0, err;
	ssize_t n, i;

	for (reads = 0; reads < READS_MAX; reads++) {
		n = fi_cq_read(o->cq, events, OFI_EVENTS);
		if (n == -FI_EAGAIN)
			break;
		if (n == -FI_EAVAIL) {
			err = poll_error(o);
			if (err)
				return err;
			continue;
		}
		if (n < 0)
			return ofi_fault(o, (int)-n, -1, "completion queue");
		for (i = 0; i < n; i++) {
			err = poll_event(o, &events[i]);
			if (err)
				return err;
		}
		total += (int)n;
		if (n < OFI_EVENTS)
			break;
	}
	return total;
}

static int ofi_poll(struct peer_port *p)
{
	struct ofi_port *o = ofi_port(p);
	int n, err;

	if (o->fault.err)
		return -o->fault.err;
	n = poll_queue(o);
	/* Connections afterwards: what came before one ended is in the queue. */
	if (n >= 0 && o->rc) {
		err = ofi_rc_poll(o);
		if (err)
			return err;
	}
	if (n >= 0 && o->dues) {
		err = ofi_dues(o);
		if (err)
			return err;
	}
	return n;
}

static void ofi_fault_get(const struct peer_port *p, struct peer_fault *f)
{
	*f = ofi_port_const(p)->fault;
}

static int ofi_fd(const struct peer_port *p)
{
	const struct ofi_port *o = ofi_port_const(p);

	return o->rc ? ofi_rc_fd(o) : o->wait_fd;
}

static bool ofi_rest(struct peer_port *p)
{
	struct ofi_port *o = ofi_port(p);
	struct fid *fids[] = {&o->cq->fid};

	if (o->fault.err || ofi_fd(p) < 0)
		return false;
	if (o->rc)
		return ofi_rc_rest(o);
	return fi_trywait(o->fabric, fids, 1) == FI_SUCCESS;
}

/* Tell the peers, and wait a little until that has left. */
static void close_tell(struct ofi_port *o)
{
	uint64_t end = clock_ms() + CLOSE_MS;
	uint32_t i;
	int n;

	for (i = 0; i < o->npeer; i++) {
		struct ofi_link *l = &o->links[i];
		struct peer_flow_word w = {.kind = PEER_FLOW_BYE, .link = l->there};

		if (l->known && (int)l->rank != o->fault.peer)
			ofi_put(o, i, o->area_mem, o->area, sizeof(uint64_t),
				l->ctrl + offsetof(struct ofi_ctrl, scratch[0]), l->key, &w);
	}
	/*
	 * Until the queue is empty, too: when rxm of libfabric 1.17 closes a connection of
	 * verbs, it posts the receives of what it finds there to the closed endpoint.
	 */
	do {
		n = poll_queue(o);
	} while (n >= 0 && (n || o->flying) && clock_ms() < end);
}

static void ofi_close(struct peer_port *p)
{
	struct ofi_port *o = ofi_port(p);

	o->closing = true;
	close_tell(o);
	ofi_free(o);
}

static int ofi_open_op(struct peer_port **out, const struct peer_port_conf *conf,
		       struct peer_fault *fault)
{
	struct ofi_port *o;
	int err = ofi_open(&o, conf, fault);

	if (err)
		return err;
	o->port.ops = &peer_port_ofi;
	*out = &o->port;
	return 0;
}

static size_t ofi_blob_op(struct peer_port *p, void *buf, size_t room)
{
	return ofi_blob(ofi_port(p), buf, room);
}

static int ofi_connect(struct peer_port *p, uint32_t link, const void *blob, size_t len)
{
	struct ofi_port *o = ofi_port(p);
	int err = ofi_blob_take(o, link, blob, len);

	/* A first write brings the connection up. */
	if (!err)
		ofi_due(o, &o->links[link], OFI_DUE_CREDIT);
	return err;
}

static struct peer_mem *ofi_mem_get_op(struct peer_port *p, void *mem, size_t len)
{
	return ofi_mem_get(ofi_port(p), mem, len);
}

static void ofi_mem_put_op(struct peer_port *p, struct peer_mem *m)
{
	ofi_mem_put(ofi_port(p), m);
}

const struct peer_port_ops peer_port_ofi = {
	.name = "ofi",
	.open = ofi_open_op,
	.blob = ofi_blob_op,
	.connect = ofi_connect,
	.mem_get = ofi_mem_get_op,
	.mem_put = ofi_mem_put_op,
	.announce = ofi_announce,
	.ready = ofi_ready,
	.send = ofi_send,
	.write = ofi_write,
	.next = ofi_next,
	.done = ofi_done,
	.unsent = ofi_unsent,
	.poll = ofi_poll,
	.fault = ofi_fault_get,
	.fd = ofi_fd,
	.rest = ofi_rest,
	.close = ofi_close,
};
