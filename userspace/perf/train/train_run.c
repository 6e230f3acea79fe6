// SPDX-License-Identifier: BSD-2-Clause
/*
 * One training: epochs, steps, evaluation. Ranks differ only in their samples.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "train.h"

/* Epochs of the linear model, more than enough to converge. */
#define LINEAR_EPOCHS 3
/* Final learning rate as a share of the initial one. */
#define RATE_END 0.05

struct course {
	const struct train_opts *o;
	struct train_data *data;
	struct board *board;
	struct mlp m;
	struct sync s;
	size_t rows;		   /* samples of each part in a step */
	size_t steps;		   /* in an epoch */
	double seconds;		   /* of training so far */
	struct train_point *point; /* the next one, or NULL */
	unsigned int epochs;
	float *x;
	uint8_t *label;
};

static int course_init(struct course *c, struct trib *t)
{
	unsigned int width[MLP_LAYERS_MAX + 1] = {TASK_DIM};
	unsigned int n = c->o->nhidden, ranks;
	size_t batch;
	int rc;

	ranks = t ? (unsigned int)trib_world(t) : c->data->nparts;
	c->rows = c->o->batch / ranks;
	c->steps = c->data->train[0].n / c->rows;
	batch = c->rows * c->data->nparts;
	for (unsigned int i = 0; i < n; i++)
		width[i + 1] = c->o->hidden[i];
	width[n + 1] = TASK_CLASSES;
	c->x = calloc(batch * TASK_DIM, sizeof(*c->x));
	c->label = calloc(batch, sizeof(*c->label));
	rc = mlp_init(&c->m, width, n + 1, batch, c->o->seed, task_first(c->o->task));
	if (rc || !c->x || !c->label)
		return -ENOMEM;
	sync_init(&c->s, t, &c->m, c->o->bucket);
	return 0;
}

static int course_compress(struct course *c)
{
	struct trib_compress_options z = {
		.size = sizeof(z),
		.schedule = c->o->compress,
		.seed = c->o->seed,
		.no_feedback = c->o->no_feedback,
		.measure = 1,
		.mask = c->o->local ? "local" : "shared",
	};

	return c->o->compress ? sync_compress(&c->s, &z) : 0;
}

static void course_free(struct course *c)
{
	sync_free(&c->s);
	mlp_free(&c->m);
	free(c->x);
	free(c->label);
}

/* Rows @from .. @from + @n of each part, one part after the other. */
static size_t gather(struct course *c, const struct task_part *parts, size_t from, size_t n)
{
	size_t at = 0;

	for (unsigned int i = 0; i < c->data->nparts; i++, at += n)
		task_gather(&parts[i], from, n, c->x + at * TASK_DIM, c->label + at);
	return at;
}

static int step(struct course *c, size_t index, double rate, struct mlp_score *score)
{
	size_t n = gather(c, c->data->train, index * c->rows, c->rows);
	unsigned int ranks = c->s.t ? (unsigned int)trib_world(c->s.t) : c->data->nparts;
	float scale = 1.0f / (float)(c->rows * ranks);
	int rc;

	mlp_forward(&c->m, c->x, c->label, n, score);
	rc = mlp_backward(&c->m, c->x, c->label, n, scale, sync_ready, &c->s);
	return rc ? rc : sync_step(&c->s, (float)rate, (float)c->o->momentum);
}

static int evaluate(struct course *c, double *share)
{
	struct mlp_score score = {0};
	size_t left = c->data->test[0].n;
	int rc;

	for (size_t at = 0; at < c->data->test[0].n;) {
		size_t n = left < c->rows ? left : c->rows;
		size_t rows = gather(c, c->data->test, at, n);

		mlp_forward(&c->m, c->x, c->label, rows, &score);
		at += n;
		left -= n;
	}
	rc = sync_score(&c->s, &score);
	*share = (double)score.right / (double)(score.rows ? score.rows : 1);
	return rc;
}

static void set_score(struct train_epoch *e, const struct mlp_score *score)
{
	double rows = score->rows ? (double)score->rows : 1;

	e->loss = score->loss / rows;
	e->train = (double)score->right / rows;
}

/* Note the loss if an eighth of the epoch has been done; @last: score at the last point. */
static void note_point(struct course *c, size_t i, double begun, const struct mlp_score *score,
		       struct mlp_score *last)
{
	size_t done = (i + 1) * TRAIN_POINTS / c->steps;

	if (!c->point || done == i * TRAIN_POINTS / c->steps || score->rows == last->rows)
		return;
	*c->point++ = (struct train_point){
		.seconds = c->seconds + sync_now() - begun,
		.loss = (score->loss - last->loss) / (double)(score->rows - last->rows),
	};
	*last = *score;
}

static int run_epoch(struct course *c, unsigned int epoch, struct train_epoch *e)
{
	double busy = c->s.busy_s, total = (double)c->steps * c->epochs;
	uint64_t bytes = c->s.bytes;
	struct mlp_score score = {0}, last = {0};
	double begun = sync_now();
	int rc = 0;

	for (unsigned int i = 0; i < c->data->nparts; i++)
		task_shuffle(&c->data->train[i], epoch);
	for (size_t i = 0; !rc && i < c->steps; i++) {
		double done = ((double)epoch * (double)c->steps + (double)i) / total;
		double rate = c->o->rate * (1 - (1 - RATE_END) * done);

		rc = step(c, i, rate, &score);
		note_point(c, i, begun, &score, &last);
		if (c->s.busy_s > busy)
			e->algbw = (double)(c->s.bytes - bytes) / (c->s.busy_s - busy) / 1e9;
		set_score(e, &score);
		if (c->board)
			board_progress(c->board, epoch, (double)(i + 1) / (double)c->steps, e);
	}
	c->seconds += sync_now() - begun;
	e->seconds = c->seconds;
	if (!rc)
		rc = sync_score(&c->s, &score);
	set_score(e, &score);
	return rc ? rc : evaluate(c, &e->test);
}

static void read_counters(struct trib *t, struct train_result *res)
{
	res->counters.size = sizeof(res->counters);
	if (t)
		trib_counters(t, &res->counters);
	res->has_wire = !wire_read(&res->wire);
}

/* Growth of the counters since @before. */
static void subtract(struct train_result *res, const struct train_result *before)
{
	res->counters.sent_bytes -= before->counters.sent_bytes;
	res->counters.recv_bytes -= before->counters.recv_bytes;
	res->counters.sent_packets -= before->counters.sent_packets;
	res->counters.recv_packets -= before->counters.recv_packets;
	res->counters.resends -= before->counters.resends;
	res->counters.fast_resends -= before->counters.fast_resends;
	res->wire.rx -= before->wire.rx;
	res->wire.tx -= before->wire.tx;
}

int train_model(const struct train_opts *o, struct trib *t, struct train_data *data,
		struct board *b, struct train_result *res)
{
	struct course c = {
		.o = o, .data = data, .board = b, .epochs = o->epochs, .point = res->point};
	struct train_result before = {0};
	double begun;
	int rc = course_init(&c, t);

	if (!rc)
		rc = sync_start(&c.s);
	if (!rc)
		rc = course_compress(&c);
	read_counters(t, &before);
	begun = sync_now();
	for (unsigned int i = 0; !rc && i < o->epochs; i++) {
		rc = run_epoch(&c, i, &res->epoch[i]);
		if (!rc && b)
			board_epoch(b, i, &res->epoch[i]);
	}
	res->seconds = sync_now() - begun;
	read_counters(t, res);
	subtract(res, &before);
	if (!rc)
		rc = sync_compare(&c.s, &res->hash, &res->identical);
	else
		sync_drop(&c.s);
	res->nparam = c.m.nparam;
	res->samples = (double)c.s.steps * o->batch;
	res->packed.size = sizeof(res->packed);
	if (c.s.z)
		trib_compress_counters(c.s.z, &res->packed);
	res->steps = c.s.steps;
	res->bytes = c.s.bytes;
	res->busy_s = c.s.busy_s;
	res->wait_s = c.s.wait_s;
	course_free(&c);
	return rc;
}

int train_linear(const struct train_opts *o, struct trib *t, struct train_data *data,
		 struct train_result *res)
{
	struct train_opts linear = *o;
	struct course c = {.o = &linear, .data = data, .epochs = LINEAR_EPOCHS};
	struct train_epoch e = {0};
	int rc;

	linear.nhidden = 0;
	rc = course_init(&c, t);
	if (!rc)
		rc = sync_start(&c.s);
	for (unsigned int i = 0; !rc && i < c.epochs; i++)
		rc = run_epoch(&c, i, &e);
	if (rc)
		sync_drop(&c.s);
	res->linear = e.test;
	course_free(&c);
	return rc;
}
