// SPDX-License-Identifier: BSD-2-Clause
/* Gradients of libtrib's API to parameter servers when relays add them up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ps.h"

/*
 * A lost rank makes this worker attach anew this many times; then the caller
 * gets the error.
 */
#define TRIES 3
/* Pause after a failed round: the next model may be on its way. */
#define PAUSE_NS (20 * NDN_MS)

bool trib_ps_has_tree(const struct trib_ps *p)
{
	return p->w.start.tree_job != NDN_NO_TREE;
}

int trib_ps_tree_join(struct trib_ps *p)
{
	struct ndn_name job = ndn_name_of(&p->w.job.plain);
	int rc = 0;

	pthread_mutex_unlock(&p->lock);
	trib_ps_tree_leave(p);
	pthread_mutex_lock(&p->lock);
	if (!trib_ps_has_tree(p) || !ndn_worker_has_task(&p->w))
		return 0;
	p->tree.number = p->w.start.tree_job;
	p->tree.name = trib_rounds_hash(&job);
	if (!p->tree.job)
		rc = trib_ps_fail(
			p, -ENOENT,
			"relays add up this task's gradients in aggregation job %u: set options.tree or TRIB_JOB",
			p->tree.number);
	if (!rc)
		p->sum = malloc(p->w.start.elements * sizeof(*p->sum));
	if (!rc && !p->sum)
		rc = trib_ps_fail(p, -ENOMEM, "out of memory");
	if (rc)
		ndn_worker_leave(&p->w, ndn_socket_now());
	return rc;
}

void trib_ps_tree_leave(struct trib_ps *p)
{
	if (p->tree.t)
		trib_rounds_detach(&p->tree);
	free(p->sum);
	p->sum = NULL;
}

/* Attach if needed, then run one round. */
static int try_round(struct trib_ps *p, uint64_t version, const float *grad, size_t count,
		     bool *lost)
{
	int rc = p->tree.t ? 0 : trib_rounds_attach(&p->tree);

	*lost = false;
	if (rc)
		return rc;
	memcpy(p->sum, grad, count * sizeof(*grad));
	rc = trib_rounds_round(&p->tree, version, p->sum, count);
	*lost = rc && !p->tree.t;
	return rc;
}

int trib_ps_tree_give(struct trib_ps *p, uint64_t version, const float *grad, size_t count)
{
	const struct timespec pause = {0, PAUSE_NS};
	unsigned int tries = 0;
	bool lost = false;
	int rc;

	for (;;) {
		rc = ndn_worker_may_give(&p->w, version);
		if (rc)
			return trib_ps_explain(p, rc);
		pthread_mutex_unlock(&p->lock);
		rc = try_round(p, version, grad, count, &lost);
		if (rc == -EAGAIN || lost)
			nanosleep(&pause, NULL);
		pthread_mutex_lock(&p->lock);
		if (!rc)
			break;
		if (rc == -EAGAIN || (lost && ++tries < TRIES))
			continue;
		if (rc == -EPROTO)
			ndn_worker_leave(&p->w, ndn_socket_now());
		return trib_ps_fail(p, rc, "%s", p->tree.error);
	}
	ndn_worker_gave(&p->w, ndn_socket_now(), version);
	return 0;
}
