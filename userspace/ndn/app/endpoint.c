// SPDX-License-Identifier: BSD-2-Clause
/* Timers, estimates, random numbers. The model is tests/sim/ndn/endpoint.py. */
#include "endpoint.h"

/* Limit of samples, so that sums of a few do not overflow. */
#define SAMPLE_MAX (1ULL << 60)

void ndn_timer_set(struct ndn_timer *t, uint64_t at)
{
	t->at = at ? at : 1;
}

void ndn_timer_cancel(struct ndn_timer *t)
{
	t->at = 0;
	t->wait = 0;
}

bool ndn_timer_is_set(const struct ndn_timer *t)
{
	return t->at != 0;
}

bool ndn_timer_take(struct ndn_timer *t, uint64_t now)
{
	if (!t->at || t->at > now)
		return false;
	t->at = 0;
	return true;
}

void ndn_timer_repeat(struct ndn_timer *t, uint64_t now, uint64_t least, uint64_t most)
{
	uint64_t wait = 2 * t->wait;

	if (wait < least)
		wait = least;
	if (wait > most)
		wait = most;
	t->wait = wait;
	ndn_timer_set(t, now + wait);
}

uint64_t ndn_timer_sooner(const struct ndn_timer *t, uint64_t next)
{
	return t->at && t->at < next ? t->at : next;
}

void ndn_estimate_init(struct ndn_estimate *e, uint64_t guess)
{
	e->mean = guess;
	e->dev = guess / 2;
	e->known = false;
}

void ndn_estimate_take(struct ndn_estimate *e, uint64_t sample)
{
	uint64_t error;

	if (sample > SAMPLE_MAX)
		sample = SAMPLE_MAX;
	if (!e->known) {
		ndn_estimate_init(e, sample);
		e->known = true;
		return;
	}
	error = sample > e->mean ? sample - e->mean : e->mean - sample;
	if (sample > e->mean)
		e->mean += error / 8;
	else
		e->mean -= error / 8;
	if (error > e->dev)
		e->dev += (error - e->dev) / 4;
	else
		e->dev -= (e->dev - error) / 4;
}

uint64_t ndn_estimate_early(const struct ndn_estimate *e)
{
	return e->mean > 2 * e->dev ? e->mean - 2 * e->dev : 0;
}

uint64_t ndn_estimate_late(const struct ndn_estimate *e)
{
	return e->mean + 4 * e->dev + 1;
}

/* splitmix64 */
uint64_t ndn_random_next(struct ndn_random *r)
{
	uint64_t x = r->state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

uint64_t ndn_random_between(struct ndn_random *r, uint64_t low, uint64_t high)
{
	if (high <= low)
		return low;
	return low + ndn_random_next(r) % (high - low + 1);
}
