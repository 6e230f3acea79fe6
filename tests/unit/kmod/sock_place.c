/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of places: valid ones, and each possible error. */
#include <arpa/inet.h>
#include <string.h>

#include "sock/check/place.h"
#include "tests/lib/tap.h"

static struct trib_attach_rep rep;

static void set_v4(__be32 *addr, const char *text)
{
	memset(addr, 0, 16);
	addr[2] = htonl(0xffff);
	inet_pton(AF_INET, text, &addr[3]);
}

static void set_v6(__be32 *addr, const char *text)
{
	inet_pton(AF_INET6, text, addr);
}

/* Two trees with own slots, or with @shared one tree with two relays. */
static void good(bool shared)
{
	unsigned int i;

	memset(&rep, 0, sizeof(rep));
	rep.world = 4;
	rep.rank = 1;
	rep.ntree = shared ? 1 : 2;
	rep.nval = 352;
	rep.window = 256;
	for (i = 0; i < rep.ntree; i++) {
		set_v4(rep.tree[i].addr, "10.0.0.1");
		rep.tree[i].port = 7417;
		rep.tree[i].recv_port = 7418;
		rep.tree[i].tree = (__u16)(i + 1);
		rep.tree[i].child = 1;
	}
	if (!shared)
		return;
	rep.tree[0].flags = TRIB_ATTACH_SHARED;
	rep.tree[0].nhop = 2;
	for (i = 0; i < 2; i++) {
		set_v4(rep.tree[0].hop[i].addr, "10.0.0.2");
		rep.tree[0].hop[i].port = 7417;
		rep.tree[0].hop[i].relay = (__u16)(i + 1);
	}
}

static size_t whole(void)
{
	return trib_place_len(rep.ntree);
}

#define right() expect(!trib_place_wrong(&rep, whole()))
#define wrong() expect(trib_place_wrong(&rep, whole()))

static void place__valid_ones_pass(void)
{
	good(false);
	right();
	rep.window = rep.nval = 0;
	right();
	rep.rank = 3;
	rep.fmt = TRIB_FMT_BF16;
	right();
	expect(!trib_place_wrong(&rep, sizeof(rep)));
	good(true);
	right();
	good(false);
	set_v6(rep.tree[0].addr, "fe80::1");
	set_v6(rep.tree[0].local_addr, "fe80::2");
	set_v6(rep.tree[0].mcast_addr, "ff02::7");
	set_v4(rep.tree[1].local_addr, "10.0.0.9");
	set_v4(rep.tree[1].mcast_addr, "239.0.0.1");
	right();
}

static void place__length_must_hold_its_trees(void)
{
	good(false);
	expect(trib_place_wrong(&rep, whole() - 1));
	expect(trib_place_wrong(&rep, 0));
	expect(trib_place_wrong(&rep, offsetof(struct trib_attach_rep, tree)));
	rep.ntree = 0;
	expect(trib_place_wrong(&rep, sizeof(rep)));
	rep.ntree = TRIB_ATTACH_TREES + 1;
	expect(trib_place_wrong(&rep, sizeof(rep)));
	rep.ntree = 65535;
	expect(trib_place_wrong(&rep, sizeof(rep)));
}

static void place__head_is_checked(void)
{
	good(false);
	rep.err = 1;
	wrong();
	good(false);
	rep.flags = TRIB_ATTACH_RESUME;
	wrong();
	good(false);
	rep.world = 0;
	wrong();
	rep.world = TRIB_WORLD_MAX + 1;
	wrong();
	good(false);
	rep.rank = 4;
	wrong();
	good(false);
	rep.nval = 17;
	wrong();
	rep.nval = TRIB_NVAL_LARGE + TRIB_NVAL_BLOCK;
	wrong();
	good(false);
	rep.window = 3;
	wrong();
	rep.window = 32768;
	wrong();
	good(false);
	rep.fmt = TRIB_FMT_I32;
	wrong();
	rep.fmt = TRIB_FMT__MAX;
	wrong();
}

/* With cells for mapped delivery. */
static void mapped(void)
{
	good(false);
	rep.flags = TRIB_ATTACH_MAPPED;
	rep.ncell = 1024;
	rep.tree[0].recv_port = rep.tree[1].recv_port = 0;
	rep.tree[1].flags = TRIB_ATTACH_REFLEX;
}

static void place__cells_suit_the_window(void)
{
	static const unsigned int none[] = {0, 256, 500, 768, 1U << 21, 1U << 31};
	unsigned int i;

	mapped();
	right();
	rep.ncell = 512;
	right();
	for (i = 0; i < 6; i++) {
		rep.ncell = none[i];
		wrong();
	}
	mapped();
	rep.window = 0;
	wrong();
	mapped();
	rep.nval = 0;
	wrong();
	rep.nval = TRIB_NVAL_SMALL - TRIB_NVAL_BLOCK;
	wrong();
	mapped();
	rep.tree[0].flags = TRIB_ATTACH_SHARED;
	wrong();
	good(false);
	rep.tree[0].flags = TRIB_ATTACH_REFLEX;
	wrong();
}

static void place__trees_are_checked(void)
{
	good(false);
	rep.tree[1].tree = rep.tree[0].tree;
	wrong();
	good(false);
	rep.tree[1].port = 0;
	wrong();
	good(false);
	rep.tree[1].recv_port = 0;
	wrong();
	good(false);
	rep.tree[1].child = TRIB_CHILDREN_MAX;
	wrong();
	good(false);
	rep.tree[1].weight = TRIB_TREE_WEIGHT_MAX + 1;
	wrong();
	good(false);
	rep.tree[1].flags = 2;
	wrong();
	good(false);
	rep.tree[1].nhop = 1;
	wrong();
}

static void place__addresses_are_unicast(void)
{
	static const char *const none[] = {"0.0.0.0", "255.255.255.255", "224.0.0.1", "239.1.2.3"};
	unsigned int i;

	for (i = 0; i < 4; i++) {
		good(false);
		set_v4(rep.tree[0].addr, none[i]);
		wrong();
	}
	good(false);
	memset(rep.tree[0].addr, 0, 16);
	wrong();
	set_v6(rep.tree[0].addr, "ff02::1");
	wrong();
	good(false);
	set_v4(rep.tree[0].mcast_addr, "10.0.0.5");
	wrong();
	good(false);
	set_v4(rep.tree[0].local_addr, "239.0.0.1");
	wrong();
	/* All addresses have the same IP version. */
	good(false);
	set_v6(rep.tree[0].local_addr, "fe80::1");
	wrong();
	good(false);
	set_v6(rep.tree[0].mcast_addr, "ff02::1");
	wrong();
}

static void place__shared_trees_are_checked(void)
{
	good(true);
	rep.tree[0].child = 2;
	wrong();
	good(true);
	rep.tree[0].nhop = TRIB_ATTACH_HOPS + 1;
	wrong();
	good(true);
	rep.tree[0].hop[1].relay = 0;
	wrong();
	rep.tree[0].hop[1].relay = TRIB_RELAY_PS;
	wrong();
	good(true);
	rep.tree[0].hop[0].port = 0;
	wrong();
	good(true);
	set_v6(rep.tree[0].hop[1].addr, "fe80::1");
	wrong();
	good(true);
	memset(rep.tree[0].hop[0].addr, 0, 16);
	wrong();
}

static void window__is_a_power_of_two(void)
{
	expect(!trib_window_is_wrong(0));
	expect(!trib_window_is_wrong(4));
	expect(!trib_window_is_wrong(16384));
	expect(trib_window_is_wrong(2));
	expect(trib_window_is_wrong(6));
	expect(trib_window_is_wrong(32768));
	expect(trib_window_is_wrong(0x80000000u));
}

int main(void)
{
	run(place__valid_ones_pass);
	run(place__length_must_hold_its_trees);
	run(place__head_is_checked);
	run(place__cells_suit_the_window);
	run(place__trees_are_checked);
	run(place__addresses_are_unicast);
	run(place__shared_trees_are_checked);
	run(window__is_a_power_of_two);
	return tap_done();
}
