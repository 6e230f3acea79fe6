/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times one collective at one size and verifies its result. struct perf_net
 * hides the library, so that libtrib and its peers run through the same loop,
 * clock and oracle.
 */
#ifndef PERF_MEASURE_H
#define PERF_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "opts.h"
#include "oracle.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct perf_call - one collective to start
 * @slot:  number of the inflight buffer; at most one call each.
 * @src:   input.
 * @dst:   output.
 * @count: elements, as trib.h counts them for the collective.
 */
struct perf_call {
	unsigned int slot;
	const void *src;
	void *dst;
	size_t count;
};

/**
 * struct perf_saved - effect of compression on all messages of one rank
 * @spec:     what was asked for.
 * @messages: all, warm-up and checks included.
 * @dense:    bytes of their values as floats.
 * @sent, @received: bytes of payload instead of them.
 * @codec_us: time of compressing and expanding.
 */
struct perf_saved {
	const char *spec;
	uint64_t messages;
	uint64_t dense;
	uint64_t sent;
	uint64_t received;
	double codec_us;
};

/**
 * struct perf_net - a library under measurement
 * @name:   of the tool, for messages.
 * @detail: for the table's head, such as the transport.
 * @rank:   of this process.
 * @world:  ranks.
 * @ctx:    private to the implementation.
 * @in_place: every call works on dst alone, which holds the input.
 * @bound:  error bound of its float sums.
 * @saved:  for the report, complete at its end; NULL: no compression.
 * @keep:   compression of the newest message that is finished.
 * @start:  begin a collective of the run's kind.
 * @finish: wait for the collective in @slot.
 * @barrier: wait for all ranks.
 * @max_f32: v[] = largest of all ranks.
 * @max_i32: the same.
 * @sum_i32: v[] = sum over ranks.
 * @fault:  one line about the last failed call.
 * @far_new: make memory that only the library touches, for src and dst of calls; NULL:
 *          calls take host memory.
 * @far_put, @far_get: copy to it and from it, and wait.
 *
 * Calls return 0 or a negative errno.
 */
struct perf_net {
	const char *name;
	const char *detail;
	unsigned int rank;
	unsigned int world;
	void *ctx;
	int in_place;
	enum oracle_bound bound;
	const struct perf_saved *saved;
	struct oracle_keep keep;
	int (*start)(struct perf_net *net, const struct perf_call *call);
	int (*finish)(struct perf_net *net, unsigned int slot);
	int (*barrier)(struct perf_net *net);
	int (*max_f32)(struct perf_net *net, float *v, size_t n);
	int (*max_i32)(struct perf_net *net, int32_t *v, size_t n);
	int (*sum_i32)(struct perf_net *net, int32_t *v, size_t n);
	const char *(*fault)(struct perf_net *net);
	void *(*far_new)(struct perf_net *net, size_t bytes);
	void (*far_free)(struct perf_net *net, void *p);
	int (*far_put)(struct perf_net *net, void *to, const void *from, size_t bytes);
	int (*far_get)(struct perf_net *net, void *to, const void *from, size_t bytes);
};

/**
 * struct perf_row - one line of the table
 * @bytes:   size of the whole message, on each rank.
 * @count:   elements, as trib.h counts them.
 * @time_us: per operation, the slowest rank's.
 * @algbw:   @bytes over @time_us, in 10^9 bytes/s.
 * @busbw:   @algbw by nccl-tests' factor for the collective.
 * @p50_us:  of single operations, each the slowest rank's.
 * @p99_us:  the same.
 * @min_us:  the same.
 * @cpu_us:  CPU time of this rank's host per operation, of all that ran there; 0: unknown.
 * @checked: results that were verified on each rank; 0: none.
 * @wrong:   wrong elements on all ranks.
 * @differ:  results that were not bit-identical on all ranks.
 */
struct perf_row {
	size_t bytes;
	size_t count;
	double time_us;
	double algbw;
	double busbw;
	double p50_us;
	double p99_us;
	double min_us;
	double cpu_us;
	unsigned int checked;
	uint64_t wrong;
	uint64_t differ;
};

/*
 * Measure one size. Wrong values are printed to stderr by the rank that has
 * them. Return: 0, or a negative errno (net->fault() says more).
 */
int perf_measure(struct perf_net *net, const struct perf_opts *o, size_t bytes,
		 struct perf_row *row);

/* Value below which @percent of the @n sorted values lie (nearest rank). */
double perf_percentile(const float *sorted, size_t n, double percent);

/* Sort ascending. */
void perf_sort(float *v, size_t n);

/* The factor from algbw to busbw, as in nccl-tests. */
double perf_bus_factor(enum perf_collective c, unsigned int world);

#ifdef __cplusplus
}
#endif
#endif /* PERF_MEASURE_H */
