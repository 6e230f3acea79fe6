// SPDX-License-Identifier: BSD-2-Clause
/* Detours of a handle: their life, their messages, and the engine's callbacks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "inner.h"

/* --- the engine's callbacks */

static struct detour_tree *tree_of(struct trib_stream *s)
{
	return &trib_of(s->eng)->detours->tree[s->index];
}

static void relay_lost(struct trib_stream *s)
{
	struct detour_tree *e = tree_of(s);

	detour_leave(e, e->generation + 1);
}

static void send_grad(struct trib_stream *s, uint64_t chunk, const struct trib_hdr *h,
		      unsigned int len)
{
	detour_grad(tree_of(s), chunk, h, len);
}

/* --- the mesh's callbacks: its thread, with the lock */

static int take_one(struct detour_tree *e, unsigned int rank, const struct detour_head *h,
		    const uint8_t *more, uint32_t len)
{
	switch (h->say) {
	case DETOUR_LEFT:
		return detour_rx_left(e, rank, h, more, len);
	case DETOUR_GRAD:
		return detour_rx_grad(e, rank, h->chunk, more, len);
	case DETOUR_RESULT:
		return detour_rx_result(e, h->chunk, more, len);
	case DETOUR_JOINED:
		return len ? -EPROTO : detour_rx_joined(e, rank, h);
	case DETOUR_NEXT:
		return len ? -EPROTO : detour_rx_next(e, rank, h);
	default:
		return -EPROTO;
	}
}

static int take(void *arg, unsigned int rank, const uint8_t *body, uint32_t len)
{
	struct trib_detours *d = arg;
	struct trib_engine *eng = &d->t->eng;
	unsigned int before = eng->unfinished;
	struct detour_head h;
	int rc;

	if (eng->dead)
		return 0;
	if (len < sizeof(h))
		return -EPROTO;
	memcpy(&h, body, sizeof(h));
	if (h.tree >= eng->nstream)
		return -EPROTO;
	eng->now = clock_ns();
	d->news = true;
	rc = take_one(&d->tree[h.tree], rank, &h, body + sizeof(h), len - (uint32_t)sizeof(h));
	d->finished |= eng->unfinished != before;
	return rc;
}

/* Let the engine go on, and wake threads for what that brought. */
static void run_engine(struct trib_detours *d)
{
	struct trib *t = d->t;

	while (d->news && !t->eng.dead) {
		unsigned int i;

		d->news = false;
		for (i = 0; i < t->eng.nstream; i++)
			detour_take_due(&d->tree[i]);
		trib_engine_run(&t->eng);
	}
}

static uint64_t turn(void *arg)
{
	struct trib_detours *d = arg;
	struct trib *t = d->t;
	unsigned int before = t->eng.unfinished, i;
	bool away = false;

	if (t->eng.dead)
		return 0;
	t->eng.now = clock_ns();
	for (i = 0; i < t->eng.nstream; i++) {
		d->news |= d->tree[i].due != NULL;
		detour_back(&d->tree[i]);
		away |= detour_is_away(&d->tree[i]);
	}
	run_engine(d);
	if (!away)
		trib_mesh_beat(&d->mesh, false);
	if (d->finished || t->eng.unfinished != before || t->eng.dead)
		trib_drive_interrupt(t);
	d->finished = false;
	trib_drive_wake(t);
	return away && !t->eng.dead ? t->eng.now + DETOUR_LOOK : 0;
}

/* The tree that has lost its relay and waits for the state of rank @rank, if any. */
static const struct detour_tree *waiting_for(const struct trib_detours *d, int rank)
{
	unsigned int i;

	for (i = 0; i < d->t->eng.nstream; i++)
		if (d->tree[i].s->detour.state == TRIB_DETOUR_FROZEN && rank >= 0 &&
		    !d->tree[i].peer[rank].known)
			return &d->tree[i];
	return NULL;
}

static void lost(void *arg, const struct trib_peer_error *why)
{
	struct trib_detours *d = arg;
	const struct detour_tree *e = waiting_for(d, why->rank);

	if (d->t->eng.dead)
		return;
	d->heard = true;
	if (e && why->code == TRIB_PEER_DEAD) {
		trib_die_rank(
			&d->t->eng, TRIB_ERR_RELAY, -EHOSTUNREACH, why->rank,
			"the relay of tree %u does not answer, and rank %d cannot be reached without it",
			e->s->tree, why->rank);
		return;
	}
	trib_die_rank(&d->t->eng, why->code, why->err, why->rank, "%s", why->text);
}

/* --- the guest */

/* Tell the others why, before they see that this rank ends; and wake who waits here. */
static void died(struct trib_guest *g)
{
	struct trib_detours *d =
		(struct trib_detours *)((char *)g - offsetof(struct trib_detours, guest));
	const struct trib_sock_error *e = &d->t->eng.death;
	int rank = (int)d->t->eng.rank;
	char text[BOOT_TEXT_MAX];

	trib_drive_interrupt(d->t);
	if (!d->mesh.running)
		return;
	if (d->heard || e->rank >= 0) {
		trib_mesh_fault(&d->mesh,
				e->code == TRIB_ERR_DEAD ? TRIB_PEER_DEAD : TRIB_PEER_GONE, e->rank,
				e->text);
		return;
	}
	snprintf(text, sizeof(text), "rank %d: %.150s", rank, e->text);
	trib_mesh_fault(&d->mesh, TRIB_PEER_GONE, rank, text);
}

static void nothing(struct trib_guest *g)
{
	(void)g;
}

/* --- life */

/*
 * All ranks must take part, so all must want it. Trees of shared pools have ways of their own
 * around dead relays.
 */
static bool is_wanted(const struct trib *t)
{
	const char *want = getenv("TRIB_DETOUR");
	unsigned int i;

	if (!want || strcmp(want, "1"))
		return false;
	for (i = 0; i < t->eng.nstream; i++)
		if (t->eng.stream[i]->shared)
			return false;
	return t->place.peers[0] && t->eng.nstream && t->eng.world > 1 &&
	       t->eng.world <= TRIB_MESH_WORLD_MAX;
}

static void make_conf(struct trib_detours *d, struct trib_mesh_conf *c)
{
	const struct trib_attach_rep *rep = &d->t->place.rep;
	const struct trib_engine *eng = &d->t->eng;
	uint64_t ns = eng->timeout_ns;

	if (!ns)
		ns = (rep->timeout_ms ? rep->timeout_ms : TRIB_TUNE_TIMEOUT_MS) * TRIB_MS;
	*c = (struct trib_mesh_conf){
		.rank = rep->rank,
		.world = rep->world,
		.job = rep->job,
		.address = d->t->place.peers,
		.key = rep->down,
		.join_timeout_ms = (unsigned int)(eng->join_timeout_ns / TRIB_MS),
		.timeout_ms = (unsigned int)(ns / TRIB_MS),
		.lock = &d->t->lock,
		.take = take,
		.turn = turn,
		.lost = lost,
		.arg = d,
	};
}

int trib_detours_meet(struct trib *t)
{
	struct trib_peer_error e = {.rank = -1};
	struct trib_mesh_conf conf;
	struct trib_detours *d;

	if (!is_wanted(t))
		return 0;
	d = calloc(1, sizeof(*d));
	if (!d)
		return trib_fail(t, TRIB_ERR_SYSTEM, -ENOMEM, "out of memory");
	d->t = t;
	d->mesh.wake = -1;
	t->detours = d;
	make_conf(d, &conf);
	if (!trib_mesh_meet(&d->mesh, &conf, &e))
		return 0;
	trib_die_rank(&t->eng, e.code, e.err, e.rank, "%s", e.text);
	return e.err;
}

int trib_detours_start(struct trib *t, void (*epochs)(struct trib *t))
{
	struct trib_detours *d = t->detours;
	unsigned int i;
	int err;

	if (!d)
		return 0;
	for (i = 0; i < t->eng.nstream; i++) {
		d->tree[i].d = d;
		d->tree[i].s = t->eng.stream[i];
	}
	d->epochs = epochs;
	d->was = t->eng.host;
	d->host = *d->was;
	d->host.relay_lost = relay_lost;
	d->host.detour = send_grad;
	t->eng.host = &d->host;
	d->guest = (struct trib_guest){t->guests, died, nothing, nothing};
	t->guests = &d->guest;
	err = trib_mesh_start(&d->mesh);
	return err ? trib_fail(t, TRIB_ERR_SYSTEM, err, "cannot start a thread: %s", strerror(-err))
		   : 0;
}

void trib_detours_leave(struct trib *t, bool together)
{
	if (!t->detours)
		return;
	pthread_mutex_unlock(&t->lock);
	trib_mesh_close(&t->detours->mesh, together);
	pthread_mutex_lock(&t->lock);
}

void trib_detours_close(struct trib *t)
{
	struct trib_detours *d = t->detours;
	unsigned int i;

	if (!d)
		return;
	trib_mesh_close(&d->mesh, false);
	for (i = 0; i < t->eng.nstream; i++)
		detour_change_free(&d->tree[i]);
	if (d->was)
		t->eng.host = d->was;
	t->detours = NULL;
	free(d);
}

void trib_detours_describe(const struct trib *t, char *buf, size_t room)
{
	const struct trib_detours *d = t->detours;
	size_t len = strlen(buf);
	unsigned int i;

	for (i = 0; d && i < t->eng.nstream && len + 1 < room; i++) {
		if (!d->tree[i].s || !detour_is_away(&d->tree[i]))
			continue;
		snprintf(buf + len, room - len, "%stree %u without its relay, by the ranks",
			 len ? "; " : "", d->tree[i].s->tree);
		len = strlen(buf);
	}
}
