// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses and checks the benchmarks' command line. Errors name the option and
 * its value.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opts.h"

#define DEFAULT_MAX ((size_t)16 << 20)

static const char *const collectives[] = {
	[PERF_ALLREDUCE] = "allreduce", [PERF_REDUCE_SCATTER] = "reduce_scatter",
	[PERF_ALLGATHER] = "allgather", [PERF_BROADCAST] = "broadcast",
	[PERF_BARRIER] = "barrier",	NULL,
};

static const char *const dtypes[] = {
	[TRIB_F32] = "float",	  [TRIB_I32] = "int32",	 [TRIB_F16] = "half",
	[TRIB_BF16] = "bfloat16", [TRIB_F64] = "double", NULL,
};

static const char *const ops[] = {
	[TRIB_SUM] = "sum", [TRIB_AVG] = "avg",	  [TRIB_MAX] = "max",
	[TRIB_MIN] = "min", [TRIB_PROD] = "prod", NULL,
};

const char *perf_collective_name(enum perf_collective c)
{
	return collectives[c];
}

const char *perf_dtype_name(enum trib_dtype d)
{
	return dtypes[d];
}

const char *perf_op_name(enum trib_op op)
{
	return ops[op];
}

/* Describes what the value that was refused last should have been. */
static char wanted[160];

const char *perf_wanted(void)
{
	return wanted;
}

int perf_parse_size(const char *text, size_t max, size_t *out)
{
	unsigned long long v;
	unsigned int shift = 0;
	char *end;

	snprintf(wanted, sizeof(wanted), "bytes up to %zu, like 4096, 64K, 16M or 1G", max);
	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno)
		return -1;
	switch (*end) {
	case 'G':
	case 'g':
		shift += 10;
		/* fall through */
	case 'M':
	case 'm':
		shift += 10;
		/* fall through */
	case 'K':
	case 'k':
		shift += 10;
		end++;
	}
	if (*end || v > max >> shift)
		return -1;
	*out = (size_t)v << shift;
	return 0;
}

int perf_parse_uint(const char *text, unsigned int min, unsigned int max, unsigned int *out)
{
	unsigned long v;
	char *end;

	snprintf(wanted, sizeof(wanted), "a number from %u to %u", min, max);
	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || *end || v < min || v > max)
		return -1;
	*out = (unsigned int)v;
	return 0;
}

int perf_parse_name(const char *const *names, const char *text, int *out)
{
	size_t n = 0;

	for (int i = 0; names[i]; i++) {
		if (!strcmp(names[i], text)) {
			*out = i;
			return 0;
		}
		n += (size_t)snprintf(wanted + n, sizeof(wanted) - n, "%s%s", i ? ", " : "",
				      names[i]);
	}
	return -1;
}

static void usage(const struct perf_opts *o)
{
	printf("usage: %s [options], one process per rank\n"
	       "  -b BYTES   smallest message (K, M, G; default 1K)\n"
	       "  -e BYTES   largest message (default 16M)\n"
	       "  -f FACTOR  multiply sizes by this (default 4)\n"
	       "  -i BYTES   or add this\n"
	       "  -n COUNT   timed iterations (default 20)\n"
	       "  -w COUNT   warm-up iterations (default 5)\n"
	       "  -c 0|1|2   check: no, yes (default), every iteration\n"
	       "  -d TYPE    float (default), int32; by peers half, bfloat16, double\n"
	       "  -o OP      sum (default), avg, max, min; by peers prod\n"
	       "  -r RANK    root of broadcast (default 0)\n"
	       "  -C NAME    allreduce (default), reduce_scatter, allgather,\n"
	       "             broadcast, barrier\n"
	       "  -p COUNT   collectives in flight (default 1)\n"
	       "  -J FILE    rank 0 writes the figures as JSON (- is stdout)\n"
	       "  -A NAME    algorithm:",
	       o->tool);
	for (int i = 0; o->algorithms[i]; i++)
		printf("%s %s", i ? "," : "", o->algorithms[i]);
	printf(" (default %s)\n"
	       "%s"
	       "  -V, --version\n  -h, --help\n",
	       o->algorithms[0], o->extra_help ? o->extra_help : "");
}

static int bad(const struct perf_opts *o, int letter, const char *value)
{
	fprintf(stderr, "%s: -%c %s: want %s; see -h\n", o->tool, letter, value, wanted);
	return -2;
}

/* Set one option; 0, or -1 if @value is bad. */
static int set(struct perf_opts *o, int letter, const char *value)
{
	int which = 0, rc = 0;
	unsigned int n;

	switch (letter) {
	case 'b':
		return perf_parse_size(value, PERF_BYTES_MAX, &o->min_bytes);
	case 'e':
		return perf_parse_size(value, PERF_BYTES_MAX, &o->max_bytes);
	case 'i':
		o->factor = 0;
		rc = perf_parse_size(value, PERF_BYTES_MAX, &o->increment);
		return rc ? rc : -!o->increment;
	case 'f':
		return perf_parse_uint(value, 2, 1 << 20, &o->factor);
	case 'n':
		return perf_parse_uint(value, 1, PERF_ITERS_MAX, &o->iters);
	case 'w':
		return perf_parse_uint(value, 0, PERF_ITERS_MAX, &o->warmup);
	case 'r':
		return perf_parse_uint(value, 0, 1023, &o->root);
	case 'p':
		return perf_parse_uint(value, 1, PERF_INFLIGHT_MAX, &o->inflight);
	case 'c':
		rc = perf_parse_uint(value, 0, 2, &n);
		o->check = rc ? o->check : (enum perf_check)n;
		return rc;
	case 'd':
		rc = perf_parse_name(dtypes, value, &which);
		o->dtype = (enum trib_dtype)which;
		return rc;
	case 'o':
		rc = perf_parse_name(ops, value, &which);
		o->op = (enum trib_op)which;
		return rc;
	case 'C':
		rc = perf_parse_name(collectives, value, &which);
		o->collective = (enum perf_collective)which;
		return rc;
	case 'A':
		rc = perf_parse_name(o->algorithms, value, &which);
		o->algorithm = o->algorithms[which];
		return rc;
	case 'J':
		o->json = value;
		strcpy(wanted, "the name of a file");
		return *value ? 0 : -1;
	}
	return o->on_extra(o->arg, letter, value);
}

int perf_opts_parse(struct perf_opts *o, int argc, char **argv)
{
	struct option names[PERF_NAMES_MAX + 3] = {{"help", no_argument, NULL, 'h'},
						   {"version", no_argument, NULL, 'V'}};
	char letters[64], most[24];
	int c;

	o->min_bytes = 1024;
	o->factor = 4;
	o->iters = 20;
	o->warmup = 5;
	o->check = PERF_CHECK_SOME;
	o->algorithm = o->algorithms[0];
	o->inflight = 1;

	snprintf(letters, sizeof(letters), "hVb:e:f:i:n:w:c:d:o:r:A:C:J:p:%s",
		 o->extra ? o->extra : "");
	for (c = 0; o->extra_long && o->extra_long[c].name && c < PERF_NAMES_MAX; c++)
		names[2 + c] = o->extra_long[c];
	while ((c = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		if (c == 'h') {
			usage(o);
			return 1;
		}
		if (c == 'V') {
			printf("%s %s\n", o->tool, TRIB_VERSION);
			return 1;
		}
		if (c == '?') {
			/* getopt has printed the error. */
			fprintf(stderr, "%s: -h lists the options\n", o->tool);
			return -2;
		}
		if (set(o, c, optarg))
			return bad(o, c, optarg);
	}
	if (optind < argc) {
		fprintf(stderr, "%s: unknown option '%s'; see -h\n", o->tool, argv[optind]);
		return -2;
	}
	strcpy(wanted, "sum, max, min or prod with -d int32");
	if (o->dtype == TRIB_I32 && o->op == TRIB_AVG)
		return bad(o, 'o', "avg");
	if (!o->max_bytes)
		o->max_bytes = o->min_bytes > DEFAULT_MAX ? o->min_bytes : DEFAULT_MAX;
	snprintf(wanted, sizeof(wanted), "at least the %zu of -b", o->min_bytes);
	if (o->max_bytes < o->min_bytes) {
		snprintf(most, sizeof(most), "%zu", o->max_bytes);
		return bad(o, 'e', most);
	}
	return 0;
}

size_t perf_opts_next(const struct perf_opts *o, size_t bytes)
{
	size_t next = o->factor ? bytes * o->factor : bytes + o->increment;

	/* A factor does not grow zero bytes. */
	if (o->factor && !bytes)
		next = 4;
	if (o->collective == PERF_BARRIER)
		return 0;
	return next <= o->max_bytes ? next : 0;
}
