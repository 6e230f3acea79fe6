/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What trib watch computes from two looks at tribd, apart from how they were
 * taken and how they are shown.
 */
#ifndef TRIB_CLI_WATCH_H
#define TRIB_CLI_WATCH_H

#include <stdio.h>
#include <jansson.h>

/**
 * struct watch_sample - one look
 * @seconds: when, CLOCK_MONOTONIC.
 * @status:  object of TRIB_A_STATUS.
 * @jobs:    arrays of objects, as are
 * @trees:   trees, and
 * @stats:   counters.
 * @names:   object of TRIB_A_NDN; NULL: the NDN forwarder is off.
 * @ndn_stats: its counters.
 */
struct watch_sample {
	double seconds;
	json_t *status;
	json_t *jobs;
	json_t *trees;
	json_t *stats;
	json_t *ndn;
	json_t *ndn_stats;
};

void watch_free(struct watch_sample *s);

/*
 * A silent child is one that has not been heard for this long while others
 * have gone on.
 */
#define WATCH_SILENT_MS 500

/**
 * watch_rates() - what happened between two looks
 *
 * Return: a new object: interval, host, jobs, trees (each with children),
 * drops, and names if the NDN forwarder is on. Rates are per second; docs in trib-watch(8).
 */
json_t *watch_rates(const struct watch_sample *a, const struct watch_sample *b);

/* The last of these; @dt: seconds between the looks. */
json_t *watch_ndn(const struct watch_sample *a, const struct watch_sample *b,
		  double dt);
/* And for people; @names may be NULL. */
void watch_show_ndn(FILE *f, const json_t *names);

#endif /* TRIB_CLI_WATCH_H */
