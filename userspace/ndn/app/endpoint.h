/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What PS and workers have in common: timers, back-off, estimates of how long
 * something takes, random numbers. Times are ns of one monotonic clock that the
 * caller reads; nothing here makes system calls.
 */
#ifndef TRIB_NDN_ENDPOINT_H
#define TRIB_NDN_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#define NDN_MS 1000000ULL
#define NDN_SEC 1000000000ULL
/* A time that never comes. */
#define NDN_NEVER UINT64_MAX

/**
 * struct ndn_timer - a moment, and the wait that led to it
 * @at:   when it is due; 0: it is not set.
 * @wait: of a repeated one: its last wait, from which the next one is made.
 *
 * All zero is a timer that is not set.
 */
struct ndn_timer {
	uint64_t at;
	uint64_t wait;
};

void ndn_timer_set(struct ndn_timer *t, uint64_t at);
/* It also forgets its wait: the next repetition begins with the shortest. */
void ndn_timer_cancel(struct ndn_timer *t);
bool ndn_timer_is_set(const struct ndn_timer *t);
/* Whether it is due; then it is not set any more, but knows its wait. */
bool ndn_timer_take(struct ndn_timer *t, uint64_t now);
/*
 * Sets it after twice its last wait: at least @least, at most @most. With
 * ndn_timer_cancel() before it: the first of some repetitions.
 */
void ndn_timer_repeat(struct ndn_timer *t, uint64_t now, uint64_t least,
		      uint64_t most);
/* The sooner of @next and when @t is due. */
uint64_t ndn_timer_sooner(const struct ndn_timer *t, uint64_t next);

/**
 * struct ndn_estimate - mean and deviation of a time, as TCP keeps them
 * @mean:  ns.
 * @dev:   ns.
 * @known: there was a sample; else the two are a guess.
 */
struct ndn_estimate {
	uint64_t mean;
	uint64_t dev;
	bool known;
};

void ndn_estimate_init(struct ndn_estimate *e, uint64_t guess);
void ndn_estimate_take(struct ndn_estimate *e, uint64_t sample);
/* Mean - 2 deviations, or 0: hardly anything takes less. */
uint64_t ndn_estimate_early(const struct ndn_estimate *e);
/* Mean + 4 deviations: hardly anything takes longer. */
uint64_t ndn_estimate_late(const struct ndn_estimate *e);

/**
 * struct ndn_random - numbers nobody expects: nonces, spread of timers
 * @state: any; differs between processes. No secret is made of it.
 */
struct ndn_random {
	uint64_t state;
};

uint64_t ndn_random_next(struct ndn_random *r);
/* From @low to @high, both included. */
uint64_t ndn_random_between(struct ndn_random *r, uint64_t low, uint64_t high);

#endif /* TRIB_NDN_ENDPOINT_H */
