// SPDX-License-Identifier: BSD-2-Clause
/*
 * The order of work: the first bucket, of the oldest message, whose next stage has
 * what it needs. On a GPU work is begun in this order, and ended when it has landed.
 * At the end of the engine, messages end in order.
 */
#include <errno.h>

#include "compress.h"

static enum flight flight_of(const int *flight)
{
	return (enum flight)__atomic_load_n(flight, __ATOMIC_ACQUIRE);
}

static bool is_ready(const struct bucket *b)
{
	enum flight f = flight_of(&b->flight);

	if (f != FLIGHT_NONE)
		return f != FLIGHT_UP;
	switch (b->stage) {
	case STAGE_SELECT:
		return true;
	case STAGE_MASK:
		return !b->mask_req || b->mask_req->done;
	case STAGE_EXP:
		return b->exp_req->done;
	case STAGE_SUM:
		return b->sum_req->done;
	default:
		return false;
	}
}

static struct bucket *next_bucket(const struct trib_compress *c)
{
	struct message *m;
	size_t i;

	for (m = c->first; m; m = m->next)
		for (i = 0; flight_of(&m->gate) == FLIGHT_LANDED && i < m->layout.nbucket; i++)
			if (is_ready(&m->bucket[i]))
				return &m->bucket[i];
	return NULL;
}

/* The work of the stage is done: send what it made. */
static void advance(struct bucket *b)
{
	struct message *m = b->m;

	switch (b->stage++) {
	case STAGE_SELECT:
		trib_compose_release(b->mask_req);
		break;
	case STAGE_MASK:
		trib_compose_release(b->exp_req);
		break;
	case STAGE_EXP:
		trib_compose_release(b->sum_req);
		break;
	default:
		m->left--;
		break;
	}
}

static void blame_gpu(struct trib_compress *c)
{
	char why[sizeof(c->why)];

	pthread_mutex_lock(&c->bell);
	memcpy(why, c->why, sizeof(why));
	pthread_mutex_unlock(&c->bell);
	trib_die_rank(&c->t->eng, TRIB_SOCK_ERR_SYSTEM, -EIO, (int)c->t->eng.rank, "the GPU: %s",
		      why);
}

static void blame(struct trib_compress *c, const struct bucket *b, int err)
{
	if (err == -EIO)
		blame_gpu(c);
	else if (b->stage == STAGE_MASK)
		trib_die_rank(&c->t->eng, TRIB_SOCK_ERR_ARGUMENT, err, (int)b->m->leader,
			      "rank %u sent a mask that does not select %u of every %u values",
			      b->m->leader, b->m->layout.spec.kept, b->m->layout.spec.group);
	else
		trib_die_rank(
			&c->t->eng, TRIB_SOCK_ERR_ARGUMENT, err, -1,
			"a rank sent exponents that no values have: do all ranks run the same version?");
}

/* A gate that failed: the caller's own work on the GPU did. */
static bool gate_failed(struct trib_compress *c)
{
	struct message *m;

	for (m = c->first; m; m = m->next)
		if (flight_of(&m->gate) == FLIGHT_FAILED)
			return true;
	return false;
}

/* Begin the stage's work, or end it. Return: as &work_ops.begin. */
static int compute(struct trib_compress *c, struct bucket *b)
{
	struct trib *t = c->t;
	uint64_t start = clock_ns();
	enum flight f = flight_of(&b->flight);
	int rc;

	pthread_mutex_unlock(&t->lock);
	if (f == FLIGHT_NONE)
		rc = c->work->begin(b);
	else if (f == FLIGHT_LANDED)
		rc = c->work->end(b);
	else
		rc = -EIO;
	pthread_mutex_lock(&t->lock);
	t->eng.now = clock_ns();
	c->count.codec_ns += t->eng.now - start;
	return rc;
}

bool trib_compress_turn(struct trib_compress *c)
{
	struct trib *t = c->t;
	struct bucket *b;
	struct message *m;
	int rc;

	if (t->eng.dead && c->first) {
		if (!message_rests(c->first))
			return false;
		message_finish(c->first);
		return true;
	}
	if (gate_failed(c)) {
		blame_gpu(c);
		return true;
	}
	b = next_bucket(c);
	if (!b)
		return false;
	rc = compute(c, b);
	if (t->eng.dead || rc > 0)
		return true;
	if (rc) {
		blame(c, b, rc);
		return true;
	}
	m = b->m;
	__atomic_store_n(&b->flight, FLIGHT_NONE, __ATOMIC_RELAXED);
	advance(b);
	if (!m->left)
		message_finish(m);
	else
		trib_drive_wake(t);
	return true;
}
