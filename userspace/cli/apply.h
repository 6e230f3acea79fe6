/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trib apply: from a plan and what all its hosts say is there to the changes
 * that each host makes.
 */
#ifndef TRIB_CLI_APPLY_H
#define TRIB_CLI_APPLY_H

#include "cli.h"
#include "schema.h"

#define APPLY_HOSTS_MAX 16384

/**
 * struct apply_host - a host of the plan
 * @name:  as the plan has it.
 * @plan:  its entry of hosts[]; borrowed from the plan.
 * @look:  what it said is there.
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
	json_t *faces;
	json_t *load, *flip, *drop;
	json_t *diff;
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

/* apply_local.c */
int apply_local(struct cli *c);

/* apply_hosts.c: lay out @a from its plan; errors name the place. */
int apply_hosts(struct apply *a);
void apply_free(struct apply *a);

/*
 * apply_diff.c: work out load, flip and diff, from plan and looks. Returns the
 * number of hosts that the plan does not fit.
 */
size_t apply_diff(struct apply *a);
/* Work out drop, from looks (taken anew after a flip). */
void apply_drop(struct apply *a);

/* A step: words parted by blanks; @undo may be NULL. */
void apply_step(json_t *list, json_t *run, json_t *undo);
/* Words from a format; names hold no blanks. */
json_t *apply_words(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

/* apply_tree.c: a tree as words behind "tree add", without id; NULL and
 * @why: it cannot be right. */
json_t *apply_row_words(const json_t *row, const json_t *faces, char *why,
			size_t size);
json_t *apply_tree_words(const json_t *tree);

#endif /* TRIB_CLI_APPLY_H */
