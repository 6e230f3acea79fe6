// SPDX-License-Identifier: BSD-2-Clause
/*
 * Adopting the pins of a former tribd: only if they have our ABI and every map
 * is exactly what our object would create with the pinned sizes (libbpf
 * compares less). Otherwise refuse with a line that says what to do, and change
 * nothing.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf_load.h"

#define PURGE_HINT "stop its users and run `tribd --purge --instance %s`"

static int map_info(int fd, struct bpf_map_info *info)
{
	uint32_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return bpf_obj_get_info_by_fd(fd, info, &len) ? -errno : 0;
}

int adopt_map_check(const char *name, const struct bpf_map_info *have,
		    const struct bpf_map_info *want, struct reason *why)
{
	if (have->type != want->type)
		return reason_set(why, -EPROTO, "map %s has type %u, not %u", name, have->type,
				  want->type);
	if (have->key_size != want->key_size || have->value_size != want->value_size)
		return reason_set(
			why, -EPROTO, "map %s has keys of %u and values of %u bytes, not %u and %u",
			name, have->key_size, have->value_size, want->key_size, want->value_size);
	if (have->max_entries != want->max_entries)
		return reason_set(why, -EPROTO, "map %s has %u entries, not %u", name,
				  have->max_entries, want->max_entries);
	if (have->map_flags != want->map_flags)
		return reason_set(why, -EPROTO, "map %s has flags %#x, not %#x", name,
				  have->map_flags, want->map_flags);
	return 0;
}

/* Read the row that has the sizes of all maps. */
static int config_read(struct tribd *d, int fd)
{
	static const struct bpf_map_info want = {
		.type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(struct trib_config),
		.max_entries = 1,
	};
	struct bpf_map_info have;
	struct reason why;
	uint32_t zero = 0;
	int err = map_info(fd, &have);

	if (err)
		return err;
	err = adopt_map_check(map_name[MAP_CONFIG], &have, &want, &why);
	if (err) {
		log_error("%s: %s: pinned by another version; " PURGE_HINT, d->pin_dir, why.text,
			  d->instance);
		return err;
	}
	return bpf_map_lookup_elem(fd, &zero, &d->config) ? -errno : 0;
}

static int config_check(const struct tribd *d)
{
	const struct trib_config *c = &d->config;
	const struct {
		const char *option;
		uint32_t asked, pinned;
	} opt[] = {
		{"--values", d->opt.nval, c->nval},
		{"--slots", d->opt.nslots, c->nslots},
		{"--trees", d->opt.ntrees, c->ntrees},
	};
	unsigned int i;

	if (c->abi != TRIB_MAPS_ABI) {
		log_error("%s: pinned maps have ABI %u, this tribd has %u; " PURGE_HINT, d->pin_dir,
			  c->abi, TRIB_MAPS_ABI, d->instance);
		return -EPROTO;
	}
	/* Using fewer than there are is allowed: pools shrink and grow. */
	if (d->opt.pool > c->npool) {
		log_error(
			"--pool %u: the pinned maps have %u; leave the option out, or " PURGE_HINT,
			d->opt.pool, c->npool, d->instance);
		return -EEXIST;
	}
	for (i = 0; i < sizeof(opt) / sizeof(opt[0]); i++) {
		if (!opt[i].asked || opt[i].asked == opt[i].pinned)
			continue;
		log_error("%s %u: the pinned maps have %u; leave the option out, or " PURGE_HINT,
			  opt[i].option, opt[i].asked, opt[i].pinned, d->instance);
		return -EEXIST;
	}
	return 0;
}

int adopt_config(struct tribd *d)
{
	char path[192];
	struct stat st;
	int fd, err;

	if (stat(d->pin_dir, &st))
		return errno == ENOENT ? -ENOENT : -errno;
	pin_path(d, map_name[MAP_CONFIG], path);
	fd = bpf_obj_get(path);
	if (fd < 0 && errno == ENOENT) {
		log_info("%s: an unfinished start left pins: removes them", d->pin_dir);
		err = pins_remove(d);
		return err ? err : -ENOENT;
	}
	if (fd < 0) {
		err = -errno;
		log_error("%s: %s", path, strerror(-err));
		return err;
	}
	err = config_read(d, fd);
	close(fd);
	return err ? err : config_check(d);
}

static int adopt_map(struct tribd *d, const char *name)
{
	struct bpf_map *m = bpf_object__find_map_by_name(d->obj, name);
	struct bpf_map_info have, want = {
					  .type = bpf_map__type(m),
					  .key_size = bpf_map__key_size(m),
					  .value_size = bpf_map__value_size(m),
					  .max_entries = bpf_map__max_entries(m),
					  .map_flags = bpf_map__map_flags(m),
				  };
	struct reason why = {};
	char path[192];
	int fd, err;

	/* The kernel adds this one by itself. */
	if (want.type == BPF_MAP_TYPE_DEVMAP_HASH)
		want.map_flags |= BPF_F_RDONLY_PROG;
	pin_path(d, name, path);
	fd = bpf_obj_get(path);
	if (fd < 0) {
		err = -errno;
		log_error("%s: %s; " PURGE_HINT, path, strerror(-err), d->instance);
		return err;
	}
	err = map_info(fd, &have);
	if (!err)
		err = adopt_map_check(name, &have, &want, &why);
	if (!err)
		err = bpf_map__reuse_fd(m, fd); /* takes a copy */
	if (err)
		log_error("%s: %s; " PURGE_HINT, path, why.text[0] ? why.text : strerror(-err),
			  d->instance);
	close(fd);
	return err;
}

int adopt_maps(struct tribd *d)
{
	int i, err;

	for (i = 0; i < MAP__MAX; i++) {
		err = adopt_map(d, map_name[i]);
		if (err)
			return err;
	}
	return 0;
}

/* Call @fn with the path of each pin until it returns non-zero; return that. */
static int pins_each(struct tribd *d, const char *prefix, int (*fn)(const char *path))
{
	DIR *dir = opendir(d->pin_dir);
	struct dirent *e;
	char path[192];
	int err = 0;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (!err && (e = readdir(dir))) {
		if (e->d_name[0] == '.' || strncmp(e->d_name, prefix, strlen(prefix)))
			continue;
		err = fn(pin_path(d, e->d_name, path));
	}
	closedir(dir);
	return err;
}

static int link_alive(const char *path)
{
	struct bpf_link_info info = {};
	uint32_t len = sizeof(info);
	int fd = bpf_obj_get(path), alive;

	if (fd < 0)
		return 0;
	alive = !bpf_obj_get_info_by_fd(fd, &info, &len) && info.xdp.ifindex;
	close(fd);
	return alive;
}

bool adopt_alive(struct tribd *d)
{
	return pins_each(d, PIN_LINK, link_alive) > 0;
}

/* Detach first: that is synchronous, dropping the last reference is not. */
static int link_remove(const char *path)
{
	int fd = bpf_obj_get(path);

	if (fd >= 0) {
		bpf_link_detach(fd);
		close(fd);
	}
	return unlink(path) ? -errno : 0;
}

static int pin_remove(const char *path)
{
	return unlink(path) ? -errno : 0;
}

int pins_remove(struct tribd *d)
{
	char path[192];
	int err;

	/*
	 * Links first, as they run programs; then the map that marks the rest
	 * as complete.
	 */
	err = pins_each(d, PIN_LINK, link_remove);
	if (!err && unlink(pin_path(d, map_name[MAP_CONFIG], path)) && errno != ENOENT)
		err = -errno;
	if (!err)
		err = pins_each(d, "", pin_remove);
	if (!err && rmdir(d->pin_dir) && errno != ENOENT)
		err = -errno;
	if (err)
		log_error("%s: cannot remove all pins: %s", d->pin_dir, strerror(-err));
	return err;
}
