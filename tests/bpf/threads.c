// SPDX-License-Identifier: BSD-2-Clause
/* Two CPUs work on the same slots at the same time. */
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/bpf/world/drive.h"
#include "tests/lib/tap.h"

#define CHUNKS 512

/*
 * Expected sum in word i of a chunk: drive_values() fills in the children's
 * values.
 */
static uint64_t word(uint32_t chunk, int i)
{
	uint64_t sum = 0;

	for (int child = 0; child < DRIVE_CHILDREN; child++)
		sum += (uint64_t)chunk * 1000003 + child * 257 + i;
	return sum;
}

static void check_slot(uint32_t chunk)
{
	struct trib_slot s;

	bpf_map_lookup_elem(w.slots, &chunk, &s);
	expect_eq(s.chunk, chunk);
	expect_eq(s.state, TRIB_SLOT_RESULT);
	expect_eq(s.seen, 15);
	expect_eq(s.busy, 0);
	for (int i = 0; i < TRIB_NVAL_SMALL / 2; i++)
		if (!expect(s.v[i] == word(chunk, i)))
			return;
}

/*
 * Each chunk has a slot of its own, so every sum can be checked afterwards. A
 * packet that does not get the slot's lock in time is dropped and counted. The
 * driver does not send it again, so a few chunks may stay incomplete.
 */
static void round_of_chunks(void)
{
	struct drive d[2];
	uint64_t busy, added, done;
	struct trib_slot s;

	for (int i = 0; i < 2; i++)
		d[i] = (struct drive){.name = "drive_values",
				      .cpu = i,
				      .lane = i,
				      .lanes = 2,
				      .until = 2 * CHUNKS,
				      .repeat = 512};
	world_reset();
	drive_tree(CHUNKS);
	drive_run(d, 2);
	busy = stat_of(TRIB_DROP_BUSY);
	added = stat_of(TRIB_ADDED);
	done = stat_of(TRIB_DONE);
	expect_eq(stat_of(TRIB_RX_GRAD), DRIVE_CHILDREN * CHUNKS);
	expect_eq(added + busy, DRIVE_CHILDREN * CHUNKS);
	expect(done >= CHUNKS - busy);
	expect(busy < CHUNKS / 4);
	expect_eq(stat_of(TRIB_DROP_DUP) + stat_of(TRIB_DROP_STALE), 0);
	for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
		bpf_map_lookup_elem(w.slots, &chunk, &s);
		if (s.state == TRIB_SLOT_RESULT)
			check_slot(chunk);
		else
			expect(busy-- > 0);
	}
	printf("# %u chunks, %llu packets lost to the lock\n", CHUNKS,
	       (unsigned long long)stat_of(TRIB_DROP_BUSY));
}

/* Repeat for a few seconds: an emulated CPU manages one round. */
static void threads__sums_of_shared_slots_are_exact(void)
{
	time_t until = time(NULL) + 3;
	int i = 0;

	do
		round_of_chunks();
	while (++i < 10 && time(NULL) < until);
}

int main(void)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		tap_skip_all("needs two CPUs");
	w.nslots = CHUNKS;
	world_open(TRIB_NVAL_SMALL);
	drive_open(2, CHUNKS);
	run(threads__sums_of_shared_slots_are_exact);
	drive_close();
	world_close();
	return tap_done();
}
