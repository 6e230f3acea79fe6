// SPDX-License-Identifier: BSD-2-Clause
/* Reflex: what XDP sends for a rank, and each reason why it does not. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

#include "daemon/attach/reflex.h"
#include "daemon/tree/secret.h"
#include "tests/lib/daemon_world.h"
#include "tests/lib/tap.h"

static struct tree *t;

/* Make the tree that @s states; its parent's addresses are known. */
static void tree_take(const struct tree_spec *s)
{
	free(t);
	t = calloc(1, sizeof(*t));
	expect_eq(tree_check(&world, s, t, &why), 0);
	t->id = 1;
	t->parent->local = v4("10.0.3.1");
	memcpy(t->parent->local_mac, "\2\1\2\3\4\5", 6);
}

/* A leaf with rank 3, child 5 of its parent. */
static void leaf(const char *down)
{
	struct tree_spec s = spec_make(1, "");

	world_make();
	spec_parent(&s, down ? "c" : "up", INDEX_NONE);
	spec_local(&s, 3, 5);
	if (down)
		spec_down(&s, down);
	tree_take(&s);
}

/* True if the row is all zeros, with a reason that contains @word. */
static bool refused(const char *word)
{
	static const struct trib_deliver none;
	struct trib_deliver r;

	memset(&r, 0xff, sizeof(r));
	if (!expect(reflex_fill(&world, t, &r, &why) < 0) ||
	    !expect(!memcmp(&r.reflex, &none.reflex, sizeof(r.reflex))) || !expect(!r.host) ||
	    !expect(!memcmp(r.child, none.child, sizeof(r.child))))
		return false;
	if (strstr(why.text, word))
		return true;
	printf("# it says: %s\n", why.text);
	return false;
}

/* A node whose children are ranks 3, 2 and 1 on this host, in this order. */
static void host(void)
{
	struct tree_spec s = spec_make(1, "c:3 c:2 c:1");
	int i;

	world_make();
	spec_parent(&s, "up", 2);
	for (i = 1; i < 4; i++)
		spec_local(&s, (uint16_t)i, INDEX_NONE);
	tree_take(&s);
}

/* A second tree of the job counts, unless it is held; others' trees do not. */
static void several_trees(void)
{
	static struct tree other;
	struct reason no = {0};
	struct trib_deliver r;
	struct job another = {0};

	other = (struct tree){.id = 2, .job = t->job};
	TAILQ_INSERT_TAIL(&world.trees, &other, link);
	expect(refused("several trees"));
	other.held = true;
	expect_eq(reflex_fill(&world, t, &r, &no), 0);
	other.held = false;
	other.job = &another;
	expect_eq(reflex_fill(&world, t, &r, &no), 0);
	TAILQ_REMOVE(&world.trees, &other, link);
}

static void reflex__sends_what_the_parent_expects_of_the_rank(void)
{
	struct trib_deliver r;
	struct secret secret;
	struct in6_addr a = v4("10.0.3.1");

	leaf(NULL);
	t->parent->udp_port = 7500;
	expect_eq(reflex_fill(&world, t, &r, &why), 0);
	secret_up(t, 3, NULL, &secret);
	expect(r.reflex.auth == secret.auth && r.reflex.auth);
	secret_up(t, 4, NULL, &secret);
	expect(r.reflex.auth != secret.auth);
	expect(!memcmp(r.reflex.saddr, &a, sizeof(a)));
	expect(!memcmp(r.reflex.smac, "\2\1\2\3\4\5", 6));
	expect_eq(ntohs(r.reflex.sport), TRIB_UDP_PORT);
	expect_eq(ntohs(r.reflex.dport), 7500);
	expect_eq(ntohs(r.reflex.child), 5);
	expect_eq(r.reflex.rsvd, 0);
	world_free();
}

static void reflex__is_for_one_rank_of_a_leaf(void)
{
	leaf(NULL);
	t->nlocal = 2;
	expect(refused("2 ranks of the tree are on this host, each a child of up"));
	t->nlocal = 1;
	several_trees();
	t->nchild = 2;
	expect(refused("relay"));
	t->nchild = 0;
	t->kind = TREE_WORKERS;
	expect(refused("shared tree"));
	t->kind = TREE_DEDICATED;
	expect_eq(reflex_rank(&world, t, &t->local[0], &why), 0);
	world_free();
}

static void host__adds_up_if_all_children_are_ranks_here(void)
{
	struct trib_deliver r;
	struct face *parent;

	host();
	expect_eq(reflex_fill(&world, t, &r, &why), 0);
	expect_eq(r.host, 1);
	expect_eq(r.reflex.auth, 0);
	expect(r.child[0] == 2 && r.child[1] == 1 && r.child[2] == 0);
	several_trees();
	t->nlocal = 2;
	expect(refused("relay"));
	t->nlocal = 3;
	parent = t->parent;
	t->parent = NULL;
	expect(refused("root"));
	t->parent = parent;
	t->parent->port->mode = TRIB_XDP_MODE_GENERIC;
	expect(refused("p3 runs generic XDP"));
	t->parent->port->mode = TRIB_XDP_MODE_NATIVE;
	world.opt.no_reflex = true;
	expect(refused("--no-reflex"));
	world_free();
}

static void reflex__needs_native_xdp_where_results_come_in(void)
{
	leaf(NULL);
	t->parent->port->mode = TRIB_XDP_MODE_GENERIC;
	expect(refused("p3 runs generic XDP"));
	t->parent->port->mode = TRIB_XDP_MODE_NONE;
	expect(refused("p3 has no XDP"));
	t->parent->port->mode = TRIB_XDP_MODE_NATIVE;
	t->parent->port->ifindex = 0;
	expect(refused("p3 is gone"));
	t->parent->port->ifindex = 3;
	t->parent->around = face_find(&world, "a");
	expect(refused("detour"));
	world_free();
}

static void reflex__needs_our_addresses(void)
{
	leaf(NULL);
	t->parent->local_known = false;
	expect(refused("our address towards up"));
	t->parent->local_known = true;
	memset(t->parent->local_mac, 0, 6);
	expect(refused("our MAC address towards up"));
	world_free();
}

static void reflex__needs_results_at_xdps_port(void)
{
	struct trib_deliver r;

	leaf("mc");
	expect_eq(reflex_fill(&world, t, &r, &why), 0);
	face_find(&world, "mc")->udp_port = 7418;
	expect(refused("group mc at UDP port 7418"));
	world_free();
}

static void reflex__can_be_switched_off(void)
{
	leaf(NULL);
	world.opt.no_reflex = true;
	expect(refused("--no-reflex"));
	world_free();
}

static void reflex__is_for_mapped_ranks(void)
{
	leaf(NULL);
	t->local[0].pid = 77;
	expect_eq(reflex_rank(&world, t, &t->local[0], &why), -EOPNOTSUPP);
	expect(strstr(why.text, "mapped"));
	t->local[0].ring = 2;
	expect_eq(reflex_rank(&world, t, &t->local[0], &why), 0);
	world_free();
}

int main(void)
{
	run(reflex__sends_what_the_parent_expects_of_the_rank);
	run(reflex__is_for_one_rank_of_a_leaf);
	run(host__adds_up_if_all_children_are_ranks_here);
	run(reflex__needs_native_xdp_where_results_come_in);
	run(reflex__needs_our_addresses);
	run(reflex__needs_results_at_xdps_port);
	run(reflex__can_be_switched_off);
	run(reflex__is_for_mapped_ranks);
	free(t);
	return tap_done();
}
