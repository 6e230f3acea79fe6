// SPDX-License-Identifier: BSD-2-Clause
/*
 * The simulated network; see engine_world.h. The linker wraps clock_gettime(), so
 * that libtrib reads the simulated clock, too.
 */
#include "engine_world.h"
#include "secrets.h"

#include <endian.h>
#include <stdlib.h>

#define RELAY_CHILD 64 /* child numbers from here on are relays */

enum what { TO_WORKER, TO_RELAY, RUN_WORKER, CALL_APP, WIPE, TCP_ACK, TCP_LOSS };

struct sim_event {
	uint64_t when, seq;
	enum what what;
	unsigned int who;
	int from;
	bool ce;
	size_t len;
	void *pkt;
	struct sim_tcp *tcp;
};

static struct sim *current;

int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	ts->tv_sec = (time_t)(current->now / TRIB_SEC);
	ts->tv_nsec = (long)(current->now % TRIB_SEC);
	return 0;
}

uint64_t sim_rnd(struct sim *s)
{
	s->rng ^= s->rng << 13;
	s->rng ^= s->rng >> 7;
	s->rng ^= s->rng << 17;
	return s->rng * 0x2545f4914f6cdd1dULL >> 11;
}

static bool before(const struct sim_event *a, const struct sim_event *b)
{
	return a->when != b->when ? a->when < b->when : a->seq < b->seq;
}

static void push(struct sim *s, struct sim_event e)
{
	unsigned int i = s->nheap++, up;

	if (s->nheap > s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->heap = realloc(s->heap, s->room * sizeof(*s->heap));
		if (!s->heap)
			abort();
	}
	e.seq = s->seq++;
	for (; i && before(&e, &s->heap[up = (i - 1) / 2]); i = up)
		s->heap[i] = s->heap[up];
	s->heap[i] = e;
}

static struct sim_event pop(struct sim *s)
{
	struct sim_event top = s->heap[0], last = s->heap[--s->nheap];
	unsigned int i = 0, c;

	while ((c = 2 * i + 1) < s->nheap) {
		if (c + 1 < s->nheap && before(&s->heap[c + 1], &s->heap[c]))
			c++;
		if (!before(&s->heap[c], &last))
			break;
		s->heap[i] = s->heap[c];
		i = c;
	}
	s->heap[i] = last;
	return top;
}

/*
 * Reserve room on a wire for a packet. Return: its arrival time, or 0: dropped.
 */
static uint64_t offer(struct sim *s, struct sim_wire *w, uint64_t bytes, bool *ce)
{
	uint64_t start = w->busy > s->now ? w->busy : s->now;
	double waiting;

	if (!w->rate)
		return start + w->delay;
	waiting = (double)(start - s->now) * w->rate / 8e9;
	if (waiting > (double)w->queue) {
		w->dropped++;
		return 0;
	}
	*ce = w->mark && waiting > (double)w->mark;
	w->busy = start + (uint64_t)((double)bytes * 8e9 / w->rate);
	return w->busy + w->delay;
}

/* Send one packet through a wire. */
static void carry(struct sim *s, struct sim_wire *w, enum what what, unsigned int who, int from,
		  const void *pkt, size_t len)
{
	struct sim_event e = {.what = what, .who = who, .from = from};
	int copies = 1;

	s->packets++;
	if (sim_rnd(s) % 1000 < w->loss) {
		w->lost++;
		return;
	}
	copies += sim_rnd(s) % 1000 < w->dup;
	while (copies--) {
		e.when = offer(s, w, len + 42, &e.ce);
		if (!e.when)
			return;
		e.when += sim_rnd(s) % 2000;
		if (sim_rnd(s) % 1000 < w->late)
			e.when += sim_rnd(s) % TRIB_MS;
		w->carried++;
		e.len = len;
		e.pkt = malloc(len);
		if (!e.pkt)
			abort();
		memcpy(e.pkt, pkt, len);
		push(s, e);
	}
}

static void relay_out(struct relay *r, int to, const void *pkt, size_t len)
{
	struct sim_relay *me = r->ctx;
	struct sim *s = me->sim;
	struct sim_worker *w;
	unsigned int who;

	if (to == RELAY_UP) {
		carry(s, &me->up, TO_RELAY, (unsigned int)me->parent, (int)r->up_child, pkt, len);
		return;
	}
	who = me->child[to];
	if (who >= RELAY_CHILD) {
		carry(s, &s->relay[who - RELAY_CHILD].down, TO_RELAY, who - RELAY_CHILD, RELAY_UP,
		      pkt, len);
		return;
	}
	w = &s->worker[who];
	if (!s->tap || !s->tap(s, w, false, (void *)pkt, len))
		carry(s, &w->down, TO_WORKER, who, 0, pkt, len);
}

/* --- the transport */

static int sim_send(struct trib_engine *eng, struct trib_stream *st, const struct iovec *iov,
		    unsigned int niov, unsigned int seg)
{
	struct sim_worker *w = (void *)trib_of(eng)->udp;
	unsigned int relay = w->relay + st->index;
	/* Not on the stack: a sanitizer would mark all of it, twice a call. */
	static uint8_t all[TRIB_TUNE_BURST * 64 * 64];
	uint8_t *p = all;
	size_t total = 0, len;
	unsigned int i, n = 0;

	for (i = 0; i < niov; i++) {
		memcpy(all + total, iov[i].iov_base, iov[i].iov_len);
		total += iov[i].iov_len;
	}
	for (; total; total -= len, p += len, n++) {
		len = total < seg ? total : seg;
		if (!w->dead && !(w->sim->tap && w->sim->tap(w->sim, w, true, p, len)))
			carry(w->sim, &w->up, TO_RELAY, relay, (int)w->child, p, len);
	}
	return (int)n;
}

static int sim_recv(struct trib *t)
{
	(void)t;
	return 0;
}

static const struct trib_carrier sim_carrier = {
	.name = "sim",
	.ops.send = sim_send,
	.recv = sim_recv,
};

static int sim_cells(struct trib_engine *eng, struct trib_stream *st, struct trib_cells *out)
{
	struct sim_worker *w = (void *)trib_of(eng)->udp;

	const struct cells *c = &w->cells[st->index];

	*out = (struct trib_cells){c->base, c->n, c->reflex};
	return 0;
}

static const struct trib_carrier sim_carrier_cells = {
	.name = "sim with cells",
	.ops.send = sim_send,
	.ops.cells = sim_cells,
	.recv = sim_recv,
};

static void deliver(struct sim_worker *w, const uint8_t *p, size_t len, bool ce)
{
	w->t->eng.now = w->sim->now;
	trib_packet_rx(&w->t->eng, p, len, ce);
}

/* Run the engine until it may sleep, as libtrib does. */
static void run_engine(struct sim_worker *w)
{
	struct trib_engine *eng = &w->t->eng;

	unsigned int i;

	do {
		for (i = 0; i < eng->nstream; i++)
			trib_cells_read(eng->stream[i]);
		trib_engine_run(eng);
		if (w->app)
			w->app(w);
	} while (w->cells && !eng->dead && !trib_cells_rest(eng));
}

/* Two CPUs. If one stalls, each has half of the lanes; else they take turns. */
static unsigned int cpu_of(const struct sim *s, const struct trib_hdr *h)
{
	uint32_t chunk = be32toh(h->chunk);

	return s->stall ? trib_spread_home(2, chunk) : chunk >> 4 & 1;
}

/* Put a packet off until its CPU is free. Return: whether it was. */
static bool stalled(struct sim *s, const struct sim_event *e)
{
	uint64_t since = s->now % (10 * TRIB_MS);
	struct sim_event later = *e;

	if (!cpu_of(s, e->pkt) || since >= s->stall)
		return false;
	later.when = s->now - since + s->stall;
	push(s, later);
	return true;
}

/* The XDP program gets a packet. Return: does the worker run now? */
static bool xdp(struct sim_worker *w, const struct trib_hdr *h, size_t size)
{
	unsigned int tree = be16toh(h->tree) - 1u;
	uint8_t grad[RELAY_PACKET_MAX];
	struct sim *s = w->sim;
	bool rings;
	size_t len;

	if (h->type != TRIB_T_RESULT || !w->cells)
		return true;
	/* Admission. */
	if (h->flags & TRIB_F_UP || size != sizeof(*h) + trib_payload_len(be16toh(h->nval)))
		return false;
	len = cells_result(&w->cells[tree], h, cpu_of(s, h), s->now, grad, &rings);
	if (len && !(s->tap && s->tap(s, w, true, grad, len)))
		carry(s, &w->up, TO_RELAY, w->relay + tree, (int)w->child, grad, len);
	if (rings)
		push(s, (struct sim_event){.when = s->now + w->nap,
					   .what = RUN_WORKER,
					   .who = (unsigned int)(w - s->worker)});
	return false;
}

static void run_worker(struct sim_worker *w)
{
	uint64_t due;

	w->t->eng.now = w->sim->now;
	run_engine(w);
	due = trib_engine_deadline(&w->t->eng);
	if (!due || (w->wake > w->sim->now && w->wake <= due))
		return;
	if (due <= w->sim->now)
		due = w->sim->now + 1000;
	w->wake = due;
	push(w->sim, (struct sim_event){.when = due,
					.what = RUN_WORKER,
					.who = (unsigned int)(w - w->sim->worker)});
}

void sim_inject(struct sim_worker *w, const void *pkt, size_t len)
{
	const struct trib_stream *st = w->t->eng.stream[0];
	uint8_t copy[4096];
	struct trib_hdr *h = (void *)copy;
	const void *body = h + 1;
	size_t n = len - sizeof(*h);

	memcpy(copy, pkt, len);
	if (h->type == TRIB_T_PROBE) {
		h->scale = htobe32(st->auth.sent);
		secrets_rank(h, body, n, (uint16_t)w->t->eng.rank);
	} else if (h->type == TRIB_T_START || (st->shared && h->type == TRIB_T_NEED)) {
		h->scale = htobe32(st->auth.own.top + 1);
		secrets_rank(h, body, n, (uint16_t)w->t->eng.rank);
	} else {
		secrets_down(h, body, n, st->shared ? NULL : w->t->place.rep.tree[0].addr);
	}
	if (xdp(w, h, len))
		deliver(w, copy, len, false);
	else
		run_worker(w);
}

void sim_call_at(struct sim_worker *w, uint64_t when)
{
	push(w->sim, (struct sim_event){.when = when,
					.what = CALL_APP,
					.who = (unsigned int)(w - w->sim->worker)});
}

void sim_wipe_at(struct sim *s, unsigned int i, uint64_t when)
{
	push(s, (struct sim_event){.when = when, .what = WIPE, .who = i});
}

/* --- TCP */

#define TCP_PACKET 1500

static void tcp_send(struct sim_tcp *c)
{
	struct sim_event e = {.tcp = c};
	bool ce = false;
	uint64_t when;

	while (c->on && (double)c->inflight + 1 <= c->cwnd) {
		when = offer(c->sim, c->wire, TCP_PACKET + 14, &ce);
		e.what = when ? TCP_ACK : TCP_LOSS;
		/*
		 * A loss shows when a packet that was sent later is
		 * acknowledged.
		 */
		e.when = (when ? when : c->wire->busy) + c->rtt;
		c->inflight++;
		c->sent += TCP_PACKET;
		push(c->sim, e);
	}
}

static void tcp_event(struct sim_tcp *c, bool acked)
{
	c->inflight--;
	if (acked) {
		c->acked += TCP_PACKET;
		c->cwnd += c->cwnd < c->ssthresh ? 1 : 1 / c->cwnd;
	} else if (c->sim->now - c->cut > 2 * c->rtt + 20 * TRIB_MS) {
		c->cut = c->sim->now;
		c->cwnd = c->ssthresh = c->cwnd * 0.7 > 2 ? c->cwnd * 0.7 : 2;
	}
	tcp_send(c);
}

void sim_tcp_start(struct sim *s, struct sim_tcp *tcp, struct sim_wire *wire)
{
	*tcp = (struct sim_tcp){
		.sim = s, .wire = wire, .rtt = 100000, .cwnd = 10, .ssthresh = 1e9, .on = true};
	tcp_send(tcp);
}

static void handle(struct sim *s, struct sim_event *e)
{
	struct sim_worker *w = &s->worker[e->who];

	/* A test may have advanced the clock. */
	if (e->when > s->now)
		s->now = e->when;
	switch (e->what) {
	case TO_WORKER:
		if (stalled(s, e))
			return;
		if (!w->dead && xdp(w, e->pkt, e->len)) {
			deliver(w, e->pkt, e->len, e->ce);
			run_worker(w);
		}
		break;
	case RUN_WORKER:
	case CALL_APP:
		if (!w->dead)
			run_worker(w);
		break;
	case TO_RELAY:
		if (e->ce)
			((struct trib_hdr *)e->pkt)->flags |= TRIB_F_CE;
		if (!s->relay[e->who].dead)
			relay_rx(&s->relay[e->who].r, e->from, e->pkt, e->len);
		break;
	case TCP_ACK:
	case TCP_LOSS:
		tcp_event(e->tcp, e->what == TCP_ACK);
		break;
	case WIPE:
		relay_wipe(&s->relay[e->who].r);
		break;
	}
	free(e->pkt);
}

bool sim_run(struct sim *s, bool (*done)(struct sim *s), uint64_t until)
{
	struct sim_event e;

	current = s;
	while (s->nheap && s->heap[0].when <= until) {
		if (done && done(s))
			return true;
		e = pop(s);
		handle(s, &e);
	}
	if (done && done(s))
		return true;
	s->now = until;
	return false;
}

/* --- building */

/* Act like a START(RUN). */
static void start_stream(struct trib_stream *st, const struct sim_options *o,
			 const struct sim_worker *w)
{
	unsigned int k;

	st->overhead = 42;
	st->window = (uint16_t)o->window;
	st->nval = (uint16_t)o->nval;
	st->nchild = (uint16_t)w->sim->relay[w->relay].r.nchild;
	for (k = 0; k < st->nchild; k++)
		st->child_rank[k] =
			(uint16_t)(o->racks ? k * o->racks + st->eng->rank % o->racks : k);
	st->epoch = 3;
	if (trib_stream_start(st))
		abort();
}

/* Do for a worker that attaches as tribd and libtrib do. */
static void make_cells(struct sim_worker *w, const struct sim_options *o)
{
	struct trib_engine *eng = &w->t->eng;
	unsigned int i;

	w->nap = o->nap;
	w->cells = calloc(eng->nstream, sizeof(*w->cells));
	for (i = 0; w->cells && i < eng->nstream; i++) {
		struct cells *c = &w->cells[i];

		*c = (struct cells){
			.n = o->cells,
			.nval = (uint16_t)o->nval,
			.window = (uint16_t)o->window,
			.epoch = 3,
			.child = (uint16_t)w->child,
			.auth = eng->stream[i]->auth.up_secret,
			.reflex = o->reflex >> eng->rank & 1,
			.base = calloc(1, cells_bytes(o->cells, (uint16_t)o->nval)),
		};
		if (!c->base)
			abort();
	}
}

static void make_worker(struct sim *s, unsigned int i, const struct sim_options *o)
{
	struct sim_worker *w = &s->worker[i];
	struct trib *t = calloc(1, sizeof(*t));
	struct trib_attach_rep *rep;
	unsigned int k;

	if (!t)
		abort();
	w->sim = s;
	w->t = t;
	w->up = w->down = o->wire;
	w->relay = o->racks ? 1 + i % o->racks : 0;
	w->child = o->racks ? i / o->racks : i;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->cond, NULL);
	pthread_cond_init(&t->progress_cond, NULL);
	t->way = &trib_by_engine;
	t->transport = o->cells ? &sim_carrier_cells : &sim_carrier;
	t->udp = (void *)w;
	rep = &t->place.rep;
	rep->rank = (uint16_t)i;
	rep->world = (uint16_t)o->workers;
	rep->job = 7;
	secrets_place(rep);
	rep->rate = o->rate;
	rep->fmt = o->fmt;
	rep->ntree = (uint16_t)(o->trees ? o->trees : 1);
	for (k = 0; k < rep->ntree; k++) {
		s->relay[w->relay + k].child[w->child] = i;
		rep->tree[k].tree = (uint16_t)(1 + k);
		rep->tree[k].child = (uint16_t)w->child;
	}
	t->eng.timeout_ns = (o->timeout_ms ? o->timeout_ms : 5000) * TRIB_MS;
	if (trib_engine_init(&t->eng, &t->transport->ops, &trib_host, trib_codec_best(), rep))
		abort();
	if (o->cells)
		make_cells(w, o);
	for (k = 0; k < rep->ntree; k++)
		start_stream(t->eng.stream[k], o, w);
	trib_engine_start(&t->eng);
}

static void make_relay(struct sim *s, unsigned int i, unsigned int nchild,
		       const struct sim_options *o)
{
	struct sim_relay *r = &s->relay[i];

	r->sim = s;
	r->index = i;
	r->parent = o->racks && i ? 0 : -1;
	r->up = r->down = o->wire;
	r->r.root = r->parent < 0;
	r->r.up_child = i ? i - 1 : 0;
	r->r.epoch = 3;
	r->r.out = relay_out;
	r->r.ctx = r;
	if (r->parent >= 0)
		s->relay[0].child[i - 1] = RELAY_CHILD + i;
	if (relay_init(&r->r, nchild, o->window))
		abort();
}

struct sim_options sim_star(unsigned int workers)
{
	return (struct sim_options){
		.seed = 77,
		.workers = workers,
		.window = 16,
		.nval = 32,
		.timeout_ms = 500,
		.wire = {.delay = 50000},
	};
}

void sim_init(struct sim *s, const struct sim_options *options)
{
	struct sim_options with = *options;
	const struct sim_options *o = &with;
	unsigned int i;

#ifdef SIM_REFLEX
	/* Tests that know nothing of cells run with them, too. */
	if (!with.cells) {
		with.reflex = SIM_REFLEX;
		with.cells = TRIB_CELLS_MIN;
		while (with.cells < 4 * with.window)
			with.cells *= 2;
		with.nap = 3000;
	}
#endif

	memset(s, 0, sizeof(*s));
	s->rng = o->seed * 0x9e3779b97f4a7c15ULL + 1;
	s->now = TRIB_SEC;
	s->nworker = o->workers;
	s->nrelay = o->trees ? o->trees : 1 + o->racks;
	current = s;
	for (i = 0; i < 5; i++)
		sim_rnd(s);
	make_relay(s, 0, o->racks ? o->racks : o->workers, o);
	for (i = 1; i < o->trees; i++)
		make_relay(s, i, o->workers, o);
	for (i = 1; i <= o->racks; i++)
		make_relay(s, i, (o->workers + o->racks - i) / o->racks, o);
	for (i = 0; i < o->workers; i++)
		make_worker(s, i, o);
}

void sim_free(struct sim *s)
{
	unsigned int i, k, ntree;

	for (i = 0; i < s->nworker; i++) {
		struct trib *t = s->worker[i].t;

		ntree = t->eng.nstream;
		trib_engine_free(&t->eng);
		pthread_mutex_destroy(&t->lock);
		pthread_cond_destroy(&t->cond);
		pthread_cond_destroy(&t->progress_cond);
		for (k = 0; s->worker[i].cells && k < ntree; k++)
			free(s->worker[i].cells[k].base);
		free(s->worker[i].cells);
		free(t);
	}
	for (i = 0; i < s->nrelay; i++)
		relay_free(&s->relay[i].r);
	for (i = 0; i < s->nheap; i++)
		free(s->heap[i].pkt);
	free(s->heap);
}
