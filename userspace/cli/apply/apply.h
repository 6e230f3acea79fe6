/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trib apply: from a plan and what all its hosts say is there to the changes
 * that each host makes.
 */
#ifndef TRIB_CLI_APPLY_H
#define TRIB_CLI_APPLY_H

#include <stdint.h>

#include "cli/core/cli.h"
#include "cli/netlink/schema.h"
#include "cli/out/out.h"
#include "cli/parse/parse.h"

#define APPLY_HOSTS_MAX 16384

/**
 * struct apply_host - a host of the plan
 * @name:  as the plan has it.
 * @plan:  its entry of hosts[]; borrowed from the plan.
 * @look:  what it said is there.
 * @ps:    rows for a trib-ps on it, or NULL.
 * @absent: not there, and has nothing to do.
 * @silent: in the last round it failed in, it said nothing.
 * @faces: the plan's names of faces to those that they have on the host.
 * @load:  changes that nothing under way notices: [{"run", "undo"}].
 * @flip:  then, what makes new workers take the new trees.
 * @drop:  then, what removes trees that nobody is in any more.
 * @diff:  one line for people per change.
 * @why:   why the plan does not fit it; "" if it does.
 */
struct apply_host {
	const char *name;
	const json_t *plan;
	json_t *look;
	json_t *ps;
	json_t *faces;
	json_t *load, *flip, *drop;
	json_t *diff;
	bool absent, silent;
	char why[512];
};

struct apply {
	struct cli *c;
	json_t *plan;
	struct apply_host *host;
	size_t nhost;
	bool now; /* drop trees that are in use, too */
	unsigned int draining;
};

/**
 * struct apply_ids - a job's trees
 * @plan:  its ids in the plan, @n of them, ascending.
 * @there: the ids that they have, or get, on the hosts.
 */
struct apply_ids {
	uint32_t *plan, *there;
	size_t n;
};

/* apply_local.c */
int apply_local(struct cli *c);
/* apply_ps_local.c: what there is of a trib-ps (NULL: an error), and a step of
 * apply_ps.c. */
json_t *apply_ps_look(struct cli *c);
int apply_ps_run(struct cli *c, const json_t *words);

/* apply_hosts.c: lay out @a from its plan; errors name the place. */
int apply_hosts(struct apply *a);
void apply_free(struct apply *a);
/* Has it nothing but, perhaps, trees of former plans? */
bool apply_is_idle(const struct apply_host *h);
/* What to ask it for: a new reference. */
json_t *apply_question(const struct apply_host *h);

/*
 * apply_diff.c: work out load, flip and diff, from plan and looks. Returns the
 * number of hosts that the plan does not fit.
 */
size_t apply_diff(struct apply *a);
/* The first reason why the plan does not fit a host is kept. */
void apply_refuse(struct apply_host *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void apply_note(struct apply_host *h, char sign, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* What has this "name". */
const json_t *apply_named(const json_t *list, const char *name);
/* What a host has under this name. */
const json_t *apply_job_there(const struct apply_host *h, const char *job);
/* Value of a plan's job, which may be a number as text. */
uint64_t apply_number(const json_t *job, const char *key);
/* Names of all jobs of the plan, each once: keys of an object. */
json_t *apply_all_jobs(struct apply *a);

/* apply_jobs.c */
void apply_diff_face(struct apply_host *h, const json_t *face);
/* The secret that all hosts of a job share: the plan's, theirs, or a new one. */
uint64_t apply_cookie(struct apply *a, const char *job);
void apply_diff_job(struct apply_host *h, const char *job, uint64_t cookie);

/* apply_trees.c */
void apply_diff_trees(struct apply *a, const char *job, uint64_t cookie);

/* apply_drop.c: work out drop, from looks (taken anew after a flip). */
void apply_drop(struct apply *a);

/* apply_ps.c: hosts without a row for the job are left alone. */
void apply_ps_check(struct apply_host *h);
/* Numbers of trees that are there already. */
void apply_ps_mark(const struct apply_host *h, uint8_t *taken);
bool apply_ps_cookie(const struct apply_host *h, const char *job,
		     uint64_t *cookie);
bool apply_ps_same(const struct apply_host *h, const char *job, uint64_t plan,
		   uint64_t there);
void apply_ps_load(struct apply *a, struct apply_host *h, const char *job,
		   uint64_t cookie, const struct apply_ids *ids);
/* Trees that @keep does not mark go. */
void apply_ps_drop(struct apply_host *h, const uint8_t *keep);

/* A step: words parted by blanks; @undo may be NULL. */
void apply_step(json_t *list, json_t *run, json_t *undo);
/* Words as one line; to be freed. */
char *apply_join(const json_t *words);
/* Words from a format; names hold no blanks. */
json_t *apply_words(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* apply_tree.c: a tree as words behind "tree add", without id; NULL and
 * @why: it cannot be right. */
json_t *apply_row_words(const json_t *row, const json_t *faces, char *why,
			size_t size);
json_t *apply_tree_words(const json_t *tree);

#endif /* TRIB_CLI_APPLY_H */
