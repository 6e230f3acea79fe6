// SPDX-License-Identifier: BSD-2-Clause
/* Arrays of cells and their rows: see cells.h. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cells.h"
#include "daemon/load/bpf_load.h"

#define COUNT_SMALL 1024u /* cells of an array, at most */
#define COUNT_LARGE 512u  /* the same in the large object, with larger cells */

#define CELLS_FLAGS (BPF_F_MMAPABLE | BPF_F_INNER_MAP)

uint32_t cells_size(const struct tribd *d)
{
	return (uint32_t)sizeof(struct trib_cell) + 4 * d->config.nval - 4 * TRIB_NVAL;
}

uint32_t cells_count(const struct tribd *d, unsigned int window, unsigned int ntree)
{
	uint32_t n = d->config.nval > TRIB_NVAL_SMALL ? COUNT_LARGE : COUNT_SMALL;
	uint32_t least = 2 * window > TRIB_CELLS_MIN ? 2 * window : TRIB_CELLS_MIN;

	while (n > least && (n + 1ull) * cells_size(d) * ntree > CELLS_BYTES_MAX)
		n /= 2;
	return n > least ? n : least;
}

/* The outer map takes only arrays whose BTF is like that of its template. */
int cells_make(struct tribd *d, uint32_t n)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = CELLS_FLAGS, );
	int key, fd;

	key = d->btf ? btf__find_by_name_kind(d->btf, "unsigned int", BTF_KIND_INT) : -ENOENT;
	opts.btf_value_type_id = bpf_btf_struct(d, "trib_cell");
	if (key > 0 && opts.btf_value_type_id) {
		opts.btf_fd = (uint32_t)btf__fd(d->btf);
		opts.btf_key_type_id = (uint32_t)key;
	} else {
		opts.btf_value_type_id = 0;
	}
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "trib_cells", sizeof(uint32_t), cells_size(d),
			    n + 1, &opts);
	return fd < 0 ? -errno : fd;
}

static int store_one_by_one(struct tribd *d, const uint32_t *row, const int *fd, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (bpf_map_update_elem(d->map[MAP_CELLS], &row[i], &fd[i], BPF_ANY))
			return -errno;
	return 0;
}

static int store(struct tribd *d, const uint32_t *row, const int *fd, unsigned int n)
{
	uint32_t done = n;

	if (!n || !bpf_map_update_batch(d->map[MAP_CELLS], row, fd, &done, NULL))
		return 0;
	return store_one_by_one(d, row, fd, n);
}

int cells_publish(struct tribd *d, const uint32_t *row, const int *fd, unsigned int n)
{
	int err = store(d, row, fd, n);
	unsigned int i;

	for (i = 0; err && i < n; i++)
		cells_clear(d, row[i]);
	return err;
}

void cells_take(struct tribd *d, const uint32_t *row, unsigned int n, int none)
{
	int fd[TRIB_ATTACH_TREES];
	unsigned int i, k;

	for (; n; n -= k, row += k) {
		k = n < TRIB_ATTACH_TREES ? n : TRIB_ATTACH_TREES;
		for (i = 0; i < k; i++)
			fd[i] = none;
		if (store(d, row, fd, k))
			log_error("map cells: %s: a rank that has left may still write there",
				  strerror(errno));
	}
}

/* Open the array at @row; -errno: none. */
static int cells_open(struct tribd *d, uint32_t row)
{
	uint32_t id;
	int fd;

	if (bpf_map_lookup_elem(d->map[MAP_CELLS], &row, &id))
		return -errno;
	fd = bpf_map_get_fd_by_id(id);
	return fd < 0 ? -errno : fd;
}

void cells_clear(struct tribd *d, uint32_t row)
{
	uint32_t id;

	/* To delete nothing takes as long. */
	if (!bpf_map_lookup_elem(d->map[MAP_CELLS], &row, &id))
		bpf_map_delete_elem(d->map[MAP_CELLS], &row);
}

bool cells_fit(struct tribd *d, uint32_t row, uint32_t n)
{
	struct bpf_map_info info = {0};
	uint32_t len = sizeof(info);
	int fd = cells_open(d, row), err;

	if (fd < 0)
		return false;
	err = bpf_obj_get_info_by_fd(fd, &info, &len);
	close(fd);
	return !err && info.type == BPF_MAP_TYPE_ARRAY && info.key_size == sizeof(uint32_t) &&
	       info.value_size == cells_size(d) && info.map_flags == CELLS_FLAGS &&
	       info.max_entries == n + 1;
}

uint64_t cells_carried(struct tribd *d, uint32_t row, uint32_t n)
{
	struct trib_desk *desk = calloc(1, cells_size(d));
	int fd = cells_open(d, row);
	uint64_t sum = 0;
	unsigned int i;

	if (desk && fd >= 0 && !bpf_map_lookup_elem(fd, &n, desk))
		for (i = 0; i < TRIB_DESK_CPUS; i++)
			sum += desk->cpu[i].carried;
	if (fd >= 0)
		close(fd);
	free(desk);
	return sum;
}
