// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ranks of this host: which process may have which, the parameters it gets,
 * and what follows when it gives the rank back.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/name.h"
#include "daemon/core/admin.h"
#include "attach.h"
#include "deliver.h"
#include "reflex.h"
#include "daemon/session/join.h"
#include "worker_tell.h"

static int place_refuse(struct trib_attach_rep *rep, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int place_refuse(struct trib_attach_rep *rep, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(rep->text, sizeof(rep->text), fmt, ap);
	va_end(ap);
	return err;
}

/*
 * Find the entry of @rank in @t, if a process with @flags may have @t. A new
 * process gets trees that are not held. A process that resumes also gets held
 * ones: it may have had them before. A rank with mapped delivery has a ring.
 */
static struct local *offered(struct tree *t, uint16_t rank, uint32_t flags)
{
	struct local *l = tree_local(t, rank);

	if (l && flags & TRIB_ATTACH_RESUME)
		return !!l->ring == !!(flags & TRIB_ATTACH_MAPPED) ? l : NULL;
	return l && !t->held ? l : NULL;
}

/* Find an entry of @rank in any tree of @job on this host. */
static struct local *rank_here(struct tribd *d, struct job *job, uint16_t rank, uint32_t flags)
{
	struct tree *t = NULL;
	struct local *l;

	while ((t = tree_next_of_job(d, job, t))) {
		l = offered(t, rank, flags);
		if (l)
			return l;
	}
	return NULL;
}

/* Find the entry by which a process has @rank, also in a held tree. */
static const struct local *rank_taken(struct tribd *d, struct job *job, uint16_t rank)
{
	struct tree *t = NULL;
	struct local *l;

	while ((t = tree_next_of_job(d, job, t))) {
		l = tree_local(t, rank);
		if (l && (l->pid || l->ring))
			return l;
	}
	return NULL;
}

/*
 * A job without a tree here whose ranks meet by themselves. Each of its ranks may be
 * on this host.
 */
static bool is_bare(struct tribd *d, const struct job *job)
{
	return job->peers_port && !tree_next_of_job(d, job, NULL);
}

/* Find the lowest free rank on this host, or RANK_NONE. */
static uint16_t rank_free(struct tribd *d, struct job *job)
{
	uint16_t best = RANK_NONE;
	struct tree *t = NULL;
	unsigned int i;

	while ((t = tree_next_of_job(d, job, t)))
		for (i = 0; !t->held && i < t->nlocal; i++)
			if (t->local[i].rank < best && !rank_taken(d, job, t->local[i].rank) &&
			    !attach_pid(d, job, t->local[i].rank))
				best = t->local[i].rank;
	return best;
}

static int rank_choose(struct tribd *d, struct job *job, const struct trib_attach_req *req,
		       struct trib_attach_rep *rep)
{
	bool resume = req->flags & TRIB_ATTACH_RESUME;
	const struct local *l;
	pid_t pid;

	if (req->rank == TRIB_RANK_ANY && resume)
		return place_refuse(rep, -EINVAL,
				    "resume needs a rank: give the one that the process had");
	if (req->rank == TRIB_RANK_ANY && is_bare(d, job))
		return place_refuse(
			rep, -EINVAL,
			"job '%s' has no tree on this host, so its ranks are not numbered here: set TRIB_RANK",
			job->name);
	if (req->rank == TRIB_RANK_ANY) {
		rep->rank = rank_free(d, job);
		return rep->rank == RANK_NONE
			       ? place_refuse(rep, -EBUSY, "job '%s' has no free rank on this host",
					      job->name)
			       : 0;
	}
	if (req->rank >= job->world)
		return place_refuse(rep, -EINVAL, "rank %u: job '%s' has ranks 0 to %u", req->rank,
				    job->name, job->world - 1);
	rep->rank = (uint16_t)req->rank;
	l = rank_here(d, job, rep->rank, req->flags);
	if (!l && resume)
		return place_refuse(rep, -ESTALE,
				    "rank %u of job '%s' is not attached here: attach it anew",
				    req->rank, job->name);
	if (!l && !is_bare(d, job))
		return place_refuse(rep, -EINVAL, "rank %u of job '%s' is not on this host",
				    req->rank, job->name);
	pid = attach_pid(d, job, rep->rank);
	return pid ? place_refuse(rep, -EBUSY, "rank %u of job '%s' is taken by process %d",
				  req->rank, job->name, (int)pid)
		   : 0;
}

static void addr_copy(__be32 to[4], const struct in6_addr *from)
{
	memcpy(to, from, sizeof(*from));
}

/* Port at which the socket of a leaf's rank receives; @group: of the results, or NULL. */
static uint16_t socket_port(const struct local *l, const struct face *group)
{
	return group ? group->udp_port : (uint16_t)(TRIB_UDP_PORT_WORKER + l->index);
}

static void fill_tree(const struct tribd *d, const struct tree *t, const struct local *l,
		      bool mapped, struct trib_attach_tree *at)
{
	const struct face *f, *group;

	at->weight = t->weight;
	if (t->kind == TREE_WORKERS) {
		worker_fill(t, l, at);
		return;
	}
	at->tree = t->id;
	at->child = l->index;
	if (!t->nchild) {
		f = t->parent;
		at->port = f->udp_port;
		addr_copy(at->addr, &f->addr);
		if (f->local_known)
			addr_copy(at->local_addr, &f->local);
		group = tree_multicast(t, f->port);
		at->recv_port = socket_port(l, group);
		if (group)
			addr_copy(at->mcast_addr, &group->addr);
	} else {
		/* This host is the relay: addresses are swapped. */
		f = t->child[l->index].face;
		at->port = TRIB_UDP_PORT;
		at->recv_port = f->udp_port;
		addr_copy(at->local_addr, &f->addr);
		addr_copy(at->addr, &f->local);
	}
	if (mapped) {
		at->recv_port = 0;
		memset(at->mcast_addr, 0, sizeof(at->mcast_addr));
		if (!reflex_fits(d, t, NULL))
			at->flags |= TRIB_ATTACH_REFLEX;
	}
}

/*
 * Shared trees need sockets, and a process has one transport for all its trees. Without
 * a tree nothing is delivered.
 * If one copy of a result serves several hosts, its UDP port decides who
 * receives it: XDP takes TRIB_UDP_PORT, and nothing else.
 */
static int delivery_choose(struct tribd *d, struct job *job, uint32_t flags, bool *mapped,
			   struct trib_attach_rep *rep)
{
	const struct face *group, *xdp = NULL;
	struct tree *t = NULL;

	*mapped &= !is_bare(d, job);
	while ((t = tree_next_of_job(d, job, t))) {
		if (t->nchild || !offered(t, rep->rank, flags))
			continue;
		if (t->kind == TREE_WORKERS) {
			*mapped = false;
			continue;
		}
		group = tree_multicast(t, t->parent->port);
		if (group && group->udp_port == TRIB_UDP_PORT)
			xdp = group;
		else if (group)
			*mapped = false;
	}
	if (xdp && !*mapped)
		return place_refuse(
			rep, -EOPNOTSUPP,
			"results of job '%s' come to group %s at UDP port %u, which XDP takes here: attach with mapped delivery",
			job->name, xdp->name, xdp->udp_port);
	return 0;
}

static int fill_trees(struct tribd *d, struct job *job, uint32_t flags, bool mapped,
		      struct trib_attach_rep *rep)
{
	struct tree *t = NULL;

	while ((t = tree_next_of_job(d, job, t))) {
		const struct local *l = offered(t, rep->rank, flags);

		if (!l)
			continue;
		if (rep->ntree == TRIB_ATTACH_TREES)
			return place_refuse(rep, -E2BIG, "job '%s' has more than %u trees here",
					    job->name, TRIB_ATTACH_TREES);
		fill_tree(d, t, l, mapped, &rep->tree[rep->ntree++]);
		if (t->last_epoch > rep->epoch)
			rep->epoch = t->last_epoch;
		if (t->traced > rep->epoch)
			rep->epoch = t->traced;
	}
	return 0;
}

static void fill_job(const struct tribd *d, const struct job *job, struct trib_attach_rep *rep)
{
	rep->world = (uint16_t)job->world;
	rep->job = job->id;
	rep->nval = (uint16_t)d->config.nval;
	rep->window = (uint16_t)job->window;
	trib_key_rank(&rep->up, &job->key, rep->rank);
	trib_key_members(&rep->down, &job->key);
	rep->rate = job->rate;
	rep->timeout_ms = job->timeout_ms;
	rep->fmt = job->fmt;
	memcpy(rep->peers, &job->peers, sizeof(rep->peers));
	rep->peers_port = job->peers_port;
}

static void rank_set_pid(struct tribd *d, struct job *job, uint16_t rank, uint32_t flags, pid_t pid)
{
	struct tree *t = NULL;
	struct local *l;

	while ((t = tree_next_of_job(d, job, t))) {
		l = pid ? offered(t, rank, flags) : tree_local(t, rank);
		if (!l)
			continue;
		l->pid = pid;
		l->epoch = 0;
	}
}

/*
 * Tell XDP of leaves whether their only rank has a socket. Then the parent's face for this
 * host may name either port: XDP takes what comes to its own, and passes it on.
 */
static void tell_socket(struct tribd *d, struct job *job, uint16_t rank, uint32_t flags, bool has)
{
	struct tree *t = NULL;
	struct local *l;

	while ((t = tree_next_of_job(d, job, t))) {
		l = has ? offered(t, rank, flags) : tree_local(t, rank);
		if (!l || t->kind != TREE_DEDICATED || t->nchild || t->nlocal != 1)
			continue;
		t->row.flags &= (uint8_t)~TRIB_TREE_SOCKET;
		if (has)
			t->row.flags |= TRIB_TREE_SOCKET;
		t->row.port = htons(socket_port(l, tree_multicast(t, t->parent->port)));
		tree_row_store(d, t);
	}
}

void place_fds_close(struct place_fds *fds)
{
	while (fds->own)
		close(fds->fd[--fds->own]);
	fds->n = 0;
}

static int take_maps(struct tribd *d, struct job *job, struct trib_attach_rep *rep,
		     struct place_fds *fds)
{
	int err = deliver_rank_add(d, job, rep->rank, fds);

	if (err) {
		place_fds_close(fds);
		return place_refuse(rep, err, "no memory shared with XDP for rank %u: %s",
				    rep->rank, strerror(-err));
	}
	rep->flags = TRIB_ATTACH_MAPPED;
	return 0;
}

static void fill_cells(struct tribd *d, struct trib_attach_rep *rep)
{
	const struct tree *t = rep->ntree ? tree_find(d, rep->tree[0].tree) : NULL;

	rep->ncell = t ? deliver_cells(t) : 0;
}

/* The name is logged: refuse bytes that could fake a log line. */
static bool is_name(const char name[TRIB_NAME_MAX])
{
	char why[NAME_WHY_MAX];

	return memchr(name, '\0', TRIB_NAME_MAX) && !name_check_word(name, "", why);
}

/* A process of another pid namespace has no pid here. */
static pid_t place_pid(pid_t pid)
{
	return pid ? pid : -1;
}

/* A job's ranks are for its owner, and for who may do everything. */
static int user_check(const struct job *job, const struct place_peer *peer,
		      struct trib_attach_rep *rep)
{
	struct reason why;

	if (peer->uid == job->owner || !admin_by_unix(peer->pid, peer->uid, peer->pidfd, &why))
		return 0;
	return place_refuse(rep, -EACCES, "job '%s' belongs to uid %u, not %u: %s", job->name,
			    job->owner, (unsigned int)peer->uid, why.text);
}

static int bare_check(struct tribd *d, const struct job *job, const struct place_peer *peer,
		      struct trib_attach_rep *rep)
{
	if (!is_bare(d, job) || !attach_bare_full(d, peer->uid))
		return 0;
	return place_refuse(
		rep, -EBUSY,
		"uid %u has as many ranks in jobs without a tree on this host as one user may have",
		(unsigned int)peer->uid);
}

int place_take(struct tribd *d, const struct trib_attach_req *req, const struct place_peer *peer,
	       struct trib_attach_rep *rep, struct place_fds *fds, struct job **jobp)
{
	bool resume = req->flags & TRIB_ATTACH_RESUME;
	bool mapped = req->flags & TRIB_ATTACH_MAPPED;
	struct job *job;
	int err;

	memset(fds, 0, sizeof(*fds));
	if (req->flags & ~(uint32_t)(TRIB_ATTACH_MAPPED | TRIB_ATTACH_RESUME))
		return place_refuse(rep, -EINVAL, "unknown flags %#x", req->flags);
	if (!is_name(req->job))
		return place_refuse(rep, -EINVAL,
				    "the job's name is empty, too long, or not printable ASCII");
	job = job_find(d, req->job);
	if (!job)
		return place_refuse(rep, -ENOENT, "no job '%s' on this host", req->job);
	err = user_check(job, peer, rep);
	if (!err)
		err = bare_check(d, job, peer, rep);
	if (!err)
		err = rank_choose(d, job, req, rep);
	if (!err)
		err = delivery_choose(d, job, req->flags, &mapped, rep);
	if (!err)
		err = fill_trees(d, job, req->flags, mapped, rep);
	if (err)
		return err;
	fill_job(d, job, rep);
	if (mapped && !resume)
		err = take_maps(d, job, rep, fds);
	else if (!resume) /* of a process that a former tribd had */
		deliver_rank_del(d, job, rep->rank);
	if (err)
		return err;
	if (mapped)
		fill_cells(d, rep);
	/*
	 * A process that resumes without a ring names its trees by their
	 * epochs.
	 */
	if (!resume || mapped)
		rank_set_pid(d, job, rep->rank, req->flags, place_pid(peer->pid));
	tell_socket(d, job, rep->rank, req->flags, !mapped);
	*jobp = job;
	return 0;
}

/*
 * Tell each tree without attached ranks: nothing is delivered there any more.
 */
static void trees_idle(struct tribd *d, struct job *job)
{
	struct tree *t = NULL;
	unsigned int i;

	while ((t = tree_next_of_job(d, job, t))) {
		for (i = 0; i < t->nlocal; i++)
			if (t->local[i].pid || t->local[i].ring)
				break;
		if (t->nlocal && i == t->nlocal)
			join_idle(d, t);
	}
}

void place_give_back(struct tribd *d, struct job *job, uint16_t rank, bool gone)
{
	struct tree *t = NULL;
	struct local *l;

	while (gone && (t = tree_next_of_job(d, job, t))) {
		l = tree_local(t, rank);
		if (l && t->kind == TREE_WORKERS)
			worker_abort(d, t, l, TRIB_ABORT_GONE);
		else if (l && (l->pid || l->ring))
			join_rank_gone(d, t, l);
	}
	rank_set_pid(d, job, rank, 0, 0);
	tell_socket(d, job, rank, 0, false);
	deliver_rank_del(d, job, rank);
	trees_idle(d, job);
}

int place_epoch(struct tribd *d, const struct job *job, uint16_t rank, pid_t pid,
		const struct trib_attach_epoch *req)
{
	struct tree *t = req->tree <= UINT16_MAX ? tree_find(d, (uint16_t)req->tree) : NULL;
	struct local *l = t && t->job == job ? tree_local(t, rank) : NULL;
	int err = 0;

	if (!l)
		return -ENOENT;
	if (!req->epoch)
		return -EINVAL;
	if (tree_is_node(t))
		err = join_epoch(d, t, req->epoch);
	if (err)
		return err;
	l->pid = place_pid(pid);
	l->epoch = req->epoch;
	return 0;
}

/* Find a rank that has a ring, but no process. */
static struct local *find_orphan(struct tribd *d, struct job **job)
{
	struct tree *t;
	unsigned int i;

	TAILQ_FOREACH(t, &d->trees, link)
		for (i = 0; i < t->nlocal; i++)
			if (t->local[i].ring && !t->local[i].pid) {
				*job = t->job;
				return &t->local[i];
			}
	return NULL;
}

void place_expire(struct tribd *d)
{
	struct local *l;
	struct job *job;

	while ((l = find_orphan(d, &job))) {
		log_warn("job %s: rank %u ended while tribd was away", job->name, l->rank);
		place_give_back(d, job, l->rank, true);
	}
}
