// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reading the state file. tribd wrote it, but each value is checked like that
 * of a request, by the same functions, before a record is made of it.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/dtype.h"
#include "base/text.h"
#include "daemon/core/value.h"
#include "daemon/face/face_attr.h"
#include "daemon/job/job.h"
#include "daemon/ndn/ndnd.h"
#include "daemon/device/port.h"
#include "state.h"
#include "daemon/tree/tree.h"

int state_read(struct tribd *d, json_t **out, struct reason *why)
{
	json_error_t error;
	json_int_t version;
	const char *by;
	char path[160];
	json_t *doc;

	snprintf(path, sizeof(path), "%s/state.json", d->run_dir);
	snprintf(d->maker, sizeof(d->maker), "the tribd before");
	*out = NULL;
	if (access(path, F_OK))
		return 0;
	doc = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (!doc)
		return reason_set(why, -EPROTO, "%s: line %d: %s", path, error.line, error.text);
	by = value_text(doc, "by");
	if (*by)
		snprintf(d->maker, sizeof(d->maker), "tribd %s", by);
	version = json_integer_value(json_object_get(doc, "version"));
	if (version != STATE_VERSION) {
		json_decref(doc);
		return reason_set(why, -EPROTO,
				  "%s has version %lld, this tribd " TRIB_VERSION
				  " reads version %d",
				  path, (long long)version, STATE_VERSION);
	}
	*out = doc;
	return 0;
}

uint32_t state_pool(const json_t *doc)
{
	return (uint32_t)value_int(doc, "pool", UINT32_MAX);
}

uint64_t state_instance(const json_t *doc)
{
	return value_hex(doc, "instance");
}

uint64_t state_netns(const json_t *doc)
{
	return value_hex(doc, "netns");
}

/* --- objects */

static int face_load(struct tribd *d, const json_t *o, struct reason *why)
{
	const json_t *ndn = json_object_get(o, "ndn");
	struct ndnd_spec spec;
	struct face_spec s = {};
	int err = face_attr_load(o, &s, why);

	if (!err && ndn && d->ndn) {
		err = ndnd_face_load(d, ndn, &spec, why);
		s.ndn = &spec;
	}
	return err ? err : face_restore(d, &s, why);
}

static int job_load(struct tribd *d, const json_t *o, struct reason *why)
{
	struct job_spec s = {
		.id = (uint16_t)value_int(o, "id", UINT16_MAX),
		.has_key = true,
		.world = (uint32_t)value_int(o, "world", UINT32_MAX),
		.window = (uint32_t)value_int(o, "window", UINT32_MAX),
		.owner = (uint32_t)value_int(o, "owner", UINT32_MAX),
		.timeout_ms = (uint32_t)value_int(o, "timeout_ms", UINT32_MAX),
		.rate = value_hex(o, "rate"),
		/* Files of older versions lack this member. */
		.fmt = trib_dtype_parse(value_text(o, "dtype")),
	};

	if (!value_name(s.name, value_text(o, "name")))
		return reason_set(why, -EPROTO, "a job's name");
	if (text_key(value_text(o, "key"), &s.key))
		return reason_set(why, -EPROTO, "key of job %s", s.name);
	if (json_object_get(o, "dtype") && !s.fmt)
		return reason_set(why, -EPROTO, "dtype of job %s", s.name);
	if (json_object_get(o, "peers") && job_spec_peers(&s, value_text(o, "peers"), why))
		return reason_set(why, -EPROTO, "peers of job %s", s.name);
	return job_restore(d, &s, why);
}

static int tree_parts(const json_t *o, struct tree_spec *s, struct reason *why)
{
	const json_t *child = json_object_get(o, "child");
	const json_t *local = json_object_get(o, "local");
	const json_t *down = json_object_get(o, "down");
	unsigned int i;

	s->nchild = (unsigned int)json_array_size(child);
	s->nlocal = (unsigned int)json_array_size(local);
	s->ndown = (unsigned int)json_array_size(down);
	if (s->nchild > TRIB_CHILDREN_MAX || s->nlocal > TRIB_RINGS_MAX ||
	    s->ndown > TRIB_CHILDREN_MAX)
		return reason_set(why, -EPROTO, "too many children");
	for (i = 0; i < s->nchild; i++) {
		const json_t *c = json_array_get(child, i);

		s->child[i].rank = (uint16_t)value_int(c, "rank", UINT16_MAX);
		s->child[i].index = INDEX_NONE;
		if (!value_name(s->child[i].face, value_text(c, "face")))
			return reason_set(why, -EPROTO, "a child's face");
	}
	for (i = 0; i < s->nlocal; i++) {
		const json_t *l = json_array_get(local, i);

		s->local[i].rank = (uint16_t)value_int(l, "rank", UINT16_MAX);
		s->local[i].index = (uint16_t)value_int(l, "index", UINT16_MAX);
		s->local[i].port = (uint16_t)value_int(l, "port", UINT16_MAX);
	}
	for (i = 0; i < s->ndown; i++)
		if (!value_name(s->down[i], json_string_value(json_array_get(down, i)) ?: ""))
			return reason_set(why, -EPROTO, "a down face");
	return 0;
}

static void shared_load(const json_t *o, struct tree_spec *s)
{
	const json_t *workers = json_object_get(o, "workers");
	unsigned int i;

	if (!o)
		return;
	s->shared.relay = (uint16_t)value_int(o, "relay", UINT16_MAX);
	s->shared.next = (uint16_t)value_int(o, "next", UINT16_MAX);
	s->shared.cap = (uint32_t)value_int(o, "cap", UINT32_MAX);
	s->shared.age_ms = (uint32_t)value_int(o, "age_ms", UINT32_MAX);
	s->shared.mark0 = (uint32_t)value_int(o, "mark0", UINT32_MAX);
	s->shared.has_workers = true;
	for (i = 0; i < TRIB_BMWORDS_MAX; i++) {
		const char *hex = json_string_value(json_array_get(workers, i));
		uint64_t word = 0;

		text_hex(hex ? hex : "", &word);
		s->shared.workers[i] = htobe64(word);
	}
}

static int worker_load(const json_t *o, struct tree_spec *s, struct reason *why)
{
	const json_t *hop = json_object_get(o, "hop");
	unsigned int i;

	if (!o)
		return 0;
	s->workers.ps_port = (uint16_t)value_int(o, "port", UINT16_MAX);
	s->workers.nhop = (unsigned int)json_array_size(hop);
	if (!s->workers.ps_port || !addr_parse(value_text(o, "ps"), &s->workers.ps) ||
	    s->workers.nhop > TRIB_ATTACH_HOPS)
		return reason_set(why, -EPROTO, "a tree's PS");
	if (json_object_get(o, "group") && !addr_parse(value_text(o, "group"), &s->workers.group))
		return reason_set(why, -EPROTO, "a tree's group");
	for (i = 0; i < s->workers.nhop; i++) {
		const json_t *h = json_array_get(hop, i);

		s->workers.hop[i].relay = (uint16_t)value_int(h, "relay", UINT16_MAX);
		if (!value_name(s->workers.hop[i].face, value_text(h, "face")))
			return reason_set(why, -EPROTO, "a hop's face");
	}
	return 0;
}

static int tree_load(struct tribd *d, const json_t *o, struct reason *why)
{
	struct tree_spec *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return reason_set(why, -ENOMEM, "no memory");
	s->id = (uint16_t)value_int(o, "id", UINT16_MAX);
	s->up_child = (uint16_t)value_int(o, "up_child", UINT16_MAX);
	s->dedicated.slot0 = (uint32_t)value_int(o, "slot0", UINT32_MAX);
	s->last_epoch = (uint32_t)value_int(o, "last_epoch", UINT32_MAX);
	s->held = json_is_true(json_object_get(o, "held"));
	if (json_object_get(o, "weight"))
		s->weight = (uint16_t)value_int(o, "weight", UINT16_MAX);
	if (!value_name(s->job, value_text(o, "job")) ||
	    !value_name(s->parent, value_text(o, "parent")))
		err = reason_set(why, -EPROTO, "a tree's job or parent");
	else
		err = tree_parts(o, s, why);
	shared_load(json_object_get(o, "shared"), s);
	if (!err)
		err = worker_load(json_object_get(o, "worker"), s, why);
	if (!err)
		err = tree_restore(d, s, why);
	free(s);
	return err;
}

/* Call after the faces are restored: these make the ports. */
static int port_load(struct tribd *d, const json_t *o, struct reason *why)
{
	struct port *p = port_find(d, value_text(o, "dev"));

	(void)why;
	if (!p)
		return 0;
	p->clsact_ours = json_is_true(json_object_get(o, "qdisc_ours"));
	snprintf(p->reason, sizeof(p->reason), "%s", value_text(o, "reason"));
	return 0;
}

int state_restore(struct tribd *d, const json_t *doc, struct reason *why)
{
	static const struct {
		const char *key;
		int (*load)(struct tribd *d, const json_t *o, struct reason *why);
	} part[] = {
		{"faces", face_load},
		{"ports", port_load},
		{"jobs", job_load},
		{"trees", tree_load},
	};
	const json_t *ndn = json_object_get(doc, "ndn");
	int err = ndnd_restore(d, ndn, why);
	unsigned int i, k;

	if (err)
		return err;
	for (i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		const json_t *list = json_object_get(doc, part[i].key);

		for (k = 0; k < json_array_size(list); k++) {
			err = part[i].load(d, json_array_get(list, k), why);
			if (err)
				return err;
		}
	}
	return ndnd_routes_restore(d, ndn, why);
}

int state_restore_ndn(struct tribd *d, const json_t *doc, struct reason *why)
{
	const json_t *ndn = json_object_get(doc, "ndn");
	const json_t *faces = json_object_get(doc, "faces");
	int err = ndnd_restore(d, ndn, why);
	unsigned int i;

	for (i = 0; !err && i < json_array_size(faces); i++)
		if (json_object_get(json_array_get(faces, i), "ndn"))
			err = face_load(d, json_array_get(faces, i), why);
	return err ? err : ndnd_routes_restore(d, ndn, why);
}
