// SPDX-License-Identifier: BSD-2-Clause
/* A leaf whose only rank has a socket: XDP passes on to it what the parent sends. */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <string.h>
#include "tests/lib/tap.h"
#include "tests/bpf/world/world.h"

static struct frame f;

/* The rank of LEAF has a socket at @port. */
static void leaf_socket(uint16_t port)
{
	struct trib_tree t;

	tree_get(LEAF, &t);
	t.flags |= TRIB_TREE_SOCKET;
	t.port = htons(port);
	tree_put(LEAF, &t);
}

/* Also before the epoch is known here: the socket checks it, and secrets. */
static void socket__gets_what_the_parent_sends(void)
{
	static const int types[] = {TRIB_T_RESULT, TRIB_T_NEED, TRIB_T_ALIVE, TRIB_T_ABORT};
	uint64_t none = 0;
	struct trib_hdr h;

	for (int i = 0; i < 8; i++) {
		world_reset_as(i > 3, 0, 0);
		leaf_socket(7500);
		h = header(types[i % 4], LEAF, -1, 3);
		h.bmwords = h.type == TRIB_T_NEED;
		if (h.type == TRIB_T_RESULT)
			frame_result(&f, LEAF, -1, 3, 352, 9);
		else
			frame_of(&f, LEAF, -1, h, &none, 8 * h.bmwords);
		frame_hdr(&f)->epoch = htonl(EPOCH + 1);
		h = *frame_hdr(&f);
		memcpy(f.b + f.l4 + 6, "xx", 2);
		expect_eq(run_xdp(&f, port_of(LEAF, -1)), XDP_PASS);
		expect_eq(frame_port(&f, 1), 7500);
		expect(!memcmp(f.b + f.l4 + 6, "\0\0", 2)); /* no checksum */
		expect(!memcmp(frame_hdr(&f), &h, sizeof(h)));
		expect_eq(stat_of(TRIB_DELIVERED), 0);
		expect_eq(the_drop(), -1);
	}
}

static void socket__gets_nothing_else(void)
{
	world_reset();
	leaf_socket(7500);
	/* tribd's, at our port */
	frame_result(&f, LEAF, -1, 3, 352, 9);
	frame_hdr(&f)->type = TRIB_T_START;
	expect_eq(run_xdp(&f, port_of(LEAF, -1)), XDP_PASS);
	expect_eq(frame_port(&f, 1), TRIB_UDP_PORT);
	frame_result(&f, LEAF, -1, 3, 352, 9);
	frame_hdr(&f)->flags |= TRIB_F_UP;
	expect_eq(run_xdp(&f, port_of(LEAF, -1)), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_CHILD);
	world_reset();
	leaf_socket(7500);
	frame_result(&f, LEAF, -1, 3, 352, 9);
	frame_hdr(&f)->job = htons(JOB + 1);
	expect_eq(run_xdp(&f, port_of(LEAF, -1)), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_TREE);
	world_reset();
	leaf_socket(7500);
	frame_result(&f, LEAF, -1, 3, 352, 9);
	expect_eq(run_xdp(&f, port_of(LEAF, -1) ^ 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_FACE);
}

int main(void)
{
	world_open(TRIB_NVAL_SMALL);
	run(socket__gets_what_the_parent_sends);
	run(socket__gets_nothing_else);
	world_close();
	return tap_done();
}
