// SPDX-License-Identifier: BSD-2-Clause
/* Names of algorithms. */
#include <string.h>

#include "peer/sched/sched.h"

static const char *const names[] = {
	[PEER_ALG_AUTO] = "auto",	[PEER_ALG_DIRECT] = "direct", [PEER_ALG_RING] = "ring",
	[PEER_ALG_HALVING] = "halving", [PEER_ALG_BCUBE] = "bcube",   [PEER_ALG_TORUS] = "torus",
};

/** peer_alg_name() - name of an algorithm, never NULL */
const char *peer_alg_name(enum peer_alg alg)
{
	return alg < PEER_ALG__MAX ? names[alg] : "unknown";
}

/** peer_alg_parse() - algorithm of a name, or PEER_ALG__MAX */
enum peer_alg peer_alg_parse(const char *name)
{
	unsigned int i;

	for (i = 0; i < PEER_ALG__MAX; i++)
		if (!strcmp(names[i], name))
			return i;
	return PEER_ALG__MAX;
}
