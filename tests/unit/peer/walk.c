// SPDX-License-Identifier: BSD-2-Clause
/*
 * Schedules carried out by walks, all ranks in one thread, over a network in memory that
 * delays as it likes. Values are small integers, so every type has an exact oracle.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/half.h"
#include "peer/run/crew.h"
#include "tests/lib/peer/mem.h"
#include "tests/lib/tap.h"

#define WORLD_MAX 24
#define OP_AVG 1

static uint64_t state = 1;

static uint64_t chance(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 16;
}

/* --- values */

static void store(void *mem, unsigned int type, uint64_t i, double v)
{
	float f = (float)v;

	switch (type) {
	case TRIB_REDUCE_F32:
		((float *)mem)[i] = f;
		break;
	case TRIB_REDUCE_I32:
		((int32_t *)mem)[i] = (int32_t)v;
		break;
	case TRIB_REDUCE_F16:
		((uint16_t *)mem)[i] = trib_f16_of(trib_bits_at(&f));
		break;
	case TRIB_REDUCE_BF16:
		((uint16_t *)mem)[i] = trib_bf16_of(trib_bits_at(&f));
		break;
	default:
		((double *)mem)[i] = v;
	}
}

/* The value of rank @r for element @i. */
static double value(uint32_t r, uint64_t i, unsigned int op)
{
	uint64_t h = (r + 1) * 0x9e3779b97f4a7c15ULL ^ (i + 7) * 0xbf58476d1ce4e5b9ULL;

	h ^= h >> 29;
	if (op == TRIB_REDUCE_PROD)
		return h % 7 ? (h % 2 ? 1 : -1) : 2;
	return (double)(int64_t)(h % 15) - 7;
}

static double oracle(uint32_t world, uint64_t i, unsigned int op)
{
	double v = value(0, i, op), w;

	for (uint32_t r = 1; r < world; r++) {
		w = value(r, i, op);
		if (op == TRIB_REDUCE_MAX)
			v = w > v ? w : v;
		else if (op == TRIB_REDUCE_MIN)
			v = w < v ? w : v;
		else if (op == TRIB_REDUCE_PROD)
			v *= w;
		else
			v += w;
	}
	return v;
}

/* --- a job of ranks */

struct ranks {
	struct peer_shape shape;
	struct peer_crew *crew[WORLD_MAX];
	bool broken;
};

static bool connect_all(struct ranks *j)
{
	const void *blob[WORLD_MAX];
	size_t len[WORLD_MAX];
	struct trib_peer_error e = {0};
	uint32_t r, n = j->shape.world;
	bool good = true;

	for (r = 0; r < n; r++)
		blob[r] = peer_crew_blob(j->crew[r], &len[r]);
	for (r = 0; r < n && good; r++)
		good = !peer_crew_connect(j->crew[r], blob, len, &e);
	for (r = 0; r < n; r++)
		free((void *)(uintptr_t)blob[r]);
	if (!good)
		printf("# %s\n", e.text);
	return good;
}

static bool ranks_open(struct ranks *j, size_t chunk, unsigned int slots, size_t direct)
{
	struct trib_peer_error e = {0};
	uint32_t r;

	peer_mem_reset(chance());
	for (r = 0; r < j->shape.world; r++) {
		struct peer_crew_conf conf = {
			.rank = r,
			.world = j->shape.world,
			.shape = &j->shape,
			.nshape = 1,
			.ops = &peer_port_mem,
			.local = &peer_port_mem,
			.slot = chunk,
			.slots = slots,
			.direct = direct,
			.exact = direct % 2,
			.nval = 32,
		};

		if (peer_crew_open(&j->crew[r], &conf, &e)) {
			printf("# %s\n", e.text);
			return false;
		}
	}
	return connect_all(j);
}

static void ranks_close(struct ranks *j)
{
	for (uint32_t r = 0; r < j->shape.world; r++)
		peer_crew_close(j->crew[r]);
}

/* --- a call of all ranks */

struct calls {
	struct trib_peer_call call[WORLD_MAX];
	struct peer_task *task[WORLD_MAX];
	struct peer_walk *walk[WORLD_MAX][PEER_LANES_MAX];
	bool begun[WORLD_MAX][PEER_LANES_MAX];
	bool over[WORLD_MAX][PEER_LANES_MAX];
};

static bool begin(struct ranks *j, struct calls *c, uint32_t r, uint32_t lane)
{
	struct peer_worker *w = &j->crew[r]->worker[lane];

	c->begun[r][lane] = true;
	c->walk[r][lane] = &w->walk;
	return !peer_walk_begin(&w->walk, &c->task[r]->plan->path[lane], &c->task[r]->job,
				w->link[0], w->use, w->nuse);
}

static bool all_have_begun(const struct ranks *j, const struct calls *c)
{
	bool begun;

	for (uint32_t r = 0; r < j->shape.world; r++) {
		begun = false;
		for (uint32_t lane = 0; lane < PEER_LANES_MAX; lane++)
			begun |= c->begun[r][lane];
		if (!begun)
			return false;
	}
	return true;
}

/* Turns of randomly chosen lanes, until all are over or nothing moves any more. */
static bool run_all(struct ranks *j, struct calls *c)
{
	uint32_t n = j->shape.world, left = 0, r, lane, idle = 0;
	bool any;

	for (r = 0; r < n; r++)
		left += c->task[r]->plan->sched.nlane;
	while (left && idle < 4000) {
		r = (uint32_t)(chance() % n);
		lane = (uint32_t)(chance() % (c->task[r]->plan->sched.nlane ?: 1));
		any = peer_mem_deliver();
		if (!c->task[r]->plan->sched.nlane || c->over[r][lane])
			continue;
		if (!c->begun[r][lane] && !begin(j, c, r, lane))
			return false;
		any |= peer_walk_step(c->walk[r][lane]);
		if (c->walk[r][lane]->wrong)
			return false;
		if (peer_walk_over(c->walk[r][lane])) {
			peer_walk_end(c->walk[r][lane]);
			c->over[r][lane] = any = true;
			if (c->call[r].collective == PEER_BARRIER && !all_have_begun(j, c)) {
				printf("# rank %u passes a barrier alone\n", r);
				return false;
			}
			left--;
		}
		idle = any ? 0 : idle + 1;
	}
	return !left;
}

/* Release what walks hold that did not end. */
static void end_all(struct ranks *j, struct calls *c)
{
	for (uint32_t r = 0; r < j->shape.world; r++)
		for (uint32_t lane = 0; lane < PEER_LANES_MAX; lane++)
			if (c->begun[r][lane] && !c->over[r][lane])
				peer_walk_end(c->walk[r][lane]);
}

/* Run the tasks, and go on to those that follow them. Return: whether all ended well. */
static bool one_task_each(struct ranks *j, struct calls *c)
{
	struct peer_task *then;
	bool good;
	uint32_t r;

	for (r = 0; r < j->shape.world; r++)
		if (!c->task[r]->ready && !c->task[r]->waits)
			peer_task_prepare(c->task[r]);
	memset(c->begun, 0, sizeof(c->begun));
	memset(c->over, 0, sizeof(c->over));
	good = run_all(j, c);
	end_all(j, c);
	for (r = 0; r < j->shape.world; r++) {
		then = c->task[r]->then;
		peer_task_finish(c->task[r]);
		good = good && !c->task[r]->status;
		peer_plan_put(c->task[r]->plan);
		peer_task_free(c->task[r]);
		c->task[r] = then;
	}
	return good;
}

static bool call_all(struct ranks *j, struct calls *c)
{
	bool good = true;
	uint32_t r;
	int err;

	for (r = 0; r < j->shape.world; r++) {
		c->task[r] = peer_task_make(j->crew[r], &c->call[r], 0, NULL, &err);
		if (!c->task[r])
			return false;
	}
	while (c->task[0])
		good = one_task_each(j, c) && good;
	while (peer_mem_deliver())
		;
	return good;
}

/* --- calls with their oracles */

struct want {
	unsigned int collective, op, type;
	uint64_t count;
	uint32_t root;
	bool in_place;
};

static uint64_t in_count(const struct want *w, uint32_t world)
{
	return w->collective == PEER_REDUCE_SCATTER ? w->count * world : w->count;
}

static uint64_t out_count(const struct want *w, uint32_t world)
{
	return w->collective == PEER_ALLGATHER ? w->count * world : w->count;
}

static double wanted(const struct want *w, uint32_t world, uint32_t r, uint64_t i)
{
	unsigned int op = w->op == OP_AVG ? TRIB_REDUCE_SUM : w->op;
	double v;

	if (w->collective == PEER_BROADCAST)
		return value(w->root, i, 0);
	if (w->collective == PEER_ALLGATHER)
		return value((uint32_t)(i / w->count), i % w->count, 0);
	v = oracle(world, w->collective == PEER_REDUCE_SCATTER ? r * w->count + i : i, op);
	if (w->op != OP_AVG)
		return v;
	return w->type == TRIB_REDUCE_F64 ? v / world : (double)((float)v / (float)world);
}

static void fill(const struct want *w, uint32_t world, uint32_t r, struct trib_peer_call *c)
{
	size_t size = trib_reduce_size(w->type);
	uint64_t i, in = in_count(w, world), out = out_count(w, world);
	bool reduces = w->collective <= PEER_REDUCE_SCATTER;
	char *src = malloc(in * size + 64), *dst = malloc(out * size + 64);

	memset(dst, 0x5a, out * size + 64);
	for (i = 0; i < in; i++)
		store(src, w->type, i, value(r, i, reduces ? w->op : 0));
	if (w->collective == PEER_ALLGATHER)
		memcpy(dst + r * w->count * size, src, w->count * size);
	else if (w->collective == PEER_BROADCAST && r == w->root)
		memcpy(dst, src, w->count * size);
	if (w->in_place && w->collective == PEER_ALLREDUCE) {
		free(dst);
		dst = src;
	}
	*c = (struct trib_peer_call){
		.collective = w->collective,
		.op = w->op,
		.dtype = w->type,
		.src = src,
		.dst = dst,
		.count = w->count,
		.root = w->root,
	};
}

static bool check(const struct want *w, uint32_t world, uint32_t r, const struct trib_peer_call *c)
{
	size_t size = trib_reduce_size(w->type);
	uint64_t i, out = out_count(w, world);
	char one[8];

	for (i = 0; i < out; i++) {
		store(one, w->type, 0, wanted(w, world, r, i));
		if (memcmp(one, (const char *)c->dst + i * size, size)) {
			printf("# rank %u, element %lu of %lu is wrong\n", r, i, out);
			return false;
		}
	}
	return true;
}

static bool call(struct ranks *j, const struct want *w)
{
	struct calls *c = calloc(1, sizeof(*c));
	uint32_t r, n = j->shape.world;
	bool good;

	for (r = 0; r < n; r++)
		fill(w, n, r, &c->call[r]);
	good = call_all(j, c);
	for (r = 0; r < n; r++) {
		if (w->collective != PEER_BARRIER)
			good = good && check(w, n, r, &c->call[r]);
		if (c->call[r].dst != c->call[r].src)
			free(c->call[r].dst);
		free((void *)(uintptr_t)c->call[r].src);
	}
	free(c);
	return good;
}

static const uint64_t counts[] = {0, 1, 2, 3, 7, 16, 61, 64, 127, 256, 997};

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
	};

	if (w.type == TRIB_REDUCE_I32 && w.op == OP_AVG)
		w.op = TRIB_REDUCE_SUM;
	if (w.collective > PEER_REDUCE_SCATTER)
		w.op = 0;
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
			printf("# %s of %lu, type %u, op %u, world %u, %s, %u NICs\n", name_of(&w),
			       w.count, w.type, w.op, shape->world, peer_alg_name(shape->alg),
			       shape->nics);
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
						 .nics = 1 + (uint32_t)(chance() % 2)},
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
		fill(&w[r], 2, r, &c->call[r]);
	noticed = good && !call_all(&j, c) &&
		  (j.crew[0]->worker[0].walk.wrong || j.crew[1]->worker[0].walk.wrong);
	for (r = 0; r < 2; r++) {
		free(c->call[r].dst);
		free((void *)(uintptr_t)c->call[r].src);
	}
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
	return tap_done();
}
