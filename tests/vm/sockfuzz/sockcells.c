/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors for TRIB_SO_CELLS, right and wrong ones, and writes to the memory behind them
 * while sockets use it. Maps are made before processes give up their privileges.
 */
#include "sockops.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/vm/rig/stress.h"
#include "uapi/trib_cell.h"

/* A window that the hostile relay may name, and N. */
#define WINDOW 8
#define CELLS 32
#define CELL_BYTES (offsetof(struct trib_cell, v) + 4 * TRIB_NVAL_SMALL)

enum { ARRAY, RING, SHORT_ARRAY, SMALL_RING, HASH, MAPS };
static int maps[MAPS];
static uint8_t *cells;

static int map(uint32_t type, uint32_t key, uint32_t value, uint32_t n, uint32_t flags)
{
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key;
	attr.value_size = value;
	attr.max_entries = n;
	attr.map_flags = flags;
	fd = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	if (fd < 0)
		stress_complain("no map of type %u: %s", type, strerror(errno));
	return fd;
}

void chaos_cells_make(void)
{
	uint32_t flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP;

	maps[ARRAY] = map(BPF_MAP_TYPE_ARRAY, 4, CELL_BYTES, CELLS + 1, flags);
	maps[RING] = map(BPF_MAP_TYPE_RINGBUF, 0, 0, TRIB_RING_BYTES, 0);
	maps[SHORT_ARRAY] = map(BPF_MAP_TYPE_ARRAY, 4, CELL_BYTES, CELLS, flags);
	maps[SMALL_RING] = map(BPF_MAP_TYPE_RINGBUF, 0, 0, TRIB_RING_BYTES / 2, 0);
	maps[HASH] = map(BPF_MAP_TYPE_HASH, 4, 8, 8, 0);
	cells = mmap(NULL, (CELLS + 1) * CELL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		     maps[ARRAY], 0);
	if (cells == MAP_FAILED)
		stress_complain("cells cannot be mapped: %s", strerror(errno));
}

/* Write into cells that all sockets use at once, each as if it were alone. */
static void scribble(void)
{
	unsigned int n = 1 + chance_below(64);

	while (n--) {
		uint8_t *at = cells + chance_below(CELLS + 1) * CELL_BYTES;
		uint64_t *state = (uint64_t *)at;

		if (chance_one_in(2))
			*state = (*state & ~7ull) | chance_below(5);
		else
			at[chance_below(CELL_BYTES)] = (uint8_t)chance();
	}
}

/* A place with mapped delivery in which nothing is wrong. */
static size_t mapped_place(struct trib_attach_rep *rep, const struct rig_place *where)
{
	size_t len = rig_place(rep, where);

	rep->flags = TRIB_ATTACH_MAPPED;
	rep->window = WINDOW;
	rep->nval = TRIB_NVAL_SMALL;
	rep->ncell = CELLS;
	rep->tree[0].flags = chance_one_in(2) ? TRIB_ATTACH_REFLEX : 0;
	if (chance_one_in(2))
		rep->tree[0].recv_port = 0;
	return len;
}

static int any_fd(int good)
{
	return chance_one_in(8) ? chance_one_in(2) ? chaos_any() : maps[chance_below(MAPS)] : good;
}

long chaos_cells(void)
{
	static __thread struct trib_attach_rep rep;
	struct rig_place where = chaos_place();
	struct sockaddr_trib addr = rig_address(&where);
	struct trib_sock_cells c = {.ring = any_fd(maps[RING]), .cells = {any_fd(maps[ARRAY])}};
	size_t len = offsetof(struct trib_sock_cells, cells[1]), n;
	int fd = chaos_any();
	long rc;

	scribble();
	n = mapped_place(&rep, &where);
	if (!chance_one_in(8))
		setsockopt(fd, SOL_TRIB, TRIB_SO_PLACE, &rep, n);
	if (chance_one_in(16))
		len = chance_below(sizeof(c) + 8);
	rc = setsockopt(fd, SOL_TRIB, TRIB_SO_CELLS, chance_one_in(20) ? chaos_somewhere(len) : &c,
			len);
	if (!rc && !chance_one_in(4))
		bind(fd, (struct sockaddr *)&addr, sizeof(addr));
	return rc;
}
