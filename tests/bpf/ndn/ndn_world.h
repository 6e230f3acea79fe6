/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The NDN forwarder in a network namespace of its own: four ports, a face
 * behind each, and frames that are run through its programs.
 */
#ifndef TEST_NDN_WORLD_H
#define TEST_NDN_WORLD_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ndn/packet/ndn.h"
#include "uapi/trib_errand.h"
#include "uapi/trib_ndn_maps.h"

#define NPORTS 4
#define NFRAME_MAX 4300

/* Faces: an upstream router, three hosts, and one more behind the last port. */
enum { UP = 1, H1, H2, H3, EXTRA, NFACES = EXTRA };

#define LEASE 30000000000ULL
#define LEAVE (LEASE / 2)

/**
 * struct ndn_world - the loaded object
 * @obj:     the object.
 * @ifindex: ports; @peer: their other ends.
 * @npit:    size of the PIT in entries; set before ndn_open().
 * @nnonces: rows of ndn_nonces; set before ndn_open().
 * @nshared: seats that faces share; set before ndn_open().
 * @buckets: of the persistent PIT.
 * @tags, @pit, @more: its three maps, mapped.
 * @errand:  orders that the last ndn_run() left for ndn_send; zeros: none.
 * @config:  copy of the configuration; ndn_configure() stores it.
 */
struct ndn_world {
	struct bpf_object *obj;
	int ifindex[NPORTS], peer[NPORTS];
	int npit, nnonces, nshared, buckets;
	struct ndn_tags *tags;
	struct ndn_entry *pit;
	struct ndn_more *more;
	int xdp, egress, grow, sweep, pass;
	struct ndn_config config;
	struct trib_errand errand;
};

extern struct ndn_world nw;

/* Load everything. Exits with a skip without privileges. */
void ndn_open(void);
int ndn_map(const char *name);
void ndn_configure(void);

/* Kinds of faces; flags. IPv6 and bare Ethernet exclude each other. */
enum ndn_kind { K_V4 = 0, K_V6 = 1, K_ETHER = 2, K_VLAN = 4 };

/*
 * Empty all maps and add faces of @kind: UP is a router with all rights, the
 * others are hosts that may subscribe to /ps. /ps is routed to UP, /gpu to H1,
 * which may write /gpu.
 */
void ndn_reset(int kind);
/* Remove entries and pending Interests only. */
void ndn_empty(void);
struct ndn_face ndn_face(int face);
void ndn_face_put(int face, const struct ndn_face *f);
/* Let a face be a router, which may have all that is shared, until ndn_reset(). */
void ndn_make_router(int face);
int ndn_port_of(int face);
void ndn_route(const char *prefix, int face);
void ndn_right(int face, const char *prefix, uint32_t may);
/* Make the name of a row from text, without its marker. */
struct ndn_row_name ndn_row(const char *name);
uint64_t ndn_world_key(const struct ndn_row_name *name);

/**
 * struct nframe - a frame
 * @b:   its @len bytes.
 * @off: offset of the NDN packet, set by nframe_parse().
 * @n:   its bytes.
 */
struct nframe {
	uint8_t b[NFRAME_MAX];
	int len;
	int off, n;
};

/* Make the frame in which @face sends @n bytes at @ndn. */
void nframe_from(struct nframe *f, int face, const void *ndn, int n);
/* Check headers and checksums of a frame to @face. */
bool nframe_is_for(struct nframe *f, int face);

/**
 * struct ask - fields of an Interest
 * @name:  text.
 * @nonce: 0: a new one each time.
 * @hops:  HopLimit + 1; 0: none.
 * @life:  ms; 0: no InterestLifetime.
 * @pad:   bytes of a padding element.
 */
struct ask {
	const char *name;
	uint32_t nonce;
	int hops;
	int life;
	bool prefix, fresh, no_nonce;
	int pad;
};

/* Build packets. Return: bytes. */
int ndn_make_interest(uint8_t *buf, const struct ask *a);
int ndn_make_data(uint8_t *buf, const char *name, int content);
/* Wrap @n bytes at @buf in a link packet. */
int ndn_make_link(uint8_t *buf, int n, bool nack);

/* Run ndn_xdp on @f at the port of @face; @f becomes the output. */
int ndn_run(struct nframe *f, int face);
/* Run ndn_sweep. */
void ndn_run_sweep(void);

/*
 * Get a static copy of the flight of a frame, by its mark or by the orders of the
 * last ndn_run(). NULL: none.
 */
struct ndn_flight *ndn_flight_of(const struct nframe *f);

uint64_t ndn_stat(int id);
/* Return: the only drop counter that is not 0; -1: none; -2: several. */
int ndn_the_drop(void);
/* Get the part of the shared tables that a face holds; 0: all faces. */
struct ndn_owner ndn_owner(int face);
/* Count the rows of a hash map. */
int ndn_rows(const char *map);
/* Count the used rows of the PIT. */
int ndn_entries(void);
/* Find the row of @name; < 0: none. */
int ndn_entry_row(const char *name);

#endif /* TEST_NDN_WORLD_H */
