// SPDX-License-Identifier: BSD-2-Clause
/*
 * The object of the NDN forwarder: how large its maps are, whether those of a
 * former tribd serve, loading, pinning. Unlike those of trib, maps that do not
 * fit are replaced: subscribers renew, and all else is in the state file.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "daemon/load/bpf_load.h"
#include "forwarder.h"

/* Four Interests a place: of a second. */
#define NONCES 65536
#define ASKS_MIN 4096
#define MISSES_BYTES 65536
#define NDN_PREFIX "ndn_"

extern const char ndn_object[], ndn_object_end[];

static const char *const nmap_name[NMAP__MAX] = {
	[NMAP_CONFIG] = "ndn_config",	[NMAP_FACES] = "ndn_faces",
	[NMAP_FROM] = "ndn_from",	[NMAP_FIRST] = "ndn_first",
	[NMAP_OUT] = "ndn_out",		[NMAP_PORTS] = "ndn_ports",
	[NMAP_FIB] = "ndn_fib",		[NMAP_RIGHTS] = "ndn_rights",
	[NMAP_TAGS] = "ndn_tags",	[NMAP_PIT] = "ndn_pit",
	[NMAP_MORE] = "ndn_more",	[NMAP_ASKS] = "ndn_asks",
	[NMAP_NONCES] = "ndn_nonces",	[NMAP_CACHE] = "ndn_cache",
	[NMAP_FLIGHTS] = "ndn_flights", [NMAP_MISSES] = "ndn_misses",
	[NMAP_STATS] = "ndn_stats",
};

static const char *const nprog_name[NPROG__MAX] = {
	[NPROG_XDP] = "ndn_xdp",       [NPROG_EGRESS] = "ndn_egress",
	[NPROG_GROW] = "ndn_grow",     [NPROG_SWEEP] = "ndn_sweep",
	[NPROG_FORGET] = "ndn_forget",
};

/* max_entries; 0: what the object says. */
static uint32_t nmap_size(const struct ndn *n, enum ndn_map id)
{
	switch (id) {
	case NMAP_TAGS:
		return ndn_buckets(n->entries);
	case NMAP_PIT:
	case NMAP_MORE:
		return ndn_buckets(n->entries) * NDN_WAYS;
	case NMAP_ASKS:
		return n->entries < ASKS_MIN ? ASKS_MIN : n->entries;
	case NMAP_NONCES:
		return NONCES;
	case NMAP_CACHE:
		return n->cache ? n->cache : 1;
	case NMAP_FIB:
		return NDN_ROUTES_MAX;
	case NMAP_RIGHTS:
		return NDN_RIGHTS_MAX;
	case NMAP_MISSES:
		return MISSES_BYTES;
	case NMAP_FLIGHTS:
		return NDN_FLIGHTS * (uint32_t)libbpf_num_possible_cpus();
	default:
		return 0;
	}
}

static int object_open(struct ndn *n)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "ndn");
	struct bpf_program *pass;
	int i, err;

	n->obj = bpf_object__open_mem(
		ndn_object, (size_t)(ndn_object_end - ndn_object), &opts);
	if (!n->obj)
		return -errno;
	/* For veth peers; trib_pass is pinned and does the same. */
	pass = bpf_object__find_program_by_name(n->obj, "ndn_pass");
	if (pass)
		bpf_program__set_autoload(pass, false);
	for (i = 0; i < NMAP__MAX; i++) {
		struct bpf_map *m =
			bpf_object__find_map_by_name(n->obj, nmap_name[i]);
		uint32_t size = nmap_size(n, i);

		err = !m     ? -ENOENT
		      : size ? bpf_map__set_max_entries(m, size)
			     : 0;
		if (err)
			return err;
	}
	return 0;
}

static int map_info(int fd, struct bpf_map_info *info)
{
	uint32_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return bpf_obj_get_info_by_fd(fd, info, &len) ? -errno : 0;
}

/* --- adopting */

static int map_adopt(struct tribd *d, struct bpf_map *m, struct reason *why)
{
	struct bpf_map_info have,
		want = {
			.type = bpf_map__type(m),
			.key_size = bpf_map__key_size(m),
			.value_size = bpf_map__value_size(m),
			.max_entries = bpf_map__max_entries(m),
			.map_flags = bpf_map__map_flags(m),
		};
	char path[192];
	int err, fd = bpf_obj_get(pin_path(d, bpf_map__name(m), path));

	if (fd < 0)
		return refuse(why, -errno, "%s: %s", path, strerror(errno));
	err = map_info(fd, &have);
	/* The kernel may add this one by itself. */
	want.map_flags |= have.map_flags & BPF_F_RDONLY_PROG;
	if (!err)
		err = adopt_map_check(bpf_map__name(m), &have, &want, why);
	if (!err)
		err = bpf_map__reuse_fd(m, fd); /* takes a copy */
	close(fd);
	return err;
}

/* The configuration is pinned last: without it the rest is unfinished. */
static int config_adopt(struct tribd *d, struct reason *why)
{
	struct bpf_map *m = bpf_object__find_map_by_name(
		d->ndn->obj, nmap_name[NMAP_CONFIG]);
	struct ndn_config *c = &d->ndn->config;
	uint32_t zero = 0;
	int err = map_adopt(d, m, why);

	if (err)
		return err;
	if (bpf_map_lookup_elem(bpf_map__fd(m), &zero, c))
		return refuse(why, -errno, "map ndn_config: %s",
			      strerror(errno));
	if (c->abi != NDN_ABI)
		return refuse(why, -EPROTO, "ABI %u, not %u", c->abi, NDN_ABI);
	if (c->buckets != ndn_buckets(d->ndn->entries))
		return refuse(why, -EPROTO, "%u buckets for entries, not %u",
			      c->buckets, ndn_buckets(d->ndn->entries));
	if (c->ncache != d->ndn->cache)
		return refuse(why, -EPROTO, "a cache of %u, not %u", c->ncache,
			      d->ndn->cache);
	return 0;
}

/* Pinned and adopted; constants are each object's own, the configuration comes
 * by itself. */
static bool map_is_shared(const struct bpf_map *m)
{
	return !bpf_map__is_internal(m) &&
	       strcmp(bpf_map__name(m), nmap_name[NMAP_CONFIG]);
}

static int maps_adopt(struct tribd *d, struct reason *why)
{
	struct bpf_map *m;
	int err = config_adopt(d, why);

	bpf_object__for_each_map(m, d->ndn->obj)
	{
		if (!err && map_is_shared(m))
			err = map_adopt(d, m, why);
	}
	return err;
}

/* Not the two by which trib's object calls ours. */
static bool pin_is_ours(const char *name)
{
	return !strncmp(name, NDN_PREFIX, strlen(NDN_PREFIX)) &&
	       strcmp(name, map_name[MAP_NDN_IN]) &&
	       strcmp(name, map_name[MAP_NDN_LEAVE]);
}

/* How many there were. The configuration goes first. */
static unsigned int pins_drop(struct tribd *d)
{
	DIR *dir = opendir(d->pin_dir);
	unsigned int n = 0;
	struct dirent *e;
	char path[192];

	if (!dir)
		return 0;
	n += !unlink(pin_path(d, nmap_name[NMAP_CONFIG], path));
	while ((e = readdir(dir)))
		if (pin_is_ours(e->d_name))
			n += !unlink(pin_path(d, e->d_name, path));
	closedir(dir);
	return n;
}

/* --- sizes, for the log */

static uint64_t map_bytes(const struct bpf_map *m)
{
	uint64_t value = (bpf_map__value_size(m) + 7) & ~7u;

	switch (bpf_map__type(m)) {
	case BPF_MAP_TYPE_HASH:
		return bpf_map__max_entries(m) *
		       (value + bpf_map__key_size(m) + 64);
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return bpf_map__max_entries(m) * value *
		       (uint64_t)libbpf_num_possible_cpus();
	case BPF_MAP_TYPE_RINGBUF:
		return bpf_map__max_entries(m);
	default:
		return bpf_map__max_entries(m) * (value ? value : 8);
	}
}

static void size_log(const struct ndn *n)
{
	uint64_t bytes = 0;
	struct bpf_map *m;

	bpf_object__for_each_map(m, n->obj) bytes += map_bytes(m);
	log_info("ndn: %u entries, a cache of %u segments, %.1f MB%s",
		 n->entries, n->cache, (double)bytes / 1e6,
		 n->adopted ? ", adopted" : "");
}

/* --- loading */

static int fds_find(struct ndn *n)
{
	int i;

	for (i = 0; i < NMAP__MAX; i++)
		n->map[i] =
			bpf_object__find_map_fd_by_name(n->obj, nmap_name[i]);
	for (i = 0; i < NPROG__MAX; i++) {
		struct bpf_program *p =
			bpf_object__find_program_by_name(n->obj, nprog_name[i]);

		if (!p)
			return -ENOENT;
		n->prog[i] = bpf_program__fd(p);
	}
	return 0;
}

static int config_new(struct ndn *n)
{
	memset(&n->config, 0, sizeof(n->config));
	n->config.ncache = n->cache;
	n->config.buckets = ndn_buckets(n->entries);
	n->config.nnonces = NONCES;
	if (getrandom(n->config.seed, sizeof(n->config.seed), 0) !=
	    sizeof(n->config.seed))
		return -EIO;
	return 0;
}

static uint32_t power_of_2(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return n ? p : 0;
}

/* With maps of a former tribd, if there are some and they fit. */
static int object_load(struct tribd *d)
{
	struct ndn *n = d->ndn;
	struct reason why = {};
	char path[192];
	int err = object_open(n);

	if (err)
		return err;
	n->adopted = d->adopted &&
		     !access(pin_path(d, nmap_name[NMAP_CONFIG], path), F_OK);
	if (n->adopted && maps_adopt(d, &why)) {
		log_warn(
			"ndn: pinned maps do not fit: %s; starts with new ones",
			why.text);
		n->adopted = false;
		bpf_object__close(n->obj);
		n->obj = NULL;
		err = object_open(n);
	}
	if (!err && !n->adopted) {
		pins_drop(d);
		err = config_new(n);
	}
	bpf_complaint_clear();
	if (!err)
		err = bpf_object__load(n->obj);
	return err ? err : fds_find(n);
}

int ndn_load(struct tribd *d)
{
	struct ndn *n = d->ndn;
	int err;

	if (!d->opt.ndn) {
		ndn_clear(d);
		return 0;
	}
	n->entries = d->opt.ndn;
	n->cache = power_of_2(d->opt.ndn_cache);
	err = object_load(d);
	if (err == -ENOMEM)
		log_error(
			"ndn: not enough memory; --ndn and --ndn-cache make the maps smaller");
	else if (err)
		log_error("ndn: cannot load the BPF object: %s (%s)",
			  strerror(-err), bpf_complaint());
	if (err)
		return err;
	n->on = true;
	size_log(n);
	return 0;
}

void ndn_unload(struct tribd *d)
{
	bpf_object__close(d->ndn->obj);
	d->ndn->obj = NULL;
	d->ndn->on = false;
}

static int pin_one(struct tribd *d, const struct bpf_map *m)
{
	char path[192];

	pin_path(d, bpf_map__name(m), path);
	if (!bpf_obj_pin(bpf_map__fd(m), path))
		return 0;
	log_error("cannot pin %s: %s", path, strerror(errno));
	return -errno;
}

int ndn_pin(struct tribd *d)
{
	struct ndn *n = d->ndn;
	struct bpf_map *m;
	int err = 0;

	if (!n->on || n->adopted)
		return 0;
	bpf_object__for_each_map(m, n->obj)
	{
		if (!err && map_is_shared(m))
			err = pin_one(d, m);
	}
	if (!err)
		err = pin_one(d, bpf_object__find_map_by_name(
					 n->obj, nmap_name[NMAP_CONFIG]));
	return err;
}

/* Filters went with the ports' attachment (clsact.c). */
void ndn_clear(struct tribd *d)
{
	uint32_t zero = 0;

	bpf_map_delete_elem(d->map[MAP_NDN_IN], &zero);
	bpf_map_delete_elem(d->map[MAP_NDN_LEAVE], &zero);
	if (pins_drop(d))
		log_warn(
			"ndn: starts without --ndn: the forwarder of before is gone; faces and routes stay in the state file");
}
