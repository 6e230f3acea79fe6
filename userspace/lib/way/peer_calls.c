// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls of the way by peers. The exchange carries calls out in the order of their issue,
 * the same on all ranks. So a held call keeps those behind it here, until its release:
 *
 *	prepare, start ---> first .. held .. .. tail ---> exchange, as far as nothing
 *	issue ------------------------------------'	   is held
 *
 * A call that waits here uses no buffer, and ends with the handle; in the exchange it is
 * kept until collect() brings it back.
 */
#include <errno.h>
#include <stdlib.h>

#include "peer.h"

/**
 * struct peers_call - a call that the exchange has not got yet
 * @held: until trib_peers_release(). @started: else it is only prepared.
 */
struct peers_call {
	struct peers_call *next;
	struct trib_req *req;
	struct trib_peer_call call;
	bool held;
	bool started;
};

static const struct trib_where host;

static struct trib_peer_call call_of(const struct trib_call *call, const struct trib_where *where)
{
	return (struct trib_peer_call){
		.collective = call->collective,
		.op = call->op,
		.dtype = call->dtype,
		.src = call->src,
		.dst = call->dst,
		.count = call->count,
		.root = call->root,
		.memory = where->memory,
		.src_stream = where->src_stream,
		.dst_stream = where->dst_stream,
		.words = call->words,
		.nm = call->nm,
		.mask = call->mask,
	};
}

size_t trib_peers_size(struct trib *t, const struct trib_call *call)
{
	struct trib_peer_call c = call_of(call, &host);

	if (t->eng.dead || t->peers->ops->wrong(t->peers->peer, &c))
		return 0;
	return t->peers->ops->element(call->dtype);
}

static int check(struct trib *t, const struct trib_peer_call *c)
{
	const char *wrong;

	if (t->eng.dead) {
		t->eng.error = t->eng.death;
		return t->eng.dead;
	}
	wrong = t->peers->ops->wrong(t->peers->peer, c);
	return wrong ? trib_fail(t, TRIB_ERR_ARGUMENT, -EINVAL, "%s", wrong) : 0;
}

/* --- calls that wait here */

static int append(struct trib *t, const struct trib_peer_call *c, bool held, bool started,
		  struct trib_req **out)
{
	struct trib_by_peers *b = t->peers;
	struct peers_call *k = calloc(1, sizeof(*k));

	*out = k ? trib_req_own(&t->eng) : NULL;
	if (!*out) {
		free(k);
		return trib_fail(t, TRIB_ERR_SYSTEM, -ENOMEM, "out of memory");
	}
	*k = (struct peers_call){.req = *out, .call = *c, .held = held, .started = started};
	*(b->first ? b->tail : &b->first) = k;
	b->tail = &k->next;
	return 0;
}

/* The place of a request's call in the list; *place is NULL if the exchange has it. */
static struct peers_call **find(struct trib_by_peers *b, const struct trib_req *r)
{
	struct peers_call **place = &b->first;

	while (*place && (*place)->req != r)
		place = &(*place)->next;
	return place;
}

static void take_out(struct trib_by_peers *b, struct peers_call **place)
{
	struct peers_call *k = *place;

	*place = k->next;
	if (b->tail == &k->next)
		b->tail = place;
	free(k);
}

/* Hand the exchange all calls before the first that is held, or only prepared. */
static void hand_over(struct trib *t)
{
	struct trib_by_peers *b = t->peers;
	struct trib_peer_call c;
	struct trib_req *r;
	int rc;

	while (!t->eng.dead && b->first && b->first->started && !b->first->held) {
		r = b->first->req;
		c = b->first->call;
		take_out(b, &b->first);
		/* The lanes use the caller's buffers until they say that they are done. */
		r->kept = true;
		rc = b->ops->issue(b->peer, &c, r);
		if (!rc)
			continue;
		/* Nobody waits for an error of the call itself: it ends the handle. */
		r->kept = false;
		trib_peers_die(t, rc);
	}
}

void trib_peers_forget(struct trib_by_peers *b)
{
	while (b->first)
		take_out(b, &b->first);
}

int trib_peers_prepare(struct trib *t, const struct trib_call *call, struct trib_req **out)
{
	struct trib_peer_call c = call_of(call, &host);
	int rc = check(t, &c);

	return rc ? rc : append(t, &c, call->held, false, out);
}

void trib_peers_start(struct trib *t, struct trib_req *r)
{
	struct peers_call *k = *find(t->peers, r);

	if (!k)
		return;
	k->started = true;
	hand_over(t);
}

void trib_peers_release(struct trib *t, struct trib_req *r)
{
	struct peers_call *k = *find(t->peers, r);

	if (!k)
		return;
	k->held = false;
	hand_over(t);
}

void trib_peers_drop(struct trib *t, struct trib_req *r)
{
	struct peers_call **place = find(t->peers, r);

	if (*place)
		take_out(t->peers, place);
	if (!r->done)
		trib_req_done(r, 0);
	trib_req_free(r);
}

/* --- calls that may go at once */

/* The exchange did not take a call, and goes on. */
static int refused(struct trib *t, int rc)
{
	struct trib_peer_error e;

	t->peers->ops->error(t->peers->peer, &e);
	if (e.err)
		return trib_fail(t, e.code, rc, "%s", e.text);
	return rc == -ENOMEM ? trib_fail(t, TRIB_ERR_SYSTEM, rc, "out of memory")
			     : trib_fail(t, TRIB_ERR_ARGUMENT, rc, "the call is wrong");
}

static int issue_now(struct trib *t, const struct trib_peer_call *c, struct trib_req **out)
{
	struct trib_by_peers *b = t->peers;
	struct trib_req *r = trib_req_own(&t->eng);
	int rc;

	if (!r)
		return trib_fail(t, TRIB_ERR_SYSTEM, -ENOMEM, "out of memory");
	r->kept = true;
	rc = b->ops->issue(b->peer, c, r);
	if (!rc) {
		*out = r;
		return 0;
	}
	r->kept = false;
	trib_req_done(r, rc);
	trib_req_free(r);
	if (rc == -ENOMEM || rc == -EINVAL)
		return refused(t, rc);
	/* The exchange has ended, and no call of this rank has told so yet. */
	trib_peers_die(t, rc);
	return t->eng.dead;
}

int trib_peers_issue_where(struct trib *t, const struct trib_call *call,
			   const struct trib_where *where, struct trib_req **out)
{
	struct trib_peer_call c = call_of(call, where);
	int rc = check(t, &c);

	if (rc)
		return rc;
	return t->peers->first ? append(t, &c, false, true, out) : issue_now(t, &c, out);
}

int trib_peers_issue(struct trib *t, const struct trib_call *call, struct trib_req **out)
{
	return trib_peers_issue_where(t, call, &host, out);
}
