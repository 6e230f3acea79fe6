/* SPDX-License-Identifier: BSD-2-Clause */
/* A good packet, ways to spoil it, and checks of what happens to it. */
#ifndef TEST_SPOIL_H
#define TEST_SPOIL_H

#include <linux/bpf.h>
#include <string.h>
#include "tests/lib/tap.h"
#include "world.h"

static struct frame f;

/* Build a good GRAD from child 1 of ROOT in f, to be spoilt. */
static inline struct trib_hdr *good(void)
{
	world_reset_as(w.v6, w.vlan[0], w.vlan[1]);
	frame_grad(&f, ROOT, 1, 3, 32, 7);
	return frame_hdr(&f);
}

/* Run f: it must be dropped for @why alone, and change no slot. */
static inline void expect_drop(int why)
{
	expect_eq(run_xdp(&f, 1), XDP_DROP);
	expect_eq(the_drop(), why);
	expect_eq(slot_of(ROOT, 3)->seen, 0);
	expect_eq(slot_of(ROOT, 3)->epoch, 0);
	expect_eq(stat_of(TRIB_RX_GRAD), 0);
}

/* Run f: it must pass unchanged and uncounted, as a foreign packet. */
static inline void expect_pass(void)
{
	struct frame before = f;

	expect_eq(run_xdp(&f, 1), XDP_PASS);
	expect_eq(the_drop(), -1);
	expect(f.len == before.len && !memcmp(f.b, before.b, f.len));
}

static inline void put16(int off, int v)
{
	f.b[off] = v >> 8;
	f.b[off + 1] = v;
}

static inline int get16(int off)
{
	return f.b[off] << 8 | f.b[off + 1];
}

/* Insert @n zero bytes at @off. */
static inline void insert(int off, int n)
{
	memmove(f.b + off + n, f.b + off, f.len - off);
	memset(f.b + off, 0, n);
	f.len += n;
}

#endif /* TEST_SPOIL_H */
