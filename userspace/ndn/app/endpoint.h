/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by PS and workers: timers with back-off, estimates of durations, random
 * numbers. Times are ns of a monotonic clock that the caller reads. No system
 * calls.
 */
#ifndef TRIB_NDN_ENDPOINT_H
#define TRIB_NDN_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#define NDN_MS 1000000ULL
#define NDN_SEC 1000000000ULL
/* A time that is never reached. */
#define NDN_NEVER UINT64_MAX

/**
 * struct ndn_timer - a timer with back-off
 * @at:   when it expires; 0: not set.
 * @wait: last wait, which ndn_timer_repeat() doubles.
 *
 * Zeroed memory is a timer that is not set.
 */
struct ndn_timer {
	uint64_t at;
	uint64_t wait;
};

void ndn_timer_set(struct ndn_timer *t, uint64_t at);
/* Cancel the timer and reset its back-off. */
void ndn_timer_cancel(struct ndn_timer *t);
bool ndn_timer_is_set(const struct ndn_timer *t);
/* Test and clear: has the timer expired? Keeps the back-off. */
bool ndn_timer_take(struct ndn_timer *t, uint64_t now);
/*
 * Set the timer to twice its last wait, within @least and @most. After
 * ndn_timer_cancel() it begins with @least.
 */
void ndn_timer_repeat(struct ndn_timer *t, uint64_t now, uint64_t least, uint64_t most);
/* Earlier of @next and the expiry of @t. */
uint64_t ndn_timer_sooner(const struct ndn_timer *t, uint64_t next);

/**
 * struct ndn_estimate - mean and deviation of a duration, as in TCP
 * @mean:  ns.
 * @dev:   ns.
 * @known: there was a sample; else mean and deviation are a guess.
 */
struct ndn_estimate {
	uint64_t mean;
	uint64_t dev;
	bool known;
};

void ndn_estimate_init(struct ndn_estimate *e, uint64_t guess);
void ndn_estimate_take(struct ndn_estimate *e, uint64_t sample);
/* Mean - 2 deviations, at least 0: samples are rarely below. */
uint64_t ndn_estimate_early(const struct ndn_estimate *e);
/* Mean + 4 deviations: samples are rarely above. */
uint64_t ndn_estimate_late(const struct ndn_estimate *e);

/**
 * struct ndn_random - random numbers for nonces and jitter, not for secrets
 * @state: seed; differs between processes.
 */
struct ndn_random {
	uint64_t state;
};

uint64_t ndn_random_next(struct ndn_random *r);
/* A number from @low to @high, inclusive. */
uint64_t ndn_random_between(struct ndn_random *r, uint64_t low, uint64_t high);

#endif /* TRIB_NDN_ENDPOINT_H */
