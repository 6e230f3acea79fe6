/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A parameter server without sockets, and one tree of one job: rx() passes
 * packets in, and sent[] records packets out. The clock is @now.
 */
#ifndef TESTS_UNIT_PS_FIXTURE_H
#define TESTS_UNIT_PS_FIXTURE_H

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/mask_make.h"
#include "tests/lib/tap.h"
#include "ps/sum/ps.h"

#define JOB 7
#define TREE 3
#define NVAL 48
#define WORDS (NVAL / 2)
#define GROUP_RANK 5000 /* in struct sent: receiver is the group */

/* Packets that went out. */
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
/* Called for each sent packet, if set. */
static void (*tap)(unsigned int rank, const struct trib_hdr *h);

static inline struct ps_addr host(unsigned int i, uint16_t port)
{
	struct ps_addr a = {.port = port};

	a.ip.s6_addr[10] = a.ip.s6_addr[11] = 0xff;
	a.ip.s6_addr[12] = 10;
	a.ip.s6_addr[14] = (uint8_t)(i / 256);
	a.ip.s6_addr[15] = (uint8_t)i;
	return a;
}

/* Does the packet prove that it is the PS's? */
static inline bool is_signed(unsigned int rank, const struct trib_hdr *h, size_t len)
{
	bool own = h->type == TRIB_T_START || h->type == TRIB_T_PROBE || h->type == TRIB_T_NEED;
	struct trib_key job = {}, key;

	trib_key_down(&key, &job, TREE);
	if (trib_auth_is_secret(h->type))
		return h->auth == trib_key_secret(&key);
	if (own)
		trib_key_up(&key, &job, TREE, (uint16_t)rank);
	return h->auth == trib_auth(&key, h, h + 1, (uint32_t)(len - sizeof(*h)));
}

static inline void note(unsigned int rank, const void *pkt, size_t len, uint16_t port)
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
	expect_eq(len, sizeof(*h) + 8u * h->bmwords + trib_payload_len(be16toh(h->nval)));
	expect(is_signed(rank, h, len) && be16toh(h->job) == JOB && be16toh(h->tree) == TREE &&
	       h->version == TRIB_WIRE_VERSION && !(h->flags & TRIB_F_UP));
}

static inline void on_to(void *ctx, const struct ps_addr *to, const void *pkt, size_t len,
			 struct ps_place *z)
{
	unsigned int rank = to->ip.s6_addr[14] * 256u + to->ip.s6_addr[15];

	(void)ctx;
	expect(!z || (const void *)&z->h == pkt);
	note(rank, pkt, len, to->port);
}

static inline void on_result(void *ctx, struct ps_tree *t, struct ps_place *z)
{
	(void)ctx;
	(void)t;
	note(GROUP_RANK, &z->h, sizeof(z->h) + trib_payload_len(be16toh(z->h.nval)), 0);
}

static inline void on_settle(void *ctx, struct ps_place *z)
{
	(void)ctx;
	(void)z;
	nsettled++;
}

/* @save_fails: -errno of a full disk. */
static int save_fails;

static inline int on_save(void *ctx)
{
	(void)ctx;
	nsaved += !save_fails;
	return save_fails;
}

static inline void on_log(void *ctx, const char *line)
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

static inline struct ps *empty_ps(void)
{
	struct ps *p = calloc(1, sizeof(*p));

	if (!p)
		abort();
	p->ops = &ops;
	return p;
}

/* Make a job of @world ranks whose results go to one relay. @p: an empty PS. */
static inline void begin_on(struct ps *p, unsigned int world, unsigned int window)
{
	struct ps_job *j = calloc(1, sizeof(*j));
	unsigned int r;

	ps = p;
	group_addr = calloc(1, sizeof(*group_addr));
	if (!j || !group_addr)
		abort();
	*group_addr = host(GROUP_RANK, 7417);
	j->number = JOB;
	j->world = (uint16_t)world;
	j->window = (uint16_t)window;
	j->nval = NVAL;
	j->timeout_ms = 5000;
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

static inline void begin(unsigned int world, unsigned int window)
{
	begin_on(empty_ps(), world, window);
}

static inline void end(void)
{
	ps_free(ps);
	free(ps);
}

/* --- packets in */

/* @nm: a mask, other values than which are 0: in_mask(). */
struct in {
	uint8_t type, flags, op, fmt, nm;
	unsigned int child;
	uint32_t chunk, epoch;
	int32_t scale;
	unsigned int nval;
	uint64_t who[TRIB_BMWORDS_MAX];
	uint64_t v[WORDS];
};

static inline struct in grad(unsigned int child, uint32_t chunk, uint64_t who, uint64_t v)
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

/* Give the packet a mask of its own, and make it of 32 values of I32. */
static inline void in_mask(struct in *p, uint8_t nm)
{
	uint32_t word, *v = (uint32_t *)(void *)p->v;
	unsigned int i;

	mask_words(&word, 1, nm, p->chunk * 97 + p->child);
	p->flags |= TRIB_F_MASK;
	p->fmt = TRIB_FMT_I32;
	p->nm = nm;
	p->nval = 32;
	for (i = 0; i < WORDS * 2; i++)
		if (i >= 32 || !(word >> i & 1))
			v[i] = 0;
}

/* The same values without a mask, as in a sum. */
static inline struct in in_dense(struct in p)
{
	p.flags &= (uint8_t)~TRIB_F_MASK;
	p.nm = 0;
	return p;
}

/* Write the values of in_mask(). Return: bytes. */
static inline size_t pack_masked(const struct in *p, uint8_t *buf)
{
	const uint32_t *v = (const uint32_t *)(const void *)p->v;
	uint32_t word;
	unsigned int i, n = 0;

	memset(buf, 0, trib_masked_len(32, p->nm));
	mask_words(&word, 1, p->nm, p->chunk * 97 + p->child);
	memcpy(buf, &word, 4);
	for (i = 0; i < 32; i++)
		if (word >> i & 1)
			memcpy(buf + 4 + 4 * n++, v + i, 4);
	return trib_masked_len(32, p->nm);
}

/* Sign as the rank, or as a relay that brings the values of others. */
static inline void sign(struct trib_hdr *h, size_t len, const struct in *p)
{
	static uint32_t number;
	uint64_t own[TRIB_BMWORDS_MAX] = {0};
	struct trib_key job = {}, key;
	uint16_t rank = (uint16_t)p->child;

	own[p->child / 64 % TRIB_BMWORDS_MAX] = 1ULL << p->child % 64;
	if (p->type == TRIB_T_GRAD && memcmp(own, p->who, sizeof(own)))
		rank = 0xffff;
	trib_key_up(&key, &job, TREE, rank);
	if (trib_auth_is_secret(p->type)) {
		h->auth = trib_key_secret(&key);
		return;
	}
	h->scale = htobe32(++number);
	h->auth = trib_auth(&key, h, h + 1, (uint32_t)len);
}

static inline size_t pack(const struct in *p, uint8_t *buf)
{
	struct trib_hdr *h = (void *)buf;
	unsigned int i, words = p->type == TRIB_T_GRAD ? tree->bmwords : 0;
	size_t len = trib_payload_len(p->nval);
	__be64 be;

	ps_hdr_fill(tree, h, p->type);
	h->flags = p->flags | TRIB_F_UP;
	h->op = p->op;
	h->fmt = p->fmt;
	h->nm = p->nm;
	h->bmwords = (uint8_t)words;
	h->relay = htobe16(TRIB_RELAY_PS);
	h->child = htobe16((uint16_t)p->child);
	h->chunk = htobe32(p->chunk);
	h->epoch = htobe32(p->epoch);
	h->nval = htobe16((uint16_t)p->nval);
	h->scale = htobe32((uint32_t)p->scale);
	h->aux = htobe16(p->type == TRIB_T_ALIVE || p->type == TRIB_T_ABORT ? (uint16_t)p->child
									    : 0);
	for (i = 0; i < words; i++) {
		be = htobe64(p->who[i]);
		memcpy(buf + sizeof(*h) + 8 * i, &be, 8);
	}
	if (p->flags & TRIB_F_MASK)
		len = pack_masked(p, buf + sizeof(*h) + 8 * words);
	else
		memcpy(buf + sizeof(*h) + 8 * words, p->v, len);
	sign(h, 8 * words + len, p);
	return sizeof(*h) + 8 * words + len;
}

static inline void rx(struct in p)
{
	uint8_t buf[1 + PS_PACKET_MAX + 4 * NVAL];
	struct ps_addr from = host(p.child, 7418);
	size_t len = pack(&p, buf);

	/* At an odd address, like packets in trains. */
	memmove(buf + 1, buf, len);
	ps_rx(ps, &from, buf + 1, len, false, now);
}

static inline struct in resend(struct in p)
{
	p.flags |= TRIB_F_RESEND;
	return p;
}

static inline struct in plain(uint8_t type, unsigned int child, uint32_t chunk)
{
	return (struct in){.type = type, .child = child, .chunk = chunk, .epoch = 5};
}

/* Number of packets of @type to @rank since the last call of forget(). */
static inline unsigned int count(uint8_t type, unsigned int rank)
{
	unsigned int i, n = 0;

	for (i = 0; i < nsent; i++)
		n += sent[i].type == type && sent[i].rank == rank;
	return n;
}

static inline void forget(void)
{
	nsent = 0;
}

/* --- joining */

static inline void join_with(__be64 token, unsigned int rank, uint8_t type, uint64_t nonce,
			     unsigned int nval, struct ps_addr from)
{
	uint8_t buf[PS_PACKET_MAX] = {0};
	struct trib_hdr *h = (void *)buf;
	struct trib_join j = {.nonce = htobe64(nonce), .rank = htobe32(rank), .token = token};
	size_t len = 8u * tree->bmwords + trib_payload_len(nval);
	struct trib_key job = {}, key;

	ps_hdr_fill(tree, h, type);
	h->flags = TRIB_F_UP;
	h->child = htobe16((uint16_t)rank);
	h->bmwords = (uint8_t)tree->bmwords;
	h->nval = htobe16((uint16_t)nval);
	memcpy(buf + sizeof(*h) + 8 * h->bmwords, &j, sizeof(j));
	trib_key_up(&key, &job, TREE, (uint16_t)rank);
	h->auth = trib_auth(&key, h, h + 1, (uint32_t)len);
	ps_rx(ps, &from, buf, sizeof(*h) + len, false, now);
}

static inline void join_as(unsigned int rank, uint8_t type, uint64_t nonce, unsigned int nval,
			   struct ps_addr from)
{
	void (*kept)(unsigned int rank, const struct trib_hdr *h) = tap;
	struct ps_stats stats = tree->stats;
	unsigned int n = nsent;
	__be64 token = 0;

	/* The answer to a JOIN without token has one; it is not counted. */
	tap = NULL;
	if (type == TRIB_T_JOIN && rank < tree->job->world)
		join_with(0, rank, type, nonce, NVAL, host(rank, 9000));
	if (nsent > n)
		token = sent[n].start.token;
	tree->stats = stats;
	tap = kept;
	nsent = n;
	join_with(token, rank, type, nonce, nval, from);
}

static inline void join(unsigned int rank, uint64_t nonce)
{
	join_as(rank, TRIB_T_JOIN, nonce, NVAL, host(rank, 9000));
}

static inline unsigned int started(unsigned int state)
{
	unsigned int i, n = 0;

	for (i = 0; i < nsent; i++)
		n += sent[i].type == TRIB_T_START && be16toh(sent[i].start.state) == state;
	return n;
}

#endif /* TESTS_UNIT_PS_FIXTURE_H */
