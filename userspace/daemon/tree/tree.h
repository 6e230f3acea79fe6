/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees and their groups: what a request states, and the objects. */
#ifndef TRIBD_TREE_H
#define TRIBD_TREE_H

#include "daemon/core/tribd.h"
#include "daemon/face/face.h"
#include "daemon/job/job.h"
#include "dedicated.h"
#include "pool.h"
#include "worker.h"

#define RANK_NONE 0xffff /* a child that is a relay */

struct child {
	struct face *face;
	uint16_t rank; /* RANK_NONE: a relay */
};

/*
 * A rank on this host. @index: at the parent (leaf), or among the children.
 * @ring belongs to deliver.c; @pid is 0 if no process is attached. In
 * TREE_WORKERS results come to UDP port @port, and @epoch is the one that the
 * process takes part in (0: none yet).
 */
struct local {
	uint16_t rank;
	uint16_t index;
	uint16_t port;
	uint32_t epoch;
	pid_t pid;
	uint32_t ring;
};

enum tree_kind {
	TREE_DEDICATED, /* a node with its own slots, or a leaf */
	TREE_SHARED,	/* a relay of a shared pool */
	TREE_WORKERS,	/* ranks of a shared tree that send by sockets */
};

/*
 * This host's node of one tree. @row is what `trees` holds; tree.c computes
 * it, join.c owns epoch and the nonces in it, deliver.c owns row.deliver. A
 * room that changes @row calls tree_row_store().
 */
struct tree {
	TAILQ_ENTRY(tree) link;
	uint16_t id;
	enum tree_kind kind;
	const struct tree_ops *ops; /* those of @kind */
	struct job *job;
	unsigned int nlocal; /* not in TREE_SHARED */
	struct local local[TRIB_RINGS_MAX];
	/*
	 * Processes that attach now do not get this tree; those that have it
	 * keep it.
	 */
	bool held;
	uint8_t weight; /* share of messages, relative to other trees of the job */
	/*
	 * No epoch that ever ran is larger than the larger of these: the one
	 * in the state file, and the newest in slots and in the row that a
	 * former tribd left.
	 */
	uint32_t last_epoch;
	uint32_t traced;
	uint32_t number; /* secret_number(): the newest */

	/* A node of the data plane: all zeros in TREE_WORKERS. */
	unsigned int nchild;
	struct child child[TRIB_CHILDREN_MAX];
	struct face *parent; /* NULL: root */
	uint16_t up_child;   /* index at the parent; INDEX_NONE */
	unsigned int ndown;  /* explicit down faces; 0: derived */
	struct face *down[TRIB_CHILDREN_MAX];
	bool native; /* its groups are devmaps (group.c) */
	bool stale;  /* a face changed (tree.c) */
	struct trib_tree row;

	union {
		struct tree_dedicated dedicated;
		struct tree_shared shared;
		struct tree_workers workers;
	};
};

/* True if @t has a row in the maps. */
static inline bool tree_is_node(const struct tree *t)
{
	return t->kind != TREE_WORKERS;
}

/* Look-ups; NULL: none. */
struct tree *tree_find(struct tribd *d, uint16_t id);
/* Walk the trees of @job by ascending id; @after NULL starts. */
struct tree *tree_next_of_job(struct tribd *d, const struct job *job, const struct tree *after);
/* Find the entry for @rank in @t->local. */
static inline struct local *tree_local(struct tree *t, uint16_t rank)
{
	unsigned int i;

	for (i = 0; i < t->nlocal; i++)
		if (t->local[i].rank == rank)
			return &t->local[i];
	return NULL;
}

/*
 * Write @t->row to the map; 0 or -errno (logged). Readers may see a mix of old
 * and new 64-bit words: change what must agree in steps.
 */
int tree_row_store(struct tribd *d, struct tree *t);
/* Read the row that BPF or a former tribd wrote. 0 or -errno. */
int tree_row_load(struct tribd *d, const struct tree *t, struct trib_tree *row);

/* Not given. */
#define INDEX_NONE 0xffff

struct child_spec {
	char face[TRIB_NAME_MAX];
	uint16_t rank;	/* RANK_NONE: a relay */
	uint16_t index; /* INDEX_NONE: by position */
	uint16_t port;	/* 0: not given */
};

/* A tree as a request or the state file states it. */
struct tree_spec {
	uint16_t id; /* 0: lowest free */
	char job[TRIB_NAME_MAX];
	unsigned int nchild;
	struct child_spec child[TRIB_CHILDREN_MAX];
	char parent[TRIB_NAME_MAX]; /* "": root */
	uint16_t up_child;	    /* INDEX_NONE: not given */
	unsigned int nlocal;
	struct child_spec local[TRIB_RINGS_MAX]; /* face: none */
	unsigned int ndown;
	char down[TRIB_CHILDREN_MAX][TRIB_NAME_MAX];
	bool held;
	uint16_t weight;     /* 0: not given, 1 */
	uint32_t last_epoch; /* state file only: none that ran here is larger */
	/* All zeros for kinds other than tree_spec_kind(). */
	struct dedicated_spec dedicated;
	struct shared_spec shared;
	struct workers_spec workers;
};

/**
 * struct tree_ops - where kinds of trees differ
 * @check:  everything that can be wrong with @s, after what all kinds have in
 *          common; fills in @t. Changes nothing else.
 * @choose: take ranges of maps for a new tree. Reserved as soon as @t is in the
 *          list.
 * @keep:   take those that @s of the state file names.
 * @show:   write the maps of the kind before the row is visible. @adopted: they
 *          were there. 0 or -errno, logged.
 * @hide:   clear them; the row is cleared, and bpf_quiesce() was called.
 * @wipe:   clear its slots, while the row is cleared. NULL: it has none.
 */
struct tree_ops {
	int (*check)(struct tribd *d, const struct tree_spec *s, struct tree *t,
		     struct reason *why);
	int (*choose)(struct tribd *d, struct tree *t, struct reason *why);
	int (*keep)(struct tribd *d, struct tree *t, const struct tree_spec *s, struct reason *why);
	int (*show)(struct tribd *d, struct tree *t, bool adopted);
	void (*hide)(struct tribd *d, struct tree *t);
	int (*wipe)(struct tribd *d, struct tree *t);
};

enum tree_kind tree_spec_kind(const struct tree_spec *s);

/*
 * Check @spec completely and fill in @t; uses of faces are not counted yet. 0
 * or -errno; changes nothing else.
 */
int tree_check(struct tribd *d, const struct tree_spec *spec, struct tree *t, struct reason *why);
/* node_spec.c: the checks that dedicated and shared trees share. */
int node_check(struct tribd *d, const struct tree_spec *s, struct tree *t, struct reason *why);
/*
 * Find the multicast face by which one copy of each result reaches all behind
 * @port; for a leaf, the one by which its ranks get the parent's. NULL: none.
 */
const struct face *tree_multicast(const struct tree *t, const struct port *port);

int tree_new(struct tribd *d, const struct tree_spec *spec, uint16_t *id, struct reason *why);
/* Make the record of a tree of the state file, with the ranges that it had. */
int tree_restore(struct tribd *d, const struct tree_spec *spec, struct reason *why);
/* Make the maps agree with the restored trees, and announce these. */
int tree_restore_done(struct tribd *d);
int tree_del(struct tribd *d, uint16_t id, struct reason *why);
/* Remove all trees of @job without saving the state; cannot fail. */
void tree_remove_all(struct tribd *d, const struct job *job);
int tree_wipe(struct tribd *d, uint16_t id, struct reason *why);
/* Offer the @n trees in @live to workers of @job, and hold its others. */
int tree_switch(struct tribd *d, const char *job, const uint16_t *live, size_t n,
		struct reason *why);
/* Hook: address, port or device of @f changed; its trees become stale. */
void tree_face_changed(struct tribd *d, const struct face *f);
/* Write rows, groups and rewrites of all stale trees. */
void tree_settle(struct tribd *d);
void tree_free_all(struct tribd *d);

/* --- row.c: the map's row of a tree, from its objects. Pure. */
void tree_row_fill(const struct tree *t, struct trib_tree *row);

/* --- group.c */

enum group_kind { GROUP_DOWN, GROUP_ALL, GROUP_UP, GROUP__KINDS };
extern const char *const group_kind_name[GROUP__KINDS];

/* Numbers of the groups of a tree. */
#define GROUP_ID(tree, kind) ((uint32_t)(tree)*3 + 1 + (uint32_t)(kind))
#define GROUP_TREE(id) (((id)-1) / 3)
#define GROUP_KIND(id) (((id)-1) % 3)
#define GROUPS_OF(ntrees) ((ntrees)*3 + 1)

/*
 * List the faces of a group, those behind one port in a row; 0: no such group.
 * Ranks that are served from cells are no members.
 */
unsigned int group_faces(const struct tree *t, enum group_kind kind,
			 struct face *face[TRIB_GROUP_MAX]);
/* The number of the group in the row: TRIB_NONE, or that of another kind. */
uint32_t group_number(const struct tree *t, enum group_kind kind);
/*
 * Write rewrites, members and devmaps of @t. @fresh: also unchanged devmaps
 * (their entries hold an older program). 0 or -errno, logged.
 */
int group_store(struct tribd *d, struct tree *t, bool fresh);
/* Between these two, devmaps are kept back; the flush writes them at once. */
void group_defer(void);
int group_flush(struct tribd *d);
void group_clear(struct tribd *d, uint16_t tree);
/* Remove rewrites without a member. */
void group_sweep(struct tribd *d);

#endif /* TRIBD_TREE_H */
