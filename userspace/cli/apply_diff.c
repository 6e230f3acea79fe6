// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the comparison of a plan with what its hosts have. Trees of a job are
 * one generation: if any of them differs anywhere, all are made anew, under
 * numbers that are free on every host, beside those that are there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "apply.h"

#define IDS 65536

void apply_step(json_t *list, json_t *run, json_t *undo)
{
	json_array_append_new(list, json_pack("{s:o, s:o}", "run", run, "undo",
					      undo ? undo : json_array()));
}

static void refuse(struct apply_host *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The first reason is kept. */
static void refuse(struct apply_host *h, const char *fmt, ...)
{
	va_list ap;

	if (*h->why)
		return;
	va_start(ap, fmt);
	vsnprintf(h->why, sizeof(h->why), fmt, ap);
	va_end(ap);
}

static void note(struct apply_host *h, char sign, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void note(struct apply_host *h, char sign, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_array_append_new(h->diff, jfmt("%c %s %s", sign, h->name, text));
}

/* Words as one line; to be freed. */
static char *join(const json_t *words)
{
	size_t i, len = 1;
	const json_t *w;
	char *text, *at;

	json_array_foreach(words, i, w)
		len += json_string_length(w) + 1;
	text = at = calloc(1, len);
	json_array_foreach(words, i, w)
		if (text)
			at += sprintf(at, "%s%s", i ? " " : "",
				      json_string_value(w));
	return text;
}

/* --- faces */

static bool same_addr(const char *a, const char *b)
{
	uint8_t x[16], y[16];

	return !parse_addr(a, x) && !parse_addr(b, y) && !memcmp(x, y, 16);
}

static bool has_device(const json_t *look, const char *dev)
{
	const json_t *v;
	size_t i;

	json_array_foreach(json_object_get(look, "devices"), i, v)
		if (!strcmp(json_string_value(v) ?: "", dev))
			return true;
	return false;
}

static void diff_face(struct apply_host *h, const json_t *f)
{
	const char *name = jstr(f, "name"), *dev = jstr(f, "dev");
	const char *addr = jstr(f, "addr");
	const json_t *old;
	size_t i;

	if (json_object_get(h->faces, name)) {
		refuse(h, "face %s is in the plan twice", name);
		return;
	}
	/* Whatever it is called there: who is behind it is what counts. */
	json_array_foreach(json_object_get(h->look, "faces"), i, old)
		if (!strcmp(jstr(old, "ifname"), dev) &&
		    same_addr(jstr(old, "addr"), addr) &&
		    jnum(old, "port") == TRIB_UDP_PORT && !jnum(old, "vlan")) {
			json_object_set_new(h->faces, name,
					    json_string(jstr(old, "name")));
			return;
		}
	json_array_foreach(json_object_get(h->look, "faces"), i, old)
		if (!strcmp(jstr(old, "name"), name))
			refuse(h,
			       "face %s is dev %s addr %s port %u there, dev %s addr %s port %u in the plan",
			       name, jstr(old, "ifname"), jstr(old, "addr"),
			       (unsigned int)jnum(old, "port"), dev, addr,
			       TRIB_UDP_PORT);
	if (!has_device(h->look, dev))
		refuse(h, "face %s: no device %s", name, dev);
	json_object_set_new(h->faces, name, json_string(name));
	apply_step(h->load,
		   apply_words("face add %s dev %s addr %s", name, dev, addr),
		   apply_words("face del %s", name));
	note(h, '+', "face %s dev %s addr %s", name, dev, addr);
}

/* --- jobs */

static const json_t *named(const json_t *list, const char *name)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		if (!strcmp(jstr(v, "name"), name))
			return v;
	return NULL;
}

static const json_t *job_there(const struct apply_host *h, const char *job)
{
	return named(json_object_get(h->look, "jobs"), job);
}

/* A value of the plan, which may be a number as text. */
static uint64_t number(const json_t *job, const char *key)
{
	const char *s = json_string_value(json_object_get(job, key));
	uint32_t uid;
	uint64_t v;

	if (!s)
		return jnum(job, key);
	if (!strcmp(key, "owner") && !parse_uid(s, &uid))
		return uid;
	return parse_rate(s, &v) ? 0 : v;
}

/* What an existing job must have; a rate may change. */
static void compare_job(struct apply_host *h, const json_t *want,
			const json_t *old)
{
	static const char *const keys[][2] = {{"id", "id"},
					      {"world", "world"},
					      {"window", "window"},
					      {"timeout", "timeout_ms"},
					      {"owner", "owner"}};
	const char *name = jstr(want, "name");
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (json_object_get(want, keys[i][0]) &&
		    number(want, keys[i][0]) != jnum(old, keys[i][1]))
			refuse(h,
			       "job %s: %s is %llu there, %llu in the plan: a job keeps it for life (trib job del %s)",
			       name, keys[i][0],
			       (unsigned long long)jnum(old, keys[i][1]),
			       (unsigned long long)number(want, keys[i][0]),
			       name);
	if (!json_object_get(want, "rate") ||
	    number(want, "rate") == jnum(old, "rate"))
		return;
	apply_step(h->flip,
		   apply_words("job set %s rate %llu", name,
			       (unsigned long long)number(want, "rate")),
		   apply_words("job set %s rate %llu", name,
			       (unsigned long long)jnum(old, "rate")));
	note(h, '-', "job %s rate %llu", name,
	     (unsigned long long)jnum(old, "rate"));
	note(h, '+', "job %s rate %llu", name,
	     (unsigned long long)number(want, "rate"));
}

static void add_job(struct apply_host *h, const json_t *want, uint64_t cookie)
{
	static const char *const keys[] = {"window", "timeout", "owner",
					   "rate"};
	const char *name = jstr(want, "name");
	const json_t *j;
	json_t *words, *more;
	char *text;
	size_t i;

	json_array_foreach(json_object_get(h->look, "jobs"), i, j)
		if (jnum(j, "id") == jnum(want, "id"))
			refuse(h, "job %s: id %llu is job %s there", name,
			       (unsigned long long)jnum(want, "id"),
			       jstr(j, "name"));
	words = apply_words("job add %s world %llu id %llu", name,
			    (unsigned long long)jnum(want, "world"),
			    (unsigned long long)jnum(want, "id"));
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const json_t *v = json_object_get(want, keys[i]);

		if (!v)
			continue;
		more = json_is_string(v)
			       ? apply_words("%s %s", keys[i],
					     json_string_value(v))
			       : apply_words("%s %llu", keys[i],
					     (unsigned long long)jnum(want,
								      keys[i]));
		json_array_extend(words, more);
		json_decref(more);
	}
	text = join(words);
	note(h, '+', "job %s", text ? text + strlen("job add ") : name);
	free(text);
	/* A secret is not for a screen. */
	more = apply_words("cookie %016llx", (unsigned long long)cookie);
	json_array_extend(words, more);
	json_decref(more);
	apply_step(h->load, words, apply_words("job del %s", name));
}

/* The secret that all hosts of a job share: the plan's, theirs, or a new one. */
static uint64_t choose_cookie(struct apply *a, const char *job)
{
	const json_t *want, *old;
	uint64_t cookie = 0, v;
	bool known = false;
	size_t i;

	for (i = 0; i < a->nhost; i++) {
		want = named(json_object_get(a->host[i].plan, "jobs"), job);
		if (!want || !json_object_get(want, "cookie") ||
		    parse_hex(jstr(want, "cookie"), &v))
			continue;
		if (known && v != cookie)
			refuse(&a->host[i],
			       "job %s: the plan has another cookie for other hosts",
			       job);
		cookie = v;
		known = true;
	}
	for (i = 0; i < a->nhost; i++) {
		want = named(json_object_get(a->host[i].plan, "jobs"), job);
		old = want ? job_there(&a->host[i], job) : NULL;
		if (!old || parse_hex(jstr(old, "cookie"), &v))
			continue;
		if (known && v != cookie)
			refuse(&a->host[i],
			       "job %s has another cookie there than in the plan or on other hosts (trib job del %s)",
			       job, job);
		cookie = v;
		known = true;
	}
	if (!known &&
	    getrandom(&cookie, sizeof(cookie), 0) != sizeof(cookie))
		refuse(&a->host[0], "no random numbers");
	return cookie;
}

/* --- trees */

/* A tree of the host that new workers get; NULL: no such. */
static const json_t *live_tree(const struct apply_host *h, uint64_t id)
{
	const json_t *t;
	size_t i;

	json_array_foreach(json_object_get(h->look, "trees"), i, t)
		if (jnum(t, "id") == id)
			return jbool(t, "held") ? NULL : t;
	return NULL;
}

static const json_t *plan_tree(const struct apply_host *h, uint64_t id,
			       const char *job)
{
	const json_t *t;
	size_t i;

	json_array_foreach(json_object_get(h->plan, "trees"), i, t)
		if (jnum(t, "id") == id && !strcmp(jstr(t, "job"), job))
			return t;
	return NULL;
}

/* Is @there on @h what @want says? Both may be missing. */
static bool same_tree(struct apply_host *h, const json_t *want,
		      const json_t *there, const char *job)
{
	json_t *a, *b;
	bool same;

	if (there && strcmp(jstr(there, "job"), job))
		return !want;
	if (!want || !there)
		return !want && !there;
	a = apply_row_words(want, h->faces, h->why, sizeof(h->why));
	b = apply_tree_words(there);
	same = a && json_equal(a, b);
	json_decref(a);
	json_decref(b);
	return same;
}

/**
 * struct numbers - a job's trees
 * @plan:  its ids in the plan, @n of them, ascending.
 * @there: the ids that they have, or get, on the hosts.
 */
struct numbers {
	uint32_t *plan, *there;
	size_t n;
};

static bool is_there(struct apply *a, const char *job, uint32_t plan,
		     uint32_t there)
{
	size_t i;

	for (i = 0; i < a->nhost; i++)
		if (!same_tree(&a->host[i],
			       plan_tree(&a->host[i], plan, job),
			       live_tree(&a->host[i], there), job))
			return false;
	return true;
}

/* Which live trees are those of the plan; false if not all are there. */
static bool find_trees(struct apply *a, const char *job, struct numbers *ids,
		       const uint8_t *live)
{
	uint8_t *used = calloc(1, IDS);
	size_t i, left = 0;
	uint32_t id;
	bool all = used != NULL;

	for (i = 0; all && i < ids->n; i++) {
		for (id = 1; id < IDS; id++)
			if (live[id] && !used[id] &&
			    is_there(a, job, ids->plan[i], id))
				break;
		all = id < IDS;
		if (all) {
			used[id] = 1;
			ids->there[i] = id;
		}
	}
	for (id = 1; all && id < IDS; id++)
		left += live[id] && !used[id];
	free(used);
	return all && !left;
}

static bool choose_ids(struct numbers *ids, uint8_t *taken)
{
	uint32_t id, next = 1;
	size_t i;

	for (i = 0; i < ids->n; i++) {
		id = ids->plan[i];
		if (taken[id]) {
			while (next < IDS && taken[next])
				next++;
			id = next;
		}
		if (id >= IDS)
			return false;
		taken[id] = 1;
		ids->there[i] = id;
	}
	return true;
}

static void mark_ids(struct apply *a, const char *job, uint8_t *plan,
		     uint8_t *live, uint8_t *taken)
{
	const json_t *t;
	size_t i, k;

	for (i = 0; i < a->nhost; i++) {
		json_array_foreach(json_object_get(a->host[i].plan, "trees"), k,
				   t)
			if (!strcmp(jstr(t, "job"), job))
				plan[jnum(t, "id") % IDS] = 1;
		json_array_foreach(json_object_get(a->host[i].look, "trees"), k,
				   t) {
			taken[jnum(t, "id") % IDS] = 1;
			if (!strcmp(jstr(t, "job"), job) && !jbool(t, "held"))
				live[jnum(t, "id") % IDS] = 1;
		}
		/* What was chosen for other jobs of the plan. */
		json_array_foreach(a->host[i].load, k, t) {
			const json_t *w = json_object_get(t, "undo");

			if (!strcmp(json_string_value(json_array_get(w, 0))
					    ?: "",
				    "tree"))
				taken[strtoul(json_string_value(
						      json_array_get(w, 2)),
					      NULL, 10) %
				      IDS] = 1;
		}
	}
}

static void add_tree(struct apply_host *h, const json_t *row, uint32_t id)
{
	json_t *words = apply_row_words(row, h->faces, h->why, sizeof(h->why));
	json_t *run = apply_words("tree add"), *more;
	char *text;

	if (!words) {
		json_decref(run);
		return;
	}
	text = join(words);
	note(h, '+', "tree %u of %s", id, text ? text : "");
	free(text);
	json_array_extend(run, words);
	json_decref(words);
	more = apply_words("id %u held", id);
	json_array_extend(run, more);
	json_decref(more);
	apply_step(h->load, run, apply_words("tree del %u", id));
}

static void put_id(json_t *words, uint64_t id)
{
	if (json_array_size(words) == 3)
		json_array_append_new(words, json_string("live"));
	json_array_append_new(words,
			      jfmt("%llu", (unsigned long long)id));
}

/* The new trees of a job on a host, and the step from the old ones to them. */
static void replace_on(struct apply_host *h, const char *job,
		       const struct numbers *ids)
{
	json_t *to = apply_words("tree switch %s", job);
	json_t *back = apply_words("tree switch %s", job);
	const json_t *row, *t;
	size_t i;
	char *text;

	for (i = 0; i < ids->n; i++) {
		row = plan_tree(h, ids->plan[i], job);
		if (!row)
			continue;
		add_tree(h, row, ids->there[i]);
		put_id(to, ids->there[i]);
	}
	json_array_foreach(json_object_get(h->look, "trees"), i, t)
		if (!strcmp(jstr(t, "job"), job) && !jbool(t, "held")) {
			json_t *words = apply_tree_words(t);

			text = join(words);
			note(h, '-', "tree %llu of %s",
			     (unsigned long long)jnum(t, "id"),
			     text ? text : "");
			free(text);
			json_decref(words);
			put_id(back, jnum(t, "id"));
		}
	if (json_array_size(to) > 3 || json_array_size(back) > 3) {
		apply_step(h->flip, to, back);
		return;
	}
	json_decref(to);
	json_decref(back);
}

static void diff_trees(struct apply *a, const char *job)
{
	uint8_t *marks = calloc(3, IDS);
	struct numbers ids = {calloc(IDS, 4), calloc(IDS, 4), 0};
	uint32_t id;
	size_t i;

	if (!marks || !ids.plan || !ids.there) {
		refuse(&a->host[0], "out of memory");
		goto out;
	}
	mark_ids(a, job, marks, marks + IDS, marks + 2 * IDS);
	for (id = 1; id < IDS; id++)
		if (marks[id])
			ids.plan[ids.n++] = id;
	if (find_trees(a, job, &ids, marks + IDS))
		goto out;
	if (!choose_ids(&ids, marks + 2 * IDS)) {
		refuse(&a->host[0], "no %zu numbers of trees are free", ids.n);
		goto out;
	}
	for (i = 0; i < a->nhost; i++)
		replace_on(&a->host[i], job, &ids);
out:
	free(marks);
	free(ids.plan);
	free(ids.there);
}

/* --- all */

/* New pools beside the old ones. */
static void check_slots(struct apply_host *h)
{
	const json_t *status = json_object_get(h->look, "status"), *step, *row;
	uint64_t need = 0, all = jnum(status, "slots"), window;
	uint64_t used = jnum(status, "slots_used");
	size_t i, k, n = 0;

	json_array_foreach(h->load, i, step)
		n += !strcmp(json_string_value(json_array_get(
				     json_object_get(step, "run"), 0)),
			     "tree");
	json_array_foreach(json_object_get(h->plan, "trees"), k, row) {
		const char *job = jstr(row, "job");
		const json_t *old = job_there(h, job);
		const json_t *want =
			named(json_object_get(h->plan, "jobs"), job);

		if (!json_array_size(json_object_get(row, "children")))
			continue;
		window = old ? jnum(old, "window") : number(want, "window");
		need += 2 * (window ? window : 256);
	}
	/* If jobs stay as they are, tribd's own judgement comes with loading. */
	if (n == json_array_size(json_object_get(h->plan, "trees")) &&
	    used + need > all)
		refuse(h,
		       "%llu slots are needed, %llu of %llu are used (smaller window, or tribd --slots)",
		       (unsigned long long)need, (unsigned long long)used,
		       (unsigned long long)all);
}

/* Names of all jobs of the plan, each once. */
static json_t *all_jobs(struct apply *a)
{
	json_t *names = json_object();
	const json_t *j;
	size_t i, k;

	for (i = 0; i < a->nhost; i++)
		json_array_foreach(json_object_get(a->host[i].plan, "jobs"), k,
				   j)
			json_object_set_new(names, jstr(j, "name"),
					    json_true());
	return names;
}

size_t apply_diff(struct apply *a)
{
	json_t *names = all_jobs(a), *value;
	const json_t *v, *old;
	const char *job;
	uint64_t cookie;
	size_t i, k, bad = 0;

	for (i = 0; i < a->nhost; i++) {
		struct apply_host *h = &a->host[i];

		h->faces = json_object();
		h->load = json_array();
		h->flip = json_array();
		h->diff = json_array();
		json_array_foreach(json_object_get(h->plan, "faces"), k, v)
			diff_face(h, v);
	}
	json_object_foreach(names, job, value) {
		cookie = choose_cookie(a, job);
		for (i = 0; i < a->nhost; i++) {
			v = named(json_object_get(a->host[i].plan, "jobs"),
				  job);
			old = job_there(&a->host[i], job);
			if (v && old)
				compare_job(&a->host[i], v, old);
			else if (v)
				add_job(&a->host[i], v, cookie);
		}
		diff_trees(a, job);
	}
	json_decref(names);
	for (i = 0; i < a->nhost; i++) {
		check_slots(&a->host[i]);
		bad += *a->host[i].why != '\0';
	}
	return bad;
}

/**
 * struct use - of a held tree, over all hosts
 * @local:    ranks that attach to tribds, of @world.
 * @attached: how many of them are.
 * @epoch:    one runs somewhere.
 */
struct use {
	uint64_t world;
	unsigned int local, attached;
	bool epoch;
};

static void add_use(const struct apply_host *h, const json_t *t, struct use *u)
{
	const json_t *l, *job = job_there(h, jstr(t, "job"));
	size_t i;

	json_array_foreach(json_object_get(t, "local"), i, l) {
		u->local++;
		u->attached += jnum(l, "pid") != 0;
	}
	u->epoch |= jnum(t, "epoch") != 0;
	u->world = job ? jnum(job, "world") : 0;
}

/*
 * Where all workers are known, they decide: an epoch whose workers were all
 * killed runs until somebody joins. Else there may be some without tribd.
 */
static bool in_use(const struct use *u)
{
	return u->attached || (u->epoch && u->local < u->world);
}

void apply_drop(struct apply *a)
{
	json_t *names = all_jobs(a);
	struct use *use = calloc(IDS, sizeof(*use));
	const json_t *t;
	size_t i, k;

	/* Held, and of our jobs: a tree that is used anywhere stays everywhere. */
	for (i = 0; use && i < a->nhost; i++)
		json_array_foreach(json_object_get(a->host[i].look, "trees"), k,
				   t)
			if (jbool(t, "held"))
				add_use(&a->host[i], t,
					&use[jnum(t, "id") % IDS]);
	a->draining = 0;
	for (i = 0; use && i < a->nhost; i++) {
		struct apply_host *h = &a->host[i];

		json_decref(h->drop);
		h->drop = json_array();
		json_array_foreach(json_object_get(h->look, "trees"), k, t) {
			if (!jbool(t, "held") ||
			    !json_object_get(names, jstr(t, "job")))
				continue;
			if (in_use(&use[jnum(t, "id") % IDS]) && !a->now) {
				a->draining++;
				continue;
			}
			apply_step(h->drop,
				   apply_words("tree del %llu",
					       (unsigned long long)jnum(t,
									"id")),
				   NULL);
		}
	}
	free(use);
	json_decref(names);
}
