/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pacing clock: says when the next packet may leave, so that a rate is kept
 * over any while that is longer than the burst. Times in ns of one clock.
 */
#ifndef TRIB_NDN_PACE_H
#define TRIB_NDN_PACE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct ndn_pace - a clock
 * @rate:  bytes a second; 0: as fast as it goes.
 * @burst: ns of sleep that may be made up for.
 * @next:  when the rate allows the next packet.
 */
struct ndn_pace {
	uint64_t rate;
	uint64_t burst;
	uint64_t next;
};

/* Whether a packet may leave at @now. */
bool ndn_pace_is_open(const struct ndn_pace *p, uint64_t now);
/* One of @bytes left at @now; they include headers below, if @rate does. */
void ndn_pace_take(struct ndn_pace *p, uint64_t now, uint32_t bytes);

#endif /* TRIB_NDN_PACE_H */
