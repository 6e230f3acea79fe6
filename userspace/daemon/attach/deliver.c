// SPDX-License-Identifier: BSD-2-Clause
/*
 * The maps that deliver results to the ranks of this host: one frozen array of
 * cells per tree, one ring buffer per rank, and the rows by which the data
 * plane finds them. Pinned outer maps hold references, so a new tribd finds
 * them there and continues.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/load/bpf_load.h"
#include "deliver.h"

/* Ring buffers by number; -1: the number is free. Number 0 is never used. */
struct deliver {
	unsigned int nrings;
	int ring_fd[];
};

/* tree.deliver */
struct delivery {
	int cells_fd;
};

/* The cells of @t; NULL: none. */
static struct delivery *delivery_of(const struct tree *t)
{
	return t->kind == TREE_DEDICATED ? t->dedicated.deliver : NULL;
}

int deliver_init(struct tribd *d)
{
	unsigned int i, n = d->config.nrings;
	struct deliver *dl;

	dl = malloc(sizeof(*dl) + n * sizeof(dl->ring_fd[0]));
	if (!dl)
		return -ENOMEM;
	dl->nrings = n;
	for (i = 0; i < n; i++)
		dl->ring_fd[i] = -1;
	d->deliver = dl;
	return 0;
}

static void delivery_free(struct tree *t)
{
	struct delivery *dv = delivery_of(t);

	if (!dv)
		return;
	if (dv->cells_fd >= 0)
		close(dv->cells_fd);
	free(dv);
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

/* --- cells */

static uint32_t cell_size(const struct tribd *d)
{
	return (uint32_t)sizeof(struct trib_cell) + 4 * d->config.nval - 4 * TRIB_NVAL;
}

/* The outer map takes only arrays whose BTF is like that of its template. */
static int cells_create(struct tribd *d, const struct tree *t)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP, );
	int key, fd, err;

	key = d->btf ? btf__find_by_name_kind(d->btf, "unsigned int", BTF_KIND_INT) : -ENOENT;
	opts.btf_value_type_id = bpf_btf_struct(d, "trib_cell");
	if (key > 0 && opts.btf_value_type_id) {
		opts.btf_fd = (uint32_t)btf__fd(d->btf);
		opts.btf_key_type_id = (uint32_t)key;
	} else {
		opts.btf_value_type_id = 0;
	}
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "trib_cells", sizeof(uint32_t), cell_size(d),
			    2 * t->job->window, &opts);
	if (fd < 0)
		return -errno;
	/* A process with a descriptor of a frozen array can only read. */
	if (bpf_map_freeze(fd)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int cells_publish(struct tribd *d, const struct tree *t, int fd)
{
	uint32_t nr = t->id;

	return bpf_map_update_elem(d->map[MAP_CELLS], &nr, &fd, BPF_ANY) ? -errno : 0;
}

/* Open the cells of a former tribd, if they are what we would make. */
static int cells_adopt(struct tribd *d, const struct tree *t)
{
	struct bpf_map_info info = {0};
	uint32_t len = sizeof(info);
	int fd = inner_fd(d->map[MAP_CELLS], t->id);

	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &len) || info.max_entries != 2 * t->job->window) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

/*
 * Note the newest epoch in the cells: a process that attaches names it in its
 * JOINs, so that the next one has another number.
 */
static int cells_trace(struct tribd *d, struct tree *t, int fd)
{
	struct trib_cell *cell = malloc(cell_size(d));
	uint32_t nr;
	int err = 0;

	if (!cell)
		return -ENOMEM;
	for (nr = 0; !err && nr < 2 * t->job->window; nr++) {
		if (bpf_map_lookup_elem(fd, &nr, cell))
			err = -errno;
		else if (cell->id >> 32 > t->traced)
			t->traced = (uint32_t)(cell->id >> 32);
	}
	free(cell);
	return err;
}

int deliver_cells_fd(const struct tree *t)
{
	const struct delivery *dv = delivery_of(t);

	return dv ? dv->cells_fd : -1;
}

/* --- the row */

/* Write the ranks that have a ring, in the order of t->local. */
static int row_store(struct tribd *d, struct tree *t)
{
	struct trib_deliver row;
	uint32_t nr = t->id;
	unsigned int i;

	/* Keep next and unrung. A race with BPF costs one record too many. */
	if (bpf_map_lookup_elem(d->map[MAP_DELIVERS], &nr, &row))
		return -errno;
	row.cell_mask = 2 * t->job->window - 1;
	row.nring = 0;
	for (i = 0; i < t->nlocal; i++) {
		if (!t->local[i].ring)
			continue;
		row.ring[row.nring] = t->local[i].ring;
		row.rank[row.nring++] = t->local[i].rank;
	}
	for (i = row.nring; i < TRIB_RINGS_MAX; i++)
		row.ring[i] = row.rank[i] = 0;
	return bpf_map_update_elem(d->map[MAP_DELIVERS], &nr, &row, BPF_ANY) ? -errno : 0;
}

static void row_clear(struct tribd *d, const struct tree *t)
{
	static const struct trib_deliver none;
	uint32_t nr = t->id;

	bpf_map_update_elem(d->map[MAP_DELIVERS], &nr, &none, BPF_ANY);
	bpf_map_delete_elem(d->map[MAP_CELLS], &nr);
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

static void rings_adopt(struct tribd *d, struct tree *t)
{
	struct trib_deliver row;
	uint32_t nr = t->id;
	struct local *l;
	unsigned int i;

	if (bpf_map_lookup_elem(d->map[MAP_DELIVERS], &nr, &row))
		return;
	for (i = 0; i < row.nring && i < TRIB_RINGS_MAX; i++) {
		l = tree_local(t, (uint16_t)row.rank[i]);
		if (l)
			ring_adopt(d, l, row.ring[i]);
	}
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

int deliver_rank_add(struct tribd *d, struct job *job, uint16_t rank)
{
	int nr;

	deliver_rank_del(d, job, rank);
	nr = ring_new(d);
	if (nr < 0)
		return nr;
	rank_set_ring(d, job, rank, (uint32_t)nr);
	return d->deliver->ring_fd[nr];
}

void deliver_rank_del(struct tribd *d, struct job *job, uint16_t rank)
{
	uint32_t nr = rank_ring(d, job, rank);

	if (!nr)
		return;
	/* Rows first, so that no program writes to the ring that goes. */
	rank_set_ring(d, job, rank, 0);
	ring_free(d, nr);
}

/* --- trees */

int deliver_tree_prepare(struct tribd *d, struct tree *t, bool adopted)
{
	struct delivery *dv;
	int err;

	if (t->kind != TREE_DEDICATED || !t->nlocal)
		return 0;
	dv = calloc(1, sizeof(*dv));
	if (!dv)
		return -ENOMEM;
	t->dedicated.deliver = dv;
	dv->cells_fd = adopted ? cells_adopt(d, t) : -ENOENT;
	if (dv->cells_fd < 0) {
		dv->cells_fd = cells_create(d, t);
		err = dv->cells_fd < 0 ? dv->cells_fd : cells_publish(d, t, dv->cells_fd);
		if (err)
			goto fail;
	} else {
		err = cells_trace(d, t, dv->cells_fd);
		if (err)
			goto fail;
		rings_adopt(d, t);
	}
	err = row_store(d, t);
	if (err)
		goto fail;
	t->row.deliver = t->id;
	return 0;
fail:
	log_error("tree %u: cannot make the cells for delivery: %s", t->id, strerror(-err));
	row_clear(d, t);
	delivery_free(t);
	return err;
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
	row_clear(d, t);
	delivery_free(t);
	t->row.deliver = TRIB_NONE;
}
