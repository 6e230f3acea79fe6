// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cells and rings of ranks, with maps in memory: no array is given twice, no row names what
 * is not there, and a new tribd goes on with what fits.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/attach/attach.h"
#include "daemon/attach/cells.h"
#include "daemon/attach/deliver.h"
#include "daemon/attach/reflex.h"
#include "daemon/session/join.h"
#include "tests/lib/daemon_world.h"
#include "tests/lib/tap.h"

#define NTREES 16
#define MADE_MAX 1024
#define FD(map) (10 + (int)(map)) /* of the outer maps; no such file is open */
#define FD_INNER 10000		  /* + number of the inner map */

/* --- maps in memory */

static struct {
	enum bpf_map_type type;
	uint32_t value, n, flags;
	struct trib_desk desk;
} made[MADE_MAX];
static uint32_t nmade;
static uint32_t cells[NTREES * TRIB_RINGS_MAX], rings[64]; /* numbers of inner maps; 0: none */
static struct trib_deliver delivers[NTREES];
static struct trib_tree trees[NTREES];
static unsigned int fail_at; /* map whose making fails; 0: none */
static unsigned int batches, singles;
static bool spoilt; /* rows need not hold yet */

int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key, __u32 value, __u32 n,
		   const struct bpf_map_create_opts *opts)
{
	(void)name;
	(void)key;
	if (fail_at && !--fail_at) {
		errno = ENOMEM;
		return -1;
	}
	nmade++;
	made[nmade].type = type;
	made[nmade].value = value;
	made[nmade].n = n;
	made[nmade].flags = opts ? opts->map_flags : 0;
	return FD_INNER + (int)nmade;
}

/* Check the rows as programs on other CPUs could read them at any moment. */
static void rows_hold(void)
{
	for (unsigned int nr = 0; !spoilt && nr < NTREES; nr++) {
		const struct trib_deliver *row = &delivers[nr];

		for (unsigned int i = 0; i < TRIB_RINGS_MAX; i++) {
			uint32_t id = cells[TRIB_CELLS_ROW(nr, i)];

			if (!row->ring[i])
				continue;
			expect(i < row->nrank);
			expect(rings[row->ring[i]]);
			if (expect(id))
				expect_eq(made[id].n, row->cell_mask + 2ull);
		}
	}
}

static int outer_store(uint32_t *outer, const void *key, const void *value)
{
	uint32_t nr = *(const uint32_t *)key, id = (uint32_t)(*(const int *)value - FD_INNER);

	if (outer == cells && !expect(nr < NTREES * TRIB_RINGS_MAX))
		return -1;
	/* A program that runs must not lose what it uses. */
	if (outer == cells)
		expect(!delivers[nr / TRIB_RINGS_MAX].ring[nr % TRIB_RINGS_MAX]);
	outer[nr] = id;
	rows_hold();
	return 0;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	uint32_t nr = *(const uint32_t *)key;

	(void)flags;
	if (fd == FD(MAP_CELLS)) {
		singles++;
		return outer_store(cells, key, value);
	}
	if (fd == FD(MAP_RINGS))
		return outer_store(rings, key, value);
	if (fd == FD(MAP_TREES))
		memcpy(&trees[nr], value, sizeof(trees[nr]));
	if (fd == FD(MAP_DELIVERS)) {
		memcpy(&delivers[nr], value, sizeof(delivers[nr]));
		rows_hold();
	}
	return 0;
}

int bpf_map_update_batch(int fd, const void *keys, const void *values, __u32 *count,
			 const struct bpf_map_batch_opts *opts)
{
	(void)opts;
	if (fd != FD(MAP_CELLS))
		return 0;
	batches++;
	for (uint32_t i = 0; i < *count; i++)
		outer_store(cells, (const uint32_t *)keys + i, (const int *)values + i);
	return 0;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	uint32_t nr = *(const uint32_t *)key, id = 0;

	if (fd == FD(MAP_TREES))
		return memcpy(value, &trees[nr], sizeof(trees[nr])), 0;
	if (fd == FD(MAP_DELIVERS))
		return memcpy(value, &delivers[nr], sizeof(delivers[nr])), 0;
	if (fd > FD_INNER && nr == made[fd - FD_INNER].n - 1)
		return memcpy(value, &made[fd - FD_INNER].desk, sizeof(struct trib_desk)), 0;
	if (fd == FD(MAP_CELLS))
		id = cells[nr];
	if (fd == FD(MAP_RINGS))
		id = rings[nr];
	if (id)
		return memcpy(value, &id, sizeof(id)), 0;
	errno = ENOENT;
	return -1;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	static const int none = FD_INNER;

	if (fd == FD(MAP_CELLS))
		return singles++, outer_store(cells, key, &none);
	if (fd == FD(MAP_RINGS))
		return outer_store(rings, key, &none);
	return 0;
}

int bpf_map_get_fd_by_id(__u32 id)
{
	return FD_INNER + (int)id;
}

int bpf_obj_get_info_by_fd(int fd, void *info, __u32 *len)
{
	struct bpf_map_info *m = info;

	(void)len;
	if (!expect(fd > FD_INNER))
		return -1;
	m->type = made[fd - FD_INNER].type;
	m->key_size = sizeof(uint32_t);
	m->value_size = made[fd - FD_INNER].value;
	m->max_entries = made[fd - FD_INNER].n;
	m->map_flags = made[fd - FD_INNER].flags;
	return 0;
}

/* --- the world */

static void add_tree(uint16_t id, const char *parent, unsigned int nlocal)
{
	struct tree_spec s = spec_make(id, "");

	spec_parent(&s, parent, INDEX_NONE);
	for (unsigned int i = 0; i < nlocal; i++)
		spec_local(&s, (uint16_t)(3 + i), (uint16_t)(5 + i));
	expect_eq(tree_restore(&world, &s, &why), 0);
}

static struct tree *tree(uint16_t id)
{
	return tree_find(&world, id);
}

static struct job *job(void)
{
	return job_find(&world, "train");
}

/* A world without trees; the job is the same each time. */
static void begin(void)
{
	world_make();
	memset(&job()->key, 1, sizeof(job()->key));
}

/* The maps stay; @adopted: this tribd takes over. */
static void serve(bool adopted)
{
	struct face *f;

	for (int i = 0; i < MAP__MAX; i++)
		world.map[i] = FD(i);
	world.config.ndelivers = NTREES;
	world.config.nrings = 8;
	world.adopted = adopted;
	TAILQ_FOREACH(f, &world.faces, link)
		f->local_mac[5] = 1;
	expect_eq(deliver_init(&world), 0);
	expect_eq(tree_restore_done(&world), 0);
	rows_hold();
}

/* tribd ends. */
static void end(void)
{
	join_exit(&world);
	deliver_exit(&world);
	world_free();
}

/* A job of trees 1 to @n, each with ranks 3 and so on; maps are empty. */
static void start(unsigned int n, unsigned int nlocal)
{
	memset(made, 0, sizeof(made));
	memset(cells, 0, sizeof(cells));
	memset(rings, 0, sizeof(rings));
	memset(delivers, 0, sizeof(delivers));
	memset(trees, 0, sizeof(trees));
	nmade = batches = singles = fail_at = 0;
	begin();
	for (uint16_t id = 1; id <= n; id++)
		add_tree(id, "up", nlocal);
	serve(false);
}

/* A new tribd with the same trees. */
static void again(unsigned int n, unsigned int nlocal)
{
	end();
	begin();
	for (uint16_t id = 1; id <= n; id++)
		add_tree(id, "up", nlocal);
	serve(true);
}

static uint32_t cells_at(uint16_t id, unsigned int i)
{
	return cells[TRIB_CELLS_ROW(id, i)];
}

/* True if the row is empty or has the array that is nobody's. */
static bool is_nobodys(uint16_t id, unsigned int i)
{
	return !cells_at(id, i) || made[cells_at(id, i)].n == 1;
}

static struct place_fds attach(uint16_t rank)
{
	struct place_fds fds = {0};

	expect_eq(deliver_rank_add(&world, job(), rank, &fds), 0);
	return fds;
}

/* --- sizes */

static void cells__as_many_as_memory_allows(void)
{
	static const struct {
		uint32_t nval, window, ntree, n;
	} t[] = {
		{352, 4, 1, 1024},	{352, 4, 44, 1024},   {352, 4, 45, 512},
		{352, 256, 45, 512},	{352, 256, 192, 512}, {352, 4, 192, 128},
		{352, 16384, 1, 32768}, {352, 1, 1000000, 8}, {832, 4, 1, 512},
		{832, 4, 38, 512},	{832, 4, 39, 256},    {832, 512, 1, 1024},
		{352, 4, 0, 1024},
	};

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		world.config.nval = t[i].nval;
		expect_eq(cells_count(&world, t[i].window, t[i].ntree), t[i].n);
	}
}

/* --- coming and going */

static void attach__gives_an_array_for_each_tree_and_a_ring(void)
{
	struct place_fds fds;

	start(3, 1);
	expect_eq(delivers[2].nrank, 1);
	expect_eq(delivers[2].rank[0], 3);
	expect_eq(delivers[2].ring[0], 0);
	expect(is_nobodys(2, 0));
	fds = attach(3);
	expect_eq(fds.n, 4);
	expect_eq(fds.own, 3);
	for (uint16_t id = 1; id <= 3; id++) {
		expect_eq(fds.fd[id - 1], FD_INNER + (int)cells_at(id, 0));
		expect_eq(made[cells_at(id, 0)].n, 1025);
		expect_eq(made[cells_at(id, 0)].value, 64 + 352 * 4);
		expect_eq(delivers[id].cell_mask, 1023);
		expect_eq(delivers[id].ring[0], 1);
	}
	expect_eq(fds.fd[3], FD_INNER + (int)rings[1]);
	expect_eq(deliver_cells(tree(2)), 1024);
	/* Each change of a single row would wait for an RCU grace period. */
	expect_eq(batches, 1);
	expect_eq(singles, 0);
	deliver_rank_del(&world, job(), 3);
	expect_eq(batches, 2);
	expect_eq(singles, 0);
	end();
}

static void attach__rows_go_by_the_place_in_the_tree(void)
{
	start(1, 3);
	attach(5);
	expect_eq(delivers[1].nrank, 3);
	expect_eq(delivers[1].rank[2], 5);
	expect(delivers[1].ring[2] && !delivers[1].ring[0] && !delivers[1].ring[1]);
	expect(is_nobodys(1, 0) && !is_nobodys(1, 2));
	attach(3);
	expect(delivers[1].ring[0] && delivers[1].ring[0] != delivers[1].ring[2]);
	deliver_rank_del(&world, job(), 5);
	expect(delivers[1].ring[0] && !delivers[1].ring[2]);
	expect(is_nobodys(1, 2) && !is_nobodys(1, 0));
	end();
}

static void attach__no_array_is_given_twice(void)
{
	struct place_fds fds;
	bool had[MADE_MAX] = {false};

	start(2, 2);
	for (int turn = 0; turn < 20; turn++) {
		fds = attach((uint16_t)(3 + turn % 2));
		for (unsigned int i = 0; i < fds.own; i++) {
			expect(!had[fds.fd[i] - FD_INNER]);
			had[fds.fd[i] - FD_INNER] = true;
		}
		if (turn % 3 == 2)
			deliver_rank_del(&world, job(), (uint16_t)(3 + turn % 2));
		rows_hold();
	}
	/* The map has no array of a process that left. */
	deliver_rank_del(&world, job(), 3);
	deliver_rank_del(&world, job(), 4);
	for (unsigned int i = 0; i < NTREES * TRIB_RINGS_MAX; i++)
		expect(!had[cells[i]]);
	end();
}

static void attach__ranks_of_a_job_have_one_n(void)
{
	start(15, 2);
	attach(3);
	tree(1)->held = true;
	attach(4);
	expect_eq(deliver_cells(tree(1)), 1024);
	expect_eq(deliver_cells(tree(2)), 1024);
	end();
	start(1, 2);
	world.config.nval = TRIB_NVAL_LARGE;
	attach(3);
	expect_eq(delivers[1].cell_mask, 511);
	/* Whatever a new count would be: who is attached keeps its own. */
	job()->window = 1024;
	attach(4);
	expect_eq(delivers[1].cell_mask, 511);
	deliver_rank_del(&world, job(), 3);
	deliver_rank_del(&world, job(), 4);
	attach(4);
	expect_eq(delivers[1].cell_mask, 2047);
	end();
}

static void attach__held_trees_are_left_out(void)
{
	struct place_fds fds;

	start(3, 1);
	tree(2)->held = true;
	fds = attach(3);
	expect_eq(fds.own, 2);
	expect(is_nobodys(2, 0) && !delivers[2].ring[0]);
	expect_eq(fds.fd[1], FD_INNER + (int)cells_at(3, 0));
	/* A tree that is held later stays with its process. */
	tree(3)->held = true;
	expect(delivers[3].ring[0]);
	deliver_rank_del(&world, job(), 3);
	expect(is_nobodys(3, 0) && !delivers[3].ring[0]);
	end();
}

static void attach__without_memory_changes_nothing(void)
{
	for (unsigned int at = 1; at <= 4; at++) {
		struct place_fds fds = {0};

		start(3, 1);
		fail_at = at;
		expect_eq(deliver_rank_add(&world, job(), 3, &fds), -ENOMEM);
		expect_eq(fds.own, at - 1);
		for (uint16_t id = 1; id <= 3; id++)
			expect(is_nobodys(id, 0) && !delivers[id].ring[0]);
		attach(3);
		end();
	}
}

/* --- restarts */

static void restart__ranks_keep_arrays_and_rings(void)
{
	uint32_t id1, id2, ring;

	start(2, 2);
	attach(4);
	id1 = cells_at(1, 1);
	id2 = cells_at(2, 1);
	ring = rings[delivers[1].ring[1]];
	trees[1].last_epoch = 77;
	again(2, 2);
	expect_eq(cells_at(1, 1), id1);
	expect_eq(cells_at(2, 1), id2);
	expect_eq(rings[delivers[1].ring[1]], ring);
	expect(tree(1)->local[1].ring && !tree(1)->local[0].ring);
	expect_eq(deliver_cells(tree(2)), 1024);
	expect_eq(tree(1)->traced, 77);
	attach(3);
	expect_eq(cells_at(1, 1), id1);
	end();
}

static void restart__n_is_that_of_the_ranks(void)
{
	start(2, 2);
	attach(4);
	for (uint16_t id = 1; id <= 2; id++) {
		/* A tribd that had more trees then. */
		delivers[id].cell_mask = 255;
		made[cells_at(id, 1)].n = 257;
	}
	again(2, 2);
	expect(delivers[2].ring[1]);
	expect_eq(deliver_cells(tree(1)), 256);
	attach(3);
	expect_eq(made[cells_at(1, 0)].n, 257);
	end();
}

/* Change tree @id as tribd would not. */
static void spoil(unsigned int what, uint16_t id)
{
	uint32_t *c = &cells[TRIB_CELLS_ROW(id, 1)];

	switch (what) {
	case 0:
		*c = 0;
		break;
	case 1:
		made[*c].n++;
		break;
	case 2:
		made[*c].value += 8;
		break;
	case 3:
		made[*c].flags = 0;
		break;
	case 4:
		made[*c].type = BPF_MAP_TYPE_HASH;
		break;
	case 5:
		rings[delivers[id].ring[1]] = 0;
		break;
	case 6: /* less than two windows, in all trees */
		for (id = 1; id <= 3; id++) {
			delivers[id].cell_mask = 3;
			made[cells[TRIB_CELLS_ROW(id, 1)]].n = 5;
		}
		break;
	default: /* not the N of the other trees */
		delivers[id].cell_mask = 511;
		made[*c].n = 513;
	}
}

/* A rank of which anything does not fit is lost in all trees; others stay. */
static void restart__rank_that_does_not_fit_must_attach_again(void)
{
	for (unsigned int i = 0; i < 8 * 3; i++) {
		start(3, 2);
		attach(4);
		/* Its only neighbour would have the spoilt mask, too. */
		if (i / 3 < 6)
			attach(3);
		end();
		spoil(i / 3, (uint16_t)(1 + i % 3));
		spoilt = true;
		begin();
		for (uint16_t id = 1; id <= 3; id++)
			add_tree(id, "up", 2);
		serve(true);
		spoilt = false;
		rows_hold();
		for (uint16_t id = 1; id <= 3; id++) {
			expect(!tree(id)->local[1].ring);
			expect(!delivers[id].ring[1] && is_nobodys(id, 1));
			expect(i / 3 >= 6 || (tree(id)->local[0].ring && !is_nobodys(id, 0)));
		}
		attach(4);
		rows_hold();
		end();
	}
}

static void restart__tree_that_is_gone_leaves_no_array(void)
{
	start(2, 1);
	attach(3);
	again(1, 1);
	expect(!delivers[2].ring[0] && !delivers[2].nrank && !cells_at(2, 0));
	expect(tree(1)->local[0].ring);
	end();
}

static void tree__that_goes_takes_its_rows_along(void)
{
	start(2, 2);
	attach(3);
	tree(2)->row.flags = 0;
	deliver_tree_gone(&world, tree(2));
	expect(!delivers[2].nrank && !cells_at(2, 0) && !cells_at(2, 1));
	expect(!delivers[1].ring[0] && is_nobodys(1, 0));
	end();
}

/* --- reflex */

static void row__follows_the_face(void)
{
	struct face *f;

	start(1, 1);
	f = face_find(&world, "up");
	expect(delivers[1].reflex.auth);
	expect_eq(delivers[1].reflex.smac[5], 1);
	f->local_mac[5] = 9;
	tree_face_changed(&world, f);
	tree_settle(&world);
	expect_eq(delivers[1].reflex.smac[5], 9);
	f->port->mode = TRIB_XDP_MODE_GENERIC;
	tree_face_changed(&world, f);
	tree_settle(&world);
	expect(!memcmp(&delivers[1].reflex, &(struct trib_reflex){0}, sizeof(struct trib_reflex)));
	/* Ranks keep what they have. */
	f->port->mode = TRIB_XDP_MODE_NATIVE;
	attach(3);
	tree_face_changed(&world, f);
	tree_settle(&world);
	expect(delivers[1].reflex.auth && delivers[1].ring[0]);
	end();
}

static void carried__is_what_the_desk_says(void)
{
	start(1, 1);
	expect_eq(deliver_carried(&world, tree(1), &tree(1)->local[0]), 0);
	attach(3);
	made[cells_at(1, 0)].desk.cpu[0].carried = 5;
	made[cells_at(1, 0)].desk.cpu[TRIB_DESK_CPUS - 1].carried = 7;
	expect_eq(deliver_carried(&world, tree(1), &tree(1)->local[0]), 12);
	end();
}

int main(void)
{
	run(cells__as_many_as_memory_allows);
	run(attach__gives_an_array_for_each_tree_and_a_ring);
	run(attach__rows_go_by_the_place_in_the_tree);
	run(attach__no_array_is_given_twice);
	run(attach__ranks_of_a_job_have_one_n);
	run(attach__held_trees_are_left_out);
	run(attach__without_memory_changes_nothing);
	run(restart__ranks_keep_arrays_and_rings);
	run(restart__n_is_that_of_the_ranks);
	run(restart__rank_that_does_not_fit_must_attach_again);
	run(restart__tree_that_is_gone_leaves_no_array);
	run(tree__that_goes_takes_its_rows_along);
	run(row__follows_the_face);
	run(carried__is_what_the_desk_says);
	return tap_done();
}
