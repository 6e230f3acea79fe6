// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads the NDN forwarder, fills its maps, runs frames through it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "ndn_world.h"
#include "tests/bpf/world/ports.h"

struct ndn_world nw = {.npit = 1024, .nnonces = 8192, .nshared = 256};

int ndn_map(const char *name)
{
	int fd = bpf_object__find_map_fd_by_name(nw.obj, name);

	if (fd < 0)
		die(name);
	return fd;
}

static int prog(const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(nw.obj, name);

	if (!p)
		die(name);
	return bpf_program__fd(p);
}

static void put(const char *map, const void *key, const void *value)
{
	if (bpf_map_update_elem(ndn_map(map), key, value, 0))
		die(map);
}

static void set_size(const char *name, int n)
{
	struct bpf_map *m = bpf_object__find_map_by_name(nw.obj, name);

	if (!m || bpf_map__set_max_entries(m, n))
		die(name);
}

/* Write the ports to the devmaps. */
static void put_ports(void)
{
	struct bpf_devmap_val val = {.bpf_prog.fd = nw.egress};

	for (int i = 0; i < NPORTS; i++) {
		val.ifindex = nw.ifindex[i];
		put("ndn_ports", &nw.ifindex[i], &val);
		put("ndn_out", &i, &val);
		put("ndn_first", &nw.ifindex[i], &(uint32_t){i + 1});
	}
}

static void marker(int mark, const char *text)
{
	struct ndn_marker *m = &nw.config.marker[mark];

	m->len = strlen(text) + 2;
	m->tlv[0] = TRIB_NDN_GENERIC;
	m->tlv[1] = strlen(text);
	memcpy(m->tlv + 2, text, strlen(text));
}

static void make_config(void)
{
	uint64_t x = 1;

	nw.config = (struct ndn_config){
		.abi = NDN_ABI,
		.ncache = 64,
		.nnonces = nw.nnonces,
		.buckets = nw.buckets,
		.entries = nw.npit,
		.shared = nw.nshared,
		.lease_ns = LEASE,
		.leave_ns = LEAVE,
		.extra[0] = 1 << EXTRA,
	};
	marker(NDN_MARK_INSERT, TRIB_NDN_MARK_INSERT);
	marker(NDN_MARK_DISTRIBUTE, TRIB_NDN_MARK_DISTRIBUTE);
	marker(NDN_MARK_DELETE, TRIB_NDN_MARK_DELETE);
	for (int i = 0; i < NDN_NAME_WORDS; i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		nw.config.seed[i] = x ^ x >> 29;
	}
}

void ndn_configure(void)
{
	put("ndn_config", &(int){0}, &nw.config);
}

/* Map the rows of @map into memory. */
static void *map_rows(const char *map, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ndn_map(map), 0);

	if (p == MAP_FAILED)
		die(map);
	return p;
}

static void map_pit(void)
{
	size_t rows = (size_t)nw.buckets * NDN_WAYS;

	nw.tags = map_rows("ndn_tags", nw.buckets * sizeof(*nw.tags));
	nw.pit = map_rows("ndn_pit", rows * sizeof(*nw.pit));
	nw.more = map_rows("ndn_more", rows * sizeof(*nw.more));
}

void ndn_open(void)
{
	const char *dir = getenv("TRIB_BPF_DIR");
	char path[256];

	if (!nw.ifindex[0])
		ports_make(NPORTS, nw.ifindex, nw.peer);
	snprintf(path, sizeof(path), "%s/ndn.bpf.o", dir ? dir : TRIB_BPF_DIR);
	nw.obj = bpf_object__open(path);
	if (!nw.obj)
		die(path);
	nw.buckets = ndn_buckets(nw.npit);
	set_size("ndn_tags", nw.buckets);
	set_size("ndn_pit", nw.buckets * NDN_WAYS);
	set_size("ndn_more", nw.buckets * NDN_WAYS);
	set_size("ndn_nonces", nw.nnonces);
	set_size("ndn_asks", NDN_SEATS_SHARED + nw.nshared);
	set_size("ndn_seats", NDN_SEATS_SHARED + nw.nshared);
	set_size("ndn_taken", nw.nshared / 64);
	set_size("ndn_flights", NDN_FLIGHTS * libbpf_num_possible_cpus());
	if (bpf_object__load(nw.obj))
		die("bpf_object__load");
	nw.xdp = prog("ndn_xdp");
	nw.egress = prog("ndn_egress");
	nw.grow = prog("ndn_grow");
	nw.sweep = prog("ndn_sweep");
	nw.pass = prog("ndn_pass");
	/*
	 * Test runs of a program that is attached nowhere are slow: the kernel
	 * patches its XDP dispatcher each time.
	 */
	if (bpf_xdp_attach(nw.ifindex[0], nw.xdp, XDP_FLAGS_DRV_MODE, NULL))
		die("attaching ndn_xdp");
	map_pit();
	put_ports();
	ndn_reset(K_V4);
}

static void empty(const char *map, int key_size)
{
	int fd = ndn_map(map);
	uint8_t key[64];

	if (key_size > (int)sizeof(key))
		die(map);
	while (!bpf_map_get_next_key(fd, NULL, key))
		bpf_map_delete_elem(fd, key);
}

/* All rows of an array, by one system call. */
static void zero(const char *map, int rows, size_t value_size)
{
	uint32_t *keys = calloc((size_t)rows, sizeof(*keys)), count = (uint32_t)rows;
	void *values = calloc((size_t)rows, value_size);

	for (int i = 0; i < rows; i++)
		keys[i] = (uint32_t)i;
	if (bpf_map_update_batch(ndn_map(map), keys, values, &count, NULL))
		die(map);
	free(values);
	free(keys);
}

/* Has an Interest taken a seat since the last time? */
static bool seats_were_used(void)
{
	struct ndn_owner all;
	uint32_t row = 0;

	if (bpf_map_lookup_elem(ndn_map("ndn_owners"), &row, &all))
		die("ndn_owners");
	return all.number;
}

void ndn_empty(void)
{
	for (int i = 0; i < nw.buckets * NDN_WAYS; i++)
		nw.pit[i].flags = 0;
	memset(nw.tags, 0, nw.buckets * sizeof(*nw.tags));
	empty("ndn_asks", 8);
	if (seats_were_used()) {
		zero("ndn_asked", NDN_ASKED_PLACES, sizeof(uint32_t));
		zero("ndn_seats", NDN_SEATS_SHARED + nw.nshared, sizeof(struct ndn_seat));
		zero("ndn_taken", nw.nshared / 64, sizeof(uint64_t));
	}
	zero("ndn_owners", NDN_FACES, sizeof(struct ndn_owner));
}

int ndn_port_of(int face)
{
	return face > NPORTS ? NPORTS - 1 : face - 1;
}

static struct ndn_face make_face(int face, int kind)
{
	int port = ndn_port_of(face);
	struct ndn_face f = {
		.flags = NDN_FACE_USED,
		.ifindex = nw.ifindex[port],
		.max = 3500,
		.dmac = {2, 0, 0, 0, face, 2},
		.smac = {2, 0, 0, 0, port, 1},
		.vlan = kind & K_VLAN ? htons(40 + port) : 0,
		.sport = htons(TRIB_NDN_UDP_PORT),
		.dport = htons(7000 + face),
	};

	if (face == UP)
		f.flags |= NDN_FACE_SUBSCRIBE | NDN_FACE_WRITE;
	else
		f.flags |= NDN_FACE_HOST;
	if (kind & K_ETHER) {
		f.flags |= NDN_FACE_ETHER;
		f.dport = 0;
		return f;
	}
	if (kind & K_V6) {
		f.flags |= NDN_FACE_V6;
		f.saddr[0] = f.daddr[0] = htonl(0xfd000000 + port);
		f.saddr[3] = htonl(1);
		f.daddr[3] = htonl(face + 1);
	} else {
		f.saddr[3] = htonl(0x0a090001 + (port << 8));
		f.daddr[3] = htonl(0x0a090001 + (port << 8) + face);
	}
	return f;
}

static struct ndn_from from_of(const struct ndn_face *f)
{
	struct ndn_from from = {
		.ifindex = f->ifindex,
		.vlan = f->vlan,
		.port = f->dport,
	};
	uint32_t v4[4] = {0, 0, htonl(0xffff), f->daddr[3]};

	if (f->flags & NDN_FACE_ETHER)
		memcpy(from.addr, f->dmac, 6);
	else
		memcpy(from.addr, f->flags & NDN_FACE_V6 ? f->daddr : v4, 16);
	return from;
}

struct ndn_face ndn_face(int face)
{
	struct ndn_face f;

	if (bpf_map_lookup_elem(ndn_map("ndn_faces"), &face, &f))
		die("ndn_faces");
	return f;
}

void ndn_face_put(int face, const struct ndn_face *f)
{
	struct ndn_from from = from_of(f);

	put("ndn_faces", &face, f);
	put("ndn_from", &from, &(uint32_t){face});
}

void ndn_make_router(int face)
{
	struct ndn_face f = ndn_face(face);

	f.flags &= ~NDN_FACE_HOST;
	ndn_face_put(face, &f);
}

struct ndn_row_name ndn_row(const char *text)
{
	struct ndn_row_name row = {};
	struct ndn_name_buf buf;
	struct ndn_name name;
	int first = 0;

	if (ndn_name_parse(&buf, text))
		die(text);
	name = ndn_name_of(&buf);
	for (int i = NDN_MARK_DISTRIBUTE; i < NDN_MARK__MAX; i++)
		if (name.count && name.at[1] == nw.config.marker[i].len &&
		    !memcmp(name.value, nw.config.marker[i].tlv, name.at[1])) {
			row.mark = i;
			first = 1;
		}
	row.count = name.count - first;
	row.len = name.len - name.at[first];
	memcpy(row.value, name.value + name.at[first], row.len);
	return row;
}

uint64_t ndn_world_key(const struct ndn_row_name *name)
{
	return ndn_hash((const __u64 *)nw.config.seed, name);
}

void ndn_route(const char *prefix, int face)
{
	struct ndn_route r = {.face = face, .name = ndn_row(prefix)};
	uint64_t key = ndn_world_key(&r.name);

	put("ndn_fib", &key, &r);
	nw.config.fib_lens |= 1 << r.name.count;
	ndn_configure();
}

void ndn_right(int face, const char *prefix, uint32_t may)
{
	struct ndn_right r = {.may = may, .name = ndn_row(prefix)};
	struct ndn_right_key key = {ndn_world_key(&r.name), face};
	struct ndn_face f = ndn_face(face);

	put("ndn_rights", &key, &r);
	f.right_lens |= 1 << r.name.count;
	ndn_face_put(face, &f);
}

void ndn_reset(int kind)
{
	struct ndn_face f;

	empty("ndn_from", sizeof(struct ndn_from));
	empty("ndn_fib", 8);
	empty("ndn_rights", sizeof(struct ndn_right_key));
	ndn_empty();
	zero("ndn_nonces", nw.nnonces, sizeof(struct ndn_nonces));
	zero("ndn_cache", 64, sizeof(struct ndn_kept));
	zero("ndn_faces", NDN_FACES, sizeof(struct ndn_face));
	zero("ndn_stats", 1, sizeof(struct ndn_stats) * libbpf_num_possible_cpus());
	make_config();
	ndn_configure();
	for (int face = 1; face <= NFACES; face++) {
		f = make_face(face, kind);
		ndn_face_put(face, &f);
		if (face != UP)
			ndn_right(face, "/ps", NDN_MAY_SUBSCRIBE);
	}
	ndn_right(H1, "/gpu", NDN_MAY_WRITE);
	ndn_route("/ps", UP);
	ndn_route("/gpu", H1);
}

uint64_t ndn_stat(int id)
{
	static uint64_t v[1024][NDN_STAT__MAX];
	int n = libbpf_num_possible_cpus(), row = 0;
	uint64_t sum = 0;

	if (n > 1024 || bpf_map_lookup_elem(ndn_map("ndn_stats"), &row, v))
		die("ndn_stats");
	for (int i = 0; i < n; i++)
		sum += v[i][id];
	return sum;
}

int ndn_the_drop(void)
{
	int found = -1;

	for (int i = NDN_DROP_SHORT; i < NDN_STAT__MAX; i++)
		if (ndn_stat(i))
			found = found == -1 ? i : -2;
	return found;
}

struct ndn_owner ndn_owner(int face)
{
	struct ndn_owner o;

	if (bpf_map_lookup_elem(ndn_map("ndn_owners"), &face, &o))
		die("ndn_owners");
	return o;
}

int ndn_rows(const char *map)
{
	uint8_t key[64], next[64];
	int fd = ndn_map(map), n = 0;
	void *last = NULL;

	while (!bpf_map_get_next_key(fd, last, next)) {
		memcpy(key, next, sizeof(key));
		last = key;
		n++;
	}
	return n;
}

int ndn_entries(void)
{
	int n = 0;

	for (int i = 0; i < nw.buckets * NDN_WAYS; i++)
		n += nw.pit[i].flags & NDN_ENTRY_USED;
	return n;
}

/* Check that a tag leads to the row, too. */
int ndn_entry_row(const char *text)
{
	struct ndn_row_name want = ndn_row(text), name;
	uint64_t key = ndn_world_key(&want);

	for (int i = 0; i < 2 * NDN_WAYS; i++) {
		int bucket = ndn_bucket(key, nw.buckets, i / NDN_WAYS);
		int way = i % NDN_WAYS, row = bucket * NDN_WAYS + way;

		if (nw.tags[bucket].tag[way] != ndn_tag(key) ||
		    !(nw.pit[row].flags & NDN_ENTRY_USED))
			continue;
		ndn_entry_name(&nw.pit[row], &nw.more[row], &name);
		if (!memcmp(&name, &want, sizeof(name)))
			return row;
	}
	return -1;
}

static int run_prog(int fd, struct nframe *f, struct xdp_md *ctx)
{
	uint8_t out[NFRAME_MAX];
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = f->b, .data_size_in = f->len, .data_out = out,
		    .data_size_out = sizeof(out), .ctx_in = ctx, .ctx_size_in = sizeof(*ctx),
		    .ctx_out = ctx, .ctx_size_out = sizeof(*ctx));

	ctx->data_end = f->len;
	if (bpf_prog_test_run_opts(fd, &o))
		die("BPF_PROG_TEST_RUN");
	memset(&nw.errand, 0, sizeof(nw.errand));
	if (ctx->data == sizeof(nw.errand))
		memcpy(&nw.errand, out, sizeof(nw.errand));
	f->len = o.data_size_out - ctx->data;
	memcpy(f->b, out + ctx->data, f->len);
	return o.retval;
}

int ndn_run(struct nframe *f, int face)
{
	struct xdp_md ctx = {
		.ingress_ifindex = nw.ifindex[ndn_port_of(face)],
	};

	return run_prog(nw.xdp, f, &ctx);
}

void ndn_run_sweep(void)
{
	/* Sweep in two parts. */
	struct ndn_part part = {0, 3};
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = &part, .ctx_size_in = sizeof(part));

	if (bpf_prog_test_run_opts(nw.sweep, &o) || o.retval)
		die("ndn_sweep");
	part.from += part.buckets;
	part.buckets = nw.buckets;
	if (bpf_prog_test_run_opts(nw.sweep, &o) || o.retval)
		die("ndn_sweep");
}

struct ndn_flight *ndn_flight_of(const struct nframe *f)
{
	static struct ndn_flight l;
	uint32_t tick, place;

	memcpy(&tick, f->b, 4);
	memcpy(&place, f->b + 8, 4);
	if (nw.errand.magic == TRIB_ERRAND_NDN) {
		place = nw.errand.arg[0];
		tick = nw.errand.arg[1];
	} else if (f->len < 14 || f->b[6] != 0x03 || f->b[7] != 0x6e) {
		return NULL;
	}
	if (bpf_map_lookup_elem(ndn_map("ndn_flights"), &place, &l) || l.tick != tick)
		return NULL;
	return &l;
}
