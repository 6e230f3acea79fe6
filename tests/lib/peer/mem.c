// SPDX-License-Identifier: BSD-2-Clause
/* See mem.h. */
#include "mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MAX 64

enum what { CHUNK, PLACED, CREDIT, WORD };

struct packet {
	struct packet *next;
	enum what what;
	const void *src;
	size_t len;
	uint64_t off;
	void *base;
};

struct mem_port;

/*
 * One end of a link. @out: packets on the way to the other end, in order; they arrive in
 * order, as port.h promises for chunks. @credit: slots of the other end that are free.
 */
struct end {
	struct mem_port *port;
	struct end *far;
	struct packet *out, **out_tail;
	unsigned int credit;
	unsigned int announcements;
	char *base;
	size_t len;
	struct peer_chunk in[SLOTS_MAX + 4096];
	unsigned int head, count, staged;
	char *slot;
};

struct mem_port {
	struct peer_port port;
	struct peer_port_conf conf;
	uint32_t *peers;
	struct end *end;
	unsigned int unsent;
	struct mem_port *next;
};

struct blob {
	struct mem_port *port;
};

static struct mem_port *ports;
static uint64_t state;

static uint64_t chance(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

void peer_mem_reset(uint64_t seed)
{
	ports = NULL;
	state = seed * 2 + 1;
	chance();
}

static int mem_open(struct peer_port **out, const struct peer_port_conf *conf, struct peer_fault *f)
{
	struct mem_port *p = calloc(1, sizeof(*p));
	uint32_t i;

	(void)f;
	p->port.ops = &peer_port_mem;
	p->conf = *conf;
	p->end = calloc(conf->npeer, sizeof(*p->end));
	p->peers = malloc(conf->npeer * sizeof(*p->peers) + 1);
	memcpy(p->peers, conf->peers, conf->npeer * sizeof(*p->peers));
	for (i = 0; i < conf->npeer; i++) {
		p->end[i].port = p;
		p->end[i].out_tail = &p->end[i].out;
		p->end[i].credit = conf->slots;
		p->end[i].slot = malloc(conf->slots * conf->chunk);
	}
	p->next = ports;
	ports = p;
	*out = &p->port;
	return 0;
}

static size_t mem_blob(struct peer_port *port, void *buf, size_t room)
{
	struct blob b = {(struct mem_port *)port};

	if (room < sizeof(b))
		return 0;
	memcpy(buf, &b, sizeof(b));
	return sizeof(b);
}

static int mem_connect(struct peer_port *port, uint32_t link, const void *blob, size_t len)
{
	struct mem_port *p = (struct mem_port *)port;
	struct blob b;
	uint32_t i;

	if (len != sizeof(b))
		return -EPROTO;
	memcpy(&b, blob, sizeof(b));
	for (i = 0; i < b.port->conf.npeer; i++)
		if (b.port->peers[i] == p->conf.rank) {
			p->end[link].far = &b.port->end[i];
			return 0;
		}
	return -EPROTO;
}

/* Registrations are checked: a port may use only registered memory. */
struct peer_mem {
	char *base;
	size_t len;
};

static struct peer_mem *mem_get(struct peer_port *port, void *mem, size_t len)
{
	struct peer_mem *m = malloc(sizeof(*m));

	(void)port;
	*m = (struct peer_mem){mem, len};
	return m;
}

static void mem_put(struct peer_port *port, struct peer_mem *m)
{
	(void)port;
	free(m);
}

static void post(struct end *e, struct packet p)
{
	struct packet *n = malloc(sizeof(*n));

	*n = p;
	n->next = NULL;
	*e->out_tail = n;
	e->out_tail = &n->next;
}

static bool within(const struct peer_mem *m, const void *p, size_t len)
{
	return !len ||
	       (m && (const char *)p >= m->base && (const char *)p + len <= m->base + m->len);
}

static int mem_announce(struct peer_port *port, uint32_t link, struct peer_mem *m, void *dst,
			size_t len)
{
	struct mem_port *p = (struct mem_port *)port;

	if (!(chance() % 4))
		return -EAGAIN;
	if (!within(m, dst, len))
		abort();
	post(&p->end[link], (struct packet){.what = WORD, .base = dst, .len = len});
	return 0;
}

static bool mem_ready(struct peer_port *port, uint32_t link, uint32_t nth)
{
	return ((struct mem_port *)port)->end[link].announcements > nth;
}

static int mem_send(struct peer_port *port, uint32_t link, struct peer_mem *m, const void *src,
		    size_t len)
{
	struct mem_port *p = (struct mem_port *)port;
	struct end *e = &p->end[link];

	if (!e->credit || !(chance() % 8))
		return -EAGAIN;
	if (!within(m, src, len) || len > p->conf.chunk)
		abort();
	e->credit--;
	p->unsent++;
	post(e, (struct packet){.what = CHUNK, .src = src, .len = len});
	return 0;
}

static int mem_write(struct peer_port *port, uint32_t link, struct peer_mem *m, const void *src,
		     size_t len, uint64_t off)
{
	struct mem_port *p = (struct mem_port *)port;
	struct end *e = &p->end[link];

	if (!(chance() % 8))
		return -EAGAIN;
	if (!within(m, src, len) || off + len > e->len)
		abort();
	p->unsent++;
	post(e, (struct packet){.what = PLACED, .src = src, .len = len, .off = off});
	return 0;
}

static bool mem_next(struct peer_port *port, uint32_t link, struct peer_chunk *c)
{
	struct end *e = &((struct mem_port *)port)->end[link];

	if (!e->count)
		return false;
	*c = e->in[e->head];
	return true;
}

static void mem_done(struct peer_port *port, uint32_t link)
{
	struct end *e = &((struct mem_port *)port)->end[link];
	bool staged = e->in[e->head].data;

	e->head = (e->head + 1) % (SLOTS_MAX + 4096);
	e->count--;
	if (staged)
		post(e, (struct packet){.what = CREDIT});
}

static unsigned int mem_unsent(const struct peer_port *port)
{
	return ((const struct mem_port *)port)->unsent;
}

/* @p arrives at @to. */
static void arrive(struct end *to, const struct packet *p)
{
	struct end *from = to->far;
	size_t n = SLOTS_MAX + 4096;
	char *slot;

	switch (p->what) {
	case CHUNK:
		slot = to->slot + to->staged++ % to->port->conf.slots * to->port->conf.chunk;
		memcpy(slot, p->src, p->len);
		to->in[(to->head + to->count++) % n] = (struct peer_chunk){slot, p->len};
		from->port->unsent--;
		break;
	case PLACED:
		memcpy(from->base + p->off, p->src, p->len);
		to->in[(to->head + to->count++) % n] = (struct peer_chunk){NULL, p->len};
		from->port->unsent--;
		break;
	case CREDIT:
		to->credit++;
		break;
	case WORD:
		to->base = p->base;
		to->len = p->len;
		to->announcements++;
		break;
	}
}

bool peer_mem_deliver(void)
{
	struct mem_port *p;
	struct packet *k;
	bool any = false;
	uint32_t i;

	for (p = ports; p; p = p->next)
		for (i = 0; i < p->conf.npeer; i++) {
			struct end *e = &p->end[i];

			any |= e->out != NULL;
			while ((k = e->out) && chance() % 2) {
				e->out = k->next;
				if (!e->out)
					e->out_tail = &e->out;
				arrive(e->far, k);
				free(k);
			}
		}
	return any;
}

static int mem_poll(struct peer_port *port)
{
	(void)port;
	return 0;
}

static void mem_fault(const struct peer_port *port, struct peer_fault *f)
{
	(void)port;
	*f = (struct peer_fault){.peer = -1};
}

static int mem_fd(const struct peer_port *port)
{
	(void)port;
	return -1;
}

static bool mem_rest(struct peer_port *port)
{
	(void)port;
	return true;
}

static void mem_close(struct peer_port *port)
{
	struct mem_port *p = (struct mem_port *)port, **at;
	struct packet *k;
	uint32_t i;

	for (i = 0; i < p->conf.npeer; i++) {
		while ((k = p->end[i].out)) {
			p->end[i].out = k->next;
			free(k);
		}
		free(p->end[i].slot);
	}
	for (at = &ports; *at && *at != p;)
		at = &(*at)->next;
	if (*at)
		*at = p->next;
	free(p->end);
	free(p->peers);
	free(p);
}

const struct peer_port_ops peer_port_mem = {
	.name = "mem",
	.open = mem_open,
	.blob = mem_blob,
	.connect = mem_connect,
	.mem_get = mem_get,
	.mem_put = mem_put,
	.announce = mem_announce,
	.ready = mem_ready,
	.send = mem_send,
	.write = mem_write,
	.next = mem_next,
	.done = mem_done,
	.unsent = mem_unsent,
	.poll = mem_poll,
	.fault = mem_fault,
	.fd = mem_fd,
	.rest = mem_rest,
	.close = mem_close,
};
