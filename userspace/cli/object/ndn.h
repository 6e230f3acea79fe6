/* SPDX-License-Identifier: BSD-2-Clause */
/* The NDN forwarder, for commands, doctor and watch. */
#ifndef TRIB_CLI_NDN_H
#define TRIB_CLI_NDN_H

#include "cli/core/cli.h"

/* Fetch the NDN forwarder: *@out is a new reference, or NULL if it is off.
 * Returns enum cli_code. */
int ndn_look(struct cli *c, json_t **out);
/* Move the NDN counters out of @stats into a new array. */
json_t *ndn_take_stats(json_t *stats);
/* True if the face has a role in the NDN forwarder. */
bool ndn_is_face(const json_t *face);
/* Write "host" or "router", with the port if it is not the usual one, or "-". */
void ndn_face_text(const json_t *face, char *buf, size_t size);

#endif /* TRIB_CLI_NDN_H */
