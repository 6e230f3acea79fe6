// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shared pools with live frames: headers towards the next hop, packets that
 * grow, and ports without native XDP.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <string.h>
#include <unistd.h>
#include "tests/bpf/world/live.h"
#include "tests/bpf/world/pool_world.h"
#include "tests/lib/tap.h"

static void live(bool v6, uint16_t vlan0, uint16_t vlan1, int n)
{
	pool_fresh_as(v6, vlan0, vlan1, n);
	live_flush();
}

/*
 * Expect pw.f at the next hop: this relay's addresses, and the rank of the
 * sender.
 */
static void expect_caught_up(int rank)
{
	struct addr to = peer_of(INNER, -1), from = ourselves(INNER, -1);
	uint8_t ip[16];

	if (!expect(live_catch(&pw.f, 3)))
		return;
	expect(!memcmp(pw.f.b, to.mac, 6));
	frame_ip(&pw.f, 0, ip);
	expect(!memcmp(ip, from.ip, 16));
	frame_ip(&pw.f, 1, ip);
	expect(!memcmp(ip, to.ip, 16));
	expect_eq(frame_port(&pw.f, 0), TRIB_UDP_PORT);
	expect_eq(frame_port(&pw.f, 1), to.port);
	expect_eq(frame_vlan(&pw.f, 0), w.vlan[0]);
	expect(frame_sound(&pw.f));
	expect_eq(ntohs(frame_hdr(&pw.f)->child), rank);
	expect_eq(frame_hdr(&pw.f)->flags & TRIB_F_UP, TRIB_F_UP);
}

static void live__rank_survives_the_next_hops_headers(void)
{
	live(false, 0, 0, 16);
	for (int i = 0; i < 3; i++) {
		pool_grad(i, 3, 352, 5);
		live_send(&pw.f, i);
	}
	expect_caught_up(pool_rank(2));
	pw.f.b[6] = 3, pw.f.b[7] = 0x54;
	memcpy(pw.f.b + 8, &(uint32_t){UP(INNER)}, 4);
	pool_expect_sum(0, 2, 352, 15);
	expect_eq(stat_of(TRIB_EGRESS), 1);
}

/* The last packet adds no values and has no room for the sum. */
static void check_grow(void)
{
	pool_grad(0, 3, 352, 5);
	pool_run(0);
	pool_grad(1, 3, 352, 6);
	pool_run(1);
	pool_grad(2, 3, 0, 0);
	live_send(&pw.f, 2);
	expect_caught_up(pool_rank(2));
	pw.f.b[6] = 3, pw.f.b[7] = 0x54;
	memcpy(pw.f.b + 8, &(uint32_t){UP(INNER)}, 4);
	pool_expect_sum(0, 2, 352, 11);
	expect_eq(stat_of(TRIB_TX_GROW), 1);
	expect_eq(stat_of(TRIB_TX_PARTIAL), 1);
	pool_grad(2, 3, 0, 0);
	frame_hdr(&pw.f)->flags |= TRIB_F_RESEND;
	live_send(&pw.f, 2);
	expect_caught_up(pool_rank(2));
	expect_eq(frame_hdr(&pw.f)->flags, TRIB_F_UP | TRIB_F_RESEND);
	expect_eq(the_drop(), -1);
}

static void grow__sum_longer_than_its_packet(void)
{
	live(false, 0, 0, 1);
	check_grow();
	live(true, 0, 0, 16);
	check_grow();
	live(false, 8, 9, 2);
	check_grow();
}

static void grow__all_empty_stays_in_xdp(void)
{
	pool_fresh();
	pool_send_grad(0, 3, 0, 0);
	pool_grad(1, 3, 32, 0); /* zeros, to make room for the sum */
	frame_hdr(&pw.f)->flags |= TRIB_F_EMPTY;
	pool_run(1);
	expect_eq(pool_send_grad(2, 3, 0, 0), XDP_REDIRECT);
	pool_expect_sum(TRIB_F_EMPTY, 2, 0, 0);
	expect_eq(pool_slot(3)->nval, 0);
}

/* The slot changes between the two programs. */
static void gone(int how)
{
	struct trib_pool_slot s;

	pool_fresh();
	pool_send_grad(0, 3, 352, 5);
	pool_send_grad(1, 3, 352, 5);
	expect_eq(pool_send_grad(2, 3, 0, 0), XDP_PASS);
	s = *pool_slot(3);
	if (how == 0)
		s.epoch++;
	else if (how == 1)
		s.chunk += MARKS;
	else if (how == 2)
		s.tree++;
	else if (how == 3)
		s.job++;
	else if (how == 4)
		s.state = TRIB_POOL_COLLECT;
	else
		s.state = TRIB_POOL_FREE;
	pool_slot_put(3, &s);
	expect_eq(run_grow(&pw.f, 2), TC_ACT_SHOT);
	expect_eq(the_drop(), TRIB_DROP_GROW_GONE);
	expect_eq(stat_of(TRIB_EGRESS), 0);
}

static void grow__compares_the_identity_again(void)
{
	for (int how = 0; how < 6; how++)
		gone(how);
}

/* Generic mode: no devmaps, no entries for ports. */
static void generic__clsact_forwards_with_the_number(void)
{
	struct trib_hdr h = pool_hdr(TRIB_T_GRAD, POOL, 0, pool_rank(0), 3);

	live(false, 0, 0, 1);
	group_unmap(UP(INNER));
	h.relay = htons(RELAY + 1);
	h.bmwords = 1;
	pool_values(h, 0, pool_who(0, -1), 32, 3);
	live_send(&pw.f, 0);
	expect_caught_up(pool_rank(0));
	expect_eq(ntohs(frame_hdr(&pw.f)->relay), RELAY + 1);
	expect_eq(frame_hdr(&pw.f)->type, TRIB_T_GRAD);
	expect_eq(frame_hdr(&pw.f)->attempt, 0);
	expect_eq(frame_word(&pw.f, 1), 3);
	expect_eq(the_drop(), -1);
}

static void check_generic_probe(void)
{
	struct addr to = peer_of(INNER, 1);
	struct trib_key key;
	uint8_t ip[16];

	bpf_map_delete_elem(w.ports, &w.ifindex[1]);
	pool_build(1, pool_hdr(TRIB_T_PROBE, POOL, 1, pool_rank(1), 77), NULL, 0);
	live_send(&pw.f, 1);
	if (!expect(live_catch(&pw.f, 1)))
		return;
	frame_ip(&pw.f, 1, ip);
	expect(!memcmp(ip, to.ip, 16));
	expect_eq(frame_port(&pw.f, 1), 40000);
	expect_eq(frame_vlan(&pw.f, 0), w.vlan[0]);
	expect_eq(frame_vlan(&pw.f, 1), w.vlan[1]);
	expect_eq(frame_hdr(&pw.f)->type, TRIB_T_PROBE);
	expect_eq(frame_hdr(&pw.f)->flags, 0);
	expect_eq(ntohs(frame_hdr(&pw.f)->relay), RELAY);
	expect_eq(ntohl(frame_hdr(&pw.f)->chunk), 77);
	expect_eq(frame_hdr(&pw.f)->aux, 0);
	key = world_key(POOL, pool_rank(1));
	expect_eq(frame_hdr(&pw.f)->auth, trib_auth(&key, frame_hdr(&pw.f), NULL, 0));
	expect(frame_sound(&pw.f));
	expect_eq(the_drop(), -1);
}

static void generic__clsact_answers_probes(void)
{
	live(false, 0, 0, 1);
	check_generic_probe();
	live(true, 8, 9, 1);
	check_generic_probe();
}

int main(void)
{
	pool_open();
	live_open();
	run(live__rank_survives_the_next_hops_headers);
	run(grow__sum_longer_than_its_packet);
	run(grow__all_empty_stays_in_xdp);
	run(grow__compares_the_identity_again);
	run(generic__clsact_forwards_with_the_number);
	run(generic__clsact_answers_probes);
	world_close();
	return tap_done();
}
