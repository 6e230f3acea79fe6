/* SPDX-License-Identifier: BSD-2-Clause */
/* The state file: what the maps do not say. */
#ifndef TRIBD_STATE_H
#define TRIBD_STATE_H

#include <jansson.h>

#include "daemon/core/tribd.h"

#define STATE_VERSION 1

/* The file as JSON. NULL: none (@err 0), or unreadable (@err set, logged). */
json_t *state_read(struct tribd *d, int *err);
/* Of the maps and the namespace it belongs to. */
uint64_t state_instance(const json_t *doc);
uint64_t state_netns(const json_t *doc);
/* Slots of the shared pool that were in use. */
uint32_t state_pool(const json_t *doc);
/* Makes the records of all objects; the kernel is not asked. 0, -errno. */
int state_restore(struct tribd *d, const json_t *doc, struct reason *why);
/* Only faces of names, and the rest of what is said of names. */
int state_restore_ndn(struct tribd *d, const json_t *doc, struct reason *why);
/*
 * Hook: write /run/trib/<instance>/state.json, as one step, as if @object (a
 * face, a tree, a job with its trees; NULL: none) were gone. 0 or -errno, logged.
 */
int state_write(struct tribd *d, const void *object);
/* What would be written, without @object (NULL: all). */
json_t *state_pack(struct tribd *d, const void *object);

#endif /* TRIBD_STATE_H */
