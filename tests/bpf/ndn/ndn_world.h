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
 * @npit:    entries that there is room for; set before ndn_open().
 * @nnonces: places of ndn_nonces, likewise.
 * @buckets: of the persistent PIT.
 * @tags:    its three maps, as they are; @pit, @more.
 * @config:  as it is now; ndn_configure() puts it there.
 */
struct ndn_world {
	struct bpf_object *obj;
	int ifindex[NPORTS], peer[NPORTS];
	int npit, nnonces, buckets;
	struct ndn_tags *tags;
	struct ndn_entry *pit;
	struct ndn_more *more;
	int xdp, egress, grow, sweep, pass;
	struct ndn_config config;
};

extern struct ndn_world nw;

/* Exits with a skip without privileges. */
void ndn_open(void);
int ndn_map(const char *name);
void ndn_configure(void);

/* Kinds of faces; flags. IPv6 and bare Ethernet exclude each other. */
enum ndn_kind { K_V4 = 0, K_V6 = 1, K_ETHER = 2, K_VLAN = 4 };

/*
 * All maps empty; faces of @kind: UP is a router and may all, the others are
 * hosts that may subscribe to /ps and write nothing. Route /ps leads to UP,
 * /gpu to H1, which may write /gpu.
 */
void ndn_reset(int kind);
/* Only what packets leave behind: entries, asks. */
void ndn_empty(void);
struct ndn_face ndn_face(int face);
void ndn_face_put(int face, const struct ndn_face *f);
int ndn_port_of(int face);
void ndn_route(const char *prefix, int face);
void ndn_right(int face, const char *prefix, uint32_t may);
/* A name as rows have it, without the marker that it may begin with. */
struct ndn_row_name ndn_row(const char *name);
uint64_t ndn_world_key(const struct ndn_row_name *name);

/**
 * struct nframe - a frame
 * @b:   its @len bytes.
 * @off: where the NDN packet begins, by nframe_parse().
 * @n:   its bytes.
 */
struct nframe {
	uint8_t b[NFRAME_MAX];
	int len;
	int off, n;
};

/* @n bytes at @ndn, as they come in from @face. */
void nframe_from(struct nframe *f, int face, const void *ndn, int n);
/* Has @f all headers of a frame that leaves for @face, and right sums? */
bool nframe_is_for(struct nframe *f, int face);

/**
 * struct ask - what an Interest is made of
 * @name:  text.
 * @nonce: 0: another each time.
 * @hops:  HopLimit + 1; 0: none.
 * @life:  ms; 0: none given.
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

/* Build; return: bytes. */
int ndn_make_interest(uint8_t *buf, const struct ask *a);
int ndn_make_data(uint8_t *buf, const char *name, int content);
/* Around @n bytes at @buf. */
int ndn_make_link(uint8_t *buf, int n, bool nack);

/* Run ndn_xdp on @f at the port of @face; @f becomes what it left. */
int ndn_run(struct nframe *f, int face);
/* The sweep. */
void ndn_run_sweep(void);

/* The frame in flight: to whom; NULL: it is none. A copy, static. */
struct ndn_flight *ndn_flight_of(const struct nframe *f);

uint64_t ndn_stat(int id);
/* The only drop counter that is not 0; -1: none; -2: several. */
int ndn_the_drop(void);
/* Rows of a hash map. */
int ndn_rows(const char *map);
/* Rows of the persistent PIT that are used. */
int ndn_entries(void);
/* That of @name; less than 0: there is none. */
int ndn_entry_row(const char *name);

#endif /* TEST_NDN_WORLD_H */
