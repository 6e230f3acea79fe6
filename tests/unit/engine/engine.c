// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine's interface for hosts: joining, calls and leaving, step by step.
 * tests/unit/lib tests it with relays on a simulated network.
 */
#include <errno.h>

#include "tests/lib/secrets.h"
#include "tests/lib/tap.h"
#include "tests/lib/engine_double.h"

/* --- joining */

static void join__repeats_until_all_trees_run(void)
{
	struct trib_attach_rep rep = place(2);
	struct trib_engine eng;

	expect_eq(engine_init(&eng, &rep), 0);
	trib_join_start(&eng, NONCE);
	expect_eq(trib_join_turn(&eng), 0);
	expect_eq(note.sent[TRIB_T_JOIN], 2);
	expect_eq(be16toh(note.last.nval), TRIB_NVAL_SMALL);
	expect(trib_join_deadline(&eng) > eng.now);
	/* Too early for the next JOIN. */
	expect_eq(trib_join_turn(&eng), 0);
	expect_eq(note.sent[TRIB_T_JOIN], 2);
	hear(&eng, 40, TRIB_START_RUN, NONCE, 4);
	hear(&eng, 41, TRIB_START_RUN, NONCE - 1, 4); /* nonce of an earlier attempt */
	hear(&eng, 41, TRIB_START_WAIT, NONCE, 4);
	eng.now = trib_join_deadline(&eng);
	expect_eq(trib_join_turn(&eng), 0);
	expect_eq(note.sent[TRIB_T_JOIN], 3);
	hear(&eng, 41, TRIB_START_RUN, NONCE, 4);
	expect_eq(trib_join_turn(&eng), 1);
	expect_eq(eng.count.bad_packets, 1);
	expect_eq(note.wrong, 0);
	trib_engine_free(&eng);
}

static void join__times_out_and_names_missing_ranks(void)
{
	struct trib_attach_rep rep = place(1);
	struct trib_engine eng;

	expect_eq(engine_init(&eng, &rep), 0);
	trib_join_start(&eng, NONCE);
	hear(&eng, 40, TRIB_START_WAIT, NONCE, 4);
	eng.now += TRIB_SEC;
	expect_eq(trib_join_turn(&eng), -ETIMEDOUT);
	expect_eq(eng.dead, -ETIMEDOUT);
	expect_eq(note.died, 1);
	expect_eq(eng.error.code, TRIB_SOCK_ERR_MISSING);
	expect_eq(eng.error.err, ETIMEDOUT);
	expect_eq(eng.error.rank, 2);
	expect(!strcmp(eng.error.text, "rank 2 did not join within 1000 ms"));
	/* LEAVE tells the others; there is nothing to abort. */
	trib_leave_end(&eng);
	expect_eq(note.sent[TRIB_T_ABORT], 0);
	expect_eq(note.sent[TRIB_T_LEAVE], TRIB_TUNE_LEAVE_COPIES);
	expect_eq(note.wrong, 0);
	trib_engine_free(&eng);
}

/* Large packets are lost where small ones pass. */
static void join__times_out_and_names_the_mtu(void)
{
	struct trib_attach_rep rep = place(1);
	struct trib_engine eng;

	rep.nval = 48;
	expect_eq(engine_init(&eng, &rep), 0);
	trib_join_start(&eng, NONCE);
	expect_eq(trib_join_turn(&eng), 0);
	hear_short(&eng, 40, TRIB_START_WAIT, 48);
	expect_eq(be16toh(note.last.nval), NVAL);
	eng.now += TRIB_SEC;
	expect_eq(trib_join_turn(&eng), -EMSGSIZE);
	expect_eq(eng.error.code, TRIB_SOCK_ERR_SYSTEM);
	expect(strstr(eng.error.text, "relay of tree 40 answers short packets, but none of ") !=
	       NULL);
	expect(strstr(eng.error.text, "check the MTU") != NULL);
	trib_engine_free(&eng);
}

static void join__refuses_impossible_windows(void)
{
	static const unsigned int windows[] = {0, 3, 5, 32768};
	struct trib_attach_rep rep = place(1);
	struct trib_engine eng;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		expect_eq(engine_init(&eng, &rep), 0);
		trib_join_start(&eng, NONCE);
		hear(&eng, 40, TRIB_START_RUN, NONCE, windows[i]);
		expect_eq(eng.dead, -EPROTO);
		trib_engine_free(&eng);
	}
}

static void place__of_impossible_size_is_refused(void)
{
	struct trib_attach_rep good = place(1), bad[5];
	struct trib_engine eng;
	unsigned int i;

	for (i = 0; i < 5; i++)
		bad[i] = good;
	bad[0].ntree = TRIB_ATTACH_TREES + 1;
	bad[1].rank = WORLD;
	bad[2].world = TRIB_WORLD_MAX + 1;
	bad[3].nval = TRIB_NVAL_LARGE + 1;
	bad[4].tree[0].nhop = TRIB_ATTACH_HOPS + 1;
	for (i = 0; i < 5; i++) {
		expect_eq(engine_init(&eng, &bad[i]), -EINVAL);
		trib_engine_free(&eng);
	}
	/* Ranks that exchange without relays need no tree. */
	good.ntree = 0;
	expect_eq(engine_init(&eng, &good), 0);
	trib_engine_free(&eng);
}

/* Whoever hears the group knows the secret of RESULTs; a member knows more. */
static void control__forged_or_repeated_is_counted_and_ignored(void)
{
	struct trib_attach_rep rep = place(1);
	struct trib_hdr h = header(TRIB_T_ALIVE, 40), abort;
	struct trib_engine eng;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		engine_begin(&eng, &rep);
		abort = header(TRIB_T_ABORT, 40);
		abort.chunk = htobe32(TRIB_ABORT_ADMIN);
		secrets_down(&abort, NULL, 0, rep.tree[0].addr);
		if (i == 0)
			abort.auth = eng.stream[0]->auth.down_secret;
		else if (i == 1)
			abort.aux ^= 1;
		else if (i == 2)
			secrets_down(&abort, NULL, 0, "another address!");
		else if (i == 3)
			secrets_rank(&abort, NULL, 0, RANK);
		trib_packet_rx(&eng, &abort, sizeof(abort), false);
		expect_eq(eng.dead, i < 4 ? 0 : -ECONNABORTED);
		expect_eq(eng.count.bad_packets, i < 4);
		trib_engine_free(&eng);
	}
	engine_begin(&eng, &rep);
	h.aux = htobe16(2);
	secrets_down(&h, NULL, 0, rep.tree[0].addr);
	trib_packet_rx(&eng, &h, sizeof(h), false);
	expect_eq(eng.count.bad_packets, 0);
	trib_packet_rx(&eng, &h, sizeof(h), false);
	expect_eq(eng.count.bad_packets, 1);
	secrets_down(&h, NULL, 0, rep.tree[0].addr);
	trib_packet_rx(&eng, &h, sizeof(h), false);
	expect_eq(eng.count.bad_packets, 1);
	trib_engine_free(&eng);
}

static void packet__of_another_job_is_counted_and_ignored(void)
{
	struct trib_attach_rep rep = place(1);
	struct trib_engine eng;
	struct {
		struct trib_hdr h;
		uint8_t v[64];
	} p;
	unsigned int i;

	for (i = 0; i < 9; i++) {
		size_t len = sizeof(p.h);

		engine_begin(&eng, &rep);
		memset(&p, 0, sizeof(p));
		p.h = header(TRIB_T_ABORT, 40);
		p.h.chunk = htobe32(TRIB_ABORT_ADMIN);
		secrets_down(&p.h, NULL, 0, rep.tree[0].addr);
		switch (i) {
		case 1:
			p.h.version++;
			break;
		case 2:
			p.h.job = htobe16(8);
			break;
		case 3:
			p.h.tree = htobe16(41);
			break;
		case 4:
			p.h.auth ^= 1;
			break;
		case 5:
			p.h.epoch = htobe32(EPOCH - 1);
			break;
		case 6:
			len--;
			break;
		case 7:
			len++;
			break;
		case 8:
			p.h.bmwords = 1;
			len += 8;
			break;
		}
		trib_packet_rx(&eng, &p, len, false);
		expect_eq(eng.dead, i ? 0 : -ECONNABORTED);
		expect_eq(eng.count.bad_packets, i != 0);
		trib_engine_free(&eng);
	}
}

/* --- calls */

static float in[1], out[1];

static void call__with_bad_arguments_is_refused(void)
{
	const struct trib_call bad[] = {
		{5, 0, 0, in, out, 1, 0, false, false, NULL, 0},
		{TRIB_COLL_ALLREDUCE, 4, 0, in, out, 1, 0, false, false, NULL, 0},
		{TRIB_COLL_ALLREDUCE, 0, 2, in, out, 1, 0, false, false, NULL, 0},
		{TRIB_COLL_ALLREDUCE, TRIB_SOCK_AVG, TRIB_SOCK_I32, in, out, 1, 0, false, false,
		 NULL, 0},
		{TRIB_COLL_ALLREDUCE, 0, 0, NULL, out, 1, 0, false, false, NULL, 0},
		{TRIB_COLL_ALLREDUCE, 0, 0, in, NULL, 1, 0, false, false, NULL, 0},
		{TRIB_COLL_ALLREDUCE, 0, 0, in, out, 1ULL << 46, 0, false, false, NULL, 0},
		{TRIB_COLL_REDUCE_SCATTER, 0, 0, in, out, (1ULL << 46) / 3, 0, false, false, NULL,
		 0},
		{TRIB_COLL_ALLGATHER, 0, 0, in, out, UINT64_MAX / 3 + 2, 0, false, false, NULL, 0},
		{TRIB_COLL_ALLGATHER, TRIB_SOCK_MAX, 0, in, out, 1, 0, false, false, NULL, 0},
		{TRIB_COLL_BROADCAST, 0, 0, NULL, out, 1, WORLD, false, false, NULL, 0},
		{TRIB_COLL_BROADCAST, 0, 0, NULL, NULL, 1, 0, false, false, NULL, 0},
		{TRIB_COLL_BARRIER, 0, 0, NULL, NULL, 1, 0, false, false, NULL, 0},
		{TRIB_COLL_BROADCAST, 0, 0, NULL, out, 1, 0, true, false, NULL, 0},
		{TRIB_COLL_ALLREDUCE, TRIB_SOCK_MAX, 0, in, out, 1, 0, true, false, NULL, 0},
		/* Masks: not for maxima or integers; 4:4, 1:1, 64:1, none. */
		{TRIB_COLL_ALLREDUCE, TRIB_SOCK_MAX, 0, in, out, 1, 0, false, false, in, 0x41},
		{TRIB_COLL_ALLREDUCE, 0, TRIB_SOCK_I32, in, out, 1, 0, false, false, in, 0x41},
		{TRIB_COLL_REDUCE_SCATTER, 0, 0, in, out, 1, 0, false, false, in, 0x41},
		{TRIB_COLL_ALLREDUCE, 0, 0, in, out, 1, 0, false, false, in, 0x43},
		{TRIB_COLL_ALLREDUCE, 0, 0, in, out, 1, 0, false, false, in, 0x01},
		{TRIB_COLL_ALLREDUCE, 0, 0, in, out, 1, 0, false, false, in, 0xc0},
		{TRIB_COLL_ALLREDUCE, 0, 0, in, out, 1, 0, false, false, NULL, 0x41},
	};
	struct trib_attach_rep rep = place(1);
	struct trib_engine eng;
	struct trib_req *r;
	unsigned int i;

	engine_begin(&eng, &rep);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		expect(trib_call_wrong(&eng, &bad[i]));
		expect_eq(trib_call_issue(&eng, &bad[i], &r), -EINVAL);
		expect_eq(eng.error.code, TRIB_SOCK_ERR_ARGUMENT);
	}
	expect_eq(eng.unfinished, 0);
	for (i = 0; i < NCALL; i++)
		expect(!trib_call_wrong(&eng, &calls[i]));
	expect_eq(note.wrong, 0);
	trib_engine_free(&eng);
}

static void call__requests_end_with_the_engine(void)
{
	struct trib_attach_rep rep = place(3);
	struct trib_req *r[NCALL];
	struct trib_engine eng;
	unsigned int i;

	engine_begin(&eng, &rep);
	for (i = 0; i < NCALL; i++)
		expect_eq(trib_call_issue(&eng, &calls[i], &r[i]), 0);
	expect_eq(note.done, 1); /* the request without elements */
	expect_eq(eng.unfinished, NCALL - 1);
	trib_leave_start(&eng);
	expect_eq(trib_call_issue(&eng, &calls[0], &r[0]), -ECANCELED);
	expect(trib_leave_turn(&eng));
	trib_leave_end(&eng);
	expect_eq(note.sent[TRIB_T_ABORT], TRIB_TUNE_ABORT_COPIES);
	expect_eq(note.done, NCALL);
	expect_eq(note.died, 1);
	expect_eq(eng.unfinished, 0);
	for (i = 0; i < NCALL - 1; i++)
		expect_eq(r[i]->status, -ECANCELED);
	/* An orphan, which the host keeps. */
	trib_req_orphan(r[2]);
	trib_engine_free(&eng);
	expect(!r[2]->eng && r[2]->done);
	trib_free(r[2]);
}

/* Held requests let later ones send; released, they send, in chunks of their own. */
static void call__held_sends_nothing_before_it_is_released(void)
{
	static uint64_t words[NVAL];
	const struct trib_call sum = {.words = true, .src = words, .dst = words, .count = NVAL};
	struct trib_attach_rep rep = place(1);
	struct trib_call held = sum;
	struct trib_req *r[2];
	struct trib_engine eng;

	held.held = true;
	engine_begin(&eng, &rep);
	expect_eq(trib_call_issue(&eng, &held, &r[0]), 0);
	expect_eq(note.sent[TRIB_T_GRAD], 0);
	expect_eq(trib_call_issue(&eng, &sum, &r[1]), 0);
	expect_eq(note.sent[TRIB_T_GRAD], 2);
	expect_eq(be32toh(note.last.chunk), 2); /* the first of two */
	expect_eq(note.last.fmt, TRIB_FMT_Q32);
	expect_eq(be16toh(note.last.nval), NVAL);
	trib_engine_run(&eng);
	expect_eq(note.sent[TRIB_T_GRAD], 2);
	trib_req_release(r[0]);
	expect_eq(note.sent[TRIB_T_GRAD], 4);
	expect_eq(be32toh(note.last.chunk), 0);
	trib_req_release(r[0]);
	expect_eq(note.sent[TRIB_T_GRAD], 4);
	expect_eq(note.wrong, 0);
	trib_engine_free(&eng);
}

/* The host ends kept requests itself; held ones end like all others. */
static void call__held_ends_with_the_engine_and_kept_does_not(void)
{
	struct trib_attach_rep rep = place(3);
	struct trib_req *held, *kept;
	struct trib_call c = calls[1];
	struct trib_engine eng;

	c.held = true;
	engine_begin(&eng, &rep);
	kept = trib_req_own(&eng);
	kept->kept = true;
	expect_eq(trib_call_issue(&eng, &c, &held), 0);
	trib_leave_start(&eng);
	expect(trib_leave_turn(&eng));
	trib_leave_end(&eng);
	expect_eq(held->status, -ECANCELED);
	expect_eq(note.done, 1);
	expect_eq(note.died, 1);
	expect(!kept->done);
	trib_req_release(held);
	expect_eq(note.sent[TRIB_T_GRAD], 0);
	trib_req_done(kept, eng.dead);
	expect_eq(eng.unfinished, 0);
	expect_eq(note.wrong, 0);
	trib_engine_free(&eng);
}

/* Requests take the trees that they would have taken one by one: weights are 1, 2, 3. */
static void call__prepared_is_as_if_issued(void)
{
	static const unsigned int tree[] = {0, 1, 2, 2};
	struct trib_attach_rep rep = place(3);
	struct trib_req *r[4];
	struct trib_engine eng;
	unsigned int i;

	engine_begin(&eng, &rep);
	expect_eq(trib_call_issue(&eng, &calls[0], &r[0]), 0);
	for (i = 1; i < 4; i++)
		expect_eq(trib_call_prepare(&eng, &calls[0], &r[i]), 0);
	expect_eq(eng.unfinished, 1);
	expect_eq(eng.count.messages, 1);
	for (i = 1; i < 4; i++) {
		trib_call_start(r[i]);
		expect_eq(r[i]->part[0].stream->index, tree[i]);
	}
	expect_eq(eng.unfinished, 4);
	/* One that is dropped has taken no tree. */
	expect_eq(trib_call_prepare(&eng, &calls[1], &r[0]), 0);
	trib_req_drop(r[0]);
	expect_eq(trib_call_prepare(&eng, &calls[0], &r[0]), 0);
	expect_eq(r[0]->part[0].stream->index, 1);
	trib_req_drop(r[0]);
	expect_eq(eng.count.messages, 4);
	expect_eq(note.wrong, 0);
	trib_engine_free(&eng);
}

/* Short messages, which are not cut, count as well as long ones. */
static void call__trees_get_their_shares_of_mixed_messages(void)
{
	static float v[100 * NVAL];
	struct trib_attach_rep rep = place(3);
	struct trib_call c = {.src = v, .dst = v, .dtype = TRIB_SOCK_I32};
	uint64_t all = 0, state = 7;
	struct trib_engine eng;
	struct trib_req *r;
	unsigned int i;

	engine_begin(&eng, &rep);
	for (i = 0; i < 1000; i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		c.count = (state >> 33) % (i % 4 ? 2000 : 100 * NVAL);
		c.collective = i % 5 ? TRIB_COLL_ALLREDUCE : TRIB_COLL_BROADCAST;
		expect_eq(trib_call_issue(&eng, &c, &r), 0);
	}
	for (i = 0; i < 3; i++)
		all += eng.stream[i]->assigned;
	for (i = 0; i < 3; i++) {
		double share = (double)eng.stream[i]->assigned / (double)all;

		printf("# tree %u: %.4f of %llu chunks, weight %u of 6\n", i, share,
		       (unsigned long long)all, i + 1);
		expect(share > (i + 1) / 6.0 - 0.02 && share < (i + 1) / 6.0 + 0.02);
	}
	expect_eq(note.wrong, 0);
	trib_engine_free(&eng);
}

static void leave__listens_until_no_rank_lacks_a_result(void)
{
	struct trib_attach_rep rep = place(2);
	struct trib_engine eng;
	uint64_t first;

	engine_begin(&eng, &rep);
	trib_leave_start(&eng);
	expect(eng.barrier && !eng.barrier->done);
	expect(!trib_leave_turn(&eng));
	first = trib_leave_deadline(&eng);
	expect_eq(first, eng.now + TRIB_SEC);
	eng.now = first - 1;
	eng.stream[1]->lacks_ns = eng.now;
	eng.now = first;
	expect(!trib_leave_turn(&eng));
	expect_eq(trib_leave_deadline(&eng), first - 1 + TRIB_SEC);
	eng.now = first - 1 + TRIB_SEC;
	expect(trib_leave_turn(&eng));
	trib_leave_end(&eng);
	expect_eq(eng.error.code, TRIB_SOCK_ERR_GONE);
	expect_eq(note.sent[TRIB_T_LEAVE], 2 * TRIB_TUNE_LEAVE_COPIES);
	expect_eq(note.wrong, 0);
	trib_engine_free(&eng);
}

int main(void)
{
	run(join__repeats_until_all_trees_run);
	run(join__times_out_and_names_missing_ranks);
	run(join__times_out_and_names_the_mtu);
	run(join__refuses_impossible_windows);
	run(place__of_impossible_size_is_refused);
	run(control__forged_or_repeated_is_counted_and_ignored);
	run(packet__of_another_job_is_counted_and_ignored);
	run(call__with_bad_arguments_is_refused);
	run(call__requests_end_with_the_engine);
	run(call__held_sends_nothing_before_it_is_released);
	run(call__held_ends_with_the_engine_and_kept_does_not);
	run(call__prepared_is_as_if_issued);
	run(call__trees_get_their_shares_of_mixed_messages);
	run(leave__listens_until_no_rank_lacks_a_result);
	return tap_done();
}
