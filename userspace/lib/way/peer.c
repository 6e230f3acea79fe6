// SPDX-License-Identifier: BSD-2-Clause
/*
 * The way by peers: libtrib-peer.so (userspace/peer) exchanges with the other ranks by
 * threads of its own; this file loads it and collects the calls that are done, which
 * peer_calls.c handed over. The engine here only keeps requests and errors.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/place/place.h"
#include "peer.h"

#define LIBRARY "libtrib-peer.so.0"
#define SYMBOL "trib_peer_ops"

static const struct trib_peer_ops *load(struct trib *t)
{
	const char *path = getenv("TRIB_PEER_LIBRARY");
	void *handle = dlopen(path && *path ? path : LIBRARY, RTLD_NOW | RTLD_LOCAL);
	const struct trib_peer_ops *ops = handle ? dlsym(handle, SYMBOL) : NULL;

	if (ops && ops->abi == TRIB_PEER_ABI)
		return ops;
	if (handle)
		trib_fail(t, TRIB_ERR_SYSTEM, -ENOEXEC, "%s is not of this version of libtrib",
			  path && *path ? path : LIBRARY);
	else
		trib_fail(
			t, TRIB_ERR_SYSTEM, -ENOENT,
			"no exchange among peers: %s (it needs libfabric: apt install libfabric1)",
			dlerror());
	if (handle)
		dlclose(handle);
	return NULL;
}

static int peers_open(struct trib *t)
{
	t->peers = calloc(1, sizeof(*t->peers));
	if (!t->peers)
		return trib_fail(t, TRIB_ERR_SYSTEM, -ENOMEM, "out of memory");
	if (!t->place.peers[0])
		return trib_fail(
			t, TRIB_ERR_ARGUMENT, -EINVAL,
			"no address where peers meet: make the job with peers ADDR:PORT, where rank 0 listens, or set TRIB_PEERS, or use a ticket with peers=");
	t->peers->ops = load(t);
	return t->peers->ops ? 0 : t->eng.error.err;
}

static int peers_join(struct trib *t)
{
	const struct trib_attach_rep *rep = &t->place.rep;
	const char *segment = getenv("TRIB_PEER_GPU_SEGMENT");
	const char *chunk = getenv("TRIB_PEER_CHUNK"), *exact = getenv("TRIB_REPRODUCIBLE");
	struct trib_peer_conf conf = {
		.rank = rep->rank,
		.world = rep->world,
		.job = rep->job,
		.address = t->place.peers,
		.key = rep->down,
		.algorithm = getenv("TRIB_PEER_ALGORITHM"),
		.shape = getenv("TRIB_PEER_SHAPE"),
		.nics = getenv("TRIB_PEER_NICS"),
		.provider = getenv("TRIB_PEER_PROVIDER"),
		.intra = getenv("TRIB_PEER_INTRA"),
		.gpu = getenv("TRIB_PEER_GPU"),
		.gpu_way = getenv("TRIB_PEER_GPU_WAY"),
		.gpu_segment = segment ? strtoul(segment, NULL, 10) : 0,
		.exact = exact && !strcmp(exact, "1"),
		.nval = rep->nval,
		.chunk = chunk ? strtoul(chunk, NULL, 10) : 0,
		.join_timeout_ms = (unsigned int)(t->eng.join_timeout_ns / TRIB_MS),
		.timeout_ms = (unsigned int)(t->eng.timeout_ns / TRIB_MS),
	};
	struct trib_peer_error e = {.rank = -1};
	int rc;

	if (!conf.timeout_ms)
		conf.timeout_ms = rep->timeout_ms ? rep->timeout_ms : TRIB_TUNE_TIMEOUT_MS;
	pthread_mutex_unlock(&t->lock);
	rc = t->peers->ops->open(&t->peers->peer, &conf, &e);
	pthread_mutex_lock(&t->lock);
	if (rc) {
		trib_die_rank(&t->eng, e.code, rc, e.rank, "%s", e.text);
		return rc;
	}
	/* Exact sums travel as integers, others as they are. */
	t->place.rep.fmt = conf.exact ? TRIB_FMT_NONE : TRIB_FMT_F32;
	/* The descriptor exists only now. */
	t->pfd[0].fd = t->peers->ops->fd(t->peers->peer);
	return 0;
}

/* One descriptor, which peers_join() fills in. */
static int peers_pollfds(struct trib *t, struct pollfd *pfd)
{
	(void)t;
	pfd[0] = (struct pollfd){.fd = -1, .events = POLLIN};
	return 1;
}

void trib_peers_die(struct trib *t, int err)
{
	struct trib_peer_error e;

	if (t->eng.dead)
		return;
	t->peers->ops->error(t->peers->peer, &e);
	if (e.err)
		trib_die_rank(&t->eng, e.code, e.err, e.rank, "%s", e.text);
	else if (err)
		trib_die_rank(&t->eng, TRIB_ERR_SYSTEM, err, -1, "the exchange failed: %s",
			      strerror(-err));
}

static int collect(struct trib *t)
{
	struct trib_by_peers *b = t->peers;
	struct trib_peer_done d;
	int n = 0;

	while (n < TRIB_TUNE_RECV_BATCH && b->ops->collect(b->peer, &d)) {
		struct trib_req *r = d.cookie;

		if (d.status == -EDOM)
			r->bad = d.detail;
		else if (d.status == -ERANGE)
			r->over = (uint64_t)d.detail;
		else if (d.status)
			trib_peers_die(t, d.status);
		trib_req_done(r, d.status == -EDOM || d.status == -ERANGE ? d.status
				 : d.status				  ? t->eng.dead
									  : 0);
		n++;
	}
	return n;
}

static int peers_turn(struct trib *t)
{
	int n = collect(t);

	if (!n)
		trib_peers_die(t, 0);
	return n;
}

static uint64_t peers_due(const struct trib *t)
{
	(void)t;
	return 0;
}

/*
 * The handle is dead. Where the exchange does not know why, it would go on to wait for
 * calls of this rank, and use the memory of those under way.
 */
static void peers_died(struct trib *t)
{
	struct trib_by_peers *b = t->peers;
	struct trib_peer_error e;

	trib_peers_forget(b);
	if (!b->peer || b->left)
		return;
	b->ops->error(b->peer, &e);
	if (e.err)
		return;
	b->left = true;
	b->ops->leave(b->peer, false);
}

static void peers_leave(struct trib *t)
{
	struct trib_by_peers *b = t->peers;
	bool orderly = !t->eng.dead && !t->eng.unfinished;
	struct trib_peer_done d;

	t->eng.leaving = true;
	t->pfd[0].fd = -1;
	if (!orderly)
		trib_die_rank(&t->eng, TRIB_ERR_GONE, -ECANCELED, (int)t->eng.rank,
			      "this rank detached");
	if (!b->peer)
		return;
	if (!b->left) {
		b->left = true;
		pthread_mutex_unlock(&t->lock);
		b->ops->leave(b->peer, orderly);
		pthread_mutex_lock(&t->lock);
	}
	while (b->ops->collect(b->peer, &d))
		trib_req_done(d.cookie, t->eng.dead ? t->eng.dead : -ECANCELED);
}

static void peers_count(struct trib *t, struct trib_counters *c)
{
	struct trib_peer_counters n;

	if (!t->peers->peer)
		return;
	t->peers->ops->count(t->peers->peer, &n);
	*c = (struct trib_counters){
		.chunks = n.chunks,
		.recv_packets = n.chunks,
		.sent_bytes = n.sent_bytes,
		.recv_bytes = n.recv_bytes,
		.carried = n.in_place,
	};
}

static void peers_describe(struct trib *t, char *buf, size_t room)
{
	if (t->peers->peer)
		t->peers->ops->describe(t->peers->peer, buf, room);
}

static void peers_close(struct trib *t)
{
	struct trib_by_peers *b = t->peers;

	if (!b)
		return;
	trib_peers_forget(b);
	if (b->peer)
		b->ops->close(b->peer);
	free(b);
	t->peers = NULL;
}

const struct trib_way trib_by_peer = {
	.name = "peer",
	.composes = true,
	.threads = true,
	.open = peers_open,
	.pollfds = peers_pollfds,
	.join = peers_join,
	.size = trib_peers_size,
	.issue = trib_peers_issue,
	.issue_where = trib_peers_issue_where,
	.prepare = trib_peers_prepare,
	.start = trib_peers_start,
	.release = trib_peers_release,
	.drop = trib_peers_drop,
	.died = peers_died,
	.turn = peers_turn,
	.due = peers_due,
	.leave = peers_leave,
	.count = peers_count,
	.describe = peers_describe,
	.close = peers_close,
};
