/* SPDX-License-Identifier: BSD-2-Clause */
/* The arithmetic of trib watch: rates from two looks at tribd. */
#ifndef TRIB_CLI_WATCH_H
#define TRIB_CLI_WATCH_H

#include <stdio.h>
#include <jansson.h>

/**
 * struct watch_sample - one look
 * @seconds: time of the look, CLOCK_MONOTONIC.
 * @status:  object of TRIB_A_STATUS.
 * @jobs, @trees, @stats, @faces: arrays of objects.
 * @ndn:     object of TRIB_A_NDN; NULL if the NDN forwarder is off.
 * @ndn_stats: array of its counters.
 */
struct watch_sample {
	double seconds;
	json_t *status;
	json_t *jobs;
	json_t *trees;
	json_t *stats;
	json_t *faces;
	json_t *ndn;
	json_t *ndn_stats;
};

void watch_free(struct watch_sample *s);

/* A child is silent if it was not heard for this long while others went on. */
#define WATCH_SILENT_MS 500
/*
 * A child is named if the others waited for its start, or for its data, for this
 * share of the interval, and WATCH_MORE times as long as for any other child. Bursts
 * of packets arrive one rank after the other, so data needs the larger share, and a
 * mean lag of WATCH_LAG windows.
 */
#define WATCH_WAIT 0.2
#define WATCH_WIRE 0.75
#define WATCH_MORE 2
#define WATCH_LAG 0.25

/**
 * watch_rates() - compute the rates between two looks
 *
 * Return: a new object: interval, host, jobs, trees (each with children), faces,
 * drops, and ndn if the NDN forwarder is on. Rates are per second, see
 * trib-watch(8).
 */
json_t *watch_rates(const struct watch_sample *a, const struct watch_sample *b);

/* Make the ndn member of watch_rates(); @dt: seconds between the looks. */
json_t *watch_ndn(const struct watch_sample *a, const struct watch_sample *b, double dt);
/* Print that member; @ndn may be NULL. */
void watch_show_ndn(FILE *f, const json_t *ndn);

#endif /* TRIB_CLI_WATCH_H */
