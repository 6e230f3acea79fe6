// SPDX-License-Identifier: BSD-2-Clause
/*
 * Buckets of gradients through libtrib: see sync.h.
 */
#include <string.h>

#include "base/clock.h"
#include "perf/oracle.h"
#include "sync.h"

double sync_now(void)
{
	return (double)clock_ns() / 1e9;
}

void sync_init(struct sync *s, struct trib *t, struct mlp *m, size_t bucket_bytes)
{
	size_t least = m->nparam / (SYNC_BUCKETS_MAX - 1) + 1;

	memset(s, 0, sizeof(*s));
	s->t = t;
	s->m = m;
	s->bucket = bucket_bytes / sizeof(float);
	if (s->bucket < least)
		s->bucket = least;
}

int sync_compress(struct sync *s, const struct trib_compress_options *o)
{
	return trib_compress_open(&s->z, s->t, o);
}

void sync_free(struct sync *s)
{
	trib_compress_close(s->z);
	s->z = NULL;
}

int sync_start(struct sync *s)
{
	if (!s->t)
		return 0;
	return trib_broadcast(s->t, s->m->param, s->m->nparam, TRIB_F32, 0);
}

/* Sum a bucket; with compression its number names its residual. */
static int issue(struct sync *s, size_t from, size_t size)
{
	float *grad = s->m->grad + from;

	if (s->z)
		return trib_compress_iallreduce(s->z, s->n, grad, grad, size, TRIB_F32, TRIB_SUM,
						&s->req[s->n]);
	return trib_iallreduce(s->t, grad, grad, size, TRIB_F32, TRIB_SUM, &s->req[s->n]);
}

int sync_ready(void *arg, size_t done)
{
	struct sync *s = arg;
	size_t from = s->n ? s->end[s->n - 1] : 0, size = done - from;
	int last = done == s->m->nparam, rc;

	if (!last && size < s->bucket)
		return 0;
	if (s->t) {
		if (!s->n)
			s->begun = sync_now();
		rc = issue(s, from, size);
		if (rc)
			return rc;
		s->bytes += size * sizeof(float);
	}
	s->end[s->n++] = done;
	return 0;
}

int sync_step(struct sync *s, float rate, float momentum)
{
	size_t from = 0;
	double before;
	int rc = 0;

	for (unsigned int i = 0; i < s->n; i++) {
		if (s->t) {
			before = sync_now();
			rc = trib_wait(s->req[i]);
			s->req[i] = NULL;
			s->wait_s += sync_now() - before;
		}
		if (rc)
			return rc;
		if (s->t && i == s->n - 1)
			s->busy_s += sync_now() - s->begun;
		mlp_step(s->m, from, s->end[i], rate, momentum);
		from = s->end[i];
	}
	s->n = 0;
	s->steps++;
	if (s->z)
		rc = trib_compress_step(s->z);
	return rc < 0 ? rc : 0;
}

void sync_drop(struct sync *s)
{
	for (unsigned int i = 0; i < s->n; i++)
		if (s->req[i])
			trib_wait(s->req[i]);
	s->n = 0;
}

int sync_score(struct sync *s, struct mlp_score *score)
{
	int32_t counts[2] = {(int32_t)score->right, (int32_t)score->rows};
	float loss = (float)score->loss;
	int rc;

	if (!s->t)
		return 0;
	rc = trib_allreduce(s->t, counts, counts, 2, TRIB_I32, TRIB_SUM);
	if (!rc)
		rc = trib_allreduce(s->t, &loss, &loss, 1, TRIB_F32, TRIB_SUM);
	score->right = (size_t)counts[0];
	score->rows = (size_t)counts[1];
	score->loss = (double)loss;
	return rc;
}

int sync_compare(struct sync *s, uint64_t *hash, int *identical)
{
	int32_t most[2], least[2];
	int rc;

	*hash = oracle_hash(s->m->param, s->m->nparam * sizeof(float));
	*identical = 1;
	if (!s->t)
		return 0;
	memcpy(most, hash, sizeof(most));
	memcpy(least, hash, sizeof(least));
	rc = trib_allreduce(s->t, most, most, 2, TRIB_I32, TRIB_MAX);
	if (!rc)
		rc = trib_allreduce(s->t, least, least, 2, TRIB_I32, TRIB_MIN);
	*identical = !memcmp(most, least, sizeof(most));
	return rc;
}
