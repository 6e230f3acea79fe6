// SPDX-License-Identifier: BSD-2-Clause
/*
 * The operations of a port over shared memory. A chunk is copied into a slot of the
 * link; one for announced memory is put into its place by its receiver, in poll().
 * process_vm_writev(2), which copies once, takes twice as long for 64 KiB, because it
 * pins pages, and needs a permission that containers lack.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer/net/shm.h"

#define LOOK_EVERY 256 /* polls without event, then sockets are looked at */

/* Registrations hold nothing: this one stands for all. */
struct peer_mem {
	char nothing;
};

static struct peer_mem mem_any;

static struct shm_port *shm_port(struct peer_port *p)
{
	return (struct shm_port *)p;
}

static const struct shm_port *shm_port_const(const struct peer_port *p)
{
	return (const struct shm_port *)p;
}

/* Letters, digits, dashes and underscores: it becomes part of a path. */
static bool name_ok(const char *name)
{
	size_t n = name ? strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789-_")
			: 0;

	return n && n <= SHM_NAME_MAX && !name[n];
}

static int open_check(const struct peer_port_conf *conf, struct peer_fault *fault)
{
	int err = peer_port_check(conf, fault);

	if (err || name_ok(conf->name))
		return err;
	return peer_fault_set(fault, EINVAL, -1, "name '%s'", conf->name ? conf->name : "");
}

static void shm_free(struct shm_port *s)
{
	shm_meet_close(s);
	free(s->links);
	free(s);
}

static struct shm_port *shm_new(const struct peer_port_conf *conf)
{
	struct shm_port *s = calloc(1, sizeof(*s));
	uint32_t i;

	if (!s)
		return NULL;
	s->port.ops = &peer_port_shm;
	s->rank = conf->rank;
	s->npeer = conf->npeer;
	s->slots = conf->slots;
	s->chunk = conf->chunk;
	s->area_len = 2 * (sizeof(struct shm_side) + s->slots * s->chunk);
	s->area_len = (s->area_len + 4095) & ~(size_t)4095;
	s->listener = s->events = s->wake = -1;
	snprintf(s->name, sizeof(s->name), "%s", conf->name);
	for (i = 0; i < SHM_PENDING; i++)
		s->pending[i] = -1;
	s->links = calloc(s->npeer ? s->npeer : 1, sizeof(*s->links));
	if (!s->links) {
		free(s);
		return NULL;
	}
	for (i = 0; i < s->npeer; i++) {
		s->links[i].rank = conf->peers[i];
		s->links[i].sock = s->links[i].kick = -1;
		peer_flow_init(&s->links[i].flow, (uint32_t)s->chunk, s->slots);
	}
	return s;
}

static int shm_open_op(struct peer_port **out, const struct peer_port_conf *conf,
		       struct peer_fault *fault)
{
	struct shm_port *s;
	int err;

	memset(fault, 0, sizeof(*fault));
	err = open_check(conf, fault);
	if (err)
		return err;
	s = shm_new(conf);
	if (!s)
		return peer_fault_set(fault, ENOMEM, -1, "port: no memory");
	err = shm_meet_open(s);
	if (err) {
		*fault = s->fault;
		shm_free(s);
		return err;
	}
	*out = &s->port;
	return 0;
}

static size_t shm_blob(struct peer_port *p, void *buf, size_t room)
{
	const struct shm_port *s = shm_port(p);
	struct shm_blob b = {
		.magic = SHM_MAGIC, .rank = s->rank, .chunk = s->chunk, .slots = s->slots};

	if (room < sizeof(b))
		return 0;
	memcpy(b.token, s->token, sizeof(b.token));
	memcpy(buf, &b, sizeof(b));
	return sizeof(b);
}

static int shm_connect(struct peer_port *p, uint32_t link, const void *blob, size_t len)
{
	struct shm_port *s = shm_port(p);
	struct shm_link *l = &s->links[link];
	const char *wrong = NULL;
	struct shm_blob b;

	if (len != sizeof(b)) {
		wrong = "a blob of another length";
	} else {
		memcpy(&b, blob, sizeof(b));
		if (b.magic != SHM_MAGIC || b.zero)
			wrong = "not a blob of this version";
		else if (b.rank != l->rank)
			wrong = "the blob of another rank";
		else if (b.chunk != s->chunk || b.slots != s->slots)
			wrong = "other chunks or slots";
	}
	if (wrong)
		return peer_fault_set(&s->fault, EPROTO, (int)l->rank, "rank %u: %s", l->rank,
				      wrong);
	memcpy(l->token, b.token, sizeof(l->token));
	l->known = true;
	return shm_meet_connect(s, link);
}

static struct peer_mem *shm_mem_get(struct peer_port *p, void *mem, size_t len)
{
	(void)p;
	return (uintptr_t)mem + len < (uintptr_t)mem ? NULL : &mem_any;
}

static void shm_mem_put(struct peer_port *p, struct peer_mem *m)
{
	(void)p;
	(void)m;
}

static int shm_announce(struct peer_port *p, uint32_t link, struct peer_mem *m, void *dst,
			size_t len)
{
	struct shm_port *s = shm_port(p);
	struct shm_link *l = &s->links[link];

	(void)m;
	if (s->fault.err)
		return -s->fault.err;
	if (!l->up)
		return -EAGAIN;
	l->place = dst;
	l->place_len = len;
	l->mine->notes[l->notes++ % SHM_NOTES] = len;
	atomic_store_explicit(&l->mine->notes_head, l->notes, memory_order_release);
	shm_link_kick(l);
	return 0;
}

static bool shm_ready(struct peer_port *p, uint32_t link, uint32_t nth)
{
	return shm_port(p)->links[link].heard > nth;
}

/* Fill the next slot and publish it. Return: 0 or -EAGAIN. */
static int stage(struct shm_port *s, struct shm_link *l, const void *src, const struct shm_desc *d)
{
	if (!peer_flow_may_send(&l->flow))
		return -EAGAIN;
	memcpy(l->slots_out + peer_flow_slot(&l->flow) * s->chunk, src, d->len);
	l->mine->desc[l->flow.sent % PEER_FLOW_WINDOW] = *d;
	peer_flow_sent(&l->flow, true);
	atomic_store_explicit(&l->mine->head, l->flow.sent, memory_order_release);
	shm_link_kick(l);
	return 0;
}

static int shm_send(struct peer_port *p, uint32_t link, struct peer_mem *m, const void *src,
		    size_t len)
{
	struct shm_port *s = shm_port(p);
	struct shm_desc d = {.kind = SHM_STAGED, .len = (uint32_t)len};

	(void)m;
	if (len > s->chunk)
		return -EINVAL;
	if (s->fault.err || !s->links[link].up)
		return -EAGAIN;
	return stage(s, &s->links[link], src, &d);
}

static int shm_write(struct peer_port *p, uint32_t link, struct peer_mem *m, const void *src,
		     size_t len, uint64_t off)
{
	struct shm_port *s = shm_port(p);
	struct shm_link *l = &s->links[link];
	struct shm_desc d = {
		.kind = SHM_COPY, .len = (uint32_t)len, .off = off, .nth = l->heard - 1};

	(void)m;
	if (len > s->chunk)
		return -EINVAL;
	if (s->fault.err || !l->up || !l->heard)
		return -EAGAIN;
	if (!peer_target_check(&s->fault, l->rank, l->target_len, off, len))
		return -EAGAIN;
	return stage(s, l, src, &d);
}

static bool shm_next(struct peer_port *p, uint32_t link, struct peer_chunk *c)
{
	struct shm_port *s = shm_port(p);
	struct shm_link *l = &s->links[link];
	uint32_t len;
	int slot;

	if (!peer_flow_next(&l->flow, &slot, &len))
		return false;
	c->len = len;
	c->data = l->placed[l->flow.taken % PEER_FLOW_WINDOW]
			  ? NULL
			  : l->slots_in + (size_t)slot * s->chunk;
	return true;
}

static void shm_done(struct peer_port *p, uint32_t link)
{
	struct shm_link *l = &shm_port(p)->links[link];

	peer_flow_done(&l->flow);
	/* Seldom enough that the sender is not woken for each slot. */
	if (!peer_flow_owes(&l->flow))
		return;
	peer_flow_tell(&l->flow);
	atomic_store_explicit(&l->mine->tail, l->flow.taken, memory_order_release);
	shm_link_kick(l);
}

static unsigned int shm_unsent(const struct peer_port *p)
{
	(void)p;
	return 0;
}

static int shm_poll(struct peer_port *p)
{
	struct shm_port *s = shm_port(p);
	int total = 0, n;
	uint32_t i;

	if (s->fault.err)
		return -s->fault.err;
	for (i = 0; s->rested && i < s->npeer; i++)
		if (s->links[i].up)
			atomic_store(&s->links[i].mine->asleep, 0);
	if (s->rested || s->ups < s->npeer || ++s->idle_polls >= LOOK_EVERY) {
		s->rested = false;
		s->idle_polls = 0;
		n = shm_meet_poll(s);
		if (n < 0)
			return n;
		total += n;
	}
	for (i = 0; i < s->npeer; i++) {
		if (!s->links[i].up)
			continue;
		n = shm_link_take(s, i);
		if (n < 0)
			return n;
		total += n;
	}
	return total;
}

static void shm_fault(const struct peer_port *p, struct peer_fault *f)
{
	*f = shm_port_const(p)->fault;
}

static int shm_fd(const struct peer_port *p)
{
	return shm_port_const(p)->events;
}

static bool shm_rest(struct peer_port *p)
{
	struct shm_port *s = shm_port(p);
	bool waits = s->fault.err != 0;
	uint32_t i;

	for (i = 0; i < s->npeer; i++)
		if (s->links[i].up)
			atomic_store(&s->links[i].mine->asleep, 1);
	/* After: loads of what may have come before the flags were seen. */
	atomic_thread_fence(memory_order_seq_cst);
	for (i = 0; i < s->npeer && !waits; i++)
		waits = s->links[i].up && shm_link_waits(&s->links[i]);
	s->rested = true;
	return !waits;
}

static void shm_close(struct peer_port *p)
{
	struct shm_port *s = shm_port(p);
	uint32_t i;

	for (i = 0; i < s->npeer; i++)
		if (s->links[i].area)
			atomic_store(&s->links[i].mine->closed, 1);
	shm_free(s);
}

const struct peer_port_ops peer_port_shm = {
	.name = "shm",
	.open = shm_open_op,
	.blob = shm_blob,
	.connect = shm_connect,
	.mem_get = shm_mem_get,
	.mem_put = shm_mem_put,
	.announce = shm_announce,
	.ready = shm_ready,
	.send = shm_send,
	.write = shm_write,
	.next = shm_next,
	.done = shm_done,
	.unsent = shm_unsent,
	.poll = shm_poll,
	.fault = shm_fault,
	.fd = shm_fd,
	.rest = shm_rest,
	.close = shm_close,
};
