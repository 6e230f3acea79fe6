// SPDX-License-Identifier: BSD-2-Clause
/*
 * The order of work: the first bucket, of the oldest message, whose next stage has
 * what it needs. At the end of the engine, messages end in order.
 */
#include <errno.h>

#include "compress.h"

static bool is_ready(const struct bucket *b)
{
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
		for (i = 0; i < m->layout.nbucket; i++)
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
		trib_req_release(b->mask_req);
		break;
	case STAGE_MASK:
		trib_req_release(b->exp_req);
		break;
	case STAGE_EXP:
		trib_req_release(b->sum_req);
		break;
	default:
		m->left--;
		break;
	}
}

static void blame(struct trib_compress *c, const struct bucket *b, int err)
{
	if (b->stage == STAGE_MASK)
		trib_die_rank(&c->t->eng, TRIB_SOCK_ERR_ARGUMENT, err, (int)b->m->leader,
			      "rank %u sent a mask that does not select %u of every %u values",
			      b->m->leader, b->m->layout.spec.kept, b->m->layout.spec.group);
	else
		trib_die_rank(
			&c->t->eng, TRIB_SOCK_ERR_ARGUMENT, err, -1,
			"a rank sent exponents that no values have: do all ranks run the same version?");
}

bool trib_compress_turn(struct trib_compress *c)
{
	struct trib *t = c->t;
	uint64_t start = clock_ns();
	struct bucket *b;
	struct message *m;
	int rc;

	if (t->eng.dead && c->first) {
		message_finish(c->first);
		return true;
	}
	b = next_bucket(c);
	if (!b)
		return false;
	pthread_mutex_unlock(&t->lock);
	rc = work_on(b);
	pthread_mutex_lock(&t->lock);
	t->eng.now = clock_ns();
	c->count.codec_ns += t->eng.now - start;
	if (t->eng.dead)
		return true;
	if (rc) {
		blame(c, b, rc);
		return true;
	}
	m = b->m;
	advance(b);
	if (!m->left)
		message_finish(m);
	else
		trib_drive_wake(t);
	return true;
}
