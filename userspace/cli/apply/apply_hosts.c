// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the check of hosts[] of a plan before any host is asked: types, names,
 * missing members. The hosts check the values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "uapi/trib_wire.h"
#include "apply.h"

/* A name or address becomes one word of a command. */
static int want_word(struct cli *c, const char *at, const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	char why[NAME_WHY_MAX];

	if (!s)
		return cli_error(c, "%s.%s: is not text", at, key);
	if (name_check_word(s, "", why))
		return cli_error(c, "%s.%s: \"%.64s\" %s", at, key, s, why);
	return 0;
}

/* The name of a job becomes the name of a file; that of a host, part of a command line. */
static int want_name(struct cli *c, const char *at, const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	char why[NAME_WHY_MAX];

	if (!s)
		return cli_error(c, "%s.%s: is not text", at, key);
	if (name_check(s, why))
		return cli_error(c, "%s.%s: \"%.64s\" %s", at, key, s, why);
	return 0;
}

/* Accept a number, text without blanks, or nothing. */
static int want_value(struct cli *c, const char *at, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (!v || (json_is_integer(v) && json_integer_value(v) >= 0))
		return 0;
	return want_word(c, at, o, key);
}

static int want_number(struct cli *c, const char *at, const json_t *o, const char *key,
		       json_int_t max)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_integer(v) && json_integer_value(v) >= 1 && json_integer_value(v) <= max)
		return 0;
	return cli_error(c, "%s.%s: is not a number from 1 to %lld", at, key, (long long)max);
}

static int check_face(struct cli *c, const char *at, const json_t *f)
{
	uint8_t addr[16];
	int err = want_word(c, at, f, "name");

	if (!err)
		err = want_word(c, at, f, "dev");
	if (!err)
		err = want_word(c, at, f, "addr");
	if (!err && json_object_get(f, "port"))
		err = want_number(c, at, f, "port", 65535);
	if (!err && json_object_get(f, "watch") && !json_is_boolean(json_object_get(f, "watch")))
		err = cli_error(c, "%s.watch: is not true or false", at);
	if (!err && parse_addr(jstr(f, "addr"), addr))
		err = cli_error(c, "%s.addr: \"%s\" is not an address", at, jstr(f, "addr"));
	return err;
}

static int check_job(struct cli *c, const char *at, const json_t *j)
{
	static const char *const more[] = {"key",  "window", "timeout", "owner",
					   "rate", "dtype",  "peers"};
	struct trib_key key;
	size_t i;
	int err = want_name(c, at, j, "name");

	if (!err)
		err = want_number(c, at, j, "id", 65535);
	if (!err)
		err = want_number(c, at, j, "world", TRIB_WORLD_MAX);
	for (i = 0; !err && i < sizeof(more) / sizeof(more[0]); i++)
		err = want_value(c, at, j, more[i]);
	if (!err && json_object_get(j, "key") && text_key(jstr(j, "key"), &key))
		err = cli_error(c, "%s.key: want %d hexadecimal digits", at, (int)TRIB_KEY_HEX);
	return err;
}

static bool has_job(const json_t *jobs, const char *name)
{
	const json_t *j;
	size_t i;

	json_array_foreach(jobs, i, j)
		if (!strcmp(jstr(j, "name"), name))
			return true;
	return false;
}

static int check_tree(struct cli *c, const char *at, const json_t *t, const json_t *host)
{
	int err = want_number(c, at, t, "id", 65535);

	if (!err)
		err = want_word(c, at, t, "job");
	if (!err && !has_job(json_object_get(host, "jobs"), jstr(t, "job")))
		err = cli_error(c, "%s.job: the host has no job \"%s\"", at, jstr(t, "job"));
	return err;
}

static int check_list(struct cli *c, const char *at, const json_t *host, const char *key)
{
	const json_t *list = json_object_get(host, key), *v;
	char here[128];
	int err = 0;
	size_t i;

	if (!json_is_array(list))
		return cli_error(c, "%s.%s: is not a list", at, key);
	json_array_foreach(list, i, v) {
		snprintf(here, sizeof(here), "%s.%s[%zu]", at, key, i);
		if (*key == 'f')
			err = check_face(c, here, v);
		else if (*key == 'j')
			err = check_job(c, here, v);
		else
			err = check_tree(c, here, v, host);
		if (err)
			return err;
	}
	return 0;
}

/* A list of addresses; trib-ps checks their values. */
static int check_words(struct cli *c, const char *at, const json_t *o, const char *key)
{
	const json_t *v;
	char why[NAME_WHY_MAX];
	size_t i;

	json_array_foreach(json_object_get(o, key), i, v)
		if (!json_is_string(v))
			return cli_error(c, "%s.%s[%zu]: is not text", at, key, i);
		else if (name_check_word(json_string_value(v), "", why))
			return cli_error(c, "%s.%s[%zu]: \"%.64s\" %s", at, key, i,
					 json_string_value(v), why);
	return 0;
}

static int check_ps(struct cli *c, const char *at, const json_t *row)
{
	const json_t *workers = json_object_get(row, "workers"), *t;
	char here[160];
	size_t i;
	int err = want_name(c, at, row, "job");

	if (!err)
		err = want_word(c, at, row, "listen");
	if (!err)
		err = want_number(c, at, row, "number", 65535);
	if (!err && (!json_array_size(workers) || json_array_size(workers) > TRIB_WORLD_MAX))
		err = cli_error(c, "%s.workers: %zu of them, but a bitmap holds 1 to %u", at,
				json_array_size(workers), TRIB_WORLD_MAX);
	if (!err)
		err = check_words(c, at, row, "workers");
	json_array_foreach(json_object_get(row, "trees"), i, t) {
		snprintf(here, sizeof(here), "%s.trees[%zu]", at, i);
		if (!err)
			err = want_number(c, here, t, "id", 65535);
		if (!err)
			err = check_words(c, here, t, "group");
	}
	return err;
}

/* Rows of trib-ps are kept apart from those of tribd. */
static int check_shared(struct cli *c, const char *at, struct apply_host *h)
{
	const json_t *list = json_object_get(h->plan, "shared");
	char here[128];
	json_t *row;
	size_t i;
	int err = 0;

	json_array_foreach(list, i, row) {
		snprintf(here, sizeof(here), "%s.shared[%zu]", at, i);
		if (!strcmp(jstr(row, "role"), "ps")) {
			err = check_ps(c, here, row);
			if (!h->ps)
				h->ps = json_array();
			json_array_append(h->ps, row);
		} else {
			err = check_tree(c, here, row, h->plan);
			json_array_append(json_object_get(h->plan, "trees"), row);
		}
		if (err)
			return err;
	}
	return 0;
}

static int check_host(struct apply *a, size_t i)
{
	struct apply_host *h = &a->host[i];
	char at[64];
	size_t k;
	int err;

	snprintf(at, sizeof(at), "hosts[%zu]", i);
	err = want_name(a->c, at, h->plan, "host");
	if (err)
		return err;
	h->name = jstr(h->plan, "host");
	for (k = 0; k < i; k++)
		if (!strcmp(a->host[k].name, h->name))
			return cli_error(a->c, "%s.host: %s is there twice", at, h->name);
	err = check_list(a->c, at, h->plan, "faces");
	if (!err)
		err = check_list(a->c, at, h->plan, "jobs");
	if (!err)
		err = check_list(a->c, at, h->plan, "trees");
	return err ? err : check_shared(a->c, at, h);
}

bool apply_is_idle(const struct apply_host *h)
{
	return !json_array_size(json_object_get(h->plan, "jobs")) && !h->ps;
}

/*
 * A host of a trib-ps may have no tribd. If it has one, trees of a former plan
 * may be on it.
 */
json_t *apply_question(const struct apply_host *h)
{
	bool tribd = !h->ps || json_array_size(json_object_get(h->plan, "jobs"));

	return json_pack("{s:b, s:b, s:b}", "look", 1, "tribd", tribd, "ps", h->ps != NULL);
}

int apply_hosts(struct apply *a)
{
	const json_t *hosts = json_object_get(a->plan, "hosts");
	size_t i, n = json_array_size(hosts);
	int err = 0;

	if (!n)
		return cli_error(
			a->c,
			"the plan does not say what hosts are to be told: links without devices or addresses, or --no-rows");
	if (n > APPLY_HOSTS_MAX)
		return cli_error(a->c, "%zu hosts: at most %d", n, APPLY_HOSTS_MAX);
	a->host = calloc(n, sizeof(*a->host));
	if (!a->host)
		return cli_error(a->c, "out of memory");
	a->nhost = n;
	for (i = 0; !err && i < n; i++) {
		a->host[i].plan = json_array_get(hosts, i);
		err = check_host(a, i);
	}
	return err;
}

void apply_free(struct apply *a)
{
	size_t i;

	for (i = 0; i < a->nhost; i++) {
		json_decref(a->host[i].look);
		json_decref(a->host[i].faces);
		json_decref(a->host[i].ps);
		json_decref(a->host[i].load);
		json_decref(a->host[i].flip);
		json_decref(a->host[i].drop);
		json_decref(a->host[i].diff);
	}
	free(a->host);
	json_decref(a->plan);
}
