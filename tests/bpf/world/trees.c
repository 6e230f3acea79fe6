// SPDX-License-Identifier: BSD-2-Clause
/*
 * The trees of the test world with their faces and groups, as tribd would write
 * them, and the packets of their neighbours.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "world.h"

static void must(int rc, const char *what)
{
	if (!rc)
		return;
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

int port_of(int tree, int child)
{
	if (tree == ONEPORT)
		return 0;
	return child < 0 ? 3 : child % PORTS;
}

static struct addr address(int port, int host, int udp)
{
	struct addr a = {
		.mac = {2, 0, 0, 0, port, host},
		.port = udp,
	};

	if (w.v6) {
		memcpy(a.ip, (uint8_t[]){0xfd, 9, 0, port}, 4);
		a.ip[15] = host;
	} else {
		memcpy(a.ip + 10, (uint8_t[]){0xff, 0xff, 10, 9, port, host}, 6);
	}
	return a;
}

struct addr peer_of(int tree, int child)
{
	if (child < 0)
		return address(port_of(tree, child), 9, TRIB_UDP_PORT);
	return address(port_of(tree, child), 10 + child, TRIB_UDP_PORT_WORKER + child);
}

struct addr ourselves(int tree, int child)
{
	return address(port_of(tree, child), 1, TRIB_UDP_PORT);
}

struct trib_key world_job(void)
{
	return (struct trib_key){"a job of tests!"};
}

struct trib_key world_key(int tree, int child)
{
	struct trib_key key = world_job();

	if (child == -1)
		trib_key_down(&key, &key, tree);
	else
		trib_key_up(&key, &key, tree, child < 0 ? 0xffff : child);
	return key;
}

void world_sign(struct trib_hdr *h, const void *pay, int len, struct trib_key key)
{
	static uint32_t number;

	if (trib_auth_is_secret(h->type)) {
		h->auth = trib_key_secret(&key);
		return;
	}
	if (h->type < TRIB_T_JOIN)
		h->scale = htonl(++number);
	h->auth = trib_auth(&key, h, pay, len);
}

bool world_signed(const struct trib_hdr *h, int tree, int child)
{
	struct trib_key key = world_key(tree, child < 0 ? WE_UP : WE_DOWN);

	if (trib_auth_is_secret(h->type))
		return h->auth == trib_key_secret(&key);
	return h->scale && h->auth == trib_auth(&key, h, h + 1, 8 * h->bmwords);
}

static struct trib_peer peer_row(int tree, int child)
{
	struct addr a = peer_of(tree, child);
	struct trib_peer p = {
		.ifindex = w.ifindex[port_of(tree, child)],
		.port = htons(a.port),
		.rank = child < 0 ? 0xffff : child,
		.vlan = {htons(w.vlan[0]), htons(w.vlan[1])},
	};

	memcpy(p.addr, a.ip, 16);
	p.key = world_key(tree, child);
	p.auth = trib_key_secret(&p.key);
	return p;
}

/*
 * One member: its copies go to @peer, from this host's address, through its
 * port.
 */
static void add_member(int group, int slot, int tree, int child, bool up)
{
	struct addr to = peer_of(tree, child), from = ourselves(tree, child);
	int ifindex = w.ifindex[port_of(tree, child)];
	struct trib_rewrite_key key = {group, ifindex};
	struct trib_rewrite r = {
		.vlan = {htons(w.vlan[0]), htons(w.vlan[1])},
		.sport = htons(TRIB_UDP_PORT),
		.dport = htons(to.port),
		.up = up,
		.v6 = w.v6,
		.child = up ? UP_CHILD : 0,
	};
	struct trib_group g;

	r.key = world_key(tree, up ? WE_UP : WE_DOWN);
	r.auth = trib_key_secret(&r.key);
	memcpy(r.dmac, to.mac, 6);
	memcpy(r.smac, from.mac, 6);
	memcpy(r.saddr, from.ip, 16);
	memcpy(r.daddr, to.ip, 16);
	must(bpf_map_update_elem(w.rewrites, &key, &r, 0), "rewrites");
	must(bpf_map_lookup_elem(w.members, &group, &g), "members");
	g.ifindex[slot] = ifindex;
	g.n = slot + 1;
	must(bpf_map_update_elem(w.members, &group, &g, 0), "members");
}

/*
 * Groups that have a devmap. They are kept from world to world: their entries
 * never change, and an update of a map in a map waits for all CPUs.
 */
static bool mapped[TREES_MAX * 3];

/* Write the devmap of a group, from its members. */
void groups_forget(void)
{
	memset(mapped, 0, sizeof(mapped));
}

static void map_group(int group)
{
	struct bpf_devmap_val val;
	struct trib_group g;
	int fd;

	if (mapped[group])
		return;
	mapped[group] = true;
	must(bpf_map_lookup_elem(w.members, &group, &g), "members");
	fd = bpf_map_create(BPF_MAP_TYPE_DEVMAP, "group", 4, sizeof(val), g.n, NULL);
	must(fd < 0, "devmap");
	for (uint32_t i = 0; i < g.n; i++) {
		val.ifindex = g.ifindex[i];
		val.bpf_prog.fd = w.egress;
		must(bpf_map_update_elem(fd, &i, &val, 0), "devmap entry");
	}
	must(bpf_map_update_elem(w.groups, &group, &fd, 0), "groups");
	close(fd);
}

void group_unmap(int group)
{
	must(bpf_map_delete_elem(w.groups, &group), "groups");
	mapped[group] = false;
}

static void make_groups(int tree, int nchild, bool parent)
{
	struct trib_group none = {};
	int n = 0;

	for (int g = DOWN(tree); g <= UP(tree); g++)
		must(bpf_map_update_elem(w.members, &g, &none, 0), "members");
	for (; n < nchild && n < PORTS; n++) {
		add_member(DOWN(tree), n, tree, n, false);
		add_member(ALL(tree), n, tree, n, false);
		if (tree == ONEPORT)
			break;
	}
	if (parent) {
		add_member(UP(tree), 0, tree, -1, true);
		map_group(UP(tree));
		if (tree == ONEPORT) {
			map_group(DOWN(tree));
			return;
		}
		add_member(ALL(tree), n, tree, -1, true);
	}
	if (nchild) {
		map_group(DOWN(tree));
		map_group(ALL(tree));
	}
}

static void make_tree(int tree, int nchild, int flags, int deliver)
{
	bool parent = !(flags & TRIB_TREE_ROOT);
	struct trib_key down = world_key(tree, WE_DOWN);
	struct trib_tree t = {
		.auth = trib_key_secret(&down),
		.epoch = EPOCH,
		.job = JOB,
		.flags = TRIB_TREE_USED | flags | (w.v6 ? TRIB_TREE_V6 : 0),
		.nchild = nchild,
		.full = (1ULL << nchild) - 1,
		.slot0 = tree * SLOTS,
		.slot_mask = SLOTS - 1,
		.down = nchild ? DOWN(tree) : TRIB_NONE,
		.all = tree == ONEPORT ? TRIB_NONE
		       : parent	       ? ALL(tree)
				       : DOWN(tree),
		.up = parent ? UP(tree) : TRIB_NONE,
		.deliver = deliver,
		.up_child = UP_CHILD,
		.window = WINDOW,
		.world = 3,
	};

	for (int i = 0; i < nchild; i++)
		t.child[i] = peer_row(tree, i);
	if (parent)
		t.parent = peer_row(tree, -1);
	tree_put(tree, &t);
	make_groups(tree, nchild, parent);
}

void tree_get(int tree, struct trib_tree *t)
{
	must(bpf_map_lookup_elem(w.trees, &tree, t), "trees");
}

void tree_put(int tree, const struct trib_tree *t)
{
	must(bpf_map_update_elem(w.trees, &tree, t, 0), "trees");
}

static void empty(int fd, int n, int size)
{
	static uint64_t zero[64 * 16 + sizeof(struct trib_slot)];

	must(size > (int)sizeof(zero), "size");
	for (int i = 0; i < n; i++)
		must(bpf_map_update_elem(fd, &i, zero, 0), "update");
}

void world_reset_as(bool v6, uint16_t vlan0, uint16_t vlan1)
{
	struct trib_deliver d = {.cell_mask = SLOTS - 1, .nrank = 1, .ring = {1}};

	w.v6 = v6;
	w.vlan[0] = vlan0;
	w.vlan[1] = vlan1;
	empty(w.slots, w.nslots, 64 + 4 * w.nval);
	empty(w.trees, TREES_MAX, sizeof(struct trib_tree));
	empty(w.lag, TREES_MAX, sizeof(struct trib_lag));
	empty(w.counts, TREES_MAX, sizeof(struct trib_count));
	empty(w.stats, 1, sizeof(struct trib_stats) * libbpf_num_possible_cpus());
	cells_empty(w.cell_memory);
	for (int i = 0; i < PORTS; i++) {
		struct bpf_devmap_val val = {.ifindex = w.ifindex[i]};

		val.bpf_prog.fd = w.egress;
		must(bpf_map_update_elem(w.ports, &w.ifindex[i], &val, 0), "ports");
	}
	make_tree(ROOT, 3, TRIB_TREE_ROOT, 0);
	make_tree(INNER, 2, 0, 0);
	make_tree(LEAF, 0, TRIB_TREE_LEAF, 1);
	make_tree(HOST, 3, TRIB_TREE_ROOT, 1);
	make_tree(ONEPORT, 2, 0, 0);
	must(bpf_map_update_elem(w.delivers, &(int){1}, &d, 0), "delivers");
}

void world_reset(void)
{
	world_reset_as(false, 0, 0);
}

struct trib_hdr header(int type, int tree, int child, uint32_t chunk)
{
	struct trib_hdr h = {
		.version = TRIB_WIRE_VERSION,
		.type = type,
		.flags = child < 0 ? 0 : TRIB_F_UP,
		.job = htons(JOB),
		.tree = htons(tree),
		.child = htons(child < 0 ? 0 : child),
		.chunk = htonl(chunk),
		.epoch = htonl(EPOCH),
	};

	return h;
}

struct link link_of(int tree, int child)
{
	struct link l = {
		.from = peer_of(tree, child),
		.to = ourselves(tree, child),
		.vlan = {w.vlan[0], w.vlan[1]},
		.tpid = {w.vlan[1] ? 0x88a8 : 0x8100, 0x8100},
		.tos = 0xba, /* any class, with ECT(0) */
		.v6 = w.v6,
	};

	l.from.port = 40000; /* UDP port of an ordinary socket */
	return l;
}

void frame_of(struct frame *f, int tree, int child, struct trib_hdr h, const void *pay, int len)
{
	struct link l = link_of(tree, child);

	world_sign(&h, pay, len, world_key(tree, child));
	frame_build(f, &l, &h, pay, len);
}

/* Write the values of a packet: the words of @nval units, then padding. */
static int fill(uint64_t *v, int nval, uint64_t word)
{
	int len = trib_payload_len(nval);

	memset(v, 0, len);
	for (int i = 0; i < (nval + 1) / 2; i++)
		v[i] = word;
	return len;
}

static void frame_values(struct frame *f, int type, int tree, int child, uint32_t chunk, int nval,
			 uint64_t word)
{
	struct trib_hdr h = header(type, tree, child, chunk);
	uint64_t v[NVAL_MAX / 2];
	int len = fill(v, nval, word);

	h.fmt = TRIB_FMT_Q32;
	h.nval = htons(nval);
	if (!nval && type == TRIB_T_GRAD)
		h.flags |= TRIB_F_EMPTY;
	frame_of(f, tree, child, h, v, len);
}

void frame_grad(struct frame *f, int tree, int child, uint32_t chunk, int nval, uint64_t word)
{
	frame_values(f, TRIB_T_GRAD, tree, child, chunk, nval, word);
}

void frame_floats(struct frame *f, int tree, int child, uint32_t chunk, int fmt, int nval,
		  const void *v)
{
	struct trib_hdr h = header(TRIB_T_GRAD, tree, child, chunk);

	h.fmt = fmt;
	h.nval = htons(nval);
	if (!nval)
		h.flags |= TRIB_F_EMPTY;
	frame_of(f, tree, child, h, v, trib_payload_len(nval));
}

void frame_result(struct frame *f, int tree, int child, uint32_t chunk, int nval, uint64_t word)
{
	frame_values(f, TRIB_T_RESULT, tree, child, chunk, nval, word);
}

void frame_need(struct frame *f, int tree, int child, uint32_t chunk, uint64_t seen)
{
	struct trib_hdr h = header(TRIB_T_NEED, tree, child, chunk);

	h.bmwords = 1;
	seen = htobe64(seen);
	frame_of(f, tree, child, h, &seen, 8);
}
