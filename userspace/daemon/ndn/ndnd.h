/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The NDN forwarder (bpf/ndn.bpf.c): what faces are to it, routes, times,
 * and the maps that follow from them. Records exist with or without --ndn, so
 * that a tribd that runs without saves what it was told before; nothing is
 * loaded then, and requests are refused.
 */
#ifndef TRIBD_NDND_H
#define TRIBD_NDND_H

#include <jansson.h>

#include "daemon/core/stat_text.h"
#include "daemon/face/face.h"
#include "uapi/trib_ndn_maps.h"

/* Rows of ndn_fib and ndn_rights; prefixes of one face, and their text. */
#define NDND_ROUTES_MAX 4096
#define NDND_RIGHTS_MAX 4096
#define NDND_PREFIXES_MAX 64
#define NDND_PREFIXES_TEXT 12288
/* Longest text of a name, with its NUL. */
#define NDND_TEXT_MAX 1024

#define NDND_ENTRIES_MAX (1u << 20)
#define NDND_CACHE_MAX (1u << 16)
#define NDND_CACHE_DEFAULT 1024
#define NDND_LEASE_MS 30000
/* Of the PIT, that one run of a program looks at. */
#define NDND_PART 4096
#define NDND_LEASE_MS_MIN 100
#define NDND_LEASE_MS_MAX (24 * 3600 * 1000)

struct face_spec;
struct nl_msg;
struct nlattr;

/* What a face may do with names below @name. */
struct ndnd_prefix {
	uint8_t may; /* enum ndn_may */
	struct ndn_row_name name;
};

/* What a request or the state file says of a face; see trib.h. */
struct ndnd_spec {
	bool has_kind, has_port, has_subscribe, has_write;
	uint8_t kind; /* enum trib_face_ndn */
	uint16_t port;
	uint16_t number; /* from the state file; 0: a free one */
	unsigned int n;
	struct ndnd_prefix prefix[NDND_PREFIXES_MAX];
};

/* What a face is to names; owned by the face. */
struct ndnd_peer {
	uint8_t kind;
	uint8_t number; /* 1 to 255, in the maps; nobody else's */
	uint16_t port;	/* host order; 0: Ethernet */
	unsigned int routes;
	unsigned int n;
	struct ndnd_prefix *prefix;
};

struct ndnd_route {
	TAILQ_ENTRY(ndnd_route) link;
	struct face *face;
	uint64_t key;
	struct ndn_row_name name;
};

TAILQ_HEAD(ndnd_route_list, ndnd_route);

enum ndnd_map {
	NDND_MAP_CONFIG,
	NDND_MAP_FACES,
	NDND_MAP_FROM,
	NDND_MAP_FIRST,
	NDND_MAP_OUT,
	NDND_MAP_PORTS,
	NDND_MAP_FIB,
	NDND_MAP_RIGHTS,
	NDND_MAP_TAGS,
	NDND_MAP_PIT,
	NDND_MAP_MORE,
	NDND_MAP_ASKS,
	NDND_MAP_NONCES,
	NDND_MAP_CACHE,
	NDND_MAP_FLIGHTS,
	NDND_MAP_MISSES,
	NDND_MAP_STATS,
	NDND_MAP__MAX,
};

enum ndnd_prog {
	NDND_PROG_XDP,
	NDND_PROG_EGRESS,
	NDND_PROG_GROW,
	NDND_PROG_SWEEP,
	NDND_PROG_FORGET,
	NDND_PROG__MAX,
};

/* What the maps hold now, of faces and ports. */
struct ndnd_rows {
	struct ndn_face face[NDN_FACES];
	struct ndn_from from[NDN_FACES]; /* ifindex 0: none */
	uint32_t out[NDN_FACES];	 /* by place; 0: empty */
	/* By number: the port that has it as its first face; 0: none. */
	uint32_t first[NDN_FACES];
};

/* How many rows of a map are used: looked up not too often. */
struct ndnd_used {
	uint64_t at_ns;
	uint32_t rows;
};

struct ndnd {
	bool on;      /* loaded */
	bool adopted; /* with the rows of a former tribd */
	uint32_t entries;
	uint32_t cache;
	uint32_t swept; /* buckets, of the sweep under way */
	uint32_t lease_ms;
	uint32_t leave_ms; /* 0: half of the lease */
	struct ndn_marker marker[NDN_MARK__MAX];
	struct ndnd_route_list routes;
	unsigned int nroutes;
	unsigned int nprefixes;
	struct ndn_config config; /* as in the map */
	struct bpf_object *obj;
	int map[NDND_MAP__MAX];
	int prog[NDND_PROG__MAX];
	struct ndnd_rows rows;
	struct ndnd_used pit_used, cs_used;
	struct timer sweep;
	struct ndnd_misses *misses;
};

/* --- names.c, ndn_route.c: records, and when what happens */

int ndnd_init(struct tribd *d);
void ndnd_exit(struct tribd *d);
/* -EOPNOTSUPP without --ndn. */
int ndnd_need(struct tribd *d, struct reason *why);
/* Faces, ports and maps are there: writes all rows, takes packets. */
int ndnd_start(struct tribd *d);
/* A face or port changed: rows follow. Without --ndn nothing happens. */
void ndnd_settle(struct tribd *d);
/* Starts the sweep anew: the lease has another length. */
void ndnd_sweep_set(struct tribd *d);

/* Faces. The caller saves the state and settles; none of it fails after. */
int ndnd_face_check(struct tribd *d, const struct face_spec *s,
		    struct reason *why);
int ndnd_face_add(struct tribd *d, struct face *f, const struct ndnd_spec *s,
		  struct reason *why);
int ndnd_face_set(struct tribd *d, struct face *f, const struct ndnd_spec *s,
		  struct reason *why);
/* It is there for good: the maps follow. */
void ndnd_face_added(struct tribd *d, struct face *f);
/* May the face go? */
int ndnd_face_del_check(struct tribd *d, const struct face *f,
			struct reason *why);
/* It goes: rows and subscriptions, too. */
void ndnd_face_del(struct tribd *d, struct face *f);
void ndnd_peer_free(struct tribd *d, struct ndnd_peer *p);

int ndnd_route_new(struct tribd *d, const char *prefix, const char *face,
		   struct reason *why);
/* Those by @f, which goes; only without --ndn, or it would not. */
void ndnd_routes_drop(struct tribd *d, const struct face *f);
/* The record only, from the state file. */
int ndnd_route_restore(struct tribd *d, const char *prefix, const char *face,
		       struct reason *why);
int ndnd_route_del(struct tribd *d, const char *prefix, struct reason *why);
struct ndnd_route *ndnd_route_find(struct tribd *d,
				   const struct ndn_row_name *name);

/* What NDN_SET changes; NULL and 0: stays. */
struct ndnd_set {
	uint32_t lease_ms, leave_ms;
	const char *marker[NDN_MARK__MAX];
};

int ndnd_set_check(struct tribd *d, const struct ndnd_set *s,
		   struct reason *why);
int ndnd_set(struct tribd *d, const struct ndnd_set *s, struct reason *why);
/* The record only, after the check. */
void ndnd_set_apply(struct ndnd *fw, const struct ndnd_set *s);
/* Times and markers into n->config. */
void ndnd_config_fill(struct ndnd *fw);

/* --- ndnd_spec.c: pure */

/* The name that @text says; no marker stands before it. */
int ndnd_name_parse(const char *text, struct ndn_row_name *name,
		    struct reason *why);
/* Its text; of one that makes none, "?". */
const char *ndnd_name_text(const struct ndn_row_name *name,
			   char buf[NDND_TEXT_MAX]);
bool ndnd_name_is_equal(const struct ndn_row_name *a,
			const struct ndn_row_name *b);
bool ndnd_name_is_below(const struct ndn_row_name *prefix,
			const struct ndn_row_name *n);
/* As ndnd_name_parse(), but refuses what begins with a marker of @n (NULL: none). */
int ndnd_prefix_parse(const struct ndnd *fw, const char *text,
		      struct ndn_row_name *name, struct reason *why);
int ndnd_marker_parse(const char *text, struct ndn_marker *m,
		      struct reason *why);
const char *ndnd_marker_text(const struct ndn_marker *m,
			     char buf[NDND_TEXT_MAX]);
/* Adds a prefix, or a right to one that is there; "" adds none. */
int ndnd_spec_add(const struct ndnd *fw, struct ndnd_spec *s, uint8_t may,
		  const char *text, struct reason *why);
/* @p with what @s changes, in @out (no prefixes of its own). */
int ndnd_spec_apply(const struct ndnd_peer *p, struct ndnd_spec *s,
		    struct reason *why);
/* Bytes of text of a face's prefixes. */
size_t ndnd_prefixes_text(const struct ndnd_prefix *p, unsigned int n);

/* --- ndnd_load.c: the object */

/* Opens, sizes, adopts or not, loads. 0 or -errno, logged. */
int ndnd_load(struct tribd *d);
void ndnd_unload(struct tribd *d);
/* Pins what is new; the configuration last. */
int ndnd_pin(struct tribd *d);
/* Without --ndn: what a former tribd left stops and goes. */
void ndnd_clear(struct tribd *d);

/* --- ndnd_rows.c: faces and ports in the maps */

/* What an adopted map holds. */
void ndnd_rows_read(struct tribd *d);
/* MAC addresses that a former tribd knew and the kernel has forgotten. */
void ndnd_rows_recall(struct tribd *d);
/* The rows as the faces are now. */
void ndnd_rows_settle(struct tribd *d);
int ndnd_config_store(struct tribd *d);

/* --- ndn_tables.c: routes and rights in the maps */

/* All of them; what the maps have besides goes. */
int ndnd_tables_write(struct tribd *d);
int ndnd_route_store(struct tribd *d, struct ndnd_route *r);
void ndnd_route_clear(struct tribd *d, const struct ndnd_route *r);
/* Of face number @number: @now instead of @old (NULL: none). */
void ndnd_rights_store(struct tribd *d, uint8_t number,
		       const struct ndnd_prefix *old, unsigned int nold,
		       const struct ndnd_prefix *now, unsigned int nnow);
/* The bits of right_lens. */
uint32_t ndnd_rights_lens(const struct ndnd_peer *p);

/* --- ndnd_walk.c: a map from end to end, in pieces */

struct ndnd_walk;

/* Is it time to count again? */
bool ndnd_used_old(struct ndnd_used *u);

struct ndnd_walk *ndnd_walk_new(int fd, uint32_t key_size, uint32_t value_size,
				uint32_t entries);
/* 1: a row, valid until the next call; 0: the end; -errno. */
int ndnd_walk_next(struct ndnd_walk *w, const void **key, const void **value);
/* The row of the last call is to come again. Once for each call. */
void ndnd_walk_undo(struct ndnd_walk *w);
void ndnd_walk_free(void *walk);

/* --- ndn_pit.c: entries of the persistent PIT; alone knows their layout */

struct ndnd_pit_row {
	struct ndn_row_name name;
	uint8_t up;
	uint8_t state;	   /* enum trib_pit_state */
	uint64_t acked_ms; /* ages; NDND_NEVER */
	uint64_t taken_ms;
	uint64_t version;
	uint64_t segment;
	uint64_t live[NDN_FACE_WORDS];
};

#define NDND_NEVER UINT64_MAX

struct ndnd_walk *ndnd_pit_walk(struct tribd *d);
/* As ndnd_walk_next(): the next entry below @prefix. */
int ndnd_pit_next(struct tribd *d, struct ndnd_walk *w,
		  const struct ndn_row_name *prefix, struct ndnd_pit_row *row);
/* The entry of @name: 0, -ENOENT. */
int ndnd_pit_find(struct tribd *d, const struct ndn_row_name *name,
		  struct ndnd_pit_row *row);
int ndnd_pit_forget(struct tribd *d, const struct ndn_row_name *name,
		    struct reason *why);
/* Subscriptions and questions of a face whose number gets free. */
void ndnd_pit_forget_face(struct tribd *d, uint8_t number);
/* Entries, as they were at most a second ago. */
uint32_t ndnd_pit_count(struct tribd *d);

/* --- ndn_cs.c: the cache */

struct ndnd_walk *ndnd_cs_walk(struct tribd *d);
int ndnd_cs_next(struct ndnd_walk *w, const struct ndn_row_name *prefix,
		 struct ndn_row_name *name, uint32_t *bytes, uint32_t *place);
/* Segments, likewise. */
uint32_t ndnd_cs_count(struct tribd *d);
/* What is below @prefix goes; how many, or -errno. */
int ndnd_cs_wipe(struct tribd *d, const struct ndn_row_name *prefix,
		 struct reason *why);
/* Runs ndn_forget; 0, -EBUSY, -errno. */
int ndnd_forget_run(struct tribd *d, struct ndn_forget *what);

/* --- ndnd_stats.c */

/* The counter @id, an enum ndn_stat; NULL: none. Valid until the next call. */
const struct stat_text *ndnd_stat_text(uint32_t id);

/* --- ndn_miss.c: senders that are no face */

int ndnd_miss_init(struct tribd *d);
void ndnd_miss_exit(struct tribd *d);

/* --- ndn_state.c: in the state file */

/* NULL: @f is nothing to names. */
json_t *ndnd_face_pack(const struct face *f);
int ndnd_face_load(struct tribd *d, const json_t *o, struct ndnd_spec *s,
		   struct reason *why);
/* All but the faces, without routes by the face @gone. */
json_t *ndnd_pack(struct tribd *d, const void *gone);
/* Times and markers: before the faces, whose prefixes they concern. */
int ndnd_restore(struct tribd *d, const json_t *o, struct reason *why);
/* Routes: after the faces. */
int ndnd_routes_restore(struct tribd *d, const json_t *o, struct reason *why);

#endif /* TRIBD_NDND_H */
