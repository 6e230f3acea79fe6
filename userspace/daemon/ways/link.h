/* SPDX-License-Identifier: BSD-2-Clause */
/* One watched link: does the other end answer? Pure. */
#ifndef TRIBD_WAYS_LINK_H
#define TRIBD_WAYS_LINK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "uapi/trib_auth.h"
#include "uapi/trib_ways.h"

#define WAYS_TURN_MS 50
/* Turns without an echo after which a link is dead. */
#define WAYS_PROBES 10
/* Echoes after which it is alive again; each turn without one counts against two. */
#define WAYS_SIGNS 20

/**
 * struct ways_link - a neighbour on a device
 * @asked:  numbers of the newest probes without an echo, newest first; 0: none.
 * @heard:  newest number of the other end, to be echoed.
 * @digest: of what the other end knows.
 * @known:  a probe has told @digest.
 * @met:    an echo has come: from now on it may lose trust.
 * @silent: turns since the last echo.
 * @signs:  trust, up to WAYS_SIGNS.
 */
struct ways_link {
	struct in6_addr local;
	struct in6_addr peer;
	struct trib_key key;
	uint64_t asked[WAYS_PROBES];
	uint64_t heard;
	uint64_t digest;
	bool known;
	bool met;
	bool dead;
	unsigned int silent;
	unsigned int signs;
};

/*
 * A link that was never tried counts as alive, so that a tribd that starts anew changes no
 * routes. One that was dead from the first is alive with the first echo.
 */
void ways_link_start(struct ways_link *l);
/* Once a turn: is it silent for too long? Return: @dead has changed. */
bool ways_link_judge(struct ways_link *l);
/* Note the probe that is sent now. */
void ways_link_asked(struct ways_link *l, uint64_t number);
/* An authentic probe came. Return: @dead has changed. */
bool ways_link_heard(struct ways_link *l, uint64_t number, uint64_t echo, uint64_t digest);

#endif /* TRIBD_WAYS_LINK_H */
