/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detours: if the relay of a tree dies, the ranks sum its chunks themselves, until it is back.
 * README.md has the picture. The handle's lock is held in all functions but close().
 */
#ifndef TRIB_LIB_DETOUR_H
#define TRIB_LIB_DETOUR_H

#include "lib/handle/handle.h"

/**
 * trib_detours_meet() - connect the ranks, if TRIB_DETOUR is 1 and the place says where they meet
 * A collective; before the engine joins. Return: 0, also without a meeting point, or an errno
 * that is recorded.
 */
int trib_detours_meet(struct trib *t);
/**
 * trib_detours_start() - be ready: all trees run
 * @epochs: tells tribd that epochs have changed.
 *
 * Return: 0, or an errno that is recorded.
 */
int trib_detours_start(struct trib *t, void (*epochs)(struct trib *t));
/**
 * trib_detours_leave() - leave the other ranks; releases the lock meanwhile
 * @together: all ranks leave: answer them until they have left, too. Else they hear that this
 *            rank ended.
 */
void trib_detours_leave(struct trib *t, bool together);
/** trib_detours_close() - free all, whatever state it is in */
void trib_detours_close(struct trib *t);
/** trib_detours_describe() - append which trees are on a detour */
void trib_detours_describe(const struct trib *t, char *buf, size_t room);

#endif /* TRIB_LIB_DETOUR_H */
