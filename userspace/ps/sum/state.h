/* SPDX-License-Identifier: BSD-2-Clause */
/* state.c: the file that lets epochs survive a restart, and never repeat. */
#ifndef TRIB_PS_STATE_H
#define TRIB_PS_STATE_H

#include "ps.h"

/* Return: 0, or -errno. */
int ps_state_save(const struct ps *ps, const char *path);
/**
 * ps_state_load() - give the trees what they had
 * No file is no error. What is there of trees that are no more is kept out of
 * the next file. Return: 0, or -errno and one line in @why.
 */
int ps_state_load(struct ps *ps, const char *path, char *why, size_t size);

#endif /* TRIB_PS_STATE_H */
