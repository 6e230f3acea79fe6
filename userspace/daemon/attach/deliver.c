// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory that the ranks of this host share with the data plane: a ring buffer for each
 * rank, an array of cells for each rank and tree (cells.c), and the rows by which the
 * data plane finds them. Pinned outer maps hold references, so a new tribd finds
 * them there and continues.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "cells.h"
#include "daemon/load/bpf_load.h"
#include "deliver.h"
#include "reflex.h"

/*
 * Ring buffers by number; -1: the number is free. Number 0 is never used. @none_fd: an
 * array without cells, for the rows of ranks that have left.
 */
struct deliver {
	int none_fd;
	unsigned int nrings;
	int ring_fd[];
};

/* tree.deliver: N of the tree, the same for all trees of a job. */
struct delivery {
	uint32_t n;
};

/* NULL: @t delivers to no rank. */
static struct delivery *delivery_of(const struct tree *t)
{
	return t->kind == TREE_DEDICATED ? t->dedicated.deliver : NULL;
}

static void delivery_free(struct tree *t)
{
	free(delivery_of(t));
	if (t->kind == TREE_DEDICATED)
		t->dedicated.deliver = NULL;
}

void deliver_exit(struct tribd *d)
{
	struct deliver *dl = d->deliver;
	struct tree *t;
	unsigned int i;

	if (!dl)
		return;
	TAILQ_FOREACH(t, &d->trees, link)
		delivery_free(t);
	for (i = 0; i < dl->nrings; i++)
		if (dl->ring_fd[i] >= 0)
			close(dl->ring_fd[i]);
	close(dl->none_fd);
	free(dl);
	d->deliver = NULL;
}

/* Open the map that @outer has at @nr; -errno: none. */
static int inner_fd(int outer, uint32_t nr)
{
	uint32_t id;
	int fd;

	if (bpf_map_lookup_elem(outer, &nr, &id))
		return -errno;
	fd = bpf_map_get_fd_by_id(id);
	return fd < 0 ? -errno : fd;
}

/* --- rows */

static int row_load(struct tribd *d, uint32_t nr, struct trib_deliver *row)
{
	return bpf_map_lookup_elem(d->map[MAP_DELIVERS], &nr, row) ? -errno : 0;
}

static int row_store(struct tribd *d, const struct tree *t)
{
	struct trib_deliver row = {
		.cell_mask = delivery_of(t)->n - 1,
		.nrank = t->nlocal,
	};
	uint32_t nr = t->id;
	unsigned int i;

	for (i = 0; i < t->nlocal; i++) {
		row.ring[i] = t->local[i].ring;
		row.rank[i] = t->local[i].rank;
	}
	reflex_fill(d, t, &row, NULL);
	return bpf_map_update_elem(d->map[MAP_DELIVERS], &nr, &row, BPF_ANY) ? -errno : 0;
}

static void row_clear(struct tribd *d, uint32_t nr)
{
	static const struct trib_deliver none;
	unsigned int i;

	bpf_map_update_elem(d->map[MAP_DELIVERS], &nr, &none, BPF_ANY);
	for (i = 0; i < TRIB_RINGS_MAX; i++)
		cells_clear(d, TRIB_CELLS_ROW(nr, i));
}

/* Clear what trees left that the state file does not name. */
static void rows_sweep(struct tribd *d)
{
	struct trib_deliver row;
	uint32_t nr;

	for (nr = 0; d->adopted && nr < d->config.ndelivers; nr++)
		if (!tree_find(d, (uint16_t)nr) && !row_load(d, nr, &row) && row.nrank)
			row_clear(d, nr);
}

static uint32_t cells_row(const struct tree *t, const struct local *l)
{
	return TRIB_CELLS_ROW(t->id, (uint32_t)(l - t->local));
}

int deliver_init(struct tribd *d)
{
	unsigned int i, n = d->config.nrings;
	struct deliver *dl;
	int fd;

	dl = malloc(sizeof(*dl) + n * sizeof(dl->ring_fd[0]));
	if (!dl)
		return -ENOMEM;
	fd = cells_make(d, 0);
	if (fd < 0) {
		log_error("cannot make an array of cells: %s", strerror(-fd));
		free(dl);
		return fd;
	}
	dl->none_fd = fd;
	dl->nrings = n;
	for (i = 0; i < n; i++)
		dl->ring_fd[i] = -1;
	d->deliver = dl;
	rows_sweep(d);
	return 0;
}

/* --- rings */

static void ring_free(struct tribd *d, uint32_t nr)
{
	if (!nr || d->deliver->ring_fd[nr] < 0)
		return;
	bpf_map_delete_elem(d->map[MAP_RINGS], &nr);
	close(d->deliver->ring_fd[nr]);
	d->deliver->ring_fd[nr] = -1;
}

/* Make a ring buffer. Return: its number, or -errno. */
static int ring_new(struct tribd *d)
{
	struct deliver *dl = d->deliver;
	uint32_t nr;
	int fd, err;

	for (nr = 1; nr < dl->nrings; nr++)
		if (dl->ring_fd[nr] < 0)
			break;
	if (nr >= dl->nrings)
		return -ENOSPC;
	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "trib_ring", 0, 0, TRIB_RING_BYTES, NULL);
	if (fd < 0)
		return -errno;
	if (bpf_map_update_elem(d->map[MAP_RINGS], &nr, &fd, BPF_ANY)) {
		err = -errno;
		close(fd);
		return err;
	}
	dl->ring_fd[nr] = fd;
	return (int)nr;
}

/*
 * Take over the ring buffer that a former tribd gave to @l. If that fails, the
 * process must attach again.
 */
static void ring_adopt(struct tribd *d, struct local *l, uint32_t nr)
{
	struct deliver *dl = d->deliver;

	if (!nr || nr >= dl->nrings)
		return;
	if (dl->ring_fd[nr] < 0)
		dl->ring_fd[nr] = inner_fd(d->map[MAP_RINGS], nr);
	if (dl->ring_fd[nr] >= 0)
		l->ring = nr;
	else
		dl->ring_fd[nr] = -1;
}

/* --- ranks */

static void rank_set_ring(struct tribd *d, struct job *job, uint16_t rank, uint32_t nr)
{
	struct tree *t = NULL;
	struct local *l;
	int err;

	while ((t = tree_next_of_job(d, job, t))) {
		l = tree_local(t, rank);
		/*
		 * A process that attaches gets no held tree; one that leaves
		 * may have had it.
		 */
		if (!l || !delivery_of(t) || (nr && t->held))
			continue;
		l->ring = nr;
		err = row_store(d, t);
		if (err)
			log_error("tree %u: cannot write its deliver row: %s", t->id,
				  strerror(-err));
	}
}

/* Find the ring of @rank in any tree of @job; 0: none. */
static uint32_t rank_ring(struct tribd *d, struct job *job, uint16_t rank)
{
	struct tree *t = NULL;
	struct local *l;

	while ((t = tree_next_of_job(d, job, t))) {
		l = tree_local(t, rank);
		if (l && l->ring)
			return l->ring;
	}
	return 0;
}

/* Find a tree of @job that has an attached rank; NULL: none has. */
static const struct tree *job_attached(struct tribd *d, struct job *job)
{
	struct tree *t = NULL;
	unsigned int i;

	while ((t = tree_next_of_job(d, job, t)))
		for (i = 0; delivery_of(t) && i < t->nlocal; i++)
			if (t->local[i].ring)
				return t;
	return NULL;
}

/*
 * N of @job: of its attached ranks, because rows have one N for all; else of its trees
 * that a process would get now.
 */
static uint32_t job_cells(struct tribd *d, struct job *job)
{
	const struct tree *has = job_attached(d, job);
	struct tree *t = NULL;
	unsigned int n = 0;

	if (has)
		return delivery_of(has)->n;
	while ((t = tree_next_of_job(d, job, t)))
		n += delivery_of(t) && !t->held;
	return cells_count(d, job->window, n);
}

/* Make the arrays of @rank, one for each tree that it gets. */
static int arrays_make(struct tribd *d, struct job *job, uint16_t rank, uint32_t *row,
		       struct place_fds *fds)
{
	uint32_t n = job_cells(d, job);
	struct tree *t = NULL;
	struct local *l;
	int fd;

	while ((t = tree_next_of_job(d, job, t))) {
		if (!delivery_of(t))
			continue;
		delivery_of(t)->n = n;
		l = tree_local(t, rank);
		if (!l || t->held)
			continue;
		fd = fds->n < TRIB_ATTACH_TREES ? cells_make(d, n) : -E2BIG;
		if (fd < 0)
			return fd;
		row[fds->n] = cells_row(t, l);
		fds->fd[fds->n++] = fd;
		fds->own = fds->n;
	}
	return 0;
}

int deliver_rank_add(struct tribd *d, struct job *job, uint16_t rank, struct place_fds *fds)
{
	uint32_t row[TRIB_ATTACH_TREES];
	int nr, err;

	deliver_rank_del(d, job, rank);
	err = arrays_make(d, job, rank, row, fds);
	if (err)
		return err;
	nr = ring_new(d);
	if (nr < 0)
		return nr;
	err = cells_publish(d, row, fds->fd, fds->n);
	if (err) {
		ring_free(d, (uint32_t)nr);
		return err;
	}
	fds->fd[fds->n++] = d->deliver->ring_fd[nr];
	rank_set_ring(d, job, rank, (uint32_t)nr);
	return 0;
}

/* List the rows of the arrays of @rank. */
static unsigned int arrays_of(struct tribd *d, struct job *job, uint16_t rank, uint32_t *row)
{
	struct tree *t = NULL;
	unsigned int n = 0;
	struct local *l;

	while ((t = tree_next_of_job(d, job, t))) {
		l = tree_local(t, rank);
		if (l && l->ring && delivery_of(t) && n < TRIB_ATTACH_TREES)
			row[n++] = cells_row(t, l);
	}
	return n;
}

void deliver_rank_del(struct tribd *d, struct job *job, uint16_t rank)
{
	uint32_t nr = rank_ring(d, job, rank), row[TRIB_ATTACH_TREES];
	unsigned int n;

	if (!nr)
		return;
	n = arrays_of(d, job, rank, row);
	/* Rows first, so that no program writes to the arrays and the ring that go. */
	rank_set_ring(d, job, rank, 0);
	bpf_quiesce(d);
	cells_take(d, row, n, d->deliver->none_fd);
	ring_free(d, nr);
}

uint32_t deliver_cells(const struct tree *t)
{
	return delivery_of(t) ? delivery_of(t)->n : 0;
}

uint64_t deliver_carried(struct tribd *d, const struct tree *t, const struct local *l)
{
	return l->ring && delivery_of(t) ? cells_carried(d, cells_row(t, l), delivery_of(t)->n) : 0;
}

/* --- trees */

/* True if @n is a number of cells that cells_count() may give for @job. */
static bool is_count(const struct tribd *d, const struct job *job, uint64_t n)
{
	return n && !(n & (n - 1)) && n <= cells_count(d, job->window, 1) &&
	       n >= cells_count(d, job->window, UINT32_MAX);
}

/*
 * Go on with the ranks that a former tribd had. If anything of one does not fit, its
 * process must attach again: it loses its ring in all trees.
 */
static void ranks_adopt(struct tribd *d, struct tree *t)
{
	struct trib_deliver row;
	uint64_t n;
	unsigned int i;

	if (row_load(d, t->id, &row))
		return;
	n = row.cell_mask + 1ull;
	for (i = 0; i < t->nlocal && i < row.nrank; i++) {
		struct local *l = &t->local[i];

		if (!row.ring[i] || row.rank[i] != l->rank)
			continue;
		if (!job_attached(d, t->job) && is_count(d, t->job, n))
			delivery_of(t)->n = (uint32_t)n;
		ring_adopt(d, l, row.ring[i]);
		if (l->ring && n == delivery_of(t)->n && cells_fit(d, cells_row(t, l), (uint32_t)n))
			continue;
		log_warn("tree %u: the cells of rank %u do not fit: its process must attach again",
			 t->id, l->rank);
		deliver_rank_del(d, t->job, l->rank);
	}
}

int deliver_tree_prepare(struct tribd *d, struct tree *t, bool adopted)
{
	struct delivery *dv;
	unsigned int i;
	int err;

	if (t->kind != TREE_DEDICATED || !t->nlocal)
		return 0;
	dv = calloc(1, sizeof(*dv));
	if (!dv)
		return -ENOMEM;
	t->dedicated.deliver = dv;
	dv->n = job_cells(d, t->job);
	if (adopted)
		ranks_adopt(d, t);
	err = row_store(d, t);
	if (err)
		goto fail;
	for (i = 0; i < TRIB_RINGS_MAX; i++)
		if (i >= t->nlocal || !t->local[i].ring)
			cells_clear(d, TRIB_CELLS_ROW(t->id, i));
	t->row.deliver = t->id;
	return 0;
fail:
	log_error("tree %u: cannot write its deliver row: %s", t->id, strerror(-err));
	delivery_free(t);
	return err;
}

void deliver_tree_changed(struct tribd *d, struct tree *t)
{
	int err = delivery_of(t) ? row_store(d, t) : 0;

	if (err)
		log_error("tree %u: cannot write its deliver row: %s", t->id, strerror(-err));
}

void deliver_tree_gone(struct tribd *d, struct tree *t)
{
	unsigned int i;

	if (!delivery_of(t))
		return;
	/* Its processes were sent away by the hook tree_del. */
	for (i = 0; i < t->nlocal; i++)
		if (t->local[i].ring)
			deliver_rank_del(d, t->job, t->local[i].rank);
	row_clear(d, t->id);
	delivery_free(t);
	t->row.deliver = TRIB_NONE;
}
