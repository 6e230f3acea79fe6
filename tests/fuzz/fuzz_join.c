// SPDX-License-Identifier: BSD-2-Clause
/*
 * JOIN, LEAVE and START from the network, at a root and at an inner node. For
 * any input: epochs only grow, an epoch begins only with all children, and no
 * answer is longer or more frequent than the requests.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/session/join.h"
#include "daemon/tree/secret.h"
#include "tests/fuzz/input.h"

#define NCHILD 3
#define NVAL 48 /* of a packet: so few that a START just fits, because all is signed */
#define MS 1000000ULL

static struct tribd D;
static struct job J;
static struct tree T;
static struct face F[NCHILD + 2]; /* children, the parent, a stranger */
static uint64_t clock_ns;
static uint32_t last_epoch; /* newest that ever ran */
static uint32_t newest_row; /* newest that the row has named */
static size_t longest;	    /* answer to the packet in hand */
static unsigned int answers;

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "join: %s\n", what);
	abort();
}

/* --- tribd, as far as join.c sees it */

void log_line(enum log_level level, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	(void)level;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
}

void timer_set(struct tribd *d, struct timer *t, uint32_t ms)
{
	(void)d;
	t->at_ns = clock_ns + ms * MS;
}

void timer_cancel(struct tribd *d, struct timer *t)
{
	(void)d;
	t->at_ns = 0;
}

uint64_t loop_now(void)
{
	return clock_ns;
}

struct tree *tree_find(struct tribd *d, uint16_t id)
{
	(void)d;
	return id == T.id ? &T : NULL;
}

int tree_row_store(struct tribd *d, struct tree *t)
{
	const struct joining *j = t->dedicated.join;

	(void)d;
	must(t->row.last_epoch >= t->row.epoch && t->row.last_epoch >= newest_row,
	     "the row forgets an epoch");
	newest_row = t->row.last_epoch;
	if (!t->row.epoch || t->row.epoch == last_epoch)
		return 0;
	must(t->row.epoch > last_epoch, "an epoch runs again");
	must(session_seen(&j->s) == (1 << NCHILD) - 1, "an epoch begins without all children");
	last_epoch = t->row.epoch;
	return 0;
}

int hooks_save(struct tribd *d, struct reason *why)
{
	(void)d;
	(void)why;
	return 0;
}

int udp_send(struct tribd *d, const struct face *via, const struct in6_addr *to, uint16_t port,
	     const void *data, size_t len)
{
	static uint8_t sent[sizeof(struct join_packet)];
	const struct trib_hdr *h = data;

	(void)d;
	(void)via;
	(void)to;
	(void)port;
	must(len >= sizeof(*h) && len == sizeof(*h) + trib_payload_len(ntohs(h->nval)),
	     "lengths of what is sent disagree");
	must(len <= sizeof(sent), "too long");
	memcpy(sent, data, len); /* ASan looks whether it is there */
	answers++;
	if (h->type == TRIB_T_START && len > longest)
		longest = len;
	return 0;
}

/* Sometimes, a slot that waits for a child that left. */
static struct trib_slot slot;

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	(void)fd;
	(void)key;
	memcpy(value, &slot, 64 + 4 * TRIB_NVAL_SMALL);
	return 0;
}

/* --- what comes */

static void datagram(struct input *in, struct join_packet *p)
{
	uint8_t what = take8(in), who = take8(in), bend = take8(in);
	unsigned int from = who % (NCHILD + 2);
	struct secret secret;
	static const uint8_t types[] = {TRIB_T_JOIN, TRIB_T_JOIN, TRIB_T_LEAVE, TRIB_T_START};
	struct udp_packet up = {
		.data = p,
		.len = sizeof(p->h) + 4 * NVAL,
		.src = F[from].addr,
		.ifindex = F[from].l3_ifindex,
		.sport = from == NCHILD ? TRIB_UDP_PORT : 40000,
	};

	memset(p, 0, sizeof(*p));
	p->h.version = TRIB_WIRE_VERSION;
	p->h.type = types[what & 3];
	p->h.flags = p->h.type == TRIB_T_START ? 0 : TRIB_F_UP;
	p->h.job = htons(J.id);
	p->h.tree = htons(T.id);
	p->h.child = htons(from);
	p->h.nval = htons(NVAL);
	if (p->h.type == TRIB_T_START) {
		const struct joining *j = T.dedicated.join;
		struct trib_start *st = &p->u.start;

		st->nonce = htobe64(what & 4 ? 7 : j->s.up_nonce);
		st->epoch = htonl(last_epoch + (what >> 3 & 3));
		st->state = htons(what >> 5 & 3);
		st->window = htons(J.window);
		st->nval = htons(NVAL);
		st->world = htons(J.world);
		st->nchild = htons(NCHILD);
	} else {
		/* Two instances, and an old sender's that knows none. */
		p->u.join.nonce = htobe64(trib_nonce((what >> 2 & 3) % 3, 1 + (what >> 4 & 1)));
		p->h.aux = htons(what >> 5);
		p->u.join.epoch = htonl(what >> 5 ? last_epoch : 0);
		p->u.join.rank = htonl(from);
		p->u.join.token = htobe64(T.dedicated.join->s.token ^ ((bend & 15) == 15));
	}
	for (int i = bend < 0x40 ? 1 + bend % 3 : 0; i; i--) {
		uint8_t at = take8(in);

		((uint8_t *)p)[at % (sizeof(p->h) + sizeof(p->u.start))] ^= take8(in);
	}
	if (bend >= 0xf0)
		up.len = take8(in) << 4;
	/* Whoever has a key may be wrong, too. */
	if ((bend & 7) != 7 && up.len >= sizeof(p->h) && up.len <= sizeof(*p)) {
		uint32_t rank = ntohl(p->u.join.rank);

		secret_up(&T, p->h.type != TRIB_T_START && rank < NCHILD ? rank : RANK_NONE,
			  p->h.type == TRIB_T_START && T.parent ? &T.parent->local : &up.src,
			  &secret);
		p->h.auth = trib_auth(&secret.key, &p->h, &p->u, up.len - sizeof(p->h));
	}
	answers = 0;
	longest = 0;
	join_packet(&D, &up);
	must(longest <= up.len, "an answer is longer than the question");
	/* The last JOIN starts all; an ABORT goes to all, and up; LEAVE. */
	must(answers <= 2 * NCHILD + 4, "too many answers");
}

static void time_passes(struct input *in)
{
	struct joining *j = T.dedicated.join;
	unsigned int n = 0;

	clock_ns += (1ULL << (take8(in) & 15)) * MS;
	while (j->timer.at_ns && j->timer.at_ns <= clock_ns) {
		must(n++ < 10, "a timer runs wild");
		j->timer.at_ns = 0;
		j->timer.fn(&D, &j->timer);
	}
}

static void start(bool parent)
{
	memset(&T, 0, sizeof(T));
	memset(&D, 0, sizeof(D));
	memset(F, 0, sizeof(F));
	clock_ns = 1000000 * MS;
	last_epoch = newest_row = 0;
	TAILQ_INIT(&D.trees);
	TAILQ_INIT(&D.faces);
	D.config.nval = NVAL;
	J = (struct job){.id = 7, .world = NCHILD, .window = 4, .timeout_ms = 5000};
	for (unsigned int i = 0; i < NCHILD + 2; i++) {
		F[i].l3_ifindex = 10 + i;
		F[i].addr.s6_addr[15] = (uint8_t)(1 + i);
		F[i].udp_port = TRIB_UDP_PORT;
		TAILQ_INSERT_TAIL(&D.faces, &F[i], link);
	}
	T.id = 3;
	T.job = &J;
	T.nchild = NCHILD;
	for (unsigned int i = 0; i < NCHILD; i++)
		T.child[i] = (struct child){&F[i], (uint16_t)i};
	T.parent = parent ? &F[NCHILD] : NULL;
	T.dedicated.slots = 8;
	TAILQ_INSERT_TAIL(&D.trees, &T, link);
	must(!join_tree_added(&D, &T, false), "join_tree_added()");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct join_packet packet;
	struct input in = {data, size};

	start(take8(&in) & 1);
	while (in.left) {
		uint8_t op = take8(&in);

		if (op < 0xc0) {
			datagram(&in, &packet);
		} else if (op < 0xf0) {
			time_passes(&in);
		} else {
			slot.epoch = last_epoch;
			slot.seen = take8(&in) & ((1 << NCHILD) - 1);
			slot.state = TRIB_SLOT_COLLECT;
		}
	}
	join_exit(&D);
	return 0;
}
