/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker of tests/sim/ndn/README.md, without I/O: packets and times go
 * in, packets go out by a callback, and ndn_worker_next() says when it wants
 * to be run again. One task at a time. Not for several threads at once.
 *
 * What comes in is trusted for nothing: it is decoded strictly, is for us, makes
 * sense in this state and is signed by the PS before it changes anything; what
 * is refused is counted. Interests are not signed: a forged one can make a
 * willing worker ask for a task that is none, for a while, and take the gradient
 * of an asynchronous one away from the PS, which then waits for the next.
 */
#ifndef TRIB_NDN_WORKER_H
#define TRIB_NDN_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ndn/app/content.h"
#include "ndn/app/endpoint.h"
#include "ndn/app/job_names.h"
#include "ndn/packet/ndn.h"

/* Segments asked for at a time: at first, and when all goes well. */
#define NDN_WORKER_BATCH 8
#define NDN_WORKER_BATCH_MAX 64
/* Collect Interests held at a time. */
#define NDN_WORKER_HELD_MAX 32

/**
 * struct ndn_worker_config - who this worker is
 * @gpu:      its name: one component, NDN_GPU_MAX bytes at most.
 * @filter:   names of jobs must begin with it; empty: any will do.
 * @markers:  of the network; NULL: the default ones.
 * @sign:     signs what we send.
 * @verify:   checks what the PS sends.
 * @elements: values of the largest model that is taken; 0: 2^28.
 * @rto:      ns, until a start content tells it.
 * @trees:    tasks are taken whose gradients go by trees: the caller sees to it,
 *            and says ndn_worker_gave().
 * @seed:     of nonces and spread timers.
 * @send:     is given each packet. It must not call back.
 * @ctx:      for @send.
 */
struct ndn_worker_config {
	struct ndn_bytes gpu;
	struct ndn_name_buf filter;
	const struct ndn_markers *markers;
	struct ndn_key sign;
	struct ndn_key verify;
	uint64_t elements;
	uint64_t rto;
	bool trees;
	uint64_t seed;
	void (*send)(void *ctx, const uint8_t *packet, size_t len);
	void *ctx;
};

/**
 * enum ndn_worker_state - how far it is
 * @NDN_WORKER_IDLE:     it has no task; offers are refused unless it wants one.
 * @NDN_WORKER_STARTING: it has accepted, and asks what for.
 * @NDN_WORKER_JOINED:   it subscribes, and has subscribed since `acked`.
 * @NDN_WORKER_LEAVING:  it asks to be forgotten.
 */
enum ndn_worker_state {
	NDN_WORKER_IDLE = 0,
	NDN_WORKER_STARTING,
	NDN_WORKER_JOINED,
	NDN_WORKER_LEAVING,
};

/**
 * enum ndn_worker_count - what is counted
 * @NDN_WORKER_SENT:      packets.
 * @NDN_WORKER_RECEIVED:  packets.
 * @NDN_WORKER_ACCEPTED:  offers, repeats included.
 * @NDN_WORKER_REFUSED:   offers answered with busy.
 * @NDN_WORKER_UNSTARTED: tasks given up: no start content came, or it is none
 *                          that we can do.
 * @NDN_WORKER_LOST:      tasks given up: the PS was silent for leases.
 * @NDN_WORKER_TAKEN:     segments of models.
 * @NDN_WORKER_AGAIN:     ... that were there already, or are old.
 * @NDN_WORKER_VERSIONS:  models put together.
 * @NDN_WORKER_SKIPPED:   ... begun, and overtaken by a newer one.
 * @NDN_WORKER_ASKED:     gradients that were asked for.
 * @NDN_WORKER_ANSWERS:   segments of them sent.
 * @NDN_WORKER_HELD:      collect Interests held.
 * @NDN_WORKER_PUSHED:    ... forgotten for another: there were too many.
 * @NDN_WORKER_FETCHES:   segments asked for.
 * @NDN_WORKER_PROBES:    times that silence made it ask.
 * @NDN_WORKER_BAD_NDN:   packets that are none.
 * @NDN_WORKER_NACKS:     Interests that came back.
 * @NDN_WORKER_STRAY:     packets that are not for us, or not now.
 * @NDN_WORKER_BAD_SIGNATURE: Data that the PS did not sign.
 * @NDN_WORKER_BAD_CONTENT: Data that it signed, and that make no sense.
 * @NDN_WORKER_UNSENT:    packets that could not be encoded.
 */
enum ndn_worker_count {
	NDN_WORKER_SENT = 0,
	NDN_WORKER_RECEIVED,
	NDN_WORKER_ACCEPTED,
	NDN_WORKER_REFUSED,
	NDN_WORKER_UNSTARTED,
	NDN_WORKER_LOST,
	NDN_WORKER_TAKEN,
	NDN_WORKER_AGAIN,
	NDN_WORKER_VERSIONS,
	NDN_WORKER_SKIPPED,
	NDN_WORKER_ASKED,
	NDN_WORKER_ANSWERS,
	NDN_WORKER_HELD,
	NDN_WORKER_PUSHED,
	NDN_WORKER_FETCHES,
	NDN_WORKER_PROBES,
	NDN_WORKER_BAD_NDN,
	NDN_WORKER_NACKS,
	NDN_WORKER_STRAY,
	NDN_WORKER_BAD_SIGNATURE,
	NDN_WORKER_BAD_CONTENT,
	NDN_WORKER_UNSENT,
	NDN_WORKER_COUNT__MAX
};

/**
 * struct ndn_held - a collect Interest that came before its gradient
 * @version: asked for.
 * @segment: asked for.
 * @until:   its lifetime ends; 0: the row is free.
 */
struct ndn_held {
	uint64_t version;
	uint64_t segment;
	uint64_t until;
};

/**
 * struct ndn_own_gradient - a gradient of ours
 * @base:   version that it was computed on; 0: there is none.
 * @id:     names it.
 * @values: as they go into segments; room for all, or NULL.
 */
struct ndn_own_gradient {
	uint64_t base;
	uint64_t id;
	uint8_t *values;
};

/**
 * struct ndn_fetch - segments that were asked for
 * @size:  how many are asked for at a time.
 * @n:     how many are open.
 * @at:    when they were asked for.
 * @again: some of them had been asked for before: they tell no round trip.
 * @open:  which.
 */
struct ndn_fetch {
	unsigned int size;
	unsigned int n;
	uint64_t at;
	bool again;
	uint32_t open[NDN_WORKER_BATCH_MAX];
};

/**
 * struct ndn_worker - a worker
 * @config:   who it is.
 * @now:      the time that the call under way was given.
 * @random:   nonces and spread.
 * @count:    by enum ndn_worker_count.
 * @sent_bytes, @received_bytes: of those packets.
 * @rtt:      of questions to the PS.
 * @state:    how far it is.
 * @willing:  the next offer is accepted.
 * @over:     why the last task ended: 0, -ESHUTDOWN or -EHOSTDOWN.
 *
 * Of the task:
 * @job:      its names.
 * @start:    its start content.
 * @segments: of a model, and of a gradient.
 * @lease, @rto: ns.
 * @acked:    since when the subscription stands; 0: it does not.
 * @heard:    when the PS last said something.
 * @asked_at: when the start content was first asked for.
 * @tries:    times that it was, then deletes sent.
 *
 * Of models:
 * @version:  newest that is complete.
 * @model:    its values, little-endian.
 * @last:     it is the job's last.
 * @coming:   version of which segments are missing; 0: none.
 * @coming_last: of that.
 * @parts:    its values as far as they are here.
 * @have:     bit for each of its segments.
 * @nhave:    how many are here.
 * @missing:  all segments before this one are here.
 * @fetch:    what was asked for of it.
 *
 * Of gradients:
 * @training: version that a gradient is due for; 0: none.
 * @begun:    the caller has that model, and works on it.
 * @unseen:   the last version is here and the caller does not have it.
 * @gradient: ready, and not asked for yet.
 * @bound:    the one that was asked for last.
 * @bound_to: the version that it is the answer to.
 * @held:     collect Interests that came early.
 * @answered: when an answer to a collect went out; 0: a version has followed.
 * @fetched:  something was fetched since.
 * @nudge:    not before then does a collect Interest make it fetch again.
 * @usual:    times from @answered to the next version.
 *
 * Of probing:
 * @probes:   since something was answered.
 * @fruitless: answers that there is nothing newer.
 */
struct ndn_worker {
	struct ndn_worker_config config;
	uint64_t now;
	struct ndn_random random;
	uint64_t count[NDN_WORKER_COUNT__MAX];
	uint64_t sent_bytes;
	uint64_t received_bytes;
	struct ndn_estimate rtt;
	enum ndn_worker_state state;
	bool willing;
	int over;

	struct ndn_job_names job;
	struct ndn_start start;
	uint32_t segments;
	uint64_t lease;
	uint64_t rto;
	uint64_t acked;
	uint64_t heard;
	uint64_t asked_at;
	unsigned int tries;

	uint64_t version;
	uint8_t *model;
	bool last;
	uint64_t coming;
	bool coming_last;
	uint8_t *parts;
	uint64_t *have;
	uint32_t nhave;
	uint32_t missing;
	struct ndn_fetch fetch;

	uint64_t training;
	bool begun;
	bool unseen;
	struct ndn_own_gradient gradient;
	struct ndn_own_gradient bound;
	uint64_t bound_to;
	struct ndn_held held[NDN_WORKER_HELD_MAX];
	uint64_t answered;
	bool fetched;
	uint64_t nudge;
	struct ndn_estimate usual;

	unsigned int probes;
	unsigned int fruitless;

	struct ndn_timer ask_start;
	struct ndn_timer insert;
	struct ndn_timer renew;
	struct ndn_timer ask_newest;
	struct ndn_timer probe;
	struct ndn_timer remove;
	struct ndn_timer give_up;

	uint8_t packet[TRIB_NDN_PACKET_MAX];
};

/* 0 or -EINVAL: the name is no good. @config is copied, @gpu's bytes are not. */
int ndn_worker_init(struct ndn_worker *w,
		    const struct ndn_worker_config *config);
/* Frees what it holds and wipes its keys; the task, if any, is just dropped. */
void ndn_worker_free(struct ndn_worker *w);

/* @n bytes came from the network. */
void ndn_worker_receive(struct ndn_worker *w, uint64_t now,
			const uint8_t *packet, size_t n);
/* Does what is due. */
void ndn_worker_run(struct ndn_worker *w, uint64_t now);
/* When something will be due; NDN_NEVER: nothing, until something comes. */
uint64_t ndn_worker_next(const struct ndn_worker *w);

/* Accept the next offer. 0, or -EBUSY: there is a task. */
int ndn_worker_want(struct ndn_worker *w, uint64_t now);
/* What was offered can be started: @start is filled in. */
bool ndn_worker_has_task(const struct ndn_worker *w);
/*
 * The newest model that a gradient is wanted for, or the last one, copied to
 * @values, which has room for the task's elements. 0; -EAGAIN: there is none
 * now; -ESHUTDOWN, -EHOSTDOWN: there will be none.
 */
int ndn_worker_begin(struct ndn_worker *w, uint64_t now, float *values,
		     uint64_t *version, bool *last);
/* Whether ndn_worker_begin() would not say -EAGAIN. */
bool ndn_worker_is_ready(const struct ndn_worker *w);
/* Whether the gradient for this model is still wanted. */
bool ndn_worker_is_wanted(const struct ndn_worker *w, uint64_t version);
/*
 * The gradient of what ndn_worker_begin() gave, which is copied. 0, -ESTALE:
 * the model has become worthless; -ENOMEM; -ESHUTDOWN, -EHOSTDOWN.
 */
int ndn_worker_give(struct ndn_worker *w, uint64_t now, uint64_t version,
		    const float *values);
/* What ndn_worker_give() would say, but for -ENOMEM. */
int ndn_worker_may_give(const struct ndn_worker *w, uint64_t version);
/* The gradient for @version has gone another way. */
void ndn_worker_gave(struct ndn_worker *w, uint64_t now, uint64_t version);
/* Leaves the task, if there is one; it is over when the state is IDLE. */
void ndn_worker_leave(struct ndn_worker *w, uint64_t now);

#endif /* TRIB_NDN_WORKER_H */
