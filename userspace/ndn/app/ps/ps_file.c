// SPDX-License-Identifier: BSD-2-Clause
/*
 * A job's file: JSON, every value checked, and refused with the name of the
 * field (or the line, where it is no JSON) and what was found there.
 */
#include "ps_file.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LEASE_MS 30000
#define RTO_MS 100
#define RATE_MBPS 1000
#define EVERY 10
#define TREE_RANK_MAX 4095

/* Where a refusal goes. */
struct reader {
	struct nps_file *f;
	const char *path;
	char *why;
	size_t size;
};

__attribute__((format(printf, 3, 4))) static int
refuse(struct reader *r, int err, const char *fmt, ...)
{
	int n = snprintf(r->why, r->size, "%s: ", r->path);
	va_list ap;

	va_start(ap, fmt);
	if (n >= 0 && (size_t)n < r->size)
		vsnprintf(r->why + n, r->size - (size_t)n, fmt, ap);
	va_end(ap);
	return err;
}

/* ---- fields ---- */

/* Every key is one of @known: what is misspelt must not be taken for absent. */
static int keys(struct reader *r, json_t *o, const char *where,
		const char *const *known)
{
	const char *key;
	unsigned int i;
	json_t *v;

	json_object_foreach(o, key, v) {
		for (i = 0; known[i] && strcmp(key, known[i]); i++)
			;
		if (!known[i])
			return refuse(r, -EINVAL, "%s%.60s: no such field",
				      where, key);
	}
	return 0;
}

/* @otherwise below 0: it must be there. */
static int number(struct reader *r, const json_t *o, const char *key,
		  json_int_t min, json_int_t max, json_int_t otherwise,
		  json_int_t *out)
{
	const json_t *v = json_object_get(o, key);

	*out = otherwise;
	if (!v)
		return otherwise < 0 ? refuse(r, -EINVAL, "%s: missing", key)
				     : 0;
	if (!json_is_integer(v))
		return refuse(r, -EINVAL, "%s: not an integer", key);
	*out = json_integer_value(v);
	if (*out < min || *out > max)
		return refuse(r, -ERANGE,
			      "%s: %" JSON_INTEGER_FORMAT
			      " is not within %" JSON_INTEGER_FORMAT
			      " to %" JSON_INTEGER_FORMAT,
			      key, *out, min, max);
	return 0;
}

static int real(struct reader *r, const json_t *o, const char *where,
		const char *key, double min, double max, float *out)
{
	const json_t *v = json_object_get(o, key);
	double d = json_number_value(v);

	if (!v)
		return 0;
	if (!json_is_number(v) || !isfinite(d) || d < min || d > max)
		return refuse(r, -EINVAL, "%s%s: not a number within %g to %g",
			      where, key, min, max);
	*out = (float)d;
	return 0;
}

/* At most @size - 1 characters, at least one; @must: it must be there. */
static int text(struct reader *r, const json_t *o, const char *key, bool must,
		char *out, size_t size)
{
	const json_t *v = json_object_get(o, key);
	const char *s = json_string_value(v);

	if (!v)
		return must ? refuse(r, -EINVAL, "%s: missing", key) : 0;
	if (!s || !*s || strlen(s) >= size ||
	    strlen(s) != json_string_length(v))
		return refuse(r, -EINVAL,
			      "%s: not a string of 1 to %zu characters", key,
			      size - 1);
	strcpy(out, s);
	return 0;
}

/* A key's file; absent: DigestSha256, or @otherwise. */
static int key_read(struct reader *r, const json_t *o, const char *field,
		    const struct ndn_key *otherwise, struct ndn_key *key)
{
	const json_t *v = json_object_get(o, "key");
	enum ndn_err err;

	if (strcmp(field, "key") && !strchr(field, '.'))
		v = json_object_get(o, field);
	*key = *otherwise;
	if (!v)
		return 0;
	if (!json_is_string(v))
		return refuse(r, -EINVAL, "%s: not the path of a file", field);
	err = ndn_key_read(key, json_string_value(v));
	if (err)
		return refuse(r, -EINVAL, "%s: %.200s: %s", field,
			      json_string_value(v), ndn_err_text(err));
	return 0;
}

/* ---- groups of fields ---- */

static int markers(struct reader *r, json_t *o)
{
	static const char *const known[] = {"insert", "distribute", "delete",
					    NULL};
	struct nps_file *f = r->f;
	json_t *m = json_object_get(o, "markers");
	int err = 0, i;

	strcpy(f->marker[0], ndn_markers_default.insert);
	strcpy(f->marker[1], ndn_markers_default.distribute);
	strcpy(f->marker[2], ndn_markers_default.remove);
	if (m && !json_is_object(m))
		return refuse(r, -EINVAL, "markers: not an object");
	if (m)
		err = keys(r, m, "markers.", known);
	for (i = 0; i < 3 && m && !err; i++)
		err = text(r, m, known[i], false, f->marker[i],
			   sizeof(f->marker[i]));
	f->spec.markers.insert = f->marker[0];
	f->spec.markers.distribute = f->marker[1];
	f->spec.markers.remove = f->marker[2];
	return err;
}

static int worker(struct reader *r, json_t *v, size_t i)
{
	static const char *const known[] = {"name", "key", NULL};
	struct nps_worker *w = &r->f->workers[i];
	const char *s = json_string_value(v);
	char field[40];
	int err;

	snprintf(field, sizeof(field), "workers[%zu].", i);
	if (json_is_object(v)) {
		err = keys(r, v, field, known);
		s = json_string_value(json_object_get(v, "name"));
		strcat(field, "key");
		if (!err && json_object_get(v, "key")) {
			w->key = &r->f->worker_keys[i];
			err = key_read(r, v, field, &ndn_key_sha256,
				       &r->f->worker_keys[i]);
		}
		if (err)
			return err;
	}
	if (!s || !*s || strlen(s) > NDN_GPU_MAX)
		return refuse(r, -EINVAL,
			      "workers[%zu]: not a name of 1 to %d bytes", i,
			      NDN_GPU_MAX);
	w->len = (uint8_t)strlen(s);
	memcpy(w->name, s, w->len);
	return 0;
}

static int workers(struct reader *r, const json_t *o)
{
	const json_t *list = json_object_get(o, "workers");
	size_t n = json_array_size(list), i;
	int err = 0;

	if (!n || n > NPS_WORKERS_MAX)
		return refuse(r, -EINVAL,
			      "workers: not an array of 1 to %d names",
			      NPS_WORKERS_MAX);
	r->f->workers = calloc(n, sizeof(*r->f->workers));
	r->f->worker_keys = calloc(n, sizeof(*r->f->worker_keys));
	if (!r->f->workers || !r->f->worker_keys)
		return refuse(r, -ENOMEM, "out of memory");
	for (i = 0; i < n && !err; i++)
		err = worker(r, json_array_get(list, i), i);
	r->f->spec.workers = r->f->workers;
	r->f->spec.nworker = (unsigned int)n;
	return err;
}

/* "zero", {"seed": N, "scale": X} or {"file": PATH} */
static int model(struct reader *r, json_t *o)
{
	static const char *const known[] = {"seed", "scale", "file", NULL};
	json_t *m = json_object_get(o, "model");
	const char *s = json_string_value(m);
	struct nps_file *f = r->f;
	json_int_t seed;
	int err;

	if (!m || (s && !strcmp(s, "zero")))
		return 0;
	if (!json_is_object(m))
		return refuse(r, -EINVAL,
			      "model: neither \"zero\" nor an object");
	err = keys(r, m, "model.", known);
	if (err)
		return err;
	if (json_object_get(m, "file")) {
		if (json_object_size(m) > 1)
			return refuse(r, -EINVAL,
				      "model: a file and something else");
		f->init = NPS_INIT_FILE;
		return text(r, m, "file", true, f->from, sizeof(f->from));
	}
	f->init = NPS_INIT_SEED;
	f->scale = 0.1f;
	err = number(r, m, "seed", 0, INT64_MAX, -1, &seed);
	f->seed = (uint64_t)seed;
	return err ? err : real(r, m, "model.", "scale", 0, 1e6, &f->scale);
}

static int rule(struct reader *r, json_t *o)
{
	static const char *const known[] = {"lr", "momentum", NULL};
	json_t *sgd = json_object_get(o, "sgd");
	int err;

	if (!json_is_object(sgd) || !json_object_get(sgd, "lr"))
		return refuse(r, -EINVAL, "sgd: not {\"lr\": X}");
	err = keys(r, sgd, "sgd.", known);
	if (!err)
		err = real(r, sgd, "sgd.", "lr", 0, 1e9, &r->f->spec.lr);
	if (!err)
		err = real(r, sgd, "sgd.", "momentum", 0, 1,
			   &r->f->spec.momentum);
	return err;
}

/* {"job": NAME or ticket, "number": N, "rank": R} */
static int tree(struct reader *r, json_t *o)
{
	static const char *const known[] = {"job", "number", "rank", NULL};
	json_t *t = json_object_get(o, "tree");
	struct nps_file *f = r->f;
	json_int_t n, rank;
	int err;

	f->spec.tree_job = NDN_NO_TREE;
	if (!t)
		return 0;
	if (!json_is_object(t))
		return refuse(r, -EINVAL, "tree: not an object");
	if (f->spec.mode != NDN_MODE_SYNC)
		return refuse(r, -EINVAL, "tree: only of a synchronous job");
	err = keys(r, t, "tree.", known);
	if (!err)
		err = text(r, t, "job", true, f->tree, sizeof(f->tree));
	if (!err)
		err = number(r, t, "number", 0, UINT16_MAX, -1, &n);
	if (!err)
		err = number(r, t, "rank", 0, TREE_RANK_MAX, -1, &rank);
	if (err)
		return err;
	f->spec.tree_job = (uint32_t)n;
	f->tree_rank = (unsigned int)rank;
	return 0;
}

static int numbers(struct reader *r, const json_t *o)
{
	struct nps_spec *s = &r->f->spec;
	const struct {
		const char *key;
		json_int_t min, max, otherwise;
		uint32_t *to;
	} field[] = {
		{"segment", 4, NDN_SEGMENT_MAX, 0, &s->segment},
		{"versions", 1, UINT32_MAX, -1, &s->versions},
		{"every", 1, UINT32_MAX, EVERY, &s->every},
		{"min_workers", 1, NPS_WORKERS_MAX, 1, &s->least},
		{"lease_ms", NDN_LEASE_MIN_MS, NDN_LEASE_MAX_MS, LEASE_MS,
		 &s->lease_ms},
		{"rto_ms", 1, NDN_LEASE_MAX_MS / 16, RTO_MS, &s->rto_ms},
	};
	json_int_t v;
	size_t i;
	int err;

	for (i = 0; i < sizeof(field) / sizeof(*field); i++) {
		err = number(r, o, field[i].key, field[i].min, field[i].max,
			     field[i].otherwise, &v);
		if (err)
			return err;
		*field[i].to = (uint32_t)v;
	}
	if (s->segment % NDN_VALUE_SIZE)
		return refuse(r, -EINVAL, "segment: not a multiple of 4");
	if (s->rto_ms > s->lease_ms / 16)
		return refuse(r, -EINVAL,
			      "rto_ms: %u is more than a sixteenth of lease_ms",
			      s->rto_ms);
	err = number(r, o, "elements", 1, NDN_ELEMENTS_MAX, -1, &v);
	s->elements = (uint64_t)v;
	if (!err)
		err = number(r, o, "rate_mbps", 0, 1000000, RATE_MBPS, &v);
	s->rate = (uint64_t)v * 1000000 / 8;
	return err;
}

static int mode(struct reader *r, const json_t *o)
{
	const char *s = json_string_value(json_object_get(o, "mode"));

	if (!s || (strcmp(s, "sync") && strcmp(s, "async")))
		return refuse(r, -EINVAL,
			      "mode: neither \"sync\" nor \"async\"");
	r->f->spec.mode = strcmp(s, "async") ? NDN_MODE_SYNC : NDN_MODE_ASYNC;
	return 0;
}

static int prefix(struct reader *r, const json_t *o)
{
	struct nps_file *f = r->f;
	int err = text(r, o, "prefix", true, f->prefix, sizeof(f->prefix));
	struct ndn_job_names names;
	struct ndn_name name;
	enum ndn_err bad;

	if (err)
		return err;
	bad = ndn_name_parse(&f->spec.name, f->prefix);
	if (!bad) {
		name = ndn_name_of(&f->spec.name);
		bad = ndn_job_names_init(&names, &name, &f->spec.markers);
	}
	if (bad)
		return refuse(r, -EINVAL, "prefix: %.200s: %s", f->prefix,
			      ndn_err_text(bad));
	return 0;
}

/* Whom there is no way to verify is not let in by mistake. */
static int keys_check(struct reader *r, const json_t *o)
{
	const struct nps_file *f = r->f;
	unsigned int i;

	if (f->key.type != TRIB_NDN_SIG_ED25519 ||
	    json_object_get(o, "worker_key"))
		return 0;
	for (i = 0; i < f->spec.nworker; i++)
		if (!f->workers[i].key)
			return refuse(r, -EINVAL,
				      "workers[%u]: no key, and no worker_key",
				      i);
	return 0;
}

/* ---- the whole ---- */

static int job_read(struct reader *r, json_t *o)
{
	static const char *const known[] = {
		"name",	     "prefix", "markers",     "workers",  "worker_key",
		"key",	     "mode",   "elements",    "segment",  "model",
		"sgd",	     "every",  "versions",    "lease_ms", "rto_ms",
		"rate_mbps", "state",  "min_workers", "tree",	  NULL};
	struct nps_file *f = r->f;
	int err;

	if (!json_is_object(o))
		return refuse(r, -EINVAL, "not an object");
	err = keys(r, o, "", known);
	if (!err)
		err = text(r, o, "name", true, f->spec.title,
			   sizeof(f->spec.title));
	if (!err)
		err = markers(r, o);
	if (!err)
		err = prefix(r, o);
	if (!err)
		err = mode(r, o);
	if (!err)
		err = numbers(r, o);
	if (!err)
		err = tree(r, o);
	if (!err)
		err = model(r, o);
	if (!err)
		err = rule(r, o);
	if (!err)
		err = text(r, o, "state", true, f->state, sizeof(f->state));
	if (!err)
		err = key_read(r, o, "key", &ndn_key_sha256, &f->key);
	/* An HMAC key is shared; of others the public half is needed. */
	if (!err)
		err = key_read(r, o, "worker_key", &f->key, &f->verify);
	if (!err)
		err = workers(r, o);
	if (!err)
		err = keys_check(r, o);
	f->spec.key = &f->key;
	f->spec.verify = &f->verify;
	return err;
}

int nps_file_load(struct nps_file **file, const char *path, char *why,
		  size_t size)
{
	struct reader r = {.path = path, .why = why, .size = size};
	json_error_t bad;
	json_t *doc = json_load_file(path, JSON_REJECT_DUPLICATES, &bad);
	int err;

	if (!doc)
		return bad.line < 0
			       ? refuse(&r, -EINVAL, "%s", bad.text)
			       : refuse(&r, -EINVAL, "line %d column %d: %s",
					bad.line, bad.column, bad.text);
	r.f = calloc(1, sizeof(*r.f));
	err = r.f ? job_read(&r, doc) : refuse(&r, -ENOMEM, "out of memory");
	json_decref(doc);
	if (err)
		nps_file_free(r.f);
	else
		*file = r.f;
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
