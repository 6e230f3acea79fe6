// SPDX-License-Identifier: BSD-2-Clause
/* The worker's task from offer to delete; dispatch of packets and timers. */
#include <errno.h>
#include <string.h>

#include "worker_int.h"

#define ELEMENTS_MAX (1ULL << 28)
/* Lease until the start content names one. */
#define LEASE (4 * NDN_SEC)
/* Wait for a start content; the offer may have been forged. */
#define PATIENCE (15 * NDN_SEC)
/* Leases of silence after which the PS is given up. */
#define SILENT_LEASES 8
/* Deletes sent at most; after them the lease expires. */
#define DELETES 6

int ndn_worker_init(struct ndn_worker *w, const struct ndn_worker_config *config)
{
	memset(w, 0, sizeof(*w));
	w->config = *config;
	w->random.state = config->seed;
	if (!config->gpu.n || config->gpu.n > NDN_GPU_MAX || !config->rto || !config->send)
		return -EINVAL;
	if (!w->config.elements)
		w->config.elements = ELEMENTS_MAX;
	return 0;
}

void ndn_worker_free(struct ndn_worker *w)
{
	ndn_worker_free_room(w);
	ndn_key_wipe(&w->config.sign);
	ndn_key_wipe(&w->config.verify);
	w->state = NDN_WORKER_IDLE;
}

/* ---- joining ---- */

static uint64_t longest_wait(const struct ndn_worker *w)
{
	return w->lease / 4 > w->rto ? w->lease / 4 : w->rto;
}

static void ask_start(struct ndn_worker *w)
{
	struct ndn_name_parts parts = {.gpu = w->config.gpu};

	if (!w->tries++)
		w->asked_at = w->now;
	ndn_timer_repeat(&w->ask_start, w->now, w->rto, longest_wait(w));
	ndn_worker_ask(w, NDN_IS_START, &parts, NDN_WORKER_ASK_FRESH);
}

/* Answers come late by an eighth of a lease at most. */
static uint64_t lateness(const struct ndn_worker *w)
{
	return w->lease / 8;
}

/* A delete that is late would end the subscription: wait until there is none. */
static void insert(struct ndn_worker *w)
{
	struct ndn_due *d = &w->due;

	if (d->deletes && w->now < d->until) {
		ndn_timer_set(&w->renew, d->until);
		return;
	}
	d->deletes = 0;
	if (w->now - d->sent >= lateness(w))
		d->inserts = 0;
	d->inserts++;
	d->sent = w->now;
	ndn_timer_repeat(&w->insert, w->now, w->rto, longest_wait(w));
	ndn_worker_ask(w, NDN_IS_INSERT, NULL, 0);
}

static void ask_newest(struct ndn_worker *w)
{
	ndn_timer_repeat(&w->ask_newest, w->now, w->rto, longest_wait(w));
	ndn_worker_fetch_newest(w);
}

static void cancel_all(struct ndn_worker *w)
{
	ndn_timer_cancel(&w->ask_start);
	ndn_timer_cancel(&w->insert);
	ndn_timer_cancel(&w->renew);
	ndn_timer_cancel(&w->ask_newest);
	ndn_timer_cancel(&w->probe);
	ndn_timer_cancel(&w->remove);
	ndn_timer_cancel(&w->give_up);
}

/* Reset the task, except for a last model that the caller has not seen. */
static void forget_task(struct ndn_worker *w)
{
	cancel_all(w);
	w->acked = 0;
	w->tries = 0;
	w->coming = 0;
	w->fetch.n = 0;
	w->training = 0;
	w->begun = false;
	w->gradient.base = 0;
	w->bound_to = 0;
	memset(w->held, 0, sizeof(w->held));
	w->answered = 0;
	w->probes = 0;
	w->fruitless = 0;
}

static void join(struct ndn_worker *w)
{
	forget_task(w);
	ndn_worker_free_room(w);
	w->unseen = false;
	w->version = 0;
	w->over = 0;
	w->willing = false;
	w->fetched = false;
	w->nudge = 0;
	w->lease = LEASE;
	w->rto = w->config.rto;
	w->rtt.known = false;
	w->heard = w->now;
	ndn_estimate_init(&w->usual, w->rto);
	w->state = NDN_WORKER_STARTING;
	ndn_timer_set(&w->give_up, w->now + PATIENCE);
	ask_start(w);
}

/* Is it the job of this task or of the last one? */
static bool names_job(const struct ndn_worker *w, const struct ndn_name *job)
{
	struct ndn_name ours = ndn_name_of(&w->job.plain);

	return ndn_name_is_equal(&ours, job);
}

static bool is_our_job(const struct ndn_worker *w, const struct ndn_name *job)
{
	return w->state != NDN_WORKER_IDLE && names_job(w, job);
}

static bool would_take(const struct ndn_worker *w, const struct ndn_name *job)
{
	struct ndn_name filter = ndn_name_of(&w->config.filter);

	return w->state == NDN_WORKER_IDLE && w->willing && ndn_name_is_prefix(&filter, job);
}

static void on_offer(struct ndn_worker *w, const struct ndn_name *name, const struct ndn_name *job)
{
	uint8_t content[NDN_HEADER_MAX];
	enum ndn_answer a = NDN_ANSWER_BUSY;
	struct ndn_job_names taken;
	size_t n;

	if (would_take(w, job) && !ndn_job_names_init(&taken, job, w->config.markers)) {
		if (!names_job(w, job))
			memset(&w->due, 0, sizeof(w->due));
		w->job = taken;
		join(w);
	}
	if (is_our_job(w, job) && w->state != NDN_WORKER_LEAVING)
		a = NDN_ANSWER_ACCEPT;
	w->count[a == NDN_ANSWER_ACCEPT ? NDN_WORKER_ACCEPTED : NDN_WORKER_REFUSED]++;
	n = ndn_content_offer_encode(content, a);
	ndn_worker_put(w, name, (struct ndn_bytes){content, n});
}

/* Without a start content there is no task: accept the next offer. */
static void give_up_start(struct ndn_worker *w)
{
	forget_task(w);
	w->count[NDN_WORKER_UNSTARTED]++;
	w->state = NDN_WORKER_IDLE;
	w->willing = true;
}

static bool may_have_trees(const struct ndn_worker *w)
{
	return w->start.tree_job == NDN_NO_TREE ||
	       (w->config.trees && w->start.mode == NDN_MODE_SYNC);
}

static bool can_do(struct ndn_worker *w)
{
	w->segments = ndn_content_segments(w->start.elements, w->start.segment);
	return w->segments && w->start.dtype == NDN_DTYPE_F32 && may_have_trees(w) &&
	       w->start.elements <= w->config.elements && !ndn_worker_make_room(w);
}

static void on_start(struct ndn_worker *w, const struct ndn_data *d)
{
	if (w->state != NDN_WORKER_STARTING) {
		w->count[NDN_WORKER_STRAY]++;
		return;
	}
	if (!ndn_worker_trusts(w, d))
		return;
	if (ndn_content_start_decode(&w->start, d->content) || !can_do(w)) {
		w->count[NDN_WORKER_BAD_CONTENT]++;
		give_up_start(w);
		return;
	}
	ndn_timer_cancel(&w->ask_start);
	if (w->tries == 1)
		ndn_worker_round_trip(w, w->asked_at);
	w->lease = w->start.lease_ms * NDN_MS;
	w->rto = w->start.rto_ms * NDN_MS;
	ndn_estimate_init(&w->usual, 2 * w->rto);
	w->state = NDN_WORKER_JOINED;
	ndn_timer_set(&w->give_up, w->now + SILENT_LEASES * w->lease);
	insert(w);
}

/* May an acknowledgement come for an insert from before the last delete? */
static bool expects_old(const struct ndn_worker *w)
{
	return w->due.old && w->now < w->due.until;
}

static void on_ack(struct ndn_worker *w, const struct ndn_data *d)
{
	bool old = expects_old(w);

	if (!old && (w->state != NDN_WORKER_JOINED || !ndn_timer_is_set(&w->insert))) {
		w->count[NDN_WORKER_STRAY]++;
		return;
	}
	if (!ndn_worker_trusts(w, d))
		return;
	if (old) {
		w->due.old--;
		w->count[NDN_WORKER_STRAY]++;
		return;
	}
	w->due.inserts -= w->due.inserts > 0;
	ndn_timer_cancel(&w->insert);
	ndn_timer_set(&w->renew,
		      w->now + ndn_random_between(&w->random, w->lease / 5, w->lease / 4));
	if (w->acked)
		return;
	w->acked = w->now;
	ask_newest(w);
	ndn_worker_arm(w);
}

/* ---- leaving ---- */

static void remove_again(struct ndn_worker *w)
{
	struct ndn_due *d = &w->due;

	if (w->tries++ == DELETES) {
		ndn_timer_cancel(&w->remove);
		w->state = NDN_WORKER_IDLE;
		return;
	}
	if (w->now >= d->until)
		d->old = d->deletes = 0;
	d->old += d->inserts;
	d->inserts = 0;
	d->deletes++;
	d->until = w->now + 4 * lateness(w);
	ndn_timer_repeat(&w->remove, w->now, w->rto, longest_wait(w));
	ndn_worker_ask(w, NDN_IS_DELETE, NULL, 0);
}

void ndn_worker_quit(struct ndn_worker *w, int why)
{
	bool subscribed = w->state == NDN_WORKER_JOINED;

	forget_task(w);
	w->over = why;
	w->state = subscribed ? NDN_WORKER_LEAVING : NDN_WORKER_IDLE;
	if (subscribed)
		remove_again(w);
}

/* Unsigned if a router answered. It only ends the repeats. */
static void on_removed(struct ndn_worker *w)
{
	if (w->state != NDN_WORKER_LEAVING) {
		w->count[NDN_WORKER_STRAY]++;
		return;
	}
	if (w->now + lateness(w) < w->due.until)
		w->due.until = w->now + lateness(w);
	w->due.deletes -= w->due.deletes > 0;
	ndn_timer_cancel(&w->remove);
	w->state = NDN_WORKER_IDLE;
}

static void on_give_up(struct ndn_worker *w)
{
	uint64_t end = w->heard + SILENT_LEASES * w->lease;

	if (w->state == NDN_WORKER_STARTING) {
		give_up_start(w);
	} else if (end > w->now) {
		ndn_timer_set(&w->give_up, end);
	} else {
		w->count[NDN_WORKER_LOST]++;
		ndn_worker_quit(w, -EHOSTDOWN);
	}
}

/* ---- packets ---- */

static bool is_ours(const struct ndn_worker *w, struct ndn_bytes gpu)
{
	return gpu.n == w->config.gpu.n && !memcmp(gpu.p, w->config.gpu.p, gpu.n);
}

static void on_interest(struct ndn_worker *w, const struct ndn_interest *i)
{
	uint64_t lifetime = i->has_lifetime ? i->lifetime : TRIB_NDN_LIFETIME_MS;
	struct ndn_name_parts parts = {0};
	enum ndn_name_kind what = NDN_IS_OTHER;
	struct ndn_name job;

	if (ndn_job_is_offer_to(&i->name, w->config.gpu, &job)) {
		on_offer(w, &i->name, &job);
		return;
	}
	if (w->state == NDN_WORKER_JOINED)
		what = ndn_job_match_gpu(&w->job, &i->name, &parts);
	if ((what != NDN_IS_COLLECT && what != NDN_IS_GRADIENT) || !is_ours(w, parts.gpu)) {
		w->count[NDN_WORKER_STRAY]++;
		return;
	}
	/* The lifetime is not trusted: hold for a lease at most. */
	if (lifetime > NDN_LEASE_MAX_MS)
		lifetime = NDN_LEASE_MAX_MS;
	ndn_worker_on_collect(w, parts.version, what == NDN_IS_GRADIENT ? parts.segment : 0,
			      lifetime * NDN_MS);
}

static void on_data(struct ndn_worker *w, const struct ndn_data *d)
{
	struct ndn_name_parts parts = {0};
	enum ndn_name_kind what = NDN_IS_OTHER;

	if (w->state != NDN_WORKER_IDLE)
		what = ndn_job_match_ps(&w->job, &d->name, &parts);
	switch (what) {
	case NDN_IS_START:
		if (is_ours(w, parts.gpu)) {
			on_start(w, d);
			return;
		}
		break;
	case NDN_IS_ACK:
		on_ack(w, d);
		return;
	case NDN_IS_MODEL:
		ndn_worker_on_model(w, d, &parts);
		return;
	case NDN_IS_NEWEST:
		ndn_worker_on_newest(w, d, &parts);
		return;
	case NDN_IS_DELETE:
		on_removed(w);
		return;
	default:
		break;
	}
	w->count[NDN_WORKER_STRAY]++;
}

void ndn_worker_receive(struct ndn_worker *w, uint64_t now, const uint8_t *packet, size_t n)
{
	struct ndn_packet p;

	w->now = now;
	w->count[NDN_WORKER_RECEIVED]++;
	w->received_bytes += n;
	if (ndn_packet_decode(&p, packet, n)) {
		w->count[NDN_WORKER_BAD_NDN]++;
		return;
	}
	if (p.lp.is_nack)
		w->count[NDN_WORKER_NACKS]++;
	else if (p.type == TRIB_NDN_INTEREST)
		on_interest(w, &p.interest);
	else
		on_data(w, &p.data);
}

/* ---- timers ---- */

void ndn_worker_run(struct ndn_worker *w, uint64_t now)
{
	w->now = now;
	if (ndn_timer_take(&w->ask_start, now))
		ask_start(w);
	if (ndn_timer_take(&w->insert, now) || ndn_timer_take(&w->renew, now))
		insert(w);
	if (ndn_timer_take(&w->ask_newest, now))
		ask_newest(w);
	if (ndn_timer_take(&w->probe, now))
		ndn_worker_on_probe(w);
	if (ndn_timer_take(&w->remove, now))
		remove_again(w);
	if (ndn_timer_take(&w->give_up, now))
		on_give_up(w);
}

uint64_t ndn_worker_next(const struct ndn_worker *w)
{
	uint64_t next = NDN_NEVER;

	next = ndn_timer_sooner(&w->ask_start, next);
	next = ndn_timer_sooner(&w->insert, next);
	next = ndn_timer_sooner(&w->renew, next);
	next = ndn_timer_sooner(&w->ask_newest, next);
	next = ndn_timer_sooner(&w->probe, next);
	next = ndn_timer_sooner(&w->remove, next);
	return ndn_timer_sooner(&w->give_up, next);
}

/* ---- the caller's side ---- */

int ndn_worker_want(struct ndn_worker *w, uint64_t now)
{
	w->now = now;
	if (w->state != NDN_WORKER_IDLE)
		return -EBUSY;
	w->willing = true;
	return 0;
}

bool ndn_worker_has_task(const struct ndn_worker *w)
{
	return w->state == NDN_WORKER_JOINED;
}

void ndn_worker_leave(struct ndn_worker *w, uint64_t now)
{
	w->now = now;
	w->willing = false;
	if (w->state == NDN_WORKER_STARTING || w->state == NDN_WORKER_JOINED)
		ndn_worker_quit(w, -ESHUTDOWN);
}
