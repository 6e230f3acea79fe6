// SPDX-License-Identifier: BSD-2-Clause
/* A leaf whose XDP program sends for its rank; see reflex_world.h. */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>
#include "reflex_world.h"

#define DPORT 7499 /* not that of RESULTs */

static const struct addr us = {
	.mac = {2, 9, 9, 9, 9, 9},
	.port = 7420,
};

/* The rank's own address: not the one that RESULTs are sent to. */
static void our_ip(uint8_t ip[16])
{
	struct addr a = ourselves(LEAF, -1);

	memcpy(ip, a.ip, 16);
	ip[15] = 77;
}

static uint64_t our_secret(void)
{
	struct trib_key key = world_key(LEAF, REFLEX_CHILD);

	return trib_key_secret(&key);
}

void reflex_row(uint64_t auth, int nrank)
{
	struct trib_deliver d = {
		.cell_mask = SLOTS - 1,
		.nrank = nrank,
		.ring = {1},
		.reflex = {.auth = auth,
			   .sport = htons(us.port),
			   .dport = htons(DPORT),
			   .child = htons(REFLEX_CHILD)},
	};

	memcpy(d.reflex.smac, us.mac, 6);
	our_ip((uint8_t *)d.reflex.saddr);
	bpf_map_update_elem(w.delivers, &(int){1}, &d, 0);
}

void reflex_reset(bool v6, uint16_t vlan0, uint16_t vlan1)
{
	world_reset_as(v6, vlan0, vlan1);
	reflex_row(our_secret(), 1);
	desk()->dist = WINDOW;
}

struct trib_hdr reflex_nonsense(uint8_t op, uint8_t fmt, int nval)
{
	struct trib_hdr h;

	memset(&h, 0xa5, sizeof(h));
	h.flags = 0;
	h.op = op;
	h.fmt = fmt;
	h.nm = 0;
	h.nval = htons(nval);
	h.scale = htonl(-7);
	return h;
}

void reflex_ready_as(uint32_t chunk, struct trib_hdr h, uint64_t word)
{
	struct trib_cell *c = cell_of(chunk);

	c->h = h;
	for (int i = 0; i < w.nval / 2; i++)
		c->v[i] = word;
	cell_set(chunk, TRIB_CELL_READY);
}

void reflex_ready(uint32_t chunk, int nval, uint64_t word)
{
	struct trib_hdr h = reflex_nonsense(TRIB_WOP_ADD, TRIB_FMT_Q32, nval);

	if (!nval)
		h.flags = TRIB_F_EMPTY;
	reflex_ready_as(chunk, h, word);
}

struct trib_hdr reflex_expected(uint32_t chunk, struct trib_hdr h)
{
	struct trib_hdr want = {
		.version = TRIB_WIRE_VERSION,
		.type = TRIB_T_GRAD,
		.flags = (h.flags & (TRIB_F_PUSH | TRIB_F_EMPTY | TRIB_F_MASK | TRIB_F_HEAD)) |
			 TRIB_F_UP,
		.op = h.op,
		.fmt = h.fmt,
		.nm = h.nm,
		.job = htons(JOB),
		.tree = htons(LEAF),
		.child = htons(REFLEX_CHILD),
		.chunk = htonl(chunk),
		.epoch = htonl(EPOCH),
		.nval = h.nval,
		.scale = h.scale,
		.auth = our_secret(),
	};

	return want;
}

const char *reflex_wrong(struct frame *f, const struct trib_hdr *h)
{
	struct addr to = peer_of(LEAF, -1);
	uint8_t ip[16], ours[16];

	if (!frame_parse(f) || !frame_sound(f))
		return "headers below ours";
	if (f->v6 != w.v6)
		return "IP version";
	if (memcmp(f->b, to.mac, 6) || memcmp(f->b + 6, us.mac, 6))
		return "MAC addresses";
	our_ip(ours);
	frame_ip(f, 0, ip);
	if (memcmp(ip, ours, 16))
		return "source address";
	frame_ip(f, 1, ip);
	if (memcmp(ip, to.ip, 16))
		return "destination address";
	if (frame_port(f, 0) != us.port || frame_port(f, 1) != DPORT)
		return "UDP ports";
	if (frame_vlan(f, 0) != w.vlan[0] || frame_vlan(f, 1) != w.vlan[1])
		return "tags";
	if (memcmp(frame_hdr(f), h, sizeof(*h)))
		return "our header";
	return NULL;
}
