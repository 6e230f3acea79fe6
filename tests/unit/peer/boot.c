// SPDX-License-Identifier: BSD-2-Clause
/* Ranks meet, swap, and hear of each other's end. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/lib/tap.h"
#include "tests/unit/peer/boot_rig.h"

static struct rank ranks[RIG_WORLD];

static uint8_t blob_byte(uint32_t rank, uint32_t round, size_t at)
{
	return (uint8_t)(rank * 37 + round * 101 + at * 7 + (at >> 8));
}

static size_t blob_len(uint32_t rank, uint32_t round)
{
	static const size_t lens[] = {0, 1, 100, 4097, 70000, PEER_BOOT_BLOB_MAX};

	return lens[(rank + round) % 6];
}

/* Swap blobs of all lengths, and check all. */
static int swap_some(struct rank *r)
{
	static __thread uint8_t blob[PEER_BOOT_BLOB_MAX];
	const void *all[RIG_WORLD];
	size_t lens[RIG_WORLD], i;
	uint32_t round, from;
	int err;

	for (round = 0; round < 6; round++) {
		for (i = 0; i < blob_len(r->conf.rank, round); i++)
			blob[i] = blob_byte(r->conf.rank, round, i);
		err = peer_boot_swap(r->boot, blob, i, all, lens, &r->error);
		if (err)
			return err;
		for (from = 0; from < r->conf.world; from++) {
			if (lens[from] != blob_len(from, round) || (uintptr_t)all[from] % 8)
				return -1000;
			for (i = 0; i < lens[from]; i++)
				if (((const uint8_t *)all[from])[i] != blob_byte(from, round, i))
					return -1001;
		}
		peer_boot_swap_free(all);
	}
	return 0;
}

static void expect_results(uint32_t n, int result)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (ranks[i].skip)
			continue;
		expect_eq(ranks[i].result, result);
		if (ranks[i].result != result)
			printf("# rank %u: %s\n", i, ranks[i].error.text);
	}
}

static void expect_deaths(uint32_t n, int deaths)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		expect_eq(ranks[i].deaths, deaths);
}

static void join__all_meet_and_swap(void)
{
	ranks_init(ranks, 5);
	ranks_run(ranks, 5, swap_some);
	expect_results(5, 0);
	ranks_close(ranks, 5, true);
	expect_deaths(5, 0);
}

static void join__one_rank_is_alone(void)
{
	ranks_init(ranks, 1);
	ranks[0].conf.address = NULL;
	ranks_run(ranks, 1, swap_some);
	expect_results(1, 0);
	ranks_close(ranks, 1, true);
	expect_deaths(1, 0);
}

static void join__ranks_wait_for_rank_0(void)
{
	ranks_init(ranks, 3);
	ranks[0].delay = 400;
	ranks[2].delay = 600;
	ranks_run(ranks, 3, NULL);
	expect_results(3, 0);
	ranks_close(ranks, 3, true);
	expect_deaths(3, 0);
}

static void join__over_ipv6(void)
{
	char address[64];
	uint32_t i;

	ranks_init(ranks, 2);
	snprintf(address, sizeof(address), "[::1]:%d", rig_port());
	for (i = 0; i < 2; i++)
		ranks[i].conf.address = address;
	ranks_run(ranks, 2, swap_some);
	if (ranks[0].result == -EADDRNOTAVAIL || ranks[0].result == -EAFNOSUPPORT) {
		printf("# no IPv6 here\n");
		return;
	}
	expect_results(2, 0);
	ranks_close(ranks, 2, true);
}

static void join__those_missing_are_named_everywhere(void)
{
	uint32_t i;

	ranks_init(ranks, 8);
	for (i = 0; i < 8; i++) {
		ranks[i].conf.join_timeout_ms = 700;
		ranks[i].skip = i == 3 || (i >= 5 && i <= 6);
	}
	ranks_run(ranks, 8, NULL);
	expect_results(8, -ETIMEDOUT);
	for (i = 0; i < 8; i++) {
		if (ranks[i].skip)
			continue;
		expect_eq(ranks[i].error.code, TRIB_PEER_MISSING);
		expect(strstr(ranks[i].error.text, "3, 5-6") != NULL);
	}
	expect_eq(ranks[0].error.rank, 3);
}

static void join__without_rank_0_says_so(void)
{
	ranks_init(ranks, 2);
	ranks[0].skip = true;
	ranks[1].conf.join_timeout_ms = 300;
	ranks_run(ranks, 2, NULL);
	expect_results(2, -ETIMEDOUT);
	expect_eq(ranks[1].error.rank, 0);
	expect(strstr(ranks[1].error.text, "refused") != NULL);
}

static void join__another_key_is_refused(void)
{
	ranks_init(ranks, 3);
	ranks[0].conf.join_timeout_ms = 1000;
	ranks[2].conf.join_timeout_ms = 1000;
	ranks[1].conf.key.b[15] ^= 1;
	ranks_run(ranks, 3, NULL);
	expect_eq(ranks[1].result, -EACCES);
	expect_eq(ranks[0].result, -ETIMEDOUT);
	expect_eq(ranks[0].error.rank, 1);
	expect_eq(ranks[2].result, -ETIMEDOUT);
}

static void join__another_job_or_world_is_refused(void)
{
	int what;

	for (what = 0; what < 2; what++) {
		ranks_init(ranks, 3);
		ranks[0].conf.join_timeout_ms = 700;
		ranks[1].conf.join_timeout_ms = 700;
		if (what)
			ranks[2].conf.world = 4;
		else
			ranks[2].conf.job = 8;
		ranks_run(ranks, 3, NULL);
		expect_eq(ranks[2].result, -EINVAL);
		expect(strstr(ranks[2].error.text, what ? "counts" : "job") != NULL);
		expect_eq(ranks[0].result, -ETIMEDOUT);
	}
}

static void join__a_rank_that_is_here_already_is_refused(void)
{
	ranks_init(ranks, 4);
	ranks[0].conf.world = ranks[1].conf.world = ranks[2].conf.world = 3;
	ranks[3].conf.world = 3;
	ranks[3].conf.rank = 1;
	ranks[3].delay = 300;
	ranks[2].delay = 600;
	ranks_run(ranks, 4, NULL);
	expect_results(3, 0);
	expect_eq(ranks[3].result, -EINVAL);
	expect(strstr(ranks[3].error.text, "already") != NULL);
	ranks_close(ranks, 3, true);
}

static void open__mistakes_are_refused(void)
{
	static const char *const bad[] = {"",	    "127.0.0.1", "127.0.0.1:0",
					  "host:1", "::1:5",	 "127.0.0.1:99999"};
	unsigned int i;

	ranks_init(ranks, 2);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ranks[0].conf.address = bad[i];
		expect_eq(peer_boot_open(&ranks[0].boot, &ranks[0].conf, &ranks[0].error), -EINVAL);
	}
	ranks[1].conf.rank = 2;
	expect_eq(peer_boot_open(&ranks[1].boot, &ranks[1].conf, &ranks[1].error), -EINVAL);
}

static void tell__all_others_hear(void)
{
	uint32_t teller, i;

	for (teller = 0; teller < 3; teller += 2) {
		ranks_init(ranks, 3);
		ranks_run(ranks, 3, NULL);
		expect_results(3, 0);
		peer_boot_tell(ranks[teller].boot, 1, "link to rank 1:\nbroken");
		for (i = 0; i < 3; i++) {
			if (i == teller)
				continue;
			expect(rank_wait_death(&ranks[i], 1000) >= 0);
			expect_eq(ranks[i].dead, 1);
			expect(!strcmp(ranks[i].text, "link to rank 1:?broken"));
		}
		/* A second one is not the reason. */
		peer_boot_tell(ranks[1].boot, 2, "later");
		ranks_close(ranks, 3, true);
		expect_eq(ranks[teller].deaths, 0);
		for (i = 0; i < 3; i++)
			expect(ranks[i].deaths <= 1);
	}
}

static void close__out_of_order_is_heard(void)
{
	uint32_t i;

	ranks_init(ranks, 3);
	ranks_run(ranks, 3, NULL);
	peer_boot_close(ranks[2].boot, 0);
	ranks[2].boot = NULL;
	for (i = 0; i < 2; i++) {
		expect(rank_wait_death(&ranks[i], 1000) >= 0);
		expect_eq(ranks[i].dead, 2);
	}
	ranks_close(ranks, 3, true);
}

static void close__waits_for_the_others(void)
{
	uint64_t begin;

	ranks_init(ranks, 2);
	ranks[0].conf.timeout_ms = ranks[1].conf.timeout_ms = 600;
	ranks_run(ranks, 2, NULL);
	begin = clock_ms();
	peer_boot_close(ranks[1].boot, 1);
	expect(clock_ms() - begin >= 500);
	ranks[1].boot = NULL;
	usleep(100000);
	expect_eq(ranks[0].deaths, 0);
	begin = clock_ms();
	peer_boot_close(ranks[0].boot, 1);
	expect(clock_ms() - begin < 400);
}

/* Swap, but rank 1 leaves. */
static int swap_or_leave(struct rank *r)
{
	const void *all[RIG_WORLD];
	size_t lens[RIG_WORLD];

	if (r->conf.rank == 1) {
		usleep(100000);
		peer_boot_close(r->boot, 1);
		r->boot = NULL;
		return -EHOSTDOWN;
	}
	return peer_boot_swap(r->boot, "x", 1, all, lens, &r->error);
}

static void swap__ends_when_a_rank_leaves(void)
{
	ranks_init(ranks, 3);
	ranks_run(ranks, 3, swap_or_leave);
	expect_results(3, -EHOSTDOWN);
	expect_eq(ranks[0].error.rank, 1);
	expect_eq(ranks[2].error.rank, 1);
	expect_eq(ranks[2].error.code, TRIB_PEER_GONE);
	ranks_close(ranks, 3, true);
}

static int swap_or_sleep(struct rank *r)
{
	const void *all[RIG_WORLD];
	size_t lens[RIG_WORLD];

	if (r->conf.rank == 1)
		return 0;
	return peer_boot_swap(r->boot, "x", 1, all, lens, &r->error);
}

static void swap__ends_when_a_rank_does_not_come(void)
{
	uint32_t i;

	ranks_init(ranks, 3);
	for (i = 0; i < 3; i++)
		ranks[i].conf.join_timeout_ms = 800;
	ranks_run(ranks, 3, swap_or_sleep);
	for (i = 0; i < 3; i += 2) {
		expect_eq(ranks[i].result, -ETIMEDOUT);
		expect_eq(ranks[i].error.rank, 1);
	}
	expect_eq(peer_boot_swap(ranks[1].boot, "x", 1, (const void *[8]){NULL}, (size_t[8]){0},
				 &ranks[1].error),
		  -ETIMEDOUT);
	ranks_close(ranks, 3, true);
}

static void swap__too_large_is_refused(void)
{
	static uint8_t blob[PEER_BOOT_BLOB_MAX + 1];
	const void *all[1];
	size_t lens[1];

	ranks_init(ranks, 1);
	ranks_run(ranks, 1, NULL);
	expect_eq(peer_boot_swap(ranks[0].boot, blob, sizeof(blob), all, lens, &ranks[0].error),
		  -EMSGSIZE);
	ranks_close(ranks, 1, true);
}

int main(void)
{
	run(open__mistakes_are_refused);
	run(join__all_meet_and_swap);
	run(join__one_rank_is_alone);
	run(join__ranks_wait_for_rank_0);
	run(join__over_ipv6);
	run(join__those_missing_are_named_everywhere);
	run(join__without_rank_0_says_so);
	run(join__another_key_is_refused);
	run(join__another_job_or_world_is_refused);
	run(join__a_rank_that_is_here_already_is_refused);
	run(tell__all_others_hear);
	run(close__out_of_order_is_heard);
	run(close__waits_for_the_others);
	run(swap__ends_when_a_rank_leaves);
	run(swap__ends_when_a_rank_does_not_come);
	run(swap__too_large_is_refused);
	return tap_done();
}
