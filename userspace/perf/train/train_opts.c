// SPDX-License-Identifier: BSD-2-Clause
/* The command line of trib-train. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "perf/opts.h"
#include "train.h"

#define TEST_SHARE 8 /* the test set has 1/8 of the training set's samples */

static void usage(void)
{
	printf("usage: trib-train [options], one process per rank\n"
	       "  --epochs N      passes over the samples (default 12)\n"
	       "  --hidden N,...  widths of the hidden layers (default 320,320)\n"
	       "  --batch N       samples a step, over all ranks (default 256)\n"
	       "  --task NAME     spirals or loud8 (default spirals)\n"
	       "  --samples N     training samples (default 32768)\n"
	       "  --test N        samples for testing (default: an eighth of --samples)\n"
	       "  --seed N        of data and first weights (default 1)\n"
	       "  --bucket BYTES  gradients worth sending (default 128K)\n"
	       "  --compress SPEC compress gradients: 2:4+int8, 2:4/local, 0:dense,200:4:8, auto\n"
	       "  --no-feedback   what is not sent is lost\n"
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

static int parse_task(struct train_opts *o, const char *text)
{
	int i;

	for (i = 0; i < TASK__MAX; i++)
		if (!strcmp(text, task_name((enum task_kind)i)))
			break;
	o->task = (enum task_kind)i;
	return i < TASK__MAX ? 0 : -1;
}

/* The library checks the schedule itself. */
static int parse_compress(struct train_opts *o, const char *text)
{
	static char spec[256];
	size_t len = strlen(text);

	o->local = len >= 6 && !strcmp(text + len - 6, "/local");
	len -= o->local ? 6 : 0;
	if (!len || len >= sizeof(spec))
		return -1;
	memcpy(spec, text, len);
	o->compress = spec;
	return 0;
}

static int set(struct train_opts *o, int which, const char *value)
{
	unsigned int n;
	int rc = 0;

	switch (which) {
	case 'e':
		return perf_parse_uint(value, 1, TRAIN_EPOCHS_MAX, &o->epochs);
	case 'b':
		return perf_parse_uint(value, 1, 65536, &o->batch);
	case 'n':
		return perf_parse_uint(value, 1, 10000000, &o->samples);
	case 's':
		rc = perf_parse_uint(value, 0, 0xffffffffu, &n);
		o->seed = rc ? o->seed : n;
		return rc;
	case 't':
		return perf_parse_uint(value, 1, 10000000, &o->test);
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

/* Options whose mistakes need a text of their own. */
static int set_named(struct train_opts *o, int which, const char *option, const char *value)
{
	if (which == 'h' && parse_hidden(o, value))
		return bad("--hidden: want the widths of at most 7 layers, like 320,320");
	if (which == 'T' && parse_task(o, value))
		return bad("--task: want spirals or loud8");
	if (which == 'z' && parse_compress(o, value))
		return bad("--compress: want a schedule, like 2:4+int8 or 2:4/local");
	if (strchr("hTz", which))
		return 0;
	return set(o, which, value) ? bad_value(option, value) : 0;
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
		{"task", required_argument, NULL, 'T'},
		{"test", required_argument, NULL, 't'},
		{"compress", required_argument, NULL, 'z'},
		{"no-feedback", no_argument, NULL, 'F'},
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
		else if (c == 'F')
			o->no_feedback = 1;
		else if (set_named(o, c, longs[at].name, optarg))
			return -2;
	}
	if (optind < argc) {
		fprintf(stderr, "trib-train: unexpected argument '%s'; see --help\n", argv[optind]);
		return -2;
	}
	if (!o->test)
		o->test = o->samples / TEST_SHARE;
	if (o->compress && (o->ps || o->alone))
		return bad("--compress needs a job: no --ps, no --alone");
	if (o->no_feedback && !o->compress)
		return bad("--no-feedback needs --compress");
	return check_ps(o);
}
