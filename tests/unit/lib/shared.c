// SPDX-License-Identifier: BSD-2-Clause
/*
 * libtrib's side of shared pools, with trib-ps itself (relay_model_ps.c) on a
 * simulated network, and relays on the path that only forward, or are dead.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/place/place.h"
#include "tests/lib/tap.h"
#include "tests/lib/engine_script.h"
#include "ps/sum/ps.h"

static struct script sc;

/* Relays on every worker's path: numbers 11 and 12. */
static struct {
	unsigned int n;
	bool dead[2];
	/* Packets that rank 0 sent. */
	unsigned int nseen;
	struct {
		struct trib_hdr h;
		uint64_t at;
		uint8_t via;
		uint64_t word; /* after the header */
		size_t len;
	} seen[4096];
} way;

static struct ps_tree *server(struct sim *s)
{
	return ((struct ps *)s->relay[0].r.impl)->tree[0];
}

static void answer_probe(struct sim_worker *w, const struct trib_hdr *probe)
{
	struct trib_hdr h = *probe;

	h.flags = 0;
	sim_inject(w, &h, sizeof(h));
}

/* The relays' work on packets that go up. */
static bool on_the_way(struct sim *s, struct sim_worker *w, bool up, void *pkt, size_t len)
{
	uint8_t via = w->t->eng.stream[0]->via;
	struct trib_hdr *h = pkt;

	if (!up)
		return false;
	if (!w->t->eng.rank && way.nseen < 4096) {
		way.seen[way.nseen].h = *h;
		way.seen[way.nseen].at = s->now;
		way.seen[way.nseen].via = via;
		way.seen[way.nseen].len = len;
		if (len >= sizeof(*h) + 8)
			memcpy(&way.seen[way.nseen].word, h + 1, 8);
		way.nseen++;
	}
	if (!via)
		return false;
	if (way.dead[via - 1])
		return true;
	if (h->type == TRIB_T_PROBE) {
		expect_eq(be16toh(h->relay), 10u + via);
		answer_probe(w, h);
		return true;
	}
	/* The relay has no free slot: the packet goes to the PS. */
	h->relay = htobe16(TRIB_RELAY_PS);
	return false;
}

/* Make all streams those of a shared pool with @hops relays on the path. */
static void make_shared(struct sim *s, const struct sim_options *o, unsigned int hops)
{
	struct trib_attach_tree a = {.nhop = (uint8_t)hops};
	unsigned int i;

	memset(&way, 0, sizeof(way));
	way.n = hops;
	for (i = 0; i < hops; i++)
		a.hop[i].relay = (uint16_t)(11 + i);
	for (i = 0; i < s->nworker; i++) {
		struct trib_stream *st = s->worker[i].t->eng.stream[0];

		free(st->chunk);
		free(st->cells);
		free(st->life);
		st->window = (uint16_t)o->window;
		trib_shared_init(st, &a);
		if (trib_stream_start(st))
			abort();
		trib_window_start(st);
	}
	s->tap = on_the_way;
}

static struct sim_options options(uint64_t seed)
{
	static const unsigned int windows[] = {1, 4, 16, 64};
	struct sim_options o = {
		.seed = seed,
		.workers = 1 + seed % 6,
		.window = windows[seed / 7 % 4],
		.nval = seed % 3 ? 48 : 16,
		.wire = {.delay = 50000},
	};

	return o;
}

/* Run one random job. Return: whether it was exact and finished. */
static bool try(const struct sim_options *o, unsigned int hops, unsigned int wipes, uint64_t die_at)
{
	struct sim s;
	unsigned int i;
	bool good;

	sim_init(&s, o);
	make_shared(&s, o, hops);
	script_init(&sc, &s, 12, 3000, o->nval);
	sc.think = TRIB_MS;
	script_start(&sc);
	for (i = 0; i < wipes; i++)
		sim_wipe_at(&s, 0, s.now + sim_rnd(&s) % (60 * TRIB_MS));
	if (die_at) {
		sim_run(&s, script_done, s.now + die_at);
		way.dead[o->seed % hops] = true;
	}
	sim_run(&s, script_done, s.now + 300 * TRIB_SEC);
	good = script_good(&sc);
	if (!good)
		printf("# seed %llu workers %u window %u hops %u\n", (unsigned long long)o->seed,
		       o->workers, o->window, hops);
	script_free(&sc);
	sim_free(&s);
	return good;
}

static void results__are_exact_without_relays(void)
{
	uint64_t seed;

	for (seed = 0; seed < 40; seed++) {
		struct sim_options o = options(seed);

		if (!expect(try(&o, 0, 0, 0)))
			return;
	}
}

static void results__are_exact_with_loss_and_a_ps_that_forgets(void)
{
	uint64_t seed;

	for (seed = 100; seed < 180; seed++) {
		struct sim_options o = options(seed);

		o.wire.loss = seed % 2 ? 10 : 50;
		o.wire.dup = 50;
		o.wire.late = 50;
		if (!expect(try(&o, seed % 3, seed % 4 * 3, 0)))
			return;
	}
}

static void results__are_exact_when_relays_die(void)
{
	uint64_t seed;

	for (seed = 200; seed < 240; seed++) {
		struct sim_options o = options(seed);

		o.wire.loss = seed % 2 ? 10 : 0;
		if (!expect(try(&o, 1 + seed % 2, 0, 1 + seed % 5 * TRIB_MS)))
			return;
	}
}

/* --- single rules, with two ranks of which only rank 0 sends */

static struct sim s2;
static struct trib_req *req;
static float x[64] = {3};

static struct trib_stream *begin(unsigned int hops)
{
	struct sim_options o = {
		.seed = 5, .workers = 2, .window = 16, .nval = 48, .wire = {.delay = 50000}};

	sim_init(&s2, &o);
	make_shared(&s2, &o, hops);
	return s2.worker[0].t->eng.stream[0];
}

static void issue(unsigned int rank)
{
	static float y[64];
	struct trib_req *r;

	expect_eq(trib_iallreduce(s2.worker[rank].t, rank ? y : x, rank ? y : x, 40, TRIB_I32,
				  TRIB_SUM, rank ? &r : &req),
		  0);
	sim_call_at(&s2.worker[rank], s2.now + 1);
}

static void nothing(struct sim_worker *w)
{
	(void)w;
}

static void run_for(uint64_t ns)
{
	s2.worker[0].app = s2.worker[1].app = nothing;
	sim_call_at(&s2.worker[0], s2.now + 1);
	sim_run(&s2, NULL, s2.now + ns);
}

/* Find the @nth packet of @type from rank 0. Return: its index or -1. */
static int nth(uint8_t type, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < way.nseen; i++)
		if (way.seen[i].h.type == type && !n--)
			return (int)i;
	return -1;
}

static unsigned int count(uint8_t type, unsigned int via)
{
	unsigned int i, n = 0;

	for (i = 0; i < way.nseen; i++)
		n += way.seen[i].h.type == type && way.seen[i].via == via;
	return n;
}

static void grad__names_its_rank_and_the_first_relay(void)
{
	struct trib_hdr *h = &way.seen[0].h;

	begin(2);
	issue(0);
	expect_eq(way.nseen, 1);
	expect_eq(h->type, TRIB_T_GRAD);
	expect_eq(way.seen[0].via, 1);
	expect_eq(be16toh(h->relay), 11);
	expect_eq(h->bmwords, 1);
	expect_eq(be64toh(way.seen[0].word), 1);
	expect_eq(be16toh(h->child), 0);
	expect_eq(way.seen[0].len, sizeof(*h) + 8 + 192);
	sim_free(&s2);

	begin(0);
	issue(0);
	expect_eq(way.seen[0].via, 0);
	expect_eq(be16toh(h->relay), TRIB_RELAY_PS);
	sim_free(&s2);
}

static void grad__bitmap_has_a_bit_for_each_rank_of_a_large_job(void)
{
	struct trib_stream *st = begin(0);
	uint8_t cell[2000] = {0};
	__be64 word;

	st->eng->world = 1024;
	st->eng->rank = 700;
	st->bmwords = 16;
	trib_shared_label(st, (void *)cell);
	memcpy(&word, cell + sizeof(struct trib_hdr) + 8 * 10, 8);
	expect(be64toh(word) == 1ULL << 60);
	expect_eq(((struct trib_hdr *)(void *)cell)->bmwords, 16);
	st->eng->world = 2;
	st->eng->rank = 0;
	sim_free(&s2);
}

static void resend__first_has_the_values_later_ones_ask_the_ps(void)
{
	int i, k;

	begin(1);
	issue(0);
	run_for(400 * TRIB_MS);
	i = nth(TRIB_T_GRAD, 1);
	expect(i > 0);
	expect(way.seen[i].h.flags & TRIB_F_RESEND);
	expect_eq(way.seen[i].via, 1);
	expect_eq(be16toh(way.seen[i].h.relay), 11);
	expect_eq(way.seen[i].word, way.seen[0].word);
	/* The PS has the values, so rank 0 does not send them a third time. */
	expect_eq(nth(TRIB_T_GRAD, 2), -1);
	i = nth(TRIB_T_NEED, 0);
	expect(i > 0);
	expect_eq(way.seen[i].via, 0);
	expect_eq(way.seen[i].len, sizeof(struct trib_hdr));
	expect(way.seen[i].h.flags & TRIB_F_UP);
	expect_eq(be16toh(way.seen[i].h.relay), TRIB_RELAY_PS);
	/* The interval doubles. */
	k = nth(TRIB_T_NEED, 1);
	expect(k > 0);
	expect(way.seen[k].at - way.seen[i].at > (way.seen[i].at - way.seen[0].at) / 2);
	expect(count(TRIB_T_NEED, 0) < 6);
	sim_free(&s2);
}

static void need__is_answered_to_the_ps(void)
{
	struct trib_stream *st = begin(1);
	struct trib_rx rx = {.type = TRIB_T_NEED, .epoch = 3};
	int i;

	issue(0);
	run_for(2 * TRIB_MS);
	s2.now += 20 * TRIB_MS;
	way.nseen = 0;
	s2.worker[0].t->eng.now = s2.now;
	trib_rx(st, &rx);
	expect_eq(way.nseen, 1);
	expect_eq(way.seen[0].h.type, TRIB_T_GRAD);
	expect(way.seen[0].h.flags & TRIB_F_RESEND);
	expect_eq(be16toh(way.seen[0].h.relay), TRIB_RELAY_PS);
	expect_eq(way.seen[0].via, 0);
	trib_rx(st, &rx); /* too soon */
	expect_eq(way.nseen, 1);
	/* That was not a timeout: the next resend still has the values. */
	expect(!trib_chunk(st, 0)->resent);
	issue(1);
	run_for(20 * TRIB_MS);
	expect_eq(trib_wait(req), 0);
	/* The PS gets retained values also when the call has returned. */
	s2.now += 20 * TRIB_MS;
	way.nseen = 0;
	s2.worker[0].t->eng.now = s2.now;
	trib_rx(st, &rx);
	i = nth(TRIB_T_RESULT, 0);
	expect_eq(i, 0);
	expect_eq(be16toh(way.seen[0].h.relay), TRIB_RELAY_PS);
	expect_eq(way.seen[0].via, 0);
	expect_eq(way.seen[0].h.bmwords, 0);
	expect(way.seen[0].h.flags & TRIB_F_UP);
	expect_eq(way.seen[0].len, sizeof(struct trib_hdr) + 192);
	/* Also of a chunk whose GRAD was addressed to a relay. */
	issue(0);
	issue(1);
	run_for(20 * TRIB_MS);
	expect_eq(trib_wait(req), 0);
	way.nseen = 0;
	rx.chunk = 1;
	s2.worker[0].t->eng.now = s2.now;
	trib_rx(st, &rx);
	expect_eq(way.seen[0].h.type, TRIB_T_RESULT);
	expect_eq(be16toh(way.seen[0].h.relay), TRIB_RELAY_PS);
	sim_free(&s2);
}

static void probe__relays_are_asked_when_results_do_not_come(void)
{
	begin(2);
	issue(0);
	expect_eq(count(TRIB_T_PROBE, 1), 0);
	run_for(300 * TRIB_MS);
	expect(count(TRIB_T_PROBE, 1) >= 1);
	expect_eq(count(TRIB_T_PROBE, 1), count(TRIB_T_PROBE, 2));
	/* Both relays live: rank 0 does not bypass them, and probes rarely. */
	expect_eq(count(TRIB_T_PROBE, 0), 0);
	expect(count(TRIB_T_PROBE, 1) < 12);
	issue(1);
	run_for(20 * TRIB_MS);
	expect_eq(trib_wait(req), 0);
	/* At rest no timer is set. */
	run_for(300 * TRIB_MS);
	expect_eq(s2.worker[0].t->eng.stream[0]->probe_ns, 0);
	sim_free(&s2);
}

/* Simulated time for one collective of ranks 0 and 1. */
static uint64_t both(void)
{
	uint64_t from = s2.now;

	issue(0);
	issue(1);
	while (!req->done && s2.now - from < 10 * TRIB_SEC)
		run_for(TRIB_MS);
	expect_eq(trib_wait(req), 0);
	return s2.now - from;
}

static void probe__dead_relay_is_passed_within_200_ms(void)
{
	struct trib_stream *st = begin(2);
	uint64_t took;
	unsigned int i, lease = 0;
	int k;

	expect(both() < 20 * TRIB_MS);
	way.nseen = 0;
	way.dead[0] = true;
	took = both();
	expect(took < 200 * TRIB_MS);
	printf("# bypassed in %llu ms\n", (unsigned long long)(took / TRIB_MS));
	/* The PS gave the result fast, before the relay was found dead. */
	run_for(200 * TRIB_MS - took);
	expect_eq(trib_shared_via(st), 2);
	expect(server(&s2)->lease_ms[0] > s2.now / TRIB_MS);
	k = nth(TRIB_T_PROBE, 0);
	for (i = 0; i < way.nseen; i++)
		if (way.seen[i].h.type == TRIB_T_PROBE && !way.seen[i].via) {
			lease++;
			expect_eq(be16toh(way.seen[i].h.relay), 11);
		}
	expect(lease >= 1 && k >= 0);
	/* Now rank 0 bypasses the relay at once. */
	way.nseen = 0;
	expect(both() < 20 * TRIB_MS);
	k = nth(TRIB_T_GRAD, 0);
	expect_eq(way.seen[k].via, 2);
	expect_eq(be16toh(way.seen[k].h.relay), 12);
	/* The lease at the PS is renewed, also between calls. */
	way.nseen = 0;
	for (i = 0; i < 20; i++) {
		run_for(100 * TRIB_MS);
		expect(server(&s2)->lease_ms[0] > s2.now / TRIB_MS);
	}
	expect(count(TRIB_T_PROBE, 0) >= 8 && count(TRIB_T_PROBE, 0) <= 12);
	/* With both relays dead, or only the upper one, packets go to the PS. */
	way.dead[1] = true;
	expect(both() < 200 * TRIB_MS);
	run_for(100 * TRIB_MS);
	expect_eq(trib_shared_via(st), 0);
	way.dead[0] = false;
	run_for(500 * TRIB_MS);
	expect_eq(trib_shared_via(st), 0);
	/* The relay was only unreachable. */
	way.dead[1] = false;
	run_for(500 * TRIB_MS);
	expect_eq(trib_shared_via(st), 1);
	expect_eq(st->probe_ns, 0);
	way.nseen = 0;
	expect(both() < 20 * TRIB_MS);
	expect_eq(be16toh(way.seen[nth(TRIB_T_GRAD, 0)].h.relay), 11);
	sim_free(&s2);
}

/* All packets on their way to a dead relay are sent again past it at once. */
static void probe__window_is_sent_around_a_dead_relay(void)
{
	static int32_t many[480];
	struct trib_stream *st = begin(2);
	unsigned int i, around = 0;
	struct trib_req *r;

	way.dead[0] = true;
	expect_eq(trib_iallreduce(s2.worker[0].t, many, many, 480, TRIB_I32, TRIB_SUM, &r), 0);
	expect_eq(count(TRIB_T_GRAD, 1), 10);
	run_for(200 * TRIB_MS);
	expect_eq(trib_shared_via(st), 2);
	for (i = 0; i < way.nseen; i++)
		around += way.seen[i].h.type == TRIB_T_GRAD && way.seen[i].via == 2;
	expect_eq(around, 10);
	sim_free(&s2);
}

static void probe__answers_of_others_mean_nothing(void)
{
	struct trib_rx rx = {.type = TRIB_T_PROBE, .epoch = 3, .relay = 13};
	struct trib_stream *st = begin(1);

	st->hop[0].owes = 3;
	trib_rx(st, &rx);
	rx.relay = TRIB_RELAY_PS;
	trib_rx(st, &rx);
	expect_eq(st->hop[0].owes, 3);
	rx.relay = 11;
	rx.epoch = 2;
	trib_rx(st, &rx);
	expect_eq(st->hop[0].owes, 3);
	rx.epoch = 3;
	rx.scale = 7;
	trib_rx(st, &rx);
	expect_eq(st->hop[0].owes, 0);
	/* A copy of it says nothing of now. */
	st->hop[0].owes = 3;
	trib_rx(st, &rx);
	expect_eq(st->hop[0].owes, 3);
	/* A dedicated tree has no such state. */
	st->shared = false;
	trib_rx(st, &rx);
	expect_eq(st->eng->count.bad_packets, 2);
	st->shared = true;
	sim_free(&s2);
}

/* --- tickets */

#define KEYS "keys=000102030405060708090a0b0c0d0e0f:f0e0d0c0b0a090807060504030201000"
#define HEAD "trib://10.0.0.254/train?job=1&" KEYS "&rank=2&world=4"

static bool is_host(const __be32 *addr, const char *want)
{
	struct in_addr in;

	inet_pton(AF_INET, want, &in);
	return addr[3] == in.s_addr && addr[2] == htonl(0xffff);
}

static void ticket__names_shared_trees(void)
{
	struct trib_place p;
	const struct trib_attach_tree *a = p.rep.tree;

	expect_eq(trib_ticket_parse(&p, "trib://10.0.0.254/train?shared=3:7:10.0.0.9:7500"
					"&via=3:8:10.0.0.8&via=3:9:10.0.0.7:7501"
					"&shared=4:0:10.0.0.9,7600@239.1.1.1&tree=5:1"
					"&job=1&" KEYS "&rank=2&world=4"),
		  0);
	expect_eq(p.rep.ntree, 3);
	expect_eq(a[0].tree, 3);
	expect_eq(a[0].flags, TRIB_ATTACH_SHARED);
	expect_eq(a[0].child, 2);
	expect(is_host(a[0].addr, "10.0.0.9"));
	expect_eq(a[0].port, 7500);
	expect_eq(a[0].recv_port, TRIB_UDP_PORT_WORKER + 2);
	expect_eq(a[0].nhop, 3);
	expect(is_host(a[0].hop[0].addr, "10.0.0.254"));
	expect_eq(a[0].hop[0].port, TRIB_UDP_PORT);
	expect_eq(a[0].hop[0].relay, 7);
	expect(is_host(a[0].hop[1].addr, "10.0.0.8"));
	expect_eq(a[0].hop[1].relay, 8);
	expect_eq(a[0].hop[2].port, 7501);
	expect_eq(a[1].nhop, 0);
	expect_eq(a[1].port, TRIB_UDP_PORT_PS);
	expect_eq(a[1].recv_port, 7600);
	expect(is_host(a[1].mcast_addr, "239.1.1.1"));
	expect_eq(a[2].flags, 0);
	expect(is_host(a[2].addr, "10.0.0.254"));
}

static void ticket__wrong_shared_trees_are_named(void)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{HEAD "&shared=3", "want TREE:RELAY:"},
		{HEAD "&shared=3:7", "want TREE:RELAY:"},
		{HEAD "&shared=65536:7:10.0.0.9", "want TREE:RELAY:"},
		{HEAD "&shared=3:65535:10.0.0.9", "want TREE:RELAY:"},
		{HEAD "&shared=3:7:", "bad PS address"},
		{HEAD "&shared=3:7:10.0.0.9:0", "bad PS address"},
		{HEAD "&shared=3:7:[fd00::1]", "IP version"},
		{HEAD "&shared=3:7:10.0.0.9,", "1 to 65535"},
		{HEAD "&shared=3:7:10.0.0.9,7@10.0.0.1", "not a multicast"},
		{HEAD "&shared=3:7:10.0.0.9x", "bad PS address"},
		{HEAD "&shared=3:7:10.0.0.9,7x", "unexpected text"},
		{HEAD "&shared=3:7:10.0.0.9&tree=3:1", "twice"},
		{HEAD "&tree=3:1&shared=3:7:10.0.0.9", "twice"},
		{HEAD "&via=3:8:10.0.0.8", "needs a shared="},
		{HEAD "&tree=3:1&via=3:8:10.0.0.8", "needs a shared="},
		{HEAD "&shared=3:0:10.0.0.9&via=3:8:10.0.0.8", "a shared= with a relay"},
		{HEAD "&shared=3:7:10.0.0.9&via=3:0:10.0.0.8", "want TREE:RELAY:"},
		{HEAD "&shared=3:7:10.0.0.9&via=3:7:10.0.0.8", "twice"},
		{HEAD "&shared=3:7:10.0.0.9&via=3:8:10.0.0", "bad relay"},
		{HEAD "&shared=3:7:10.0.0.9&via=3:8:[fd00::1]", "IP version"},
		{HEAD "&shared=3:7:10.0.0.9&via=3:8:10.0.0.8&via=3:9:10.0.0.8"
		      "&via=3:10:10.0.0.8",
		 "too many relays"},
	};
	struct trib_place p;
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		expect_eq(trib_ticket_parse(&p, bad[i].text), -EINVAL);
		if (!expect(strstr(trib_error_text(NULL), bad[i].why)))
			printf("# %s: %s\n", bad[i].text, trib_error_text(NULL));
		expect(!strstr(trib_error_text(NULL), "0102"));
	}
}

int main(void)
{
	run(grad__names_its_rank_and_the_first_relay);
	run(grad__bitmap_has_a_bit_for_each_rank_of_a_large_job);
	run(resend__first_has_the_values_later_ones_ask_the_ps);
	run(need__is_answered_to_the_ps);
	run(probe__relays_are_asked_when_results_do_not_come);
	run(probe__dead_relay_is_passed_within_200_ms);
	run(probe__window_is_sent_around_a_dead_relay);
	run(probe__answers_of_others_mean_nothing);
	run(results__are_exact_without_relays);
	run(results__are_exact_with_loss_and_a_ps_that_forgets);
	run(results__are_exact_when_relays_die);
	run(ticket__names_shared_trees);
	run(ticket__wrong_shared_trees_are_named);
	return tap_done();
}
