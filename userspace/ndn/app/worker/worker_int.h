/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the worker share. w->now is the time of the call under way
 * everywhere below.
 */
#ifndef TRIB_NDN_WORKER_INT_H
#define TRIB_NDN_WORKER_INT_H

#include "worker.h"

/* worker_send.c: packets out, and checks of what came in. */

/* Interest for the name that @what and @parts make. @flags: NDN_ASK_... */
#define NDN_WORKER_ASK_PREFIX 1 /* CanBePrefix */
#define NDN_WORKER_ASK_FRESH 2	/* MustBeFresh */
void ndn_worker_ask(struct ndn_worker *w, enum ndn_name_kind what,
		    const struct ndn_name_parts *parts, unsigned int flags);
/* Data of @name, signed. */
void ndn_worker_put(struct ndn_worker *w, const struct ndn_name *name,
		    struct ndn_bytes content);
/* The PS has signed it; counted if not, and heard if so. */
bool ndn_worker_trusts(struct ndn_worker *w, const struct ndn_data *d);

/* worker_model.c: versions. */

/* Room for the task's vectors. 0 or -ENOMEM. */
int ndn_worker_make_room(struct ndn_worker *w);
void ndn_worker_free_room(struct ndn_worker *w);
void ndn_worker_on_model(struct ndn_worker *w, const struct ndn_data *d,
			 const struct ndn_name_parts *parts);
void ndn_worker_on_newest(struct ndn_worker *w, const struct ndn_data *d,
			  const struct ndn_name_parts *parts);
static inline bool ndn_worker_has_segment(const struct ndn_worker *w,
					  uint32_t s)
{
	return w->have[s / 64] >> s % 64 & 1;
}

/* worker_fetch.c: what is missing. */

/* The probe timer, while there is nothing to train on. */
void ndn_worker_arm(struct ndn_worker *w);
/* The same, while segments are missing. */
void ndn_worker_arm_soon(struct ndn_worker *w);
void ndn_worker_on_probe(struct ndn_worker *w);
/* Missing segments of a version that is known; else the newest. */
void ndn_worker_fetch(struct ndn_worker *w);
void ndn_worker_fetch_missing(struct ndn_worker *w);
void ndn_worker_fetch_newest(struct ndn_worker *w);
/* Segment @s has come; whether it was the last one that was asked for. */
bool ndn_worker_fetched(struct ndn_worker *w, uint32_t s);
/* A sample of the round trip to the PS, or to a cache. */
void ndn_worker_round_trip(struct ndn_worker *w, uint64_t since);

/* worker_gradient.c: what is trained and asked for. */

/* There is a new version to train on. */
void ndn_worker_train(struct ndn_worker *w);
/* What is worked on belongs to an earlier life of the PS than @version. */
bool ndn_worker_is_outdated(const struct ndn_worker *w, uint64_t version);
void ndn_worker_on_collect(struct ndn_worker *w, uint64_t version,
			   uint64_t segment, uint64_t lifetime);
/* Again for those that are held: maybe they can be answered now. */
void ndn_worker_answer_held(struct ndn_worker *w);

/* worker.c: the task. */

/* Leaves it, until that is acknowledged or nobody answers. */
void ndn_worker_quit(struct ndn_worker *w, int why);

#endif /* TRIB_NDN_WORKER_INT_H */
