// SPDX-License-Identifier: BSD-2-Clause
/*
 * Each reason to drop a packet before its slot is read: it is counted once,
 * under one number, and no slot changes.
 */
#include <arpa/inet.h>
#include "tests/bpf/world/spoil.h"

static void drop__short(void)
{
	good();
	f.len = f.h + 39;
	expect_drop(TRIB_DROP_SHORT);
}

static void drop__version(void)
{
	good()->version = TRIB_WIRE_VERSION + 1;
	expect_drop(TRIB_DROP_VERSION);
	good()->version = 0;
	expect_drop(TRIB_DROP_VERSION);
}

static void drop__type(void)
{
	static const uint8_t types[] = {0, 7, 15, 19, 64, 255};

	for (unsigned int i = 0; i < sizeof(types); i++) {
		good()->type = types[i];
		expect_drop(TRIB_DROP_TYPE);
	}
	good()->type = TRIB_T_PROBE; /* shared trees only */
	frame_hdr(&f)->fmt = 0;
	frame_hdr(&f)->nval = 0;
	f.len = f.pay;
	put16(f.l3 + 2, get16(f.l3 + 2) - 128);
	put16(f.l4 + 4, get16(f.l4 + 4) - 128);
	expect_drop(TRIB_DROP_TYPE);
	good()->flags = 0; /* GRAD and JOIN travel up only */
	expect_drop(TRIB_DROP_TYPE);
	good()->flags = 0;
	frame_hdr(&f)->type = TRIB_T_JOIN;
	expect_drop(TRIB_DROP_TYPE);
	good()->type = TRIB_T_START; /* START travels down only */
	expect_drop(TRIB_DROP_TYPE);
}

static void drop__format(void)
{
	good()->op = 2;
	expect_drop(TRIB_DROP_FORMAT);
	good()->op = TRIB_WOP_MAX; /* needs a format of whole words */
	expect_drop(TRIB_DROP_FORMAT);
	good()->fmt = TRIB_FMT_Q16;
	expect_drop(TRIB_DROP_FORMAT);
	good()->fmt = TRIB_FMT_NONE; /* no format, but values */
	expect_drop(TRIB_DROP_FORMAT);
	good()->nm = 0x21;
	expect_drop(TRIB_DROP_FORMAT);
	good()->flags |= TRIB_F_MASK;
	expect_drop(TRIB_DROP_FORMAT);
	good()->attempt = 1;
	expect_drop(TRIB_DROP_FORMAT);
	good()->relay = htons(1);
	expect_drop(TRIB_DROP_FORMAT);
	good()->bmwords = TRIB_BMWORDS_MAX + 1;
	expect_drop(TRIB_DROP_FORMAT);
	good()->bmwords = 1;
	frame_hdr(&f)->nval = htons(30); /* the same length */
	put16(f.l3 + 2, get16(f.l3 + 2) + 8);
	put16(f.l4 + 4, get16(f.l4 + 4) + 8);
	f.len += 8;
	expect_drop(TRIB_DROP_FORMAT);
}

static void drop__format_of_what_has_no_values(void)
{
	struct trib_hdr h;

	world_reset();
	frame_grad(&f, ROOT, 1, 3, 0, 0);
	frame_hdr(&f)->flags &= ~TRIB_F_EMPTY; /* contributes nothing */
	expect_drop(TRIB_DROP_FORMAT);
	world_reset();
	h = header(TRIB_T_NEED, ROOT, 1, 3); /* without a bitmap */
	frame_of(&f, ROOT, 1, h, NULL, 0);
	expect_drop(TRIB_DROP_FORMAT);
	world_reset();
	h.bmwords = 2;
	frame_of(&f, ROOT, 1, h, (uint64_t[2]){}, 16);
	expect_drop(TRIB_DROP_FORMAT);
	world_reset();
	h = header(TRIB_T_ALIVE, ROOT, 1, 3);
	h.nval = htons(16);
	frame_of(&f, ROOT, 1, h, (uint64_t[8]){}, 64);
	expect_drop(TRIB_DROP_FORMAT);
}

/* Add @n to the length field at @off. */
static void drop_length_at(int off, int n)
{
	good();
	put16(off, get16(off) + n);
	expect_drop(TRIB_DROP_LENGTH);
}

static void drop__length(void)
{
	good();
	for (int n = -1; n <= 1; n += 2) {
		drop_length_at(f.l3 + 2, n);
		drop_length_at(f.l4 + 4, n);
	}
	/* The lengths of IP and UDP agree, but differ from the header's. */
	for (int n = -64; n <= 64; n += 128) {
		good();
		put16(f.l3 + 2, get16(f.l3 + 2) + n);
		put16(f.l4 + 4, get16(f.l4 + 4) + n);
		expect_drop(TRIB_DROP_LENGTH);
	}
	good()->nval = htons(16);
	expect_drop(TRIB_DROP_LENGTH);
	good()->nval = htons(33);
	expect_drop(TRIB_DROP_LENGTH);
	good(); /* bytes behind the datagram */
	f.len += 4;
	expect_drop(TRIB_DROP_LENGTH);
	good(); /* bytes missing */
	f.len -= 1;
	expect_drop(TRIB_DROP_LENGTH);
	good();
	put16(f.l3 + 2, 19);
	expect_drop(TRIB_DROP_LENGTH);
	good();
	put16(f.l4 + 4, 0);
	expect_drop(TRIB_DROP_LENGTH);
}

static void drop__v6_length(void)
{
	w.v6 = true;
	drop_length_at(f.l3 + 4, 1);
	drop_length_at(f.l3 + 4, -1);
	good();
	put16(f.l3 + 4, 0); /* jumbogram */
	expect_drop(TRIB_DROP_LENGTH);
	w.v6 = false;
}

/*
 * Two datagrams in one super-packet, which the sender's device should have cut.
 */
static void drop__gso(void)
{
	int n;

	good();
	n = f.len - f.h;
	memcpy(f.b + f.len, f.b + f.h, n);
	f.len += n;
	put16(f.l3 + 2, get16(f.l3 + 2) + n);
	put16(f.l4 + 4, get16(f.l4 + 4) + n);
	expect_drop(TRIB_DROP_GSO);
	/*
	 * The length is right, but the bytes behind the first datagram are not
	 * a second one.
	 */
	world_reset();
	frame_grad(&f, ROOT, 1, 3, 32, 7);
	f.len += n;
	put16(f.l3 + 2, get16(f.l3 + 2) + n);
	put16(f.l4 + 4, get16(f.l4 + 4) + n);
	expect_drop(TRIB_DROP_LENGTH);
}

static void drop__fragment(void)
{
	good();
	put16(f.l3 + 6, 0x2000); /* first fragment, more follow */
	expect_drop(TRIB_DROP_FRAGMENT);
	w.v6 = true;
	good();
	f.b[f.l3 + 6] = 44;
	insert(f.l4, 8);
	f.b[f.l4] = IPPROTO_UDP;
	put16(f.l4 + 2, 0x0001);
	expect_drop(TRIB_DROP_FRAGMENT);
	w.v6 = false;
}

static void drop__options(void)
{
	good();
	insert(f.l4, 4);
	f.b[f.l3] = 0x46;
	put16(f.l3 + 2, get16(f.l3 + 2) + 4);
	expect_drop(TRIB_DROP_OPTIONS);
	w.v6 = true;
	good();
	insert(f.l4, 16);
	f.b[f.l3 + 6] = 60;
	f.b[f.l4] = IPPROTO_UDP;
	f.b[f.l4 + 1] = 1;
	expect_drop(TRIB_DROP_OPTIONS);
	w.v6 = false;
}

static void drop__nval(void)
{
	world_reset();
	frame_grad(&f, ROOT, 1, 3, 353, 7);
	expect_drop(TRIB_DROP_NVAL);
	world_reset();
	frame_grad(&f, ROOT, 1, 3, 16, 7);
	frame_hdr(&f)->nval = 0xffff;
	expect_drop(TRIB_DROP_NVAL);
}

static void drop__tree(void)
{
	struct trib_tree t;

	good()->tree = htons(TREES_MAX - 1); /* not used */
	expect_drop(TRIB_DROP_TREE);
	good()->tree = htons(TREES_MAX); /* no row */
	expect_drop(TRIB_DROP_TREE);
	good()->tree = 0xffff;
	expect_drop(TRIB_DROP_TREE);
	good()->job = htons(JOB + 1);
	expect_drop(TRIB_DROP_TREE);
	good();
	tree_get(ROOT, &t);
	t.flags &= ~TRIB_TREE_USED;
	tree_put(ROOT, &t);
	expect_drop(TRIB_DROP_TREE);
}

static void drop__auth(void)
{
	good()->auth ^= 1;
	expect_drop(TRIB_DROP_AUTH);
	good()->auth ^= 1ULL << 63;
	expect_drop(TRIB_DROP_AUTH);
}

static void drop__child(void)
{
	good()->child = htons(3);
	expect_drop(TRIB_DROP_CHILD);
	good()->child = htons(64);
	expect_drop(TRIB_DROP_CHILD);
	good()->child = 0xffff;
	expect_drop(TRIB_DROP_CHILD);
	good()->tree = htons(LEAF);
	frame_hdr(&f)->child = 0;
	expect_drop(TRIB_DROP_CHILD);
}

static void drop__face(void)
{
	struct trib_hdr h;

	good()->child = 0; /* a child behind another port */
	expect_drop(TRIB_DROP_FACE);
	good();
	f.b[f.l3 + 15]++; /* source address */
	expect_drop(TRIB_DROP_FACE);
	world_reset();
	h = header(TRIB_T_RESULT, ROOT, -1, 3); /* down: a root has no parent */
	h.nval = htons(16);
	h.fmt = TRIB_FMT_Q32;
	frame_of(&f, ROOT, 1, h, (uint64_t[8]){}, 64);
	expect_drop(TRIB_DROP_FACE);
	world_reset(); /* poses as the parent, but comes from the child */
	h.tree = htons(INNER);
	frame_of(&f, INNER, 1, h, (uint64_t[8]){}, 64);
	expect_drop(TRIB_DROP_FACE);
}

/* Send from a face with these tags where @outer and @inner are expected. */
static void drop_vlan(int outer, int inner, int has_outer, int has_inner)
{
	struct link l;
	struct trib_hdr h;

	world_reset_as(false, outer, inner);
	frame_grad(&f, ROOT, 1, 3, 16, 7);
	h = *frame_hdr(&f);
	l = link_of(ROOT, 1);
	l.vlan[0] = has_outer;
	l.vlan[1] = has_inner;
	frame_build(&f, &l, &h, (uint64_t[8]){7}, 64);
	expect_drop(TRIB_DROP_FACE);
}

static void drop__face_by_vlan_or_family(void)
{
	struct trib_tree t;

	drop_vlan(0, 0, 5, 0);
	drop_vlan(5, 0, 0, 0);
	drop_vlan(5, 0, 6, 0);
	drop_vlan(5, 0, 5, 5);
	drop_vlan(5, 6, 5, 0);
	drop_vlan(5, 6, 6, 5);
	world_reset_as(true, 0, 0);
	frame_grad(&f, ROOT, 1, 3, 16, 7);
	for (int i = 0; i < 16; i++) {
		struct frame before = f;

		f.b[f.l3 + 8 + i] ^= 1;
		expect_drop(TRIB_DROP_FACE);
		world_reset_as(true, 0, 0);
		f = before;
	}
	world_reset(); /* IPv4 to a tree of IPv6 faces */
	frame_grad(&f, ROOT, 1, 3, 16, 7);
	tree_get(ROOT, &t);
	t.flags |= TRIB_TREE_V6;
	tree_put(ROOT, &t);
	expect_drop(TRIB_DROP_FACE);
}

static void drop__epoch(void)
{
	struct trib_tree t;

	good()->epoch = htonl(EPOCH - 1);
	expect_drop(TRIB_DROP_EPOCH);
	good()->epoch = htonl(EPOCH + 1);
	expect_drop(TRIB_DROP_EPOCH);
	good();
	tree_get(ROOT, &t);
	t.epoch = 0; /* no epoch runs, so epoch 0 is refused, too */
	tree_put(ROOT, &t);
	frame_hdr(&f)->epoch = 0;
	expect_drop(TRIB_DROP_EPOCH);
}

int main(void)
{
	world_open(TRIB_NVAL_SMALL);
	run(drop__short);
	run(drop__version);
	run(drop__type);
	run(drop__format);
	run(drop__format_of_what_has_no_values);
	run(drop__length);
	run(drop__v6_length);
	run(drop__gso);
	run(drop__fragment);
	run(drop__options);
	run(drop__nval);
	run(drop__tree);
	run(drop__auth);
	run(drop__child);
	run(drop__face);
	run(drop__face_by_vlan_or_family);
	run(drop__epoch);
	world_close();
	return tap_done();
}
