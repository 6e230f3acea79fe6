// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib-ps's packets. An input is a sequence of what a few workers, relays and time
 * do, in any order: gradients, sums of some of them, copies, requests, JOINs; and of
 * packets that are bent, or made of the input's bytes. Of an honest input only
 * packets of another job, tree or secret are bent: then each RESULT is the exact sum
 * of what the workers gave. Otherwise no memory is harmed, and each packet out is
 * whole (ps_fixture.h).
 */
#include "tests/fuzz/input.h"
#include "tests/unit/ps/ps_fixture.h"

#define RANKS 70 /* two words of a bitmap */
#define CHUNKS 12
#define WINDOW 4

static struct in own[CHUNKS][RANKS], want[CHUNKS];
static unsigned int world;
static uint8_t kind, step; /* of chunk 0, and from each to the next */
static bool honest, made[CHUNKS], out[CHUNKS][RANKS];

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "sum: %s\n", what);
	abort();
}

/* --- what the workers give, and its sums */

static uint64_t combine(const struct in *like, uint64_t a, uint64_t b)
{
	if (like->op == TRIB_WOP_MAX)
		return (int64_t)a > (int64_t)b ? a : b;
	if (like->fmt == TRIB_FMT_I32)
		return ((a >> 32) + (b >> 32)) << 32 | (uint32_t)(a + b);
	return a + b;
}

static void add(struct in *to, const struct in *from)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		to->who[i] |= from->who[i];
	if (from->flags & TRIB_F_EMPTY)
		return;
	for (i = 0; i < WORDS; i++)
		to->v[i] =
			to->flags & TRIB_F_EMPTY ? from->v[i] : combine(from, to->v[i], from->v[i]);
	to->nval = from->nval;
	to->flags &= (uint8_t)~TRIB_F_EMPTY;
}

/* Only the chunks that an input names: the sums of all take longer than most inputs. */
static void make(uint32_t c)
{
	static const struct {
		uint8_t op, fmt;
	} sums[] = {{TRIB_WOP_ADD, TRIB_FMT_Q32},
		    {TRIB_WOP_ADD, TRIB_FMT_I32},
		    {TRIB_WOP_ADD, TRIB_FMT_W64},
		    {TRIB_WOP_MAX, TRIB_FMT_W64}};
	uint8_t how = (uint8_t)(kind + c * step);
	static const uint8_t masks[] = {0, 2 << 5 | 1, 3 << 5 | 4, 5 << 5 | 30};
	bool masked = (how & 0x83) == 0x81; /* I32, most of them */
	unsigned int r, i, nval = masked ? 32 : 2 + (how >> 2 & 7) * 6;

	if (made[c])
		return;
	made[c] = true;
	for (r = 0; r < world; r++) {
		struct in *p = &own[c][r];

		*p = grad(r, c, 0, 0);
		p->op = sums[how & 3].op;
		p->fmt = sums[how & 3].fmt;
		p->scale = (int32_t)c;
		p->nval = nval;
		p->who[r / 64] = 1ULL << r % 64;
		for (i = 0; i < nval / 2; i++)
			p->v[i] = (r + 1) * 0x9e3779b97f4a7c15ULL * (c + 1) * (i + 1);
		if (masked && (r + c) % 4)
			in_mask(p, masks[(r + c) % 4]);
		if (!(how & 0x20) || (r ^ c) & 1)
			continue;
		p->flags = TRIB_F_EMPTY;
		p->nm = 0;
		memset(p->v, 0, sizeof(p->v));
		p->nval = how & 0x40 ? nval : 0;
	}
	want[c] = in_dense(own[c][0]);
	for (r = 1; r < world; r++)
		add(&want[c], &own[c][r]);
	if (want[c].flags & TRIB_F_EMPTY)
		want[c].nval = 0;
}

/* Every packet out comes by here. */
static void check(unsigned int rank, const struct trib_hdr *h)
{
	uint32_t c = be32toh(h->chunk);

	(void)rank;
	if (h->type != TRIB_T_RESULT || !honest)
		return;
	must(c < CHUNKS, "a RESULT of a chunk that nobody gave");
	for (unsigned int r = 0; r < world; r++)
		must(out[c][r], "a RESULT that lacks a worker");
	must(be16toh(h->nval) == want[c].nval, "a RESULT of another length");
	must(!memcmp(h + 1, want[c].v, trib_payload_len(want[c].nval)), "a wrong sum");
}

/* --- events */

/* Some of the workers that gave: what a relay could have added. */
static void partial(struct input *in, uint32_t c)
{
	uint64_t which = take(in, 2);
	struct in sum;
	unsigned int r, n = 0;

	for (r = 0; r < world; r++) {
		if (!out[c][r] || !(which >> r % 16 & 1))
			continue;
		if (!n++)
			sum = in_dense(own[c][r]);
		else
			add(&sum, &own[c][r]);
	}
	if (n)
		rx(which & 1 ? sum : resend(sum));
}

/* Somebody else's, for an honest input. */
static void disown(struct input *in, struct trib_hdr *h)
{
	uint8_t how = take8(in);

	switch (how & 3) {
	case 0:
		h->job ^= htobe16((uint16_t)(1 << (how >> 4)));
		break;
	case 1:
		h->tree ^= htobe16((uint16_t)(1 << (how >> 4)));
		break;
	case 2:
		h->version ^= (uint8_t)(1 << (how >> 5));
		break;
	default:
		h->auth ^= 1ULL << (how >> 2);
	}
}

static void bent(struct input *in, struct in p)
{
	static const uint8_t types[] = {TRIB_T_GRAD,  TRIB_T_RESULT, TRIB_T_NEED, TRIB_T_PROBE,
					TRIB_T_ALIVE, TRIB_T_ABORT,  TRIB_T_JOIN, TRIB_T_LEAVE};
	uint8_t buf[PS_PACKET_MAX + 64], how = take8(in);
	struct ps_addr from = host(p.child, 7418);
	struct trib_hdr *h = (void *)buf;
	size_t len;

	memset(buf, 0, sizeof(buf));
	if (how & 1)
		p.type = types[take8(in) & 7];
	len = pack(&p, buf);
	for (int i = how >> 5; i; i--)
		buf[take(in, how & 2 ? 2 : 1) % (how & 4 ? sizeof(*h) : len)] ^= take8(in);
	if (how & 8)
		len = take(in, 2) % sizeof(buf);
	if (honest)
		disown(in, h);
	/* Exactly as long, so that a byte read behind it is noticed. */
	h = malloc(len + !len);
	must(h != NULL, "memory");
	memcpy(h, buf, len);
	ps_rx(ps, &from, h, len, how & 16, now);
	free(h);
}

static void raw(struct input *in)
{
	struct ps_addr from = host(take8(in), 7418);
	size_t len = take8(in);
	uint8_t *p = malloc(len + 1);

	must(p != NULL, "memory");
	for (size_t i = 0; i < len; i++)
		p[i] = take8(in);
	if (!honest)
		ps_rx(ps, &from, p, len, false, now);
	free(p);
}

static void event(struct input *in)
{
	uint8_t op = take8(in), what = take8(in);
	unsigned int r = what % world;
	uint32_t c = op >> 4 < CHUNKS ? op >> 4 : 0;

	make(c);
	switch (op & 15) {
	case 0:
	case 1:
	case 2: /* a gradient, which may get lost */
		out[c][r] = true;
		if (what < 0xe0)
			rx(own[c][r]);
		break;
	case 3:
		/* All at once: chance would rarely finish a large job's chunk. */
		for (r = 0; r < world; r++) {
			out[c][r] = true;
			rx(own[c][r]);
		}
		break;
	case 4:
		partial(in, c);
		break;
	case 5:
	case 6: /* a copy, or a question, by one who gave */
		if (out[c][r])
			rx(op & 1 ? resend(own[c][r]) : plain(TRIB_T_NEED, r, c));
		break;
	case 7: /* an answer by one who has the RESULT */
		for (unsigned int i = 0; i < world; i++)
			if (!out[c][i])
				return;
		want[c].child = r;
		want[c].type = TRIB_T_RESULT;
		rx(want[c]);
		want[c].type = TRIB_T_GRAD;
		break;
	case 8:
		rx(plain(what & 0x80 ? TRIB_T_PROBE : TRIB_T_ALIVE, r, c));
		break;
	case 9: /* ends the epoch */
		if (!honest)
			rx(plain(TRIB_T_ABORT, r, c));
		break;
	case 10:
		if (!honest)
			join_as(r, what & 0x80 ? TRIB_T_LEAVE : TRIB_T_JOIN, take(in, 2), NVAL,
				host(r, what & 0x40 ? 9000 : 9001));
		break;
	case 11: /* a restart */
		if (what == 0xff)
			memset(tree->place, 0, (size_t)(tree->mask + 1) * tree->stride);
		break;
	case 12:
	case 13:
		bent(in, own[c][r]);
		break;
	case 14:
		raw(in);
		break;
	default:
		now += what;
		ps_tick(ps, now);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ps *server;
	struct input in = {data, size};
	uint8_t how = take8(&in);

	kind = take8(&in);
	step = how >> 5;
	honest = how & 1;
	world = how >= 0xf0 ? RANKS : 1 + (how >> 1) % 6;
	memset(out, 0, sizeof(out));
	memset(made, 0, sizeof(made));
	now = 1000;
	tap_bad = 0;
	/* It is large, and ps_free() empties it. */
	if (!server)
		server = empty_ps();
	begin_on(server, world, WINDOW);
	tap = check;
	while (in.left) {
		event(&in);
		forget();
	}
	must(!tap_bad, "a packet out is not whole");
	ps_free(server);
	return 0;
}
