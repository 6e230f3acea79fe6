// SPDX-License-Identifier: BSD-2-Clause
/* The operations of a port over TCP sockets of the kernel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "peer/net/stream.h"

#define EVENTS_MAX 32

/* Registrations hold nothing: this one stands for all. */
struct peer_mem {
	char nothing;
};

static struct peer_mem mem_any;

static struct stream_port *stream_port(struct peer_port *p)
{
	return (struct stream_port *)p;
}

static void stream_free(struct stream_port *s)
{
	stream_meet_close(s);
	if (s->area)
		munmap(s->area, s->area_len);
	free(s->links);
	free(s);
}

static int make_links(struct stream_port *s, const struct peer_port_conf *conf)
{
	struct stream_link *l;
	uint32_t i;

	s->links = calloc(s->npeer ? s->npeer : 1, sizeof(*s->links));
	if (!s->links)
		return -ENOMEM;
	for (i = 0; i < s->npeer; i++)
		s->links[i].sock = -1;
	s->area_len = s->npeer * s->slots * s->chunk;
	if (!s->area_len)
		return 0;
	s->area =
		mmap(NULL, s->area_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->area == MAP_FAILED) {
		s->area = NULL;
		return -ENOMEM;
	}
	for (i = 0; i < s->npeer; i++) {
		l = &s->links[i];
		l->rank = conf->peers[i];
		l->slots = s->area + (size_t)i * s->slots * s->chunk;
		peer_flow_init(&l->flow, (uint32_t)s->chunk, s->slots);
	}
	return 0;
}

static int stream_open(struct peer_port **out, const struct peer_port_conf *conf,
		       struct peer_fault *fault)
{
	struct stream_port *s;
	uint32_t i;
	int err;

	memset(fault, 0, sizeof(*fault));
	err = peer_port_check(conf, fault);
	if (err)
		return err;
	s = calloc(1, sizeof(*s));
	if (!s)
		return peer_fault_set(fault, ENOMEM, -1, "port: no memory");
	s->port.ops = &peer_port_stream;
	s->rank = conf->rank;
	s->npeer = conf->npeer;
	s->slots = conf->slots;
	s->chunk = conf->chunk;
	s->listener = s->events = -1;
	for (i = 0; i < STREAM_PENDING; i++)
		s->pending[i] = -1;
	err = make_links(s, conf);
	if (err)
		peer_fault_set(&s->fault, -err, -1, "staging slots: no memory");
	else
		err = stream_meet_open(s, conf->nic);
	if (err) {
		*fault = s->fault;
		stream_free(s);
		return err;
	}
	*out = &s->port;
	return 0;
}

static size_t stream_blob(struct peer_port *p, void *buf, size_t room)
{
	const struct stream_port *s = stream_port(p);
	struct stream_blob b = {.magic = STREAM_MAGIC,
				.rank = s->rank,
				.chunk = s->chunk,
				.slots = s->slots,
				.port = s->tcp_port,
				.addr = s->addr};

	if (room < sizeof(b))
		return 0;
	memcpy(b.token, s->token, sizeof(b.token));
	memcpy(buf, &b, sizeof(b));
	return sizeof(b);
}

static int stream_connect(struct peer_port *p, uint32_t link, const void *blob, size_t len)
{
	struct stream_port *s = stream_port(p);
	struct stream_link *l = &s->links[link];
	const char *wrong = NULL;
	struct stream_blob b;

	if (len != sizeof(b)) {
		wrong = "a blob of another length";
	} else {
		memcpy(&b, blob, sizeof(b));
		if (b.magic != STREAM_MAGIC || b.zero)
			wrong = "not a blob of this version and byte order";
		else if (b.rank != l->rank)
			wrong = "the blob of another rank";
		else if (b.chunk != s->chunk || b.slots != s->slots)
			wrong = "other chunks or slots";
		else if (!b.port || addr_is_multicast(&b.addr) ||
			 addr_is_v4(&b.addr) != addr_is_v4(&s->addr))
			wrong = "an address of another kind";
	}
	if (wrong)
		return peer_fault_set(&s->fault, EPROTO, (int)l->rank, "rank %u: %s", l->rank,
				      wrong);
	memcpy(l->token, b.token, sizeof(l->token));
	l->known = true;
	return stream_meet_connect(s, link, &b);
}

static struct peer_mem *stream_mem_get(struct peer_port *p, void *mem, size_t len)
{
	(void)p;
	return (uintptr_t)mem + len < (uintptr_t)mem ? NULL : &mem_any;
}

static void stream_mem_put(struct peer_port *p, struct peer_mem *m)
{
	(void)p;
	(void)m;
}

static int stream_announce(struct peer_port *p, uint32_t link, struct peer_mem *m, void *dst,
			   size_t len)
{
	struct stream_port *s = stream_port(p);
	struct stream_link *l = &s->links[link];

	(void)m;
	if (s->fault.err)
		return -s->fault.err;
	if (!l->up || l->note_due)
		return -EAGAIN;
	l->place = dst;
	l->place_len = len;
	l->notes++;
	l->note_due = true;
	stream_flush(s, link);
	return 0;
}

static bool stream_ready(struct peer_port *p, uint32_t link, uint32_t nth)
{
	return stream_port(p)->links[link].heard > nth;
}

/* Send a chunk if there is a credit. */
static int chunk_put(struct stream_port *s, uint32_t link, enum stream_kind kind, const void *src,
		     size_t len, uint64_t off)
{
	struct stream_link *l = &s->links[link];
	int err;

	if (!peer_flow_may_send(&l->flow))
		return -EAGAIN;
	err = stream_put(s, link, kind, src, len, off);
	if (!err)
		peer_flow_sent(&l->flow, kind == STREAM_STAGED);
	return err;
}

static int stream_send(struct peer_port *p, uint32_t link, struct peer_mem *m, const void *src,
		       size_t len)
{
	struct stream_port *s = stream_port(p);

	(void)m;
	if (len > s->chunk)
		return -EINVAL;
	if (s->fault.err || !s->links[link].up)
		return -EAGAIN;
	return chunk_put(s, link, STREAM_STAGED, src, len, 0);
}

static int stream_write(struct peer_port *p, uint32_t link, struct peer_mem *m, const void *src,
			size_t len, uint64_t off)
{
	struct stream_port *s = stream_port(p);
	struct stream_link *l = &s->links[link];

	(void)m;
	if (len > s->chunk)
		return -EINVAL;
	if (s->fault.err || !l->up || !l->heard)
		return -EAGAIN;
	if (!peer_target_check(&s->fault, l->rank, l->target_len, off, len))
		return -EAGAIN;
	return chunk_put(s, link, STREAM_DIRECT, src, len, off);
}

static bool stream_next(struct peer_port *p, uint32_t link, struct peer_chunk *c)
{
	struct stream_port *s = stream_port(p);
	struct stream_link *l = &s->links[link];
	uint32_t len;
	int slot;

	if (!peer_flow_next(&l->flow, &slot, &len))
		return false;
	c->len = len;
	c->data = slot < 0 ? NULL : l->slots + (size_t)slot * s->chunk;
	return true;
}

static void stream_done(struct peer_port *p, uint32_t link)
{
	struct stream_port *s = stream_port(p);
	struct stream_link *l = &s->links[link];

	peer_flow_done(&l->flow);
	/* Seldom enough that the sender is not woken for each slot; chunks tell it, too. */
	if (!peer_flow_owes(&l->flow) || l->credit_due)
		return;
	l->credit_due = true;
	if (!s->fault.err)
		stream_flush(s, link);
}

static unsigned int stream_unsent(const struct peer_port *p)
{
	return ((const struct stream_port *)p)->unsent;
}

static int link_event(struct stream_port *s, uint32_t link, uint32_t events)
{
	struct stream_link *l = &s->links[link];
	int err;

	if (!l->up)
		return stream_meet_hello(s, link);
	if (events & EPOLLOUT && l->blocked) {
		l->blocked = false;
		stream_flush(s, link);
		if (!l->blocked) {
			err = stream_watch(s, link, EPOLL_CTL_MOD);
			if (err)
				return peer_fault_set(&s->fault, -err, -1, "epoll: %s",
						      strerror(-err));
		}
	}
	return stream_take(s, link);
}

static int stream_poll(struct peer_port *p)
{
	struct stream_port *s = stream_port(p);
	struct epoll_event e[EVENTS_MAX];
	int total = 0, i, n, rc;

	if (s->fault.err)
		return -s->fault.err;
	n = epoll_wait(s->events, e, EVENTS_MAX, 0);
	for (i = 0; i < n && !s->fault.err; i++) {
		rc = e[i].data.u32 < s->npeer ? link_event(s, e[i].data.u32, e[i].events)
					      : stream_meet_event(s, e[i].data.u32);
		if (rc < 0)
			break;
		total += rc + 1;
	}
	return s->fault.err ? -s->fault.err : total;
}

static void stream_fault(const struct peer_port *p, struct peer_fault *f)
{
	*f = ((const struct stream_port *)p)->fault;
}

static int stream_fd(const struct peer_port *p)
{
	return ((const struct stream_port *)p)->events;
}

/* Whatever is due waits for room in a socket, and epoll knows. */
static bool stream_rest(struct peer_port *p)
{
	return !stream_port(p)->fault.err;
}

static void stream_close(struct peer_port *p)
{
	stream_free(stream_port(p));
}

const struct peer_port_ops peer_port_stream = {
	.name = "stream",
	.open = stream_open,
	.blob = stream_blob,
	.connect = stream_connect,
	.mem_get = stream_mem_get,
	.mem_put = stream_mem_put,
	.announce = stream_announce,
	.ready = stream_ready,
	.send = stream_send,
	.write = stream_write,
	.next = stream_next,
	.done = stream_done,
	.unsent = stream_unsent,
	.poll = stream_poll,
	.fault = stream_fault,
	.fd = stream_fd,
	.rest = stream_rest,
	.close = stream_close,
};
