// SPDX-License-Identifier: BSD-2-Clause
/*
 * Quotas of the NDN forwarder, and what a flooder leaves to others: seats of
 * pending Interests, and entries of the persistent PIT.
 */
#include <time.h>
#include "ndn_step.h"

#define FLOOD 4400
#define SHARED 256
#define OWN NDN_SEATS_OWN
#define PART (SHARED / NDN_SHARED_PARTS)
/* H3 has no right in these tests. */
#define BARE H3

static const char *numbered(const char *prefix, int n)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s/%d", prefix, n);
	return name;
}

static void begin(void)
{
	struct ndn_face bare;

	ndn_reset(K_V4);
	bare = ndn_face(BARE);
	bare.right_lens = 0;
	ndn_face_put(BARE, &bare);
}

/* Send @n Interests for other names each. Return: how many are forwarded. */
static int asks(int face, const char *prefix, int n)
{
	int passed = 0;

	for (int i = 0; i < n; i++)
		passed += interest(face, numbered(prefix, i), .life = 60000) == XDP_REDIRECT;
	return passed;
}

static int answers(const char *prefix, int n)
{
	int passed = 0;

	for (int i = 0; i < n; i++)
		passed += send_data(UP, numbered(prefix, i), 5) == XDP_REDIRECT;
	return passed;
}

/* Let time go by for all seats and rows; Interests end if @over. */
static void later(uint64_t ms, bool over)
{
	int seats = ndn_map("ndn_seats"), rows = ndn_map("ndn_asks");
	int owners = ndn_map("ndn_owners");
	struct ndn_owner o;
	struct ndn_seat s;
	struct ndn_ask a;

	for (uint32_t i = 0; i < NDN_SEATS_SHARED + SHARED; i++) {
		if (bpf_map_lookup_elem(seats, &i, &s) || !s.word)
			continue;
		s.since -= ms * 1000000;
		bpf_map_update_elem(seats, &i, &s, 0);
		if (!over || bpf_map_lookup_elem(rows, &s.key, &a))
			continue;
		a.until = 1;
		bpf_map_update_elem(rows, &s.key, &a, 0);
	}
	for (uint32_t i = 0; i < NDN_FACES; i++) {
		if (bpf_map_lookup_elem(owners, &i, &o) || !o.wait)
			continue;
		o.wait -= ms * 1000000;
		bpf_map_update_elem(owners, &i, &o, 0);
	}
}

static struct ndn_ask row(const char *name)
{
	struct ndn_row_name n = ndn_row(name);
	uint64_t key = ndn_world_key(&n);
	struct ndn_ask a = {};

	expect(!bpf_map_lookup_elem(ndn_map("ndn_asks"), &key, &a));
	return a;
}

/* Does the row exist, and @face own it? */
static bool row_is_of(const char *name, int face)
{
	struct ndn_row_name n = ndn_row(name);
	uint64_t key = ndn_world_key(&n);
	struct ndn_ask a;

	return !bpf_map_lookup_elem(ndn_map("ndn_asks"), &key, &a) &&
	       (a.word & 255) == (uint64_t)face;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static unsigned long sum_of(const char *map, int rows, size_t size)
{
	unsigned long sum = 0;
	uint64_t v;

	for (int i = 0; i < rows; i++) {
		v = 0;
		expect(!bpf_map_lookup_elem(ndn_map(map), &i, &v));
		sum += size == 8 ? (unsigned long)__builtin_popcountll(v) : (uint32_t)v;
	}
	return sum;
}

/* Nobody holds anything, and nothing is left of who did. */
static void expect_nothing_held(void)
{
	struct ndn_seat s;

	expect_eq(ndn_rows("ndn_asks"), 0);
	expect_eq(sum_of("ndn_taken", SHARED / 64, 8), 0);
	expect_eq(sum_of("ndn_asked", NDN_ASKED_PLACES, 4), 0);
	for (int i = 0; i < NDN_FACES; i++) {
		expect_eq(ndn_owner(i).used, 0);
		expect_eq(ndn_owner(i).shared, 0);
	}
	for (int i = 0; i < NDN_SEATS_SHARED + SHARED; i++) {
		expect(!bpf_map_lookup_elem(ndn_map("ndn_seats"), &i, &s));
		expect_eq(s.word, 0);
	}
}

/* --- pending Interests */

static void ask__flood_without_right_leaves_room(void)
{
	uint64_t from = now_ns();
	int passed, lives;

	begin();
	passed = asks(BARE, "/ps/flood", FLOOD);
	/* On a slow machine the first ones end meanwhile, and as many may follow. */
	lives = 1 + (int)((now_ns() - from) / (NDN_BARE_LIFE_MS * 1000000ULL));
	expect(passed >= OWN && passed <= OWN * lives);
	expect(ndn_rows("ndn_asks") <= OWN);
	expect_eq(ndn_stat(NDN_DROP_QUOTA), FLOOD - passed);
	/* Others get all of their own, and their parts of what is shared. */
	expect_eq(asks(H1, "/ps/mine", OWN + PART), OWN + PART);
	expect_eq(asks(H2, "/ps/more", OWN + PART), OWN + PART);
	expect_eq(answers("/ps/mine", OWN + PART), OWN + PART);
	expect_eq(answers("/ps/more", OWN + PART), OWN + PART);
	expect(ndn_rows("ndn_asks") <= OWN);
}

static void ask__flood_with_right_leaves_each_its_own(void)
{
	uint64_t from = now_ns(), turns;

	begin();
	/* On a slow machine its own oldest ones are old enough to give way, once a turn. */
	expect_eq(asks(H1, "/ps/flood", FLOOD) - (int)ndn_stat(NDN_STAT_REPLACED), OWN + PART);
	turns = (now_ns() - from) / (NDN_REPLACE_MS * 1000000ULL);
	expect(ndn_stat(NDN_STAT_REPLACED) <= turns * (OWN + PART));
	expect_eq(ndn_owner(H1).shared, PART);
	ndn_make_router(EXTRA);
	expect_eq(asks(EXTRA, "/ps/many", FLOOD), FLOOD);
	expect_eq(ndn_owner(EXTRA).shared, SHARED - PART);
	expect_eq(asks(BARE, "/ps/bare", OWN), OWN);
	expect_eq(asks(H2, "/ps/mine", OWN), OWN);
	expect_eq(answers("/ps/mine", OWN), OWN);
	expect_eq(answers("/ps/bare", OWN), OWN);
}

static void ask__who_holds_most_gives_way(void)
{
	int n = OWN + PART, again;

	begin();
	ndn_make_router(H1);
	expect_eq(asks(H1, "/ps/flood", FLOOD), FLOOD);
	expect_eq(ndn_owner(H1).shared, SHARED);
	expect_eq(asks(H2, "/ps/mine", n), n);
	expect_eq(ndn_owner(H2).shared, PART);
	expect_eq(ndn_owner(H1).shared, SHARED - PART);
	expect_eq(ndn_rows("ndn_asks"), 2 * OWN + SHARED);
	expect_eq(asks(H1, "/ps/more", FLOOD), FLOOD);
	/* On a slow machine its own oldest is old enough by now to give way. */
	again = asks(H2, "/ps/none", 1);
	expect_eq(answers("/ps/mine", n), n - again);
	/* Own seats are never shared. */
	expect_eq(__builtin_popcountll(ndn_owner(H1).used), OWN);
}

static void ask__own_oldest_goes_first(void)
{
	begin();
	asks(BARE, "/ps/old", OWN);
	expect_dropped(interest(BARE, "/ps/new/0"), NDN_DROP_QUOTA);
	later(NDN_REPLACE_MS, false);
	expect_eq(asks(BARE, "/ps/new", 3), 3);
	expect_eq(ndn_stat(NDN_STAT_REPLACED), 3);
	expect_eq(ndn_rows("ndn_asks"), OWN);
	for (int i = 0; i < 3; i++) {
		expect_eq(send_data(UP, numbered("/ps/old", i), 5), XDP_DROP);
		expect_eq(send_data(UP, numbered("/ps/new", i), 5), XDP_REDIRECT);
	}
	expect_eq(send_data(UP, "/ps/old/3", 5), XDP_REDIRECT);
}

/* Others wait behind it: their Interests go on. */
static void ask__of_a_router_replaces_at_once(void)
{
	begin();
	ndn_make_router(BARE);
	expect_eq(asks(BARE, "/ps/flood", FLOOD), FLOOD);
	expect_eq(ndn_stat(NDN_STAT_REPLACED), FLOOD - OWN);
	expect_eq(ndn_rows("ndn_asks"), OWN);
	expect_eq(send_data(UP, numbered("/ps/flood", FLOOD - OWN - 1), 5), XDP_DROP);
	expect_eq(send_data(UP, numbered("/ps/flood", FLOOD - OWN), 5), XDP_REDIRECT);
}

static void ask__without_right_is_short(void)
{
	uint64_t now = now_ns(), ms = 1000000;

	begin();
	interest(BARE, "/ps/bare", .life = 60000);
	interest(H1, "/ps/mine", .life = 4000);
	expect(row("/ps/bare").until > now);
	expect(row("/ps/bare").until < now + (NDN_BARE_LIFE_MS + 900) * ms);
	expect(row("/ps/mine").until > now + 3900 * ms);
	/* A face that joins makes it no longer than it may itself. */
	interest(BARE, "/ps/mine", .life = 60000);
	expect(row("/ps/mine").until < now + 4900 * ms);
	/* Its own lease may be shorter still. */
	nw.config.lease_ns = 100 * ms;
	ndn_configure();
	interest(BARE, "/ps/other", .life = 60000);
	expect(row("/ps/other").until < now_ns() + 110 * ms);
}

/* A face that fills its seats again takes nothing from those who joined it. */
static void ask__of_another_survives_its_owner(void)
{
	begin();
	ndn_make_router(BARE);
	expect_eq(interest(BARE, "/ps/x"), XDP_REDIRECT);
	expect_eq(interest(H1, "/ps/x"), XDP_DROP);
	expect_eq(ndn_stat(NDN_DROP_PENDING), 1);
	expect_eq(asks(BARE, "/ps/flood", FLOOD), FLOOD);
	expect_eq(row("/ps/x").word & 255, H1);
	expect_eq(ndn_owner(H1).used, 1);
	expect_eq(send_data(UP, "/ps/x", 5), XDP_REDIRECT);
	expect(nframe_is_for(&f, H1));
	expect_eq(ndn_owner(H1).used, 0);
}

/*
 * Without a free seat for who joined, the Interest stays: a newer one of its owner
 * has to wait, or takes another's seat.
 */
static void ask__joined_stays(void)
{
	begin();
	expect_eq(interest(H2, "/ps/x", .life = 60000), XDP_REDIRECT);
	interest(BARE, "/ps/x", .life = 60000);
	asks(H2, "/ps/old", OWN - 1);
	expect_eq(asks(BARE, "/ps/bare", OWN), OWN);
	asks(H2, "/ps/shared", PART);
	later(NDN_REPLACE_MS, false);
	/* /ps/x is the oldest. */
	expect_eq(asks(H2, "/ps/flood", 2), 2);
	expect_eq(ndn_stat(NDN_STAT_REPLACED), 2);
	expect_eq(send_data(UP, "/ps/x", 5), XDP_REDIRECT);
	expect_eq(faces_of_flight(), 1 << H2 | 1 << BARE);
}

/* A face that joined and must have a shared seat anyway takes that of the Interest. */
static void ask__joined_passes_on_with_its_seat(void)
{
	int n = 0;

	begin();
	ndn_make_router(EXTRA);
	expect_eq(asks(EXTRA, "/ps/flood", OWN + SHARED), OWN + SHARED);
	expect_eq(asks(H1, "/ps/mine", OWN), OWN);
	for (int i = OWN; i < OWN + SHARED; i++)
		expect_eq(interest(H1, numbered("/ps/flood", i)), XDP_DROP);
	expect_eq(ndn_stat(NDN_DROP_PENDING), SHARED);
	expect_eq(asks(EXTRA, "/ps/more", 2 * SHARED), 2 * SHARED);
	expect_eq(ndn_owner(H1).shared, PART);
	expect_eq(ndn_owner(EXTRA).shared, SHARED - PART);
	for (int i = OWN; i < OWN + SHARED; i++)
		n += row_is_of(numbered("/ps/flood", i), H1);
	expect_eq(n, PART);
	later(0, true);
	ndn_run_sweep();
	expect_nothing_held();
}

static void ask__over_is_nobodys(void)
{
	begin();
	interest(BARE, "/ps/x");
	later(0, true);
	expect_eq(interest(H1, "/ps/x"), XDP_REDIRECT);
	expect_eq(ndn_stat(NDN_STAT_EXPIRED), 1);
	expect_eq(ndn_owner(BARE).used, 0);
	expect_eq(ndn_owner(H1).used, 1);
	/* Before the sweep comes, seats of Interests that are over are free to take. */
	ndn_make_router(H1);
	asks(H1, "/ps/old", OWN + SHARED);
	later(0, true);
	expect_eq(asks(H2, "/ps/mine", OWN + PART), OWN + PART);
	expect_eq(asks(H1, "/ps/new", SHARED), SHARED);
	expect_eq(answers("/ps/mine", OWN + PART), OWN + PART);
	expect_eq(ndn_stat(NDN_DROP_QUOTA), 0);
}

static void seats__do_not_leak(void)
{
	begin();
	ndn_make_router(H1);
	asks(H1, "/ps/a", OWN + SHARED);
	asks(H2, "/ps/b", OWN + 10);
	asks(BARE, "/ps/c", 100);
	answers("/ps/b", OWN + 10);
	later(NDN_REPLACE_MS, false);
	asks(H1, "/ps/d", 100);
	interest(H2, "/ps/c/7");
	asks(BARE, "/ps/e", 100);
	answers("/ps/d", 50);
	later(0, true);
	asks(H2, "/ps/a", 30);
	later(0, true);
	ndn_run_sweep();
	expect_nothing_held();
}

/* --- entries of the persistent PIT */

static int inserts(int face, const char *prefix, int n)
{
	int passed = 0;
	char at[48];

	snprintf(at, sizeof(at), "/insert%s", prefix);
	for (int i = 0; i < n; i++)
		passed += interest(face, numbered(at, i)) == XDP_REDIRECT;
	return passed;
}

static void deletes(int face, const char *prefix, int n)
{
	char at[48];

	snprintf(at, sizeof(at), "/delete%s", prefix);
	for (int i = 0; i < n; i++) {
		interest(face, numbered(at, i), .pad = 40);
		send_data(UP, numbered(at, i), 0);
	}
}

static void few_entries(int n)
{
	begin();
	nw.config.entries = n;
	/* Answers do not come late: a deleted entry is gone at once. */
	nw.config.leave_ns = 1;
	ndn_configure();
}

static void entry__flood_leaves_each_its_own(void)
{
	few_entries(64);
	ndn_make_router(H1);
	expect_eq(inserts(H1, "/ps/flood", 400), 64 + NDN_ENTRIES_OWN);
	expect_eq(ndn_stat(NDN_DROP_QUOTA), 400 - 64 - NDN_ENTRIES_OWN);
	expect_eq(ndn_owner(0).entries, 64);
	expect_eq(inserts(H2, "/ps/mine", NDN_ENTRIES_OWN + 1), NDN_ENTRIES_OWN);
	expect_eq(inserts(EXTRA, "/ps/more", NDN_ENTRIES_OWN), NDN_ENTRIES_OWN);
	/* Joining an entry needs no room. */
	expect_eq(inserts(H2, "/ps/flood", 20), 20);
	/* Entries that the flooder gives back are there for others. */
	deletes(H1, "/ps/flood", 30);
	expect_eq(ndn_owner(0).entries, 64 - 10);
	expect_eq(inserts(EXTRA, "/ps/then", 20), 10);
}

/* The next router counts entries of all hosts behind this one for one face. */
static void entry__host_has_a_part_of_what_is_shared(void)
{
	int part = 64 / NDN_SHARED_PARTS;

	few_entries(64);
	expect_eq(inserts(H1, "/ps/flood", 400), NDN_ENTRIES_OWN + part);
	expect_eq(ndn_owner(0).entries, part);
	expect_eq(inserts(H2, "/ps/more", 400), NDN_ENTRIES_OWN + part);
	ndn_make_router(EXTRA);
	expect_eq(inserts(EXTRA, "/ps/many", 400), NDN_ENTRIES_OWN + 64 - 2 * part);
	expect_eq(ndn_owner(0).entries, 64);
}

static void entry__counts_for_who_stays(void)
{
	few_entries(64);
	inserts(H1, "/ps/job", 20);
	inserts(H2, "/ps/job", 20);
	expect_eq(ndn_owner(H1).entries, 20);
	expect_eq(ndn_owner(H2).entries, 0);
	deletes(H1, "/ps/job", 20);
	expect_eq(ndn_owner(H1).entries, 0);
	expect_eq(ndn_owner(H2).entries, 20);
	expect_eq(ndn_owner(0).entries, 4);
	deletes(H2, "/ps/job", 20);
	expect_eq(ndn_owner(H2).entries, 0);
	expect_eq(ndn_owner(0).entries, 0);
	expect_eq(ndn_entries(), 0);
}

/* One that left without a word: the entry counts for the next who renews it. */
static void entry__counts_for_who_renews(void)
{
	few_entries(64);
	subscribe(H1);
	age(LEASE);
	interest(H2, "/insert" JOB);
	expect_eq(ndn_owner(H1).entries, 1);
	age(LEASE / 2 + 1000000000);
	interest(H2, "/insert" JOB);
	expect_eq(ndn_owner(H1).entries, 0);
	expect_eq(ndn_owner(H2).entries, 1);
	age(2 * LEASE);
	ndn_run_sweep();
	expect_eq(ndn_entries(), 0);
	expect_eq(ndn_owner(H2).entries, 0);
}

static void forget_face(int face)
{
	struct ndn_forget what = {.kind = NDN_FORGET_FACE, .face = face, .count = nw.buckets};
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = &what, .ctx_size_in = sizeof(what));
	int fd = bpf_program__fd(bpf_object__find_program_by_name(nw.obj, "ndn_forget"));

	expect(!bpf_prog_test_run_opts(fd, &o) && !o.retval);
}

/* A number that is used again begins with nothing. */
static void face__leaves_nothing_behind(void)
{
	few_entries(64);
	inserts(H1, "/ps/job", 20);
	inserts(H2, "/ps/job", 5);
	asks(H1, "/ps/a", OWN + 5);
	interest(H2, "/ps/a/3");
	forget_face(H1);
	expect_eq(ndn_owner(H1).used, 0);
	expect_eq(ndn_owner(H1).shared, 0);
	expect_eq(ndn_owner(H2).entries, 5);
	expect_eq(ndn_rows("ndn_asks"), 1);
	expect_eq(send_data(UP, "/ps/a/3", 5), XDP_REDIRECT);
	expect(nframe_is_for(&f, H2));
	expect_nothing_held();
	for (int i = 0; i < nw.buckets * NDN_WAYS; i++)
		nw.pit[i].lap_end -= 2 * LEASE;
	ndn_run_sweep();
	expect_eq(ndn_entries(), 0);
	for (int i = 0; i < NDN_FACES; i++)
		expect_eq(ndn_owner(i).entries, 0);
}

int main(void)
{
	nw.nshared = SHARED;
	ndn_open();
	run(ask__flood_without_right_leaves_room);
	run(ask__flood_with_right_leaves_each_its_own);
	run(ask__who_holds_most_gives_way);
	run(ask__own_oldest_goes_first);
	run(ask__of_a_router_replaces_at_once);
	run(ask__without_right_is_short);
	run(ask__of_another_survives_its_owner);
	run(ask__joined_stays);
	run(ask__joined_passes_on_with_its_seat);
	run(ask__over_is_nobodys);
	run(seats__do_not_leak);
	run(entry__flood_leaves_each_its_own);
	run(entry__host_has_a_part_of_what_is_shared);
	run(entry__counts_for_who_stays);
	run(entry__counts_for_who_renews);
	run(face__leaves_nothing_behind);
	return tap_done();
}
