/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trib apply: compares a plan with the state of all its hosts, and works out
 * the changes for each host.
 */
#ifndef TRIB_CLI_APPLY_H
#define TRIB_CLI_APPLY_H

#include <stdint.h>

#include "base/text.h"
#include "cli/core/cli.h"
#include "cli/netlink/schema.h"
#include "cli/out/out.h"
#include "cli/parse/parse.h"

#define APPLY_HOSTS_MAX 16384

/**
 * struct apply_host - a host of the plan
 * @name:  as the plan has it.
 * @plan:  its entry of hosts[]; borrowed from the plan.
 * @look:  its state, as the host reported it; owned.
 * @ps:    rows for a trib-ps on it, or NULL.
 * @absent: unreachable, and without work.
 * @silent: gave no answer in the last round that it failed in.
 * @faces: name in the plan to name on the host, of each face.
 * @load:  first steps, [{"run", "undo"}]: they disturb no running sum.
 * @flip:  next steps: new workers get the new trees.
 * @drop:  last steps: remove trees that no worker uses.
 * @diff:  a line of text for each change.
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
	bool now; /* drop trees even if they are in use */
	unsigned int draining;
};

/**
 * struct apply_ids - a job's trees
 * @plan:  its ids in the plan, @n of them, ascending.
 * @there: their ids on the hosts.
 */
struct apply_ids {
	uint32_t *plan, *there;
	size_t n;
};

/* apply_local.c */
int apply_local(struct cli *c);
/*
 * apply_ps_local.c: read the files of this host's trib-ps (NULL after an
 * error); run one step of apply_ps.c.
 */
json_t *apply_ps_look(struct cli *c);
int apply_ps_run(struct cli *c, const json_t *words);

/* apply_hosts.c: fill @a->host from the plan; errors name the place. */
int apply_hosts(struct apply *a);
void apply_free(struct apply *a);
/*
 * True if the plan has nothing for this host. Trees of former plans may be on
 * it.
 */
bool apply_is_idle(const struct apply_host *h);
/* Make the question for the host; a new reference. */
json_t *apply_question(const struct apply_host *h);

/*
 * apply_look.c: check the names in what the host said. One that is no name makes
 * the answer unusable: it becomes empty, with a reason.
 */
void apply_look(struct apply_host *h);

/*
 * apply_diff.c: work out load, flip and diff of each host from the plan and the
 * looks. Returns the number of hosts that the plan does not fit.
 */
size_t apply_diff(struct apply *a);
/*
 * apply_note.c: set the reason why the plan does not fit the host; the first
 * one stays.
 */
void apply_refuse(struct apply_host *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void apply_note(struct apply_host *h, char sign, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Find the object with this "name"; NULL without one. */
const json_t *apply_named(const json_t *list, const char *name);
/* Find the job on the host; NULL without one. */
const json_t *apply_job_there(const struct apply_host *h, const char *job);
/* Read a number of a plan's job; text such as "10G" counts. */
uint64_t apply_number(const json_t *job, const char *key);
/* Collect the names of all jobs of the plan, as keys of a new object. */
json_t *apply_all_jobs(struct apply *a);

/* apply_jobs.c */
void apply_diff_face(struct apply_host *h, const json_t *face);
/* After all faces: let tribds watch the neighbours that the plan wants watched. */
void apply_diff_watch(struct apply *a);
/*
 * Choose the key of a job: the plan's, the one on the hosts, or a new one.
 */
struct trib_key apply_key(struct apply *a, const char *job);
void apply_diff_job(struct apply_host *h, const char *job, const struct trib_key *key);

/* apply_trees.c */
void apply_diff_trees(struct apply *a, const char *job, const struct trib_key *key);

/* apply_drop.c: work out drop from looks that are newer than the flip. */
void apply_drop(struct apply *a);

/* apply_ps.c. Hosts without a row for the job are left alone. */
void apply_ps_check(struct apply_host *h);
/* Set the bits in @taken of tree numbers in use on the host. */
void apply_ps_mark(const struct apply_host *h, uint8_t *taken);
bool apply_ps_key(const struct apply_host *h, const char *job, struct trib_key *key);
bool apply_ps_same(const struct apply_host *h, const char *job, uint64_t plan, uint64_t there);
void apply_ps_load(struct apply *a, struct apply_host *h, const char *job,
		   const struct trib_key *key, const struct apply_ids *ids);
/* Drop the trees that @keep does not mark. */
void apply_ps_drop(struct apply_host *h, const uint8_t *keep);

/* Append a step: words of a command. Takes over @run and @undo (NULL: none). */
void apply_step(json_t *list, json_t *run, json_t *undo);
/* Join words with blanks; the caller frees the line. */
char *apply_join(const json_t *words);
/* Make a list of words from a format; names hold no blanks. */
json_t *apply_words(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * apply_tree.c: make the words behind "tree add", without id, from a row of a
 * plan or from a tree of tribd. NULL with @why if the row is invalid.
 */
json_t *apply_row_words(const json_t *row, const json_t *faces, char *why, size_t size);
json_t *apply_tree_words(const json_t *tree);

#endif /* TRIB_CLI_APPLY_H */
