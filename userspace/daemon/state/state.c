// SPDX-License-Identifier: BSD-2-Clause
/*
 * The state file: faces, jobs and trees as the operator named them, and the
 * values that must survive a restart (ranges of slots and marks, newest
 * epochs). It is replaced by rename: a reader sees the old or the new one. It
 * holds keys, so only root may read it.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "base/json_write.h"
#include "daemon/core/value.h"
#include "daemon/face/face_attr.h"
#include "daemon/job/job.h"
#include "daemon/ndn/ndnd.h"
#include "state.h"
#include "daemon/tree/tree.h"

/* --- writing */

static json_t *face_pack(const struct face *f)
{
	json_t *j = face_attr_pack(f);

	if (f->ndn)
		json_object_set_new(j, "ndn", ndnd_face_pack(f));
	return j;
}

static json_t *port_pack(const struct port *p)
{
	return json_pack("{s:s s:b s:s}", "dev", p->ifname, "qdisc_ours", p->clsact_ours, "reason",
			 p->reason);
}

static json_t *job_pack(const struct job *j)
{
	char peers[ADDR_TEXT_MAX];
	json_t *o;

	o = json_pack("{s:s s:i s:o s:I s:I s:I s:I s:o s:s}", "name", j->name, "id", j->id, "key",
		      value_key_pack(&j->key), "world", (json_int_t)j->world, "window",
		      (json_int_t)j->window, "owner", (json_int_t)j->owner, "timeout_ms",
		      (json_int_t)j->timeout_ms, "rate", value_hex_pack(j->rate), "dtype",
		      trib_dtype_name(j->fmt));
	/* Older versions refuse files with this member: leave it out where it says nothing. */
	if (j->peers_port)
		json_object_set_new(o, "peers",
				    json_string(addr_text_port(&j->peers, j->peers_port, peers)));
	return o;
}

static json_t *shared_pack(const struct tree *t)
{
	json_t *workers = json_array();
	unsigned int i;

	for (i = 0; i < TRIB_BMWORDS_MAX; i++)
		json_array_append_new(workers, value_hex_pack(be64toh(t->shared.mask[i])));
	return json_pack("{s:i s:i s:I s:I s:I s:o}", "relay", t->shared.relay, "next",
			 t->shared.next, "cap", (json_int_t)t->shared.cap, "age_ms",
			 (json_int_t)t->shared.age_ms, "mark0", (json_int_t)t->shared.mark0,
			 "workers", workers);
}

static json_t *worker_pack(const struct tree *t)
{
	char ps[INET6_ADDRSTRLEN], group[INET6_ADDRSTRLEN];
	json_t *hop = json_array(), *row;
	unsigned int i;

	for (i = 0; i < t->workers.nhop; i++)
		json_array_append_new(hop,
				      json_pack("{s:s s:i}", "face", t->workers.hop[i].face->name,
						"relay", t->workers.hop[i].relay));
	row = json_pack("{s:s s:i s:o}", "ps", addr_text(&t->workers.ps, ps), "port",
			t->workers.ps_port, "hop", hop);
	if (!addr_is_zero(&t->workers.group))
		json_object_set_new(row, "group", json_string(addr_text(&t->workers.group, group)));
	return row;
}

static json_t *tree_pack(const struct tree *t)
{
	json_t *child = json_array(), *local = json_array();
	json_t *down = json_array(), *tree;
	unsigned int i;

	for (i = 0; i < t->nchild; i++)
		json_array_append_new(child, json_pack("{s:s s:i}", "face", t->child[i].face->name,
						       "rank", t->child[i].rank));
	for (i = 0; i < t->nlocal; i++)
		json_array_append_new(local,
				      json_pack("{s:i s:i s:i}", "rank", t->local[i].rank, "index",
						t->local[i].index, "port", t->local[i].port));
	for (i = 0; i < t->ndown; i++)
		json_array_append_new(down, json_string(t->down[i]->name));
	tree = json_pack("{s:i s:s s:o s:s s:i s:o s:o s:I s:I s:b s:i}", "id", t->id, "job",
			 t->job->name, "child", child, "parent", t->parent ? t->parent->name : "",
			 "up_child", t->up_child, "local", local, "down", down, "slot0",
			 (json_int_t)t->row.slot0, "last_epoch", (json_int_t)t->last_epoch, "held",
			 t->held, "weight", t->weight);
	if (t->kind == TREE_SHARED)
		json_object_set_new(tree, "shared", shared_pack(t));
	if (t->kind == TREE_WORKERS)
		json_object_set_new(tree, "worker", worker_pack(t));
	return tree;
}

json_t *state_pack(struct tribd *d, const void *object)
{
	json_t *ports = json_array(), *faces = json_array();
	json_t *jobs = json_array(), *trees = json_array();
	const struct port *p;
	const struct face *f;
	const struct job *j;
	const struct tree *t;
	json_t *doc;

	TAILQ_FOREACH(p, &d->ports, link)
		json_array_append_new(ports, port_pack(p));
	TAILQ_FOREACH(f, &d->faces, link)
		if (f != object)
			json_array_append_new(faces, face_pack(f));
	TAILQ_FOREACH(j, &d->jobs, link)
		if (j != object)
			json_array_append_new(jobs, job_pack(j));
	TAILQ_FOREACH(t, &d->trees, link)
		if (t != object && t->job != object)
			json_array_append_new(trees, tree_pack(t));
	doc = json_pack("{s:i s:s s:i s:i s:I s:o s:o s:o s:o s:o s:o}", "version", STATE_VERSION,
			"by", TRIB_VERSION, "wire", TRIB_WIRE_VERSION, "attach",
			TRIB_ATTACH_VERSION, "pool", (json_int_t)d->pool, "instance",
			value_hex_pack(d->config.instance), "netns",
			value_hex_pack(d->netns_cookie), "ports", ports, "faces", faces, "jobs",
			jobs, "trees", trees);
	if (doc && d->ndn)
		json_object_set_new(doc, "ndn", ndnd_pack(d, object));
	return doc;
}

/* How often an operator's free space is looked for. */
#define AGAIN_MS 1000

static void write_again(struct tribd *d, struct timer *timer)
{
	(void)timer;
	state_write(d, NULL);
}

/* Log a change only: joining asks several times a second. */
static void outcome_note(struct tribd *d, const char *path, int err)
{
	if (err && err != d->save_err)
		log_error("cannot write %s: %s: no job starts here until it can be written; %s",
			  path, strerror(-err),
			  err == -ENOSPC || err == -EDQUOT ? "make room there"
							   : "look at its folder and its disk");
	if (!err && d->save_err)
		log_info("%s is written again", path);
	d->save_err = err;
	d->save_again.fn = write_again;
	if (err)
		timer_set(d, &d->save_again, AGAIN_MS);
	else
		timer_cancel(d, &d->save_again);
}

int state_write(struct tribd *d, const void *object)
{
	json_t *doc = state_pack(d, object);
	char path[160];
	int err;

	snprintf(path, sizeof(path), "%s/state.json", d->run_dir);
	err = json_write(AT_FDCWD, path, 0600, doc, false);
	outcome_note(d, path, err);
	json_decref(doc);
	return err;
}
