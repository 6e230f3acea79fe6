/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * userspace/cli/watch/watch_rates.c: rates and verdicts from two invented
 * looks.
 */
#include <string.h>

#include "cli/out/out.h"
#include "cli/watch/watch.h"
#include "uapi/trib_maps.h"
#include "tests/lib/tap.h"

static json_t *stat(int id, const char *name, json_int_t v)
{
	return json_pack("{s:i, s:s, s:I}", "id", id, "name", name, "value", v);
}

static json_t *child(int i, json_int_t samples, json_int_t lag_ns, json_int_t last,
		     json_int_t chunk, json_int_t age)
{
	return json_pack("{s:i, s:s, s:i, s:b, s:I, s:I, s:I, s:I, s:I}", "index", i, "face", "w",
			 "rank", i, "joined", 1, "samples", samples, "lag_ns", lag_ns, "last", last,
			 "chunk", chunk, "seen_ms", age);
}

/* A running tree; takes over @children. */
static struct watch_sample look(double seconds, int epoch, json_t *children)
{
	struct watch_sample s = {
		.seconds = seconds,
		.status = json_pack("{s:i}", "nval", 352),
		.jobs = json_pack("[{s:s, s:i}]", "name", "train", "world", 4),
		.trees = json_pack("[{s:i, s:s, s:i, s:[i], s:o}]", "id", 1, "job", "train",
				   "epoch", epoch, "joined", 0, "children", children),
		.stats = json_array(),
	};

	return s;
}

/* The host completed so many chunks, of four contributions each. */
static void completed(struct watch_sample *s, json_int_t n)
{
	json_array_append_new(s->stats, stat(TRIB_RX_GRAD, "rx-grad", 4 * n));
	json_array_append_new(s->stats, stat(TRIB_DONE, "done", n));
	json_array_append_new(s->stats, stat(TRIB_RX_BYTES, "rx-bytes", 4 * n * 1408));
}

static json_t *rates(struct watch_sample *a, struct watch_sample *b)
{
	json_t *r = watch_rates(a, b);

	watch_free(a);
	watch_free(b);
	return r;
}

static double real(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static const json_t *tree_of(const json_t *r)
{
	return json_array_get(json_object_get(r, "trees"), 0);
}

static const char *mark(const json_t *r, size_t i)
{
	const json_t *list = json_object_get(tree_of(r), "children");

	return jstr(json_array_get(list, i), "mark");
}

static json_t *four(json_int_t n, json_int_t lag3, json_int_t last3, json_int_t chunk)
{
	return json_pack("[o, o, o, o]", child(0, n, n * 10000, 0, chunk, 1),
			 child(1, n, n * 11000, 0, chunk, 1),
			 child(2, n, n * 12000, n - last3, chunk, 1),
			 child(3, n, n * lag3, last3, chunk, 1));
}

static void host__rates_are_per_second(void)
{
	struct watch_sample a = look(10, 1, json_array());
	struct watch_sample b = look(12, 1, json_array());
	const json_t *host;
	json_t *r;

	json_array_append_new(a.stats, stat(TRIB_RX_GRAD, "rx-grad", 100));
	json_array_append_new(b.stats, stat(TRIB_RX_GRAD, "rx-grad", 300));
	json_array_append_new(a.stats, stat(TRIB_RX_BYTES, "rx-bytes", 0));
	json_array_append_new(b.stats, stat(TRIB_RX_BYTES, "rx-bytes", 500000000));
	json_array_append_new(b.stats, stat(TRIB_DONE, "done", 50));
	json_array_append_new(b.stats, stat(TRIB_DROP_AUTH, "drop-auth", 8));
	json_array_append_new(b.stats, stat(TRIB_DROP_FACE, "drop-face", 0));
	r = rates(&a, &b);
	host = json_object_get(r, "host");
	expect(real(host, "packets") == 100);
	expect(real(host, "gbps") == 2);
	expect(real(host, "results") == 25);
	expect(real(host, "drops") == 4);
	expect_eq(json_object_size(json_object_get(r, "drops")), 1);
	expect(real(json_object_get(r, "drops"), "drop-auth") == 4);
	json_decref(r);
}

static void host__reset_counters_count_from_zero(void)
{
	struct watch_sample a = look(0, 1, json_array());
	struct watch_sample b = look(1, 1, json_array());
	json_t *r;

	json_array_append_new(a.stats, stat(TRIB_DONE, "done", 1000));
	json_array_append_new(b.stats, stat(TRIB_DONE, "done", 30));
	r = rates(&a, &b);
	expect(real(json_object_get(r, "host"), "results") == 30);
	json_decref(r);
}

static void tree__rates_come_from_sampled_chunks(void)
{
	struct watch_sample a = look(0, 1, four(10, 13000, 5, 160));
	struct watch_sample b = look(2, 1, four(110, 13000, 55, 1760));
	const json_t *t, *job;
	json_t *r;

	completed(&b, 1600);
	r = rates(&a, &b);
	t = tree_of(r);
	expect(real(t, "results") == 800);
	expect(real(t, "packets") == 4 * 100 * TRIB_LAG_EVERY / 2);
	expect(real(t, "gbps") > 0.0090 && real(t, "gbps") < 0.0091);
	job = json_array_get(json_object_get(r, "jobs"), 0);
	expect(real(job, "results") == 800);
	expect(!strcmp(mark(r, 3), ""));
	json_decref(r);
}

static void tree__leaf_counts_what_is_delivered(void)
{
	struct watch_sample a = look(0, 1, json_array());
	struct watch_sample b = look(2, 1, json_array());
	json_t *r;

	json_array_append_new(b.stats, stat(TRIB_DELIVERED, "delivered", 50));
	r = rates(&a, &b);
	expect(real(tree_of(r), "results") == 25);
	json_decref(r);

	/* With two trees, results cannot be attributed. */
	a = look(0, 1, json_array());
	b = look(2, 1, json_array());
	json_array_append_new(b.trees, json_pack("{s:i}", "id", 2));
	r = rates(&a, &b);
	expect(json_object_get(tree_of(r), "results") == NULL);
	json_decref(r);
}

static void tree__chunk_numbers_wrap(void)
{
	struct watch_sample a = look(0, 1, four(10, 1, 0, 0xfffffff0));
	struct watch_sample b = look(1, 1, four(12, 1, 0, 16));
	json_t *r;

	completed(&b, 32);
	r = rates(&a, &b);
	expect(real(tree_of(r), "results") == 32);
	json_decref(r);
}

static void tree__new_epoch_counts_from_zero(void)
{
	struct watch_sample a = look(0, 1, four(10, 1, 0, 99984));
	struct watch_sample b = look(1, 2, four(20, 1, 0, 160));
	json_t *r;

	completed(&b, 160);
	r = rates(&a, &b);
	expect(real(tree_of(r), "results") == 160);
	json_decref(r);
}

/* A child for which the others waited: at the start of messages, for data. */
static json_t *waited(int i, json_int_t starts, json_int_t start_ms, json_int_t data_ms)
{
	json_t *c = child(i, 100, 100 * 11000, 25, 1600, 1);

	json_object_set_new(c, "starts", json_integer(starts));
	json_object_set_new(c, "start_wait_ns", json_integer(start_ms * 1000000));
	json_object_set_new(c, "data_wait_ns", json_integer(data_ms * 1000000));
	return c;
}

/* The child contributed to another 1,600 chunks, with this mean lag. */
static json_t *lagged(json_t *c, json_int_t lag_us)
{
	json_object_set_new(c, "samples", json_integer(200));
	json_object_set_new(c, "lag_ns", json_integer(100 * 11000 + 100 * lag_us * 1000));
	json_object_set_new(c, "chunk", json_integer(3200));
	return c;
}

/* A tree with a window of 100 chunks. */
static struct watch_sample windowed(double seconds, json_t *children)
{
	struct watch_sample s = look(seconds, 1, children);

	json_object_set_new(json_array_get(s.trees, 0), "slots", json_integer(200));
	return s;
}

/*
 * Four children: the caller gives the waits of 0 and 3, and how far 3 is behind in
 * hundredths of the window; 1 and 2 cost 20 ms each.
 */
static json_t *waits(json_int_t start0, json_int_t start3, json_int_t data3, json_int_t far3)
{
	json_t *before = json_pack("[o, o, o, o]", waited(0, 5, 7, 7), waited(1, 5, 7, 7),
				   waited(2, 5, 7, 7), waited(3, 5, 7, 7));
	json_t *now = json_pack("[o, o, o, o]", lagged(waited(0, 9, 7 + start0, 7), 10),
				lagged(waited(1, 9, 17, 17), 10), lagged(waited(2, 9, 27, 7), 10),
				lagged(waited(3, 9, 7 + start3, 7 + data3), far3 * 625));
	struct watch_sample a = windowed(0, before), b = windowed(1, now);

	return rates(&a, &b);
}

static void child__late_if_others_wait_for_its_start(void)
{
	json_t *r = waits(0, 250, 150, 20);

	expect(!strcmp(mark(r, 3), "late"));
	expect(!strcmp(mark(r, 0), ""));
	expect(real(json_array_get(json_object_get(tree_of(r), "children"), 3), "start_wait") ==
	       0.25);
	json_decref(r);
}

static void child__wire_is_slow_if_others_wait_for_its_data(void)
{
	json_t *r = waits(0, 150, 800, 60);

	expect(!strcmp(mark(r, 3), "slow wire"));
	expect(!strcmp(mark(r, 1), ""));
	json_decref(r);
}

/* After a hiccup it is the last in each chunk, but not far behind: its wire is no slower. */
static void child__wire_is_not_slow_if_windows_stay_open(void)
{
	json_t *r = waits(0, 20, 950, 15);

	expect(!strcmp(mark(r, 3), ""));
	json_decref(r);
}

static void child__little_waiting_names_nobody(void)
{
	json_t *r = waits(0, 145, 45, 60);

	expect(!strcmp(mark(r, 3), ""));
	json_decref(r);
}

/* Jitter: much waiting, for one as for the other. */
/* Bursts that come one rank after the other. */
static void child__some_waiting_for_data_names_nobody(void)
{
	json_t *r = waits(0, 45, 600, 60);

	expect(!strcmp(mark(r, 3), ""));
	json_decref(r);
}

static void child__waiting_for_several_names_nobody(void)
{
	json_t *r = waits(300, 500, 0, 60);

	expect(!strcmp(mark(r, 3), ""));
	expect(!strcmp(mark(r, 0), ""));
	json_decref(r);
}

static void child__waits_before_the_interval_do_not_count(void)
{
	json_t *one = json_pack("[o, o]", waited(0, 5, 9000, 0), waited(1, 5, 0, 0));
	struct watch_sample a = look(0, 1, json_deep_copy(one)), b = look(1, 1, one);
	json_t *r = rates(&a, &b);

	expect(!strcmp(mark(r, 0), ""));
	json_decref(r);

	/* A wait that began before it fills the interval, not more. */
	a = look(0, 1, json_pack("[o, o]", waited(0, 5, 0, 0), waited(1, 5, 0, 0)));
	b = look(1, 1, json_pack("[o, o]", waited(0, 6, 3000, 0), waited(1, 6, 0, 0)));
	r = rates(&a, &b);
	expect(!strcmp(mark(r, 0), "late"));
	expect(real(json_array_get(json_object_get(tree_of(r), "children"), 0), "start_wait") == 1);
	json_decref(r);
}

static void tree__ended_job_is_no_faster_than_its_host(void)
{
	struct watch_sample a = look(0, 1, four(1000, 1, 0, 16000));
	struct watch_sample b = look(1, 0, four(1002, 1, 0, 16013));
	const json_t *t;
	json_t *r;

	completed(&b, 13);
	r = rates(&a, &b);
	t = tree_of(r);
	expect(real(t, "results") == 13);
	expect(real(t, "packets") == 52);
	json_decref(r);
}

static void child__silent_is_behind(void)
{
	json_t *before = four(100, 13000, 20, 1600);
	json_t *now = four(200, 13000, 40, 3200);
	struct watch_sample a, b;
	json_t *r;

	json_array_set_new(now, 1, child(1, 100, 100 * 11000, 0, 1600, 900));
	a = look(0, 1, before);
	b = look(1, 1, now);
	r = rates(&a, &b);
	expect(!strcmp(mark(r, 1), "silent"));
	expect(!strcmp(mark(r, 0), ""));
	expect_eq(jnum(json_array_get(json_object_get(tree_of(r), "children"), 1), "behind"), 1600);
	json_decref(r);
}

/* The others have stopped, because they wait for the child. */
static void child__silent_stands_out_when_all_stand(void)
{
	json_t *list = four(100, 13000, 20, 1600);
	struct watch_sample a, b;
	json_t *r;

	/* Child 3 has a smaller window than 0 and 2, and waits like them. */
	json_array_set_new(list, 1, child(1, 84, 84 * 11000, 0, 1344, 5200));
	json_array_set_new(list, 3, child(3, 97, 97 * 11000, 0, 1552, 5190));
	json_object_set_new(json_array_get(list, 0), "seen_ms", json_integer(5170));
	json_object_set_new(json_array_get(list, 2), "seen_ms", json_integer(5180));
	a = look(0, 1, json_deep_copy(list));
	b = look(1, 1, list);
	r = rates(&a, &b);
	expect(!strcmp(mark(r, 1), "silent"));
	expect(!strcmp(mark(r, 0), ""));
	expect(!strcmp(mark(r, 3), ""));
	json_decref(r);
}

/* Its newest chunk belongs to an earlier epoch, so its number may be high. */
static void child__silent_since_the_last_epoch(void)
{
	json_t *list = four(100, 13000, 20, 1600);
	struct watch_sample a, b;
	json_t *r;

	json_array_set_new(list, 1, child(1, 900, 900, 0, 800000, 9200));
	a = look(0, 2, json_deep_copy(list));
	b = look(1, 2, list);
	r = rates(&a, &b);
	expect(!strcmp(mark(r, 1), "silent"));
	expect(!strcmp(mark(r, 0), ""));
	expect(!strcmp(mark(r, 2), ""));
	json_decref(r);
}

static void child__nobody_is_silent_when_nothing_is_asked(void)
{
	json_t *list = four(100, 13000, 20, 1600);
	struct watch_sample a, b;
	json_t *r;
	size_t i;

	for (i = 0; i < 4; i++)
		json_object_set_new(json_array_get(list, i), "seen_ms", json_integer(60000));
	a = look(0, 1, json_deep_copy(list));
	b = look(1, 1, list);
	r = rates(&a, &b);
	for (i = 0; i < 4; i++)
		expect(!strcmp(mark(r, i), ""));
	json_decref(r);
}

static void child__never_heard_is_silent(void)
{
	json_t *now = four(200, 13000, 40, 3200);
	struct watch_sample a, b;
	json_t *r;

	json_array_set_new(now, 2, child(2, 0, 0, 0, 0, 0));
	a = look(0, 1, json_array());
	b = look(1, 1, now);
	r = rates(&a, &b);
	expect(!strcmp(mark(r, 2), "silent"));
	json_decref(r);
}

static void child__not_joined_is_said(void)
{
	json_t *now = four(0, 0, 0, 0);
	struct watch_sample a, b;
	json_t *r;

	json_object_set_new(json_array_get(now, 2), "joined", json_false());
	a = look(0, 0, json_deep_copy(now));
	b = look(1, 0, now);
	r = rates(&a, &b);
	expect(!strcmp(mark(r, 2), "not joined"));
	expect(!strcmp(jstr(tree_of(r), "state"), "waiting"));
	expect(!strcmp(jstr(tree_of(r), "missing"), "rank 2 (w)"));
	json_decref(r);
}

int main(void)
{
	run(host__rates_are_per_second);
	run(host__reset_counters_count_from_zero);
	run(tree__rates_come_from_sampled_chunks);
	run(tree__leaf_counts_what_is_delivered);
	run(tree__chunk_numbers_wrap);
	run(tree__new_epoch_counts_from_zero);
	run(child__late_if_others_wait_for_its_start);
	run(child__wire_is_slow_if_others_wait_for_its_data);
	run(child__wire_is_not_slow_if_windows_stay_open);
	run(child__little_waiting_names_nobody);
	run(child__some_waiting_for_data_names_nobody);
	run(child__waiting_for_several_names_nobody);
	run(child__waits_before_the_interval_do_not_count);
	run(tree__ended_job_is_no_faster_than_its_host);
	run(child__silent_is_behind);
	run(child__silent_stands_out_when_all_stand);
	run(child__silent_since_the_last_epoch);
	run(child__nobody_is_silent_when_nothing_is_asked);
	run(child__never_heard_is_silent);
	run(child__not_joined_is_said);
	return tap_done();
}
