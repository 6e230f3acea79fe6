// SPDX-License-Identifier: BSD-2-Clause
/* A walk: what may be sent is sent, what has come is applied. See walk.h. */
#include "walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static const struct peer_op *op_of(const struct peer_walk *w, uint32_t i)
{
	return &w->path->lane->op[i];
}

/* --- chunks */

/* Find the element of the vector at lane coordinate @x, and the elements left there. */
static uint64_t place(const struct peer_lane *lane, uint64_t x, uint64_t *left)
{
	uint32_t i;

	for (i = 0; i < lane->npiece && x >= lane->piece[i].len; i++)
		x -= lane->piece[i].len;
	if (i == lane->npiece) {
		*left = 0;
		return 0;
	}
	*left = lane->piece[i].len - x;
	return lane->piece[i].at + x;
}

/* Bytes of an element of the source. */
static size_t own_size(const struct peer_job *j)
{
	return j->masked ? j->masked->size : j->size;
}

/* A range that the receiver lets the network write. Both ends decide alike. */
static bool is_direct(const struct peer_walk *w, const struct peer_op *o)
{
	return (o->kind == PEER_SET || o->kind == PEER_SEND_SET) && w->path->lane->npiece == 1 &&
	       o->len * w->job->size >= w->job->direct && o->nic != PEER_NIC_LOCAL;
}

/*
 * The next chunk of an operation, from @off on. Return: its elements; *@at: where they
 * are in the vector. An empty range has one chunk, which is empty.
 */
static uint64_t cut(const struct peer_walk *w, const struct peer_op *o, uint64_t off, uint64_t *at)
{
	uint64_t left;

	*at = place(w->path->lane, o->at + off, &left);
	if (!o->len)
		return 0;
	return min(min(w->job->chunk / w->job->size, o->len - off), left);
}

/* Whether all that a chunk at lane coordinate @x, @n long, waits for has passed. */
static bool may(const struct peer_walk *w, uint32_t op, uint64_t x, uint64_t n)
{
	const struct peer_node *node = &w->path->node[op];
	const struct peer_op *e;
	uint64_t end;
	uint32_t i, d, u;

	/* Empty ranges wait for operations, not for parts of them. */
	for (i = 0; !w->path->lane->len && i < node->ndep; i++)
		if (!w->done[w->path->dep[node->dep + i]])
			return false;
	for (i = 0; i < node->ndep; i++) {
		d = w->path->dep[node->dep + i];
		e = op_of(w, d);
		end = min(x + n, e->at + e->len);
		if (e->at >= x + n || end <= x || w->done[d] >= e->len)
			continue;
		if (w->done[d] < end - e->at)
			return false;
	}
	/* An ADD changes what an earlier SEND of the range may still be reading. */
	for (i = 0; op_of(w, op)->kind == PEER_ADD && i < node->ndep; i++) {
		e = op_of(w, w->path->dep[node->dep + i]);
		if (!peer_op_sends(e))
			continue;
		for (u = 0; u < w->nuse; u++)
			if (w->use[u].port->ops->unsent(w->use[u].port))
				return false;
	}
	return true;
}

/* --- sending */

static int send_chunk(struct peer_walk *w, const struct peer_link *l, const struct peer_op *o,
		      uint64_t at, uint64_t n)
{
	struct peer_port_use *u = &w->use[l->port];
	const struct peer_job *j = w->job;
	const char *base = o->first ? j->src : j->dst;
	size_t size = o->first ? own_size(j) : j->size;
	struct peer_mem *m = o->first ? u->src : u->dst;

	/* An empty vector may have no address. */
	if (!n)
		return u->port->ops->send(u->port, l->link, m, "", 0);
	if (!is_direct(w, o))
		return u->port->ops->send(u->port, l->link, m, base + at * size, n * size);
	if (!u->port->ops->ready(u->port, l->link, u->expected[l->link]))
		return -EAGAIN;
	return u->port->ops->write(u->port, l->link, m, base + at * j->size, n * j->size,
				   at * j->size);
}

/* Only the lane's thread writes: no read-modify-write is needed. */
static void add(_Atomic uint64_t *c, uint64_t n)
{
	atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static void count_sent(struct peer_walk *w, const struct peer_op *o, uint64_t n)
{
	unsigned int nic = o->nic == PEER_NIC_LOCAL ? PEER_NICS_MAX : o->nic;

	if (w->tally)
		add(&w->tally->sent_by_nic[nic], n * (o->first ? own_size(w->job) : w->job->size));
}

static void count_received(struct peer_walk *w, const struct peer_chunk *c)
{
	if (!w->tally)
		return;
	add(&w->tally->chunks, 1);
	add(&w->tally->recv_bytes, c->len);
	add(&w->tally->in_place, !c->data);
}

static void passed(struct peer_walk *w, struct peer_spot *s, uint64_t n)
{
	const struct peer_op *o = op_of(w, s->op);
	uint32_t next = w->path->node[s->op].next;

	s->off += n;
	w->done[s->op] = s->off + !o->len;
	if (s->off < o->len)
		return;
	w->left--;
	if (w->record)
		w->record(w->record_arg, o);
	s->op = next;
	s->off = 0;
}

static bool send_link(struct peer_walk *w, uint32_t link)
{
	struct peer_spot *s = &w->send[link];
	bool any = false;
	uint64_t at, n;

	while (s->op != PEER_NO_OP) {
		const struct peer_op *o = op_of(w, s->op);

		n = cut(w, o, s->off, &at);
		if (!may(w, s->op, o->at + s->off, n) || send_chunk(w, &w->link[link], o, at, n))
			break;
		count_sent(w, o, n);
		passed(w, s, n);
		any = true;
	}
	return any;
}

/* --- receiving */

/* Whether a chunk's length is that of @n elements. The values of one rank may be packed. */
static bool fits(const struct peer_walk *w, const struct peer_op *o, size_t len, uint64_t n)
{
	return len == n * w->job->size || (o->kind == PEER_ADD && len == n * own_size(w->job));
}

/* Return: false: nobody can have sent this. */
static bool apply(struct peer_walk *w, const struct peer_op *o, uint64_t at, uint64_t n,
		  const struct peer_chunk *c)
{
	const struct peer_job *j = w->job;
	char *out = (char *)j->dst + at * j->size;
	const void *own = o->first ? (const char *)j->src + at * own_size(j) : out;
	const void *a = o->swap ? c->data : own, *b = o->swap ? own : c->data;

	if (!n || !c->data)
		return true;
	if (o->kind == PEER_SET)
		memcpy(out, c->data, n * j->size);
	else if (j->masked)
		return peer_masked_add(j->masked, out, own, o->first, c->data,
				       c->len != n * j->size, o->swap, n);
	else if (o->last && j->average)
		j->average(out, a, b, n, j->world);
	else
		j->fn(out, a, b, n);
	return true;
}

/* The peer does another call. */
static bool is_wrong(struct peer_walk *w, const struct peer_op *o)
{
	w->wrong = true;
	w->wrong_peer = o->peer;
	return true;
}

static bool recv_link(struct peer_walk *w, uint32_t link)
{
	const struct peer_link *l = &w->link[link];
	struct peer_port *p = w->use[l->port].port;
	struct peer_spot *s = &w->recv[link];
	struct peer_chunk c;
	bool any = false;
	uint64_t at, n;

	while (s->op != PEER_NO_OP && p->ops->next(p, l->link, &c)) {
		const struct peer_op *o = op_of(w, s->op);

		n = cut(w, o, s->off, &at);
		if (!fits(w, o, c.len, n) || (n && !c.data != is_direct(w, o)))
			return is_wrong(w, o);
		if (!may(w, s->op, o->at + s->off, n))
			break;
		if (!apply(w, o, at, n, &c))
			return is_wrong(w, o);
		count_received(w, &c);
		p->ops->done(p, l->link);
		passed(w, s, n);
		any = true;
	}
	return any;
}

/* --- beginning and end */

static int make_room(struct peer_walk *w, uint32_t ops, uint32_t links)
{
	void *m;

	if (ops > w->room_ops) {
		m = realloc(w->done, ops * sizeof(*w->done));
		if (!m)
			return -ENOMEM;
		w->done = m;
		w->room_ops = ops;
	}
	if (links > w->room_links) {
		m = realloc(w->send, links * sizeof(*w->send));
		if (!m)
			return -ENOMEM;
		w->send = m;
		m = realloc(w->recv, links * sizeof(*w->recv));
		if (!m)
			return -ENOMEM;
		w->recv = m;
		w->room_links = links;
	}
	return 0;
}

static int register_memory(struct peer_walk *w)
{
	const struct peer_job *j = w->job;
	struct peer_port_use *u;
	uint32_t i;

	for (i = 0; i < w->nuse; i++) {
		u = &w->use[i];
		if (!j->vec)
			continue;
		u->dst = u->port->ops->mem_get(u->port, j->dst, j->vec * j->size);
		u->src = u->port->ops->mem_get(u->port, (void *)(uintptr_t)j->src,
					       j->vec * own_size(j));
		if (!u->dst || !u->src)
			return -ENOMEM;
	}
	return 0;
}

/* Whether a chain of operations has one that is written in place. */
static bool has_direct(const struct peer_walk *w, uint32_t op)
{
	for (; op != PEER_NO_OP; op = w->path->node[op].next)
		if (is_direct(w, op_of(w, op)))
			return true;
	return false;
}

/* Tell the peers where they may write. Return: whether all know now. */
static bool announce(struct peer_walk *w)
{
	const struct peer_link *l;
	struct peer_port_use *u;

	for (; w->told < w->path->nlink; w->told++) {
		if (!has_direct(w, w->path->recv[w->told]))
			continue;
		l = &w->link[w->told];
		u = &w->use[l->port];
		if (u->port->ops->announce(u->port, l->link, u->dst, w->job->dst,
					   w->job->vec * w->job->size))
			return false;
	}
	return true;
}

bool peer_walk_step(struct peer_walk *w)
{
	bool any = w->told < w->path->nlink && announce(w);
	uint32_t i, link = w->path->start;

	for (i = 0; i < w->path->nlink && !w->wrong; i++) {
		any |= recv_link(w, link);
		any |= send_link(w, link);
		link = link + 1 < w->path->nlink ? link + 1 : 0;
	}
	return any;
}

int peer_walk_begin(struct peer_walk *w, const struct peer_path *path, const struct peer_job *job,
		    const struct peer_link *link, struct peer_port_use *use, uint32_t nuse)
{
	uint32_t i;
	int rc;

	w->path = path;
	w->job = job;
	w->link = link;
	w->use = use;
	w->nuse = nuse;
	w->left = path->lane->nop;
	w->wrong = false;
	w->told = 0;
	rc = make_room(w, path->lane->nop, path->nlink);
	if (rc)
		return rc;
	for (i = 0; i < path->lane->nop; i++)
		w->done[i] = 0;
	for (i = 0; i < path->nlink; i++) {
		w->send[i] = (struct peer_spot){.op = path->send[i]};
		w->recv[i] = (struct peer_spot){.op = path->recv[i]};
	}
	return register_memory(w);
}

bool peer_walk_over(const struct peer_walk *w)
{
	uint32_t i;

	if (w->left)
		return false;
	for (i = 0; i < w->nuse; i++)
		if (w->use[i].port->ops->unsent(w->use[i].port))
			return false;
	return true;
}

void peer_walk_end(struct peer_walk *w)
{
	struct peer_port_use *u;
	uint32_t i;

	for (i = 0; i < w->path->nlink; i++)
		if (has_direct(w, w->path->send[i]))
			w->use[w->link[i].port].expected[w->link[i].link]++;
	for (i = 0; i < w->nuse; i++) {
		u = &w->use[i];
		if (u->src)
			u->port->ops->mem_put(u->port, u->src);
		if (u->dst)
			u->port->ops->mem_put(u->port, u->dst);
		u->src = u->dst = NULL;
	}
}

void peer_walk_free(struct peer_walk *w)
{
	free(w->done);
	free(w->send);
	free(w->recv);
	*w = (struct peer_walk){.tally = w->tally};
}
