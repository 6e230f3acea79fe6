/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker of tests/sim/names/README.md, without I/O: packets and times go
 * in, packets go out by a callback, and names_worker_next() says when it wants
 * to be run again. One task at a time. Not for several threads at once.
 *
 * What comes in is trusted for nothing: it is decoded strictly, is for us, makes
 * sense in this state and is signed by the PS before it changes anything; what
 * is refused is counted. Interests are not signed: a forged one can make a
 * willing worker ask for a task that is none, for a while, and take the gradient
 * of an asynchronous one away from the PS, which then waits for the next.
 */
#ifndef TRIB_NAMES_WORKER_H
#define TRIB_NAMES_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "userspace/names/content.h"
#include "userspace/names/endpoint.h"
#include "userspace/names/names.h"
#include "userspace/ndn/ndn.h"

/* Segments asked for at a time: at first, and when all goes well. */
#define NAMES_WORKER_BATCH 8
#define NAMES_WORKER_BATCH_MAX 64
/* Collect Interests held at a time. */
#define NAMES_WORKER_HELD_MAX 32

/**
 * struct names_worker_config - who this worker is
 * @gpu:      its name: one component, NAMES_GPU_MAX bytes at most.
 * @filter:   names of jobs must begin with it; empty: any will do.
 * @markers:  of the network; NULL: the default ones.
 * @sign:     signs what we send.
 * @verify:   checks what the PS sends.
 * @elements: values of the largest model that is taken; 0: 2^28.
 * @rto:      ns, until a start content tells it.
 * @trees:    tasks are taken whose gradients go by trees: the caller sees to it,
 *            and says names_worker_gave().
 * @seed:     of nonces and spread timers.
 * @send:     is given each packet. It must not call back.
 * @ctx:      for @send.
 */
struct names_worker_config {
	struct ndn_bytes gpu;
	struct ndn_name_buf filter;
	const struct names_markers *markers;
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
 * enum names_worker_state - how far it is
 * @NAMES_WORKER_IDLE:     it has no task; offers are refused unless it wants one.
 * @NAMES_WORKER_STARTING: it has accepted, and asks what for.
 * @NAMES_WORKER_JOINED:   it subscribes, and has subscribed since `acked`.
 * @NAMES_WORKER_LEAVING:  it asks to be forgotten.
 */
enum names_worker_state {
	NAMES_WORKER_IDLE = 0,
	NAMES_WORKER_STARTING,
	NAMES_WORKER_JOINED,
	NAMES_WORKER_LEAVING,
};

/**
 * enum names_worker_count - what is counted
 * @NAMES_WORKER_SENT:      packets.
 * @NAMES_WORKER_RECEIVED:  packets.
 * @NAMES_WORKER_ACCEPTED:  offers, repeats included.
 * @NAMES_WORKER_REFUSED:   offers answered with busy.
 * @NAMES_WORKER_UNSTARTED: tasks given up: no start content came, or it is none
 *                          that we can do.
 * @NAMES_WORKER_LOST:      tasks given up: the PS was silent for leases.
 * @NAMES_WORKER_TAKEN:     segments of models.
 * @NAMES_WORKER_AGAIN:     ... that were there already, or are old.
 * @NAMES_WORKER_VERSIONS:  models put together.
 * @NAMES_WORKER_SKIPPED:   ... begun, and overtaken by a newer one.
 * @NAMES_WORKER_ASKED:     gradients that were asked for.
 * @NAMES_WORKER_ANSWERS:   segments of them sent.
 * @NAMES_WORKER_HELD:      collect Interests held.
 * @NAMES_WORKER_PUSHED:    ... forgotten for another: there were too many.
 * @NAMES_WORKER_FETCHES:   segments asked for.
 * @NAMES_WORKER_PROBES:    times that silence made it ask.
 * @NAMES_WORKER_BAD_NDN:   packets that are none.
 * @NAMES_WORKER_NACKS:     Interests that came back.
 * @NAMES_WORKER_STRAY:     packets that are not for us, or not now.
 * @NAMES_WORKER_BAD_SIGNATURE: Data that the PS did not sign.
 * @NAMES_WORKER_BAD_CONTENT: Data that it signed, and that make no sense.
 * @NAMES_WORKER_UNSENT:    packets that could not be encoded.
 */
enum names_worker_count {
	NAMES_WORKER_SENT = 0,
	NAMES_WORKER_RECEIVED,
	NAMES_WORKER_ACCEPTED,
	NAMES_WORKER_REFUSED,
	NAMES_WORKER_UNSTARTED,
	NAMES_WORKER_LOST,
	NAMES_WORKER_TAKEN,
	NAMES_WORKER_AGAIN,
	NAMES_WORKER_VERSIONS,
	NAMES_WORKER_SKIPPED,
	NAMES_WORKER_ASKED,
	NAMES_WORKER_ANSWERS,
	NAMES_WORKER_HELD,
	NAMES_WORKER_PUSHED,
	NAMES_WORKER_FETCHES,
	NAMES_WORKER_PROBES,
	NAMES_WORKER_BAD_NDN,
	NAMES_WORKER_NACKS,
	NAMES_WORKER_STRAY,
	NAMES_WORKER_BAD_SIGNATURE,
	NAMES_WORKER_BAD_CONTENT,
	NAMES_WORKER_UNSENT,
	NAMES_WORKER_COUNT__MAX
};

/**
 * struct names_held - a collect Interest that came before its gradient
 * @version: asked for.
 * @segment: asked for.
 * @until:   its lifetime ends; 0: the row is free.
 */
struct names_held {
	uint64_t version;
	uint64_t segment;
	uint64_t until;
};

/**
 * struct names_own_gradient - a gradient of ours
 * @base:   version that it was computed on; 0: there is none.
 * @id:     names it.
 * @values: as they go into segments; room for all, or NULL.
 */
struct names_own_gradient {
	uint64_t base;
	uint64_t id;
	uint8_t *values;
};

/**
 * struct names_fetch - segments that were asked for
 * @size:  how many are asked for at a time.
 * @n:     how many are open.
 * @at:    when they were asked for.
 * @again: some of them had been asked for before: they tell no round trip.
 * @open:  which.
 */
struct names_fetch {
	unsigned int size;
	unsigned int n;
	uint64_t at;
	bool again;
	uint32_t open[NAMES_WORKER_BATCH_MAX];
};

/**
 * struct names_worker - a worker
 * @config:   who it is.
 * @now:      the time that the call under way was given.
 * @random:   nonces and spread.
 * @count:    by enum names_worker_count.
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
struct names_worker {
	struct names_worker_config config;
	uint64_t now;
	struct names_random random;
	uint64_t count[NAMES_WORKER_COUNT__MAX];
	uint64_t sent_bytes;
	uint64_t received_bytes;
	struct names_estimate rtt;
	enum names_worker_state state;
	bool willing;
	int over;

	struct names_job job;
	struct names_start start;
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
	struct names_fetch fetch;

	uint64_t training;
	bool begun;
	bool unseen;
	struct names_own_gradient gradient;
	struct names_own_gradient bound;
	uint64_t bound_to;
	struct names_held held[NAMES_WORKER_HELD_MAX];
	uint64_t answered;
	bool fetched;
	uint64_t nudge;
	struct names_estimate usual;

	unsigned int probes;
	unsigned int fruitless;

	struct names_timer ask_start;
	struct names_timer insert;
	struct names_timer renew;
	struct names_timer ask_newest;
	struct names_timer probe;
	struct names_timer remove;
	struct names_timer give_up;

	uint8_t packet[TRIB_NDN_PACKET_MAX];
};

/* 0 or -EINVAL: the name is no good. @config is copied, @gpu's bytes are not. */
int names_worker_init(struct names_worker *w,
		      const struct names_worker_config *config);
/* Frees what it holds and wipes its keys; the task, if any, is just dropped. */
void names_worker_free(struct names_worker *w);

/* @n bytes came from the network. */
void names_worker_receive(struct names_worker *w, uint64_t now,
			  const uint8_t *packet, size_t n);
/* Does what is due. */
void names_worker_run(struct names_worker *w, uint64_t now);
/* When something will be due; NAMES_NEVER: nothing, until something comes. */
uint64_t names_worker_next(const struct names_worker *w);

/* Accept the next offer. 0, or -EBUSY: there is a task. */
int names_worker_want(struct names_worker *w, uint64_t now);
/* What was offered can be started: @start is filled in. */
bool names_worker_has_task(const struct names_worker *w);
/*
 * The newest model that a gradient is wanted for, or the last one, copied to
 * @values, which has room for the task's elements. 0; -EAGAIN: there is none
 * now; -ESHUTDOWN, -EHOSTDOWN: there will be none.
 */
int names_worker_begin(struct names_worker *w, uint64_t now, float *values,
		       uint64_t *version, bool *last);
/* Whether names_worker_begin() would not say -EAGAIN. */
bool names_worker_is_ready(const struct names_worker *w);
/* Whether the gradient for this model is still wanted. */
bool names_worker_is_wanted(const struct names_worker *w, uint64_t version);
/*
 * The gradient of what names_worker_begin() gave, which is copied. 0, -ESTALE:
 * the model has become worthless; -ENOMEM; -ESHUTDOWN, -EHOSTDOWN.
 */
int names_worker_give(struct names_worker *w, uint64_t now, uint64_t version,
		      const float *values);
/* What names_worker_give() would say, but for -ENOMEM. */
int names_worker_may_give(const struct names_worker *w, uint64_t version);
/* The gradient for @version has gone another way. */
void names_worker_gave(struct names_worker *w, uint64_t now, uint64_t version);
/* Leaves the task, if there is one; it is over when the state is IDLE. */
void names_worker_leave(struct names_worker *w, uint64_t now);

#endif /* TRIB_NAMES_WORKER_H */
