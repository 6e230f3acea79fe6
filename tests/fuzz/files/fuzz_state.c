// SPDX-License-Identifier: BSD-2-Clause
/*
 * tribd's state file, without a kernel (daemon_double.c). A file is refused with a
 * reason of one line, or all its objects are in range and counted; and what is saved
 * of them comes back as it was. The first byte: with the NDN forwarder, or without.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The double has the hook of that name. */
#define state_write state_write_really
#include "daemon/state/state.c"
#undef state_write

#include "daemon/ndn/ndnd.h"
#include "daemon/wire.h"
#include "mutate.h"

static struct tribd D;

const size_t mutate_from = 1;

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "state: %s\n", what);
	abort();
}

static bool is_line(const char *s)
{
	for (; *s; s++)
		if (iscntrl((unsigned char)*s))
			return false;
	return true;
}

static void start(bool ndn)
{
	memset(&D, 0, sizeof(D));
	D.hooks = &wire_hooks;
	TAILQ_INIT(&D.ports);
	TAILQ_INIT(&D.faces);
	TAILQ_INIT(&D.jobs);
	TAILQ_INIT(&D.trees);
	D.config.nval = TRIB_NVAL_SMALL;
	D.config.ntrees = 16;
	D.config.nslots = 1024;
	D.config.npool = D.config.nbuckets = 64;
	D.config.nmarks = 64;
	D.config.nfaces = 16;
	must(!ndnd_init(&D), "ndnd_init()");
	D.ndn->on = ndn;
}

static void end(void)
{
	tree_free_all(&D);
	job_free_all(&D);
	face_free_all(&D);
	ndnd_exit(&D);
}

/* --- what must hold */

static void faces_hold(void)
{
	const struct face *f, *g;
	unsigned int n = 0;

	TAILQ_FOREACH(f, &D.faces, link) {
		n++;
		must(f->port && *f->name && is_line(f->name), "a face's name or port");
		must(f->udp_port || f->ndn, "a face's UDP port");
		must(f->vlan[0] < 4095 && f->vlan[1] < 4095, "a tag");
		TAILQ_FOREACH(g, &D.faces, link)
			must(f == g || strcmp(f->name, g->name), "two faces of a name");
	}
	must(n == D.nfaces, "faces are miscounted");
}

static void jobs_hold(void)
{
	const struct job *j, *k;
	unsigned int n = 0;

	TAILQ_FOREACH(j, &D.jobs, link) {
		n++;
		must(*j->name && is_line(j->name), "a job's name");
		must(j->world && j->world <= TRIB_WORLD_MAX, "a job's world");
		must(j->window && !(j->window & (j->window - 1)), "a job's window");
		must(!j->peers_port || !addr_is_zero(&j->peers), "where a job's peers meet");
		TAILQ_FOREACH(k, &D.jobs, link)
			must(j == k || (j->id != k->id && strcmp(j->name, k->name)),
			     "two jobs of a name or number");
	}
	must(n == D.njobs, "jobs are miscounted");
}

static void slots_hold(const struct tree *t)
{
	const struct tree *o;
	uint64_t at = t->row.slot0, n = t->dedicated.slots;

	must(at + n <= D.config.nslots, "slots out of range");
	TAILQ_FOREACH(o, &D.trees, link)
		must(o == t || o->kind != TREE_DEDICATED || !o->dedicated.slots ||
			     at + n <= o->row.slot0 ||
			     o->row.slot0 + (uint64_t)o->dedicated.slots <= at,
		     "slots of two trees");
}

static void trees_hold(void)
{
	const struct tree *t;
	unsigned int n = 0, i;

	TAILQ_FOREACH(t, &D.trees, link) {
		n++;
		must(t->id && t->id < D.config.ntrees && t->job, "a tree");
		must(t->weight && t->weight <= TRIB_TREE_WEIGHT_MAX, "a weight");
		for (i = 0; i < t->nlocal; i++)
			must(t->local[i].rank < t->job->world, "a local rank");
		if (t->kind == TREE_DEDICATED && t->dedicated.slots)
			slots_hold(t);
		if (t->kind == TREE_SHARED)
			must(t->shared.mark0 + 2ull * t->job->window <= D.config.nmarks &&
				     t->shared.cap <= D.config.npool,
			     "a shared tree");
	}
	must(n == D.ntrees, "trees are miscounted");
}

/* --- */

static json_t *restore(const json_t *doc, bool ndn, struct reason *why)
{
	int err;

	start(ndn);
	err = state_restore(&D, doc, why);
	if (err)
		must(err < 0 && *why->text && is_line(why->text), "no reason, or not one line");
	faces_hold();
	jobs_hold();
	trees_hold();
	return err ? NULL : state_pack(&D, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reason why = {};
	json_t *doc, *before, *after;
	bool ndn = size && *data & 1;

	if (!size)
		return 0;
	doc = json_loadb((const char *)data + 1, size - 1, JSON_REJECT_DUPLICATES, NULL);
	if (!doc)
		return 0;
	before = restore(doc, ndn, &why);
	end();
	if (before) {
		after = restore(before, ndn, &why);
		must(after != NULL, why.text);
		must(json_equal(before, after), "what was saved comes back different");
		end();
		json_decref(after);
	}
	json_decref(before);
	/* Only faces with NDN, and routes, of maps that are gone. */
	start(ndn);
	if (state_restore_ndn(&D, doc, &why))
		must(*why.text && is_line(why.text), "no reason, or not one line");
	faces_hold();
	must(!D.njobs && !D.ntrees, "more than the NDN part");
	end();
	json_decref(doc);
	return 0;
}
