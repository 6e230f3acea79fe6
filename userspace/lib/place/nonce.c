// SPDX-License-Identifier: BSD-2-Clause
/*
 * The names of attempts to join, see trib_nonce(): an instance is a process,
 * whatever number of handles and threads it has. A relay compares only nonces
 * of one child, and whoever joins as that child next draws after the one
 * before has left its place: so they grow.
 */
#include <sys/random.h>
#include <unistd.h>

#include "place.h"

static struct {
	pthread_mutex_t lock;
	pid_t owner; /* a forked child is another process */
	uint32_t instance;
	uint32_t count;
} nonces = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Also when all counts of an instance are used up. */
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
