// SPDX-License-Identifier: BSD-2-Clause
/* trib-ps ndn: a rank of an aggregation job, in a thread that may wait. */
#include "ndn_sums.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ps/program/process.h"
#include "lib/ndn/rounds.h"

/* Pause between rounds that failed. */
#define PAUSE_NS (20 * NDN_MS)

/* Outcome of a round, from the thread to the loop. */
enum outcome {
	NOTHING = 0,
	SUM,   /* @sum belongs to @version */
	LOST,  /* a round of @version failed, and other ranks may have a sum */
	NEVER, /* every later try would fail, too */
};

/**
 * struct ps_sums - the PS in an aggregation job
 * @tree:    owned by the thread.
 * @sum:     owned by the thread until @out is set, then by the loop.
 * @job:     owned by the loop.
 * @title:   name of the job, for the log.
 * @count:   number of values.
 * @workers: ranks other than this one.
 * @lock:    protects the fields below.
 * @changed: signals that the loop wants something, or has taken the outcome.
 * @version: version that the loop wants; 0: none.
 * @out:     outcome of @version.
 * @err:     errno of NEVER.
 * @stop:    tells the thread to end.
 */
struct ps_sums {
	struct trib_rounds tree;
	float *sum;
	struct nps_job *job;
	const char *title;
	size_t count;
	int wake;
	pthread_t thread;
	unsigned int workers;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t version;
	enum outcome out;
	int err;
	bool stop;
};

/* --- the thread */

/* Return: whether every later try would fail, too. */
static bool is_final(int rc)
{
	return rc == -EPROTO || rc == -ENOENT || rc == -EACCES || rc == -EINVAL || rc == -EMSGSIZE;
}

static enum outcome attach(struct ps_sums *t)
{
	int rc = trib_rounds_attach(&t->tree);

	if (!rc) {
		t->workers = (unsigned int)trib_world(t->tree.t) - 1;
		ps_log("%s: rank %d of aggregation job %u, with %u workers", t->title,
		       trib_rank(t->tree.t), t->tree.number, t->workers);
		return NOTHING;
	}
	ps_log("%s: aggregation job: %s", t->title, t->tree.error);
	t->err = rc;
	return is_final(rc) ? NEVER : NOTHING;
}

static enum outcome round_of(struct ps_sums *t, uint64_t version)
{
	int rc;

	if (!t->tree.t)
		return attach(t);
	memset(t->sum, 0, t->count * sizeof(*t->sum));
	rc = trib_rounds_round(&t->tree, version, t->sum, t->count);
	if (!rc)
		return SUM;
	ps_log("%s: version %u: no sum: %s", t->title, (uint32_t)version, t->tree.error);
	return t->tree.t ? NOTHING : LOST;
}

static void *drive(void *arg)
{
	const struct timespec pause = {0, PAUSE_NS};
	struct ps_sums *t = arg;
	const uint64_t one = 1;

	pthread_mutex_lock(&t->lock);
	while (!t->stop) {
		uint64_t version = t->version;
		enum outcome out;
		bool attached;

		if (!version || t->out) {
			pthread_cond_wait(&t->changed, &t->lock);
			continue;
		}
		pthread_mutex_unlock(&t->lock);
		attached = t->tree.t;
		out = round_of(t, version);
		if (!out && (attached || !t->tree.t))
			nanosleep(&pause, NULL);
		pthread_mutex_lock(&t->lock);
		t->out = out;
		/* write() fails only if a wake-up is pending already. */
		if (out && write(t->wake, &one, sizeof(one)) < 0)
			continue;
	}
	pthread_mutex_unlock(&t->lock);
	trib_rounds_detach(&t->tree);
	return NULL;
}

/* --- the loop */

int ps_sums_open(struct ps_sums **tree, const struct nps_file *file, struct nps_job *job, int wake)
{
	struct ndn_name name = ndn_name_of(&job->names.plain);
	struct ps_sums *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return -ENOMEM;
	t->tree.job = file->tree;
	t->tree.rank = file->tree_rank + 1;
	t->tree.number = file->spec.tree_job;
	t->tree.name = trib_rounds_hash(&name);
	t->job = job;
	t->title = file->spec.title;
	t->count = file->spec.elements;
	t->wake = wake;
	t->sum = malloc(t->count * sizeof(*t->sum));
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, NULL);
	/* The caller has blocked the loop's signals, so the thread takes none. */
	rc = t->sum ? pthread_create(&t->thread, NULL, drive, t) : ENOMEM;
	if (rc) {
		free(t->sum);
		free(t);
		return -rc;
	}
	*tree = t;
	return 0;
}

static void take(struct ps_sums *t)
{
	int rc = t->out == SUM ? nps_gradient_sum(t->job, t->version, t->sum, t->workers)
			       : nps_gradient_lost(t->job, t->version);

	if (rc)
		ps_log("%s: version %u: %s", t->title, (uint32_t)t->version, strerror(-rc));
	t->out = NOTHING;
	t->version = 0;
}

int ps_sums_run(struct ps_sums *t)
{
	struct nps_job *job = t->job;
	int rc = 0;

	pthread_mutex_lock(&t->lock);
	if (t->out == NEVER)
		rc = t->err;
	else if (t->out)
		take(t);
	if (!rc && !t->version && !job->over && nps_version(job) == nps_published(job))
		t->version = nps_published(job);
	t->stop = t->stop || job->over;
	pthread_cond_signal(&t->changed);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

unsigned int ps_sums_workers(const struct ps_sums *t)
{
	return t->workers;
}

void ps_sums_close(struct ps_sums *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	if (!t->stop) {
		pthread_mutex_unlock(&t->lock);
		pthread_detach(t->thread);
		return;
	}
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	free(t->sum);
	free(t);
}
