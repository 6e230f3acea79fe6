// SPDX-License-Identifier: BSD-2-Clause
/* Schedules carried out by walks: all collectives, types and operations. */
#include "tests/lib/peer/shapes.h"
#include "walk_rig.h"

static const uint64_t counts[] = {0, 1, 2, 3, 7, 16, 61, 64, 127, 256, 997};

/* A call that only compression makes: of words, or of values that ranks choose. */
static void make_inner(struct want *w)
{
	uint32_t log2_group = 1 + (uint32_t)(chance() % 5);

	w->in_place = false;
	w->words = chance() % 2;
	w->op = w->words ? 0 : (unsigned int)(chance() % 2);
	if (w->words)
		return;
	w->type = TRIB_REDUCE_F32;
	w->nm = trib_nm(log2_group, 1 + (uint32_t)(chance() % ((1u << log2_group) - 1)));
}

static struct want random_want(uint32_t world)
{
	static const unsigned int ops[] = {0, OP_AVG, 2, 3, 4};
	struct want w = {
		.collective = (unsigned int)(chance() % 5),
		.op = ops[chance() % 5],
		.type = (unsigned int)(chance() % TRIB_REDUCE_TYPE__MAX),
		.count = counts[chance() % (sizeof(counts) / sizeof(counts[0]))],
		.root = (uint32_t)(chance() % world),
		.in_place = chance() % 2,
		.shift = (unsigned int)(chance() % 4),
	};

	if (w.type == TRIB_REDUCE_I32 && w.op == OP_AVG)
		w.op = TRIB_REDUCE_SUM;
	if (w.collective > PEER_REDUCE_SCATTER)
		w.op = 0;
	if (w.collective == PEER_ALLREDUCE && !(chance() % 3))
		make_inner(&w);
	return w;
}

static const char *name_of(const struct want *w)
{
	static const char *const names[] = {"allreduce", "reduce-scatter", "allgather", "broadcast",
					    "barrier"};

	return names[w->collective];
}

static bool many(const struct peer_shape *shape, unsigned int calls)
{
	struct ranks j = {.shape = *shape};
	size_t chunk = 64 << chance() % 3, direct = 1 + chance() % 900;
	struct want w;
	bool good = ranks_open(&j, chunk, 2 + (unsigned int)(chance() % 4), direct);

	for (unsigned int i = 0; i < calls && good; i++) {
		w = random_want(shape->world);
		good = call(&j, &w);
		if (!good)
			printf("# %s of %lu, type %u, op %u, %s nm %x, world %u, %s, %u NICs\n",
			       name_of(&w), w.count, w.type, w.op, w.words ? "words" : "values",
			       w.nm, shape->world, peer_alg_name(shape->alg), shape->nics);
	}
	ranks_close(&j);
	return good;
}

static void ring__sums_are_right(void)
{
	for (uint32_t n = 1; n <= 12; n++)
		expect(many(&(struct peer_shape){.alg = PEER_ALG_RING,
						 .world = n,
						 .nics = 1 + (uint32_t)(chance() % 3)},
			    20));
}

static void direct__sums_are_right(void)
{
	for (uint32_t n = 1; n <= 9; n++)
		expect(many(&(struct peer_shape){.alg = PEER_ALG_DIRECT, .world = n, .nics = 1},
			    20));
}

static void halving__sums_are_right(void)
{
	for (uint32_t n = 1; n <= 17; n++)
		expect(many(&(struct peer_shape){.alg = PEER_ALG_HALVING,
						 .world = n,
						 .nics = 1 + (uint32_t)(chance() % 2),
						 .doubling_below = chance() % 2 ? 500 : 0},
			    20));
}

static void bcube__sums_are_right(void)
{
	static const uint32_t nk[][2] = {{2, 1}, {4, 1}, {2, 2}, {3, 2}, {4, 2}, {2, 3}, {2, 4}};

	for (unsigned int i = 0; i < sizeof(nk) / sizeof(nk[0]); i++) {
		uint32_t world = 1, k;

		for (k = 0; k < nk[i][1]; k++)
			world *= nk[i][0];
		expect(many(&(struct peer_shape){.alg = PEER_ALG_BCUBE,
						 .world = world,
						 .nics = nk[i][1],
						 .n = nk[i][0],
						 .k = nk[i][1]},
			    20));
	}
}

static void torus__sums_are_right(void)
{
	static const uint32_t rc[][3] = {{2, 2, 4}, {2, 3, 6},	{3, 2, 6}, {3, 3, 9}, {2, 4, 8},
					 {4, 2, 8}, {4, 4, 16}, {2, 2, 5}, {2, 3, 7}, {3, 4, 13}};

	for (unsigned int i = 0; i < sizeof(rc) / sizeof(rc[0]); i++)
		expect(many(&(struct peer_shape){.alg = PEER_ALG_TORUS,
						 .world = rc[i][2],
						 .nics = 1 + (uint32_t)(chance() % 2),
						 .rows = rc[i][0],
						 .cols = rc[i][1],
						 .halving_below = chance() % 2 ? 200 : 0},
			    20));
}

static void hierarchy__sums_are_right(void)
{
	uint32_t machine[WORLD_MAX], leader[WORLD_MAX], n, m, r;

	for (int i = 0; i < 24; i++) {
		m = 1 + (uint32_t)(chance() % 5);
		n = m + (uint32_t)(chance() % 10);
		for (r = 0; r < n; r++)
			machine[r] = r < m ? r : (uint32_t)(chance() % m);
		for (r = 0; r < n; r++)
			if (r < m || !(chance() % 3))
				leader[machine[r]] = r;
		expect(many(&(struct peer_shape){.alg = i % 2 ? PEER_ALG_RING : PEER_ALG_HALVING,
						 .world = n,
						 .nics = 1 + (uint32_t)(chance() % 2),
						 .intra = i % 3 ? PEER_INTRA_ALLREDUCE
								: PEER_INTRA_REDUCE,
						 .machine = machine,
						 .leader = leader,
						 .machines = m},
			    10));
	}
}

/* Any matrix, cube, number of NICs and of machines. */
static void shapes__of_any_kind_have_right_sums(void)
{
	struct shape_case c;
	uint64_t seed = 5;

	for (int i = 0; i < 150; i++) {
		enum peer_alg alg = (enum peer_alg)(1 + i % (PEER_ALG__MAX - 1));
		enum peer_intra intra = (enum peer_intra)(chance() % 3);

		shape_random(&c, alg, intra, &seed, WORLD_MAX);
		if (!expect(many(&c.shape, 8)))
			printf("# %s\n", shape_text(&c.shape));
	}
}

/* --- rules that no algorithm of today needs */

/* Both ranks send the range before they add to it. */
static void make_exchange(struct peer_lane *lane, struct peer_op *op, struct peer_piece *piece,
			  uint32_t rank, uint64_t n)
{
	op[0] = (struct peer_op){.kind = PEER_SEND_ADD, .first = true, .peer = !rank, .len = n};
	op[1] = (struct peer_op){
		.kind = PEER_ADD, .first = true, .last = true, .peer = !rank, .len = n};
	*piece = (struct peer_piece){0, n};
	*lane = (struct peer_lane){.op = op, .nop = 2, .piece = piece, .npiece = 1, .len = n};
}

static void walk__add_waits_for_the_send_of_its_range(void)
{
	enum { N = 500 };
	struct ranks j = {.shape = {.alg = PEER_ALG_DIRECT, .world = 2, .nics = 1}};
	struct peer_edge edge[2] = {{.peer = 1}, {.peer = 0}};
	struct peer_lane lane[2];
	struct peer_piece piece[2];
	struct peer_op op[2][2];
	struct peer_path path[2];
	struct peer_walk walk[2] = {0};
	struct peer_job job[2];
	int32_t v[2][N];
	uint32_t r, i;

	expect(ranks_open(&j, 64, 2, 1 << 20));
	for (int turn = 0; turn < 20; turn++) {
		for (r = 0; r < 2; r++) {
			for (i = 0; i < N; i++)
				v[r][i] = (int32_t)(i + r * 1000);
			make_exchange(&lane[r], op[r], &piece[r], r, N);
			expect(!peer_path_make(&path[r], &lane[r], r, &edge[r], 1));
			job[r] = (struct peer_job){.src = v[r],
						   .dst = v[r],
						   .vec = N,
						   .size = 4,
						   .fn = trib_reduce(TRIB_REDUCE_I32, 0),
						   .chunk = 64,
						   .direct = 1 << 20};
			expect(!peer_walk_begin(&walk[r], &path[r], &job[r],
						j.crew[r]->worker[0].link[0],
						j.crew[r]->worker[0].use, 1));
		}
		while (!peer_walk_over(&walk[0]) || !peer_walk_over(&walk[1])) {
			peer_walk_step(&walk[chance() % 2]);
			peer_mem_deliver();
		}
		for (r = 0; r < 2; r++) {
			peer_walk_end(&walk[r]);
			for (i = 0; i < N && v[r][i] == (int32_t)(2 * i + 1000);)
				i++;
			expect_eq(i, N);
			peer_path_free(&path[r]);
		}
	}
	peer_walk_free(&walk[0]);
	peer_walk_free(&walk[1]);
	ranks_close(&j);
}

/* Two ranks make calls of different lengths. */
static bool differ(uint64_t a, uint64_t b, size_t direct)
{
	struct ranks j = {.shape = {.alg = PEER_ALG_RING, .world = 2, .nics = 1}};
	struct calls *c = calloc(1, sizeof(*c));
	struct want w[2] = {{.count = a, .type = TRIB_REDUCE_I32},
			    {.count = b, .type = TRIB_REDUCE_I32}};
	bool good, noticed;
	uint32_t r;

	good = ranks_open(&j, 256, 2, direct);
	for (r = 0; r < 2; r++)
		fill(&w[r], 2, r, &c->call[r], c->mem[r]);
	noticed = good && !call_all(&j, c) &&
		  (j.crew[0]->worker[0].walk.wrong || j.crew[1]->worker[0].walk.wrong);
	for (r = 0; r < 2; r++)
		free_call(c, r);
	free(c);
	ranks_close(&j);
	return noticed;
}

static void walk__another_call_of_a_peer_is_noticed(void)
{
	expect(differ(10, 13, 1 << 20));
	expect(differ(1000, 998, 1 << 20));
	/* 512 bytes in place for one of them, in slots for the other. */
	expect(differ(256, 257, 513));
}

int main(void)
{
	run(walk__add_waits_for_the_send_of_its_range);
	run(walk__another_call_of_a_peer_is_noticed);
	run(ring__sums_are_right);
	run(direct__sums_are_right);
	run(halving__sums_are_right);
	run(bcube__sums_are_right);
	run(torus__sums_are_right);
	run(hierarchy__sums_are_right);
	run(shapes__of_any_kind_have_right_sums);
	return tap_done();
}
