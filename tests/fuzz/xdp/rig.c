// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loading the object, building the trees as tribd would, and running frames.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <endian.h>
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "rig.h"

struct rig rig;

static struct bpf_object *obj;
static int fd_xdp, fd_grow, fd_send, fd_egress;
static int fd_stats, fd_groups, fd_members, fd_rewrites, fd_ports;
static struct ring_buffer *rings;
static struct rig_record records[256];
static int nrecord;
static struct trib_tree fresh_trees[T__MAX];
static struct trib_deliver fresh_delivers[T__MAX];

/* The trees; a tree that delivers has the deliver row of its number. */
static const struct kind {
	uint8_t flags;
	uint8_t nchild;
	bool deliver;
	uint16_t vlan[2];
} kinds[T__MAX] = {
	[T_ROOT] = {TRIB_TREE_ROOT, 3, false, {}},
	[T_INNER] = {0, 2, false, {}},
	[T_LEAF] = {TRIB_TREE_LEAF, 0, true, {}},
	[T_HOST] = {TRIB_TREE_ROOT, 2, true, {}},
	[T_ONEPORT] = {0, 2, false, {}},
	[T_ROOT6] = {TRIB_TREE_ROOT | TRIB_TREE_V6, 2, false, {5}},
	[T_INNER6] = {TRIB_TREE_V6, 2, true, {100, 4094}},
	[T_LEAF6] = {TRIB_TREE_LEAF | TRIB_TREE_V6, 0, true, {5}},
	[T_WIDE] = {TRIB_TREE_ROOT, 64, false, {}},
	[T_GENERIC] = {0, 2, true, {}},
	[T_DEADEND] = {TRIB_TREE_ROOT, 2, false, {}},
	[T_PAUSED] = {TRIB_TREE_ROOT, 2, false, {}},
	[T_DEAF] = {TRIB_TREE_LEAF, 0, false, {}},
	[T_LOCAL] = {0, 2, true, {}},
	[T_CHAIN] = {0, 1, true, {}},
	[T_POOL] = {TRIB_TREE_SHARED, 3, false, {}},
	[T_POOL6] = {TRIB_TREE_SHARED | TRIB_TREE_V6, 3, false, {5}},
	[T_POOLG] = {TRIB_TREE_SHARED, 3, false, {}},
	[T_REFLEX] = {TRIB_TREE_LEAF, 0, true, {}},
	[T_SOCKET] = {TRIB_TREE_LEAF | TRIB_TREE_SOCKET | TRIB_TREE_V6, 0, true, {5}},
};

static void die(const char *what)
{
	fprintf(stderr, "Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static void must(int rc, const char *what)
{
	if (rc < 0)
		die(what);
}

static void make_ports(void)
{
	char text[256], name[16];

	if (unshare(CLONE_NEWNET)) {
		printf("1..0 # SKIP needs root, for a network namespace\n");
		exit(4);
	}
	must(-system("echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6"), "disable_ipv6");
	for (int i = 0; i < PORTS; i++) {
		snprintf(text, sizeof(text),
			 "ip link add p%d mtu 3500 type veth peer name q%d "
			 "mtu 3500 && ip link set p%d up arp off && "
			 "ip link set q%d up arp off",
			 i, i, i, i);
		must(-system(text), text);
		snprintf(name, sizeof(name), "p%d", i);
		rig.ifindex[i] = if_nametoindex(name);
	}
}

static struct bpf_map *map(const char *name)
{
	struct bpf_map *m = bpf_object__find_map_by_name(obj, name);

	if (!m)
		die(name);
	return m;
}

static int prog(const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(obj, name);

	if (!p)
		die(name);
	return bpf_program__fd(p);
}

static void *map_memory(int fd, size_t len)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, (len + page - 1) / page * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       0);

	if (p == MAP_FAILED)
		die("mmap of a map");
	return p;
}

static void load(void)
{
	static const char *const memory[] = {"trees",	   "slots",	 "lag",	  "delivers",
					     "pool_slots", "pool_marks", "counts"};
	char path[256];
	const char *dir = getenv("TRIB_BPF_DIR");

	snprintf(path, sizeof(path), "%s/trib-%u.bpf.o", dir ? dir : TRIB_BPF_DIR, rig.nval);
	obj = bpf_object__open(path);
	if (!obj)
		die(path);
	for (int i = 0; i < 7; i++)
		must(bpf_map__set_map_flags(map(memory[i]), BPF_F_MMAPABLE), memory[i]);
	must(bpf_map__set_max_entries(map("trees"), T__MAX), "trees");
	must(bpf_map__set_max_entries(map("lag"), T__MAX), "lag");
	must(bpf_map__set_max_entries(map("counts"), T__MAX), "counts");
	must(bpf_map__set_max_entries(map("delivers"), T__MAX), "delivers");
	must(bpf_map__set_max_entries(map("cells"), T__MAX * TRIB_RINGS_MAX), "cells");
	must(bpf_map__set_max_entries(map("slots"), T__MAX * POOL), "slots");
	must(bpf_map__set_max_entries(map("groups"), NGROUPS), "groups");
	must(bpf_map__set_max_entries(map("members"), NGROUPS), "members");
	must(bpf_map__set_max_entries(map("pool_slots"), POOL_SLOTS), "slots");
	must(bpf_map__set_max_entries(map("pool_marks"), T__MAX * POOL), "marks");
	must(bpf_object__load(obj), "bpf_object__load");
	fd_xdp = prog("trib_xdp");
	fd_grow = prog("trib_grow");
	fd_send = prog("trib_send");
	fd_egress = prog("trib_egress");
	fd_stats = bpf_map__fd(map("stats"));
	fd_groups = bpf_map__fd(map("groups"));
	fd_members = bpf_map__fd(map("members"));
	fd_rewrites = bpf_map__fd(map("rewrites"));
	fd_ports = bpf_map__fd(map("ports"));
	rig.slot_size = 64 + 4 * rig.nval;
	rig.trees = map_memory(bpf_map__fd(map("trees")), T__MAX * sizeof(struct trib_tree));
	rig.slots = map_memory(bpf_map__fd(map("slots")), T__MAX * POOL * rig.slot_size);
	rig.lag = map_memory(bpf_map__fd(map("lag")), T__MAX * sizeof(struct trib_lag));
	rig.counts = map_memory(bpf_map__fd(map("counts")), T__MAX * sizeof(struct trib_count));
	rig.delivers =
		map_memory(bpf_map__fd(map("delivers")), T__MAX * sizeof(struct trib_deliver));
	rig.pslot_size = 192 + 4 * rig.nval;
	rig.pslots = map_memory(bpf_map__fd(map("pool_slots")), POOL_SLOTS * rig.pslot_size);
	rig.marks = map_memory(bpf_map__fd(map("pool_marks")), T__MAX * POOL * sizeof(uint64_t));
}

/* --- neighbours */

int rig_port(int tree, int child)
{
	if (tree == T_ONEPORT)
		return 0;
	return child < 0 ? 3 : child % PORTS;
}

static void address(int tree, int host, int port, uint8_t ip[16])
{
	memset(ip, 0, 16);
	if (kinds[tree].flags & TRIB_TREE_V6) {
		ip[0] = 0xfd;
		ip[7] = port;
		ip[14] = tree;
		ip[15] = host;
		return;
	}
	memcpy(ip + 10, (uint8_t[]){0xff, 0xff, 10, tree, port, host}, 6);
}

void rig_local(int tree, int port, uint8_t ip[16])
{
	address(tree, 1, port, ip);
}

struct trib_key rig_key(int tree, int who)
{
	struct trib_key key = {"a job of tests!"};

	if (who == KEY_DOWN)
		trib_key_down(&key, &key, tree);
	else
		trib_key_up(&key, &key, tree, who == KEY_RELAY ? 0xffff : who);
	return key;
}

static void fill_peer(struct trib_peer *p, int tree, int child)
{
	int port = rig_port(tree, child);

	p->ifindex = rig.ifindex[port];
	p->port = htons(child < 0 ? TRIB_UDP_PORT : TRIB_UDP_PORT_WORKER + child);
	/* The third neighbour of shared trees is a relay. */
	p->rank = child < 0 || ((T_SHARED >> tree & 1) && child == 2) ? 0xffff : child;
	p->key = rig_key(tree, child < 0 ? KEY_DOWN : p->rank == 0xffff ? KEY_RELAY : child);
	p->auth = trib_key_secret(&p->key);
	address(tree, child < 0 ? 9 : 10 + child, port, (uint8_t *)p->addr);
	p->vlan[0] = htons(kinds[tree].vlan[0]);
	p->vlan[1] = htons(kinds[tree].vlan[1]);
}

static void fill_tree(struct trib_tree *t, int tree)
{
	struct trib_key down = rig_key(tree, KEY_DOWN);
	const struct kind *k = &kinds[tree];
	bool root = k->flags & TRIB_TREE_ROOT;

	t->auth = trib_key_secret(&down);
	t->epoch = tree == T_PAUSED ? 0 : 1;
	t->job = JOB + (tree == T_POOL6);
	t->flags = TRIB_TREE_USED | k->flags;
	t->nchild = k->nchild;
	t->full = k->nchild < 64 ? (1ULL << k->nchild) - 1 : ~0ULL;
	t->slot0 = tree * POOL;
	t->slot_mask = POOL - 1;
	t->down = k->nchild && tree != T_LOCAL ? GROUP_DOWN(tree) : TRIB_NONE;
	t->all = root		     ? t->down
		 : tree == T_ONEPORT ? TRIB_NONE
		 : k->nchild	     ? GROUP_ALL(tree)
				     : TRIB_NONE;
	t->up = root ? TRIB_NONE : GROUP_UP(tree);
	t->deliver = k->deliver ? tree : TRIB_NONE;
	t->up_child = 2;
	t->window = WINDOW;
	t->port = htons(TRIB_UDP_PORT_WORKER + 2);
	t->world = k->flags & TRIB_TREE_SHARED ? 60 : 3;
	if (!root)
		fill_peer(&t->parent, tree, -1);
	for (int i = 0; i < k->nchild; i++)
		fill_peer(&t->child[i], tree, i);
}

/* --- groups */

static void add_member(struct trib_group *g, int group, int tree, int child)
{
	const struct trib_peer *p =
		child < 0 ? &fresh_trees[tree].parent : &fresh_trees[tree].child[child];
	struct trib_rewrite_key key = {group, p->ifindex};
	uint32_t last = g->n ? g->ifindex[g->n - 1] : 0;
	struct trib_rewrite r = {
		.dmac = {2, 0, tree, 0, 0, child},
		.smac = {2, 1, tree, 0, 0, child},
		.vlan = {p->vlan[0], p->vlan[1]},
		.sport = htons(TRIB_UDP_PORT),
		.dport = p->port,
		.up = kinds[tree].flags & TRIB_TREE_SHARED
			      ? child >= 0 ? TRIB_REWRITE_PASS : TRIB_REWRITE_NEXT
		      : child >= 0 ? TRIB_REWRITE_DOWN
				   : TRIB_REWRITE_UP,
		.key = rig_key(tree, child < 0 ? KEY_RELAY : KEY_DOWN),
		.v6 = !!(kinds[tree].flags & TRIB_TREE_V6),
		.child = child < 0 ? 2 : 0,
	};

	/* Without devmaps a port may have several members in a row. */
	if (tree == T_GENERIC && last == p->ifindex)
		key.group |= 1 << TRIB_NTH_SHIFT;
	for (uint32_t i = 0; i < g->n; i++)
		if (g->ifindex[i] == p->ifindex && key.group == (uint32_t)group)
			return;
	r.auth = trib_key_secret(&r.key);
	memcpy(r.daddr, p->addr, 16);
	address(tree, 1, rig_port(tree, child), (uint8_t *)r.saddr);
	must(bpf_map_update_elem(fd_rewrites, &key, &r, 0), "rewrites");
	g->ifindex[g->n++] = p->ifindex;
}

static void put_group(int group, const struct trib_group *g, bool devmap)
{
	struct bpf_devmap_val val;
	int fd;

	rig.nmember[group] = g->n;
	must(bpf_map_update_elem(fd_members, &group, g, 0), "members");
	if (!g->n || !devmap)
		return;
	fd = bpf_map_create(BPF_MAP_TYPE_DEVMAP, "group", 4, sizeof(val), g->n, NULL);
	must(fd, "devmap");
	for (uint32_t i = 0; i < g->n; i++) {
		val.ifindex = g->ifindex[i];
		val.bpf_prog.fd = fd_egress;
		must(bpf_map_update_elem(fd, &i, &val, 0), "devmap entry");
	}
	must(bpf_map_update_elem(fd_groups, &group, &fd, 0), "groups");
	close(fd);
	rig.mapped[group] = true;
}

static void make_groups(int tree)
{
	struct trib_group down = {}, all = {}, up = {};
	const struct trib_tree *t = &fresh_trees[tree];
	bool devmap = tree != T_GENERIC && tree != T_POOLG;

	if (tree == T_DEADEND || tree == T_LOCAL)
		down.n = 0;
	else
		for (int i = 0; i < t->nchild; i++) {
			add_member(&down, GROUP_DOWN(tree), tree, i);
			add_member(&all, GROUP_ALL(tree), tree, i);
		}
	if (tree == T_GENERIC) {
		add_member(&down, GROUP_DOWN(tree), tree, t->nchild - 1);
		add_member(&all, GROUP_ALL(tree), tree, t->nchild - 1);
	}
	if (!(t->flags & TRIB_TREE_ROOT)) {
		add_member(&up, GROUP_UP(tree), tree, -1);
		add_member(&all, GROUP_ALL(tree), tree, -1);
	}
	put_group(GROUP_DOWN(tree), &down, devmap);
	put_group(GROUP_UP(tree), &up, devmap);
	if (tree != T_ONEPORT)
		put_group(GROUP_ALL(tree), &all, devmap);
}

/* --- delivery */

static int on_record(void *ctx, void *data, size_t len)
{
	if (nrecord < (int)(sizeof(records) / sizeof(records[0])) &&
	    len == sizeof(struct trib_event)) {
		records[nrecord].ring = (uintptr_t)ctx;
		memcpy(&records[nrecord++].ev, data, len);
	}
	return 0;
}

int rig_records(struct rig_record *out, int max)
{
	int n;

	nrecord = 0;
	must(ring_buffer__consume(rings), "rings");
	n = nrecord < max ? nrecord : max;
	memcpy(out, records, n * sizeof(*out));
	return n;
}

static void make_rings(void)
{
	int fd_rings = bpf_map__fd(map("rings"));

	for (uintptr_t i = 1; i <= RING_RANKS; i++) {
		int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, 4096, NULL);

		must(fd, "ring");
		must(bpf_map_update_elem(fd_rings, &(int){i}, &fd, 0), "rings");
		if (!rings)
			rings = ring_buffer__new(fd, on_record, (void *)i, NULL);
		else
			must(ring_buffer__add(rings, fd, on_record, (void *)i), "ring_buffer__add");
	}
}

static void make_reflex(struct trib_reflex *r, int tree)
{
	struct trib_key key = rig_key(tree, 1);

	r->auth = trib_key_secret(&key);
	address(tree, 33, 3, (uint8_t *)r->saddr);
	memcpy(r->smac, (uint8_t[]){2, 7, 7, 7, 7, tree}, 6);
	r->sport = htons(TRIB_UDP_PORT_WORKER + 1);
	r->dport = htons(TRIB_UDP_PORT);
	r->child = htons(1);
}

static void make_cells(int tree)
{
	struct bpf_map *inner = bpf_map__inner_map(map("cells"));
	struct bpf_map_create_opts o = {
		.sz = sizeof(o),
		.map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP,
		.btf_fd = bpf_object__btf_fd(obj),
		.btf_key_type_id = bpf_map__btf_key_type_id(inner),
		.btf_value_type_id = bpf_map__btf_value_type_id(inner),
	};
	bool only = tree == T_LEAF6 || tree == T_REFLEX;

	for (int i = 0; i < (only ? 1 : RING_RANKS); i++) {
		int row = TRIB_CELLS_ROW(tree, i);
		int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "cells_inner", 4, rig.slot_size,
					CELLS + 1, &o);

		must(fd, "cells");
		must(bpf_map_update_elem(bpf_map__fd(map("cells")), &row, &fd, 0), "cells");
		rig.cells[tree][i] = map_memory(fd, rig_cells_size());
	}
	fresh_delivers[tree] = (struct trib_deliver){
		.cell_mask = CELLS - 1,
		.nrank = only ? 1 : RING_RANKS,
		.ring = {1, only || tree == T_GENERIC ? TRIB_NONE : 2},
		.host = tree == T_LOCAL,
	};
	for (int i = 0; tree == T_LOCAL && i < RING_RANKS; i++)
		fresh_delivers[tree].child[i] = RING_RANKS - 1 - i;
	if (only)
		make_reflex(&fresh_delivers[tree].reflex, tree);
}

/* --- shared trees */

int rig_rank(int tree, int i)
{
	int words = rig.pools[tree].bmwords;

	return i < 2 ? i : words * 64 - 4 + i;
}

static void make_face(int tree, int child)
{
	const struct trib_peer *p = &fresh_trees[tree].child[child];
	struct trib_pool_face key = {.tree = tree, .ifindex = p->ifindex}, own = {.tree = tree};
	struct trib_pool_local local = {};
	int fd = bpf_map__fd(map("pool_faces"));

	memcpy(key.addr, p->addr, 16);
	memcpy(key.vlan, p->vlan, sizeof(key.vlan));
	rig_local(tree, rig_port(tree, child), (uint8_t *)local.addr);
	memcpy(own.addr, local.addr, 16);
	if (p->rank == 0xffff)
		local.auth = p->auth;
	must(bpf_map_update_elem(fd, &key, &local, 0), "pool_faces");
	must(bpf_map_update_elem(fd, &own, &local, 0), "pool_faces");
}

static void make_pool(int tree)
{
	struct trib_pool *row = &rig.pools[tree];

	row->key = (struct trib_key){"a job of tests!"};
	row->relay = RELAY;
	row->next = NEXT;
	row->bmwords = tree == T_POOL ? 1 : tree == T_POOL6 ? 2 : 16;
	row->cap = tree == T_POOL6 ? 3 : 0;
	row->mark0 = tree * POOL;
	row->mark_mask = POOL - 1;
	row->table_mask = BUCKETS - 1;
	row->age_ns = 60000000000ULL;
	for (int i = 0; i < 3; i++) {
		int rank = rig_rank(tree, i);

		row->mask[rank / 64] |= htobe64(1ULL << rank % 64);
	}
	must(bpf_map_update_elem(bpf_map__fd(map("pools")), &tree, row, 0), "pools");
	for (int child = 0; child < kinds[tree].nchild; child++)
		make_face(tree, child);
}

static void make_pools(void)
{
	for (uint32_t i = 0; i < BUCKETS; i++) {
		rig.table[i] = i == BUCKETS - 1 ? ~0U : i % POOL_SLOTS;
		must(bpf_map_update_elem(bpf_map__fd(map("pool_table")), &i, &rig.table[i], 0),
		     "pool_table");
	}
	for (int tree = 0; tree < T__MAX; tree++)
		if (T_SHARED >> tree & 1)
			make_pool(tree);
}

static void make_answers(void)
{
	for (int i = 0; i < PORTS; i++) {
		struct bpf_devmap_val val = {.ifindex = rig.ifindex[i]};

		/* One port is as in generic mode. */
		if (i == 2)
			continue;
		val.bpf_prog.fd = fd_egress;
		must(bpf_map_update_elem(fd_ports, &rig.ifindex[i], &val, 0), "ports");
	}
}

void rig_open(void)
{
	const char *nval = getenv("FUZZ_NVAL");
	cpu_set_t one;

	/* Counters are per CPU. */
	CPU_ZERO(&one);
	rig.cpu = sched_getcpu();
	CPU_SET(rig.cpu, &one);
	must(sched_setaffinity(0, sizeof(one), &one), "affinity");
	rig.nval = nval ? atoi(nval) : TRIB_NVAL_SMALL;
	make_ports();
	load();
	make_rings();
	for (int tree = T_NONE + 1; tree < T__MAX; tree++) {
		fill_tree(&fresh_trees[tree], tree);
		make_groups(tree);
		if (kinds[tree].deliver)
			make_cells(tree);
	}
	make_answers();
	make_pools();
	rig_reset(~0U);
}

void rig_reset(uint32_t dirty)
{
	if (dirty & T_SHARED) {
		memset(rig.pslots, 0, POOL_SLOTS * rig.pslot_size);
		memset(rig.marks, 0, T__MAX * POOL * sizeof(uint64_t));
	}
	for (int tree = 0; tree < T__MAX; tree++) {
		if (!(dirty >> tree & 1))
			continue;
		rig.trees[tree] = fresh_trees[tree];
		rig.delivers[tree] = fresh_delivers[tree];
		memset(&rig.lag[tree], 0, sizeof(struct trib_lag));
		memset(&rig.counts[tree], 0, sizeof(struct trib_count));
		memset(rig_slot(tree * POOL), 0, POOL * rig.slot_size);
		for (int i = 0; i < RING_RANKS; i++)
			if (rig.cells[tree][i])
				memset(rig.cells[tree][i], 0, rig_cells_size());
	}
}

/* @meta: bytes of metadata in the output; NULL: there is none. */
static int run(int fd, struct frame *f, void *ctx, size_t ctx_size, const uint32_t *meta)
{
	static uint8_t out[sizeof(f->b)];
	struct bpf_test_run_opts o = {
		.sz = sizeof(o),
		.data_in = f->b,
		.data_size_in = f->len,
		.data_out = out,
		.data_size_out = sizeof(out),
		.ctx_in = ctx,
		.ctx_size_in = ctx_size,
		.ctx_out = ctx,
		.ctx_size_out = ctx_size,
	};
	int skip;

	must(bpf_prog_test_run_opts(fd, &o), "BPF_PROG_TEST_RUN");
	skip = meta ? *meta : 0;
	if (meta)
		memset(&rig.errand, 0, sizeof(rig.errand));
	if (skip == sizeof(rig.errand))
		memcpy(&rig.errand, out, sizeof(rig.errand));
	f->len = o.data_size_out - skip;
	memcpy(f->b, out + skip, f->len);
	return o.retval;
}

int rig_xdp(struct frame *f, uint32_t ifindex)
{
	struct xdp_md ctx = {.data_end = f->len, .ingress_ifindex = ifindex};

	return run(fd_xdp, f, &ctx, sizeof(ctx), &ctx.data);
}

int rig_grow(struct frame *f, uint32_t ifindex)
{
	struct __sk_buff ctx = {.ifindex = ifindex};

	return run(fd_grow, f, &ctx, sizeof(ctx), NULL);
}

int rig_send(struct frame *f, uint32_t ifindex)
{
	struct __sk_buff ctx = {.ifindex = ifindex, .cb = {rig.errand.arg[0], rig.errand.arg[1]}};

	return run(fd_send, f, &ctx, sizeof(ctx), NULL);
}

void rig_stats(uint64_t delta[TRIB_STAT__MAX])
{
	static uint64_t v[256][TRIB_STAT__MAX];
	static int ncpu;
	uint32_t row = 0;

	if (!ncpu)
		ncpu = libbpf_num_possible_cpus();
	if (ncpu > 256 || bpf_map_lookup_elem(fd_stats, &row, v))
		die("stats");
	for (int i = 0; i < TRIB_STAT__MAX; i++) {
		uint64_t sum = 0;

		for (int cpu = 0; cpu < ncpu; cpu++)
			sum += v[cpu][i];
		delta[i] = sum - rig.stats[i];
		rig.stats[i] = sum;
	}
}
