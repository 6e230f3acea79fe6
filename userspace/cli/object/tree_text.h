/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a tree in words, for commands, doctor and watch. */
#ifndef TRIB_CLI_TREE_TEXT_H
#define TRIB_CLI_TREE_TEXT_H

#include <stdbool.h>
#include <jansson.h>

/* "running", "waiting" (some children joined), "idle" (none did), "held",
 * "draining" (held while an epoch runs), or "shared". */
const char *tree_state(const json_t *tree);
/* Write the children that have not joined: "rank 2 (w2), relay tor1", or "". */
void tree_missing(const json_t *tree, char *buf, size_t size);
/* "root", "relay", "leaf" or "worker". */
const char *tree_role(const json_t *tree);
/* True for a relay's row of a shared tree, whose workers join at the PS. */
bool tree_is_shared(const json_t *tree);
/* True for a row of workers that join at the PS. */
bool tree_is_worker(const json_t *tree);

#endif /* TRIB_CLI_TREE_TEXT_H */
