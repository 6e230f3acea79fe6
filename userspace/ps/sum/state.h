/* SPDX-License-Identifier: BSD-2-Clause */
/* state.c: the file by which epochs survive a restart and never repeat. */
#ifndef TRIB_PS_STATE_H
#define TRIB_PS_STATE_H

#include "ps.h"

/* Replace the file. Return: 0, or -errno. */
int ps_state_save(const struct ps *ps, const char *path);
/**
 * ps_state_load() - restore the epochs and members of all trees from the file
 *
 * A missing file is no error. Trees in the file that do not exist here are
 * ignored, and the next ps_state_save() drops them.
 *
 * Return: 0, or -errno and one line in @why.
 */
int ps_state_load(struct ps *ps, const char *path, char *why, size_t size);

#endif /* TRIB_PS_STATE_H */
