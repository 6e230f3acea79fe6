// SPDX-License-Identifier: BSD-2-Clause
/* The worker's task: taken, started, subscribed to, left; packets and timers. */
#include <errno.h>
#include <string.h>

#include "userspace/names/worker_int.h"

#define ELEMENTS_MAX (1ULL << 28)
/* A lease until a start content tells it. */
#define LEASE (4 * NAMES_SEC)
/* How long a start content may take: whoever offered may be nobody. */
#define PATIENCE (15 * NAMES_SEC)
/* Leases of silence after which a PS is gone. */
#define SILENT_LEASES 8
/* Deletes: then the lease ends by itself. */
#define DELETES 6

int names_worker_init(struct names_worker *w,
		      const struct names_worker_config *config)
{
	memset(w, 0, sizeof(*w));
	w->config = *config;
	w->random.state = config->seed;
	if (!config->gpu.n || config->gpu.n > NAMES_GPU_MAX || !config->rto ||
	    !config->send)
		return -EINVAL;
	if (!w->config.elements)
		w->config.elements = ELEMENTS_MAX;
	return 0;
}

void names_worker_free(struct names_worker *w)
{
	names_worker_free_room(w);
	ndn_key_wipe(&w->config.sign);
	ndn_key_wipe(&w->config.verify);
	w->state = NAMES_WORKER_IDLE;
}

/* ---- joining ---- */

static uint64_t longest_wait(const struct names_worker *w)
{
	return w->lease / 4 > w->rto ? w->lease / 4 : w->rto;
}

static void ask_start(struct names_worker *w)
{
	struct names_parts parts = {.gpu = w->config.gpu};

	if (!w->tries++)
		w->asked_at = w->now;
	names_timer_repeat(&w->ask_start, w->now, w->rto, longest_wait(w));
	names_worker_ask(w, NAMES_IS_START, &parts, NAMES_ASK_FRESH);
}

static void insert(struct names_worker *w)
{
	names_timer_repeat(&w->insert, w->now, w->rto, longest_wait(w));
	names_worker_ask(w, NAMES_IS_INSERT, NULL, 0);
}

static void ask_newest(struct names_worker *w)
{
	names_timer_repeat(&w->ask_newest, w->now, w->rto, longest_wait(w));
	names_worker_fetch_newest(w);
}

static void cancel_all(struct names_worker *w)
{
	names_timer_cancel(&w->ask_start);
	names_timer_cancel(&w->insert);
	names_timer_cancel(&w->renew);
	names_timer_cancel(&w->ask_newest);
	names_timer_cancel(&w->probe);
	names_timer_cancel(&w->remove);
	names_timer_cancel(&w->give_up);
}

/* Nothing of an earlier task is left, but what the caller has not seen. */
static void forget_task(struct names_worker *w)
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

static void join(struct names_worker *w)
{
	forget_task(w);
	names_worker_free_room(w);
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
	names_estimate_init(&w->usual, w->rto);
	w->state = NAMES_WORKER_STARTING;
	names_timer_set(&w->give_up, w->now + PATIENCE);
	ask_start(w);
}

static bool is_our_job(const struct names_worker *w, const struct ndn_name *job)
{
	struct ndn_name ours = ndn_name_of(&w->job.plain);

	return w->state != NAMES_WORKER_IDLE && ndn_name_is_equal(&ours, job);
}

static bool would_take(const struct names_worker *w, const struct ndn_name *job)
{
	struct ndn_name filter = ndn_name_of(&w->config.filter);

	return w->state == NAMES_WORKER_IDLE && w->willing &&
	       ndn_name_is_prefix(&filter, job);
}

static void on_offer(struct names_worker *w, const struct ndn_name *name,
		     const struct ndn_name *job)
{
	uint8_t content[NAMES_HEADER_MAX];
	enum names_answer a = NAMES_BUSY;
	struct names_job taken;
	size_t n;

	if (would_take(w, job) &&
	    !names_job_init(&taken, job, w->config.markers)) {
		w->job = taken;
		join(w);
	}
	if (is_our_job(w, job) && w->state != NAMES_WORKER_LEAVING)
		a = NAMES_ACCEPT;
	w->count[a == NAMES_ACCEPT ? NAMES_WORKER_ACCEPTED
				   : NAMES_WORKER_REFUSED]++;
	n = names_offer_encode(content, a);
	names_worker_put(w, name, (struct ndn_bytes){content, n});
}

/* Without a start content there was no task: the next offer will do. */
static void give_up_start(struct names_worker *w)
{
	forget_task(w);
	w->count[NAMES_WORKER_UNSTARTED]++;
	w->state = NAMES_WORKER_IDLE;
	w->willing = true;
}

static bool may_have_trees(const struct names_worker *w)
{
	return w->start.tree_job == NAMES_NO_TREE ||
	       (w->config.trees && w->start.mode == NAMES_SYNC);
}

static bool can_do(struct names_worker *w)
{
	w->segments = names_segments(w->start.elements, w->start.segment);
	return w->segments && w->start.dtype == NAMES_F32 &&
	       may_have_trees(w) && w->start.elements <= w->config.elements &&
	       !names_worker_make_room(w);
}

static void on_start(struct names_worker *w, const struct ndn_data *d)
{
	if (w->state != NAMES_WORKER_STARTING) {
		w->count[NAMES_WORKER_STRAY]++;
		return;
	}
	if (!names_worker_trusts(w, d))
		return;
	if (names_start_decode(&w->start, d->content) || !can_do(w)) {
		w->count[NAMES_WORKER_BAD_CONTENT]++;
		give_up_start(w);
		return;
	}
	names_timer_cancel(&w->ask_start);
	if (w->tries == 1)
		names_worker_round_trip(w, w->asked_at);
	w->lease = w->start.lease_ms * NAMES_MS;
	w->rto = w->start.rto_ms * NAMES_MS;
	names_estimate_init(&w->usual, 2 * w->rto);
	w->state = NAMES_WORKER_JOINED;
	names_timer_set(&w->give_up, w->now + SILENT_LEASES * w->lease);
	insert(w);
}

static void on_ack(struct names_worker *w, const struct ndn_data *d)
{
	if (w->state != NAMES_WORKER_JOINED ||
	    !names_timer_is_set(&w->insert)) {
		w->count[NAMES_WORKER_STRAY]++;
		return;
	}
	if (!names_worker_trusts(w, d))
		return;
	names_timer_cancel(&w->insert);
	names_timer_set(&w->renew,
			w->now + names_random_between(&w->random, w->lease / 5,
						      w->lease / 4));
	if (w->acked)
		return;
	w->acked = w->now;
	ask_newest(w);
	names_worker_arm(w);
}

/* ---- leaving ---- */

static void remove_again(struct names_worker *w)
{
	if (w->tries++ == DELETES) {
		names_timer_cancel(&w->remove);
		w->state = NAMES_WORKER_IDLE;
		return;
	}
	names_timer_repeat(&w->remove, w->now, w->rto, longest_wait(w));
	names_worker_ask(w, NAMES_IS_DELETE, NULL, 0);
}

void names_worker_quit(struct names_worker *w, int why)
{
	bool subscribed = w->state == NAMES_WORKER_JOINED;

	forget_task(w);
	w->over = why;
	w->state = subscribed ? NAMES_WORKER_LEAVING : NAMES_WORKER_IDLE;
	if (subscribed)
		remove_again(w);
}

/* The router may answer in the PS's name, and cannot sign: this ends repeats. */
static void on_removed(struct names_worker *w)
{
	if (w->state != NAMES_WORKER_LEAVING) {
		w->count[NAMES_WORKER_STRAY]++;
		return;
	}
	names_timer_cancel(&w->remove);
	w->state = NAMES_WORKER_IDLE;
}

static void on_give_up(struct names_worker *w)
{
	uint64_t end = w->heard + SILENT_LEASES * w->lease;

	if (w->state == NAMES_WORKER_STARTING) {
		give_up_start(w);
	} else if (end > w->now) {
		names_timer_set(&w->give_up, end);
	} else {
		w->count[NAMES_WORKER_LOST]++;
		names_worker_quit(w, -EHOSTDOWN);
	}
}

/* ---- packets ---- */

static bool is_ours(const struct names_worker *w, struct ndn_bytes gpu)
{
	return gpu.n == w->config.gpu.n &&
	       !memcmp(gpu.p, w->config.gpu.p, gpu.n);
}

static void on_interest(struct names_worker *w, const struct ndn_interest *i)
{
	uint64_t lifetime =
		i->has_lifetime ? i->lifetime : TRIB_NDN_LIFETIME_MS;
	struct names_parts parts = {0};
	enum names_what what = NAMES_IS_OTHER;
	struct ndn_name job;

	if (names_is_offer_to(&i->name, w->config.gpu, &job)) {
		on_offer(w, &i->name, &job);
		return;
	}
	if (w->state == NAMES_WORKER_JOINED)
		what = names_match_gpu(&w->job, &i->name, &parts);
	if ((what != NAMES_IS_COLLECT && what != NAMES_IS_GRADIENT) ||
	    !is_ours(w, parts.gpu)) {
		w->count[NAMES_WORKER_STRAY]++;
		return;
	}
	/* A lifetime is what the sender likes: held for no longer than a lease. */
	if (lifetime > NAMES_LEASE_MAX_MS)
		lifetime = NAMES_LEASE_MAX_MS;
	names_worker_on_collect(w, parts.version,
				what == NAMES_IS_GRADIENT ? parts.segment : 0,
				lifetime * NAMES_MS);
}

static void on_data(struct names_worker *w, const struct ndn_data *d)
{
	struct names_parts parts = {0};
	enum names_what what = NAMES_IS_OTHER;

	if (w->state != NAMES_WORKER_IDLE)
		what = names_match_ps(&w->job, &d->name, &parts);
	switch (what) {
	case NAMES_IS_START:
		if (is_ours(w, parts.gpu)) {
			on_start(w, d);
			return;
		}
		break;
	case NAMES_IS_ACK:
		on_ack(w, d);
		return;
	case NAMES_IS_MODEL:
		names_worker_on_model(w, d, &parts);
		return;
	case NAMES_IS_NEWEST:
		names_worker_on_newest(w, d, &parts);
		return;
	case NAMES_IS_DELETE:
		on_removed(w);
		return;
	default:
		break;
	}
	w->count[NAMES_WORKER_STRAY]++;
}

void names_worker_receive(struct names_worker *w, uint64_t now,
			  const uint8_t *packet, size_t n)
{
	struct ndn_packet p;

	w->now = now;
	w->count[NAMES_WORKER_RECEIVED]++;
	w->received_bytes += n;
	if (ndn_packet_decode(&p, packet, n)) {
		w->count[NAMES_WORKER_BAD_NDN]++;
		return;
	}
	if (p.lp.is_nack)
		w->count[NAMES_WORKER_NACKS]++;
	else if (p.type == TRIB_NDN_INTEREST)
		on_interest(w, &p.interest);
	else
		on_data(w, &p.data);
}

/* ---- timers ---- */

void names_worker_run(struct names_worker *w, uint64_t now)
{
	w->now = now;
	if (names_timer_take(&w->ask_start, now))
		ask_start(w);
	if (names_timer_take(&w->insert, now) ||
	    names_timer_take(&w->renew, now))
		insert(w);
	if (names_timer_take(&w->ask_newest, now))
		ask_newest(w);
	if (names_timer_take(&w->probe, now))
		names_worker_on_probe(w);
	if (names_timer_take(&w->remove, now))
		remove_again(w);
	if (names_timer_take(&w->give_up, now))
		on_give_up(w);
}

uint64_t names_worker_next(const struct names_worker *w)
{
	uint64_t next = NAMES_NEVER;

	next = names_timer_sooner(&w->ask_start, next);
	next = names_timer_sooner(&w->insert, next);
	next = names_timer_sooner(&w->renew, next);
	next = names_timer_sooner(&w->ask_newest, next);
	next = names_timer_sooner(&w->probe, next);
	next = names_timer_sooner(&w->remove, next);
	return names_timer_sooner(&w->give_up, next);
}

/* ---- the caller's side ---- */

int names_worker_want(struct names_worker *w, uint64_t now)
{
	w->now = now;
	if (w->state != NAMES_WORKER_IDLE)
		return -EBUSY;
	w->willing = true;
	return 0;
}

bool names_worker_has_task(const struct names_worker *w)
{
	return w->state == NAMES_WORKER_JOINED;
}

void names_worker_leave(struct names_worker *w, uint64_t now)
{
	w->now = now;
	w->willing = false;
	if (w->state == NAMES_WORKER_STARTING ||
	    w->state == NAMES_WORKER_JOINED)
		names_worker_quit(w, -ESHUTDOWN);
}
