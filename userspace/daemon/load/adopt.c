// SPDX-License-Identifier: BSD-2-Clause
/*
 * Adopting the pins of a former tribd: only if they have our ABI and every map
 * is exactly what our object would create with the pinned sizes (libbpf
 * compares less), and there is no pin that we do not know. Otherwise refuse with
 * a line that says what to do, and change nothing.
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

int adopt_refuse(const struct tribd *d, int err, const struct reason *why)
{
	log_error(
		"cannot take over from %s: %s; nothing was changed and its jobs go on: start it again, or end its jobs and run `tribd --purge --instance %s`",
		d->maker, why->text, d->instance);
	return err;
}

int adopt_map_info(int fd, struct bpf_map_info *info)
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
static int config_read(struct tribd *d, int fd, struct reason *why)
{
	static const struct bpf_map_info want = {
		.type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(struct trib_config),
		.max_entries = 1,
	};
	struct bpf_map_info have;
	uint32_t zero = 0;
	int err = adopt_map_info(fd, &have);

	if (!err)
		err = adopt_map_check(map_name[MAP_CONFIG], &have, &want, why);
	if (!err && bpf_map_lookup_elem(fd, &zero, &d->config))
		err = -errno;
	return err == -EPROTO || !err
		       ? err
		       : reason_set(why, err, "map %s: %s", map_name[MAP_CONFIG], strerror(-err));
}

static int config_check(const struct tribd *d, struct reason *why)
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

	if (c->abi != TRIB_MAPS_ABI)
		return reason_set(why, -EPROTO,
				  "its maps have ABI %u, those of this tribd " TRIB_VERSION
				  " have ABI %u",
				  c->abi, TRIB_MAPS_ABI);
	/* Using fewer than there are is allowed: pools shrink and grow. */
	if (d->opt.pool > c->npool)
		return reason_set(why, -EEXIST, "--pool %u, but its maps have %u: leave it out",
				  d->opt.pool, c->npool);
	for (i = 0; i < sizeof(opt) / sizeof(opt[0]); i++)
		if (opt[i].asked && opt[i].asked != opt[i].pinned)
			return reason_set(why, -EEXIST, "%s %u, but its maps have %u: leave it out",
					  opt[i].option, opt[i].asked, opt[i].pinned);
	return 0;
}

static int unfinished(struct tribd *d)
{
	int err = 0;

	log_info("%s: an unfinished start left pins: %s them", d->pin_dir,
		 d->opt.check ? "would remove" : "removes");
	if (!d->opt.check)
		err = pins_remove(d);
	return err ? err : -ENOENT;
}

int adopt_config(struct tribd *d, struct reason *why)
{
	char path[192];
	struct stat st;
	int fd, err;

	if (stat(d->pin_dir, &st))
		return errno == ENOENT
			       ? -ENOENT
			       : reason_set(why, -errno, "%s: %s", d->pin_dir, strerror(errno));
	pin_path(d, map_name[MAP_CONFIG], path);
	fd = bpf_obj_get(path);
	if (fd < 0 && errno == ENOENT)
		return unfinished(d);
	if (fd < 0)
		return reason_set(why, -errno, "%s: %s", path, strerror(errno));
	err = config_read(d, fd, why);
	close(fd);
	return err ? err : config_check(d, why);
}

static int adopt_map(struct tribd *d, const char *name, struct reason *why)
{
	struct bpf_map *m = bpf_object__find_map_by_name(d->obj, name);
	struct bpf_map_info have, want = {
					  .type = bpf_map__type(m),
					  .key_size = bpf_map__key_size(m),
					  .value_size = bpf_map__value_size(m),
					  .max_entries = bpf_map__max_entries(m),
					  .map_flags = bpf_map__map_flags(m),
				  };
	char path[192];
	int fd, err;

	/* The kernel adds this one by itself. */
	if (want.type == BPF_MAP_TYPE_DEVMAP_HASH)
		want.map_flags |= BPF_F_RDONLY_PROG;
	pin_path(d, name, path);
	fd = bpf_obj_get(path);
	if (fd < 0)
		return reason_set(why, -errno, "%s: %s", path, strerror(errno));
	err = adopt_map_info(fd, &have);
	if (!err)
		err = adopt_map_check(name, &have, &want, why);
	if (!err)
		err = adopt_layout_check(d->obj, m, &have, why);
	if (!err)
		err = bpf_map__reuse_fd(m, fd); /* takes a copy */
	close(fd);
	return err == -EPROTO || !err ? err : reason_set(why, err, "%s: %s", path, strerror(-err));
}

static bool pin_is_known(const char *name)
{
	int i;

	for (i = 0; i < MAP__MAX; i++)
		if (!strcmp(name, map_name[i]))
			return true;
	for (i = 0; i < PROG__MAX; i++)
		if (!strcmp(name, prog_name[i]))
			return true;
	/* The forwarder's maps are replaced if they do not fit. */
	return !strncmp(name, PIN_LINK, strlen(PIN_LINK)) || !strncmp(name, "ndn_", 4);
}

/* A map or program of another version takes part in what the others do. */
static int pins_check(struct tribd *d, struct reason *why)
{
	DIR *dir = opendir(d->pin_dir);
	struct dirent *e;
	int err = 0;

	if (!dir)
		return reason_set(why, -errno, "%s: %s", d->pin_dir, strerror(errno));
	while (!err && (e = readdir(dir)))
		if (e->d_name[0] != '.' && !pin_is_known(e->d_name))
			err = reason_set(why, -EPROTO,
					 "this tribd " TRIB_VERSION " has no %s/%.60s", d->pin_dir,
					 e->d_name);
	closedir(dir);
	return err;
}

int adopt_maps(struct tribd *d)
{
	struct reason why = {};
	int i, err = pins_check(d, &why);

	for (i = 0; !err && i < MAP__MAX; i++)
		if (i != MAP_GROW_NEXT)
			err = adopt_map(d, map_name[i], &why);
	return err ? adopt_refuse(d, err, &why) : 0;
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
