/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that a guest makes several of, all or none, and holds until their elements are
 * there: those of the handle's way, if it has its own, else the engine's. The handle's
 * lock is held in every function.
 */
#ifndef TRIB_LIB_COMPOSE_H
#define TRIB_LIB_COMPOSE_H

#include "handle.h"

/** trib_compose_prepare() - as trib_call_prepare() */
int trib_compose_prepare(struct trib *t, const struct trib_call *call, struct trib_req **out);
/** trib_compose_start() - as trib_call_start(), in the order of preparation */
void trib_compose_start(struct trib_req *r);
/** trib_compose_release() - as trib_req_release() */
void trib_compose_release(struct trib_req *r);
/** trib_compose_drop() - as trib_req_drop() */
void trib_compose_drop(struct trib_req *r);

#endif /* TRIB_LIB_COMPOSE_H */
