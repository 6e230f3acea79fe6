/* SPDX-License-Identifier: BSD-2-Clause */
/* The state file: what the maps do not hold. */
#ifndef TRIBD_STATE_H
#define TRIBD_STATE_H

#include <jansson.h>

#include "daemon/core/tribd.h"

#define STATE_VERSION 1

/*
 * Read the file, and set d->maker. *out: the document, which the caller owns; NULL:
 * there is none. 0, or -EPROTO: unreadable, or of another version.
 */
int state_read(struct tribd *d, json_t **out, struct reason *why);
/* Random number of the maps, and cookie of the namespace, that it describes. */
uint64_t state_instance(const json_t *doc);
uint64_t state_netns(const json_t *doc);
/* Used slots of the shared pool. */
uint32_t state_pool(const json_t *doc);
/*
 * state_kept.c. Check that workers and neighbours of its trees speak as this tribd
 * does. 0 or -EPROTO.
 */
int state_contracts(const json_t *doc, struct reason *why);
/*
 * Check that the records made of @doc hold all that it says: the next file would
 * lose a member that this tribd does not know. 0, -EPROTO or -ENOMEM.
 */
int state_kept(struct tribd *d, const json_t *doc, struct reason *why);
/* Make the records of all objects; the kernel is not asked. 0 or -errno. */
int state_restore(struct tribd *d, const json_t *doc, struct reason *why);
/* Make only those of the NDN forwarder: its faces, routes and settings. */
int state_restore_ndn(struct tribd *d, const json_t *doc, struct reason *why);
/*
 * Hook: write /run/trib/<instance>/state.json, as one step, as if @object (a
 * face, a tree, a job with its trees; NULL: none) were gone. 0 or -errno, logged.
 */
int state_write(struct tribd *d, const void *object);
/* Build the document without @object (NULL: all); the caller owns it. */
json_t *state_pack(struct tribd *d, const void *object);

#endif /* TRIBD_STATE_H */
