// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib-train: trains a real model on several ranks, synchronously, with every
 * gradient summed in the network. The demo, and an example of libtrib's use.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train.h"
#include "train_ps.h"

enum {
	EXIT_OK = 0,
	EXIT_WRONG = 1, /* the ranks' parameters differ */
	EXIT_USAGE = 2,
	EXIT_FAILED = 3, /* a collective, or attaching, failed */
};

static void data_free(struct train_data *d)
{
	for (unsigned int i = 0; i < d->nparts; i++) {
		if (d->train)
			task_free(&d->train[i]);
		if (d->test)
			task_free(&d->test[i]);
	}
	free(d->train);
	free(d->test);
}

static int data_init(struct train_data *d, const struct train_opts *o, struct trib *t)
{
	unsigned int ranks = t ? (unsigned int)trib_world(t) : o->alone;
	unsigned int first = t ? (unsigned int)trib_rank(t) : 0;
	int rc = 0;

	d->nparts = t ? 1 : ranks;
	d->train = calloc(d->nparts, sizeof(*d->train));
	d->test = calloc(d->nparts, sizeof(*d->test));
	if (!d->train || !d->test)
		return -ENOMEM;
	for (unsigned int i = 0; !rc && i < d->nparts; i++) {
		rc = task_generate(&d->train[i], o->task, o->seed, TASK_TRAIN, o->samples,
				   first + i, ranks);
		if (!rc)
			rc = task_generate(&d->test[i], o->task, o->seed, TASK_TEST, o->test,
					   first + i, ranks);
	}
	return rc;
}

static size_t count_params(const struct train_opts *o)
{
	size_t in = TASK_DIM, n = 0;

	for (unsigned int i = 0; i < o->nhidden; i++) {
		n += (in + 1) * o->hidden[i];
		in = o->hidden[i];
	}
	return n + (in + 1) * TASK_CLASSES;
}

/* libtrib's error names the rank at fault. */
static void complain(struct trib *t, int rc)
{
	const char *text = t ? trib_error_text(t) : "";

	fprintf(stderr, "trib-train: rank %d: %s\n", t ? trib_rank(t) : 0,
		*text ? text : strerror(-rc));
}

static int run(const struct train_opts *o, struct trib *t)
{
	int rank = t ? trib_rank(t) : 0, rc;
	struct train_result res = {0};
	struct train_data data = {0};
	struct board *b = NULL;

	res.epoch = calloc(o->epochs, sizeof(*res.epoch));
	res.point = calloc((size_t)o->epochs * TRAIN_POINTS, sizeof(*res.point));
	rc = res.epoch && res.point ? data_init(&data, o, t) : -ENOMEM;
	if (!rc && !rank) {
		b = board_begin(o, t, count_params(o));
		rc = b ? 0 : -ENOMEM;
	}
	if (!rc)
		rc = train_linear(o, t, &data, &res);
	if (!rc)
		rc = train_model(o, t, &data, b, &res);
	if (!rc && b) {
		rc = board_end(b, &res);
		if (rc)
			fprintf(stderr, "trib-train: %s: %s\n", o->json, strerror(-rc));
	} else if (rc) {
		complain(t, rc);
	}
	board_free(b);
	data_free(&data);
	free(res.epoch);
	free(res.point);
	if (rc)
		return EXIT_FAILED;
	return res.identical ? EXIT_OK : EXIT_WRONG;
}

int main(int argc, char **argv)
{
	struct train_opts o;
	struct trib *t = NULL;
	unsigned int ranks;
	int rc = train_parse(&o, argc, argv);

	if (rc)
		return rc == 1 ? EXIT_OK : EXIT_USAGE;
	if (o.initial)
		return train_ps_initial(&o);
	if (o.ps)
		return train_ps(&o);
	if (!o.alone) {
		rc = trib_attach(&t, NULL);
		if (rc) {
			fprintf(stderr, "trib-train: attach: %s: %s\n", strerror(-rc),
				trib_error_text(NULL));
			return EXIT_FAILED;
		}
	}
	ranks = t ? (unsigned int)trib_world(t) : o.alone;
	if (o.batch < ranks || o.samples / ranks < o.batch / ranks) {
		fprintf(stderr,
			"trib-train: a batch of %u out of %u samples does not fit %u ranks: want at least one sample a rank\n",
			o.batch, o.samples, ranks);
		rc = EXIT_USAGE;
	} else {
		o.batch -= o.batch % ranks;
		rc = run(&o, t);
	}
	trib_detach(t);
	return rc;
}
