/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors of the engine of peers. */
#ifndef PEER_ERROR_H
#define PEER_ERROR_H

#include "peer/peer.h"

/* Numbered as in enum trib_error_code of libtrib, which this room does not include. */
enum peer_error_code {
	TRIB_PEER_ARGUMENT = 1,
	TRIB_PEER_SYSTEM = 2,
	TRIB_PEER_DEAD = 4,
	TRIB_PEER_GONE = 5,
	TRIB_PEER_MISSING = 8,
};

/** peer_error() - fill in @error; Return: @err */
int peer_error(struct trib_peer_error *error, int code, int err, int rank, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

#endif /* PEER_ERROR_H */
