// SPDX-License-Identifier: BSD-2-Clause
/* The network namespace with its ports, the loaded object, and test runs. */
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "ports.h"
#include "world.h"
#include <arpa/inet.h>

struct world w;

static int prog_fd(const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(w.obj, name);

	if (!p)
		die(name);
	return bpf_program__fd(p);
}

static int map_fd(const char *name)
{
	struct bpf_map *m = bpf_object__find_map_by_name(w.obj, name);

	if (!m)
		die(name);
	return bpf_map__fd(m);
}

static void set_size(const char *name, int n)
{
	struct bpf_map *m = bpf_object__find_map_by_name(w.obj, name);

	if (!m || bpf_map__set_max_entries(m, n))
		die(name);
}

static struct bpf_map_create_opts cell_opts = {
	.sz = sizeof(cell_opts),
	.map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP,
};

int world_cells(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "cells_inner", 4, 64 + w.nval * 4, SLOTS + 1,
				&cell_opts);

	if (fd < 0)
		die("cell array");
	return fd;
}

uint8_t *world_map_cells(int fd)
{
	size_t page = sysconf(_SC_PAGESIZE), len = (SLOTS + 1) * (64 + w.nval * 4);
	void *p = mmap(NULL, (len + page - 1) / page * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       0);

	if (p == MAP_FAILED)
		die("mmap of cells");
	return p;
}

static void make_inner(void)
{
	int row = TRIB_CELLS_ROW(1, 0);

	w.cell_array = world_cells();
	w.cell_memory = world_map_cells(w.cell_array);
	w.ring = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring_1", 0, 0, 4096, NULL);
	if (w.ring < 0)
		die("ring");
	if (bpf_map_update_elem(w.cells, &row, &w.cell_array, 0) ||
	    bpf_map_update_elem(w.rings, &(int){1}, &w.ring, 0))
		die("update of cells or rings");
}

/* Set sizes and .rodata before the object is loaded, as tribd does. */
static void set_kfuncs(void)
{
	struct bpf_map *m = bpf_object__find_map_by_name(w.obj, ".rodata");
	uint32_t on = w.kfuncs;

	if (!m || bpf_map__set_initial_value(m, &on, sizeof(on)))
		die(".rodata");
}

void world_open(int nval)
{
	const char *dir = getenv("TRIB_BPF_DIR");
	struct bpf_map *inner;
	char path[256];

	if (!w.ifindex[0])
		ports_make(PORTS, w.ifindex, w.peer_ifindex);
	snprintf(path, sizeof(path), "%s/trib-%d.bpf.o", dir ? dir : TRIB_BPF_DIR, nval);
	w.nval = nval;
	w.obj = bpf_object__open(path);
	if (!w.obj)
		die(path);
	set_size("trees", TREES_MAX);
	set_size("lag", TREES_MAX);
	set_size("counts", TREES_MAX);
	if (!w.nslots)
		w.nslots = TREES_MAX * SLOTS;
	set_size("slots", w.nslots);
	set_size("groups", TREES_MAX * 3);
	set_size("members", TREES_MAX * 3);
	set_kfuncs();
	inner = bpf_map__inner_map(bpf_object__find_map_by_name(w.obj, "cells"));
	cell_opts.btf_key_type_id = bpf_map__btf_key_type_id(inner);
	cell_opts.btf_value_type_id = bpf_map__btf_value_type_id(inner);
	if (bpf_object__load(w.obj))
		die("bpf_object__load");
	cell_opts.btf_fd = bpf_object__btf_fd(w.obj);
	w.xdp = prog_fd("trib_xdp");
	w.egress = prog_fd("trib_egress");
	w.grow = prog_fd("trib_grow");
	w.send = prog_fd("trib_send");
	w.pass = prog_fd("trib_pass");
	w.trees = map_fd("trees");
	w.slots = map_fd("slots");
	w.groups = map_fd("groups");
	w.ports = map_fd("ports");
	w.members = map_fd("members");
	w.rewrites = map_fd("rewrites");
	w.stats = map_fd("stats");
	w.lag = map_fd("lag");
	w.counts = map_fd("counts");
	w.delivers = map_fd("delivers");
	w.cells = map_fd("cells");
	w.rings = map_fd("rings");
	make_inner();
	world_reset();
}

void world_close(void)
{
	munmap(w.cell_memory, (SLOTS + 1) * (64 + w.nval * 4));
	close(w.cell_array);
	close(w.ring);
	bpf_object__close(w.obj);
	groups_forget();
}

static void run_opts(struct bpf_test_run_opts *o, struct frame *f, uint8_t *out)
{
	o->sz = sizeof(*o);
	o->data_in = f->b;
	o->data_size_in = f->len;
	o->data_out = out;
	o->data_size_out = FRAME_MAX;
}

/* @meta bytes of the output are metadata. */
static int take_out(struct frame *f, struct bpf_test_run_opts *o, const uint8_t *out, int meta)
{
	f->len = o->data_size_out - meta;
	memcpy(f->b, out + meta, f->len);
	frame_parse(f);
	return o->retval;
}

int run_xdp_at(const struct frame *f, int ifindex)
{
	struct xdp_md ctx = {.data_end = f->len, .ingress_ifindex = ifindex};
	uint8_t out[FRAME_MAX];
	struct bpf_test_run_opts o = {
		.sz = sizeof(o),
		.data_in = f->b,
		.data_size_in = f->len,
		.data_out = out,
		.data_size_out = sizeof(out),
		.ctx_in = &ctx,
		.ctx_size_in = sizeof(ctx),
	};

	if (bpf_prog_test_run_opts(w.xdp, &o))
		die("BPF_PROG_TEST_RUN of trib_xdp");
	return o.retval;
}

int run_xdp(struct frame *f, int port)
{
	struct xdp_md ctx = {.data_end = f->len, .ingress_ifindex = w.ifindex[port]};
	struct bpf_test_run_opts o = {};
	static uint8_t out[FRAME_MAX];

	run_opts(&o, f, out);
	o.ctx_in = &ctx;
	o.ctx_size_in = sizeof(ctx);
	o.ctx_out = &ctx;
	o.ctx_size_out = sizeof(ctx);
	if (bpf_prog_test_run_opts(w.xdp, &o))
		die("BPF_PROG_TEST_RUN of trib_xdp");
	memset(&w.errand, 0, sizeof(w.errand));
	if (ctx.data == sizeof(w.errand))
		memcpy(&w.errand, out, sizeof(w.errand));
	return take_out(f, &o, out, ctx.data);
}

static int run_skb(int prog, struct frame *f, int port)
{
	struct __sk_buff ctx = {.ifindex = w.ifindex[port],
				.cb = {w.errand.arg[0], w.errand.arg[1]}};
	struct bpf_test_run_opts o = {};
	static uint8_t out[FRAME_MAX];

	run_opts(&o, f, out);
	o.ctx_in = &ctx;
	o.ctx_size_in = sizeof(ctx);
	if (bpf_prog_test_run_opts(prog, &o))
		die("BPF_PROG_TEST_RUN of a clsact program");
	return take_out(f, &o, out, 0);
}

int run_grow(struct frame *f, int port)
{
	return run_skb(w.send, f, port);
}

int run_clsact(struct frame *f, int port)
{
	return run_skb(w.grow, f, port);
}

int run_grad(struct frame *f, int tree, int child, uint32_t chunk, int nval, uint64_t word)
{
	frame_grad(f, tree, child, chunk, nval, word);
	return run_xdp(f, port_of(tree, child));
}

uint64_t stat_of(int id)
{
	static uint64_t v[64][TRIB_STAT__MAX];
	int n = libbpf_num_possible_cpus(), row = 0;
	uint64_t sum = 0;

	if (n > 64 || bpf_map_lookup_elem(w.stats, &row, v))
		die("stats");
	for (int i = 0; i < n; i++)
		sum += v[i][id];
	return sum;
}

int the_drop(void)
{
	int found = -1;

	for (int i = TRIB_DROP_SHORT; i < TRIB_STAT__MAX; i++) {
		if (!stat_of(i))
			continue;
		if (found >= 0 || stat_of(i) != 1)
			return -2;
		found = i;
	}
	return found;
}

static int slot_key(int tree, uint32_t chunk)
{
	return tree * SLOTS + chunk % SLOTS;
}

struct trib_slot *slot_of(int tree, uint32_t chunk)
{
	static struct trib_slot s;
	int key = slot_key(tree, chunk);

	if (bpf_map_lookup_elem(w.slots, &key, &s))
		die("slots");
	return &s;
}

void slot_put(int tree, uint32_t chunk, const struct trib_slot *s)
{
	int key = slot_key(tree, chunk);

	if (bpf_map_update_elem(w.slots, &key, s, 0))
		die("slots");
}

struct trib_cell *cell_in(uint8_t *memory, uint32_t chunk)
{
	return (struct trib_cell *)(memory + chunk % SLOTS * (64 + w.nval * 4));
}

struct trib_cell *cell_of(uint32_t chunk)
{
	return cell_in(w.cell_memory, chunk);
}

struct trib_desk *desk_in(uint8_t *memory)
{
	return (struct trib_desk *)(memory + SLOTS * (64 + w.nval * 4));
}

struct trib_desk *desk(void)
{
	return desk_in(w.cell_memory);
}

void cell_set(uint32_t chunk, enum trib_cell_state state)
{
	cell_of(chunk)->state = TRIB_CELL(EPOCH, chunk, state);
}

bool cell_is(uint32_t chunk, enum trib_cell_state state)
{
	return cell_of(chunk)->state == TRIB_CELL(EPOCH, chunk, state);
}

void cell_shape(struct trib_cell *c, uint8_t op, uint8_t fmt, int32_t scale)
{
	/* An empty contribution has results of any length. */
	c->h.flags = TRIB_F_UP | TRIB_F_EMPTY;
	c->h.op = op;
	c->h.fmt = fmt;
	c->h.nval = 0;
	c->h.scale = htonl((uint32_t)scale);
}

void cells_empty(uint8_t *memory)
{
	memset(memory, 0, (SLOTS + 1) * (64 + w.nval * 4));
	for (uint32_t i = 0; i < SLOTS; i++) {
		cell_in(memory, i)->state = TRIB_CELL(EPOCH, i, TRIB_CELL_SENT);
		cell_shape(cell_in(memory, i), TRIB_WOP_ADD, TRIB_FMT_Q32, 0);
	}
}

bool ordered(struct frame *f, int type, int group)
{
	int made = (int)(w.errand.arg[1] >> 8);

	return w.errand.magic == TRIB_ERRAND && (int)w.errand.arg[0] == group &&
	       (made ? made : frame_hdr(f)->type) == type;
}

int group_of(const struct frame *f)
{
	uint32_t group;

	if (f->b[6] != 0x03 || f->b[7] != 0x54)
		return -1;
	memcpy(&group, f->b + 8, 4);
	return group;
}
