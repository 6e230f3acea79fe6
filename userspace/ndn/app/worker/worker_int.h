/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of the worker. w->now is the time of the current call.
 */
#ifndef TRIB_NDN_WORKER_INT_H
#define TRIB_NDN_WORKER_INT_H

#include "worker.h"

/* worker_send.c: packets out, and checks of what came in. */

/* Send an Interest. @flags: NDN_WORKER_ASK_... */
#define NDN_WORKER_ASK_PREFIX 1 /* CanBePrefix */
#define NDN_WORKER_ASK_FRESH 2	/* MustBeFresh */
void ndn_worker_ask(struct ndn_worker *w, enum ndn_name_kind what,
		    const struct ndn_name_parts *parts, unsigned int flags);
/* Send signed Data. */
void ndn_worker_put(struct ndn_worker *w, const struct ndn_name *name, struct ndn_bytes content);
/* Verify the signature of the PS. Failures are counted. */
bool ndn_worker_trusts(struct ndn_worker *w, const struct ndn_data *d);

/* worker_model.c: versions. */

/* Allocate the vectors of a task. Return: 0 or -ENOMEM. */
int ndn_worker_make_room(struct ndn_worker *w);
void ndn_worker_free_room(struct ndn_worker *w);
void ndn_worker_on_model(struct ndn_worker *w, const struct ndn_data *d,
			 const struct ndn_name_parts *parts);
void ndn_worker_on_newest(struct ndn_worker *w, const struct ndn_data *d,
			  const struct ndn_name_parts *parts);
static inline bool ndn_worker_has_segment(const struct ndn_worker *w, uint32_t s)
{
	return w->have[s / 64] >> s % 64 & 1;
}

/* worker_fetch.c: fetching and probing. */

/* Set the probe timer while there is nothing to train on. */
void ndn_worker_arm(struct ndn_worker *w);
/* The same while segments are missing. */
void ndn_worker_arm_soon(struct ndn_worker *w);
void ndn_worker_on_probe(struct ndn_worker *w);
/* Ask for missing segments, or for the newest version. */
void ndn_worker_fetch(struct ndn_worker *w);
void ndn_worker_fetch_missing(struct ndn_worker *w);
void ndn_worker_fetch_newest(struct ndn_worker *w);
/* Note the arrival of segment @s. Return: whether the batch is complete. */
bool ndn_worker_fetched(struct ndn_worker *w, uint32_t s);
/* Take a sample of the round trip to the PS or a cache. */
void ndn_worker_round_trip(struct ndn_worker *w, uint64_t since);

/* worker_gradient.c: gradients. */

/* Begin to train on the newest version. */
void ndn_worker_train(struct ndn_worker *w);
/* Is the gradient in work from an earlier incarnation than @version? */
bool ndn_worker_is_outdated(const struct ndn_worker *w, uint64_t version);
void ndn_worker_on_collect(struct ndn_worker *w, uint64_t version, uint64_t segment,
			   uint64_t lifetime);
/* Answer held collect Interests, as far as possible now. */
void ndn_worker_answer_held(struct ndn_worker *w);

/* worker.c: the task. */

/* Leave the task: send deletes until one is acknowledged. */
void ndn_worker_quit(struct ndn_worker *w, int why);

#endif /* TRIB_NDN_WORKER_INT_H */
