// SPDX-License-Identifier: BSD-2-Clause
/*
 * A rank and its XDP program on two CPUs, in the same cells at the same time: an honest
 * rank, and one that writes anything.
 */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/bpf/world/reflex_world.h"
#include "tests/lib/tap.h"

#define ROUNDS 20000
#define SECONDS 4 /* at most, for each test */

static atomic_uint step, done; /* rounds: begun by the main thread, ended by the other */
static atomic_bool stop;
static uint32_t chunk; /* of the round's RESULT */
static uint64_t seed = 1;

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void spin(unsigned int n)
{
	for (volatile unsigned int i = 0; i < n; i++)
		;
}

static _Atomic(__u64) *word_of(uint32_t c)
{
	return (_Atomic(__u64) *)&cell_of(c)->state;
}

static bool swap(uint32_t c, int from, int to)
{
	__u64 word = TRIB_CELL(EPOCH, c, from);

	return atomic_compare_exchange_strong(word_of(c), &word, TRIB_CELL(EPOCH, c, to));
}

/*
 * The other thread waits for as long that both come at the same time: longer if it came
 * first the last time.
 */
static unsigned int delay;

static void meet(uint64_t *random)
{
	spin(delay + draw(random) % 128);
}

static void came(bool first)
{
	if (first)
		delay += 16;
	else if (delay >= 16)
		delay -= 16;
}

/* The round's work of the other thread. */
static void (*work)(uint64_t *random);

static void *worker(void *arg)
{
	uint64_t random = 88172645463325252ULL;
	unsigned int seen = 0;

	(void)arg;
	pin(1);
	while (!atomic_load(&stop)) {
		if (atomic_load(&step) == seen)
			continue;
		seen++;
		work(&random);
		atomic_store(&done, seen);
	}
	return NULL;
}

/* The rank is the only child of a node of this host, INNER, instead of that of LEAF. */
static bool is_host;

static void host_rows(void)
{
	struct trib_deliver d = {.cell_mask = SLOTS - 1, .nrank = 1, .ring = {1}, .host = 1};
	struct trib_tree t;

	bpf_map_update_elem(w.delivers, &(int){1}, &d, 0);
	tree_get(INNER, &t);
	t.deliver = 1;
	t.down = TRIB_NONE;
	t.nchild = t.full = 1;
	tree_put(INNER, &t);
}

/* Run rounds of @begin, RESULT @chunk with @nval values, and @end, beside @other. */
static int rounds(int nval, void (*begin)(void), void (*other)(uint64_t *),
		  void (*end)(struct frame *f, int verdict))
{
	static struct frame f;
	time_t until = time(NULL) + SECONDS;
	pthread_t t;
	int n, verdict;

	reflex_reset(false, 0, 0);
	if (is_host)
		host_rows();
	work = other;
	delay = 0;
	atomic_store(&step, 0);
	atomic_store(&done, 0);
	atomic_store(&stop, false);
	pin(0);
	pthread_create(&t, NULL, worker, NULL);
	for (n = 0; n < ROUNDS && time(NULL) < until; n++) {
		chunk = n;
		begin();
		frame_result(&f, is_host ? INNER : LEAF, -1, chunk, nval, 0x1111);
		atomic_fetch_add(&step, 1);
		spin(draw(&seed) % 128);
		verdict = run_xdp(&f, 3);
		while (atomic_load(&done) != atomic_load(&step))
			;
		end(&f, verdict);
	}
	atomic_store(&stop, true);
	pthread_join(t, NULL);
	return n;
}

/* --- who sends, if both may */

static bool rank_sent;
static int sent[2], wrong; /* by socket, by XDP */

static void begin_fresh(void)
{
	cell_shape(cell_of(chunk), TRIB_WOP_ADD, TRIB_FMT_Q32, 0);
	cell_set(chunk, TRIB_CELL_SENT);
	cell_set(chunk + WINDOW, TRIB_CELL_FREE);
	rank_sent = false;
}

/* The rank publishes, and is late if the RESULT has come. */
static void publish(uint64_t *random)
{
	uint32_t p = chunk + WINDOW;

	meet(random);
	cell_of(p)->h = reflex_nonsense(TRIB_WOP_ADD, TRIB_FMT_Q32, 352);
	atomic_exchange(word_of(p), TRIB_CELL(EPOCH, p, TRIB_CELL_READY));
	if (atomic_load(word_of(chunk)) == TRIB_CELL(EPOCH, chunk, TRIB_CELL_RESULT))
		rank_sent = swap(p, TRIB_CELL_READY, TRIB_CELL_SENT);
}

static void one_sent(struct frame *f, int verdict)
{
	(void)f;
	sent[0] += rank_sent;
	sent[1] += verdict == XDP_REDIRECT;
	came(!rank_sent);
	wrong += rank_sent + (verdict == XDP_REDIRECT) != 1;
}

static void race__exactly_one_sends(void)
{
	int n = rounds(352, begin_fresh, publish, one_sent);

	printf("# %d rounds: %d by socket, %d by XDP\n", n, sent[0], sent[1]);
	expect_eq(wrong, 0);
	expect_eq(sent[0] + sent[1], n);
	/* An emulated CPU has no time to find the moment. */
	expect(n < ROUNDS || (sent[0] && sent[1]));
}

/* --- the rank falls asleep */

static bool asleep;

static void begin_awake(void)
{
	begin_fresh();
	atomic_store((_Atomic(__u32) *)&desk()->armed, 0);
	asleep = false;
}

static void arm_then_look(uint64_t *random)
{
	meet(random);
	atomic_exchange((_Atomic(__u32) *)&desk()->armed, 1);
	asleep = atomic_load(word_of(chunk)) != TRIB_CELL(EPOCH, chunk, TRIB_CELL_RESULT);
}

static int slept, missed;

static void was_woken(struct frame *f, int verdict)
{
	(void)f;
	(void)verdict;
	slept += asleep;
	came(asleep);
	missed += asleep && atomic_load((_Atomic(__u32) *)&desk()->armed);
}

static void race__no_sleeper_is_missed(void)
{
	int n = rounds(352, begin_awake, arm_then_look, was_woken);

	printf("# %d rounds, asleep in %d\n", n, slept);
	expect_eq(missed, 0);
	expect(n < ROUNDS || (slept && slept < n));
}

/* --- two CPUs deliver the same RESULT */

static void deliver_too(uint64_t *random)
{
	static struct frame f;

	frame_result(&f, LEAF, -1, chunk, 352, 0x2222);
	meet(random);
	run_xdp_at(&f, w.ifindex[3]);
}

static void is_whole(struct frame *f, int verdict)
{
	const struct trib_cell *c = cell_of(chunk);

	(void)f;
	(void)verdict;
	came(c->v[0] == 0x2222);
	wrong += !cell_is(chunk, TRIB_CELL_RESULT);
	for (int i = 0; i < 176; i++)
		wrong += c->v[i] != c->v[0];
}

static void race__one_cpu_delivers(void)
{
	uint64_t n, counted = 0;

	wrong = 0;
	n = rounds(352, begin_fresh, deliver_too, is_whole);
	expect_eq(wrong, 0);
	for (int i = 0; i < TRIB_DESK_CPUS; i++)
		counted += desk()->cpu[i].delivered;
	expect_eq(counted, n);
	expect_eq(stat_of(TRIB_DELIVERED), n);
}

/* --- two CPUs find the rank's alarm */

static void begin_armed(void)
{
	begin_fresh();
	cell_set(chunk + 1, TRIB_CELL_SENT);
	atomic_store((_Atomic(__u32) *)&desk()->armed, 1);
}

static void deliver_next(uint64_t *random)
{
	static struct frame f;

	frame_result(&f, LEAF, -1, chunk + 1, 352, 0x2222);
	meet(random);
	run_xdp_at(&f, w.ifindex[3]);
}

static struct ring_buffer *reader;
static int rung;
static uint32_t rung_by;

static int take(void *ctx, void *data, size_t size)
{
	const struct trib_event *ev = data;

	(void)ctx;
	(void)size;
	rung++;
	rung_by = ev->chunk;
	return 0;
}

static void is_rung_once(struct frame *f, int verdict)
{
	(void)f;
	(void)verdict;
	rung = 0;
	ring_buffer__consume(reader);
	wrong += rung != 1;
	came(rung_by != chunk);
}

static void race__one_cpu_rings(void)
{
	int n;

	wrong = 0;
	reader = ring_buffer__new(w.ring, take, NULL, NULL);
	ring_buffer__consume(reader);
	n = rounds(352, begin_armed, deliver_next, is_rung_once);
	ring_buffer__free(reader);
	expect_eq(wrong, 0);
	expect_eq(stat_of(TRIB_DELIVERED), 2 * n);
}

/* --- the rank has resent, and the RESULT comes under the copy */

static void begin_ready(void)
{
	cell_set(chunk, TRIB_CELL_SENT);
	reflex_ready(chunk + WINDOW, w.nval, 77);
}

static void overtake(uint64_t *random)
{
	uint32_t p = chunk + WINDOW;
	struct trib_cell *c = cell_of(p);

	(void)random;
	for (int i = 0; i < 100000; i++)
		if (atomic_load(word_of(p)) == TRIB_CELL(EPOCH, p, TRIB_CELL_SENT))
			break;
	if (!swap(p, TRIB_CELL_SENT, TRIB_CELL_WRITING))
		return;
	for (int i = w.nval / 2 - 1; i >= 0; i--)
		*(volatile __u64 *)&c->v[i] = 88;
	atomic_exchange(word_of(p), TRIB_CELL(EPOCH, p, TRIB_CELL_RESULT));
}

static int left, torn;

static void is_not_torn(struct frame *f, int verdict)
{
	bool bad = false;

	if (verdict != XDP_REDIRECT)
		return;
	left++;
	for (int i = 0; i < w.nval / 2; i++)
		bad |= frame_word(f, i) != 77;
	torn += bad;
}

static void race__no_half_result_leaves(void)
{
	int n = rounds(w.nval, begin_ready, overtake, is_not_torn);

	printf("# %d rounds, %d left, %d were overtaken\n", n, left, n - left);
	expect(n < ROUNDS || left > 0);
	expect_eq(torn, 0);
}

/* The same where the frame is added to a slot, which it fills. */
static void race__no_half_result_is_added(void)
{
	int n;

	is_host = true;
	left = torn = 0;
	n = rounds(w.nval, begin_ready, overtake, is_not_torn);
	is_host = false;
	printf("# %d rounds, %d left, %d were overtaken\n", n, left, n - left);
	expect(n < ROUNDS || left > 0);
	expect_eq(torn, 0);
	expect_eq(stat_of(TRIB_ADDED_HERE), left);
}

static void race__exactly_one_sends_of_a_host(void)
{
	int n;

	is_host = true;
	wrong = sent[0] = sent[1] = 0;
	n = rounds(352, begin_fresh, publish, one_sent);
	is_host = false;
	printf("# %d rounds: %d by socket, %d by XDP\n", n, sent[0], sent[1]);
	expect_eq(wrong, 0);
	expect(n < ROUNDS || (sent[0] && sent[1]));
}

/* --- a rank that writes anything */

/* Write somewhere something that may just be allowed, or is not. */
static void scribble(uint64_t *random)
{
	uint64_t r = draw(random), v = draw(random);
	uint32_t c = *(volatile uint32_t *)&chunk + r % (SLOTS + 1);
	struct trib_cell *cell = cell_of(c);
	static const uint16_t nvals[] = {0, 1, 16, 32, 160, 320, 352, 353, 832, 65535};

	switch (r >> 8 & 15) {
	case 0:
		*(volatile __u64 *)&cell->state = v;
		break;
	case 1:
		*(volatile __u64 *)&cell->state = TRIB_CELL(EPOCH, c, v & 7);
		break;
	case 2:
	case 3:
	case 4:
		*(volatile __u64 *)&cell->state = TRIB_CELL(EPOCH, c, TRIB_CELL_READY);
		break;
	case 5:
	case 6:
		c = *(volatile uint32_t *)&chunk;
		*(volatile __u64 *)&cell_of(c)->state = TRIB_CELL(EPOCH, c, TRIB_CELL_SENT);
		break;
	case 7:
		*(volatile __u64 *)&cell->h = v;
		break;
	case 8:
	case 9:
		cell->h.flags = v & (v >> 32);
		cell->h.op = (v >> 8) % 3;
		cell->h.fmt = (v >> 16) % TRIB_FMT__MAX;
		cell->h.nm = v & 1 ? v >> 24 & (v >> 40) : 0;
		break;
	case 10:
	case 11:
	case 12:
		*(volatile __be16 *)&cell->h.nval = htons(nvals[v % 10]);
		break;
	case 13:
		*(volatile __u32 *)&desk()->dist = v % (WINDOW + 2);
		desk()->armed = v >> 32;
		break;
	case 14:
		memset(cell, v, 64);
		break;
	default:
		*(volatile __u64 *)&cell->v[v % 176] = v;
	}
}

/*
 * Loops that the scribbler waits between two writes, drawn for each round. Without a
 * pause it spoils nearly every cell before the RESULT comes, the more the faster its CPU.
 */
static atomic_uint pause_loops;

static void *scribbler(void *arg)
{
	uint64_t random = 88172645463325252ULL;

	(void)arg;
	pin(1);
	while (!atomic_load(&stop)) {
		scribble(&random);
		spin(atomic_load(&pause_loops));
	}
	return NULL;
}

/* May a relay be sent this shape? The rules of PROTOCOL.md, in other words. */
static bool shape_ok(const struct trib_hdr *h)
{
	int nval = ntohs(h->nval);
	bool empty = h->flags & TRIB_F_EMPTY, mask = h->flags & TRIB_F_MASK;

	if (h->fmt < TRIB_FMT_Q32 || h->fmt > TRIB_FMT_BF16 || nval > 352 || (!nval && !empty))
		return false;
	if (h->op != TRIB_WOP_ADD && (h->op != TRIB_WOP_MAX || h->fmt != TRIB_FMT_W64))
		return false;
	if (h->fmt >= TRIB_FMT_F16 && nval > 176)
		return false;
	if (!mask)
		return !h->nm;
	return !empty && nval && nval % 32 == 0 && h->op == TRIB_WOP_ADD &&
	       (h->fmt == TRIB_FMT_I32 || h->fmt == TRIB_FMT_F32) && (h->nm >> 5) <= 5 &&
	       (h->nm & 31) + 1 < 1 << (h->nm >> 5);
}

/* All but shape and values must be as if the rank had no say. */
static const char *hostile_wrong(struct frame *f)
{
	struct trib_hdr *h = frame_hdr(f), want = reflex_expected(ntohl(h->chunk), *h);
	uint32_t ahead = ntohl(h->chunk) - chunk;

	if (ahead < 1 || ahead > WINDOW)
		return "chunk";
	return shape_ok(h) ? reflex_wrong(f, &want) : "shape";
}

/* Write cells as an honest rank does, to begin with. */
static void begin_honest(uint32_t dist)
{
	desk()->dist = dist;
	cell_shape(cell_of(chunk), TRIB_WOP_ADD, TRIB_FMT_Q32, 0);
	cell_set(chunk, TRIB_CELL_SENT);
	if (dist != WINDOW)
		cell_set(chunk + dist - WINDOW, TRIB_CELL_RESULT);
	cell_of(chunk + dist)->h = reflex_nonsense(TRIB_WOP_ADD, TRIB_FMT_I32, 160);
	cell_set(chunk + dist, TRIB_CELL_READY);
}

/* The same of a node's sum, of which the rank's contribution is all. */
static const char *hostile_sum_wrong(struct frame *f)
{
	struct trib_hdr *h = frame_hdr(f), want = header(TRIB_T_GRAD, INNER, 0, ntohl(h->chunk));
	uint32_t ahead = ntohl(h->chunk) - chunk;
	const int keep = TRIB_F_PUSH | TRIB_F_HEAD | TRIB_F_EMPTY;

	if (ahead < 1 || ahead > WINDOW)
		return "chunk";
	if (group_of(f) != UP(INNER))
		return "group";
	if (!(h->flags & TRIB_F_EMPTY) && !shape_ok(h))
		return "shape";
	/* trib_egress writes the child and the secret. */
	want.flags = h->flags & keep;
	want.op = h->op;
	want.fmt = h->fmt;
	want.child = h->child;
	want.nval = h->nval;
	want.scale = h->scale;
	want.auth = h->auth;
	return memcmp(h, &want, sizeof(want)) ? "header" : NULL;
}

/* Run RESULTs beside a scribbler. Return: their number; *@out and *@cut of their frames left. */
static int hostile(int *out, int *cut)
{
	time_t until = time(NULL) + SECONDS;
	static struct frame f, result;
	int n, verdict, bad = 0;
	const char *why;
	pthread_t t;

	reflex_reset(false, 0, 0);
	if (is_host)
		host_rows();
	*out = *cut = 0;
	atomic_store(&stop, false);
	pin(0);
	pthread_create(&t, NULL, scribbler, NULL);
	/* Until the other CPU has had its say, if it has the time for that at all. */
	for (n = 0; (n < 20 * ROUNDS || n - *out < ROUNDS) && time(NULL) < until && bad < 10; n++) {
		chunk = n;
		frame_result(&result, is_host ? INNER : LEAF, -1, chunk, n & 1 ? 352 : 160, 0x1111);
		f = result;
		begin_honest(1 + n % WINDOW);
		atomic_store(&pause_loops, (1U << draw(&seed) % 13) - 1);
		spin(draw(&seed) % 256);
		verdict = run_xdp(&f, 3);
		if (verdict == XDP_DROP)
			continue;
		++*out;
		*cut += f.len < result.len;
		why = verdict != XDP_REDIRECT ? "verdict"
		      : is_host		      ? hostile_sum_wrong(&f)
					      : hostile_wrong(&f);
		if (why) {
			printf("# round %d: %s\n", n, why);
			bad++;
		}
	}
	atomic_store(&stop, true);
	pthread_join(t, NULL);
	printf("# %d results, %llu of them new; %d frames left, %d of them cut\n", n,
	       (unsigned long long)stat_of(TRIB_DELIVERED), *out, *cut);
	expect_eq(bad, 0);
	expect(*out > n / 100 && *cut > n / 1000);
	return n;
}

static void hostile__rank_emits_its_contributions_only(void)
{
	int out, cut, n = hostile(&out, &cut);
	uint64_t new = stat_of(TRIB_DELIVERED);

	expect_eq(stat_of(TRIB_TX_REFLEX), out);
	expect_eq(new + stat_of(TRIB_DROP_STALE) + stat_of(TRIB_DROP_SEEN) +
			  stat_of(TRIB_DROP_MISMATCH),
		  n);
}

static void hostile__rank_adds_its_contributions_only(void)
{
	int out, cut;

	is_host = true;
	hostile(&out, &cut);
	is_host = false;
	expect_eq(stat_of(TRIB_TX_PARTIAL), out);
	expect(stat_of(TRIB_ADDED_HERE) >= (uint64_t)out);
}

int main(void)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		tap_skip_all("needs two CPUs");
	world_open(TRIB_NVAL_SMALL);
	/* Else each run patches the kernel's XDP dispatcher, which takes long. */
	bpf_xdp_attach(w.ifindex[0], w.xdp, XDP_FLAGS_DRV_MODE, NULL);
	run(race__exactly_one_sends);
	run(race__no_sleeper_is_missed);
	run(race__one_cpu_delivers);
	run(race__one_cpu_rings);
	run(hostile__rank_emits_its_contributions_only);
	run(hostile__rank_adds_its_contributions_only);
	world_close();
	world_open(TRIB_NVAL_LARGE);
	bpf_xdp_attach(w.ifindex[1], w.xdp, XDP_FLAGS_DRV_MODE, NULL);
	run(race__no_half_result_leaves);
	run(race__no_half_result_is_added);
	run(race__exactly_one_sends_of_a_host);
	world_close();
	return tap_done();
}
