/* SPDX-License-Identifier: BSD-2-Clause */
/* Rates of a job's network, measured when it starts and kept while it lives. */
#ifndef PEER_MEASURE_H
#define PEER_MEASURE_H

#include "peer/choose/choose.h"
#include "peer/run/crew.h"

/** struct peer_rates - seconds: of a message, per byte, per byte added; swapped as it is */
struct peer_rates {
	double alpha;
	double beta;
	double gamma;
};

/**
 * peer_measure() - time a few calls by shape 0; all ranks do it at the same point
 * Return: 0, or a negative errno with @error.
 */
int peer_measure(struct peer_crew *c, struct peer_rates *out, struct trib_peer_error *error);

/*
 * Chunks, unless the user says their size. Larger ones cost fewer system calls and
 * wake-ups; smaller ones let the steps of a slow network overlap better.
 */
#define PEER_CHUNK_MIN (64 << 10)
#define PEER_CHUNK_MAX (256 << 10)
#define PEER_CHUNK_SECONDS 4e-3

/** peer_rates_chunk() - bytes that should travel together; a power of two */
size_t peer_rates_chunk(const struct peer_rates *r);

/** peer_rates_costs() - what the model needs */
void peer_rates_costs(const struct peer_rates *r, struct peer_costs *costs);

#endif /* PEER_MEASURE_H */
