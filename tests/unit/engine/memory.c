// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every allocation of the engine fails once: the error is clean, nothing leaks, and
 * the engine continues where it can.
 */
#include <errno.h>

#include "tests/lib/tap.h"
#include "tests/lib/engine_double.h"

static void memory__fails_in_init(void)
{
	struct trib_attach_rep rep = place(3);
	struct trib_engine eng;
	unsigned int nth;
	int rc;

	for (nth = 1;; nth++) {
		fail(nth);
		rc = engine_init(&eng, &rep);
		trib_engine_free(&eng);
		if (!failed())
			break;
		expect_eq(rc, -ENOMEM);
		expect_eq(eng.error.code, TRIB_SOCK_ERR_SYSTEM);
		expect_eq(eng.error.err, ENOMEM);
	}
	expect_eq(rc, 0);
	expect_eq(nth, 1 + 1 + 3); /* scratch, streams */
}

static void memory__fails_while_trees_start(void)
{
	struct trib_attach_rep rep = place(2);
	struct trib_engine eng;
	unsigned int nth;

	for (nth = 1;; nth++) {
		expect_eq(engine_init(&eng, &rep), 0);
		trib_join_start(&eng, NONCE);
		fail(nth);
		hear(&eng, 40, TRIB_START_RUN, NONCE, 4);
		hear(&eng, 41, TRIB_START_RUN, NONCE, 4);
		if (!failed())
			break;
		expect_eq(trib_join_turn(&eng), -ENOMEM);
		expect_eq(eng.error.code, TRIB_SOCK_ERR_SYSTEM);
		expect_eq(note.died, 1);
		trib_leave_end(&eng);
		trib_engine_free(&eng);
	}
	expect_eq(trib_join_turn(&eng), 1);
	expect(note.bytes > 2ul * 8 * NVAL * 4);
	expect_eq(nth, 1 + 2 * 3); /* chunks, cells, lives */
	expect_eq(note.wrong, 0);
	trib_engine_free(&eng);
}

static void memory__can_be_refused_by_the_host(void)
{
	struct trib_attach_rep rep = place(1);
	struct trib_engine eng;

	expect_eq(engine_init(&eng, &rep), 0);
	trib_join_start(&eng, NONCE);
	refuse_room = true;
	fail(0);
	hear(&eng, 40, TRIB_START_RUN, NONCE, 4);
	expect_eq(allocations, 0);
	expect_eq(trib_join_turn(&eng), -ENOBUFS);
	expect_eq(note.wrong, 0);
	trib_engine_free(&eng);
}

/* A failed call leaves nothing behind, and the next one succeeds. */
static void memory__fails_in_calls(void)
{
	unsigned int trees, i, nth;
	struct trib_engine eng;
	struct trib_req *r;
	int rc;

	for (trees = 1; trees <= 3; trees++) {
		struct trib_attach_rep rep = place(trees);

		for (i = 0; i < NCALL; i++) {
			engine_begin(&eng, &rep);
			for (nth = 1;; nth++) {
				fail(nth);
				rc = trib_call_issue(&eng, &calls[i], &r);
				if (!failed())
					break;
				expect_eq(rc, -ENOMEM);
				expect_eq(eng.error.code, TRIB_SOCK_ERR_SYSTEM);
				expect_eq(eng.unfinished, 0);
				expect(!eng.reqs && !eng.dead);
				expect_eq(eng.count.messages, 0);
				expect_eq(eng.stream[0]->assigned, 0);
				expect_eq(note.sent[TRIB_T_GRAD], 0);
			}
			expect_eq(rc, 0);
			/* The request; exponents of each part of a float sum. */
			expect_eq(nth, 2 + (i < 2 ? r->npart : i == 4));
			trib_engine_free(&eng);
		}
	}
}

static void memory__fails_on_leaving_and_other_ranks_are_told(void)
{
	struct trib_attach_rep rep = place(3);
	struct trib_engine eng;

	engine_begin(&eng, &rep);
	fail(1);
	trib_leave_start(&eng);
	expect(failed());
	expect(!eng.barrier);
	expect(trib_leave_turn(&eng));
	trib_leave_end(&eng);
	expect_eq(note.sent[TRIB_T_ABORT], TRIB_TUNE_ABORT_COPIES);
	expect_eq(eng.dead, -ECANCELED);
	expect_eq(note.wrong, 0);
	trib_engine_free(&eng);
}

int main(void)
{
	run(memory__fails_in_init);
	run(memory__fails_while_trees_start);
	run(memory__can_be_refused_by_the_host);
	run(memory__fails_in_calls);
	run(memory__fails_on_leaving_and_other_ranks_are_told);
	return tap_done();
}
