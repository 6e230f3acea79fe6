// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib-train: trains a real model on several ranks, synchronously, with every
 * gradient summed in the network. The demo, and an example of libtrib's use.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/opts.h"
#include "train.h"
#include "train_ps.h"

#define TEST_SHARE 8 /* the test set has 1/8 of the training set's samples */

enum {
	EXIT_OK = 0,
	EXIT_WRONG = 1, /* the ranks' parameters differ */
	EXIT_USAGE = 2,
	EXIT_FAILED = 3, /* a collective, or attaching, failed */
};

static void usage(void)
{
	printf("usage: trib-train [options], one process per rank\n"
	       "  --epochs N      passes over the samples (default 12)\n"
	       "  --hidden N,...  widths of the hidden layers (default 320,320)\n"
	       "  --batch N       samples a step, over all ranks (default 256)\n"
	       "  --samples N     training samples (default 32768)\n"
	       "  --seed N        of data and first weights (default 1)\n"
	       "  --bucket BYTES  gradients worth sending (default 128K)\n"
	       "  --json FILE     rank 0 writes the figures (- is stdout)\n"
	       "  --alone N       no job: the work of N ranks in one process\n"
	       "  --ps            no ranks: be a worker of trib-ps ndn\n"
	       "  --parts N       of the samples, one for each worker of the PS\n"
	       "  --part I        ours (default: the number that TRIB_PS_NAME ends in)\n"
	       "  --pause MS      rest after each gradient, as a slow machine would\n"
	       "  --initial FILE  only write the first parameters, for trib-ps ndn\n"
	       "  --version, --help\n");
}

static int bad(const char *text)
{
	fprintf(stderr, "trib-train: %s; see --help\n", text);
	return -2;
}

static int bad_value(const char *option, const char *value)
{
	fprintf(stderr, "trib-train: --%s %s: want %s; see --help\n", option, value, perf_wanted());
	return -2;
}

static int parse_hidden(struct train_opts *o, const char *text)
{
	char copy[128], *save = NULL, *word;

	o->nhidden = 0;
	if (strlen(text) >= sizeof(copy))
		return -1;
	strcpy(copy, text);
	for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		if (o->nhidden == MLP_LAYERS_MAX - 1 ||
		    perf_parse_uint(word, 1, MLP_WIDTH_MAX, &o->hidden[o->nhidden++]))
			return -1;
	}
	return o->nhidden ? 0 : -1;
}

static int set(struct train_opts *o, int which, const char *value)
{
	unsigned int n;
	int rc = 0;

	switch (which) {
	case 'e':
		return perf_parse_uint(value, 1, TRAIN_EPOCHS_MAX, &o->epochs);
	case 'h':
		return parse_hidden(o, value);
	case 'b':
		return perf_parse_uint(value, 1, 65536, &o->batch);
	case 'n':
		return perf_parse_uint(value, 1, 10000000, &o->samples);
	case 's':
		rc = perf_parse_uint(value, 0, 0xffffffffu, &n);
		o->seed = rc ? o->seed : n;
		return rc;
	case 'B':
		return perf_parse_size(value, (size_t)1 << 30, &o->bucket);
	case 'a':
		return perf_parse_uint(value, 1, 1024, &o->alone);
	case 'p':
		return perf_parse_uint(value, 1, 1024, &o->parts);
	case 'i':
		o->has_part = 1;
		return perf_parse_uint(value, 0, 1023, &o->part);
	case 'w':
		return perf_parse_uint(value, 0, 3600000, &o->pause_ms);
	case 'I':
		o->initial = value;
		return *value ? 0 : -1;
	default:
		o->json = value;
		return *value ? 0 : -1;
	}
}

/* Check options that only a parameter server takes, or that it does not. */
static int check_ps(const struct train_opts *o)
{
	if (!o->ps && (o->parts || o->has_part || o->pause_ms))
		return bad("--parts, --part and --pause need --ps");
	if (o->ps && o->alone)
		return bad("--alone and --ps exclude each other");
	if (!o->ps)
		return 0;
	if (!o->parts)
		return bad("--ps needs --parts: how many workers the PS has");
	if (o->batch < o->parts || o->samples / o->parts < o->batch / o->parts)
		return bad("--parts: want at most --batch, and --samples of --batch or more");
	return 0;
}

int train_parse(struct train_opts *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{"epochs", required_argument, NULL, 'e'},
		{"hidden", required_argument, NULL, 'h'},
		{"batch", required_argument, NULL, 'b'},
		{"samples", required_argument, NULL, 'n'},
		{"seed", required_argument, NULL, 's'},
		{"bucket", required_argument, NULL, 'B'},
		{"json", required_argument, NULL, 'j'},
		{"alone", required_argument, NULL, 'a'},
		{"ps", no_argument, NULL, 'P'},
		{"parts", required_argument, NULL, 'p'},
		{"part", required_argument, NULL, 'i'},
		{"pause", required_argument, NULL, 'w'},
		{"initial", required_argument, NULL, 'I'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, '?'},
		{NULL, 0, NULL, 0},
	};
	int c, at;

	*o = (struct train_opts){.epochs = 12,
				 .hidden = {320, 320},
				 .nhidden = 2,
				 .batch = 256,
				 .samples = 32768,
				 .rate = 0.1,
				 .momentum = 0.9,
				 .seed = 1,
				 .bucket = 128 << 10};
	while ((c = getopt_long(argc, argv, "", longs, &at)) != -1) {
		if (c == 'V') {
			printf("trib-train %s\n", TRIB_VERSION);
			return 1;
		}
		if (c == '?') {
			/* Help, unless getopt has just complained. */
			if (optopt || strcmp(argv[optind - 1], "--help"))
				return -2;
			usage();
			return 1;
		}
		if (c == 'P')
			o->ps = 1;
		else if (set(o, c, optarg))
			return c == 'h' ? bad("--hidden: want the widths of at most 7"
					      " layers, like 320,320")
					: bad_value(longs[at].name, optarg);
	}
	if (optind < argc) {
		fprintf(stderr, "trib-train: unexpected argument '%s'; see --help\n", argv[optind]);
		return -2;
	}
	return check_ps(o);
}

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
		rc = task_generate(&d->train[i], o->seed, TASK_TRAIN, o->samples, first + i, ranks);
		if (!rc)
			rc = task_generate(&d->test[i], o->seed, TASK_TEST, o->samples / TEST_SHARE,
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
	rc = res.epoch ? data_init(&data, o, t) : -ENOMEM;
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
