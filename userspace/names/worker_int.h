/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the worker share. w->now is the time of the call under way
 * everywhere below.
 */
#ifndef TRIB_NAMES_WORKER_INT_H
#define TRIB_NAMES_WORKER_INT_H

#include "userspace/names/worker.h"

/* worker_send.c: packets out, and checks of what came in. */

/* Interest for the name that @what and @parts make. @flags: NAMES_ASK_... */
#define NAMES_ASK_PREFIX 1 /* CanBePrefix */
#define NAMES_ASK_FRESH 2  /* MustBeFresh */
void names_worker_ask(struct names_worker *w, enum names_what what,
		      const struct names_parts *parts, unsigned int flags);
/* Data of @name, signed. */
void names_worker_put(struct names_worker *w, const struct ndn_name *name,
		      struct ndn_bytes content);
/* The PS has signed it; counted if not, and heard if so. */
bool names_worker_trusts(struct names_worker *w, const struct ndn_data *d);

/* worker_model.c: versions. */

/* Room for the task's vectors. 0 or -ENOMEM. */
int names_worker_make_room(struct names_worker *w);
void names_worker_free_room(struct names_worker *w);
void names_worker_on_model(struct names_worker *w, const struct ndn_data *d,
			   const struct names_parts *parts);
void names_worker_on_newest(struct names_worker *w, const struct ndn_data *d,
			    const struct names_parts *parts);
bool names_worker_has_segment(const struct names_worker *w, uint32_t s);

/* worker_fetch.c: what is missing. */

/* The probe timer, while there is nothing to train on. */
void names_worker_arm(struct names_worker *w);
/* The same, while segments are missing. */
void names_worker_arm_soon(struct names_worker *w);
void names_worker_on_probe(struct names_worker *w);
/* Missing segments of a version that is known; else the newest. */
void names_worker_fetch(struct names_worker *w);
void names_worker_fetch_missing(struct names_worker *w);
void names_worker_fetch_newest(struct names_worker *w);
/* Segment @s has come; whether it was the last one that was asked for. */
bool names_worker_fetched(struct names_worker *w, uint32_t s);
/* A sample of the round trip to the PS, or to a cache. */
void names_worker_round_trip(struct names_worker *w, uint64_t since);

/* worker_gradient.c: what is trained and asked for. */

/* There is a new version to train on. */
void names_worker_train(struct names_worker *w);
/* What is worked on belongs to an earlier life of the PS than @version. */
bool names_worker_is_outdated(const struct names_worker *w, uint64_t version);
void names_worker_on_collect(struct names_worker *w, uint64_t version,
			     uint64_t segment, uint64_t lifetime);
/* Again for those that are held: maybe they can be answered now. */
void names_worker_answer_held(struct names_worker *w);

/* worker.c: the task. */

/* Leaves it, until that is acknowledged or nobody answers. */
void names_worker_quit(struct names_worker *w, int why);

#endif /* TRIB_NAMES_WORKER_INT_H */
