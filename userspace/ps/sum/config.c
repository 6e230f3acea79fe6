// SPDX-License-Identifier: BSD-2-Clause
/* Owns the reading of a job's file; every value in it is checked. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "base/json_read.h"
#include "base/ps_folder.h"
#include "base/text.h"
#include "ps.h"

#define GROUP_LOCAL "local"

/* A job on its way from the file @r into @ps. */
struct reader {
	struct json_read r;
	struct ps *ps;
	struct ps_job *job;
	bool v4;
};

/* --- addresses */

bool ps_addr_parse(const char *s, uint16_t port, struct ps_addr *out)
{
	/* IPv6 needs its brackets, so that a port is never taken for a part. */
	if (*s != '[' && strchr(s, ':') != strrchr(s, ':'))
		return false;
	memset(out, 0, sizeof(*out));
	out->port = port;
	return addr_parse_port(s, &out->ip, &out->port) && out->port;
}

const char *ps_addr_text(const struct ps_addr *a, char buf[ADDR_TEXT_MAX])
{
	return addr_text_port(&a->ip, a->port, buf);
}

/* Could a host have this address? */
static bool is_host(const struct in6_addr *ip)
{
	return !addr_is_multicast(ip) && !addr_is_zero(ip) &&
	       !(addr_is_v4(ip) && (ip->s6_addr[12] >= 224 || !ip->s6_addr[12]));
}

/* Read an address with the default @port. */
static int addr_read(const struct reader *c, const struct json_at *at, const json_t *v,
		     uint16_t port, struct ps_addr *out)
{
	const char *s = json_string_value(v);

	if (!s)
		return json_read_fail(&c->r, at, "is not text");
	if (!ps_addr_parse(s, port, out))
		return json_read_fail(&c->r, at, "'%.60s' is not ADDR[:PORT]", s);
	if (!is_host(&out->ip))
		return json_read_fail(&c->r, at, "'%.60s' is not the address of a host", s);
	if (c->v4 && !addr_is_v4(&out->ip))
		return json_read_fail(&c->r, at, "'%.60s' is IPv6, and --listen is IPv4", s);
	return 0;
}

/* --- the job */

static int key_read(const struct reader *c)
{
	const char *s = NULL;
	int err = json_read_string(&c->r, NULL, c->r.root, "key", JSON_NEEDED, &s);

	if (err)
		return err;
	if (text_key(s, &c->job->key))
		return json_read_fail(&c->r, &JSON_KEY(NULL, "key"),
				      "is not text of %d hexadecimal digits", (int)TRIB_KEY_HEX);
	return 0;
}

static int numbers_read(const struct reader *c)
{
	const struct json_read *r = &c->r;
	struct ps_job *j = c->job;
	int64_t number, window, nval, timeout;
	int err;

	err = json_read_int(r, NULL, r->root, "job", JSON_NEEDED, 0, UINT16_MAX, &number);
	if (!err)
		err = json_read_int(r, NULL, r->root, "window", JSON_NEEDED, 1, PS_WINDOW_MAX,
				    &window);
	if (!err && window & (window - 1))
		err = json_read_fail(r, &JSON_KEY(NULL, "window"), "%d is not a power of 2",
				     (int)window);
	/* A START, which is as long as a JOIN, must fit. */
	if (!err)
		err = json_read_int(r, NULL, r->root, "nval", JSON_NEEDED, 48, TRIB_NVAL_LARGE,
				    &nval);
	if (!err && nval % TRIB_NVAL_BLOCK)
		err = json_read_fail(r, &JSON_KEY(NULL, "nval"), "%d is not a multiple of %d",
				     (int)nval, TRIB_NVAL_BLOCK);
	if (!err)
		err = json_read_int(r, NULL, r->root, "timeout_ms", JSON_NEEDED, 100, 86400000,
				    &timeout);
	if (err)
		return err;
	j->number = (uint16_t)number;
	j->window = (uint16_t)window;
	j->nval = (uint16_t)nval;
	j->timeout_ms = (uint32_t)timeout;
	return 0;
}

/* Read a list of 1 to @max addresses; the caller checks each. */
static int list_read(const struct reader *c, const struct json_at *at, const json_t *list,
		     size_t max, struct ps_addr **out)
{
	int err = json_read_array(&c->r, at, list, max);

	if (err)
		return err;
	if (!json_array_size(list))
		return json_read_fail(&c->r, at, "has no entries: 1 to %zu", max);
	*out = calloc(json_array_size(list), sizeof(**out));
	return *out ? 0 : json_read_refuse(&c->r, -ENOMEM, at, "out of memory");
}

static int workers_read(const struct reader *c)
{
	const json_t *list = json_object_get(c->r.root, "workers"), *v;
	const struct json_at at = JSON_KEY(NULL, "workers");
	size_t i;
	int err;

	if (!list)
		return json_read_fail(&c->r, NULL, "workers is missing");
	err = list_read(c, &at, list, TRIB_WORLD_MAX, &c->job->worker);
	if (err)
		return err;
	c->job->world = (uint16_t)json_array_size(list);
	json_array_foreach(list, i, v)
		if (!err)
			err = addr_read(c, &JSON_INDEX(&at, i), v,
					(uint16_t)(TRIB_UDP_PORT_WORKER + i), &c->job->worker[i]);
	return err;
}

/* --- trees */

/* Use the relay on this host, in the IP version of the job's workers. */
static int local_read(const struct reader *c, const struct json_at *at, struct ps_addr *out)
{
	bool v4 = addr_is_v4(&c->job->worker[0].ip);

	if (!c->ps->everywhere)
		return json_read_fail(
			&c->r, at,
			"the relay on this host sends to an address of its own: --listen at all (0.0.0.0 or [::])");
	ps_addr_parse(v4 ? TRIB_LOCAL_PORT_V4 : "[" TRIB_LOCAL_PORT_V6 "]", TRIB_UDP_PORT, out);
	out->local = true;
	return 0;
}

static int member_read(const struct reader *c, const struct json_at *at, const json_t *v,
		       struct ps_addr *out)
{
	const char *s = json_string_value(v);

	return s && !strcmp(s, GROUP_LOCAL) ? local_read(c, at, out)
					    : addr_read(c, at, v, TRIB_UDP_PORT, out);
}

/* Read a tree's relays; if it names none, take all workers. */
static int group_read(const struct reader *c, const struct json_at *tree, const json_t *o,
		      struct ps_addr **out, unsigned int *n)
{
	const json_t *list = json_object_get(o, "group"), *v;
	const struct json_at at = JSON_KEY(tree, "group");
	const struct ps_job *job = c->job;
	size_t i;
	int err;

	if (!list) {
		*n = job->world;
		*out = calloc(*n, sizeof(**out));
		if (!*out)
			return json_read_refuse(&c->r, -ENOMEM, &at, "out of memory");
		memcpy(*out, job->worker, *n * sizeof(**out));
		return 0;
	}
	err = list_read(c, &at, list, PS_GROUP_MAX, out);
	if (err)
		return err;
	*n = (unsigned int)json_array_size(list);
	json_array_foreach(list, i, v)
		if (!err)
			err = member_read(c, &JSON_INDEX(&at, i), v, &(*out)[i]);
	if (err)
		free(*out);
	return err;
}

static int tree_read(const struct reader *c, const struct json_at *at, const json_t *o)
{
	static const char *const known[] = {"tree", "group", NULL};
	const struct json_at field = JSON_KEY(at, "tree");
	struct ps_addr *group;
	unsigned int n;
	int64_t number;
	int err;

	err = json_read_object(&c->r, at, o, known);
	if (!err)
		err = json_read_int(&c->r, at, o, "tree", JSON_NEEDED, 0, UINT16_MAX, &number);
	if (!err)
		err = group_read(c, at, o, &group, &n);
	if (err)
		return err;
	err = ps_tree_new(c->ps, c->job, (uint16_t)number, group, n);
	if (!err)
		return 0;
	free(group);
	if (err == -EEXIST)
		return json_read_refuse(&c->r, err, &field, "there is a tree %d already",
					(int)number);
	if (err == -E2BIG)
		return json_read_refuse(&c->r, err, &field, "more than %d trees", PS_TREES_MAX);
	return json_read_refuse(&c->r, err, &field, "no memory for its window");
}

static int trees_read(const struct reader *c)
{
	const json_t *list = json_object_get(c->r.root, "trees"), *v;
	const struct json_at at = JSON_KEY(NULL, "trees");
	size_t i;
	int err;

	if (!list)
		return json_read_fail(&c->r, NULL, "trees is missing");
	err = json_read_array(&c->r, &at, list, SIZE_MAX);
	if (!err && !json_array_size(list))
		err = json_read_fail(&c->r, &at, "has no entries: 1 or more");
	json_array_foreach(list, i, v)
		if (!err)
			err = tree_read(c, &JSON_INDEX(&at, i), v);
	return err;
}

static int job_read(const struct reader *c)
{
	static const char *const known[] = {"name",	  "job",     "key",   "window", "nval",
					    "timeout_ms", "workers", "trees", NULL};
	unsigned int i;
	int err;

	err = json_read_object(&c->r, NULL, c->r.root, known);
	if (!err)
		err = json_read_text(&c->r, NULL, c->r.root, "name", JSON_OPTIONAL, c->job->name,
				     sizeof(c->job->name));
	if (!err)
		err = numbers_read(c);
	if (!err)
		err = key_read(c);
	if (!err)
		err = workers_read(c);
	for (i = 0; i < c->ps->njob && !err; i++)
		if (c->ps->job[i] != c->job && c->ps->job[i]->number == c->job->number)
			err = json_read_refuse(&c->r, -EEXIST, &JSON_KEY(NULL, "job"),
					       "there is a job %u already", c->job->number);
	return err ? err : trees_read(c);
}

/* Close the document. */
static int config_read(struct reader *c)
{
	struct ps *ps = c->ps;
	int err;

	c->job = calloc(1, sizeof(*c->job));
	if (ps->njob == PS_TREES_MAX) {
		err = json_read_refuse(&c->r, -E2BIG, NULL, "more than %d jobs", PS_TREES_MAX);
		free(c->job);
	} else if (c->job) {
		ps->job[ps->njob++] = c->job;
		err = job_read(c);
	} else {
		err = json_read_refuse(&c->r, -ENOMEM, NULL, "out of memory");
	}
	json_read_close(&c->r);
	return err;
}

int ps_config_load(struct ps *ps, const char *path, bool v4, char *why, size_t size)
{
	struct reader c = {.ps = ps, .v4 = v4};
	int err = json_read_load(&c.r, path, PS_JOB_FILE_MAX, why, size);

	return err ? err : config_read(&c);
}

int ps_config_text(struct ps *ps, const char *path, const char *text, size_t len, bool v4,
		   char *why, size_t size)
{
	struct reader c = {.ps = ps, .v4 = v4};
	int err = json_read_open(&c.r, path, text, len, why, size);

	return err ? err : config_read(&c);
}
