/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plain attributes of a face, by one table in face_attr.c: requests, dumps,
 * the state file and `face set` follow it. Attributes of the NDN forwarder are
 * in ndn/.
 */
#ifndef TRIBD_FACE_ATTR_H
#define TRIBD_FACE_ATTR_H

#include <jansson.h>

#include "face.h"

struct nl_msg;
struct nlattr;

/* Fill @s from a request. @tb: checked attributes by enum trib_face_attr. */
int face_attr_parse(struct nlattr *const *tb, struct face_spec *s, struct reason *why);
/* Append all attributes of @f, also those that are read only. 0 or -EMSGSIZE. */
int face_attr_put(const struct face *f, struct nl_msg *m);

/* Fill @s from an object of the state file. */
int face_attr_load(const json_t *o, struct face_spec *s, struct reason *why);
/* The object of the state file for @f; the caller owns it. NULL: no memory. */
json_t *face_attr_pack(const struct face *f);

/* Copy all attributes of @s to @f, a new face. */
void face_attr_copy(struct face *f, const struct face_spec *s);
/* Copy those of @s that @tb has. */
void face_attr_change(struct face *f, const struct face_spec *s, struct nlattr *const *tb);
/* True if `face set` may change attribute @nl. */
bool face_attr_can_change(int nl);

#endif /* TRIBD_FACE_ATTR_H */
