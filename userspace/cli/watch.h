/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What trib watch computes from two looks at tribd, apart from how they were
 * taken and how they are shown.
 */
#ifndef TRIB_CLI_WATCH_H
#define TRIB_CLI_WATCH_H

#include <jansson.h>

/**
 * struct watch_sample - one look
 * @seconds: when, CLOCK_MONOTONIC.
 * @status:  object of TRIB_A_STATUS.
 * @jobs:    arrays of objects, as are
 * @trees:   trees, and
 * @stats:   counters.
 */
struct watch_sample {
	double seconds;
	json_t *status;
	json_t *jobs;
	json_t *trees;
	json_t *stats;
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
 * drops. Rates are per second; docs in trib-watch(8).
 */
json_t *watch_rates(const struct watch_sample *a, const struct watch_sample *b);

#endif /* TRIB_CLI_WATCH_H */
