// SPDX-License-Identifier: BSD-2-Clause
/*
 * The BPF object: choosing the variant, sizing its maps, loading, pinning.
 * adopt.c decides whether pinned maps are used instead.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/host/folder.h"
#include "bpf_load.h"

/* Name of the module in /sys/kernel/btf. */
#define TRIB_MODULE "trib"

extern const char trib_object_352[], trib_object_352_end[];
extern const char trib_object_832[], trib_object_832_end[];

static const struct {
	uint32_t nval;
	const char *start, *end;
} variant[] = {
	{TRIB_NVAL_SMALL, trib_object_352, trib_object_352_end},
	{TRIB_NVAL_LARGE, trib_object_832, trib_object_832_end},
};

const char *const map_name[MAP__MAX] = {
	[MAP_CONFIG] = "trib_config",
	[MAP_TREES] = "trees",
	[MAP_SLOTS] = "slots",
	[MAP_GROUPS] = "groups",
	[MAP_PORTS] = "ports",
	[MAP_MEMBERS] = "members",
	[MAP_REWRITES] = "rewrites",
	[MAP_STATS] = "stats",
	[MAP_LAG] = "lag",
	[MAP_COUNTS] = "counts",
	[MAP_DELIVERS] = "delivers",
	[MAP_CELLS] = "cells",
	[MAP_RINGS] = "rings",
	[MAP_POOLS] = "pools",
	[MAP_POOL_SLOTS] = "pool_slots",
	[MAP_POOL_TABLE] = "pool_table",
	[MAP_POOL_MARKS] = "pool_marks",
	[MAP_POOL_FACES] = "pool_faces",
	[MAP_FORWARDS] = "forwards",
	[MAP_SPREAD] = "spread",
	[MAP_CPUS] = "cpus",
	[MAP_GROW_NEXT] = "grow_next",
	[MAP_NDN_IN] = "ndn_in",
	[MAP_NDN_LEAVE] = "ndn_leave",
};

const char *const prog_name[PROG__MAX] = {
	[PROG_XDP] = "trib_xdp",     [PROG_EGRESS] = "trib_egress", [PROG_GROW] = "trib_grow",
	[PROG_MOVED] = "trib_moved", [PROG_PASS] = "trib_pass",
};

static char complaint[240];

/* Keep the last warning: it often holds the kernel's own reason. */
static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char text[1024];
	size_t n;

	if (level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(text, sizeof(text), fmt, ap);
	n = strlen(text);
	while (n && text[n - 1] == '\n')
		text[--n] = 0;
	if (level == LIBBPF_WARN)
		snprintf(complaint, sizeof(complaint), "%.230s",
			 strncmp(text, "libbpf: ", 8) ? text : text + 8);
	log_debug("%s", text);
	return 0;
}

int bpf_log_init(struct tribd *d)
{
	(void)d;
	libbpf_set_print(print_libbpf);
	return 0;
}

const char *bpf_complaint(void)
{
	return complaint;
}

void bpf_complaint_clear(void)
{
	complaint[0] = 0;
}

const char *pin_path(const struct tribd *d, const char *name, char buf[192])
{
	snprintf(buf, 192, "%.127s/%.62s", d->pin_dir, name);
	return buf;
}

/* A cpumap has at most as many entries as the kernel was built for CPUs. */
static uint32_t cpus_possible(void)
{
	int n = libbpf_num_possible_cpus();

	return n < 1 ? 1 : n > TRIB_SPREAD_MAX ? TRIB_SPREAD_MAX : (uint32_t)n;
}

/* max_entries of a map; 0: as in the object. */
static uint32_t map_size(const struct trib_config *c, enum map_id id)
{
	uint32_t n;

	switch (id) {
	case MAP_TREES:
	case MAP_LAG:
	case MAP_COUNTS:
	case MAP_POOLS:
		return c->ntrees;
	case MAP_POOL_SLOTS:
		return c->npool;
	case MAP_POOL_TABLE:
		return c->nbuckets;
	case MAP_POOL_MARKS:
		return c->nmarks;
	case MAP_POOL_FACES:
		return c->nfaces;
	case MAP_SLOTS:
		return c->nslots;
	case MAP_GROUPS:
	case MAP_MEMBERS:
		return c->ngroups;
	case MAP_DELIVERS:
		return c->ndelivers;
	case MAP_CELLS:
		return c->ndelivers * TRIB_RINGS_MAX;
	case MAP_RINGS:
		return c->nrings;
	case MAP_REWRITES:
		n = c->ntrees * REWRITES_PER_TREE;
		return n < REWRITES_MIN ? REWRITES_MIN : n;
	case MAP_PORTS:
		return PORTS_MAX;
	case MAP_CPUS:
		return cpus_possible();
	default:
		return 0;
	}
}

static int object_open(struct tribd *d)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "trib");
	unsigned int i;
	int err;

	for (i = 0; i < sizeof(variant) / sizeof(variant[0]); i++)
		if (variant[i].nval == d->config.nval)
			break;
	if (i == sizeof(variant) / sizeof(variant[0])) {
		log_error("no BPF object for %u values per slot", d->config.nval);
		return -EINVAL;
	}
	d->obj = bpf_object__open_mem(variant[i].start, (size_t)(variant[i].end - variant[i].start),
				      &opts);
	if (!d->obj) {
		err = -errno;
		log_error("cannot open the BPF object: %s (%s)", strerror(-err), complaint);
		return err;
	}
	return 0;
}

/* Tell the programs whether to add floats: the one variable in .rodata. */
static int kfuncs_set(struct tribd *d)
{
	struct bpf_map *m = bpf_object__find_map_by_name(d->obj, ".rodata");
	uint32_t on = d->kfuncs;
	int err = m ? bpf_map__set_initial_value(m, &on, sizeof(on)) : -ENOENT;

	if (err)
		log_error(".rodata of the BPF object: %s", strerror(-err));
	return err;
}

static int maps_size(struct tribd *d)
{
	int i, err;

	for (i = 0; i < MAP__MAX; i++) {
		struct bpf_map *m = bpf_object__find_map_by_name(d->obj, map_name[i]);
		uint32_t n = map_size(&d->config, i);

		err = !m ? -ENOENT : n ? bpf_map__set_max_entries(m, n) : 0;
		if (err) {
			log_error("map %s of the BPF object: %s", map_name[i], strerror(-err));
			return err;
		}
	}
	return 0;
}

static int descriptors_find(struct tribd *d)
{
	int i;

	for (i = 0; i < MAP__MAX; i++)
		d->map[i] = bpf_object__find_map_fd_by_name(d->obj, map_name[i]);
	for (i = 0; i < PROG__MAX; i++) {
		struct bpf_program *p = bpf_object__find_program_by_name(d->obj, prog_name[i]);

		if (!p) {
			log_error("program %s is not in the BPF object", prog_name[i]);
			return -ENOENT;
		}
		d->prog[i] = bpf_program__fd(p);
	}
	d->btf = bpf_object__btf(d->obj);
	return 0;
}

static void load_explain(int err)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		log_error(
			"cannot load the BPF object: the kernel has no BTF (/sys/kernel/btf/vmlinux); CONFIG_DEBUG_INFO_BTF is needed");
	else if (err == -EPERM)
		log_error(
			"cannot load the BPF object: not permitted (%s); check `ulimit -l` and the service's capabilities",
			complaint);
	else if (err == -ENOMEM)
		log_error(
			"cannot load the BPF object: not enough memory; --slots and --trees make the maps smaller");
	else
		log_error("cannot load the BPF object: %s (%s)", strerror(-err), complaint);
}

static int object_prepare(struct tribd *d, bool adopt)
{
	int err;

	err = object_open(d);
	if (!err)
		err = maps_size(d);
	if (!err)
		err = kfuncs_set(d);
	if (!err && adopt)
		err = adopt_maps(d);
	bpf_complaint_clear();
	return err;
}

/* Load again: the functions of this module differ from those that we call. */
static int load_without(struct tribd *d, bool adopt)
{
	int err;

	log_warn(
		"the kernel module trib is loaded but does not fit this tribd: no sums of floats (%s)",
		complaint);
	bpf_unload(d);
	d->kfuncs = false;
	err = object_prepare(d, adopt);
	return err ? err : bpf_object__load(d->obj);
}

int bpf_load(struct tribd *d, bool adopt)
{
	int err;

	d->kfuncs = !access("/sys/kernel/btf/" TRIB_MODULE, F_OK);
	err = object_prepare(d, adopt);
	if (err)
		return err;
	err = bpf_object__load(d->obj);
	if (err && d->kfuncs)
		err = load_without(d, adopt);
	if (err) {
		load_explain(err);
		return err;
	}
	return descriptors_find(d);
}

void bpf_unload(struct tribd *d)
{
	bpf_object__close(d->obj);
	d->obj = NULL;
	d->btf = NULL;
}

static int pin_one(struct tribd *d, int fd, const char *name, bool replace)
{
	char path[192];
	int err;

	pin_path(d, name, path);
	if (replace)
		unlink(path);
	err = bpf_obj_pin(fd, path) ? -errno : 0;
	if (err)
		log_error("cannot pin %s: %s", path, strerror(-err));
	return err;
}

/* Pin trib_config last: without it the rest counts as an unfinished start. */
static int pin_maps(struct tribd *d)
{
	uint32_t zero = 0;
	int i, err;

	if (bpf_map_update_elem(d->map[MAP_CONFIG], &zero, &d->config, BPF_ANY)) {
		log_error("map trib_config: %s", strerror(errno));
		return -errno;
	}
	for (i = MAP__MAX - 1; i >= 0; i--) {
		err = pin_one(d, d->map[i], map_name[i], false);
		if (err)
			return err;
	}
	return 0;
}

int bpf_pin_folder(struct tribd *d)
{
	char why[300];
	int err = folder_own(PIN_ROOT, 0755, why, sizeof(why));

	if (!err)
		err = folder_own(d->pin_dir, 0755, why, sizeof(why));
	if (err)
		log_error("%s", why);
	return err;
}

int bpf_pin(struct tribd *d)
{
	int i, err;

	for (i = 0; i < PROG__MAX; i++) {
		err = pin_one(d, d->prog[i], prog_name[i], true);
		if (err)
			return err;
	}
	if (d->adopted)
		return pin_one(d, d->map[MAP_GROW_NEXT], map_name[MAP_GROW_NEXT], true);
	return pin_maps(d);
}

/*
 * membarrier() fails with nohz_full. Since 4.18 a change of a map of maps
 * returns after all programs that were running have ended. No group has number
 * 0.
 */
static void quiesce_by_map(struct tribd *d)
{
	uint32_t zero = TRIB_NONE;
	int fd = bpf_map_create(BPF_MAP_TYPE_DEVMAP, "quiesce", sizeof(uint32_t),
				sizeof(struct bpf_devmap_val), 1, NULL);

	if (fd < 0 || bpf_map_update_elem(d->map[MAP_GROUPS], &zero, &fd, BPF_ANY))
		log_warn("cannot wait for running programs: %s", strerror(errno));
	bpf_map_delete_elem(d->map[MAP_GROUPS], &zero);
	if (fd >= 0)
		close(fd);
}

/* Wait for an RCU grace period; XDP and clsact programs run inside one. */
void bpf_quiesce(struct tribd *d)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		quiesce_by_map(d);
}

uint32_t bpf_prog_id(int fd)
{
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &len) ? 0 : info.id;
}

uint32_t bpf_btf_struct(struct tribd *d, const char *name)
{
	int id = d->btf ? btf__find_by_name_kind(d->btf, name, BTF_KIND_STRUCT) : -ENOENT;

	return id > 0 ? (uint32_t)id : 0;
}
