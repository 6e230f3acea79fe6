// SPDX-License-Identifier: BSD-2-Clause
/* Owns the reading of a job's file; every value in it is checked. */
#include "ps_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"

#define FILE_MAX (1u << 20)
#define LEASE_MS 30000
#define RTO_MS 100
#define RATE_MBPS 1000
#define EVERY 10
#define TREE_RANK_MAX 4095

/* A job while it is read from the file @r into @f. */
struct reader {
	struct json_read r;
	struct nps_file *f;
};

/* ---- fields ---- */

/* Read a number of the range of a float. */
static int real_read(const struct reader *c, const struct json_at *at, const json_t *o,
		     const char *key, double min, double max, float *out)
{
	double d = *out;
	int err = json_read_real(&c->r, at, o, key, JSON_OPTIONAL, min, max, &d);

	*out = (float)d;
	return err;
}

/* Read the key file that the member @key of @o names; absent: @otherwise. */
static int key_read(const struct reader *c, const struct json_at *at, const json_t *o,
		    const char *key, const struct ndn_key *otherwise, struct ndn_key *out)
{
	const char *path = NULL;
	enum ndn_err bad;
	int err = json_read_string(&c->r, at, o, key, JSON_OPTIONAL, &path);

	*out = *otherwise;
	if (err || !path)
		return err;
	bad = ndn_key_read(out, path);
	if (!bad)
		return 0;
	return json_read_fail(&c->r, &JSON_KEY(at, key), "%.200s: %s", path, ndn_err_text(bad));
}

/* ---- groups of fields ---- */

static int markers_read(const struct reader *c)
{
	static const char *const known[] = {"insert", "distribute", "delete", NULL};
	const struct json_at at = JSON_KEY(NULL, "markers");
	const json_t *m = json_object_get(c->r.root, "markers");
	struct nps_file *f = c->f;
	int err = 0, i;

	strcpy(f->marker[0], ndn_markers_default.insert);
	strcpy(f->marker[1], ndn_markers_default.distribute);
	strcpy(f->marker[2], ndn_markers_default.remove);
	if (m)
		err = json_read_object(&c->r, &at, m, known);
	for (i = 0; i < 3 && m && !err; i++)
		err = json_read_text(&c->r, &at, m, known[i], JSON_OPTIONAL, f->marker[i],
				     sizeof(f->marker[i]));
	f->spec.markers.insert = f->marker[0];
	f->spec.markers.distribute = f->marker[1];
	f->spec.markers.remove = f->marker[2];
	return err;
}

/* Read a worker: its name, or {"name": NAME, "key": PATH}. */
static int worker_read(const struct reader *c, const struct json_at *at, const json_t *v, size_t i)
{
	static const char *const known[] = {"name", "key", NULL};
	struct nps_worker *w = &c->f->workers[i];
	const char *s = json_string_value(v);
	int err;

	if (json_is_object(v)) {
		err = json_read_object(&c->r, at, v, known);
		if (!err)
			err = json_read_string(&c->r, at, v, "name", JSON_NEEDED, &s);
		if (!err && json_object_get(v, "key")) {
			w->key = &c->f->worker_keys[i];
			err = key_read(c, at, v, "key", &ndn_key_sha256, &c->f->worker_keys[i]);
		}
		if (err)
			return err;
	}
	if (!s || !*s || strlen(s) > NDN_GPU_MAX)
		return json_read_fail(&c->r, at,
				      "is not a worker's name: want one component of 1 to %d bytes",
				      NDN_GPU_MAX);
	w->len = (uint8_t)strlen(s);
	memcpy(w->name, s, w->len);
	return 0;
}

static int workers_read(const struct reader *c)
{
	const json_t *list = json_object_get(c->r.root, "workers"), *v;
	const struct json_at at = JSON_KEY(NULL, "workers");
	size_t n = json_array_size(list), i;
	int err;

	if (!list)
		return json_read_fail(&c->r, NULL, "workers is missing");
	err = json_read_array(&c->r, &at, list, NPS_WORKERS_MAX);
	if (!err && !n)
		err = json_read_fail(&c->r, &at, "has no entries: want 1 to %d", NPS_WORKERS_MAX);
	if (err)
		return err;
	c->f->workers = calloc(n, sizeof(*c->f->workers));
	c->f->worker_keys = calloc(n, sizeof(*c->f->worker_keys));
	if (!c->f->workers || !c->f->worker_keys)
		return json_read_refuse(&c->r, -ENOMEM, &at, "out of memory");
	json_array_foreach(list, i, v)
		if (!err)
			err = worker_read(c, &JSON_INDEX(&at, i), v, i);
	c->f->spec.workers = c->f->workers;
	c->f->spec.nworker = (unsigned int)n;
	return err;
}

/* Read "zero", {"seed": N, "scale": X} or {"file": PATH}. */
static int model_read(const struct reader *c)
{
	static const char *const known[] = {"seed", "scale", "file", NULL};
	const struct json_at at = JSON_KEY(NULL, "model");
	const json_t *m = json_object_get(c->r.root, "model");
	const char *s = json_string_value(m);
	struct nps_file *f = c->f;
	int64_t seed = 0;
	int err;

	if (!m || (s && !strcmp(s, "zero")))
		return 0;
	if (!json_is_object(m))
		return json_read_fail(&c->r, &at,
				      "is not \"zero\", nor an object with \"seed\" or \"file\"");
	err = json_read_object(&c->r, &at, m, known);
	if (err)
		return err;
	if (json_object_get(m, "file")) {
		if (json_object_size(m) > 1)
			return json_read_fail(&c->r, &at,
					      "has \"file\" and another member: want one of them");
		f->init = NPS_INIT_FILE;
		return json_read_text(&c->r, &at, m, "file", JSON_NEEDED, f->from, sizeof(f->from));
	}
	f->init = NPS_INIT_SEED;
	f->scale = 0.1f;
	err = json_read_int(&c->r, &at, m, "seed", JSON_NEEDED, 0, INT64_MAX, &seed);
	f->seed = (uint64_t)seed;
	return err ? err : real_read(c, &at, m, "scale", 0, 1e6, &f->scale);
}

static int rule_read(const struct reader *c)
{
	static const char *const known[] = {"lr", "momentum", NULL};
	const struct json_at at = JSON_KEY(NULL, "sgd");
	const json_t *sgd = json_object_get(c->r.root, "sgd");
	struct nps_spec *s = &c->f->spec;
	int err;

	if (!json_is_object(sgd) || !json_object_get(sgd, "lr"))
		return json_read_fail(&c->r, &at, "is not {\"lr\": X}");
	err = json_read_object(&c->r, &at, sgd, known);
	if (!err)
		err = real_read(c, &at, sgd, "lr", 0, 1e9, &s->lr);
	return err ? err : real_read(c, &at, sgd, "momentum", 0, 1, &s->momentum);
}

/* Read {"job": NAME or ticket, "number": N, "rank": R}. */
static int tree_read(const struct reader *c)
{
	static const char *const known[] = {"job", "number", "rank", NULL};
	const struct json_at at = JSON_KEY(NULL, "tree");
	const json_t *t = json_object_get(c->r.root, "tree");
	struct nps_file *f = c->f;
	int64_t n, rank;
	int err;

	f->spec.tree_job = NDN_NO_TREE;
	if (!t)
		return 0;
	err = json_read_object(&c->r, &at, t, known);
	if (!err && f->spec.mode != NDN_MODE_SYNC)
		err = json_read_fail(&c->r, &at, "needs a synchronous job: \"mode\": \"sync\"");
	if (!err)
		err = json_read_text(&c->r, &at, t, "job", JSON_NEEDED, f->tree, sizeof(f->tree));
	if (!err)
		err = json_read_int(&c->r, &at, t, "number", JSON_NEEDED, 0, UINT16_MAX, &n);
	if (!err)
		err = json_read_int(&c->r, &at, t, "rank", JSON_NEEDED, 0, TREE_RANK_MAX, &rank);
	if (err)
		return err;
	f->spec.tree_job = (uint32_t)n;
	f->tree_rank = (unsigned int)rank;
	return 0;
}

static int numbers_read(const struct reader *c)
{
	struct nps_spec *s = &c->f->spec;
	/*
	 * Read a number; @otherwise is its default, or below 0 if it must be
	 * present.
	 */
	const struct {
		const char *key;
		int64_t min, max, otherwise;
		uint32_t *to;
	} field[] = {
		{"segment", 4, NDN_SEGMENT_MAX, 0, &s->segment},
		{"versions", 1, UINT32_MAX, -1, &s->versions},
		{"every", 1, UINT32_MAX, EVERY, &s->every},
		{"min_workers", 1, NPS_WORKERS_MAX, 1, &s->least},
		{"lease_ms", NDN_LEASE_MIN_MS, NDN_LEASE_MAX_MS, LEASE_MS, &s->lease_ms},
		{"rto_ms", 1, NDN_LEASE_MAX_MS / 16, RTO_MS, &s->rto_ms},
	};
	int64_t v, elements = 0, rate = RATE_MBPS;
	size_t i;
	int err;

	for (i = 0; i < sizeof(field) / sizeof(*field); i++) {
		v = field[i].otherwise;
		err = json_read_int(&c->r, NULL, c->r.root, field[i].key, v < 0, field[i].min,
				    field[i].max, &v);
		if (err)
			return err;
		*field[i].to = (uint32_t)v;
	}
	if (s->segment % NDN_VALUE_SIZE)
		return json_read_fail(&c->r, &JSON_KEY(NULL, "segment"),
				      "%u is not a multiple of 4, the bytes of a value",
				      s->segment);
	if (s->rto_ms > s->lease_ms / 16)
		return json_read_fail(&c->r, &JSON_KEY(NULL, "rto_ms"),
				      "%u is more than lease_ms / 16", s->rto_ms);
	err = json_read_int(&c->r, NULL, c->r.root, "elements", JSON_NEEDED, 1, NDN_ELEMENTS_MAX,
			    &elements);
	if (!err)
		err = json_read_int(&c->r, NULL, c->r.root, "rate_mbps", JSON_OPTIONAL, 0, 1000000,
				    &rate);
	s->elements = (uint64_t)elements;
	s->rate = (uint64_t)rate * 1000000 / 8;
	return err;
}

static int mode_read(const struct reader *c)
{
	const char *s = json_string_value(json_object_get(c->r.root, "mode"));

	if (!s || (strcmp(s, "sync") && strcmp(s, "async")))
		return json_read_fail(&c->r, &JSON_KEY(NULL, "mode"),
				      "is neither \"sync\" nor \"async\"");
	c->f->spec.mode = strcmp(s, "async") ? NDN_MODE_SYNC : NDN_MODE_ASYNC;
	return 0;
}

static int prefix_read(const struct reader *c)
{
	struct nps_file *f = c->f;
	struct ndn_job_names names;
	struct ndn_name name;
	enum ndn_err bad;
	int err;

	err = json_read_text(&c->r, NULL, c->r.root, "prefix", JSON_NEEDED, f->prefix,
			     sizeof(f->prefix));
	if (err)
		return err;
	bad = ndn_name_parse(&f->spec.name, f->prefix);
	if (!bad) {
		name = ndn_name_of(&f->spec.name);
		bad = ndn_job_names_init(&names, &name, &f->spec.markers);
	}
	if (!bad)
		return 0;
	return json_read_fail(&c->r, &JSON_KEY(NULL, "prefix"), "%.200s: %s", f->prefix,
			      ndn_err_text(bad));
}

/* If the job signs by Ed25519, refuse workers that could not be verified. */
static int keys_check(const struct reader *c)
{
	const struct json_at at = JSON_KEY(NULL, "workers");
	const struct nps_file *f = c->f;
	unsigned int i;

	if (f->key.type != TRIB_NDN_SIG_ED25519 || json_object_get(c->r.root, "worker_key"))
		return 0;
	for (i = 0; i < f->spec.nworker; i++)
		if (!f->workers[i].key)
			return json_read_fail(&c->r, &JSON_INDEX(&at, i),
					      "has no key: give it one, or the job a worker_key");
	return 0;
}

/* ---- the whole file ---- */

static int job_read(const struct reader *c)
{
	static const char *const known[] = {"name",	  "prefix",	 "markers", "workers",
					    "worker_key", "key",	 "mode",    "elements",
					    "segment",	  "model",	 "sgd",	    "every",
					    "versions",	  "lease_ms",	 "rto_ms",  "rate_mbps",
					    "state",	  "min_workers", "tree",    NULL};
	/* Order matters: later fields use earlier ones. */
	static int (*const part[])(const struct reader *c) = {markers_read, prefix_read, mode_read,
							      numbers_read, tree_read,	 model_read,
							      rule_read,    NULL};
	const json_t *o = c->r.root;
	struct nps_file *f = c->f;
	unsigned int i;
	int err;

	err = json_read_object(&c->r, NULL, o, known);
	if (!err)
		err = json_read_text(&c->r, NULL, o, "name", JSON_NEEDED, f->spec.title,
				     sizeof(f->spec.title));
	for (i = 0; part[i] && !err; i++)
		err = part[i](c);
	if (!err)
		err = json_read_text(&c->r, NULL, o, "state", JSON_NEEDED, f->state,
				     sizeof(f->state));
	if (!err)
		err = key_read(c, NULL, o, "key", &ndn_key_sha256, &f->key);
	/*
	 * Workers share an HMAC key; of an Ed25519 key they have the public
	 * half.
	 */
	if (!err)
		err = key_read(c, NULL, o, "worker_key", &f->key, &f->verify);
	if (!err)
		err = workers_read(c);
	if (!err)
		err = keys_check(c);
	f->spec.key = &f->key;
	f->spec.verify = &f->verify;
	return err;
}

int nps_file_load(struct nps_file **file, const char *path, char *why, size_t size)
{
	struct reader c = {.f = NULL};
	int err = json_read_load(&c.r, path, FILE_MAX, why, size);

	if (err)
		return err;
	c.f = calloc(1, sizeof(*c.f));
	err = c.f ? job_read(&c) : json_read_refuse(&c.r, -ENOMEM, NULL, "out of memory");
	json_read_close(&c.r);
	if (err)
		nps_file_free(c.f);
	else
		*file = c.f;
	return err;
}

void nps_file_free(struct nps_file *f)
{
	if (!f)
		return;
	ndn_key_wipe(&f->key);
	ndn_key_wipe(&f->verify);
	free(f->workers);
	free(f->worker_keys);
	free(f);
}
