// SPDX-License-Identifier: BSD-2-Clause
/* Chooses the leader for a NIC, by the rule of topo.h, and says why. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "topo_own.h"

/**
 * struct field - the GPUs that may lead
 * @in:    by index.
 * @best:  the leader, -1: none.
 * @count: of those that may lead; @direct: of those with direct access.
 * @equal: of those as good as @best, itself included.
 * @nearer: a GPU without direct access that is nearer than @best, -1: none.
 */
struct field {
	bool in[PEER_TOPO_MAX];
	int best, nearer;
	unsigned int count, direct, equal;
};

__attribute__((format(printf, 2, 3))) static void say(struct peer_topo_leader *out, const char *fmt,
						      ...)
{
	size_t len = strlen(out->reason);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out->reason + len, sizeof(out->reason) - len, fmt, ap);
	va_end(ap);
}

/* Negative if @a leads rather than @b. */
static int compare(const struct peer_topo_pair *a, const struct peer_topo_pair *b)
{
	if (a->direct != b->direct)
		return a->direct ? -1 : 1;
	return peer_topo_near_compare(a, b);
}

static int enter(const struct peer_topo *t, struct field *f, const struct peer_topo_proc *procs,
		 unsigned int nproc)
{
	unsigned int i;

	memset(f, 0, sizeof(*f));
	for (i = 0; !procs && i < t->ngpu; i++)
		f->in[i] = true;
	for (i = 0; procs && i < nproc; i++) {
		if (procs[i].gpu < -1 || procs[i].gpu >= (int)t->ngpu)
			return -EINVAL;
		if (procs[i].gpu >= 0)
			f->in[procs[i].gpu] = true;
	}
	return 0;
}

static void compete(const struct peer_topo *t, unsigned int nic, struct field *f)
{
	const struct peer_topo_pair *row = &t->pairs[nic * t->ngpu];
	unsigned int g;
	int d;

	f->best = f->nearer = -1;
	for (g = 0; g < t->ngpu; g++) {
		if (!f->in[g])
			continue;
		f->count++;
		f->direct += row[g].direct;
		d = f->best < 0 ? -1 : compare(&row[g], &row[f->best]);
		if (d < 0)
			f->best = (int)g;
		f->equal = d < 0 ? 1 : f->equal + !d;
	}
	for (g = 0; f->best >= 0 && g < t->ngpu; g++) {
		if (!f->in[g] || peer_topo_near_compare(&row[g], &row[f->best]) >= 0)
			continue;
		if (f->nearer < 0 || peer_topo_near_compare(&row[g], &row[f->nearer]) < 0)
			f->nearer = (int)g;
	}
}

static void explain(const struct peer_topo *t, unsigned int nic, const struct field *f,
		    struct peer_topo_leader *out)
{
	const struct peer_topo_pair *row = &t->pairs[nic * t->ngpu], *best = &row[f->best];
	const char *name = t->nics[nic].pub.name, *near = peer_topo_near_text(best->near);

	if (!best->direct) {
		say(out, "no GPU has direct access to %s; GPU %d is %s: %s", name, f->best,
		    f->count > 1 ? "the nearest" : "the only one", near);
	} else if (f->count == 1) {
		say(out, "GPU %d is the only one, with direct access to %s: %s", f->best, name,
		    near);
	} else if (f->direct == 1) {
		say(out, "only GPU %d has direct access to %s: %s", f->best, name, near);
	} else {
		say(out, "of %u GPUs with direct access to %s GPU %d is the nearest: %s", f->direct,
		    name, f->best, near);
	}
	if (f->equal > 1)
		say(out, ", the lowest index of %u as near", f->equal);
	if (!best->direct)
		say(out, "; GPU %d: %s", f->best, best->why);
	else if (f->nearer >= 0)
		say(out, "; GPU %d is nearer (%s) but has none: %s", f->nearer,
		    peer_topo_near_text(row[f->nearer].near), row[f->nearer].why);
}

/* A process and a NIC, as far as NUMA nodes tell. */
static void near_of_proc(const struct peer_topo *t, const struct peer_topo_nic *nic, int node,
			 struct peer_topo_pair *pair)
{
	*pair = (struct peer_topo_pair){
		.near = peer_topo_near_places(nic->node, nic->package, node,
					      peer_topo_package_of_node(t, node)),
		.latency = peer_topo_latency(t, nic->node, node),
	};
}

static void lead_without_gpu(const struct peer_topo *t, unsigned int nic,
			     const struct peer_topo_proc *procs, unsigned int nproc,
			     struct peer_topo_leader *out)
{
	const struct peer_topo_nic *n = &t->nics[nic].pub;
	const char *none = t->ngpu ? "no process uses a GPU" : "the machine has no GPU";
	struct peer_topo_pair pair, best = {.near = PEER_TOPO_UNKNOWN};
	unsigned int i, equal = 0;
	int d;

	for (i = 0; i < nproc; i++) {
		near_of_proc(t, n, procs[i].node, &pair);
		d = i ? peer_topo_near_compare(&pair, &best) : -1;
		equal = d < 0 ? 1 : equal + !d;
		if (d < 0) {
			best = pair;
			out->proc = i;
		}
	}
	out->near = best.near;
	if (!nproc && n->node >= 0)
		say(out, "%s: a process at NUMA node %d, where %s is, should lead", none, n->node,
		    n->name);
	else if (!nproc)
		say(out, "%s: any process may lead", none);
	else if (equal == nproc)
		say(out, "%s, and none is nearer to %s than others: the lowest local rank leads",
		    none, n->name);
	else
		say(out, "%s; local rank %u is the nearest to %s: %s%s", none, out->proc, n->name,
		    peer_topo_near_text(out->near), equal > 1 ? ", the lowest of several" : "");
}

int peer_topo_leader(const struct peer_topo *t, unsigned int nic,
		     const struct peer_topo_proc *procs, unsigned int nproc,
		     struct peer_topo_leader *out)
{
	const struct peer_topo_pair *best;
	struct field f;
	unsigned int i;

	*out = (struct peer_topo_leader){.gpu = -1, .near = PEER_TOPO_UNKNOWN};
	if (nic >= t->nnic || enter(t, &f, procs, procs ? nproc : 0))
		return -EINVAL;
	compete(t, nic, &f);
	if (f.best < 0) {
		lead_without_gpu(t, nic, procs, procs ? nproc : 0, out);
		return 0;
	}
	best = &t->pairs[nic * t->ngpu + (unsigned int)f.best];
	out->gpu = f.best;
	out->direct = best->direct;
	out->near = best->near;
	explain(t, nic, &f, out);
	for (i = 0; procs && i < nproc; i++)
		if (procs[i].gpu == f.best) {
			out->proc = i;
			say(out, "; local rank %u uses it", i);
			break;
		}
	return 0;
}
