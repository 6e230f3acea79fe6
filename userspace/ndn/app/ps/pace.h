/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pacing: computes when the next packet may leave, so that a rate is kept over any
 * period longer than the burst. Times are ns of one clock.
 */
#ifndef TRIB_NDN_PACE_H
#define TRIB_NDN_PACE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct ndn_pace - a pacer
 * @rate:  bytes a second; 0: unlimited.
 * @burst: ns of idle time that later packets may use.
 * @next:  when the next packet may leave.
 */
struct ndn_pace {
	uint64_t rate;
	uint64_t burst;
	uint64_t next;
};

/* May a packet leave at @now? */
bool ndn_pace_is_open(const struct ndn_pace *p, uint64_t now);
/* Account for a packet of @bytes that left at @now; headers as in @rate. */
void ndn_pace_take(struct ndn_pace *p, uint64_t now, uint32_t bytes);

#endif /* TRIB_NDN_PACE_H */
