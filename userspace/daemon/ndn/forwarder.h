/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The NDN forwarder (bpf/ndn.bpf.c): what faces are to it, routes, times,
 * and the maps that follow from them. Records exist with or without --ndn, so
 * that a tribd that runs without saves what it was told before; nothing is
 * loaded then, and requests are refused.
 */
#ifndef TRIBD_NDN_H
#define TRIBD_NDN_H

#include <jansson.h>

#include "daemon/tribd.h"
#include "uapi/trib_ndn_maps.h"

/* Rows of ndn_fib and ndn_rights; prefixes of one face, and their text. */
#define NDN_ROUTES_MAX 4096
#define NDN_RIGHTS_MAX 4096
#define NDN_PREFIXES_MAX 64
#define NDN_PREFIXES_TEXT 12288
/* Longest text of a name, with its NUL. */
#define NDN_TEXT_MAX 1024

#define NDN_ENTRIES_MAX (1u << 20)
#define NDN_CACHE_MAX (1u << 16)
#define NDN_CACHE_DEFAULT 1024
#define NDN_LEASE_MS 30000
/* Of the PIT, that one run of a program looks at. */
#define NDN_PART 4096
#define NDN_LEASE_MS_MIN 100
#define NDN_LEASE_MS_MAX (24 * 3600 * 1000)

struct face_spec;
struct nl_msg;
struct nlattr;

/* What a face may do with names below @name. */
struct ndn_prefix {
	uint8_t may; /* enum ndn_may */
	struct ndn_row_name name;
};

/* What a request or the state file says of a face; see trib.h. */
struct ndn_spec {
	bool has_kind, has_port, has_subscribe, has_write;
	uint8_t kind; /* enum trib_face_ndn */
	uint16_t port;
	uint16_t number; /* from the state file; 0: a free one */
	unsigned int n;
	struct ndn_prefix prefix[NDN_PREFIXES_MAX];
};

/* What a face is to names; owned by the face. */
struct ndn_peer {
	uint8_t kind;
	uint8_t number; /* 1 to 255, in the maps; nobody else's */
	uint16_t port;	/* host order; 0: Ethernet */
	unsigned int routes;
	unsigned int n;
	struct ndn_prefix *prefix;
};

struct route {
	TAILQ_ENTRY(route) link;
	struct face *face;
	uint64_t key;
	struct ndn_row_name name;
};

TAILQ_HEAD(route_list, route);

enum ndn_map {
	NMAP_CONFIG,
	NMAP_FACES,
	NMAP_FROM,
	NMAP_FIRST,
	NMAP_OUT,
	NMAP_PORTS,
	NMAP_FIB,
	NMAP_RIGHTS,
	NMAP_TAGS,
	NMAP_PIT,
	NMAP_MORE,
	NMAP_ASKS,
	NMAP_NONCES,
	NMAP_CACHE,
	NMAP_FLIGHTS,
	NMAP_MISSES,
	NMAP_STATS,
	NMAP__MAX,
};

enum ndn_prog {
	NPROG_XDP,
	NPROG_EGRESS,
	NPROG_GROW,
	NPROG_SWEEP,
	NPROG_FORGET,
	NPROG__MAX,
};

/* What the maps hold now, of faces and ports. */
struct ndn_rows {
	struct ndn_face face[NDN_FACES];
	struct ndn_from from[NDN_FACES]; /* ifindex 0: none */
	uint32_t out[NDN_FACES];	 /* by place; 0: empty */
	/* By number: the port that has it as its first face; 0: none. */
	uint32_t first[NDN_FACES];
};

/* How many rows of a map are used: looked up not too often. */
struct ndn_used {
	uint64_t at_ns;
	uint32_t rows;
};

struct ndn {
	bool on;      /* loaded */
	bool adopted; /* with the rows of a former tribd */
	uint32_t entries;
	uint32_t cache;
	uint32_t swept; /* buckets, of the sweep under way */
	uint32_t lease_ms;
	uint32_t leave_ms; /* 0: half of the lease */
	struct ndn_marker marker[NDN_MARK__MAX];
	struct route_list routes;
	unsigned int nroutes;
	unsigned int nprefixes;
	struct ndn_config config; /* as in the map */
	struct bpf_object *obj;
	int map[NMAP__MAX];
	int prog[NPROG__MAX];
	struct ndn_rows rows;
	struct ndn_used pit_used, cs_used;
	struct timer sweep;
	struct ndn_misses *misses;
};

/* --- names.c, ndn_route.c: records, and when what happens */

int ndn_init(struct tribd *d);
void ndn_exit(struct tribd *d);
/* -EOPNOTSUPP without --ndn. */
int ndn_need(struct tribd *d, struct reason *why);
/* Faces, ports and maps are there: writes all rows, takes packets. */
int ndn_start(struct tribd *d);
/* A face or port changed: rows follow. Without --ndn nothing happens. */
void ndn_settle(struct tribd *d);
/* Starts the sweep anew: the lease has another length. */
void ndn_sweep_set(struct tribd *d);

/* Faces. The caller saves the state and settles; none of it fails after. */
int ndn_face_check(struct tribd *d, const struct face_spec *s,
		   struct reason *why);
int ndn_face_add(struct tribd *d, struct face *f, const struct ndn_spec *s,
		 struct reason *why);
int ndn_face_set(struct tribd *d, struct face *f, const struct ndn_spec *s,
		 struct reason *why);
/* It is there for good: the maps follow. */
void ndn_face_added(struct tribd *d, struct face *f);
/* May the face go? */
int ndn_face_del_check(struct tribd *d, const struct face *f,
		       struct reason *why);
/* It goes: rows and subscriptions, too. */
void ndn_face_del(struct tribd *d, struct face *f);
void ndn_peer_free(struct tribd *d, struct ndn_peer *p);

int ndn_route_new(struct tribd *d, const char *prefix, const char *face,
		  struct reason *why);
/* Those by @f, which goes; only without --ndn, or it would not. */
void ndn_routes_drop(struct tribd *d, const struct face *f);
/* The record only, from the state file. */
int ndn_route_restore(struct tribd *d, const char *prefix, const char *face,
		      struct reason *why);
int ndn_route_del(struct tribd *d, const char *prefix, struct reason *why);
struct route *ndn_route_find(struct tribd *d, const struct ndn_row_name *name);

/* What NDN_SET changes; NULL and 0: stays. */
struct ndn_set {
	uint32_t lease_ms, leave_ms;
	const char *marker[NDN_MARK__MAX];
};

int ndn_set_check(struct tribd *d, const struct ndn_set *s, struct reason *why);
int ndn_set(struct tribd *d, const struct ndn_set *s, struct reason *why);
/* The record only, after the check. */
void ndn_set_apply(struct ndn *n, const struct ndn_set *s);
/* Times and markers into n->config. */
void ndn_config_fill(struct ndn *n);

/* --- ndn_spec.c: pure */

/* The name that @text says; no marker stands before it. */
int ndn_parse(const char *text, struct ndn_row_name *name, struct reason *why);
/* Its text; of one that makes none, "?". */
const char *ndn_text(const struct ndn_row_name *name, char buf[NDN_TEXT_MAX]);
bool ndn_equal(const struct ndn_row_name *a, const struct ndn_row_name *b);
bool ndn_below(const struct ndn_row_name *prefix, const struct ndn_row_name *n);
/* As ndn_parse(), but refuses what begins with a marker of @n (NULL: none). */
int ndn_prefix_parse(const struct ndn *n, const char *text,
		     struct ndn_row_name *name, struct reason *why);
int ndn_marker_parse(const char *text, struct ndn_marker *m,
		     struct reason *why);
const char *ndn_marker_text(const struct ndn_marker *m, char buf[NDN_TEXT_MAX]);
/* Adds a prefix, or a right to one that is there; "" adds none. */
int ndn_spec_add(const struct ndn *n, struct ndn_spec *s, uint8_t may,
		 const char *text, struct reason *why);
/* @p with what @s changes, in @out (no prefixes of its own). */
int ndn_spec_apply(const struct ndn_peer *p, struct ndn_spec *s,
		   struct reason *why);
/* Bytes of text of a face's prefixes. */
size_t ndn_prefixes_text(const struct ndn_prefix *p, unsigned int n);

/* --- ndn_load.c: the object */

/* Opens, sizes, adopts or not, loads. 0 or -errno, logged. */
int ndn_load(struct tribd *d);
void ndn_unload(struct tribd *d);
/* Pins what is new; the configuration last. */
int ndn_pin(struct tribd *d);
/* Without --ndn: what a former tribd left stops and goes. */
void ndn_clear(struct tribd *d);

/* --- ndn_rows.c: faces and ports in the maps */

/* What an adopted map holds. */
void ndn_rows_read(struct tribd *d);
/* MAC addresses that a former tribd knew and the kernel has forgotten. */
void ndn_rows_recall(struct tribd *d);
/* The rows as the faces are now. */
void ndn_rows_settle(struct tribd *d);
int ndn_config_store(struct tribd *d);

/* --- ndn_tables.c: routes and rights in the maps */

/* All of them; what the maps have besides goes. */
int ndn_tables_write(struct tribd *d);
int ndn_route_store(struct tribd *d, struct route *r);
void ndn_route_clear(struct tribd *d, const struct route *r);
/* Of face number @number: @now instead of @old (NULL: none). */
void ndn_rights_store(struct tribd *d, uint8_t number,
		      const struct ndn_prefix *old, unsigned int nold,
		      const struct ndn_prefix *now, unsigned int nnow);
/* The bits of right_lens. */
uint32_t ndn_rights_lens(const struct ndn_peer *p);

/* --- ndn_walk.c: a map from end to end, in pieces */

struct ndn_walk;

/* Is it time to count again? */
bool ndn_used_old(struct ndn_used *u);

struct ndn_walk *ndn_walk_new(int fd, uint32_t key_size, uint32_t value_size,
			      uint32_t entries);
/* 1: a row, valid until the next call; 0: the end; -errno. */
int ndn_walk_next(struct ndn_walk *w, const void **key, const void **value);
/* The row of the last call is to come again. Once for each call. */
void ndn_walk_undo(struct ndn_walk *w);
void ndn_walk_free(void *walk);

/* --- ndn_pit.c: entries of the persistent PIT; alone knows their layout */

struct ndn_pit_row {
	struct ndn_row_name name;
	uint8_t up;
	uint8_t state;	   /* enum trib_pit_state */
	uint64_t acked_ms; /* ages; NDN_NEVER */
	uint64_t taken_ms;
	uint64_t version;
	uint64_t segment;
	uint64_t live[NDN_FACE_WORDS];
};

#define NDN_NEVER UINT64_MAX

struct ndn_walk *ndn_pit_walk(struct tribd *d);
/* As ndn_walk_next(): the next entry below @prefix. */
int ndn_pit_next(struct tribd *d, struct ndn_walk *w,
		 const struct ndn_row_name *prefix, struct ndn_pit_row *row);
/* The entry of @name: 0, -ENOENT. */
int ndn_pit_find(struct tribd *d, const struct ndn_row_name *name,
		 struct ndn_pit_row *row);
int ndn_pit_forget(struct tribd *d, const struct ndn_row_name *name,
		   struct reason *why);
/* Subscriptions and questions of a face whose number gets free. */
void ndn_pit_forget_face(struct tribd *d, uint8_t number);
/* Entries, as they were at most a second ago. */
uint32_t ndn_pit_count(struct tribd *d);

/* --- ndn_cs.c: the cache */

struct ndn_walk *ndn_cs_walk(struct tribd *d);
int ndn_cs_next(struct ndn_walk *w, const struct ndn_row_name *prefix,
		struct ndn_row_name *name, uint32_t *bytes, uint32_t *place);
/* Segments, likewise. */
uint32_t ndn_cs_count(struct tribd *d);
/* What is below @prefix goes; how many, or -errno. */
int ndn_cs_wipe(struct tribd *d, const struct ndn_row_name *prefix,
		struct reason *why);
/* Runs ndn_forget; 0, -EBUSY, -errno. */
int ndn_forget_run(struct tribd *d, struct ndn_forget *what);

/* --- ndn_miss.c: senders that are no face */

int ndn_miss_init(struct tribd *d);
void ndn_miss_exit(struct tribd *d);

/* --- ndn_state.c: in the state file */

/* NULL: @f is nothing to names. */
json_t *ndn_face_pack(const struct face *f);
int ndn_face_load(struct tribd *d, const json_t *o, struct ndn_spec *s,
		  struct reason *why);
/* All but the faces, without routes by the face @gone. */
json_t *ndn_pack(struct tribd *d, const void *gone);
/* Times and markers: before the faces, whose prefixes they concern. */
int ndn_restore(struct tribd *d, const json_t *o, struct reason *why);
/* Routes: after the faces. */
int ndn_routes_restore(struct tribd *d, const json_t *o, struct reason *why);

#endif /* TRIBD_NDN_H */
