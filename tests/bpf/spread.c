// SPDX-License-Identifier: BSD-2-Clause
/* Lanes on several CPUs: which contribution is moved, and that it is added where it arrives. */
#include <linux/bpf.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>
#include "tests/bpf/world/live.h"
#include "tests/lib/tap.h"

/* The test runs on CPU 0; home of every chunk of the upper half is CPU 1. */
#define CPUS 2
#define HERE 3
#define AWAY (TRIB_SPREAD_MAX / 2 + 3)
#define MANY 100000

static struct frame f, other;
static int spread, cpus;

static int fd_of(const char *name)
{
	return bpf_object__find_map_fd_by_name(w.obj, name);
}

static void set(uint32_t n, uint64_t tick, uint32_t made)
{
	struct trib_spread row = {.n = n, .cpu[0] = {.tick = tick, .made = made}};
	uint32_t zero = 0;

	bpf_map_update_elem(spread, &zero, &row, BPF_ANY);
}

static struct trib_spread_cpu count(void)
{
	struct trib_spread row = {};
	uint32_t zero = 0;

	bpf_map_lookup_elem(spread, &zero, &row);
	return row.cpu[0];
}

static bool enter(uint32_t cpu)
{
	struct bpf_cpumap_val v = {.qsize = 64};

	v.bpf_prog.fd = bpf_program__fd(bpf_object__find_program_by_name(w.obj, "trib_moved"));
	return !bpf_map_update_elem(cpus, &cpu, &v, BPF_ANY);
}

static void fresh(uint32_t n)
{
	bool entered = enter(1);

	expect(entered);
	world_reset();
	live_flush();
	set(n, 0, 0);
}

/* Contribute for all but the last child of ROOT. */
static void begin(uint32_t chunk)
{
	run_grad(&f, ROOT, 0, chunk, 352, 5);
	run_grad(&f, ROOT, 1, chunk, 352, 5);
}

/* Let CPU 0 have made many results in this tick: any that it makes tells the time. */
static void hurry(uint32_t n)
{
	uint64_t tick;

	set(CPUS, 0, 0);
	for (int child = 0; child < 3; child++)
		run_grad(&other, ROOT, child, 0, 352, 5);
	tick = count().tick;
	expect(tick);
	set(n, tick, MANY);
}

static int last(uint32_t chunk)
{
	return run_grad(&f, ROOT, 2, chunk, 352, 5);
}

static void expect_made(uint32_t chunk)
{
	uint64_t done = stat_of(TRIB_DONE);

	expect_eq(last(chunk), XDP_REDIRECT);
	expect_eq(stat_of(TRIB_DONE), done + 1);
	expect_eq(stat_of(TRIB_TX_MOVED), 0);
	expect_eq(frame_hdr(&f)->type, TRIB_T_RESULT);
}

static void move__calm_cpu_keeps_all(void)
{
	fresh(CPUS);
	begin(AWAY);
	expect_made(AWAY);
	expect_eq(count().made, 1);
}

static void move__busy_cpu_moves_the_last(void)
{
	fresh(CPUS);
	begin(AWAY);
	hurry(CPUS);
	expect_eq(last(AWAY), XDP_REDIRECT);
	expect_eq(stat_of(TRIB_TX_MOVED), 1);
	/* It came as it was, and is not counted yet. */
	expect_eq(frame_hdr(&f)->type, TRIB_T_GRAD);
	expect_eq(slot_of(ROOT, AWAY)->state, TRIB_SLOT_COLLECT);
	expect_eq(stat_of(TRIB_RX_GRAD), 5);
}

static void move__earlier_ones_stay(void)
{
	fresh(CPUS);
	hurry(CPUS);
	begin(AWAY);
	expect_eq(stat_of(TRIB_TX_MOVED), 0);
	expect_eq(stat_of(TRIB_ADDED), 5);
}

static void move__home_is_here(void)
{
	fresh(CPUS);
	begin(HERE);
	hurry(CPUS);
	expect_made(HERE);
}

static void move__one_cpu(void)
{
	fresh(CPUS);
	begin(AWAY);
	hurry(1);
	expect_made(AWAY);
}

static void move__cpu_that_tribd_has_not_entered(void)
{
	uint32_t cpu = 1;

	fresh(CPUS);
	begin(AWAY);
	bpf_map_delete_elem(cpus, &cpu);
	hurry(CPUS);
	expect_made(AWAY);
}

/* An empty one may have to grow, which frames that were moved cannot. */
static void move__only_values(void)
{
	fresh(CPUS);
	begin(AWAY);
	hurry(CPUS);
	run_grad(&f, ROOT, 2, AWAY, 0, 0);
	expect_eq(stat_of(TRIB_TX_MOVED), 0);
	expect_eq(stat_of(TRIB_DONE), 2);
}

static void move__resent_ones_stay(void)
{
	fresh(CPUS);
	begin(AWAY);
	hurry(CPUS);
	frame_grad(&f, ROOT, 2, AWAY, 352, 5);
	frame_hdr(&f)->flags |= TRIB_F_RESEND;
	expect_eq(run_xdp(&f, port_of(ROOT, 2)), XDP_REDIRECT);
	expect_eq(stat_of(TRIB_TX_MOVED), 0);
	expect_eq(stat_of(TRIB_DONE), 2);
}

static void move__copy_of_a_result_stays(void)
{
	fresh(CPUS);
	begin(AWAY);
	expect_made(AWAY);
	hurry(CPUS);
	last(AWAY);
	expect_eq(stat_of(TRIB_TX_MOVED), 0);
}

static void count__ticks_pass(void)
{
	fresh(CPUS);
	hurry(CPUS);
	/* The last tick counts, too; one before it does not. */
	set(CPUS, count().tick - 1000, MANY);
	begin(AWAY);
	expect_made(AWAY);
	expect_eq(count().was, 0);
	expect_eq(count().made, 1);
}

/* The result leaves from the other CPU, with its values and headers. */
static void live__moved_one_is_added(void)
{
	struct frame out;

	for (int round = 0; round < 20; round++) {
		fresh(CPUS);
		begin(AWAY);
		frame_grad(&f, ROOT, 2, AWAY, 352, 5);
		hurry(CPUS);
		live_send(&f, 2);
		for (int port = 0; port < 3; port++) {
			if (!expect(live_catch(&out, port)))
				return;
			expect_eq(frame_hdr(&out)->type, TRIB_T_RESULT);
			for (int i = 0; i < 352 / 2; i++)
				if (!expect(frame_word(&out, i) == 15))
					return;
		}
		expect_eq(stat_of(TRIB_DONE), 2);
		if (stat_of(TRIB_TX_MOVED))
			return;
		/* Other work on this CPU may take a tick: try again. */
	}
	expect_eq(stat_of(TRIB_TX_MOVED), 1);
}

static void move__only_what_is_admitted(void)
{
	fresh(CPUS);
	begin(AWAY);
	hurry(CPUS);
	frame_grad(&f, ROOT, 2, AWAY, 352, 5);
	frame_hdr(&f)->epoch ^= 1;
	expect_eq(run_xdp(&f, port_of(ROOT, 2)), XDP_DROP);
	expect_eq(stat_of(TRIB_TX_MOVED), 0);
	expect_eq(stat_of(TRIB_DROP_EPOCH), 1);
}

int main(void)
{
	cpu_set_t set0;

	if (sysconf(_SC_NPROCESSORS_ONLN) < CPUS)
		tap_skip_all("one CPU");
	CPU_ZERO(&set0);
	CPU_SET(0, &set0);
	sched_setaffinity(0, sizeof(set0), &set0);
	world_open(TRIB_NVAL_SMALL);
	live_open();
	spread = fd_of("spread");
	cpus = fd_of("cpus");
	run(move__calm_cpu_keeps_all);
	run(move__busy_cpu_moves_the_last);
	run(move__earlier_ones_stay);
	run(move__home_is_here);
	run(move__one_cpu);
	run(move__cpu_that_tribd_has_not_entered);
	run(move__only_values);
	run(move__resent_ones_stay);
	run(move__copy_of_a_result_stays);
	run(count__ticks_pass);
	run(live__moved_one_is_added);
	run(move__only_what_is_admitted);
	world_close();
	return tap_done();
}
