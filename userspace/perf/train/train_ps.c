// SPDX-License-Identifier: BSD-2-Clause
/*
 * Training with a parameter server: the worker receives versions of the model
 * and sends a gradient for each. There are no ranks: a worker has a part of the
 * samples and knows no other worker.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "perf/oracle.h"
#include "train_ps.h"
#include "trib.h"

/* Silence of the PS after which a line is printed. */
#define SAY_MS 10000

enum {
	EXIT_OK = 0,
	EXIT_USAGE = 2,
	EXIT_FAILED = 3,
};

/**
 * struct ps_course - one worker's training
 * @part:    part of the samples of this worker.
 * @count:   floats of a model.
 * @rows:    samples of a gradient.
 * @steps:   gradients of one pass over the samples.
 * @given:   gradients so far; @stale of them were late.
 * @score:   score of this pass.
 * @first:   first version received.
 */
struct ps_course {
	const struct train_opts *o;
	struct trib_ps *p;
	unsigned int part;
	struct mlp m;
	struct task_part train;
	struct task_part test;
	size_t count;
	size_t rows;
	size_t steps;
	size_t given;
	size_t stale;
	struct mlp_score score;
	struct trib_ps_version version;
	uint64_t first;
	double begun;
	float *x;
	uint8_t *label;
	FILE *json;
};

static int complain(const char *what, const char *text)
{
	fprintf(stderr, "trib-train: %s: %s\n", what, text);
	return EXIT_FAILED;
}

/* Worker /w2 has part 2 unless an option names another part. */
static int find_part(const struct train_opts *o, unsigned int *part)
{
	const char *name = getenv("TRIB_PS_NAME");
	size_t n = name ? strlen(name) : 0, at = n;

	*part = o->part;
	if (o->has_part)
		return *part < o->parts ? 0 : -1;
	while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	if (at == n || n - at > 4)
		return -1;
	*part = (unsigned int)strtoul(name + at, NULL, 10);
	return *part < o->parts ? 0 : -1;
}

static int make_model(struct mlp *m, const struct train_opts *o, size_t rows)
{
	unsigned int width[MLP_LAYERS_MAX + 1] = {TASK_DIM};

	for (unsigned int i = 0; i < o->nhidden; i++)
		width[i + 1] = o->hidden[i];
	width[o->nhidden + 1] = TASK_CLASSES;
	return mlp_init(m, width, o->nhidden + 1, rows, o->seed, task_first(o->task));
}

static int course_init(struct ps_course *c)
{
	const struct train_opts *o = c->o;
	int rc;

	c->rows = o->batch / o->parts;
	rc = make_model(&c->m, o, c->rows);
	if (!rc)
		rc = task_generate(&c->train, o->task, o->seed, TASK_TRAIN, o->samples, c->part,
				   o->parts);
	if (!rc)
		rc = task_generate(&c->test, o->task, o->seed, TASK_TEST, o->test, 0, 1);
	c->x = calloc(c->rows * TASK_DIM, sizeof(*c->x));
	c->label = calloc(c->rows, sizeof(*c->label));
	if (rc || !c->x || !c->label)
		return -ENOMEM;
	c->steps = c->train.n / c->rows;
	return 0;
}

static void course_free(struct ps_course *c)
{
	mlp_free(&c->m);
	task_free(&c->train);
	task_free(&c->test);
	free(c->x);
	free(c->label);
}

static int nothing_ready(void *arg, size_t done)
{
	(void)arg;
	(void)done;
	return 0;
}

static void compute(struct ps_course *c)
{
	size_t at = c->given % c->steps;

	if (!at)
		task_shuffle(&c->train, (unsigned int)(c->given / c->steps));
	task_gather(&c->train, at * c->rows, c->rows, c->x, c->label);
	mlp_forward(&c->m, c->x, c->label, c->rows, &c->score);
	/* trib-ps averages over the workers. */
	mlp_backward(&c->m, c->x, c->label, c->rows, 1.0f / (float)c->rows, nothing_ready, NULL);
	if (c->o->pause_ms) {
		struct timespec ts = {c->o->pause_ms / 1000, c->o->pause_ms % 1000 * 1000000L};

		nanosleep(&ts, NULL);
	}
}

static double evaluate(struct ps_course *c)
{
	struct mlp_score score = {0};
	size_t n;

	for (size_t at = 0; at < c->test.n; at += n) {
		n = c->test.n - at < c->rows ? c->test.n - at : c->rows;
		task_gather(&c->test, at, n, c->x, c->label);
		mlp_forward(&c->m, c->x, c->label, n, &score);
	}
	return (double)score.right / (double)(score.rows ? score.rows : 1);
}

/* End a pass over the samples. */
static void report(struct ps_course *c)
{
	double rows = c->score.rows ? (double)c->score.rows : 1;
	double loss = c->score.loss / rows;
	double right = (double)c->score.right / rows;
	size_t epoch = c->given / c->steps;
	unsigned int n = (unsigned int)c->version.version;

	if (!c->part) {
		double test = evaluate(c);

		printf("epoch %3zu  version %6u  loss %7.4f  train %5.1f %%  test %5.1f %%\n",
		       epoch, n, loss, 100 * right, 100 * test);
		fflush(stdout);
		if (c->json)
			fprintf(c->json,
				"%s\n  {\"epoch\": %zu, \"version\": %u, \"loss\": %.6f, \"train\": %.6f, \"test\": %.6f}",
				epoch > 1 ? "," : "", epoch, n, loss, right, test);
	}
	memset(&c->score, 0, sizeof(c->score));
}

/* Wait for the next version without limit; print a line if it takes long. */
static int next_version(struct ps_course *c)
{
	int rc;

	do {
		c->version.size = sizeof(c->version);
		rc = trib_ps_model(c->p, c->m.param, c->count, &c->version, SAY_MS);
		if (rc == -ETIMEDOUT)
			complain("waiting", trib_ps_error_text(c->p));
	} while (rc == -ETIMEDOUT);
	return rc;
}

static int train(struct ps_course *c)
{
	int rc;

	while (!(rc = next_version(c)) && !c->version.last) {
		if (!c->first)
			c->first = c->version.version;
		compute(c);
		rc = trib_ps_gradient(c->p, c->version.version, c->m.grad, c->count);
		c->stale += rc == -ESTALE;
		if (rc && rc != -ESTALE)
			break;
		if (++c->given % c->steps == 0)
			report(c);
	}
	return rc;
}

static void finish(struct ps_course *c, double seconds)
{
	struct trib_ps_counters n = {.size = sizeof(n)};
	uint64_t hash = oracle_hash(c->m.param, c->count * sizeof(float));
	double test = evaluate(c);

	trib_ps_counters(c->p, &n);
	printf("worker %u: last version %u after %.1f s, parameters %016llx\n", c->part,
	       (unsigned int)c->version.version, seconds, (unsigned long long)hash);
	printf("worker %u: %llu versions taken (%llu overtaken), %zu gradients (%zu too late, %llu asked for), %.1f MB received, %.1f MB sent, %llu segments fetched\n",
	       c->part, (unsigned long long)n.versions, (unsigned long long)n.skipped, c->given,
	       c->stale, (unsigned long long)n.gradients, (double)n.recv_bytes / 1e6,
	       (double)n.sent_bytes / 1e6, (unsigned long long)n.fetches);
	if (c->part)
		return;
	printf("test accuracy of the last version: %.1f %%\n", 100 * test);
	if (c->json)
		fprintf(c->json,
			"\n ],\n \"seconds\": %.3f, \"test\": %.6f, \"parameters\": \"%016llx\",\n \"versions\": %llu, \"skipped\": %llu, \"gradients\": %zu, \"stale\": %zu, \"recv_bytes\": %llu, \"sent_bytes\": %llu, \"fetches\": %llu}\n",
			seconds, test, (unsigned long long)hash, (unsigned long long)n.versions,
			(unsigned long long)n.skipped, c->given, c->stale,
			(unsigned long long)n.recv_bytes, (unsigned long long)n.sent_bytes,
			(unsigned long long)n.fetches);
}

/* Wait for a task and check that it is for this model. */
static int join(struct ps_course *c)
{
	struct trib_ps_task task = {.size = sizeof(task)};
	int rc = trib_ps_open(&c->p, NULL);

	if (rc)
		return complain("open", trib_ps_error_text(NULL));
	while ((rc = trib_ps_join(c->p, &task, SAY_MS)) == -ETIMEDOUT)
		complain("waiting", trib_ps_error_text(c->p));
	if (rc)
		return complain("join", trib_ps_error_text(c->p));
	c->count = task.count;
	if (task.count != c->m.nparam) {
		fprintf(stderr,
			"trib-train: the model of %s has %zu parameters, this one %zu: check --hidden\n",
			task.job, task.count, c->m.nparam);
		return EXIT_USAGE;
	}
	if (!c->part)
		printf("%s: %zu parameters, %s, part %u of %u, %zu samples a gradient\n", task.job,
		       task.count, task.async ? "asynchronous" : "synchronous", c->part,
		       c->o->parts, c->rows);
	return EXIT_OK;
}

static int open_json(struct ps_course *c)
{
	const char *path = c->o->json;

	if (!path || c->part)
		return EXIT_OK;
	c->json = strcmp(path, "-") ? fopen(path, "w") : stdout;
	if (!c->json)
		return complain(path, strerror(errno));
	fprintf(c->json, "{\"tool\": \"trib-train\", \"parts\": %u,\n \"epochs\": [", c->o->parts);
	return EXIT_OK;
}

static int close_json(struct ps_course *c, int status)
{
	if (c->json && c->json != stdout && fclose(c->json) && !status)
		status = complain(c->o->json, strerror(errno));
	return status;
}

int train_ps(const struct train_opts *o)
{
	struct ps_course c = {.o = o};
	int status;

	if (find_part(o, &c.part)) {
		fprintf(stderr,
			"trib-train: give --parts N, and --part I below N or a TRIB_PS_NAME that ends in a number\n");
		return EXIT_USAGE;
	}
	status = open_json(&c);
	if (!status && course_init(&c))
		status = complain("memory", strerror(ENOMEM));
	if (!status)
		status = join(&c);
	if (!status) {
		c.begun = sync_now();
		if (train(&c))
			status = complain("training", trib_ps_error_text(c.p));
		else
			finish(&c, sync_now() - c.begun);
	}
	trib_ps_close(c.p);
	course_free(&c);
	return close_json(&c, status);
}

int train_ps_initial(const struct train_opts *o)
{
	struct mlp m = {0};
	FILE *f;
	int rc = make_model(&m, o, 1), status = EXIT_OK;

	f = rc ? NULL : fopen(o->initial, "w");
	for (size_t i = 0; f && i < m.nparam; i++) {
		uint32_t word;

		memcpy(&word, m.param + i, sizeof(word));
		word = htole32(word);
		if (fwrite(&word, sizeof(word), 1, f) != 1)
			break;
	}
	if (!f || ferror(f) | fclose(f))
		status = complain(o->initial, strerror(rc ? -rc : errno));
	else
		printf("%zu\n", m.nparam);
	mlp_free(&m);
	return status;
}
