// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib-ps without sockets: each rule of its part in tests/sim/pool/README.md,
 * random orders of everything against an exact oracle, who takes part, the
 * job's file and the state file.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/tap.h"
#include "base/session.h"
#include "ps/sum/ps.h"
#include "ps/sum/state.h"

#define COOKIE 0x1122334455667788ULL
#define JOB 7
#define TREE 3
#define NVAL 48
#define WORDS (NVAL / 2)
#define GROUP_RANK 5000 /* in struct sent: to the group */

/* What went out. */
struct sent {
	unsigned int rank;
	uint8_t type;
	uint8_t flags;
	uint16_t child, relay, nval, aux, port;
	uint32_t chunk, epoch;
	uint64_t have[TRIB_BMWORDS_MAX];
	uint64_t v[WORDS];
	struct trib_start start;
};

static struct sent sent[4096];
static unsigned int nsent, nsaved, nlogged, nsettled;
static char logged[512];
static struct ps *ps;
static struct ps_tree *tree;
static struct ps_addr *group_addr;
static uint64_t now = 1000;
/* Sees what goes out, if set. */
static void (*tap)(unsigned int rank, const struct trib_hdr *h);

static struct ps_addr host(unsigned int i, uint16_t port)
{
	struct ps_addr a = {.port = port};

	a.ip.s6_addr[10] = a.ip.s6_addr[11] = 0xff;
	a.ip.s6_addr[12] = 10;
	a.ip.s6_addr[14] = (uint8_t)(i / 256);
	a.ip.s6_addr[15] = (uint8_t)i;
	return a;
}

static void note(unsigned int rank, const void *pkt, size_t len, uint16_t port)
{
	struct sent *s = &sent[nsent];
	const struct trib_hdr *h = pkt;
	const uint8_t *body = (const uint8_t *)(h + 1) + 8 * h->bmwords;
	unsigned int i;
	__be64 be;

	if (tap)
		tap(rank, h);
	if (nsent == sizeof(sent) / sizeof(sent[0]))
		return;
	nsent++;
	memset(s, 0, sizeof(*s));
	s->rank = rank;
	s->type = h->type;
	s->flags = h->flags;
	s->child = be16toh(h->child);
	s->relay = be16toh(h->relay);
	s->nval = be16toh(h->nval);
	s->aux = be16toh(h->aux);
	s->chunk = be32toh(h->chunk);
	s->epoch = be32toh(h->epoch);
	s->port = port;
	for (i = 0; i < h->bmwords; i++) {
		memcpy(&be, (const uint8_t *)(h + 1) + 8 * i, 8);
		s->have[i] = be64toh(be);
	}
	if (h->type == TRIB_T_START)
		memcpy(&s->start, body, sizeof(s->start));
	else if (s->nval <= NVAL)
		memcpy(s->v, body, trib_payload_len(s->nval));
	expect_eq(len, sizeof(*h) + 8u * h->bmwords +
			       trib_payload_len(be16toh(h->nval)));
	expect(h->cookie == htobe64(COOKIE) && be16toh(h->job) == JOB &&
	       be16toh(h->tree) == TREE && h->version == TRIB_WIRE_VERSION &&
	       !(h->flags & TRIB_F_UP));
}

static void on_to(void *ctx, const struct ps_addr *to, const void *pkt,
		  size_t len, struct ps_place *z)
{
	unsigned int rank = to->ip.s6_addr[14] * 256u + to->ip.s6_addr[15];

	(void)ctx;
	expect(!z || (const void *)&z->h == pkt);
	note(rank, pkt, len, to->port);
}

static void on_result(void *ctx, struct ps_tree *t, struct ps_place *z)
{
	(void)ctx;
	(void)t;
	note(GROUP_RANK, &z->h,
	     sizeof(z->h) + trib_payload_len(be16toh(z->h.nval)), 0);
}

static void on_settle(void *ctx, struct ps_place *z)
{
	(void)ctx;
	(void)z;
	nsettled++;
}

static void on_save(void *ctx)
{
	(void)ctx;
	nsaved++;
}

static void on_log(void *ctx, const char *line)
{
	(void)ctx;
	nlogged++;
	snprintf(logged, sizeof(logged), "%s", line);
}

static const struct ps_ops ops = {
	.to = on_to,
	.result = on_result,
	.settle = on_settle,
	.save = on_save,
	.log = on_log,
};

static struct ps *empty_ps(void)
{
	struct ps *p = calloc(1, sizeof(*p));

	if (!p)
		abort();
	p->ops = &ops;
	return p;
}

/* A job of @world ranks; results go to one relay. */
static void begin(unsigned int world, unsigned int window)
{
	struct ps_job *j = calloc(1, sizeof(*j));
	unsigned int r;

	ps = empty_ps();
	group_addr = calloc(1, sizeof(*group_addr));
	if (!j || !group_addr)
		abort();
	*group_addr = host(GROUP_RANK, 7417);
	j->number = JOB;
	j->world = (uint16_t)world;
	j->window = (uint16_t)window;
	j->nval = NVAL;
	j->timeout_ms = 5000;
	j->cookie = htobe64(COOKIE);
	j->worker = calloc(world, sizeof(*j->worker));
	for (r = 0; r < world; r++)
		j->worker[r] = host(r, (uint16_t)(TRIB_UDP_PORT_WORKER + r));
	ps->job[ps->njob++] = j;
	if (ps_tree_new(ps, j, TREE, group_addr, 1))
		abort();
	tree = ps->tree[0];
	nsent = nsaved = nlogged = nsettled = 0;
	tap = NULL;
}

static void end(void)
{
	ps_free(ps);
	free(ps);
}

/* --- packets in */

struct in {
	uint8_t type, flags, op, fmt;
	unsigned int child;
	uint32_t chunk, epoch;
	int32_t scale;
	unsigned int nval;
	uint64_t who[TRIB_BMWORDS_MAX];
	uint64_t v[WORDS];
};

static struct in grad(unsigned int child, uint32_t chunk, uint64_t who,
		      uint64_t v)
{
	struct in p = {
		.type = TRIB_T_GRAD,
		.fmt = TRIB_FMT_Q32,
		.child = child,
		.chunk = chunk,
		.epoch = 5,
		.scale = -3,
		.nval = NVAL,
		.who = {who},
	};
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		p.v[i] = v * (i + 1);
	return p;
}

static size_t pack(const struct in *p, uint8_t *buf)
{
	struct trib_hdr *h = (void *)buf;
	unsigned int i, words = p->type == TRIB_T_GRAD ? tree->bmwords : 0;
	__be64 be;

	ps_hdr_fill(tree, h, p->type);
	h->flags = p->flags | TRIB_F_UP;
	h->op = p->op;
	h->fmt = p->fmt;
	h->bmwords = (uint8_t)words;
	h->relay = htobe16(TRIB_RELAY_PS);
	h->child = htobe16((uint16_t)p->child);
	h->chunk = htobe32(p->chunk);
	h->epoch = htobe32(p->epoch);
	h->nval = htobe16((uint16_t)p->nval);
	h->scale = htobe32((uint32_t)p->scale);
	h->aux = htobe16(p->type == TRIB_T_ALIVE || p->type == TRIB_T_ABORT
				 ? (uint16_t)p->child
				 : 0);
	for (i = 0; i < words; i++) {
		be = htobe64(p->who[i]);
		memcpy(buf + sizeof(*h) + 8 * i, &be, 8);
	}
	memcpy(buf + sizeof(*h) + 8 * words, p->v, trib_payload_len(p->nval));
	return sizeof(*h) + 8 * words + trib_payload_len(p->nval);
}

static void rx(struct in p)
{
	uint8_t buf[1 + PS_PACKET_MAX + 4 * NVAL];
	struct ps_addr from = host(p.child, 7418);
	size_t len = pack(&p, buf);

	/* At an odd address, as in trains. */
	memmove(buf + 1, buf, len);
	ps_rx(ps, &from, buf + 1, len, false, now);
}

static struct in resend(struct in p)
{
	p.flags |= TRIB_F_RESEND;
	return p;
}

static struct in plain(uint8_t type, unsigned int child, uint32_t chunk)
{
	return (struct in){
		.type = type, .child = child, .chunk = chunk, .epoch = 5};
}

/* Packets of @type to @rank since the last call of forget(). */
static unsigned int count(uint8_t type, unsigned int rank)
{
	unsigned int i, n = 0;

	for (i = 0; i < nsent; i++)
		n += sent[i].type == type && sent[i].rank == rank;
	return n;
}

static void forget(void)
{
	nsent = 0;
}

/* --- the rules */

static void grad__disjoint_sums_are_added_and_the_result_goes_to_the_group(void)
{
	begin(4, 4);
	rx(grad(2, 9, 4, 100));
	rx(grad(1, 9, 3, 20));
	expect_eq(nsent, 0);
	rx(grad(3, 9, 8, 1000));
	expect_eq(nsent, 1);
	expect_eq(sent[0].rank, GROUP_RANK);
	expect_eq(sent[0].type, TRIB_T_RESULT);
	expect_eq(sent[0].child, 3);
	expect_eq(sent[0].chunk, 9);
	expect_eq(sent[0].epoch, 5);
	expect_eq(sent[0].nval, NVAL);
	expect_eq(sent[0].v[0], 1120);
	expect_eq(sent[0].v[WORDS - 1], 1120 * WORDS);
	expect_eq(tree->stats.count[PS_COUNT_PARTIAL], 1);
	end();
}

static void grad__each_worker_is_counted_once(void)
{
	begin(4, 4);
	rx(grad(0, 9, 1, 1));
	rx(grad(0, 9, 1, 1));
	rx(resend(grad(0, 9, 1, 1)));
	rx(grad(1, 9, 6, 20));
	rx(grad(3, 9, 12, 500)); /* one is there, one not */
	rx(grad(2, 9, 4, 300));	 /* in there */
	expect_eq(tree->stats.drop[PS_DROP_KNOWN], 3);
	expect_eq(tree->stats.drop[PS_DROP_OVERLAP], 1);
	expect_eq(count(TRIB_T_RESULT, GROUP_RANK), 0);
	rx(grad(3, 9, 8, 700));
	expect_eq(count(TRIB_T_RESULT, GROUP_RANK), 1);
	expect_eq(sent[nsent - 1].v[0], 721);
	end();
}

static void grad__superset_takes_the_place(void)
{
	begin(4, 4);
	rx(grad(0, 9, 1, 1));
	rx(grad(1, 9, 2, 2));
	rx(grad(2, 9, 7, 7000));
	expect_eq(tree->stats.count[PS_COUNT_SUPERSET], 1);
	rx(grad(3, 9, 8, 1));
	expect_eq(count(TRIB_T_RESULT, GROUP_RANK), 1);
	expect_eq(sent[nsent - 1].v[0], 7001);
	end();
}

static void grad__finished_chunk_is_kept_and_not_begun_again(void)
{
	begin(2, 4);
	rx(grad(0, 9, 1, 1));
	rx(grad(1, 9, 2, 2));
	forget();
	rx(grad(0, 9, 1, 1));
	expect_eq(nsent, 0);
	expect_eq(tree->stats.drop[PS_DROP_DONE], 1);
	rx(resend(grad(0, 9, 1, 1)));
	expect_eq(nsent, 1);
	expect_eq(sent[0].rank, 0);
	expect_eq(sent[0].type, TRIB_T_RESULT);
	expect_eq(sent[0].v[0], 3);
	expect_eq(sent[0].port, TRIB_UDP_PORT_WORKER);
	rx(plain(TRIB_T_NEED, 1, 9));
	expect_eq(nsent, 2);
	expect_eq(sent[1].rank, 1);
	expect_eq(sent[1].type, TRIB_T_RESULT);
	end();
}

static void places__are_two_windows(void)
{
	begin(2, 4);
	rx(grad(0, 0, 1, 1));
	rx(grad(1, 0, 2, 2));
	rx(grad(0, 4, 1, 1)); /* c + W: 0 may still be asked for */
	forget();
	rx(plain(TRIB_T_NEED, 1, 0));
	expect_eq(count(TRIB_T_RESULT, 1), 1);
	rx(grad(0, 8, 1, 1)); /* c + 2W takes its place, */
	expect(nsettled > 0);
	forget();
	rx(plain(TRIB_T_NEED, 1, 0)); /* and 0 is stale */
	rx(resend(grad(1, 0, 2, 2)));
	expect_eq(nsent, 0);
	expect_eq(tree->stats.drop[PS_DROP_STALE], 2);
	rx(grad(1, 8, 2, 5));
	expect_eq(sent[0].v[0], 6);
	end();
}

static void chunks__are_compared_serially(void)
{
	begin(2, 4);
	rx(grad(0, 0xfffffffc, 1, 1));
	rx(grad(0, 4, 1, 10));
	rx(grad(1, 0xfffffffc, 2, 1));
	expect_eq(tree->stats.drop[PS_DROP_STALE], 1);
	rx(grad(1, 4, 2, 10));
	expect_eq(nsent, 1);
	expect_eq(sent[0].v[0], 20);
	end();
}

static void epochs__older_is_dropped_newer_becomes_the_trees(void)
{
	struct in p = grad(0, 9, 1, 1);

	begin(2, 4);
	rx(p);
	p.epoch = 6;
	p.v[0] = 50;
	rx(p);
	expect_eq(tree->epoch, 6);
	rx(grad(1, 9, 2, 2)); /* of 5 */
	expect_eq(tree->stats.drop[PS_DROP_EPOCH], 1);
	p = grad(1, 9, 2, 2);
	p.epoch = 6;
	rx(p);
	expect_eq(nsent, 1);
	expect_eq(sent[0].v[0], 52);
	p.epoch = 0;
	rx(p);
	p.epoch = 0xffffffff;
	rx(p);
	expect_eq(tree->stats.drop[PS_DROP_EPOCH], 3);
	expect_eq(tree->epoch, 6);
	end();
}

static void shape__another_one_is_refused_and_named(void)
{
	struct in p[4], max = grad(0, 10, 1, 1);
	unsigned int i;

	begin(2, 4);
	rx(grad(0, 9, 1, 1));
	for (i = 0; i < 4; i++)
		p[i] = grad(1, 9, 2, 2);
	p[0].scale = -2;
	p[1].fmt = TRIB_FMT_I32;
	p[2].nval = NVAL - 2;
	p[3].fmt = TRIB_FMT_W64;
	for (i = 0; i < 4; i++)
		rx(p[i]);
	expect_eq(tree->stats.drop[PS_DROP_SHAPE], 4);
	expect_eq(nsent, 0);
	expect_eq(nlogged, 1); /* the first */
	now += 1000;
	rx(p[0]);
	expect(strstr(logged,
		      "chunk 9 from rank 1 has op 0, format 1, scale -2"));
	rx(grad(1, 9, 2, 2));
	expect_eq(nsent, 1);
	max.fmt = TRIB_FMT_W64;
	max.op = TRIB_WOP_MAX;
	rx(max);
	max.op = TRIB_WOP_ADD;
	max.child = 1;
	max.who[0] = 2;
	rx(max);
	expect_eq(tree->stats.drop[PS_DROP_SHAPE], 6);
	expect_eq(nsent, 1);
	end();
}

static void empty__counts_and_adds_nothing(void)
{
	struct in e = grad(0, 9, 1, 77), room = grad(1, 9, 2, 88);

	begin(3, 4);
	e.nval = 0;
	e.flags = TRIB_F_EMPTY;
	room.flags = TRIB_F_EMPTY;
	rx(e);
	rx(room);
	rx(grad(2, 9, 4, 5));
	expect_eq(nsent, 1);
	expect_eq(sent[0].nval, NVAL);
	expect_eq(sent[0].v[0], 5);
	e.chunk = room.chunk = 10;
	rx(e);
	rx(room);
	e.child = 2;
	e.who[0] = 4;
	rx(e);
	expect_eq(nsent, 2);
	expect_eq(sent[1].nval, 0);
	/* Another shape is one although it is empty. */
	rx(grad(0, 11, 1, 1));
	e.chunk = 11;
	e.fmt = TRIB_FMT_W64;
	rx(e);
	expect_eq(tree->stats.drop[PS_DROP_SHAPE], 1);
	end();
}

static void sums__are_those_of_their_format(void)
{
	struct in a = grad(0, 1, 1, 0), b = grad(1, 1, 2, 0);

	begin(2, 4);
	a.v[0] = (7ULL << 32) - 3; /* 7 and -3 */
	b.v[0] = (1ULL << 32) - 4;
	rx(a);
	rx(b);
	expect_eq(sent[0].v[0], (8ULL << 32) - 7);
	a.fmt = b.fmt = TRIB_FMT_I32;
	a.chunk = b.chunk = 2;
	a.v[1] = 0x80000001ffffffffULL;
	b.v[1] = 0x8000000000000001ULL;
	rx(a);
	rx(b);
	expect_eq(sent[1].v[1], 0x0000000100000000ULL);
	a.fmt = b.fmt = TRIB_FMT_W64;
	a.chunk = b.chunk = 3;
	rx(a);
	rx(b);
	expect_eq(sent[2].v[1], 0x200000000ULL);
	a.op = b.op = TRIB_WOP_MAX;
	a.chunk = b.chunk = 4;
	a.v[2] = (uint64_t)-5;
	b.v[2] = 3;
	b.v[3] = (uint64_t)-5;
	a.v[3] = (uint64_t)-6;
	rx(a);
	rx(b);
	expect_eq(sent[3].v[2], 3);
	expect_eq((int64_t)sent[3].v[3], -5);
	expect_eq(sent[3].v[1], 0x80000001ffffffffULL); /* both are negative */
	end();
}

static void flags__push_and_congestion_are_collected(void)
{
	struct in p = grad(0, 1, 1, 1);
	uint8_t buf[PS_PACKET_MAX];
	struct ps_addr from = host(0, 1);
	size_t len;

	begin(2, 4);
	p.flags = TRIB_F_PUSH;
	len = pack(&p, buf);
	ps_rx(ps, &from, buf, len, true, now);
	rx(grad(1, 1, 2, 2));
	expect_eq(sent[0].flags, TRIB_F_PUSH | TRIB_F_CE);
	end();
}

static void ask__need_goes_to_the_asker_and_ever_more_others(void)
{
	static const unsigned int others[] = {1, 2, 3, 3};
	unsigned int i, k, n;

	begin(6, 4);
	rx(grad(1, 9, 2, 1));
	for (i = 0; i < 4; i++) {
		forget();
		rx(plain(TRIB_T_NEED, 0, 9));
		expect_eq(count(TRIB_T_NEED, 0), 1);
		for (n = 0, k = 1; k < 6; k++)
			n += count(TRIB_T_NEED, k);
		/* 2, 3, 4, 5 are missing; 4 of them are all. */
		expect_eq(n, i == 2 ? 4 : i == 3 ? 4 : others[i]);
		expect_eq(count(TRIB_T_NEED, 1), 0);
		expect_eq(sent[0].have[0], 2);
		forget();
		rx(plain(TRIB_T_NEED, 0, 9)); /* too soon for others */
		expect_eq(nsent, 1);
		now += PS_NEED_PACE_MS;
	}
	/* A resend that brings nothing asks, too; but not its sender. */
	now += 1000;
	forget();
	rx(resend(grad(1, 9, 2, 1)));
	expect_eq(count(TRIB_T_NEED, 1), 0);
	expect_eq(nsent, 5);
	forget();
	now += 1000;
	rx(grad(1, 9, 2, 1)); /* a copy asks nobody */
	expect_eq(nsent, 0);
	end();
}

static void result__of_a_worker_is_taken(void)
{
	struct in p = grad(2, 9, 0, 11);

	begin(3, 4);
	rx(grad(0, 9, 1, 1));
	p.type = TRIB_T_RESULT;
	rx(p);
	expect_eq(nsent, 1);
	expect_eq(sent[0].rank, GROUP_RANK);
	expect_eq(sent[0].v[0], 11);
	expect_eq(tree->stats.count[PS_COUNT_TAKEN], 1);
	p.v[0] = 12;
	rx(p);
	expect_eq(nsent, 1);
	rx(plain(TRIB_T_NEED, 1, 9));
	expect_eq(sent[1].v[0], 11);
	end();
}

static void probe__is_answered_and_gives_a_lease(void)
{
	const struct ps_addr *to[8];

	begin(3, 4);
	expect_eq(ps_tree_dests(tree, now, to), 1);
	rx(plain(TRIB_T_PROBE, 2, 0));
	expect_eq(nsent, 1);
	expect_eq(sent[0].rank, 2);
	expect_eq(sent[0].type, TRIB_T_PROBE);
	expect_eq(sent[0].relay, TRIB_RELAY_PS);
	expect_eq(ps_tree_dests(tree, now, to), 2);
	expect_eq(to[1]->port, TRIB_UDP_PORT_WORKER + 2);
	forget();
	rx(plain(TRIB_T_ALIVE, 0, 4));
	expect_eq(nsent, 2);
	expect_eq(count(TRIB_T_ALIVE, 2), 1);
	expect_eq(sent[0].chunk, 4);
	expect_eq(sent[0].aux, 0);
	expect_eq(ps_tree_dests(tree, now + PS_LEASE_MS, to), 1);
	/* Who is in the group gets no second copy. */
	tree->direct[2] = true;
	expect_eq(ps_tree_dests(tree, now, to), 1);
	end();
}

static void signs__that_go_to_everybody_are_paced(void)
{
	unsigned int i;

	begin(3, 4);
	for (i = 0; i < 3; i++)
		rx(plain(TRIB_T_ALIVE, 1, 4));
	expect_eq(nsent, 1);
	expect_eq(tree->stats.drop[PS_DROP_PACE], 2);
	rx(plain(TRIB_T_ALIVE, 2, 4));
	now += PS_ALIVE_PACE_MS;
	rx(plain(TRIB_T_ALIVE, 1, 4));
	expect_eq(nsent, 3);
	forget();
	for (i = 0; i < 100; i++)
		rx(plain(TRIB_T_ABORT, 1, TRIB_ABORT_DEAD));
	expect_eq(nsent, PS_ABORT_BURST);
	expect_eq(sent[0].chunk, TRIB_ABORT_DEAD);
	now += PS_ABORT_PACE_MS;
	rx(plain(TRIB_T_ABORT, 1, TRIB_ABORT_DEAD));
	expect_eq(nsent, PS_ABORT_BURST + 1);
	end();
}

/* --- what is refused */

static uint8_t raw[PS_PACKET_MAX + 1];
static size_t raw_len;

static struct trib_hdr *make_raw(void)
{
	struct in p = grad(1, 9, 2, 1);

	raw_len = pack(&p, raw);
	return (void *)raw;
}

static void expect_drop(enum ps_drop why, bool stranger)
{
	uint64_t *n = stranger ? &ps->stats.drop[why] : &tree->stats.drop[why];
	uint64_t before = *n;
	struct ps_addr from = host(1, 1);

	forget();
	ps_rx(ps, &from, raw, raw_len, false, now);
	expect_eq(*n, before + 1);
	expect_eq(nsent, 0);
	expect_eq(tree->stats.count[PS_COUNT_GRAD], 0);
}

static void packets__that_are_wrong_are_dropped_for_a_reason(void)
{
	begin(3, 4);
	make_raw();
	raw_len = 39;
	expect_drop(PS_DROP_SHORT, true);
	make_raw()->version = 2;
	expect_drop(PS_DROP_VERSION, true);
	make_raw()->nval = htobe16(NVAL - 16);
	expect_drop(PS_DROP_LENGTH, true);
	make_raw()->nval = htobe16(0xffff);
	expect_drop(PS_DROP_LENGTH, true);
	make_raw()->bmwords = 2;
	expect_drop(PS_DROP_LENGTH, true);
	make_raw()->bmwords = 255;
	expect_drop(PS_DROP_LENGTH, true);
	make_raw();
	raw_len++;
	expect_drop(PS_DROP_LENGTH, true);
	make_raw()->flags = 0;
	expect_drop(PS_DROP_TYPE, true);
	make_raw()->tree = 0;
	expect_drop(PS_DROP_TREE, true);
	make_raw()->job = 0;
	expect_drop(PS_DROP_TREE, true);
	make_raw()->cookie ^= 1;
	expect_drop(PS_DROP_COOKIE, false);
	make_raw()->child = htobe16(3);
	expect_drop(PS_DROP_RANK, false);
	make_raw()->type = TRIB_T_START;
	expect_drop(PS_DROP_TYPE, false);
	make_raw()->type = TRIB_T_GROW;
	expect_drop(PS_DROP_TYPE, false);
	make_raw()->fmt = TRIB_FMT_F32;
	expect_drop(PS_DROP_FORMAT, false);
	make_raw()->fmt = TRIB_FMT_NONE;
	expect_drop(PS_DROP_FORMAT, false);
	make_raw()->op = TRIB_WOP_MAX; /* of Q32 */
	expect_drop(PS_DROP_FORMAT, false);
	make_raw()->nm = 1;
	expect_drop(PS_DROP_FORMAT, false);
	make_raw()->flags |= TRIB_F_MASK;
	expect_drop(PS_DROP_FORMAT, false);
	memset(make_raw() + 1, 0, 8);
	expect_drop(PS_DROP_BITMAP, false);
	raw[sizeof(struct trib_hdr) + 7] = 8 | 2; /* rank 3 of 3 */
	expect_drop(PS_DROP_BITMAP, false);
	make_raw()->bmwords = 0; /* the word becomes values, too many */
	raw_len -= 8;
	expect_drop(PS_DROP_BITMAP, false);
	end();
}

static void packets__more_values_than_the_jobs_are_refused(void)
{
	begin(3, 4);
	memset(raw, 0, sizeof(raw));
	make_raw()->nval = htobe16(NVAL + 16);
	raw_len += 64;
	expect_drop(PS_DROP_FORMAT, false);
	end();
}

static void packets__of_random_bytes_do_no_harm(void)
{
	struct ps_addr from = host(1, 1);
	struct trib_hdr *h;
	unsigned int i, k;
	uint64_t seed = 1;

	begin(70, 4);
	for (i = 0; i < 200000; i++) {
		h = make_raw();
		for (k = 0; k < 3; k++) {
			seed = seed * 6364136223846793005ULL + 1;
			raw[seed >> 33 & 63] = (uint8_t)(seed >> 41);
		}
		if (i & 1)
			h->cookie = htobe64(COOKIE);
		if (i % 3)
			raw_len = sizeof(*h) + 8u * h->bmwords +
				  trib_payload_len(be16toh(h->nval));
		if (raw_len > sizeof(raw))
			raw_len = sizeof(raw);
		nsent = 0;
		ps_rx(ps, &from, raw, raw_len, false, now += i & 1);
	}
	expect(tree->stats.count[PS_COUNT_GRAD] > 100);
	end();
}

/* --- everything at once, at random, against an oracle */

#define F_WORLD 70
#define F_CHUNKS 60
#define F_WINDOW 4

static struct {
	unsigned int world;
	uint64_t rng;
	struct in own[F_CHUNKS][F_WORLD];
	struct in want[F_CHUNKS];
	bool got[F_CHUNKS][F_WORLD];
	bool out[F_CHUNKS][F_WORLD]; /* was sent */
	unsigned int wrong;
} fz;

static unsigned int rnd(unsigned int n)
{
	fz.rng ^= fz.rng << 13;
	fz.rng ^= fz.rng >> 7;
	fz.rng ^= fz.rng << 17;
	return (unsigned int)((fz.rng * 0x2545f4914f6cdd1dULL >> 33) % n);
}

static uint64_t combine(const struct in *like, uint64_t a, uint64_t b)
{
	if (like->op == TRIB_WOP_MAX)
		return (int64_t)a > (int64_t)b ? a : b;
	if (like->fmt == TRIB_FMT_I32)
		return ((a >> 32) + (b >> 32)) << 32 | (uint32_t)(a + b);
	return a + b;
}

/* @to is the sum of itself and @from. */
static void fz_add(struct in *to, const struct in *from)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		to->who[i] |= from->who[i];
	if (from->flags & TRIB_F_EMPTY)
		return;
	for (i = 0; i < WORDS; i++)
		to->v[i] = to->flags & TRIB_F_EMPTY
				   ? from->v[i]
				   : combine(from, to->v[i], from->v[i]);
	to->nval = from->nval;
	to->flags &= (uint8_t)~TRIB_F_EMPTY;
}

static void fz_make(void)
{
	static const struct {
		uint8_t op, fmt;
	} kinds[] = {{TRIB_WOP_ADD, TRIB_FMT_Q32},
		     {TRIB_WOP_ADD, TRIB_FMT_I32},
		     {TRIB_WOP_ADD, TRIB_FMT_W64},
		     {TRIB_WOP_MAX, TRIB_FMT_W64}};
	unsigned int c, r, i, kind, nval;

	memset(fz.got, 0, sizeof(fz.got));
	memset(fz.out, 0, sizeof(fz.out));
	for (c = 0; c < F_CHUNKS; c++) {
		kind = rnd(4);
		nval = 2 + 2 * rnd(NVAL / 2);
		for (r = 0; r < fz.world; r++) {
			struct in *p = &fz.own[c][r];

			*p = (struct in){.type = TRIB_T_GRAD,
					 .op = kinds[kind].op,
					 .fmt = kinds[kind].fmt,
					 .child = r,
					 .chunk = c,
					 .epoch = 5,
					 .scale = (int32_t)c,
					 .nval = nval};
			p->who[r / 64] = 1ULL << r % 64;
			for (i = 0; i < nval / 2; i++)
				p->v[i] = (uint64_t)rnd(1u << 31) << 33 ^
					  rnd(1u << 31);
			if (rnd(8))
				continue;
			p->flags = TRIB_F_EMPTY;
			memset(p->v, 0, sizeof(p->v));
			p->nval = rnd(2) ? nval : 0;
		}
		fz.want[c] = fz.own[c][0];
		for (r = 1; r < fz.world; r++)
			fz_add(&fz.want[c], &fz.own[c][r]);
		if (fz.want[c].flags & TRIB_F_EMPTY)
			fz.want[c].nval = 0;
	}
}

/* What a worker gets from the network. */
static void fz_tap(unsigned int rank, const struct trib_hdr *h)
{
	uint32_t c = be32toh(h->chunk);
	unsigned int r;

	if (h->type == TRIB_T_RESULT) {
		if (c >= F_CHUNKS || be16toh(h->nval) != fz.want[c].nval ||
		    memcmp(h + 1, fz.want[c].v,
			   trib_payload_len(fz.want[c].nval))) {
			fz.wrong++;
			return;
		}
		for (r = 0; r < fz.world; r++)
			if ((rank == GROUP_RANK || rank == r) && rnd(3) &&
			    fz.out[c][r])
				fz.got[c][r] = true;
	}
}

/* NEEDs that came are answered, later. */
static struct {
	unsigned int rank;
	uint32_t chunk;
} asked[64];
static unsigned int nasked;

static void fz_answer(unsigned int r, uint32_t c)
{
	struct in p;

	if (c >= F_CHUNKS || !fz.out[c][r])
		return;
	p = fz.got[c][r] ? fz.want[c] : resend(fz.own[c][r]);
	if (fz.got[c][r])
		p.type = TRIB_T_RESULT;
	p.child = r;
	rx(p);
}

static void fz_collect(void)
{
	unsigned int i;

	for (i = 0; i < nsent; i++)
		if (sent[i].type == TRIB_T_NEED && nasked < 64 && rnd(4)) {
			asked[nasked].rank = sent[i].rank;
			asked[nasked++].chunk = sent[i].chunk;
		}
	nsent = 0;
}

/* A sum that a relay may have made of what was sent. */
static void fz_partial(uint32_t c)
{
	struct in sum;
	unsigned int r, n = 0;

	for (r = 0; r < fz.world; r++) {
		if (!fz.out[c][r] || rnd(2))
			continue;
		if (!n++)
			sum = fz.own[c][r];
		else
			fz_add(&sum, &fz.own[c][r]);
	}
	if (n)
		rx(rnd(4) ? sum : resend(sum));
}

static void fz_step(unsigned int low)
{
	unsigned int r = rnd(fz.world), i;
	uint32_t c = low + rnd(F_WINDOW);

	if (c >= F_CHUNKS)
		c = F_CHUNKS - 1;
	switch (rnd(8)) {
	case 0:
	case 1:
	case 2: /* a gradient, if its turn has come; perhaps lost */
		if (c >= F_WINDOW && !fz.got[c - F_WINDOW][r])
			break;
		fz.out[c][r] = true;
		if (rnd(4))
			rx(fz.own[c][r]);
		break;
	case 3:
		fz_partial(c);
		break;
	case 4: /* a time-out */
		if (fz.out[c][r] && !fz.got[c][r])
			rx(rnd(2) ? resend(fz.own[c][r])
				  : plain(TRIB_T_NEED, r, c));
		break;
	case 5: /* an old copy */
		c = rnd(low + 1);
		if (fz.out[c][r])
			rx(rnd(2) ? fz.own[c][r] : resend(fz.own[c][r]));
		break;
	case 6:
		if (nasked) {
			i = rnd(nasked);
			r = asked[i].rank;
			c = asked[i].chunk;
			asked[i] = asked[--nasked];
			fz_answer(r, c);
		}
		break;
	default:
		if (!rnd(60)) /* a restart */
			memset(tree->place, 0,
			       (size_t)(tree->mask + 1) * tree->stride);
		now += rnd(20);
		break;
	}
}

static bool fz_run(uint64_t seed)
{
	unsigned int low = 0, r, step = 0;

	fz.rng = seed * 0x9e3779b97f4a7c15ULL + 1;
	fz.world = 1 + rnd(seed % 4 ? 6 : F_WORLD);
	fz.wrong = nasked = 0;
	begin(fz.world, F_WINDOW);
	fz_make();
	tap = fz_tap;
	while (low < F_CHUNKS && step++ < 4000000) {
		fz_step(low);
		fz_collect();
		for (r = 0; r < fz.world && fz.got[low][r]; r++)
			;
		low += r == fz.world;
	}
	if (fz.wrong || low < F_CHUNKS)
		printf("# seed %llu world %u: chunk %u, %u wrong\n",
		       (unsigned long long)seed, fz.world, low, fz.wrong);
	end();
	return !fz.wrong && low == F_CHUNKS;
}

static void fuzz__any_order_gives_the_exact_sum_to_everybody(void)
{
	uint64_t seed;

	for (seed = 0; seed < 60; seed++)
		if (!expect(fz_run(seed)))
			return;
}

/* --- who takes part */

static void join_as(unsigned int rank, uint8_t type, uint64_t nonce,
		    unsigned int nval, struct ps_addr from)
{
	uint8_t buf[PS_PACKET_MAX] = {0};
	struct trib_hdr *h = (void *)buf;
	struct trib_join j = {.nonce = htobe64(nonce), .rank = htobe32(rank)};

	ps_hdr_fill(tree, h, type);
	h->flags = TRIB_F_UP;
	h->child = htobe16((uint16_t)rank);
	h->bmwords = (uint8_t)tree->bmwords;
	h->nval = htobe16((uint16_t)nval);
	memcpy(buf + sizeof(*h) + 8 * h->bmwords, &j, sizeof(j));
	ps_rx(ps, &from, buf,
	      sizeof(*h) + 8u * h->bmwords + trib_payload_len(nval), false,
	      now);
}

static void join(unsigned int rank, uint64_t nonce)
{
	join_as(rank, TRIB_T_JOIN, nonce, NVAL, host(rank, 9000));
}

static unsigned int started(unsigned int state)
{
	unsigned int i, n = 0;

	for (i = 0; i < nsent; i++)
		n += sent[i].type == TRIB_T_START &&
		     be16toh(sent[i].start.state) == state;
	return n;
}

static void join__epoch_begins_when_all_ranks_are_here(void)
{
	unsigned int r;

	begin(3, 4);
	for (r = 0; r < 2; r++)
		join(r, 0x100000001ULL + ((uint64_t)r << 32));
	expect_eq(started(TRIB_START_WAIT), 2);
	expect_eq(be64toh(sent[1].start.seen), 3);
	expect_eq(sent[0].port, 9000);
	expect_eq(nsaved, 0);
	forget();
	now += 100;
	join(2, 0x300000001ULL);
	expect_eq(started(TRIB_START_RUN), 3);
	expect_eq(be32toh(sent[0].start.epoch), 1);
	expect_eq(be16toh(sent[0].start.window), 4);
	expect_eq(be16toh(sent[0].start.nval), NVAL);
	expect_eq(be16toh(sent[0].start.world), 3);
	expect(nsaved >= 1);
	expect_eq(tree->epoch, 1);
	end();
}

static void join__wrong_ones_are_refused(void)
{
	begin(2, 4);
	join_as(0, TRIB_T_JOIN, 1, NVAL, host(1, 9000));
	expect_eq(tree->stats.drop[PS_DROP_SOURCE], 1);
	expect_eq(nsent, 0);
	join_as(0, TRIB_T_JOIN, 1, 16, host(0, 9000)); /* no room for START */
	join_as(0, TRIB_T_JOIN, 1, NVAL, host(0, 0));
	expect_eq(tree->stats.drop[PS_DROP_JOIN], 2);
	expect_eq(nsent, 0);
	join_as(1, TRIB_T_JOIN, 1, NVAL + 16, host(1, 9000)); /* too long */
	expect_eq(started(TRIB_START_REFUSED), 1);
	end();
}

static void join__new_nonce_ends_the_epoch(void)
{
	unsigned int r;

	begin(3, 4);
	for (r = 0; r < 3; r++)
		join(r, 0x100000001ULL + ((uint64_t)r << 32));
	forget();
	now += 1000;
	join(1, 0x900000001ULL);
	expect_eq(count(TRIB_T_ABORT, 0), 1);
	expect_eq(count(TRIB_T_ABORT, 2), 1);
	expect_eq(count(TRIB_T_ABORT, 1), 0);
	expect_eq(sent[0].chunk, TRIB_ABORT_REJOIN);
	expect_eq(sent[0].aux, 1);
	now += 100;
	join(0, 0x100000002ULL);
	join(2, 0x300000002ULL);
	expect_eq(tree->epoch, 2);
	expect_eq(started(TRIB_START_RUN), 3);
	end();
}

/* All but @rank, as often as they have joined before. */
static void others_join(unsigned int rank, unsigned int times)
{
	unsigned int r;

	for (r = 0; r < tree->job->world; r++)
		if (r != rank)
			join(r, trib_nonce(r + 1, times));
}

static void join__larger_jobs_are_groups_of_64(void)
{
	unsigned int r;

	begin(200, 4);
	others_join(199, 1);
	expect_eq(started(TRIB_START_RUN), 0);
	forget();
	now += 100;
	join(199, trib_nonce(200, 1));
	expect_eq(started(TRIB_START_RUN), 200);
	expect_eq(tree->epoch, 1);
	forget();
	/* One joins anew: all others hear of it, and do so, too. */
	now += 1000;
	join(70, trib_nonce(71, 2));
	for (r = 0; r < 200; r++)
		expect_eq(count(TRIB_T_ABORT, r) > 0, r != 70);
	forget();
	now += 100;
	others_join(70, 2);
	expect_eq(started(TRIB_START_RUN), 200);
	expect_eq(tree->epoch, 2);
	/* All leave: the next epoch can begin. */
	for (r = 0; r < 200; r++)
		join_as(r, TRIB_T_LEAVE, trib_nonce(r + 1, 2), 16,
			host(r, 9000));
	forget();
	now += 2000;
	others_join(0, 3);
	join(0, trib_nonce(1, 3));
	expect_eq(count(TRIB_T_ABORT, 0), 0);
	expect_eq(started(TRIB_START_RUN), 200);
	expect_eq(tree->epoch, 3);
	end();
}

static void leave__who_is_waited_for_is_named(void)
{
	unsigned int r;

	begin(3, 4);
	for (r = 0; r < 3; r++)
		join(r, 0x100000001ULL + ((uint64_t)r << 32));
	join_as(1, TRIB_T_LEAVE, 0x200000001ULL, 16, host(1, 9000));
	for (r = 0; r < 20; r++)
		ps_tick(ps, now += 100);
	forget();
	for (r = 0; r < 3; r += 2) {
		struct in p = grad(r, 9, 1u << r, 1);

		p.epoch = 1;
		rx(p);
	}
	for (r = 0; r < 12; r++)
		ps_tick(ps, now += 100);
	expect(count(TRIB_T_ABORT, 0) >= 1);
	expect(count(TRIB_T_ABORT, 2) >= 1);
	expect_eq(sent[0].chunk, TRIB_ABORT_GONE);
	expect_eq(sent[0].aux, 1);
	end();
}

/* --- files */

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

#define GOOD_HEAD                                                              \
	"{\"job\": 7, \"cookie\": \"1122334455667788\", \"window\": 4,"        \
	"\"nval\": 48, \"timeout_ms\": 5000,"
#define GOOD_WORKERS "\"workers\": [\"10.0.0.1\", \"10.0.0.2:7500\"],"
#define GOOD_TREES "\"trees\": [{\"tree\": 3}]}"

static void config__is_read(void)
{
	char why[256] = "";

	ps = empty_ps();
	write_file(
		"ps-unit.json", GOOD_HEAD GOOD_WORKERS
		"\"name\": \"train\", \"trees\": [{\"tree\": 3},"
		"{\"tree\": 4, \"group\": [\"10.0.0.9\", \"10.0.0.2:7500\"]}]}");
	expect_eq(ps_config_load(ps, "ps-unit.json", true, why, sizeof(why)),
		  0);
	expect_eq(ps->ntree, 2);
	expect_eq(ps->job[0]->world, 2);
	expect_eq(ps->job[0]->worker[0].port, TRIB_UDP_PORT_WORKER);
	expect_eq(ps->job[0]->worker[1].port, 7500);
	expect(ps->job[0]->cookie == htobe64(COOKIE));
	expect_eq(ps->by_tree[3]->ngroup, 2);
	expect(ps->by_tree[3]->direct[0] && ps->by_tree[3]->direct[1]);
	expect_eq(ps->by_tree[4]->group[0].port, TRIB_UDP_PORT);
	expect(!ps->by_tree[4]->direct[0] && ps->by_tree[4]->direct[1]);
	end();
	unlink("ps-unit.json");
}

static void config__local_is_the_relay_on_this_host(void)
{
	char why[256] = "", text[ADDR_TEXT_MAX];

	ps = empty_ps();
	ps->everywhere = true;
	write_file(
		"ps-unit.json", GOOD_HEAD GOOD_WORKERS
		"\"trees\": [{\"tree\": 3, \"group\": [\"10.0.0.9\", \"local\"]}]}");
	expect_eq(ps_config_load(ps, "ps-unit.json", true, why, sizeof(why)),
		  0);
	expect(!ps->by_tree[3]->group[0].local);
	expect(ps->by_tree[3]->group[1].local);
	expect(!strcmp(ps_addr_text(&ps->by_tree[3]->group[1], text),
		       "169.254.77.1:7417"));
	end();
	ps = empty_ps();
	ps->everywhere = true;
	write_file("ps-unit.json", GOOD_HEAD
		   "\"workers\": [\"[fd77::2]\"],"
		   "\"trees\": [{\"tree\": 3, \"group\": [\"local\"]}]}");
	expect_eq(ps_config_load(ps, "ps-unit.json", false, why, sizeof(why)),
		  0);
	expect(!strcmp(ps_addr_text(&ps->by_tree[3]->group[0], text),
		       "[fe80::77:1]:7417"));
	end();
	unlink("ps-unit.json");
}

static void config__errors_name_the_field_and_the_value(void)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
		{"{", ":1:1: not JSON"},
		{"[]", "is a list, not an object"},
		{"{\"jab\": 1}", "1:9: jab: is not known here"},
		{"{}", "job is missing"},
		{"{\"job\": \"1\"}", "job: is text, not an integer"},
		{"{\"job\": 65536}", "job: 65536 is not within 0 to 65535"},
		{"{\"job\": 1, \"window\": 3}", "window: 3 is not a power"},
		{"{\"job\": 1, \"window\": 32768}", "window: 32768 is not"},
		{"{\"job\": 1, \"window\": 4, \"nval\": 50}",
		 "nval: 50 is not a multiple of 16"},
		{"{\"job\": 1, \"window\": 4, \"nval\": 48,\"timeout_ms\": 1}",
		 "timeout_ms: 1 is not within"},
		{"{\"job\": 7, \"window\": 4, \"nval\": 48,\"timeout_ms\": 500,"
		 "\"cookie\": \"12x\"}",
		 "cookie: is not text of 1 to 16 hex digits"},
		{GOOD_HEAD GOOD_TREES, "workers is missing"},
		{GOOD_HEAD "\"workers\": [\"10.0.0.1\", 7]," GOOD_TREES,
		 "workers[1]: is not text"},
		{GOOD_HEAD "\"workers\": [\"10.0.0\"]," GOOD_TREES,
		 "workers[0]: '10.0.0' is not ADDR"},
		{GOOD_HEAD "\"workers\": [\"10.0.0.1:0\"]," GOOD_TREES,
		 "workers[0]: '10.0.0.1:0' is not ADDR"},
		{GOOD_HEAD "\"workers\": [\"10.0.0.1:65536\"]," GOOD_TREES,
		 "workers[0]: '10.0.0.1:65536'"},
		{GOOD_HEAD "\"workers\": [\"239.0.0.1\"]," GOOD_TREES,
		 "not the address of a host"},
		{GOOD_HEAD "\"workers\": [\"[fd00::1]\"]," GOOD_TREES,
		 "'[fd00::1]' is IPv6"},
		{GOOD_HEAD GOOD_WORKERS "\"trees\": []}",
		 "trees: has no entries"},
		{GOOD_HEAD GOOD_WORKERS "\"trees\": [3]}",
		 "trees[0]: is a number, not an object"},
		{GOOD_HEAD GOOD_WORKERS "\"trees\": [{\"tree\": -1}]}",
		 "trees[0].tree: -1 is not within"},
		{GOOD_HEAD GOOD_WORKERS
		 "\"trees\": [{\"tree\": 3}, {\"tree\": 3}]}",
		 "trees[1].tree: there is a tree 3 already"},
		{GOOD_HEAD GOOD_WORKERS
		 "\"trees\": [{\"tree\": 3, \"group\": []}]}",
		 "trees[0].group: has no entries"},
		{GOOD_HEAD GOOD_WORKERS
		 "\"trees\": [{\"tree\": 3, \"group\": [\"x\"]}]}",
		 "trees[0].group[0]: 'x' is not ADDR"},
		{GOOD_HEAD GOOD_WORKERS
		 "\"trees\": [{\"tree\": 3, \"group\": [\"local\"]}]}",
		 "trees[0].group[0]: the relay on this host"},
		{GOOD_HEAD GOOD_WORKERS
		 "\"trees\": [{\"tree\": 3, \"groups\": 1}]}",
		 "trees[0].groups: is not known here"},
	};
	unsigned int i;
	char why[256];

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ps = empty_ps();
		write_file("ps-unit.json", bad[i].text);
		*why = '\0';
		expect(ps_config_load(ps, "ps-unit.json", true, why,
				      sizeof(why)) < 0);
		if (!expect(strstr(why, bad[i].want)))
			printf("# '%s' does not say '%s'\n", why, bad[i].want);
		expect(!strncmp(why, "ps-unit.json:1:", 15));
		end();
	}
	unlink("ps-unit.json");
}

static void state__restart_goes_on_and_no_epoch_is_used_twice(void)
{
	uint64_t nonce = 0x100000001ULL;
	char why[256] = "";
	unsigned int r, world, turn;

	for (turn = 0; turn < 2; turn++) {
		world = turn ? 130 : 3;
		begin(world, 4);
		for (r = 0; r < world; r++)
			join(r, nonce + ((uint64_t)r << 32));
		expect_eq(tree->epoch, 1);
		expect_eq(ps_state_save(ps, "ps-unit.state"), 0);
		end();
		begin(world, 4);
		expect_eq(ps_state_load(ps, "ps-unit.state", why, sizeof(why)),
			  0);
		expect_eq(tree->epoch, 1);
		/* A JOIN said again is answered; another one ends the epoch. */
		join(1, nonce + (1ULL << 32));
		expect_eq(started(TRIB_START_RUN), 1);
		forget();
		now += 1000;
		join(1, nonce + (77ULL << 40));
		expect_eq(count(TRIB_T_ABORT, 0), 1);
		expect_eq(count(TRIB_T_ABORT, world - 1), 1);
		for (r = 0; r < world; r++)
			if (r != 1)
				join(r, nonce + ((uint64_t)r << 32) + 1);
		ps_tick(ps, now += 300);
		expect_eq(tree->epoch, 2);
		end();
	}
	unlink("ps-unit.state");
}

static void state__newer_epoch_of_packets_is_kept(void)
{
	struct in p = grad(0, 9, 1, 1);

	begin(2, 4);
	p.epoch = 40;
	rx(p);
	expect_eq(tree->epoch, 40);
	expect(nsaved >= 1);
	join(0, 0x100000001ULL);
	join(1, 0x200000001ULL);
	expect_eq(tree->epoch, 41);
	end();
}

static void state__wrong_files_are_refused(void)
{
	static const char *const bad[] = {
		"",
		"{}",
		"{\"version\": 2, \"trees\": []}",
		"{\"version\": 1, \"trees\": [{\"job\": 7, \"tree\": 3,"
		"\"epoch\": -1, \"last_epoch\": 1, \"nonces\": []}]}",
		"{\"version\": 1, \"trees\": [{\"job\": 7, \"tree\": 3,"
		"\"epoch\": 2, \"last_epoch\": 1, \"nonces\": []}]}",
		"{\"version\": 1, \"trees\": [{\"job\": 7, \"tree\": 3,"
		"\"epoch\": 1, \"last_epoch\": 4294967295, \"nonces\": []}]}",
		"{\"version\": 1, \"trees\": [{\"job\": 7, \"tree\": 3,"
		"\"epoch\": 1, \"last_epoch\": 1, \"nonces\": [\"1\",\"g\"]}]}",
	};
	char why[256];
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin(2, 4);
		write_file("ps-unit.state", bad[i]);
		expect(ps_state_load(ps, "ps-unit.state", why, sizeof(why)) <
		       0);
		end();
	}
	unlink("ps-unit.state");
}

int main(void)
{
	char dir[] = "/tmp/unit_ps.XXXXXX";
	int rc;

	if (!mkdtemp(dir) || chdir(dir))
		abort();
	run(grad__disjoint_sums_are_added_and_the_result_goes_to_the_group);
	run(grad__each_worker_is_counted_once);
	run(grad__superset_takes_the_place);
	run(grad__finished_chunk_is_kept_and_not_begun_again);
	run(places__are_two_windows);
	run(chunks__are_compared_serially);
	run(epochs__older_is_dropped_newer_becomes_the_trees);
	run(shape__another_one_is_refused_and_named);
	run(empty__counts_and_adds_nothing);
	run(sums__are_those_of_their_format);
	run(flags__push_and_congestion_are_collected);
	run(ask__need_goes_to_the_asker_and_ever_more_others);
	run(result__of_a_worker_is_taken);
	run(probe__is_answered_and_gives_a_lease);
	run(signs__that_go_to_everybody_are_paced);
	run(packets__that_are_wrong_are_dropped_for_a_reason);
	run(packets__more_values_than_the_jobs_are_refused);
	run(packets__of_random_bytes_do_no_harm);
	run(fuzz__any_order_gives_the_exact_sum_to_everybody);
	run(join__epoch_begins_when_all_ranks_are_here);
	run(join__wrong_ones_are_refused);
	run(join__new_nonce_ends_the_epoch);
	run(join__larger_jobs_are_groups_of_64);
	run(leave__who_is_waited_for_is_named);
	run(config__is_read);
	run(config__local_is_the_relay_on_this_host);
	run(config__errors_name_the_field_and_the_value);
	run(state__restart_goes_on_and_no_epoch_is_used_twice);
	run(state__newer_epoch_of_packets_is_kept);
	run(state__wrong_files_are_refused);
	rc = tap_done();
	if (!chdir("/"))
		rmdir(dir);
	return rc;
}
