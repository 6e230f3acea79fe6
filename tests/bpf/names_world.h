/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names forwarder in a network namespace of its own: four ports, a face
 * behind each, and frames that are run through its programs.
 */
#ifndef TEST_NAMES_WORLD_H
#define TEST_NAMES_WORLD_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "userspace/ndn/ndn.h"
#include "uapi/trib_names.h"

#define NPORTS 4
#define NFRAME_MAX 4300

/* Faces: an upstream router, three hosts, and one more behind the last port. */
enum { UP = 1, H1, H2, H3, EXTRA, NFACES = EXTRA };

#define LEASE 30000000000ULL
#define LEAVE (LEASE / 2)

/**
 * struct names_world - the loaded object
 * @obj:     the object.
 * @ifindex: ports; @peer: their other ends.
 * @npit:    entries that there is room for; set before names_open().
 * @nnonces: places of names_nonces, likewise.
 * @buckets: of the persistent PIT.
 * @tags:    its three maps, as they are; @pit, @more.
 * @config:  as it is now; names_configure() puts it there.
 */
struct names_world {
	struct bpf_object *obj;
	int ifindex[NPORTS], peer[NPORTS];
	int npit, nnonces, buckets;
	struct names_tags *tags;
	struct names_entry *pit;
	struct names_more *more;
	int xdp, egress, grow, sweep, pass;
	struct names_config config;
};

extern struct names_world nw;

/* Exits with a skip without privileges. */
void names_open(void);
int names_map(const char *name);
void names_configure(void);

/* What the faces are; any combination but IPv6 over Ethernet alone. */
enum names_kind { K_V4 = 0, K_V6 = 1, K_ETHER = 2, K_VLAN = 4 };

/*
 * All maps empty; faces of @kind: UP is a router and may all, the others are
 * hosts that may subscribe to /ps and write nothing. Route /ps leads to UP,
 * /gpu to H1, which may write /gpu.
 */
void names_reset(int kind);
/* Only what packets leave behind: entries, asks. */
void names_empty(void);
struct names_face names_face(int face);
void names_face_put(int face, const struct names_face *f);
int names_port_of(int face);
void names_route(const char *prefix, int face);
void names_right(int face, const char *prefix, uint32_t may);
/* A name as rows have it, without the marker that it may begin with. */
struct names_name names_row(const char *name);
uint64_t names_key(const struct names_name *name);

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

/* Run names_xdp on @f at the port of @face; @f becomes what it left. */
int names_run(struct nframe *f, int face);
/* The sweep. */
void names_run_sweep(void);

/* The frame in flight: to whom; NULL: it is none. A copy, static. */
struct names_flight *names_flight_of(const struct nframe *f);

uint64_t names_stat(int id);
/* The only drop counter that is not 0; -1: none; -2: several. */
int names_the_drop(void);
/* Rows of a hash map. */
int names_rows(const char *map);
/* Rows of the persistent PIT that are used. */
int names_entries(void);
/* That of @name; less than 0: there is none. */
int names_entry_row(const char *name);

#endif /* TEST_NAMES_WORLD_H */
