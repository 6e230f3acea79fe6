// SPDX-License-Identifier: BSD-2-Clause
/*
 * A job's file: JSON, every value checked, and refused with the name of the
 * field (or the line, where it is no JSON) and what was found there.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ps.h"

#define GROUP_LOCAL "local"

/* Where a refusal goes: "FILE: FIELD: WHY". */
struct reader {
	struct ps *ps;
	struct ps_job *job;
	const char *path;
	bool v4;
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

/* --- addresses */

static bool port_parse(const char *s, uint16_t *out)
{
	unsigned long v;
	char *end;

	if (*s < '1' || *s > '9')
		return false;
	v = strtoul(s, &end, 10);
	*out = (uint16_t)v;
	return !*end && v <= UINT16_MAX;
}

bool ps_addr_parse(const char *s, uint16_t port, struct ps_addr *out)
{
	bool v6 = *s == '[';
	const char *from = s + v6;
	size_t len = strcspn(from, v6 ? "]" : ":");
	char text[INET6_ADDRSTRLEN + 1];

	if (!len || len >= sizeof(text))
		return false;
	memcpy(text, from, len);
	text[len] = '\0';
	from += len;
	memset(out, 0, sizeof(*out));
	out->port = port;
	if (v6) {
		if (*from++ != ']' || inet_pton(AF_INET6, text, &out->ip) != 1)
			return false;
	} else {
		out->ip.s6_addr[10] = out->ip.s6_addr[11] = 0xff;
		if (inet_pton(AF_INET, text, out->ip.s6_addr + 12) != 1)
			return false;
	}
	if (!*from)
		return port != 0;
	return *from == ':' && port_parse(from + 1, &out->port);
}

const char *ps_addr_text(const struct ps_addr *a, char *buf, size_t size)
{
	bool v4 = IN6_IS_ADDR_V4MAPPED(&a->ip);
	char ip[INET6_ADDRSTRLEN] = "?";

	inet_ntop(v4 ? AF_INET : AF_INET6,
		  v4 ? (const void *)(a->ip.s6_addr + 12) : &a->ip, ip,
		  sizeof(ip));
	snprintf(buf, size, v4 ? "%s:%u" : "[%s]:%u", ip, a->port);
	return buf;
}

/* One of an array of addresses, @field[i]. */
static int addr_read(struct reader *r, const json_t *v, const char *field,
		     size_t i, uint16_t port, struct ps_addr *out)
{
	const char *s = json_string_value(v);

	if (!s)
		return refuse(r, -EINVAL, "%s[%zu]: not a string", field, i);
	if (!ps_addr_parse(s, port, out))
		return refuse(r, -EINVAL, "%s[%zu]: '%.60s' is not ADDR[:PORT]",
			      field, i, s);
	if (IN6_IS_ADDR_MULTICAST(&out->ip) ||
	    IN6_IS_ADDR_UNSPECIFIED(&out->ip) ||
	    (IN6_IS_ADDR_V4MAPPED(&out->ip) &&
	     (out->ip.s6_addr[12] >= 224 || !out->ip.s6_addr[12])))
		return refuse(r, -EINVAL,
			      "%s[%zu]: '%.60s' is not the address of a host",
			      field, i, s);
	if (r->v4 && !IN6_IS_ADDR_V4MAPPED(&out->ip))
		return refuse(r, -EINVAL,
			      "%s[%zu]: '%.60s' is IPv6, and --listen is IPv4",
			      field, i, s);
	return 0;
}

/* --- numbers and texts */

static int number(struct reader *r, const json_t *o, const char *where,
		  const char *key, json_int_t min, json_int_t max,
		  json_int_t *out)
{
	const json_t *v = json_object_get(o, key);

	if (!v)
		return refuse(r, -EINVAL, "%s%s: missing", where, key);
	if (!json_is_integer(v))
		return refuse(r, -EINVAL, "%s%s: not an integer", where, key);
	*out = json_integer_value(v);
	if (*out < min || *out > max)
		return refuse(r, -ERANGE,
			      "%s%s: %" JSON_INTEGER_FORMAT
			      " is not within %" JSON_INTEGER_FORMAT
			      " to %" JSON_INTEGER_FORMAT,
			      where, key, *out, min, max);
	return 0;
}

/* Every key is one of @known: what is misspelt must not be taken for absent. */
static int keys(struct reader *r, json_t *o, const char *where,
		const char *const *known)
{
	const char *key;
	json_t *v;
	unsigned int i;

	json_object_foreach(o, key, v) {
		for (i = 0; known[i] && strcmp(key, known[i]); i++)
			;
		if (!known[i])
			return refuse(r, -EINVAL, "%s%.60s: no such field",
				      where, key);
	}
	return 0;
}

static int cookie(struct reader *r, const json_t *o)
{
	const char *s = json_string_value(json_object_get(o, "cookie"));
	size_t len = s ? strlen(s) : 0;

	if (!len || len > 16 || strspn(s, "0123456789abcdefABCDEF") != len)
		return refuse(r, -EINVAL,
			      "cookie: not a string of 1 to 16 hex digits");
	r->job->cookie = htobe64(strtoull(s, NULL, 16));
	return 0;
}

static int name(struct reader *r, const json_t *o)
{
	const json_t *v = json_object_get(o, "name");
	const char *s = json_string_value(v);

	if (!v)
		return 0;
	if (!s || !*s || strlen(s) >= sizeof(r->job->name))
		return refuse(r, -EINVAL,
			      "name: not a string of 1 to %zu characters",
			      sizeof(r->job->name) - 1);
	strcpy(r->job->name, s);
	return 0;
}

/* --- the job */

static int job_numbers(struct reader *r, const json_t *o)
{
	struct ps_job *j = r->job;
	json_int_t v;
	int err;

	err = number(r, o, "", "job", 0, UINT16_MAX, &v);
	if (err)
		return err;
	j->number = (uint16_t)v;
	err = number(r, o, "", "window", 1, PS_WINDOW_MAX, &v);
	if (err)
		return err;
	if (v & (v - 1))
		return refuse(r, -EINVAL,
			      "window: %" JSON_INTEGER_FORMAT
			      " is not a power of 2",
			      v);
	j->window = (uint16_t)v;
	/* A START, which is as long as a JOIN, must fit. */
	err = number(r, o, "", "nval", 48, TRIB_NVAL_LARGE, &v);
	if (err)
		return err;
	if (v % TRIB_NVAL_BLOCK)
		return refuse(r, -EINVAL,
			      "nval: %" JSON_INTEGER_FORMAT
			      " is not a multiple of %d",
			      v, TRIB_NVAL_BLOCK);
	j->nval = (uint16_t)v;
	err = number(r, o, "", "timeout_ms", 100, 86400000, &v);
	j->timeout_ms = (uint32_t)v;
	return err;
}

static int job_workers(struct reader *r, const json_t *o)
{
	const json_t *list = json_object_get(o, "workers");
	size_t n = json_array_size(list), i;
	int err;

	if (!n || n > TRIB_WORLD_MAX)
		return refuse(r, -EINVAL,
			      "workers: not an array of 1 to %d addresses",
			      TRIB_WORLD_MAX);
	r->job->world = (uint16_t)n;
	r->job->worker = calloc(n, sizeof(*r->job->worker));
	if (!r->job->worker)
		return refuse(r, -ENOMEM, "out of memory");
	for (i = 0; i < n; i++) {
		err = addr_read(r, json_array_get(list, i), "workers", i,
				(uint16_t)(TRIB_UDP_PORT_WORKER + i),
				&r->job->worker[i]);
		if (err)
			return err;
	}
	return 0;
}

/* --- trees */

/* The relay on this host, in the IP version of the job's workers. */
static int local_read(struct reader *r, const char *field, size_t i,
		      struct ps_addr *out)
{
	bool v4 = IN6_IS_ADDR_V4MAPPED(&r->job->worker[0].ip);

	if (!r->ps->everywhere)
		return refuse(
			r, -EINVAL,
			"%s[%zu]: the relay on this host sends to an address of its own: --listen at all (0.0.0.0 or [::])",
			field, i);
	ps_addr_parse(v4 ? TRIB_LOCAL_PORT_V4 : "[" TRIB_LOCAL_PORT_V6 "]",
		      TRIB_UDP_PORT, out);
	out->local = true;
	return 0;
}

/* One of a tree's group. */
static int group_read(struct reader *r, const json_t *v, const char *field,
		      size_t i, struct ps_addr *out)
{
	const char *s = json_string_value(v);

	return s && !strcmp(s, GROUP_LOCAL)
		       ? local_read(r, field, i, out)
		       : addr_read(r, v, field, i, TRIB_UDP_PORT, out);
}

/* Relays, or without any, all workers. */
static int tree_group(struct reader *r, const json_t *o, const char *where,
		      struct ps_addr **out, unsigned int *n)
{
	const json_t *list = json_object_get(o, "group");
	char field[40];
	unsigned int i;
	int err = 0;

	*n = list ? (unsigned int)json_array_size(list) : r->job->world;
	if (!*n || *n > PS_GROUP_MAX)
		return refuse(r, -EINVAL,
			      "%sgroup: not an array of 1 to %d addresses",
			      where, PS_GROUP_MAX);
	*out = calloc(*n, sizeof(**out));
	if (!*out)
		return refuse(r, -ENOMEM, "out of memory");
	if (!list)
		memcpy(*out, r->job->worker, *n * sizeof(**out));
	snprintf(field, sizeof(field), "%sgroup", where);
	for (i = 0; list && i < *n && !err; i++)
		err = group_read(r, json_array_get(list, i), field, i,
				 &(*out)[i]);
	if (err)
		free(*out);
	return err;
}

static int tree_read(struct reader *r, json_t *o, size_t i)
{
	static const char *const known[] = {"tree", "group", NULL};
	struct ps_addr *group;
	unsigned int n;
	char where[32];
	json_int_t v;
	int err;

	snprintf(where, sizeof(where), "trees[%zu].", i);
	if (!json_is_object(o))
		return refuse(r, -EINVAL, "trees[%zu]: not an object", i);
	err = keys(r, o, where, known);
	if (!err)
		err = number(r, o, where, "tree", 0, UINT16_MAX, &v);
	if (!err)
		err = tree_group(r, o, where, &group, &n);
	if (err)
		return err;
	err = ps_tree_new(r->ps, r->job, (uint16_t)v, group, n);
	if (!err)
		return 0;
	free(group);
	if (err == -EEXIST)
		return refuse(r, err,
			      "%stree: there is a tree %" JSON_INTEGER_FORMAT
			      " already",
			      where, v);
	return refuse(r, err,
		      err == -E2BIG ? "%stree: more than %d trees"
				    : "%stree: no memory for its window",
		      where, PS_TREES_MAX);
}

static int trees_read(struct reader *r, const json_t *o)
{
	const json_t *list = json_object_get(o, "trees");
	size_t n = json_array_size(list), i;
	int err = 0;

	if (!n)
		return refuse(r, -EINVAL, "trees: not an array of trees");
	for (i = 0; i < n && !err; i++)
		err = tree_read(r, json_array_get(list, i), i);
	return err;
}

static int job_read(struct reader *r, json_t *o)
{
	static const char *const known[] = {"name",    "job",	"cookie",
					    "window",  "nval",	"timeout_ms",
					    "workers", "trees", NULL};
	unsigned int i;
	int err;

	if (!json_is_object(o))
		return refuse(r, -EINVAL, "not an object");
	err = keys(r, o, "", known);
	if (!err)
		err = name(r, o);
	if (!err)
		err = job_numbers(r, o);
	if (!err)
		err = cookie(r, o);
	if (!err)
		err = job_workers(r, o);
	for (i = 0; i < r->ps->njob && !err; i++)
		if (r->ps->job[i] != r->job &&
		    r->ps->job[i]->number == r->job->number)
			err = refuse(r, -EEXIST,
				     "job: there is a job %u already",
				     r->job->number);
	return err ? err : trees_read(r, o);
}

/* @doc is used up. */
static int config_read(struct reader *r, json_t *doc, const json_error_t *bad)
{
	struct ps *ps = r->ps;
	int err;

	if (!doc)
		return bad->line < 0
			       ? refuse(r, -EINVAL, "%s", bad->text)
			       : refuse(r, -EINVAL, "line %d column %d: %s",
					bad->line, bad->column, bad->text);
	r->job = calloc(1, sizeof(*r->job));
	if (ps->njob == PS_TREES_MAX) {
		err = refuse(r, -E2BIG, "more than %d jobs", PS_TREES_MAX);
		free(r->job);
	} else if (r->job) {
		ps->job[ps->njob++] = r->job;
		err = job_read(r, doc);
	} else {
		err = refuse(r, -ENOMEM, "out of memory");
	}
	json_decref(doc);
	return err;
}

int ps_config_load(struct ps *ps, const char *path, bool v4, char *why,
		   size_t size)
{
	struct reader r = {
		.ps = ps, .path = path, .v4 = v4, .why = why, .size = size};
	json_error_t bad;
	json_t *doc = json_load_file(path, JSON_REJECT_DUPLICATES, &bad);

	return config_read(&r, doc, &bad);
}

int ps_config_text(struct ps *ps, const char *path, const char *text,
		   size_t len, bool v4, char *why, size_t size)
{
	struct reader r = {
		.ps = ps, .path = path, .v4 = v4, .why = why, .size = size};
	json_error_t bad;
	json_t *doc = json_loadb(text, len, JSON_REJECT_DUPLICATES, &bad);

	return config_read(&r, doc, &bad);
}
