// SPDX-License-Identifier: BSD-2-Clause
/* Threads that run the drivers, one for each CPU. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "drive.h"
#include "tests/lib/mask_make.h"

static struct bpf_object *obj;
static atomic_int arrived;
static uint32_t epoch = EPOCH;

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

void drive_tree(int slots)
{
	struct trib_tree t;
	uint32_t zero = 0;

	tree_get(ROOT, &t);
	t.nchild = DRIVE_CHILDREN;
	t.full = (1 << DRIVE_CHILDREN) - 1;
	t.slot0 = zero;
	t.slot_mask = slots - 1;
	/* All packets come in at one port, from one address. */
	for (int i = 0; i < DRIVE_CHILDREN; i++)
		t.child[i] = t.child[0];
	tree_put(ROOT, &t);
}

static int map(const char *name)
{
	int fd = bpf_object__find_map_fd_by_name(w.obj, name);

	must(fd, name);
	return fd;
}

void drive_pool(int marks)
{
	struct trib_pool row = {
		.relay = 1,
		.next = 2,
		.bmwords = 1,
		.mark_mask = marks - 1,
		.table_mask = 1023,
		.mask = {htobe64((1 << DRIVE_CHILDREN) - 1)},
	};
	struct trib_pool_face face = {.tree = DRIVE_SHARED, .ifindex = w.ifindex[0]};
	int tree = DRIVE_SHARED;
	struct trib_tree t;

	tree_get(INNER, &t);
	t.flags |= TRIB_TREE_SHARED;
	t.world = DRIVE_CHILDREN;
	/* All ranks are behind one port, at one address, with one secret. */
	t.nchild = DRIVE_CHILDREN;
	for (int i = 0; i < DRIVE_CHILDREN; i++) {
		t.child[i] = t.child[0];
		t.child[i].rank = i;
	}
	tree_put(DRIVE_SHARED, &t);
	memcpy(face.addr, t.child[0].addr, 16);
	must(bpf_map_update_elem(map("pools"), &tree, &row, 0), "pools");
	must(bpf_map_update_elem(map("pool_faces"), &face, &(struct trib_pool_local){}, 0),
	     "pool_faces");
	for (uint32_t i = 0; i < 1024; i++)
		must(bpf_map_update_elem(map("pool_table"), &i, &(uint32_t){i % 64}, 0),
		     "pool_table");
}

static int prog(const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(obj, name);

	must(p ? 0 : -1, name);
	return bpf_program__fd(p);
}

static void attach(int ifindex, const char *name)
{
	must(bpf_xdp_attach(ifindex, prog(name), XDP_FLAGS_DRV_MODE, NULL), name);
}

void drive_open(uint32_t ahead, uint32_t end)
{
	uint32_t limits[2] = {ahead, end};
	struct bpf_map *map;
	char path[256];

	snprintf(path, sizeof(path), "%s/drive.bpf.o", TRIB_DRIVE_DIR);
	obj = bpf_object__open(path);
	must(obj ? 0 : -1, path);
	map = bpf_object__find_map_by_name(obj, ".rodata");
	must(map ? 0 : -1, ".rodata");
	must(bpf_map__set_initial_value(map, limits, sizeof(limits)) ? -1 : 0, "limits");
	must(bpf_object__load(obj) ? -1 : 0, "load of drive.bpf.o");
	drive_target(false);
	/*
	 * A test run of a program that is attached nowhere patches the kernel's
	 * XDP dispatcher first, which takes milliseconds: repeat within one
	 * run.
	 */
	attach(w.ifindex[0], "drive_chunks");
	attach(w.ifindex[1], "drive_children");
	attach(w.ifindex[2], "drive_values");
	attach(w.ifindex[3], "drive_shared");
	attach(w.peer_ifindex[0], "drive_masked");
}

void drive_close(void)
{
	bpf_object__close(obj);
}

void drive_target(bool nothing)
{
	int fd = nothing ? prog("drive_nothing") : w.xdp, zero = 0;

	must(bpf_map_update_elem(bpf_object__find_map_fd_by_name(obj, "target"), &zero, &fd, 0),
	     "target");
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Like frame_grad(), but with a bitmap, for the shared tree. */
static void frame_shared(struct frame *f)
{
	static uint64_t pay[1 + TRIB_NVAL_SMALL / 2];
	struct trib_hdr h = header(TRIB_T_GRAD, INNER, 0, 0);

	h.tree = htons(DRIVE_SHARED);
	h.bmwords = 1;
	h.relay = htons(1);
	h.fmt = TRIB_FMT_Q32;
	h.nval = htons(TRIB_NVAL_SMALL);
	frame_of(f, INNER, 0, h, pay, sizeof(pay));
}

/* Like frame_grad(), but with masks that differ from word to word. */
static void frame_masked(struct frame *f, uint8_t nm)
{
	static uint32_t pay[TRIB_NVAL_SMALL];
	struct trib_hdr h = header(TRIB_T_GRAD, ROOT, 0, 0);

	mask_words(pay, TRIB_NVAL_SMALL / TRIB_MASK_UNITS, nm, 1);
	h.flags |= TRIB_F_MASK;
	h.fmt = TRIB_FMT_I32;
	h.nm = nm;
	h.nval = htons(TRIB_NVAL_SMALL);
	frame_of(f, ROOT, 0, h, pay, trib_masked_len(TRIB_NVAL_SMALL, nm));
}

static void *drive_thread(void *arg)
{
	struct drive *d = arg;
	struct xdp_md ctx = {.ingress_ifindex = w.ifindex[0]};
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = &ctx, .ctx_size_in = sizeof(ctx),
		    .repeat = d->repeat);
	struct frame f;
	cpu_set_t set;
	uint32_t last;

	CPU_ZERO(&set);
	CPU_SET(d->cpu, &set);
	must(sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
	if (d->shared)
		frame_shared(&f);
	else if (d->nm)
		frame_masked(&f, d->nm);
	else
		frame_grad(&f, ROOT, 0, 0, TRIB_NVAL_SMALL, 1);
	frame_hdr(&f)->epoch = htonl(epoch);
	memset(f.b, 0, 4); /* the counter */
	f.b[4] = d->lane;
	f.b[5] = d->lanes;
	f.b[11] = d->nm;
	ctx.data_end = f.len;
	o.data_in = o.data_out = f.b;
	o.data_size_in = f.len;
	/*
	 * Spin instead of sleeping: both threads must be running when the clock
	 * starts.
	 */
	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&arrived) < d->threads)
		;
	d->ns = now_ns();
	do {
		last = d->count;
		o.data_size_out = sizeof(f.b);
		must(bpf_prog_test_run_opts(prog(d->name), &o), d->name);
		/* Behind the orders for trib_send, if the last packet got any. */
		memcpy(&d->count, f.b + (o.data_size_out - f.len), 4);
		if (d->until && d->count == last)
			sched_yield(); /* the other lane does not run */
	} while (d->until && d->count < d->until);
	d->ns = now_ns() - d->ns;
	return NULL;
}

/* All lanes start together. */
static void reset_progress(void)
{
	static const char zeros[256];
	int fd = bpf_object__find_map_fd_by_name(obj, ".bss"), key = 0;

	must(bpf_map_update_elem(fd, &key, zeros, 0), ".bss");
}

/* Free all slots again. */
static void new_epoch(void)
{
	struct trib_tree t;

	tree_get(ROOT, &t);
	t.epoch = ++epoch;
	tree_put(ROOT, &t);
}

void drive_run(struct drive *d, int n)
{
	pthread_t t[8];

	reset_progress();
	new_epoch();
	atomic_store(&arrived, 0);
	for (int i = 0; i < n && i < 8; i++)
		d[i].threads = n;
	for (int i = 0; i < n && i < 8; i++)
		must(pthread_create(&t[i], NULL, drive_thread, &d[i]) ? -1 : 0, "thread");
	for (int i = 0; i < n && i < 8; i++)
		pthread_join(t[i], NULL);
}
