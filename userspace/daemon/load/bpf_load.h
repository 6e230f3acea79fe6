/* SPDX-License-Identifier: BSD-2-Clause */
/* The loaded object, its maps and its pins. */
#ifndef TRIBD_BPF_LOAD_H
#define TRIBD_BPF_LOAD_H

#include "daemon/core/tribd.h"

struct bpf_map_info;

#define PIN_ROOT "/sys/fs/bpf/trib"
#define PIN_LINK "link-" /* then the ifindex: bpffs takes no dots */

/* Rows of rewrites and ports, which trib_config does not name. */
#define REWRITES_PER_TREE 16
#define REWRITES_MIN 4096
#define PORTS_MAX 256

/* Names in the object, and of the pins. */
extern const char *const map_name[MAP__MAX];
extern const char *const prog_name[PROG__MAX];

/* libbpf's words go to our log. */
int bpf_log_init(struct tribd *d);
/* What libbpf complained about last, or "". */
const char *bpf_complaint(void);
void bpf_complaint_clear(void);

/*
 * bpf_load.c: opens the object for d->config.nval, sizes the maps by
 * d->config, reuses pinned maps if @adopt, loads. 0 or -errno, logged.
 */
int bpf_load(struct tribd *d, bool adopt);
void bpf_unload(struct tribd *d);
/* Ports pin their links there. */
int bpf_pin_folder(struct tribd *d);
/* Pins maps (when new) and programs (always: they are new). */
int bpf_pin(struct tribd *d);
/* A path below the pin folder; @buf of 192 bytes. */
const char *pin_path(const struct tribd *d, const char *name, char buf[192]);

/*
 * Return after every BPF program that was running has ended: nothing uses any
 * more what it read from a map before.
 */
void bpf_quiesce(struct tribd *d);
/* BTF type id of struct @name in the loaded object, or 0. */
uint32_t bpf_btf_struct(struct tribd *d, const char *name);

/*
 * adopt.c: is there something pinned? -ENOENT: no (an unfinished creation was
 * removed); 0: d->config describes it; else a refusal, logged.
 */
int adopt_config(struct tribd *d);
/* What the object would create, against what is pinned. */
int adopt_map_check(const char *name, const struct bpf_map_info *have,
		    const struct bpf_map_info *want, struct reason *why);
/* Opens and checks all maps of the opened object; sets them for reuse. */
int adopt_maps(struct tribd *d);
/* True if a pinned link still has its device. */
bool adopt_alive(struct tribd *d);
/* Unpins everything; links let go of their devices. */
int pins_remove(struct tribd *d);

#endif /* TRIBD_BPF_LOAD_H */
