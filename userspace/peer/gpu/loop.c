// SPDX-License-Identifier: BSD-2-Clause
/*
 * The thread: cuts calls into segments, lets these pass the stages, sleeps until the
 * runtime, the crew, another rank or the caller has news, and ends all calls when the
 * crew has ended.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "own.h"
#include "peer/error.h"

#define POLL_MS 100

/* --- stages */

static void on_told(void *arg, const char *why)
{
	const struct gpu_told *t = arg;
	struct peer_gpu *g = t->g;

	if (why)
		gpu_fail(g, -EIO, "the GPU: %s", why);
	g->done[t->stage]++;
	gpu_ring(g);
}

/* Let segment @s, whose earlier stages are done, begin a stage. Return: 0 or -errno. */
static int begin(struct peer_gpu *g, enum gpu_stage stage, uint64_t s)
{
	const struct gpu_way *way = g->pipe;
	const struct gpu_seg *seg = &g->seg[s % PEER_GPU_SLOTS];
	/* Even without work to do, the caller's streams come first. */
	int rc = stage == GPU_FILL ? 0 : 1;

	if (way->work[stage])
		rc = way->work[stage](g, seg, s);
	if (rc < 0)
		return rc;
	g->begun[stage]++;
	if (stage == GPU_NET && !rc)
		return 0; /* the crew tells */
	if (rc == 1 && g->done[stage] == s) {
		g->done[stage]++;
		return 0;
	}
	return gpu_rc(g, g->ops->tell(g->stream[stage], on_told, &g->told[stage]));
}

/* Return: 1: a segment went on, 0, or -errno. */
static int stage_turn(struct peer_gpu *g, enum gpu_stage stage)
{
	uint64_t s = g->begun[stage];
	int rc;

	if (s >= g->done[stage - 1] || (g->pipe->may[stage] && !g->pipe->may[stage](g, s)))
		return 0;
	rc = begin(g, stage, s);
	return rc ? rc : 1;
}

/* --- calls */

static bool is_empty(const struct peer_gpu *g)
{
	return g->passed == g->begun[GPU_FILL];
}

/* The first call that is not all in segments, or NULL. */
static struct gpu_call *next_uncut(struct peer_gpu *g)
{
	struct gpu_call *k;

	pthread_mutex_lock(&g->lock);
	k = g->uncut;
	pthread_mutex_unlock(&g->lock);
	return k;
}

static void is_cut(struct peer_gpu *g, struct gpu_call *k)
{
	pthread_mutex_lock(&g->lock);
	g->uncut = k->next;
	pthread_mutex_unlock(&g->lock);
}

static void unlink_call(struct peer_gpu *g, struct gpu_call *k)
{
	struct gpu_call **link;

	pthread_mutex_lock(&g->lock);
	for (link = &g->head; *link != k; link = &(*link)->next)
		;
	*link = k->next;
	if (g->tail == &k->next)
		g->tail = link;
	pthread_mutex_unlock(&g->lock);
}

static void finish(struct peer_gpu *g, struct gpu_call *k, int status, int64_t detail)
{
	struct peer_task *token = k->token;

	k->token = NULL;
	unlink_call(g, k);
	gpu_call_free(k);
	peer_crew_finish(g->conf.crew, token, status, detail);
}

/* A call of host memory goes to the crew after all segments before it. */
static int host_turn(struct peer_gpu *g, struct gpu_call *k)
{
	int rc;

	if (g->begun[GPU_NET] != g->begun[GPU_FILL])
		return 0;
	is_cut(g, k);
	rc = peer_crew_issue(g->conf.crew, &k->c, k->shape, k->cookie);
	if (rc) {
		finish(g, k, rc, 0);
		return rc == -ENOMEM ? gpu_fail(g, rc, "out of memory") : rc;
	}
	unlink_call(g, k);
	gpu_call_free(k);
	return 1;
}

/* Streams of calls are different ones: the work of FILL follows each. */
static int follow(struct peer_gpu *g, const struct gpu_call *k)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < 2 && !rc; i++)
		if (k->event[i])
			rc = gpu_rc(g, g->ops->follow(g->stream[GPU_FILL], k->event[i]));
	return rc;
}

/* Begin the next segment of the next call. Return: 1, 0, or -errno. */
static int cut_turn(struct peer_gpu *g)
{
	struct gpu_call *k = next_uncut(g);
	uint64_t s = g->begun[GPU_FILL], n;
	int rc;

	if (!k)
		return 0;
	if (k->c.memory == PEER_MEMORY_HOST || !k->c.count)
		return host_turn(g, k);
	if (!g->agreed) {
		rc = gpu_meet(g);
		if (rc)
			return rc;
		g->agreed = true;
	}
	if (!k->way)
		gpu_cut(g, k);
	if (!is_empty(g) && (k->way != g->pipe || (k->drains && !k->begun)))
		return 0;
	g->pipe = k->way;
	if (s - g->passed >= PEER_GPU_SLOTS ||
	    (k->way->may[GPU_FILL] && !k->way->may[GPU_FILL](g, s)))
		return 0;
	rc = k->begun ? 0 : follow(g, k);
	if (rc)
		return rc;
	if (!k->begun)
		k->base = s;
	n = k->c.count - k->begun;
	n = n < k->each ? n : k->each;
	g->seg[s % PEER_GPU_SLOTS] = (struct gpu_seg){k, k->begun, n};
	k->begun += n;
	rc = begin(g, GPU_FILL, s);
	if (rc)
		return rc;
	if (k->begun == k->c.count)
		is_cut(g, k);
	return 1;
}

/*
 * The others of this machine read this rank's area to the last stage: a rank whose call is
 * done may leave, and its memory with it.
 */
static bool all_took(const struct peer_gpu *g, const struct gpu_call *k)
{
	return !g->port || !k->nseg || gpu_all_passed(g, GPU_TAKE, k->base + k->nseg - 1);
}

/* Segments that passed all stages. Return: whether there are any. */
static bool pass(struct peer_gpu *g)
{
	uint64_t before = g->passed;

	while (g->passed < g->done[GPU_TAKE])
		g->seg[g->passed++ % PEER_GPU_SLOTS].call->left--;
	return g->passed != before;
}

/* Calls whose segments passed, when the others know that. Return: whether there are any. */
static bool finish_calls(struct peer_gpu *g)
{
	struct gpu_call *k;
	bool any = false;

	for (;;) {
		pthread_mutex_lock(&g->lock);
		k = g->head != g->uncut ? g->head : NULL;
		pthread_mutex_unlock(&g->lock);
		if (!k || k->left || !gpu_notes_told(g) || !all_took(g, k))
			return any;
		finish(g, k, k->status, k->detail);
		any = true;
	}
}

/* --- the thread */

/* Return: 1: something went on, 0, or -errno: it must end. */
static int turn(struct peer_gpu *g)
{
	int stage, rc, any;

	if (g->failed)
		return g->failed;
	any = cut_turn(g);
	for (stage = GPU_SUM; any >= 0 && stage < GPU_STAGES && g->pipe; stage++) {
		rc = stage_turn(g, (enum gpu_stage)stage);
		any = rc < 0 ? rc : any | rc;
	}
	if (any < 0)
		return any;
	any |= pass(g);
	rc = gpu_notes_turn(g);
	if (rc < 0)
		return rc;
	return any | (rc > 0) | finish_calls(g);
}

static void sleep_for(struct peer_gpu *g, bool notes)
{
	struct pollfd pfd[2] = {{.fd = g->wake, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
	uint64_t events;

	if (notes && g->port) {
		if (!g->port->ops->rest(g->port))
			return;
		pfd[1].fd = g->port->ops->fd(g->port);
	}
	poll(pfd, 2, POLL_MS);
	if (pfd[0].revents && read(g->wake, &events, sizeof(events)) < 0)
		return; /* another turn finds out why it woke */
}

static bool is_stopped(struct peer_gpu *g)
{
	bool stop;

	pthread_mutex_lock(&g->lock);
	stop = g->stop;
	pthread_mutex_unlock(&g->lock);
	return stop;
}

/* This rank's own failure ends the job. */
static void end_job(struct peer_gpu *g)
{
	struct peer_crew *c = g->conf.crew;
	char text[256];

	pthread_mutex_lock(&g->fail_lock);
	snprintf(text, sizeof(text), "rank %u: %s", g->conf.rank, g->fail_text);
	pthread_mutex_unlock(&g->fail_lock);
	if (c->end)
		return;
	peer_crew_end(c, TRIB_PEER_SYSTEM, g->failed, (int)g->conf.rank, text);
	if (c->tell)
		c->tell(c->tell_arg, (int)g->conf.rank, text);
}

/* When nobody uses the calls' memory any more, they end with the verdict. */
static void give_up(struct peer_gpu *g)
{
	struct peer_crew *c = g->conf.crew;
	struct trib_peer_error verdict;
	struct gpu_call *k;
	unsigned int i;

	gpu_nccl_part(g);
	for (i = 0; i < GPU_STAGES; i++)
		if (g->stream[i])
			g->ops->wait(g->stream[i]);
	while (g->net_issued != g->net_back)
		sleep_for(g, false);
	pthread_mutex_lock(&c->lock);
	verdict = c->verdict;
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_lock(&g->lock);
	g->over = verdict.err ? verdict.err : -ECANCELED;
	pthread_mutex_unlock(&g->lock);
	while ((k = g->head))
		finish(g, k, g->over, 0);
}

void *gpu_main(void *gpu)
{
	struct peer_gpu *g = gpu;
	int rc = gpu_rc(g, g->ops->use(g->number));

	while (rc >= 0 && !g->conf.crew->end && !is_stopped(g)) {
		rc = turn(g);
		if (!rc)
			sleep_for(g, true);
	}
	if (g->failed)
		end_job(g);
	/* A port's fault has told the crew already, and so has the bootstrap. */
	give_up(g);
	return NULL;
}
