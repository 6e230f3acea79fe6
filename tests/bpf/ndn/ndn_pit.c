// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of the persistent PIT: rows, tags and locks in the maps.
 */
#include <arpa/inet.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ndn_step.h"

/* A face number above 63, behind the last port. */
#define FAR 200
#define LONG                                                                                       \
	"/a-component-of-thirty-two-bytes/a-component-of-thirty-two-bytes"                         \
	"/a-component-of-thirty-two-bytes/a-component-of-thirty-two-bytes"

static const char *numbered(const char *prefix, int n)
{
	static char name[80];

	snprintf(name, sizeof(name), "%s/ps/job/%d", prefix, n);
	return name;
}

/* All entries that fit are present, and no others. */
static void full__is_counted_and_harms_nobody(void)
{
	int rows = nw.buckets * NDN_WAYS, in = 0, n;

	ndn_reset(K_V4);
	ndn_make_router(H1);
	nw.config.entries = 2 * rows;
	ndn_configure();
	for (n = 0; n < 2 * rows; n++)
		in += interest(H1, numbered("/insert", n)) == XDP_REDIRECT;
	expect_eq(ndn_entries(), in);
	expect_eq(ndn_stat(NDN_STAT_NEW), in);
	expect_eq(ndn_stat(NDN_DROP_FULL), n - in);
	expect_eq(ndn_the_drop(), NDN_DROP_FULL);
	/* Twice as many names as rows: almost no row is free. */
	expect(in > rows * 98 / 100);
	for (n = 0; n < 2 * rows; n++)
		in -= ndn_entry_row(numbered("", n)) >= 0;
	expect_eq(in, 0);
}

/* A table of ndn_buckets() has room for its entries. */
static void full__not_at_what_was_asked_for(void)
{
	ndn_reset(K_V4);
	ndn_make_router(H1);
	for (int n = 0; n < nw.npit; n++)
		interest(H1, numbered("/insert", n));
	expect_eq(ndn_entries(), nw.npit);
	expect_eq(ndn_the_drop(), -1);
}

static void full__row_is_used_again(void)
{
	int rows = nw.buckets * NDN_WAYS;

	ndn_reset(K_V4);
	for (int n = 0; n < 2 * rows; n++) {
		interest(H1, numbered("/insert", n));
		send_data(UP, numbered("/distribute", n), 0);
		interest(H1, numbered("/delete", n));
		send_data(UP, numbered("/delete", n), 0);
	}
	expect_eq(ndn_entries(), 0);
	expect_eq(ndn_stat(NDN_STAT_NEW), 2 * rows);
	expect_eq(ndn_stat(NDN_STAT_GONE), 2 * rows);
	expect_eq(ndn_the_drop(), -1);
	for (int b = 0; b < nw.buckets; b++)
		for (int i = 0; i < NDN_WAYS; i++)
			expect_eq(nw.tags[b].tag[i], 0);
}

/* A row of another name with the same key. */
static void key__equal_is_not_the_name(void)
{
	struct ndn_entry *e;

	ndn_reset(K_V4);
	subscribe(H1);
	e = entry();
	e->name[e->len - 1] ^= 1;
	expect_dropped(send_data(UP, "/distribute" JOB "/v=1/seg=0", 9), NDN_DROP_STRAY);
	interest(H2, "/insert" JOB);
	expect_eq(ndn_entries(), 2);
	expect(entry() != e);
	expect_eq(living(), 1 << H2);
	expect_eq(e->live[0], 1 << H1);
	/* The look-up goes on to the next row. */
	send_data(UP, "/distribute" JOB, 0);
	expect_eq(send_data(UP, "/distribute" JOB "/v=1/seg=0", 9), XDP_REDIRECT);
	expect(nframe_is_for(&f, H2));
	expect_eq(interest(H2, "/delete" JOB), XDP_REDIRECT);
	expect_eq(e->live[0], 1 << H1);
}

static void name__of_two_parts(void)
{
	ndn_reset(K_V4);
	interest(H1, "/insert/ps" LONG "/1");
	interest(H2, "/insert/ps" LONG "/2");
	expect_eq(ndn_entries(), 2);
	expect(ndn_entry_row("/ps" LONG "/1") >= 0);
	expect(ndn_entry_row("/ps" LONG "/2") >= 0);
	expect_eq(send_data(UP, "/distribute/ps" LONG "/2/v=1/seg=0", 9), XDP_REDIRECT);
	expect_passed_to(H2);
	/* The names differ behind NDN_NEAR_BYTES only. */
	nw.more[ndn_entry_row("/ps" LONG "/1")].name[90] ^= 1;
	expect_eq(send_data(UP, "/distribute/ps" LONG "/1/v=1/seg=0", 9), XDP_DROP);
	expect_eq(ndn_stat(NDN_DROP_STRAY), 1);
}

/* --- faces from 64 on */

static void far_face(void)
{
	struct ndn_face row = ndn_face(H3);

	row.flags |= NDN_FACE_SUBSCRIBE;
	row.daddr[3] = htonl(0x0a090463);
	row.dport = htons(7999);
	ndn_face_put(FAR, &row);
	nw.config.extra[FAR / 64] = 1ULL << FAR % 64;
	ndn_configure();
}

static void wide__face_is_served(void)
{
	ndn_reset(K_V4);
	far_face();
	interest(FAR, "/insert" JOB);
	expect_passed_to(UP);
	expect(entry()->flags & NDN_ENTRY_WIDE);
	expect_eq(living(), 0);
	expect_eq(send_data(UP, "/distribute" JOB, 0), XDP_REDIRECT);
	expect_passed_to(FAR);
	subscribe(H1);
	expect_eq(send_data(UP, "/distribute" JOB "/v=1/seg=0", 9), XDP_PASS);
	expect_eq(faces_of_flight(), 1 << H1);
	expect_eq(ndn_flight_of(&f)->faces[FAR / 64], 1ULL << FAR % 64);
}

static void wide__delete_ends_it(void)
{
	ndn_reset(K_V4);
	far_face();
	subscribe(H1);
	interest(FAR, "/insert" JOB);
	interest(H1, "/delete" JOB);
	expect_eq(interest(FAR, "/delete" JOB), XDP_REDIRECT);
	expect_passed_to(UP);
	expect_eq(more()->leavers[FAR / 64], 1ULL << FAR % 64);
	expect_eq(send_data(UP, "/delete" JOB, 0), XDP_REDIRECT);
	expect_passed_to(FAR);
	expect_eq(ndn_entries(), 0);
}

static void wide__leases_end(void)
{
	ndn_reset(K_V4);
	far_face();
	interest(FAR, "/insert" JOB);
	age(LEASE);
	ndn_run_sweep();
	expect_eq(send_data(UP, "/distribute" JOB "/v=1/seg=0", 9), XDP_REDIRECT);
	expect_passed_to(FAR);
	age(LEASE / 2 + 1000000000);
	expect_dropped(send_data(UP, "/distribute" JOB "/v=1/seg=1", 9), NDN_DROP_NOBODY);
	expect(!(entry()->flags & NDN_ENTRY_WIDE));
	/* A new entry inherits nothing from the row's previous entry. */
	interest(FAR, "/insert" JOB);
	expect_eq(more()->live[1][FAR / 64 - 1] | more()->live[2][FAR / 64 - 1], 0);
	expect_eq(more()->live[0][FAR / 64 - 1], 1ULL << FAR % 64);
}

/* --- two at the same time */

static void lock__of_row_is_not_waited_for_for_ever(void)
{
	ndn_reset(K_V4);
	subscribe(H1);
	entry()->lock = 1;
	expect_dropped(send_data(UP, "/distribute" JOB "/v=1/seg=0", 9), NDN_DROP_BUSY);
	expect_eq(interest(H1, "/insert" JOB), XDP_DROP);
	expect_eq(interest(H1, "/delete" JOB), XDP_DROP);
	expect_eq(ndn_stat(NDN_DROP_BUSY), 3);
	entry()->lock = 0;
	expect_eq(send_data(UP, "/distribute" JOB "/v=1/seg=0", 9), XDP_REDIRECT);
}

/* A delete without the bucket's lock leaves the tag to the sweep. */
static void lock__of_bucket(void)
{
	int bucket, row;

	ndn_reset(K_V4);
	subscribe(H1);
	row = ndn_entry_row(JOB);
	bucket = row / NDN_WAYS;
	nw.tags[bucket].lock = 1;
	interest(H1, "/delete" JOB);
	send_data(UP, "/delete" JOB, 0);
	expect_eq(ndn_entries(), 0);
	expect(nw.tags[bucket].tag[row % NDN_WAYS]);
	expect_dropped(interest(H1, "/insert" JOB), NDN_DROP_BUSY);
	expect_eq(nw.tags[bucket].lock, 1);
	nw.tags[bucket].lock = 0;
	ndn_run_sweep();
	expect_eq(nw.tags[bucket].tag[row % NDN_WAYS], 0);
	expect_eq(interest(H1, "/insert" JOB), XDP_REDIRECT);
	for (int b = 0; b < nw.buckets; b++)
		expect_eq(nw.tags[b].lock, 0);
}

/* A tag of an unused row whose lock is held. */
static void tag__without_entry_is_nothing(void)
{
	int row;

	ndn_reset(K_V4);
	subscribe(H1);
	row = ndn_entry_row(JOB);
	nw.pit[row].flags = 0;
	expect_dropped(send_data(UP, "/distribute" JOB "/v=1/seg=0", 9), NDN_DROP_STRAY);
	interest(H2, "/insert" JOB);
	expect(ndn_entry_row(JOB) != row);
	expect_eq(living(), 1 << H2);
	ndn_run_sweep();
	expect_eq(nw.tags[row / NDN_WAYS].tag[row % NDN_WAYS], 0);
	expect_eq(living(), 1 << H2);
}

static void sweep__finds_all_and_only_the_dead(void)
{
	int dead = 0;

	ndn_reset(K_V4);
	ndn_make_router(H1);
	for (int n = 0; n < nw.npit; n++)
		interest(H1, numbered("/insert", n));
	for (int n = 0; n < nw.npit; n += 3, dead++)
		nw.pit[ndn_entry_row(numbered("", n))].live[0] = 0;
	ndn_run_sweep();
	expect_eq(ndn_entries(), nw.npit - dead);
	expect_eq(ndn_stat(NDN_STAT_GONE), dead);
	for (int n = 0; n < nw.npit; n++)
		expect_eq(ndn_entry_row(numbered("", n)) < 0, !(n % 3));
}

#define FRESH 1000

/* A thread that uses the same few names as the other threads. */
static void churn(unsigned int seed)
{
	for (int i = 0; i < 20000; i++) {
		int n = rand_r(&seed) % 3;

		switch (rand_r(&seed) % 4) {
		case 0:
			interest(H1, numbered("/insert", n), .nonce = 1 + rand_r(&seed));
			break;
		case 1:
			interest(H1, numbered("/delete", n), .nonce = 1 + rand_r(&seed));
			break;
		case 2:
			send_data(UP, numbered("/delete", n), 0);
			break;
		default:
			send_data(UP, numbered("/distribute", n), 0);
		}
		if (!(i % 500))
			ndn_run_sweep();
	}
	/* All threads insert the same names, which then stay in the table. */
	for (int n = 3; n < FRESH; n++)
		interest(H1, numbered("/insert", n), .nonce = 1 + rand_r(&seed));
}

/*
 * After every order of events: a name has one row, a row has one tag, no lock
 * is held.
 */
static void lock__keeps_the_table_whole(void)
{
	int used = 0, tags = 0, found = 0;
	pid_t pid[3];

	ndn_reset(K_V4);
	ndn_make_router(H1);
	/* Answers do not come late: a deleted entry is gone at once. */
	nw.config.leave_ns = 1;
	ndn_configure();
	for (int i = 0; i < 3; i++) {
		fflush(stdout);
		pid[i] = fork();
		if (!pid[i]) {
			churn(i + 1);
			_exit(0);
		}
	}
	for (int i = 0; i < 3; i++)
		waitpid(pid[i], NULL, 0);
	ndn_run_sweep();
	for (int b = 0; b < nw.buckets; b++) {
		expect_eq(nw.tags[b].lock, 0);
		for (int i = 0; i < NDN_WAYS; i++) {
			int row = b * NDN_WAYS + i;

			expect_eq(nw.pit[row].lock, 0);
			used += nw.pit[row].flags & NDN_ENTRY_USED;
			tags += nw.tags[b].tag[i] != 0;
		}
	}
	for (int n = 0; n < FRESH; n++)
		found += ndn_entry_row(numbered("", n)) >= 0;
	expect_eq(used, tags);
	expect_eq(used, found);
	expect_eq(ndn_stat(NDN_STAT_NEW) - ndn_stat(NDN_STAT_GONE), used);
	expect(ndn_stat(NDN_STAT_GONE) > 1000);
	printf("# %d entries of %d made\n", used, (int)ndn_stat(NDN_STAT_NEW));
}

int main(void)
{
	ndn_open();
	run(full__is_counted_and_harms_nobody);
	run(full__not_at_what_was_asked_for);
	run(full__row_is_used_again);
	run(key__equal_is_not_the_name);
	run(name__of_two_parts);
	run(wide__face_is_served);
	run(wide__delete_ends_it);
	run(wide__leases_end);
	run(lock__of_row_is_not_waited_for_for_ever);
	run(lock__of_bucket);
	run(lock__keeps_the_table_whole);
	run(tag__without_entry_is_nothing);
	run(sweep__finds_all_and_only_the_dead);
	return tap_done();
}
