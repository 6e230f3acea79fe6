/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker of tests/sim/ndn/README.md, without I/O: the caller passes packets
 * and the time in, gets packets by a callback, and runs it again at
 * ndn_worker_next(). One task at a time. Not thread-safe.
 *
 * A packet changes state only if it is well-formed, addressed to this worker,
 * expected now and signed by the PS; others are counted. Interests are not
 * signed: a forged one can make an idle worker ask for a task that does not exist,
 * or take an asynchronous gradient that the PS then misses.
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

/* Segments asked for at a time: first, and at most. */
#define NDN_WORKER_BATCH 8
#define NDN_WORKER_BATCH_MAX 64
/* Collect Interests held at a time. */
#define NDN_WORKER_HELD_MAX 32

/**
 * struct ndn_worker_config - configuration of a worker
 * @gpu:      its name: one component, NDN_GPU_MAX bytes at most.
 * @filter:   prefix of the names of accepted jobs; empty: any.
 * @markers:  of the network; NULL: the defaults.
 * @sign:     key for its Data.
 * @verify:   key of the PS.
 * @elements: values of the largest accepted model; 0: 2^28.
 * @rto:      ns, until the start content names one.
 * @trees:    accept tasks whose gradients are added up by trees. The caller sends
 *            them and calls ndn_worker_gave().
 * @seed:     for nonces and jitter.
 * @send:     sends a packet. It must not call the worker.
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
 * enum ndn_worker_state - state of a worker
 * @NDN_WORKER_IDLE:     no task; offers are refused unless `willing`.
 * @NDN_WORKER_STARTING: accepted an offer, waits for the start content.
 * @NDN_WORKER_JOINED:   has a task; subscribed if `acked`.
 * @NDN_WORKER_LEAVING:  sends deletes.
 */
enum ndn_worker_state {
	NDN_WORKER_IDLE = 0,
	NDN_WORKER_STARTING,
	NDN_WORKER_JOINED,
	NDN_WORKER_LEAVING,
};

/**
 * enum ndn_worker_count - counters
 * @NDN_WORKER_SENT:      packets.
 * @NDN_WORKER_RECEIVED:  packets.
 * @NDN_WORKER_ACCEPTED:  offers, repeats included.
 * @NDN_WORKER_REFUSED:   offers answered with busy.
 * @NDN_WORKER_UNSTARTED: tasks given up: no start content, or one that this worker
 *                          cannot do.
 * @NDN_WORKER_LOST:      tasks given up: the PS was silent for leases.
 * @NDN_WORKER_TAKEN:     segments of models.
 * @NDN_WORKER_AGAIN:     segments that were duplicate or old.
 * @NDN_WORKER_VERSIONS:  models put together.
 * @NDN_WORKER_SKIPPED:   incomplete models overtaken by a newer version.
 * @NDN_WORKER_ASKED:     gradients that were asked for.
 * @NDN_WORKER_ANSWERS:   segments of them sent.
 * @NDN_WORKER_HELD:      collect Interests held.
 * @NDN_WORKER_PUSHED:    held Interests dropped, because there were too many.
 * @NDN_WORKER_FETCHES:   segments asked for.
 * @NDN_WORKER_PROBES:    expiries of the probe timer.
 * @NDN_WORKER_BAD_NDN:   malformed packets.
 * @NDN_WORKER_NACKS:     Nacks.
 * @NDN_WORKER_STRAY:     packets for somebody else, or not expected now.
 * @NDN_WORKER_BAD_SIGNATURE: Data without a valid signature of the PS.
 * @NDN_WORKER_BAD_CONTENT: signed Data with invalid content.
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
 * @until:   end of its lifetime; 0: the row is free.
 */
struct ndn_held {
	uint64_t version;
	uint64_t segment;
	uint64_t until;
};

/**
 * struct ndn_own_gradient - a gradient of this worker
 * @base:   version that it was computed on; 0: none.
 * @id:     unique number.
 * @values: little-endian, or NULL before the first gradient.
 */
struct ndn_own_gradient {
	uint64_t base;
	uint64_t id;
	uint8_t *values;
};

/**
 * struct ndn_due - answers that may come late
 * @sent:    when the last insert was sent.
 * @until:   end of the time in which answers to @old and @deletes may come.
 * @inserts: inserts without an acknowledgement, since the last delete.
 * @old:     those from before it: so many acknowledgements do not count.
 * @deletes: deletes without an answer.
 *
 * Acknowledgements of one job are all alike, and so are answers to its deletes.
 */
struct ndn_due {
	uint64_t sent;
	uint64_t until;
	unsigned int inserts;
	unsigned int old;
	unsigned int deletes;
};

/**
 * struct ndn_fetch - a batch of Interests for segments
 * @size:  size of a batch.
 * @n:     Interests that are unanswered.
 * @at:    when the batch was sent.
 * @again: it contains repeats, so it is no sample of the round trip.
 * @open:  the unanswered segments.
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
 * @config:   its configuration.
 * @now:      time of the current call.
 * @random:   nonces and jitter.
 * @count:    by enum ndn_worker_count.
 * @sent_bytes, @received_bytes: of those packets.
 * @rtt:      round trip to the PS.
 * @state:    see enum ndn_worker_state.
 * @willing:  it accepts the next offer.
 * @over:     why the last task ended: 0, -ESHUTDOWN or -EHOSTDOWN.
 *
 * The task:
 * @job:      its names.
 * @start:    its start content.
 * @segments: of a model and of a gradient.
 * @lease, @rto: ns.
 * @acked:    when the first insert was acknowledged; 0: not yet.
 * @heard:    when Data signed by the PS last arrived.
 * @asked_at: when the start content was first asked for.
 * @tries:    Interests for the start content, later deletes sent.
 * @due:      late answers, also to what the job's last task sent.
 *
 * Models:
 * @version:  newest complete version.
 * @model:    its values, little-endian.
 * @last:     it is the last version of the job.
 * @coming:   version being assembled; 0: none.
 * @coming_last: it is the last version of the job.
 * @parts:    its values received so far.
 * @have:     bit set of its segments.
 * @nhave:    segments received.
 * @missing:  first missing segment.
 * @fetch:    Interests for its segments.
 *
 * Gradients:
 * @training: version to compute a gradient on; 0: none.
 * @begun:    the caller has fetched that model.
 * @unseen:   the last version is complete; the caller has not fetched it.
 * @gradient: ready, and not asked for yet.
 * @bound:    the gradient asked for last.
 * @bound_to: the version that it answers.
 * @held:     collect Interests that came early.
 * @answered: when a collect Interest was first answered; 0: a version followed.
 * @fetched:  something was fetched since @answered.
 * @nudge:    until then collect Interests start no other fetch.
 * @usual:    time from @answered to the next version.
 *
 * Probing:
 * @probes:   probes since the last answer.
 * @fruitless: answers without a newer version.
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
	struct ndn_due due;

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

/* Copies @config, but not the bytes of @gpu. Return: 0, or -EINVAL. */
int ndn_worker_init(struct ndn_worker *w, const struct ndn_worker_config *config);
/* Free memory and wipe keys. A task is dropped without a delete. */
void ndn_worker_free(struct ndn_worker *w);

/* Handle a packet from the network. */
void ndn_worker_receive(struct ndn_worker *w, uint64_t now, const uint8_t *packet, size_t n);
/* Handle expired timers. */
void ndn_worker_run(struct ndn_worker *w, uint64_t now);
/* When the next timer expires; NDN_NEVER: none is set. */
uint64_t ndn_worker_next(const struct ndn_worker *w);

/* Accept the next offer. Return: 0, or -EBUSY: there is a task. */
int ndn_worker_want(struct ndn_worker *w, uint64_t now);
/* Has the start content arrived? Then @start is valid. */
bool ndn_worker_has_task(const struct ndn_worker *w);
/*
 * Copy the newest model that needs a gradient, or the last model, to @values,
 * which has room for the task's elements. Return: 0; -EAGAIN: none now;
 * -ESHUTDOWN, -EHOSTDOWN: the task is over.
 */
int ndn_worker_begin(struct ndn_worker *w, uint64_t now, float *values, uint64_t *version,
		     bool *last);
/* Would ndn_worker_begin() return something else than -EAGAIN? */
bool ndn_worker_is_ready(const struct ndn_worker *w);
/* Is a gradient on this version still wanted? */
bool ndn_worker_is_wanted(const struct ndn_worker *w, uint64_t version);
/*
 * Hand over the gradient on a model of ndn_worker_begin(); it is copied. Return:
 * 0; -ESTALE: not wanted any more; -ENOMEM; -ESHUTDOWN, -EHOSTDOWN: task over.
 */
int ndn_worker_give(struct ndn_worker *w, uint64_t now, uint64_t version, const float *values);
/* Predict the result of ndn_worker_give(), except for -ENOMEM. */
int ndn_worker_may_give(const struct ndn_worker *w, uint64_t version);
/* The gradient on @version was sent by trees. */
void ndn_worker_gave(struct ndn_worker *w, uint64_t now, uint64_t version);
/* Leave the task, if any. It is over when the state is IDLE. */
void ndn_worker_leave(struct ndn_worker *w, uint64_t now);

#endif /* TRIB_NDN_WORKER_H */
