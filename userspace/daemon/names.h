/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names forwarder (bpf/names.bpf.c): what faces are to it, routes, times,
 * and the maps that follow from them. Records exist with or without --names, so
 * that a tribd that runs without saves what it was told before; nothing is
 * loaded then, and requests are refused.
 */
#ifndef TRIBD_NAMES_H
#define TRIBD_NAMES_H

#include <jansson.h>

#include "tribd.h"
#include "uapi/trib_names.h"

/* Rows of names_fib and names_rights; prefixes of one face, and their text. */
#define NAMES_ROUTES_MAX 4096
#define NAMES_RIGHTS_MAX 4096
#define NAMES_PREFIXES_MAX 64
#define NAMES_PREFIXES_TEXT 12288
/* Longest text of a name, with its NUL. */
#define NAMES_TEXT_MAX 1024

#define NAMES_ENTRIES_MAX (1u << 20)
#define NAMES_CACHE_MAX (1u << 16)
#define NAMES_CACHE_DEFAULT 1024
#define NAMES_LEASE_MS 30000
#define NAMES_LEASE_MS_MIN 100
#define NAMES_LEASE_MS_MAX (24 * 3600 * 1000)

struct face_spec;
struct nl_msg;
struct nlattr;

/* What a face may do with names below @name. */
struct names_prefix {
	uint8_t may; /* enum names_may */
	struct names_name name;
};

/* What a request or the state file says of a face; see trib.h. */
struct names_spec {
	bool has_kind, has_port, has_subscribe, has_write;
	uint8_t kind; /* enum trib_face_ndn */
	uint16_t port;
	uint16_t number; /* from the state file; 0: a free one */
	unsigned int n;
	struct names_prefix prefix[NAMES_PREFIXES_MAX];
};

/* What a face is to names; owned by the face. */
struct names_peer {
	uint8_t kind;
	uint8_t number; /* 1 to 255, in the maps; nobody else's */
	uint16_t port;	/* host order; 0: Ethernet */
	unsigned int routes;
	unsigned int n;
	struct names_prefix *prefix;
};

struct route {
	TAILQ_ENTRY(route) link;
	struct face *face;
	uint64_t key;
	struct names_name name;
};

TAILQ_HEAD(route_list, route);

enum names_map {
	NMAP_CONFIG,
	NMAP_FACES,
	NMAP_FROM,
	NMAP_FIRST,
	NMAP_OUT,
	NMAP_PORTS,
	NMAP_FIB,
	NMAP_RIGHTS,
	NMAP_PIT,
	NMAP_ASKS,
	NMAP_NONCES,
	NMAP_CACHE,
	NMAP_FLIGHTS,
	NMAP_MISSES,
	NMAP_STATS,
	NMAP__MAX,
};

enum names_prog {
	NPROG_XDP,
	NPROG_EGRESS,
	NPROG_GROW,
	NPROG_SWEEP,
	NPROG_FORGET,
	NPROG__MAX,
};

/* What the maps hold now, of faces and ports. */
struct names_rows {
	struct names_face face[NAMES_FACES];
	struct names_from from[NAMES_FACES]; /* ifindex 0: none */
	uint32_t out[NAMES_FACES];	     /* by place; 0: empty */
	/* By number: the port that has it as its first face; 0: none. */
	uint32_t first[NAMES_FACES];
};

/* How many rows of a map are used: looked up not too often. */
struct names_used {
	uint64_t at_ns;
	uint32_t rows;
};

struct names {
	bool on;      /* loaded */
	bool adopted; /* with the rows of a former tribd */
	uint32_t entries;
	uint32_t cache;
	uint32_t lease_ms;
	uint32_t leave_ms; /* 0: half of the lease */
	struct names_marker marker[NAMES_MARK__MAX];
	struct route_list routes;
	unsigned int nroutes;
	unsigned int nprefixes;
	struct names_config config; /* as in the map */
	struct bpf_object *obj;
	int map[NMAP__MAX];
	int prog[NPROG__MAX];
	struct names_rows rows;
	struct names_used pit_used, cs_used;
	struct timer sweep;
	struct names_misses *misses;
};

/* --- names.c, names_route.c: records, and when what happens */

int names_init(struct tribd *d);
void names_exit(struct tribd *d);
/* -EOPNOTSUPP without --names. */
int names_need(struct tribd *d, struct reason *why);
/* Faces, ports and maps are there: writes all rows, takes packets. */
int names_start(struct tribd *d);
/* A face or port changed: rows follow. Without --names nothing happens. */
void names_settle(struct tribd *d);
/* Starts the sweep anew: the lease has another length. */
void names_sweep_set(struct tribd *d);

/* Faces. The caller saves the state and settles; none of it fails after. */
int names_face_check(struct tribd *d, const struct face_spec *s,
		     struct reason *why);
int names_face_add(struct tribd *d, struct face *f, const struct names_spec *s,
		   struct reason *why);
int names_face_set(struct tribd *d, const char *face,
		   const struct names_spec *s, struct reason *why);
/* It is there for good: the maps follow. */
void names_face_added(struct tribd *d, struct face *f);
/* May the face go? */
int names_face_del_check(struct tribd *d, const struct face *f,
			 struct reason *why);
/* It goes: rows and subscriptions, too. */
void names_face_del(struct tribd *d, struct face *f);
void names_peer_free(struct tribd *d, struct names_peer *p);

int names_route_new(struct tribd *d, const char *prefix, const char *face,
		    struct reason *why);
/* Those by @f, which goes; only without --names, or it would not. */
void names_routes_drop(struct tribd *d, const struct face *f);
/* The record only, from the state file. */
int names_route_restore(struct tribd *d, const char *prefix, const char *face,
			struct reason *why);
int names_route_del(struct tribd *d, const char *prefix, struct reason *why);
struct route *names_route_find(struct tribd *d, const struct names_name *name);

/* What NAMES_SET changes; NULL and 0: stays. */
struct names_set {
	uint32_t lease_ms, leave_ms;
	const char *marker[NAMES_MARK__MAX];
};

int names_set_check(struct tribd *d, const struct names_set *s,
		    struct reason *why);
int names_set(struct tribd *d, const struct names_set *s, struct reason *why);
/* The record only, after the check. */
void names_set_apply(struct names *n, const struct names_set *s);
/* Times and markers into n->config. */
void names_config_fill(struct names *n);

/* --- names_spec.c: pure */

/* The name that @text says; no marker stands before it. */
int names_parse(const char *text, struct names_name *name, struct reason *why);
/* Its text; of one that makes none, "?". */
const char *names_text(const struct names_name *name, char buf[NAMES_TEXT_MAX]);
bool names_equal(const struct names_name *a, const struct names_name *b);
bool names_below(const struct names_name *prefix, const struct names_name *n);
/* As names_parse(), but refuses what begins with a marker of @n (NULL: none). */
int names_prefix_parse(const struct names *n, const char *text,
		       struct names_name *name, struct reason *why);
int names_marker_parse(const char *text, struct names_marker *m,
		       struct reason *why);
const char *names_marker_text(const struct names_marker *m,
			      char buf[NAMES_TEXT_MAX]);
/* Adds a prefix, or a right to one that is there; "" adds none. */
int names_spec_add(const struct names *n, struct names_spec *s, uint8_t may,
		   const char *text, struct reason *why);
/* @p with what @s changes, in @out (no prefixes of its own). */
int names_spec_apply(const struct names_peer *p, struct names_spec *s,
		     struct reason *why);
/* Bytes of text of a face's prefixes. */
size_t names_prefixes_text(const struct names_prefix *p, unsigned int n);

/* --- names_load.c: the object */

/* Opens, sizes, adopts or not, loads. 0 or -errno, logged. */
int names_load(struct tribd *d);
void names_unload(struct tribd *d);
/* Pins what is new; the configuration last. */
int names_pin(struct tribd *d);
/* Without --names: what a former tribd left stops and goes. */
void names_clear(struct tribd *d);

/* --- names_rows.c: faces and ports in the maps */

/* What an adopted map holds. */
void names_rows_read(struct tribd *d);
/* MAC addresses that a former tribd knew and the kernel has forgotten. */
void names_rows_recall(struct tribd *d);
/* The rows as the faces are now. */
void names_rows_settle(struct tribd *d);
int names_config_store(struct tribd *d);

/* --- names_tables.c: routes and rights in the maps */

/* All of them; what the maps have besides goes. */
int names_tables_write(struct tribd *d);
int names_route_store(struct tribd *d, struct route *r);
void names_route_clear(struct tribd *d, const struct route *r);
/* Of face number @number: @now instead of @old (NULL: none). */
void names_rights_store(struct tribd *d, uint8_t number,
			const struct names_prefix *old, unsigned int nold,
			const struct names_prefix *now, unsigned int nnow);
/* The bits of right_lens. */
uint32_t names_rights_lens(const struct names_peer *p);

/* --- names_walk.c: a map from end to end, in pieces */

struct names_walk;

/* Is it time to count again? */
bool names_used_old(struct names_used *u);

struct names_walk *names_walk_new(int fd, uint32_t key_size,
				  uint32_t value_size, uint32_t entries);
/* 1: a row, valid until the next call; 0: the end; -errno. */
int names_walk_next(struct names_walk *w, const void **key, const void **value);
/* The row of the last call is to come again. Once for each call. */
void names_walk_undo(struct names_walk *w);
void names_walk_free(void *walk);

/* --- names_pit.c: entries of the persistent PIT; alone knows their layout */

struct names_pit_row {
	struct names_name name;
	uint8_t up;
	uint8_t state;	   /* enum trib_pit_state */
	uint64_t acked_ms; /* ages; NAMES_NEVER */
	uint64_t taken_ms;
	uint64_t version;
	uint64_t segment;
	uint64_t live[NAMES_FACE_WORDS];
};

#define NAMES_NEVER UINT64_MAX

struct names_walk *names_pit_walk(struct tribd *d);
/* As names_walk_next(): the next entry below @prefix. */
int names_pit_next(struct tribd *d, struct names_walk *w,
		   const struct names_name *prefix, struct names_pit_row *row);
/* The entry of @name: 0, -ENOENT. */
int names_pit_find(struct tribd *d, const struct names_name *name,
		   struct names_pit_row *row);
int names_pit_forget(struct tribd *d, const struct names_name *name,
		     struct reason *why);
/* Subscriptions and questions of a face whose number gets free. */
void names_pit_forget_face(struct tribd *d, uint8_t number);
/* Entries, as they were at most a second ago. */
uint32_t names_pit_count(struct tribd *d);

/* --- names_cs.c: the cache */

struct names_walk *names_cs_walk(struct tribd *d);
int names_cs_next(struct names_walk *w, const struct names_name *prefix,
		  struct names_name *name, uint32_t *bytes, uint32_t *place);
/* Segments, likewise. */
uint32_t names_cs_count(struct tribd *d);
/* What is below @prefix goes; how many, or -errno. */
int names_cs_wipe(struct tribd *d, const struct names_name *prefix,
		  struct reason *why);
/* Runs names_forget; 0, -EBUSY, -errno. */
int names_forget_run(struct tribd *d, struct names_forget *what);

/* --- names_miss.c: senders that are no face */

int names_miss_init(struct tribd *d);
void names_miss_exit(struct tribd *d);

/* --- names_state.c: in the state file */

/* NULL: @f is nothing to names. */
json_t *names_face_pack(const struct face *f);
int names_face_load(struct tribd *d, const json_t *o, struct names_spec *s,
		    struct reason *why);
/* All but the faces, without routes by the face @gone. */
json_t *names_pack(struct tribd *d, const void *gone);
/* Times and markers: before the faces, whose prefixes they concern. */
int names_restore(struct tribd *d, const json_t *o, struct reason *why);
/* Routes: after the faces. */
int names_routes_restore(struct tribd *d, const json_t *o, struct reason *why);

#endif /* TRIBD_NAMES_H */
