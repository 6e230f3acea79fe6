/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ndnd: tribd's half of the NDN forwarder (bpf/ndn.bpf.c): faces, routes, times,
 * and the maps made from them. Without --ndn nothing is loaded and requests are
 * refused, but the records of the state file are kept and saved again.
 */
#ifndef TRIBD_NDND_H
#define TRIBD_NDND_H

#include <jansson.h>

#include "daemon/core/stat_text.h"
#include "daemon/face/face.h"
#include "uapi/trib_ndn_maps.h"

/* Rows of ndn_fib and of ndn_rights; prefixes of a face; bytes of their text. */
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
/* Buckets of the PIT for one run of ndn_sweep or ndn_forget. */
#define NDND_PART 4096
/* Rows that one step of a dump looks at in vain. */
#define NDND_STEP 512
#define NDND_LEASE_MS_MIN 100
#define NDND_LEASE_MS_MAX (24 * 3600 * 1000)

struct face_spec;
struct nl_msg;
struct nlattr;

/* Rights of a face below a prefix. */
struct ndnd_prefix {
	uint8_t may; /* enum ndn_may */
	struct ndn_row_name name;
};

/* NDN attributes of a face in a request or the state file. */
struct ndnd_spec {
	bool has_kind, has_port, has_subscribe, has_write;
	uint8_t kind; /* enum trib_face_ndn */
	uint16_t port;
	uint16_t number; /* from the state file; 0: choose a free one */
	unsigned int n;
	struct ndnd_prefix prefix[NDND_PREFIXES_MAX];
};

/* NDN side of a face, owned by the face. */
struct ndnd_peer {
	uint8_t kind;
	uint8_t number; /* in the maps, 1 to 255, unique */
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
	NDND_MAP_SEATS,
	NDND_MAP_TAKEN,
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

/* Copy of the rows of faces and ports in the maps. */
struct ndnd_rows {
	struct ndn_face face[NDN_FACES];
	struct ndn_from from[NDN_FACES]; /* ifindex 0: none */
	uint32_t out[NDN_FACES];	 /* by place; 0: empty */
	/* By number: ifindex whose first face it is; 0: none. */
	uint32_t first[NDN_FACES];
};

/* Number of used rows of a map. Counting takes at most 2 % of tribd's time. */
struct ndnd_used {
	uint64_t at_ns;
	uint64_t next_ns; /* not counted again before */
	uint32_t rows;
};

struct ndnd {
	bool on;      /* loaded */
	bool adopted; /* the maps of a former tribd */
	uint32_t entries;
	uint32_t cache;
	uint32_t swept; /* buckets done by the sweep under way */
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

/* --- ndnd.c, ndnd_face.c, ndnd_route.c: records and the order of changes */

int ndnd_init(struct tribd *d);
void ndnd_exit(struct tribd *d);
/* Return: 0, or -EOPNOTSUPP without --ndn. */
int ndnd_need(struct tribd *d, struct reason *why);
/* Write all rows and begin to take packets. Faces, ports and maps exist. */
int ndnd_start(struct tribd *d);
/* Update the rows after a change of a face or port. */
void ndnd_settle(struct tribd *d);
/* Restart the timer of the sweep after a change of the lease. */
void ndnd_sweep_set(struct tribd *d);

/* Faces. The caller saves the state and then settles, which cannot fail. */
int ndnd_face_check(struct tribd *d, const struct face_spec *s, struct reason *why);
int ndnd_face_add(struct tribd *d, struct face *f, const struct ndnd_spec *s, struct reason *why);
int ndnd_face_set(struct tribd *d, struct face *f, const struct ndnd_spec *s, struct reason *why);
/* Update the maps after the state with the new face is saved. */
void ndnd_face_added(struct tribd *d, struct face *f);
/* Refuse to delete a face that routes use. */
int ndnd_face_del_check(struct tribd *d, const struct face *f, struct reason *why);
/* Remove rows, routes and subscriptions of a face that is deleted. */
void ndnd_face_del(struct tribd *d, struct face *f);
void ndnd_peer_free(struct tribd *d, struct ndnd_peer *p);

int ndnd_route_new(struct tribd *d, const char *prefix, const char *face, struct reason *why);
/* Delete the routes by @f, whose face is deleted. Without --ndn only. */
void ndnd_routes_drop(struct tribd *d, const struct face *f);
/* Add a record from the state file; writes no map. */
int ndnd_route_restore(struct tribd *d, const char *prefix, const char *face, struct reason *why);
int ndnd_route_del(struct tribd *d, const char *prefix, struct reason *why);
struct ndnd_route *ndnd_route_find(struct tribd *d, const struct ndn_row_name *name);

/* A request to change times and markers; 0 and NULL: keep. */
struct ndnd_set {
	uint32_t lease_ms, leave_ms;
	const char *marker[NDN_MARK__MAX];
};

int ndnd_set_check(struct tribd *d, const struct ndnd_set *s, struct reason *why);
int ndnd_set(struct tribd *d, const struct ndnd_set *s, struct reason *why);
/* Change the record only, after ndnd_set_check(). */
void ndnd_set_apply(struct ndnd *fw, const struct ndnd_set *s);
/* Copy times and markers to fw->config. */
void ndnd_config_fill(struct ndnd *fw);

/* --- ndnd_spec.c: pure */

/* Parse a name. */
int ndnd_name_parse(const char *text, struct ndn_row_name *name, struct reason *why);
/* Write a name as text; "?" if it is malformed. Return: @buf or a constant. */
const char *ndnd_name_text(const struct ndn_row_name *name, char buf[NDND_TEXT_MAX]);
bool ndnd_name_is_equal(const struct ndn_row_name *a, const struct ndn_row_name *b);
bool ndnd_name_is_below(const struct ndn_row_name *prefix, const struct ndn_row_name *n);
/* Parse a prefix, which must not begin with a marker of @n (NULL: any). */
int ndnd_prefix_parse(const struct ndnd *fw, const char *text, struct ndn_row_name *name,
		      struct reason *why);
int ndnd_marker_parse(const char *text, struct ndn_marker *m, struct reason *why);
const char *ndnd_marker_text(const struct ndn_marker *m, char buf[NDND_TEXT_MAX]);
/* Add rights @may below prefix @text to @s; "" adds nothing. */
int ndnd_spec_add(const struct ndnd *fw, struct ndnd_spec *s, uint8_t may, const char *text,
		  struct reason *why);
/* Complete @s by what it keeps of @p (NULL: none), and check it. */
int ndnd_spec_apply(const struct ndnd_peer *p, struct ndnd_spec *s, struct reason *why);
/* Bytes of the prefixes as text. */
size_t ndnd_prefixes_text(const struct ndnd_prefix *p, unsigned int n);

/* --- ndnd_load.c: the object */

/*
 * Load the programs, with pinned maps if they fit; touch nothing that runs. Return:
 * 0, or -errno, logged.
 */
int ndnd_load(struct tribd *d);
void ndnd_unload(struct tribd *d);
/* Pin new maps, the configuration last, in place of those that did not fit. */
int ndnd_pin(struct tribd *d);
/* Without --ndn: stop and remove the forwarder of a former tribd. */
void ndnd_clear(struct tribd *d);

/* --- ndnd_rows.c: faces and ports in the maps */

/* Read the rows of adopted maps. */
void ndnd_rows_read(struct tribd *d);
/* Take MAC addresses from adopted rows that the kernel has forgotten. */
void ndnd_rows_recall(struct tribd *d);
/* Make the rows agree with the faces. */
void ndnd_rows_settle(struct tribd *d);
int ndnd_config_store(struct tribd *d);

/* --- ndnd_tables.c: routes and rights in the maps */

/* Write all rows and delete others. */
int ndnd_tables_write(struct tribd *d);
int ndnd_route_store(struct tribd *d, struct ndnd_route *r);
void ndnd_route_clear(struct tribd *d, const struct ndnd_route *r);
/* Replace the rights @old of face number @number by @now; NULL: none. */
void ndnd_rights_store(struct tribd *d, uint8_t number, const struct ndnd_prefix *old,
		       unsigned int nold, const struct ndnd_prefix *now, unsigned int nnow);
/* Compute &ndn_face.right_lens. */
uint32_t ndnd_rights_lens(const struct ndnd_peer *p);

/* --- ndnd_walk.c: a map from end to end, in pieces */

struct ndnd_walk;

/* Is a count of rows old? Then the caller counts again, between these two calls. */
bool ndnd_used_begin(struct ndnd_used *u);
void ndnd_used_end(struct ndnd_used *u);

struct ndnd_walk *ndnd_walk_new(int fd, uint32_t key_size, uint32_t value_size, uint32_t entries);
/* Get the next row, valid until the next call. Return: 1; 0: end; -errno. */
int ndnd_walk_next(struct ndnd_walk *w, const void **key, const void **value);
/* Let the next call return the same row again; once per call. */
void ndnd_walk_undo(struct ndnd_walk *w);
void ndnd_walk_free(void *walk);

/* --- ndnd_pit.c: entries of the PIT; no other file knows their layout */

struct ndnd_pit_row {
	struct ndn_row_name name;
	uint8_t up;
	uint8_t state;	   /* enum trib_pit_state */
	uint64_t acked_ms; /* ages, or NDND_NEVER */
	uint64_t taken_ms;
	uint64_t version;
	uint64_t segment;
	uint64_t live[NDN_FACE_WORDS];
};

#define NDND_NEVER UINT64_MAX

struct ndnd_walk *ndnd_pit_walk(struct tribd *d);
/*
 * Get the next entry below @prefix. Return: as ndnd_walk_next(), or -EAGAIN after
 * NDND_STEP rows without one: the next call goes on.
 */
int ndnd_pit_next(struct tribd *d, struct ndnd_walk *w, const struct ndn_row_name *prefix,
		  struct ndnd_pit_row *row);
/* Find the entry of @name. Return: 0 or -ENOENT. */
int ndnd_pit_find(struct tribd *d, const struct ndn_row_name *name, struct ndnd_pit_row *row);
int ndnd_pit_forget(struct tribd *d, const struct ndn_row_name *name, struct reason *why);
/* Remove all traces of a face, so that its number can be used again. */
void ndnd_pit_forget_face(struct tribd *d, uint8_t number);
/* Count entries; the count may be a few seconds old. */
uint32_t ndnd_pit_count(struct tribd *d);

/* --- ndnd_cs.c: the cache */

struct ndnd_walk *ndnd_cs_walk(struct tribd *d);
/* Get the next segment below @prefix. Return: as ndnd_pit_next(). */
int ndnd_cs_next(struct ndnd_walk *w, const struct ndn_row_name *prefix, struct ndn_row_name *name,
		 uint32_t *bytes, uint32_t *place);
/* Count segments; the count may be a few seconds old. */
uint32_t ndnd_cs_count(struct tribd *d);
/* Remove segments below @prefix. Return: how many, or -errno. */
int ndnd_cs_wipe(struct tribd *d, const struct ndn_row_name *prefix, struct reason *why);
/* Run ndn_forget. Return: 0, -EBUSY (row locked), -errno. */
int ndnd_forget_run(struct tribd *d, struct ndn_forget *what);

/* --- ndnd_stats.c */

/* Describe counter @id, an enum ndn_stat. NULL: unused number. Valid until the next call. */
const struct stat_text *ndnd_stat_text(uint32_t id);

/* --- ndnd_miss.c: log of unknown senders */

int ndnd_miss_init(struct tribd *d);
void ndnd_miss_exit(struct tribd *d);

/* --- ndnd_state.c: the state file */

/* Make the NDN part of a face. Return: NULL if it has none. */
json_t *ndnd_face_pack(const struct face *f);
int ndnd_face_load(struct tribd *d, const json_t *o, struct ndnd_spec *s, struct reason *why);
/* Make the part besides faces, without routes by face @gone. */
json_t *ndnd_pack(struct tribd *d, const void *gone);
/* Read times and markers; before the faces, whose prefixes need them. */
int ndnd_restore(struct tribd *d, const json_t *o, struct reason *why);
/* Read routes; after the faces. */
int ndnd_routes_restore(struct tribd *d, const json_t *o, struct reason *why);

#endif /* TRIBD_NDND_H */
