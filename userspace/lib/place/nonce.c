// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nonces of attempts to join, see trib_nonce(). One instance covers a process
 * with all its handles and threads. Nonces of one child must grow, because the
 * relay compares them: a successor draws its nonce only after its predecessor
 * has left the place.
 */
#include <sys/random.h>
#include <unistd.h>

#include "place.h"

static struct {
	pthread_mutex_t lock;
	pid_t owner; /* a forked child is a process of its own */
	uint32_t instance;
	uint32_t count;
} nonces = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Draw a new instance, also when this one has used up all counts. */
static bool draw_instance(void)
{
	if (nonces.owner == getpid() && nonces.count != UINT32_MAX)
		return true;
	if (getrandom(&nonces.instance, sizeof(nonces.instance), 0) != sizeof(nonces.instance))
		return false;
	nonces.instance |= !nonces.instance;
	nonces.owner = getpid();
	nonces.count = 0;
	return true;
}

uint64_t trib_nonce_next(void)
{
	uint64_t nonce = 0;

	pthread_mutex_lock(&nonces.lock);
	if (draw_instance())
		nonce = trib_nonce(nonces.instance, ++nonces.count);
	pthread_mutex_unlock(&nonces.lock);
	return nonce;
}
