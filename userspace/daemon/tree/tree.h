/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees and their groups: what is asked for, and what becomes of it. */
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
 * A rank on this host whose results are delivered to cells. @index: at the
 * parent (leaf), or among our own children. @pid and @ring belong to
 * attach.c and deliver.c; @pid is shown to operators (0: nobody attached).
 * In a row of workers (worker.c) results come to UDP port @port instead, and
 * @epoch is what the process said that it takes part in, 0: none yet.
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
	TREE_DEDICATED, /* a node with slots of its own; or a leaf */
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
	const struct tree_ops *ops; /* of the kind */
	struct job *job;
	unsigned int nlocal; /* not in TREE_SHARED */
	struct local local[TRIB_RINGS_MAX];
	/* Processes that attach now are not told of it; those that did before
	 * go on in it. */
	bool held;
	uint8_t weight; /* of messages, against the job's other trees */
	/* Newest epoch that ever ran; survives restarts (state file). */
	uint32_t last_epoch;

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

/* Look-ups; NULL if there is none. */
struct tree *tree_find(struct tribd *d, uint16_t id);
/* The trees of @job by ascending id; @after NULL starts. */
struct tree *tree_next_of_job(struct tribd *d, const struct job *job,
			      const struct tree *after);
/* The entry for @rank in @t->local. */
struct local *tree_local(struct tree *t, uint16_t rank);

/* Write @t->row to the map; 0 or -errno (logged). Readers see old or new
 * 64-bit words, so change what they must not mix in steps. */
int tree_row_store(struct tribd *d, struct tree *t);
/* Read it back: BPF or a former tribd wrote it. 0 or -errno. */
int tree_row_load(struct tribd *d, const struct tree *t, struct trib_tree *row);

/* Not given. */
#define INDEX_NONE 0xffff

struct child_spec {
	char face[TRIB_NAME_MAX];
	uint16_t rank;	/* RANK_NONE: a relay */
	uint16_t index; /* INDEX_NONE: by position */
	uint16_t port;	/* 0: not given */
};

/* As a request or the state file states it. */
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
	uint32_t last_epoch; /* state file only */
	/* Parts of other kinds than tree_spec_kind() must be all zeros. */
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
	int (*keep)(struct tribd *d, struct tree *t, const struct tree_spec *s,
		    struct reason *why);
	int (*show)(struct tribd *d, struct tree *t, bool adopted);
	void (*hide)(struct tribd *d, struct tree *t);
	int (*wipe)(struct tribd *d, struct tree *t);
};

enum tree_kind tree_spec_kind(const struct tree_spec *s);

/*
 * tree_spec.c: everything that can be wrong with @spec; on success @t holds
 * its objects (faces are not counted yet). Changes nothing.
 */
int tree_check(struct tribd *d, const struct tree_spec *spec, struct tree *t,
	       struct reason *why);
/* node_spec.c: what trees with a row have in common, for the check of a kind. */
int node_check(struct tribd *d, const struct tree_spec *s, struct tree *t,
	       struct reason *why);
/*
 * The multicast face by which one copy of each result reaches those behind
 * @port; of a leaf: by which they reach its ranks, from the parent behind
 * @port. Or NULL.
 */
const struct face *tree_multicast(const struct tree *t,
				  const struct port *port);

int tree_new(struct tribd *d, const struct tree_spec *spec, uint16_t *id,
	     struct reason *why);
/* The record of a tree that was there before; slots as they were. */
int tree_restore(struct tribd *d, const struct tree_spec *spec,
		 struct reason *why);
/* Makes the maps agree with the restored trees and announces these. */
int tree_restore_done(struct tribd *d);
int tree_del(struct tribd *d, uint16_t id, struct reason *why);
/* All trees of @job, without saving the state: cannot fail. */
void tree_remove_all(struct tribd *d, const struct job *job);
int tree_wipe(struct tribd *d, uint16_t id, struct reason *why);
/* Of @job's trees, the @n in @live are what workers get, the others held. */
int tree_switch(struct tribd *d, const char *job, const uint16_t *live,
		size_t n, struct reason *why);
/* @f's address, port or device changed: its trees are stale... */
void tree_face_changed(struct tribd *d, const struct face *f);
/* ... until rows, groups and rewrites of all stale trees are written. */
void tree_settle(struct tribd *d);
void tree_free_all(struct tribd *d);

/* --- row.c: the map's row of a tree, from its objects. Pure. */
void tree_row_fill(const struct tree *t, struct trib_tree *row);

/* --- group.c */

enum group_kind { GROUP_DOWN, GROUP_ALL, GROUP_UP, GROUP__KINDS };
extern const char *const group_kind_name[GROUP__KINDS];

/* Each tree has its own three numbers. */
#define GROUP_ID(tree, kind) ((uint32_t)(tree)*3 + 1 + (uint32_t)(kind))
#define GROUP_TREE(id) (((id)-1) / 3)
#define GROUP_KIND(id) (((id)-1) % 3)
#define GROUPS_OF(ntrees) ((ntrees)*3 + 1)

/*
 * The faces a group's packets go to, those behind one port in a row; 0: there
 * is no such group. A worker served from cells here is no member.
 */
unsigned int group_faces(const struct tree *t, enum group_kind kind,
			 struct face *face[TRIB_GROUP_MAX]);
/* The number the row names: TRIB_NONE, or that of another kind. */
uint32_t group_number(const struct tree *t, enum group_kind kind);
/* Writes rewrites, members and devmaps of @t; @fresh: also unchanged devmaps
 * (their entries hold an older program). 0 or -errno, logged. */
int group_store(struct tribd *d, struct tree *t, bool fresh);
/* Between these, devmaps are kept back and then written in one go. */
void group_defer(void);
int group_flush(struct tribd *d);
void group_clear(struct tribd *d, uint16_t tree);
/* Removes rewrites that belong to no member. */
void group_sweep(struct tribd *d);

#endif /* TRIBD_TREE_H */
