/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of all ranks of a job, each carried out by walks, all in one thread, over a
 * network in memory that delays as it likes. Values are small integers, so every type has
 * an exact oracle; of masked ones each rank sends some, in places of its own.
 */
#ifndef WALK_RIG_H
#define WALK_RIG_H

#include <endian.h>
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

/* @mem: memory of each rank's call, to be freed. */
struct calls {
	struct trib_peer_call call[WORLD_MAX];
	void *mem[WORLD_MAX][3];
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

/* Bytes that a rank's operations send by a NIC; @nic PEER_NICS_MAX: by memory. */
static uint64_t planned(const struct peer_task *t, unsigned int nic)
{
	const struct peer_lane *lane = t->plan->sched.lane;
	const struct peer_op *o;
	uint64_t n = 0;

	for (; lane < t->plan->sched.lane + t->plan->sched.nlane; lane++)
		for (o = lane->op; o < lane->op + lane->nop; o++)
			if (peer_op_sends(o) &&
			    (o->nic == PEER_NIC_LOCAL ? PEER_NICS_MAX : o->nic) == nic)
				n += o->len * (o->first && t->job.masked ? t->job.masked->size
									 : t->job.size);
	return n;
}

static uint64_t recorded(const struct peer_crew *c, unsigned int nic)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < c->nworker; i++)
		n += c->worker[i].tally.sent_by_nic[nic];
	return n;
}

/* Carry the tasks out. Each NIC sends the bytes of the schedule, for which sched_bytes.c knows formulas. */
static bool carry_out(struct ranks *j, struct calls *c)
{
	uint64_t before[WORLD_MAX][PEER_NICS_MAX + 1];
	bool good;

	for (uint32_t r = 0; r < j->shape.world; r++)
		for (unsigned int nic = 0; nic <= PEER_NICS_MAX; nic++)
			before[r][nic] = recorded(j->crew[r], nic);
	good = run_all(j, c);
	for (uint32_t r = 0; r < j->shape.world && good; r++)
		for (unsigned int nic = 0; nic <= PEER_NICS_MAX && good; nic++) {
			good = recorded(j->crew[r], nic) - before[r][nic] ==
			       planned(c->task[r], nic);
			if (!good)
				printf("# rank %u, NIC %u: wrong number of bytes\n", r, nic);
		}
	return good;
}

/* Run the tasks, and go on to those that follow them. Return: whether all ended well. */
static bool one_task_each(struct ranks *j, struct calls *c)
{
	bool good, skip = c->task[0]->skip;
	struct peer_task *then;
	uint32_t r;

	for (r = 0; r < j->shape.world; r++)
		if (!c->task[r]->ready && !c->task[r]->waits)
			peer_task_prepare(c->task[r]);
	memset(c->begun, 0, sizeof(c->begun));
	memset(c->over, 0, sizeof(c->over));
	good = skip || carry_out(j, c);
	end_all(j, c);
	for (r = 0; r < j->shape.world; r++) {
		then = c->task[r]->then;
		good = good && c->task[r]->skip == skip;
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
	unsigned int shift; /* elements before the first one, in both buffers */
	bool words;
	uint8_t nm;
};

static size_t size_of(const struct want *w)
{
	return w->words ? 8 : trib_reduce_size(w->type);
}

static uint64_t word(uint32_t r, uint64_t i)
{
	uint64_t h = (r + 3) * 0x9e3779b97f4a7c15ULL ^ (i + 1) * 0x94d049bb133111ebULL;

	return h ^ h >> 31;
}

/* Whether rank @r sends element @i: each group's M begin somewhere, and go round. */
static bool sends(uint8_t nm, uint32_t r, uint64_t i)
{
	uint32_t n = trib_nm_group(nm), first = (uint32_t)(word(r, i / n) % n);

	return (i % n + n - first) % n < trib_nm_kept(nm);
}

static double masked_sum(uint8_t nm, uint32_t world, uint64_t i)
{
	double v = 0;

	for (uint32_t r = 0; r < world; r++)
		if (sends(nm, r, i))
			v += value(r, i, 0);
	return v;
}

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
	v = w->nm ? masked_sum(w->nm, world, i)
		  : oracle(world, w->collective == PEER_REDUCE_SCATTER ? r * w->count + i : i, op);
	if (w->op != OP_AVG)
		return v;
	return w->type == TRIB_REDUCE_F64 ? v / world : (double)((float)v / (float)world);
}

static void fill_words(const struct want *w, uint32_t r, uint64_t *words)
{
	for (uint64_t i = 0; i < w->count; i++)
		words[i] = word(r, i);
}

/* Mask words, in memory to be freed, and the values that they select. */
static void *fill_masked(const struct want *w, uint32_t r, float *values)
{
	uint64_t units = (w->count + 31) / 32, i;
	uint32_t *mask = calloc(units + 1, sizeof(*mask));

	for (i = 0; i < units * 32; i++)
		if (sends(w->nm, r, i)) {
			mask[i / 32] |= htole32(1u << i % 32);
			*values++ = i < w->count ? (float)value(r, i, 0) : 0;
		}
	return mask;
}

/* Memory of bytes that no result has. */
static char *buffer(size_t bytes, void **mem, size_t shift)
{
	*mem = malloc(bytes + 256);
	memset(*mem, 0x5a, bytes + 256);
	return (char *)*mem + shift;
}

static void fill(const struct want *w, uint32_t world, uint32_t r, struct trib_peer_call *c,
		 void *mem[3])
{
	size_t size = size_of(w), shift = w->shift * size;
	uint64_t i, in = in_count(w, world), out = out_count(w, world);
	bool reduces = w->collective <= PEER_REDUCE_SCATTER;
	char *src = buffer(in * size, &mem[0], shift), *dst = buffer(out * size, &mem[1], shift);
	void *mask = w->nm ? fill_masked(w, r, (float *)src) : NULL;

	mem[2] = mask;

	if (w->words)
		fill_words(w, r, (uint64_t *)src);
	for (i = 0; i < in && !w->words && !w->nm; i++)
		store(src, w->type, i, value(r, i, reduces ? w->op : 0));
	if (w->collective == PEER_ALLGATHER)
		memcpy(dst + r * w->count * size, src, w->count * size);
	else if (w->collective == PEER_BROADCAST && r == w->root)
		memcpy(dst, src, w->count * size);
	if (w->in_place && reduces)
		dst = src + (w->collective == PEER_ALLREDUCE ? 0 : r * w->count * size);
	*c = (struct trib_peer_call){
		.collective = w->collective,
		.op = w->op,
		.dtype = w->type,
		.src = src,
		.dst = dst,
		.count = w->count,
		.root = w->root,
		.words = w->words,
		.nm = w->nm,
		.mask = mask,
	};
}

static bool check_words(const struct want *w, uint32_t world, const uint64_t *got)
{
	uint64_t i, sum;

	for (i = 0; i < w->count; i++) {
		sum = 0;
		for (uint32_t r = 0; r < world; r++)
			sum += word(r, i);
		if (got[i] != sum) {
			printf("# word %lu of %lu is wrong\n", i, w->count);
			return false;
		}
	}
	return true;
}

static bool check(const struct want *w, uint32_t world, uint32_t r, const struct trib_peer_call *c)
{
	size_t size = size_of(w);
	uint64_t i, out = out_count(w, world);
	char one[8];

	if (w->words)
		return check_words(w, world, c->dst);

	for (i = 0; i < out; i++) {
		store(one, w->type, 0, wanted(w, world, r, i));
		if (memcmp(one, (const char *)c->dst + i * size, size)) {
			printf("# rank %u, element %lu of %lu is wrong\n", r, i, out);
			return false;
		}
	}
	for (i = 0; i < 64 && !w->in_place; i++)
		if (((const char *)c->dst)[out * size + i] != 0x5a) {
			printf("# rank %u wrote behind the result\n", r);
			return false;
		}
	return true;
}

static void free_call(struct calls *c, uint32_t r)
{
	for (int i = 0; i < 3; i++)
		free(c->mem[r][i]);
}

static bool call(struct ranks *j, const struct want *w)
{
	struct calls *c = calloc(1, sizeof(*c));
	uint32_t r, n = j->shape.world;
	bool good;

	for (r = 0; r < n; r++)
		fill(w, n, r, &c->call[r], c->mem[r]);
	good = call_all(j, c);
	for (r = 0; r < n; r++) {
		if (w->collective != PEER_BARRIER)
			good = good && check(w, n, r, &c->call[r]);
		free_call(c, r);
	}
	free(c);
	return good;
}

#endif /* WALK_RIG_H */
