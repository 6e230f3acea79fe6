// SPDX-License-Identifier: BSD-2-Clause
/* The simulated network of worker_world.h, and its oracle. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker_world.h"

#define ELEMENTS 1000
#define SEGMENT 512
/* Means of gradients of up to six workers are whole numbers with this factor. */
#define STEP 60
/* After this number of turns at one instant, something runs in circles. */
#define TURNS 100000

enum event_kind {
	EVENT_PACKET,
	EVENT_GRADIENT,
};

struct world_event {
	struct world_event *next;
	uint64_t at;
	enum event_kind kind;
	int to;
	unsigned int life;
	uint64_t version;
	size_t n;
	uint8_t packet[];
};

void world_fail(struct world *world, const char *fmt, ...)
{
	va_list ap;

	if (*world->bad)
		return;
	va_start(ap, fmt);
	vsnprintf(world->bad, sizeof(world->bad), fmt, ap);
	va_end(ap);
}

/* ---- the oracle ---- */

static float gradient(unsigned int worker, uint64_t base, unsigned int i)
{
	unsigned int v = (unsigned int)base, life = (unsigned int)(base >> 32);

	return (float)(STEP * (int)((worker * 7 + v * 13 + life * 5 + i * 3) % 11) - STEP * 5);
}

static const float *model_of(const struct world *world, uint64_t version)
{
	for (unsigned int i = world->nmodel; i--;)
		if (world->model[i].version == version)
			return world->model[i].values;
	return NULL;
}

static void remember(struct world *world, uint64_t version, const float *values)
{
	struct world_model *m;

	if (world->nmodel == WORLD_VERSIONS) {
		world_fail(world, "too many versions");
		return;
	}
	m = &world->model[world->nmodel++];
	m->version = version;
	m->values = malloc(ELEMENTS * sizeof(float));
	memcpy(m->values, values, ELEMENTS * sizeof(float));
}

static void check_same(struct world *world, uint64_t version, const float *values, const char *who)
{
	const float *right = model_of(world, version);

	if (!right)
		world_fail(world, "%s has version %llx, which the PS never made", who,
			   (unsigned long long)version);
	else if (memcmp(right, values, ELEMENTS * sizeof(float)))
		world_fail(world, "%s has a wrong version %llx", who, (unsigned long long)version);
}

/* The PS made a version: check which gradients it has, and its values. */
static void on_version(void *ctx, const struct nps_job *job)
{
	struct world *world = ctx;
	uint64_t now = nps_version(job), old = now - 1;
	const float *before = model_of(world, old);
	float right[ELEMENTS];
	int n = 0;

	if (!before) {
		world_fail(world, "a version of nothing");
		return;
	}
	for (unsigned int i = 0; i < job->spec.nworker; i++) {
		const struct nps_guest *g = &job->guests[i];

		n += g->got;
		if (!g->got)
			continue;
		if (job->spec.mode == NDN_MODE_SYNC && g->base != old)
			world_fail(world, "a version contains a gradient of another version");
		if (g->base >> 32 != old >> 32)
			world_fail(world, "a version contains a gradient from before a restart");
	}
	for (unsigned int e = 0; e < ELEMENTS; e++) {
		float sum = 0;

		for (unsigned int i = 0; i < job->spec.nworker; i++)
			if (job->guests[i].got)
				sum += gradient(i, job->guests[i].base, e);
		right[e] = before[e] - sum / (float)n;
	}
	remember(world, now, right);
	check_same(world, now, job->model.values, "the PS");
}

static int on_save(void *ctx, const struct nps_job *job)
{
	struct world *world = ctx;

	memcpy(world->saved, job->model.values, ELEMENTS * sizeof(float));
	world->saved_n = job->model.n;
	return 0;
}

/* ---- events ---- */

static void add_event(struct world *world, struct world_event *e)
{
	struct world_event **at = &world->events;

	while (*at && (*at)->at <= e->at)
		at = &(*at)->next;
	e->next = *at;
	*at = e;
}

static void send_one(struct world *world, int to, const uint8_t *p, size_t n)
{
	struct world_event *e;

	if (ndn_random_between(&world->random, 1, 1000) <= world->loss)
		return;
	e = calloc(1, sizeof(*e) + n);
	e->at = world->now + ndn_random_between(&world->random, world->late / 10, world->late);
	e->kind = EVENT_PACKET;
	e->to = to;
	e->n = n;
	memcpy(e->packet, p, n);
	add_event(world, e);
}

static void send_to(struct world *world, int from, int to, enum ndn_name_kind what,
		    const struct ndn_name_parts *parts, const uint8_t *p, size_t n)
{
	if (world->drop && world->drop(world, from, to, what, parts))
		return;
	send_one(world, to, p, n);
	if (ndn_random_between(&world->random, 1, 1000) <= world->dup)
		send_one(world, to, p, n);
}

/* ---- the router ---- */

static int find_worker(struct world *world, struct ndn_bytes gpu)
{
	for (unsigned int i = 0; i < world->nworker; i++)
		if (gpu.n == strlen(world->worker[i].name) &&
		    !memcmp(gpu.p, world->worker[i].name, gpu.n))
			return (int)i;
	return WORLD_PS;
}

/* Name of the Data that answers such an Interest. */
static enum ndn_name_kind answer_to(enum ndn_name_kind what)
{
	if (what == NDN_IS_ASK)
		return NDN_IS_NEWEST;
	return what == NDN_IS_INSERT ? NDN_IS_ACK : what;
}

static void from_worker(void *ctx, const uint8_t *packet, size_t n)
{
	struct world_worker *me = ctx;
	struct world *world = me->world;
	struct ndn_name_parts parts = {0};
	enum ndn_name_kind what;
	struct ndn_packet p;

	if (ndn_packet_decode(&p, packet, n)) {
		world_fail(world, "a worker sent no packet");
		return;
	}
	if (p.type == TRIB_NDN_DATA) {
		what = ndn_job_match_gpu(&world->names, &p.data.name, &parts);
	} else {
		what = ndn_job_match_ps(&world->names, &p.interest.name, &parts);
		me->ask[me->nask++ % WORLD_ASKS] =
			(struct world_ask){answer_to(what), parts.version, parts.segment};
		if (what == NDN_IS_INSERT)
			me->subscribed = true;
		if (what == NDN_IS_DELETE)
			me->subscribed = false;
	}
	send_to(world, me->index, WORLD_PS, what, &parts, packet, n);
}

static bool has_asked(struct world_worker *me, enum ndn_name_kind what,
		      const struct ndn_name_parts *parts)
{
	for (unsigned int i = 0; i < WORLD_ASKS; i++) {
		struct world_ask *a = &me->ask[i];

		if (a->what != what)
			continue;
		if (what == NDN_IS_MODEL &&
		    (a->version != parts->version || a->segment != parts->segment))
			continue;
		a->what = NDN_IS_OTHER;
		return true;
	}
	return false;
}

static void from_ps(void *ctx, const void *packet, size_t n)
{
	struct world *world = ctx;
	struct ndn_name_parts parts = {0};
	enum ndn_name_kind what;
	struct ndn_packet p;
	int to;

	if (ndn_packet_decode(&p, packet, n)) {
		world_fail(world, "the PS sent no packet");
		return;
	}
	if (p.type == TRIB_NDN_INTEREST) {
		what = ndn_job_match_gpu(&world->names, &p.interest.name, &parts);
		to = find_worker(world, parts.gpu);
		if (to != WORLD_PS)
			send_to(world, WORLD_PS, to, what, &parts, packet, n);
		return;
	}
	what = ndn_job_match_ps(&world->names, &p.data.name, &parts);
	for (unsigned int i = 0; i < world->nworker; i++) {
		struct world_worker *me = &world->worker[i];

		if (what == NDN_IS_START && find_worker(world, parts.gpu) != (int)i)
			continue;
		if (has_asked(me, what, &parts) || (what == NDN_IS_MODEL && me->subscribed))
			send_to(world, WORLD_PS, (int)i, what, &parts, packet, n);
	}
}

/* ---- the caller of a worker ---- */

static void plan_gradient(struct world *world, struct world_worker *me)
{
	struct world_event *e = calloc(1, sizeof(*e));

	e->at = world->now +
		ndn_random_between(&world->random, me->compute * 4 / 5, me->compute * 6 / 5);
	e->kind = EVENT_GRADIENT;
	e->to = me->index;
	e->life = me->life;
	e->version = me->version;
	add_event(world, e);
}

static void look(struct world *world, struct world_worker *me)
{
	float values[ELEMENTS];
	uint64_t version = 0;
	bool last = false;
	int rc;

	if (!me->up || me->busy || me->done || me->over ||
	    (!me->taken && !ndn_worker_has_task(&me->w)))
		return;
	rc = ndn_worker_begin(&me->w, world->now, values, &version, &last);
	if (rc == -EAGAIN)
		return;
	if (rc) {
		me->over = rc;
		return;
	}
	if (version <= me->version)
		world_fail(world, "%s goes back", me->name);
	check_same(world, version, values, me->name);
	me->taken++;
	me->version = version;
	me->done = last;
	me->busy = !last;
	if (!last)
		plan_gradient(world, me);
}

static void give(struct world *world, struct world_worker *me, uint64_t version)
{
	float values[ELEMENTS];
	int rc;

	for (unsigned int e = 0; e < ELEMENTS; e++)
		values[e] = gradient((unsigned int)me->index, version, e);
	me->busy = false;
	rc = ndn_worker_give(&me->w, world->now, version, values);
	if (rc == -EINVAL || rc == -ENOMEM)
		world_fail(world, "a gradient was refused: %d", rc);
	look(world, me);
}

/* ---- start and end of workers ---- */

void world_init(struct world *world, uint64_t seed, unsigned int nworker)
{
	struct ndn_name_buf job;
	struct ndn_name name;

	memset(world, 0, sizeof(*world));
	world->now = NDN_SEC;
	world->random.state = seed;
	world->late = NDN_MS;
	world->nworker = nworker;
	world->ps_key = ndn_key_sha256;
	world->worker_key = ndn_key_sha256;
	world->saved = calloc(ELEMENTS, sizeof(float));
	ndn_name_parse(&job, "/ps/job");
	name = ndn_name_of(&job);
	ndn_job_names_init(&world->names, &name, NULL);
	for (unsigned int i = 0; i < nworker; i++) {
		struct world_worker *me = &world->worker[i];

		me->world = world;
		me->index = (int)i;
		me->compute = 5 * NDN_MS;
		snprintf(me->name, sizeof(me->name), "w%u", i);
		world->nps_worker[i].len = (uint8_t)strlen(me->name);
		memcpy(world->nps_worker[i].name, me->name, 2);
	}
	world->spec = (struct nps_spec){
		.title = "job",
		.name = job,
		.markers = ndn_markers_default,
		.mode = NDN_MODE_SYNC,
		.elements = ELEMENTS,
		.segment = SEGMENT,
		.lease_ms = 2000,
		.rto_ms = 40,
		.tree_job = NDN_NO_TREE,
		.versions = 10,
		.every = 2,
		.rate = 10000000,
		.lr = 1,
		.workers = world->nps_worker,
		.nworker = nworker,
		.least = 1,
	};
}

void world_start_worker(struct world *world, unsigned int i)
{
	struct world_worker *me = &world->worker[i];
	struct ndn_worker_config config = {
		.gpu = {(const uint8_t *)me->name, strlen(me->name)},
		.sign = world->worker_key,
		.verify = world->ps_key,
		.rto = 40 * NDN_MS,
		.seed = ndn_random_next(&world->random),
		.send = from_worker,
		.ctx = me,
	};

	ndn_worker_init(&me->w, &config);
	me->up = true;
	me->busy = false;
	me->taken = 0;
	me->version = 0;
	ndn_worker_want(&me->w, world->now);
}

void world_stop_worker(struct world *world, unsigned int i)
{
	struct world_worker *me = &world->worker[i];

	if (!me->up)
		return;
	me->up = false;
	me->life++;
	ndn_worker_free(&me->w);
	(void)world;
}

void world_start_ps(struct world *world)
{
	static const struct nps_ops ops = {
		.send = from_ps,
		.save = on_save,
		.version = on_version,
	};
	struct nps_model m = {.n = world->saved_n, .values = malloc(ELEMENTS * sizeof(float))};
	char why[128] = "";

	world->spec.key = &world->ps_key;
	world->spec.verify = &world->worker_key;
	memcpy(m.values, world->saved, ELEMENTS * sizeof(float));
	world->incarnation++;
	remember(world, (uint64_t)world->incarnation << 32 | m.n, m.values);
	world->ps = nps_new(&ops, world, ndn_random_next(&world->random));
	if (nps_add(world->ps, &world->spec, world->incarnation, &m, world->now, why, sizeof(why)))
		world_fail(world, "the PS refuses its job: %s", why);
	world->ps_next = world->now;
}

void world_stop_ps(struct world *world)
{
	nps_free(world->ps);
	world->ps = NULL;
}

void world_free(struct world *world)
{
	struct world_event *e;

	while ((e = world->events)) {
		world->events = e->next;
		free(e);
	}
	for (unsigned int i = 0; i < world->nworker; i++)
		world_stop_worker(world, i);
	if (world->ps)
		world_stop_ps(world);
	for (unsigned int i = 0; i < world->nmodel; i++)
		free(world->model[i].values);
	free(world->saved);
}

/* ---- time ---- */

static void happen(struct world *world, struct world_event *e)
{
	struct world_worker *me = e->to < 0 ? NULL : &world->worker[e->to];

	if (e->kind == EVENT_GRADIENT) {
		if (me->up && me->life == e->life)
			give(world, me, e->version);
	} else if (me) {
		world_inject(world, (unsigned int)e->to, e->packet, e->n);
	} else if (world->ps) {
		nps_rx(world->ps, e->packet, e->n, world->now);
		world->ps_next = world->now;
	}
	free(e);
}

void world_inject(struct world *world, unsigned int i, const void *packet, size_t n)
{
	struct world_worker *me = &world->worker[i];
	uint8_t *copy;

	if (!me->up)
		return;
	/* A buffer of the exact size, so that ASan sees reads beyond it. */
	copy = malloc(n ? n : 1);
	memcpy(copy, packet, n);
	ndn_worker_receive(&me->w, world->now, copy, n);
	free(copy);
	look(world, me);
}

static uint64_t next_time(const struct world *world)
{
	uint64_t next = world->events ? world->events->at : NDN_NEVER, t;

	if (world->ps && world->ps_next < next)
		next = world->ps_next;
	for (unsigned int i = 0; i < world->nworker; i++) {
		if (!world->worker[i].up)
			continue;
		t = ndn_worker_next(&world->worker[i].w);
		if (t < next)
			next = t;
	}
	return next < world->now ? world->now : next;
}

static void turn(struct world *world)
{
	struct world_event *e;

	while ((e = world->events) && e->at <= world->now) {
		world->events = e->next;
		happen(world, e);
	}
	if (world->ps && world->ps_next <= world->now)
		world->ps_next = nps_run(world->ps, world->now);
	for (unsigned int i = 0; i < world->nworker; i++) {
		struct world_worker *me = &world->worker[i];

		if (me->up && ndn_worker_next(&me->w) <= world->now) {
			ndn_worker_run(&me->w, world->now);
			look(world, me);
		}
	}
	if (world->at)
		world->at(world);
}

static bool all_done(const struct world *world)
{
	for (unsigned int i = 0; i < world->nworker; i++) {
		const struct world_worker *me = &world->worker[i];

		if (me->up && (!me->done || me->w.state != NDN_WORKER_IDLE))
			return false;
	}
	return true;
}

static void go_on(struct world *world, uint64_t end, bool until_done)
{
	unsigned int turns = 0;
	uint64_t next;

	while (!*world->bad && world->now < end) {
		if (until_done && all_done(world))
			return;
		next = next_time(world);
		turns = next == world->now ? turns + 1 : 0;
		if (turns == TURNS) {
			world_fail(world, "time stands still");
			return;
		}
		world->now = next < end ? next : end;
		turn(world);
	}
}

bool world_run(struct world *world, uint64_t ns)
{
	go_on(world, world->now + ns, true);
	return !*world->bad && all_done(world);
}

void world_pass(struct world *world, uint64_t ns)
{
	go_on(world, world->now + ns, false);
}
