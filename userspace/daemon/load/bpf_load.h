/* SPDX-License-Identifier: BSD-2-Clause */
/* The loaded object, its maps and its pins. */
#ifndef TRIBD_BPF_LOAD_H
#define TRIBD_BPF_LOAD_H

#include "daemon/core/tribd.h"

struct bpf_map;
struct bpf_map_info;
struct bpf_object;
struct btf;

#define PIN_ROOT "/sys/fs/bpf/trib"
#define PIN_LINK "link-" /* followed by the ifindex: bpffs takes no dots */

/* Entries of rewrites and ports, which trib_config does not have. */
#define REWRITES_PER_TREE 16
#define REWRITES_MIN 4096
#define PORTS_MAX 256

/* Names in the object, and of the pins. */
extern const char *const map_name[MAP__MAX];
extern const char *const prog_name[PROG__MAX];

/* Send messages of libbpf to our log. */
int bpf_log_init(struct tribd *d);
/* The last warning of libbpf, or "". */
const char *bpf_complaint(void);
void bpf_complaint_clear(void);

/*
 * bpf_load.c: open the object for d->config.nval, size the maps by d->config,
 * reuse pinned maps if @adopt, load. 0 or -errno, logged.
 */
int bpf_load(struct tribd *d, bool adopt);
void bpf_unload(struct tribd *d);
/* Make the folder; ports pin their links in it. */
int bpf_pin_folder(struct tribd *d);
/*
 * Pin maps (when new) and programs (always: they are new), also the map with the
 * program that trib_grow continues with. 0 or -errno, logged.
 */
int bpf_pin(struct tribd *d);
/* A path below the pin folder; @buf of 192 bytes. */
const char *pin_path(const struct tribd *d, const char *name, char buf[192]);

/*
 * Wait until every BPF program that was running has ended: then no program uses
 * what it read from a map before.
 */
void bpf_quiesce(struct tribd *d);
/* The kernel's number of a program; 0: none. */
uint32_t bpf_prog_id(int fd);
/* BTF type id of struct @name in the loaded object, or 0. */
uint32_t bpf_btf_struct(struct tribd *d, const char *name);

/* adopt.c: log why the maps that d->maker made are not taken over. Return: @err. */
int adopt_refuse(const struct tribd *d, int err, const struct reason *why);
/*
 * Look for pins. 0: d->config describes them; -ENOENT: none (those of an unfinished
 * start were removed); else a refusal.
 */
int adopt_config(struct tribd *d, struct reason *why);
/* Read what the kernel knows of a map. 0 or -errno. */
int adopt_map_info(int fd, struct bpf_map_info *info);
/* Compare a pinned map with what the object would create. 0 or -EPROTO. */
int adopt_map_check(const char *name, const struct bpf_map_info *have,
		    const struct bpf_map_info *want, struct reason *why);
/*
 * layout.c: compare the members of the rows with those of @m. 0; -EPROTO: they differ;
 * or another error.
 */
int adopt_layout_check(const struct bpf_object *obj, const struct bpf_map *m,
		       const struct bpf_map_info *have, struct reason *why);
/* The same for two types; an id of 0 fits any. */
int layout_check(const char *name, const struct btf *have, uint32_t have_id, const struct btf *want,
		 uint32_t want_id, struct reason *why);
/*
 * Open and check all pinned maps, and set them for reuse. grow_next holds a program
 * that libbpf puts there when it loads, so it is not adopted: the running programs
 * keep theirs until bpf_pin(). 0 or -errno, logged.
 */
int adopt_maps(struct tribd *d);
/* True if a pinned link still has its device. */
bool adopt_alive(struct tribd *d);
/* Unpin everything and detach the links. 0 or -errno, logged. */
int pins_remove(struct tribd *d);

#endif /* TRIBD_BPF_LOAD_H */
