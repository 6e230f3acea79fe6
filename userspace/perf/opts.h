/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of trib-perf and its peers: the letters of nccl-tests, and a
 * few more.
 */
#ifndef PERF_OPTS_H
#define PERF_OPTS_H

#include <stddef.h>
#include <stdint.h>

#include "trib.h"

#ifdef __cplusplus
extern "C" {
#endif

struct option; /* of getopt_long() */

enum perf_collective {
	PERF_ALLREDUCE = 0,
	PERF_REDUCE_SCATTER,
	PERF_ALLGATHER,
	PERF_BROADCAST,
	PERF_BARRIER,
	PERF__MAX,
};

enum perf_check {
	PERF_CHECK_NONE = 0,
	PERF_CHECK_SOME = 1, /* before timing, and the last timed results */
	PERF_CHECK_EACH = 2, /* every result, which prevents pipelining */
};

#define PERF_NAMES_MAX 4

/**
 * struct perf_opts - what to measure
 * @tool:       name in messages.
 * @algorithms: names for -A, ending in NULL; the first is the default.
 * @extra:      further getopt letters, each with an argument.
 * @extra_long: names for them, at most PERF_NAMES_MAX, ending in zeros; or NULL.
 * @extra_help: lines about them, or NULL.
 * @on_extra:   called for one of @extra; 0 or -1 (the value is bad).
 * @arg:        for @on_extra.
 * @min_bytes:  -b
 * @max_bytes:  -e
 * @factor:     -f, 0: use @increment.
 * @increment:  -i
 * @iters:      -n
 * @warmup:     -w
 * @check:      -c
 * @dtype:      -d
 * @op:         -o
 * @root:       -r
 * @collective: -C
 * @algorithm:  -A
 * @json:       -J, or NULL.
 * @inflight:   -p
 */
struct perf_opts {
	const char *tool;
	const char *const *algorithms;
	const char *extra;
	const struct option *extra_long;
	const char *extra_help;
	int (*on_extra)(void *arg, int letter, const char *value);
	void *arg;

	size_t min_bytes;
	size_t max_bytes;
	unsigned int factor;
	size_t increment;
	unsigned int iters;
	unsigned int warmup;
	enum perf_check check;
	enum trib_dtype dtype;
	enum trib_op op;
	unsigned int root;
	enum perf_collective collective;
	const char *algorithm;
	const char *json;
	unsigned int inflight;
};

#define PERF_BYTES_MAX ((size_t)4 << 30)
#define PERF_ITERS_MAX 1000000
#define PERF_INFLIGHT_MAX 64

/*
 * Fill @o from the command line; the caller has set the fields up to @arg.
 * Return: 0, 1 (help or version was printed) or -2 (a message was printed).
 */
int perf_opts_parse(struct perf_opts *o, int argc, char **argv);

/* The size after @bytes, or 0 if there is none. */
size_t perf_opts_next(const struct perf_opts *o, size_t bytes);

/* Parse a size such as "16M" (16777216); 0 or -1. */
int perf_parse_size(const char *text, size_t max, size_t *out);

/* Parse a decimal integer from @min to @max; 0 or -1. */
int perf_parse_uint(const char *text, unsigned int min, unsigned int max, unsigned int *out);

/* Find a name in a list that ends in NULL; 0 or -1. */
int perf_parse_name(const char *const *names, const char *text, int *out);

/* Describe what the value should have been that one of these refused last. */
const char *perf_wanted(void);

const char *perf_collective_name(enum perf_collective c);
const char *perf_dtype_name(enum trib_dtype d);
const char *perf_op_name(enum trib_op op);

#ifdef __cplusplus
}
#endif
#endif /* PERF_OPTS_H */
