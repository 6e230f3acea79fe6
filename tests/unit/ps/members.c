// SPDX-License-Identifier: BSD-2-Clause
/* trib-ps: JOIN, START, LEAVE, and epochs. */
#include "base/session.h"
#include "ps_fixture.h"

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

/* All ranks but @rank join, as often as before. */
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
	/* One rank joins anew: the others get ABORT, and join anew, too. */
	now += 1000;
	join(70, trib_nonce(71, 2));
	for (r = 0; r < 200; r++)
		expect_eq(count(TRIB_T_ABORT, r) > 0, r != 70);
	forget();
	now += 100;
	others_join(70, 2);
	expect_eq(started(TRIB_START_RUN), 200);
	expect_eq(tree->epoch, 2);
	/* All ranks leave: the next epoch can begin. */
	for (r = 0; r < 200; r++)
		join_as(r, TRIB_T_LEAVE, trib_nonce(r + 1, 2), 16, host(r, 9000));
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

int main(void)
{
	run(join__epoch_begins_when_all_ranks_are_here);
	run(join__wrong_ones_are_refused);
	run(join__new_nonce_ends_the_epoch);
	run(join__larger_jobs_are_groups_of_64);
	run(leave__who_is_waited_for_is_named);
	return tap_done();
}
