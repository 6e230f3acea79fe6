// SPDX-License-Identifier: BSD-2-Clause
/*
 * The NDN forwarder's BPF object: sizes of maps, adoption of pinned maps, loading,
 * pinning. Unlike the relay's, maps that do not fit are replaced: subscribers
 * renew, and the rest is in the state file.
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
#include "ndnd.h"

/* Rows for nonces: four each, enough for a second of Interests. */
#define NONCES 65536
#define SHARED_MIN 4096
#define MISSES_BYTES 65536
#define PIN_PREFIX "ndn_"
/* The program that ndn_grow continues with. */
#define MAP_NEXT "ndn_next"

extern const char ndn_object[], ndn_object_end[];

static const char *const nmap_name[NDND_MAP__MAX] = {
	[NDND_MAP_CONFIG] = "ndn_config",   [NDND_MAP_FACES] = "ndn_faces",
	[NDND_MAP_FROM] = "ndn_from",	    [NDND_MAP_FIRST] = "ndn_first",
	[NDND_MAP_OUT] = "ndn_out",	    [NDND_MAP_PORTS] = "ndn_ports",
	[NDND_MAP_FIB] = "ndn_fib",	    [NDND_MAP_RIGHTS] = "ndn_rights",
	[NDND_MAP_TAGS] = "ndn_tags",	    [NDND_MAP_PIT] = "ndn_pit",
	[NDND_MAP_MORE] = "ndn_more",	    [NDND_MAP_ASKS] = "ndn_asks",
	[NDND_MAP_NONCES] = "ndn_nonces",   [NDND_MAP_CACHE] = "ndn_cache",
	[NDND_MAP_FLIGHTS] = "ndn_flights", [NDND_MAP_MISSES] = "ndn_misses",
	[NDND_MAP_STATS] = "ndn_stats",	    [NDND_MAP_SEATS] = "ndn_seats",
	[NDND_MAP_TAKEN] = "ndn_taken",
};

static const char *const nprog_name[NDND_PROG__MAX] = {
	[NDND_PROG_XDP] = "ndn_xdp",	   [NDND_PROG_EGRESS] = "ndn_egress",
	[NDND_PROG_GROW] = "ndn_grow",	   [NDND_PROG_SWEEP] = "ndn_sweep",
	[NDND_PROG_FORGET] = "ndn_forget",
};

/* Seats for pending Interests that faces with a right share: whole words of bits. */
static uint32_t seats_shared(const struct ndnd *fw)
{
	uint32_t n = fw->entries < SHARED_MIN ? SHARED_MIN : fw->entries;

	return (n + 63) / 64 * 64;
}

/* Get max_entries; 0: keep that of the object. */
static uint32_t nmap_size(const struct ndnd *fw, enum ndnd_map id)
{
	switch (id) {
	case NDND_MAP_TAGS:
		return ndn_buckets(fw->entries);
	case NDND_MAP_PIT:
	case NDND_MAP_MORE:
		return ndn_buckets(fw->entries) * NDN_WAYS;
	case NDND_MAP_ASKS:
	case NDND_MAP_SEATS:
		return NDN_SEATS_SHARED + seats_shared(fw);
	case NDND_MAP_TAKEN:
		return seats_shared(fw) / 64;
	case NDND_MAP_NONCES:
		return NONCES;
	case NDND_MAP_CACHE:
		return fw->cache ? fw->cache : 1;
	case NDND_MAP_FIB:
		return NDND_ROUTES_MAX;
	case NDND_MAP_RIGHTS:
		return NDND_RIGHTS_MAX;
	case NDND_MAP_MISSES:
		return MISSES_BYTES;
	case NDND_MAP_FLIGHTS:
		return NDN_FLIGHTS * (uint32_t)libbpf_num_possible_cpus();
	default:
		return 0;
	}
}

static int object_open(struct ndnd *fw)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "ndn");
	struct bpf_program *pass;
	int i, err;

	fw->obj = bpf_object__open_mem(ndn_object, (size_t)(ndn_object_end - ndn_object), &opts);
	if (!fw->obj)
		return -errno;
	/* Not needed: trib_pass serves veth peers. */
	pass = bpf_object__find_program_by_name(fw->obj, "ndn_pass");
	if (pass)
		bpf_program__set_autoload(pass, false);
	for (i = 0; i < NDND_MAP__MAX; i++) {
		struct bpf_map *m = bpf_object__find_map_by_name(fw->obj, nmap_name[i]);
		uint32_t size = nmap_size(fw, i);

		err = !m ? -ENOENT : size ? bpf_map__set_max_entries(m, size) : 0;
		if (err)
			return err;
	}
	return 0;
}

/* --- adopting */

static int map_adopt(struct tribd *d, struct bpf_map *m, struct reason *why)
{
	struct bpf_map_info have, want = {
					  .type = bpf_map__type(m),
					  .key_size = bpf_map__key_size(m),
					  .value_size = bpf_map__value_size(m),
					  .max_entries = bpf_map__max_entries(m),
					  .map_flags = bpf_map__map_flags(m),
				  };
	char path[192];
	int err, fd = bpf_obj_get(pin_path(d, bpf_map__name(m), path));

	if (fd < 0)
		return reason_set(why, -errno, "%s: %s", path, strerror(errno));
	err = adopt_map_info(fd, &have);
	/* The kernel may set this flag by itself. */
	want.map_flags |= have.map_flags & BPF_F_RDONLY_PROG;
	if (!err)
		err = adopt_map_check(bpf_map__name(m), &have, &want, why);
	if (!err)
		err = adopt_layout_check(d->ndn->obj, m, &have, why);
	if (!err)
		err = bpf_map__reuse_fd(m, fd); /* takes a copy */
	close(fd);
	return err;
}

/* Check the layout's number, which every version has in front, before its sizes. */
static int config_abi_check(struct tribd *d, struct reason *why)
{
	union {
		__u32 abi;
		char value[4096];
	} u = {};
	struct bpf_map_info have;
	uint32_t zero = 0;
	char path[192];
	int fd = bpf_obj_get(pin_path(d, nmap_name[NDND_MAP_CONFIG], path));
	int err;

	if (fd < 0)
		return reason_set(why, -errno, "%s: %s", path, strerror(errno));
	err = adopt_map_info(fd, &have);
	if (!err && (have.key_size != sizeof(zero) || have.value_size > sizeof(u) ||
		     bpf_map_lookup_elem(fd, &zero, &u)))
		err = reason_set(why, -EPROTO, "%s has no layout number", path);
	else if (!err && u.abi != NDN_ABI)
		err = reason_set(why, -EPROTO, "ABI %u, this tribd " TRIB_VERSION " has ABI %u",
				 u.abi, NDN_ABI);
	close(fd);
	return err;
}

/* The configuration is pinned last: its pin shows that the others are complete. */
static int config_adopt(struct tribd *d, struct reason *why)
{
	struct bpf_map *m = bpf_object__find_map_by_name(d->ndn->obj, nmap_name[NDND_MAP_CONFIG]);
	struct ndn_config *c = &d->ndn->config;
	uint32_t zero = 0;
	int err = config_abi_check(d, why);

	if (!err)
		err = map_adopt(d, m, why);
	if (err)
		return err;
	if (bpf_map_lookup_elem(bpf_map__fd(m), &zero, c))
		return reason_set(why, -errno, "map ndn_config: %s", strerror(errno));
	if (c->buckets != ndn_buckets(d->ndn->entries))
		return reason_set(why, -EPROTO, "%u buckets for entries, not %u", c->buckets,
				  ndn_buckets(d->ndn->entries));
	if (c->ncache != d->ndn->cache)
		return reason_set(why, -EPROTO, "a cache of %u, not %u", c->ncache, d->ndn->cache);
	/* The same number of buckets serves a few numbers of entries. */
	c->entries = d->ndn->entries;
	return 0;
}

/*
 * Is the map pinned and adopted like others? The configuration is not. Nor is the
 * map whose program libbpf sets when it loads: the running programs keep theirs.
 */
static bool map_is_shared(const struct bpf_map *m)
{
	return !bpf_map__is_internal(m) && strcmp(bpf_map__name(m), nmap_name[NDND_MAP_CONFIG]) &&
	       strcmp(bpf_map__name(m), MAP_NEXT);
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

/* The relay's two maps with this prefix are not ours. */
static bool pin_is_ours(const char *name)
{
	return !strncmp(name, PIN_PREFIX, strlen(PIN_PREFIX)) &&
	       strcmp(name, map_name[MAP_NDN_IN]) && strcmp(name, map_name[MAP_NDN_LEAVE]);
}

/* Remove pins, the configuration first. Return: how many. */
static unsigned int pins_drop(struct tribd *d)
{
	DIR *dir = opendir(d->pin_dir);
	unsigned int n = 0;
	struct dirent *e;
	char path[192];

	if (!dir)
		return 0;
	n += !unlink(pin_path(d, nmap_name[NDND_MAP_CONFIG], path));
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
		return bpf_map__max_entries(m) * (value + bpf_map__key_size(m) + 64);
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return bpf_map__max_entries(m) * value * (uint64_t)libbpf_num_possible_cpus();
	case BPF_MAP_TYPE_RINGBUF:
		return bpf_map__max_entries(m);
	default:
		return bpf_map__max_entries(m) * (value ? value : 8);
	}
}

static void size_log(const struct ndnd *fw)
{
	uint64_t bytes = 0;
	struct bpf_map *m;

	bpf_object__for_each_map(m, fw->obj) bytes += map_bytes(m);
	log_info("ndn: %u entries, a cache of %u segments, %.1f MB%s", fw->entries, fw->cache,
		 (double)bytes / 1e6, fw->adopted ? ", adopted" : "");
}

/* --- loading */

static int fds_find(struct ndnd *fw)
{
	int i;

	for (i = 0; i < NDND_MAP__MAX; i++)
		fw->map[i] = bpf_object__find_map_fd_by_name(fw->obj, nmap_name[i]);
	for (i = 0; i < NDND_PROG__MAX; i++) {
		struct bpf_program *p = bpf_object__find_program_by_name(fw->obj, nprog_name[i]);

		if (!p)
			return -ENOENT;
		fw->prog[i] = bpf_program__fd(p);
	}
	return 0;
}

static int config_new(struct ndnd *fw)
{
	memset(&fw->config, 0, sizeof(fw->config));
	fw->config.ncache = fw->cache;
	fw->config.buckets = ndn_buckets(fw->entries);
	fw->config.entries = fw->entries;
	fw->config.shared = seats_shared(fw);
	fw->config.nnonces = NONCES;
	if (getrandom(fw->config.seed, sizeof(fw->config.seed), 0) != sizeof(fw->config.seed))
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

/* Load with the maps of a former tribd if they fit. */
static int object_load(struct tribd *d)
{
	struct ndnd *fw = d->ndn;
	struct reason why = {};
	char path[192];
	int err = object_open(fw);

	if (err)
		return err;
	fw->adopted = d->adopted && !access(pin_path(d, nmap_name[NDND_MAP_CONFIG], path), F_OK);
	if (fw->adopted && maps_adopt(d, &why)) {
		log_warn(
			"ndn: pinned maps do not fit: %s; %s with new ones: faces, rights and routes stay, subscriptions come back within a quarter of the lease, cached segments and pending Interests are lost",
			why.text, d->opt.check ? "would start" : "starts");
		fw->adopted = false;
		bpf_object__close(fw->obj);
		fw->obj = NULL;
		err = object_open(fw);
	}
	if (!err && !fw->adopted)
		err = config_new(fw);
	bpf_complaint_clear();
	if (!err)
		err = bpf_object__load(fw->obj);
	return err ? err : fds_find(fw);
}

int ndnd_load(struct tribd *d)
{
	struct ndnd *fw = d->ndn;
	int err;

	if (!d->opt.ndn)
		return 0;
	fw->entries = d->opt.ndn;
	fw->cache = power_of_2(d->opt.ndn_cache);
	err = object_load(d);
	if (err == -ENOMEM)
		log_error("ndn: not enough memory; --ndn and --ndn-cache make the maps smaller");
	else if (err)
		log_error("ndn: cannot load the BPF object: %s (%s)", strerror(-err),
			  bpf_complaint());
	if (err)
		return err;
	fw->on = true;
	d->ndn_grow = fw->prog[NDND_PROG_GROW];
	size_log(fw);
	return 0;
}

void ndnd_unload(struct tribd *d)
{
	bpf_object__close(d->ndn->obj);
	d->ndn->obj = NULL;
	d->ndn->on = false;
	d->ndn_grow = 0;
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

int ndnd_pin(struct tribd *d)
{
	struct ndnd *fw = d->ndn;
	struct bpf_map *m;
	char path[192];
	int err;

	if (!fw->on)
		return 0;
	if (fw->adopted)
		unlink(pin_path(d, MAP_NEXT, path));
	else
		pins_drop(d);
	err = pin_one(d, bpf_object__find_map_by_name(fw->obj, MAP_NEXT));
	if (fw->adopted)
		return err;
	bpf_object__for_each_map(m, fw->obj)
	{
		if (!err && map_is_shared(m))
			err = pin_one(d, m);
	}
	if (!err)
		err = pin_one(d, bpf_object__find_map_by_name(fw->obj, nmap_name[NDND_MAP_CONFIG]));
	return err;
}

/* clsact.c removed the filters from the ports. */
void ndnd_clear(struct tribd *d)
{
	uint32_t zero = 0;

	bpf_map_delete_elem(d->map[MAP_NDN_IN], &zero);
	bpf_map_delete_elem(d->map[MAP_NDN_LEAVE], &zero);
	if (pins_drop(d))
		log_warn(
			"ndn: started without --ndn: the former forwarder is removed; faces and routes stay in the state file");
}
