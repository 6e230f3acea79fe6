// SPDX-License-Identifier: BSD-2-Clause
/* A simulated network for the PS: time, router, and the checks of versions. */
#include "ps_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PS 1000 /* place of an event that is no worker's */
#define TICK WORLD_TICK
#define DELAY (NDN_MS / 2)

struct world_event {
	uint64_t at;
	unsigned int to;
	bool tick;
	uint64_t life;
	size_t n;
	uint8_t pkt[WORLD_PACKET];
};

void world_wrong(struct world *w, const char *what)
{
	if (w->wrong++ < 5)
		printf("# at %.3f s: %s\n", (double)w->now / 1e9, what);
}

/* ---- time ---- */

static struct world_event *event_add(struct world *w, uint64_t at)
{
	if (w->nevent == w->room) {
		w->room = w->room ? 2 * w->room : 256;
		w->event = realloc(w->event, w->room * sizeof(*w->event));
	}
	w->event[w->nevent] = (struct world_event){.at = at};
	return &w->event[w->nevent++];
}

static void deliver(struct world *w, unsigned int to, const uint8_t *pkt, size_t n)
{
	unsigned int copies = 1 + (ndn_random_between(&w->random, 1, 100) <= w->copies);

	w->sent++;
	if (ndn_random_between(&w->random, 1, 100) <= w->loss || n > WORLD_PACKET)
		return;
	while (copies--) {
		struct world_event *e =
			event_add(w, w->now + DELAY + ndn_random_between(&w->random, 0, w->jitter));

		e->to = to;
		e->n = n;
		memcpy(e->pkt, pkt, n);
	}
}

void world_tick_add(struct world *w, unsigned int i)
{
	struct world_event *e = event_add(w, w->now + TICK);

	e->to = i;
	e->tick = true;
	e->life = w->worker[i].life;
}

/* ---- the router ---- */

static int worker_named(const struct world *w, struct ndn_bytes gpu)
{
	unsigned int i;

	for (i = 0; i < w->nworker; i++)
		if (gpu.n == w->id[i].len && !memcmp(gpu.p, w->id[i].name, gpu.n))
			return (int)i;
	return -1;
}

/*
 * From the PS: Interests go to the worker in their name, Data to pending
 * Interests.
 */
static void from_ps(void *ctx, const void *data, size_t n)
{
	struct world *w = ctx;
	const uint8_t *pkt = data;
	bool to[WORLD_WORKERS] = {0};
	struct ndn_packet p;
	struct ndn_name_parts parts;
	unsigned int i, j;

	if (ndn_packet_decode(&p, pkt, n)) {
		world_wrong(w, "the PS sent no packet");
		return;
	}
	if (p.type == TRIB_NDN_INTEREST) {
		for (j = 0; j < w->njob; j++) {
			int at;

			if (!ndn_job_match_gpu(&w->job[j].names, &p.interest.name, &parts))
				continue;
			at = worker_named(w, parts.gpu);
			if (at >= 0)
				to[at] = true;
		}
	} else {
		for (i = 0; i < 256; i++) {
			struct ndn_name a = ndn_name_of(&w->ask[i].name);

			if (w->ask[i].until < w->now ||
			    (w->ask[i].prefix ? !ndn_name_is_prefix(&a, &p.data.name)
					      : !ndn_name_is_equal(&a, &p.data.name)))
				continue;
			to[w->ask[i].who] = true;
			w->ask[i].until = 0;
		}
		for (j = 0; j < w->njob; j++) {
			enum ndn_name_kind what =
				ndn_job_match_ps(&w->job[j].names, &p.data.name, &parts);

			if (what != NDN_IS_MODEL && what != NDN_IS_ACK)
				continue;
			for (i = 0; i < w->nworker; i++)
				to[i] |= w->job[j].subscribed[i] > w->now;
		}
	}
	for (i = 0; i < w->nworker; i++)
		if (to[i])
			deliver(w, i, pkt, n);
}

void world_from_worker(struct world *w, unsigned int i, uint8_t *pkt, size_t n)
{
	struct ndn_name_parts parts;
	struct ndn_packet p;
	unsigned int j, at = 0;

	if (ndn_packet_decode(&p, pkt, n)) {
		world_wrong(w, "a worker sent no packet");
		return;
	}
	if (p.type == TRIB_NDN_INTEREST) {
		while (at < 255 && w->ask[at].until >= w->now)
			at++;
		ndn_name_copy(&w->ask[at].name, &p.interest.name);
		w->ask[at].prefix = p.interest.can_be_prefix;
		w->ask[at].who = i;
		w->ask[at].until = w->now + 200 * NDN_MS;
		for (j = 0; j < w->njob; j++) {
			switch (ndn_job_match_ps(&w->job[j].names, &p.interest.name, &parts)) {
			case NDN_IS_INSERT:
				w->job[j].subscribed[i] = w->now + WORLD_LEASE_MS * NDN_MS;
				break;
			case NDN_IS_DELETE:
				w->job[j].subscribed[i] = 0;
				break;
			default:
				break;
			}
		}
	} else if (w->forge) {
		w->forge(w, pkt, n);
	}
	deliver(w, PS, pkt, n);
}

/* ---- the PS's world ---- */

static int on_save(void *ctx, const struct nps_job *job)
{
	struct world *w = ctx;
	unsigned int j;

	for (j = 0; j < w->njob; j++) {
		struct world_disk *d = &w->job[j].disk;

		if (strcmp(w->job[j].spec.title, job->spec.title))
			continue;
		d->n = job->model.n;
		memcpy(d->values, job->model.values, job->spec.elements * sizeof(float));
		if (job->model.momentum)
			memcpy(d->momentum, job->model.momentum,
			       job->spec.elements * sizeof(float));
	}
	return 0;
}

/* Compute the expected version from the workers' gradients. */
static void on_version(void *ctx, const struct nps_job *job)
{
	struct world *w = ctx;
	struct world_job *j = &w->job[0];
	uint32_t n = job->model.n;
	unsigned int g, i, ngot = 0;
	float *was, *is, *m;

	while (strcmp(j->spec.title, job->spec.title))
		j++;
	was = j->line[1][n - 1].values;
	is = j->line[1][n].values;
	m = j->line[1][n].momentum;
	memcpy(m, j->line[1][n - 1].momentum, sizeof(j->line[1][n].momentum));
	j->line[1][n].v = nps_version(job);
	j->made++;
	for (g = 0; g < job->spec.nworker; g++) {
		const struct nps_guest *guest = &job->guests[g];
		int at = worker_named(w,
				      (struct ndn_bytes){guest->worker->name, guest->worker->len});

		if (job->spec.mode == NDN_MODE_SYNC && guest->member && !guest->got)
			world_wrong(w, "a version without a member's gradient");
		if (!guest->got)
			continue;
		ngot++;
		if (guest->asked <= j->taken[at])
			world_wrong(w, "a gradient counts twice");
		j->taken[at] = guest->asked;
	}
	j->gradients += ngot;
	j->alone += ngot == 1;
	for (i = 0; i < job->spec.elements; i++) {
		float sum = 0;

		for (g = 0; g < job->spec.nworker; g++)
			if (job->guests[g].got)
				sum += world_gradient(g, (uint32_t)job->guests[g].base, i);
		m[i] = job->spec.momentum * m[i] + sum / (float)ngot;
		is[i] = was[i] - job->spec.lr * m[i];
	}
	if (!ngot || memcmp(is, job->model.values, job->spec.elements * sizeof(float)))
		world_wrong(w, "the PS made another version");
}

static const struct nps_ops ops = {
	.send = from_ps,
	.save = on_save,
	.version = on_version,
};

/* ---- for tests ---- */

struct world *world_new(uint64_t seed, unsigned int nworker, unsigned int njob)
{
	struct world *w = calloc(1, sizeof(*w));
	unsigned int i, j;
	char text[40];

	w->random.state = seed * 7919 + 1;
	w->now = NDN_SEC;
	w->nworker = nworker;
	w->njob = njob;
	w->jitter = NDN_MS;
	w->key = ndn_key_sha256;
	for (i = 0; i < nworker; i++) {
		struct world_worker *k = &w->worker[i];

		k->w = w;
		snprintf(k->name, sizeof(k->name), "gpu%u", i);
		k->id.len = (uint8_t)strlen(k->name);
		memcpy(k->id.name, k->name, k->id.len);
		w->id[i] = k->id;
		k->key = ndn_key_sha256;
		k->speed = (100 + 30 * i) * NDN_MS;
		world_worker_start(w, i);
	}
	for (j = 0; j < njob; j++) {
		struct nps_spec *s = &w->job[j].spec;
		struct ndn_name name;

		snprintf(s->title, sizeof(s->title), "job%u", j);
		snprintf(text, sizeof(text), "/ps/job%u", j);
		ndn_name_parse(&s->name, text);
		name = ndn_name_of(&s->name);
		ndn_job_names_init(&w->job[j].names, &name, NULL);
		s->markers = ndn_markers_default;
		s->elements = WORLD_ELEMENTS;
		s->segment = 512;
		s->lease_ms = WORLD_LEASE_MS;
		s->rto_ms = WORLD_RTO_MS;
		s->tree_job = NDN_NO_TREE;
		s->versions = 8;
		s->every = 3;
		s->least = 1;
		s->lr = 0.5f;
		s->key = &w->key;
		s->verify = &w->key;
		s->workers = w->id;
		s->nworker = nworker;
	}
	return w;
}

struct nps_spec *world_spec(struct world *w, unsigned int job)
{
	return &w->job[job].spec;
}

void world_start(struct world *w)
{
	unsigned int j, i;
	char why[200];

	w->ps = nps_new(&ops, w, ndn_random_next(&w->random));
	for (j = 0; j < w->njob; j++) {
		struct world_job *job = &w->job[j];
		size_t size = job->spec.elements * sizeof(float);
		struct nps_model m = {.n = job->disk.n};

		job->disk.incarnation++;
		m.values = malloc(size);
		memcpy(m.values, job->disk.values, size);
		if (job->spec.momentum > 0) {
			m.momentum = malloc(size);
			memcpy(m.momentum, job->disk.momentum, size);
		}
		memcpy(job->line[0], job->line[1], sizeof(job->line[0]));
		for (i = 0; i <= WORLD_VERSIONS_MAX; i++)
			job->line[1][i].v = 0;
		job->line[1][m.n].v = (uint64_t)job->disk.incarnation << 32 | m.n;
		memcpy(job->line[1][m.n].values, m.values, size);
		memcpy(job->line[1][m.n].momentum, job->disk.momentum, size);
		if (nps_add(w->ps, &job->spec, job->disk.incarnation, &m, w->now, why, sizeof(why)))
			world_wrong(w, why);
	}
}

void world_stop(struct world *w)
{
	nps_free(w->ps);
	w->ps = NULL;
}

void world_worker_kill(struct world *w, unsigned int i)
{
	w->worker[i].up = false;
}

void world_worker_start(struct world *w, unsigned int i)
{
	struct world_worker *k = &w->worker[i];

	k->up = true;
	k->life++;
	k->job = -1;
	k->step = 0;
	k->v = k->base = k->bound = k->ready_at = k->held = 0;
	k->training = 0;
	memset(&k->in, 0, sizeof(k->in));
	world_tick_add(w, i);
}

bool world_over(const struct world *w)
{
	unsigned int i;

	if (!w->ps || !nps_ended(w->ps))
		return false;
	for (i = 0; i < w->nworker; i++)
		if (w->worker[i].up && w->worker[i].job >= 0)
			return false;
	return true;
}

static void event_take(struct world *w, unsigned int at)
{
	struct world_event e = w->event[at];
	struct ndn_packet p;

	w->event[at] = w->event[--w->nevent];
	if (e.to == PS) {
		if (w->ps)
			nps_rx(w->ps, e.pkt, e.n, w->now);
		return;
	}
	if (!w->worker[e.to].up)
		return;
	if (e.tick) {
		if (e.life != w->worker[e.to].life)
			return;
		world_worker_tick(&w->worker[e.to]);
		world_tick_add(w, e.to);
		return;
	}
	if (ndn_packet_decode(&p, e.pkt, e.n))
		abort();
	if (p.type == TRIB_NDN_INTEREST)
		world_worker_interest(&w->worker[e.to], &p.interest.name);
	else
		world_worker_data(&w->worker[e.to], &p.data);
}

/* Run the next event, if it is due before @until. */
static bool step(struct world *w, uint64_t until)
{
	uint64_t next = w->ps ? nps_run(w->ps, w->now) : NDN_NEVER;
	unsigned int i, at = 0;

	for (i = 0; i < w->nevent; i++)
		if (w->event[i].at < w->event[at].at)
			at = i;
	if (w->nevent && w->event[at].at <= next) {
		if (w->event[at].at > until)
			return false;
		if (w->event[at].at > w->now)
			w->now = w->event[at].at;
		event_take(w, at);
		return true;
	}
	if (next > until)
		return false;
	if (next > w->now)
		w->now = next;
	return true;
}

void world_run_until(struct world *w, uint64_t until)
{
	while (step(w, until))
		;
	w->now = until;
}

bool world_run(struct world *w, uint64_t limit)
{
	uint64_t until = w->now + limit;

	while (!world_over(w))
		if (!step(w, until))
			return false;
	return true;
}

void world_free(struct world *w)
{
	nps_free(w->ps);
	free(w->event);
	free(w);
}
