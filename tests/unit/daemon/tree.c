// SPDX-License-Identifier: BSD-2-Clause
/* Checks of trees, and the rows and groups made from them. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "tests/lib/tap.h"
#include "tests/lib/daemon_world.h"

static struct tree *t;

/* Check @s; the tree is then in @t. */
static int check(const struct tree_spec *s)
{
	free(t);
	t = calloc(1, sizeof(*t));
	why.text[0] = 0;
	return tree_check(&world, s, t, &why);
}

static bool says(const char *word)
{
	if (strstr(why.text, word))
		return true;
	printf("# it says: %s\n", why.text);
	return false;
}

/* Expect @err for @s, with a reason that contains @word, and no change. */
static void refused(struct tree_spec s, int err, const char *word)
{
	uint32_t generation = world.generation;
	struct face *f;

	expect_eq(check(&s), err);
	expect(says(word));
	expect_eq(world.generation, generation);
	expect_eq(world.ntrees, 0);
	TAILQ_FOREACH(f, &world.faces, link)
		expect_eq(f->trees, 0);
}

static void check__root_inner_and_leaf_are_accepted(void)
{
	struct tree_spec s = spec_make(1, "a:0 b:1 c");

	expect_eq(check(&s), 0);
	expect_eq(t->nchild, 3);
	expect_eq(t->child[1].rank, 1);
	expect_eq(t->child[2].rank, RANK_NONE);
	expect_eq(t->dedicated.slots, 8);
	spec_parent(&s, "up", 5);
	expect_eq(check(&s), 0);
	expect_eq(t->up_child, 5);
	s = spec_make(2, "");
	spec_parent(&s, "up", 3);
	spec_local(&s, 4, INDEX_NONE);
	expect_eq(check(&s), 0);
	expect_eq(t->local[0].index, 3);
	expect_eq(t->dedicated.slots, 0);
}

static void check__names_that_do_not_exist_are_refused(void)
{
	struct tree_spec s = spec_make(1, "a:0 nope:1");

	refused(s, -ENOENT, "nope");
	s = spec_make(1, "a:0");
	strcpy(s.job, "other");
	refused(s, -ENOENT, "other");
	s = spec_make(1, "a:0");
	spec_parent(&s, "gone", 0);
	refused(s, -ENOENT, "gone");
	s = spec_make(1, "a:0");
	spec_down(&s, "void");
	refused(s, -ENOENT, "void");
}

static void check__numbers_out_of_range_are_refused(void)
{
	struct tree_spec s = spec_make(16, "a:0");

	refused(s, -ERANGE, "tree 16");
	s = spec_make(1, "a:8");
	refused(s, -ERANGE, "rank 8");
	s = spec_make(1, "a:0");
	spec_parent(&s, "up", 64);
	refused(s, -ERANGE, "64");
	s = spec_make(1, "a:0");
	s.child[0].index = 1;
	refused(s, -EINVAL, "index 1");
}

static void check__tree_without_anything_to_do_is_refused(void)
{
	struct tree_spec s = spec_make(1, "");

	refused(s, -EINVAL, "children");
	spec_parent(&s, "up", 0);
	refused(s, -EINVAL, "local");
}

static void check__rank_given_twice_is_refused(void)
{
	refused(spec_make(1, "a:3 b:3"), -EEXIST, "rank 3");
}

static void check__parent_and_index_go_together(void)
{
	struct tree_spec s = spec_make(1, "a:0");

	s.up_child = 2;
	refused(s, -EINVAL, "needs a parent");
	s = spec_make(1, "a:0");
	spec_parent(&s, "up", INDEX_NONE);
	refused(s, -EINVAL, "no index");
}

static void check__parent_that_is_a_child_is_refused(void)
{
	struct tree_spec s = spec_make(1, "a:0 b:1");

	spec_parent(&s, "a", 0);
	refused(s, -EINVAL, "parent");
}

static void check__unicast_down_face_must_reach_its_child(void)
{
	struct tree_spec s = spec_make(1, "c:1 c2:2");

	spec_down(&s, "c");
	refused(s, -EINVAL, "c2");
}

static void check__down_faces_that_make_no_sense_are_refused(void)
{
	struct tree_spec s = spec_make(1, "c:1");

	spec_down(&s, "mc");
	spec_down(&s, "c");
	refused(s, -EEXIST, "p2");
	s = spec_make(1, "a:1");
	spec_down(&s, "mc");
	refused(s, -EINVAL, "no child");
}

/* The down face of a leaf is the group to which its parent sends results. */
static void check__leaf_has_one_group_behind_its_parents_port(void)
{
	struct tree_spec s = spec_make(1, "");

	spec_parent(&s, "c", 0);
	spec_local(&s, 0, 0);
	expect_eq(check(&s), 0);
	expect(!tree_multicast(t, t->parent->port));
	spec_down(&s, "mc");
	expect_eq(check(&s), 0);
	expect(tree_multicast(t, t->parent->port) == face_find(&world, "mc"));
	spec_down(&s, "mc");
	refused(s, -EINVAL, "down mc");
	s.ndown = 0;
	spec_down(&s, "c2");
	refused(s, -EINVAL, "down c2");
	s.ndown = 0;
	spec_down(&s, "nobody");
	refused(s, -ENOENT, "nobody");
	s = spec_make(1, "");
	spec_parent(&s, "up", 0);
	spec_local(&s, 0, 0);
	spec_down(&s, "mc");
	refused(s, -EINVAL, "port p2");
}

static void check__multicast_face_has_the_port_of_its_children(void)
{
	struct tree_spec s = spec_make(1, "c:1 c2:2");

	spec_down(&s, "mc");
	face_find(&world, "c2")->udp_port = 7420;
	refused(s, -EINVAL, "7420");
	face_find(&world, "c")->udp_port = 7420;
	face_find(&world, "mc")->udp_port = 7420;
	expect_eq(check(&s), 0);
}

static void check__multicast_child_or_parent_is_refused(void)
{
	struct tree_spec s = spec_make(1, "mc:0");

	refused(s, -EINVAL, "multicast");
	s = spec_make(1, "a:0");
	spec_parent(&s, "mc", 0);
	refused(s, -EINVAL, "multicast");
}

static void check__both_ip_versions_in_one_tree_are_refused(void)
{
	refused(spec_make(1, "a:0 six:1"), -EINVAL, "IPv6");
}

static void check__several_ranks_behind_one_face_are_accepted(void)
{
	struct tree_spec s = spec_make(1, "a:0 a:1 b:2 a:3");
	struct face *f[TRIB_GROUP_MAX];

	expect_eq(check(&s), 0);
	expect_eq(group_faces(t, GROUP_DOWN, f), 2);
}

static void check__local_ranks_must_be_children_or_have_an_index(void)
{
	struct tree_spec s = spec_make(1, "a:0 b:1");

	spec_local(&s, 2, INDEX_NONE);
	refused(s, -ENOENT, "rank 2");
	s = spec_make(1, "a:0 b:1");
	spec_local(&s, 1, 0);
	refused(s, -EINVAL, "rank 1");
	s = spec_make(1, "a:0 b:1");
	spec_local(&s, 1, 2);
	refused(s, -ERANGE, "2 children");
	s = spec_make(1, "");
	spec_parent(&s, "up", INDEX_NONE);
	spec_local(&s, 0, 0);
	spec_local(&s, 1, INDEX_NONE);
	refused(s, -EINVAL, "RANK:INDEX");
	s = spec_make(1, "");
	spec_parent(&s, "up", 0);
	spec_local(&s, 0, 5);
	spec_local(&s, 1, 5);
	refused(s, -EEXIST, "overlap");
}

static void check__floats_are_for_dedicated_trees(void)
{
	struct tree_spec s = spec_make(1, "a:0 c:1");

	job_find(&world, "train")->fmt = TRIB_FMT_F32;
	expect_eq(check(&s), 0);
	s.shared.relay = 3;
	refused(s, -EOPNOTSUPP, "shared pools");
	s = spec_worker(1, v4("10.0.9.2"));
	spec_local(&s, 3, INDEX_NONE);
	refused(s, -EOPNOTSUPP, "sums f32");
}

/* --- rows and groups */

static void worker__row_is_accepted(void)
{
	struct tree_spec s = spec_worker(1, v4("10.0.9.2"));

	spec_local(&s, 3, INDEX_NONE);
	spec_local(&s, 4, INDEX_NONE);
	s.local[1].port = 7600;
	spec_hop(&s, 7, "up");
	spec_hop(&s, 1, "a");
	expect_eq(check(&s), 0);
	expect_eq(t->local[0].port, TRIB_UDP_PORT_WORKER + 3);
	expect_eq(t->local[1].port, 7600);
	expect_eq(t->workers.nhop, 2);
	expect(t->workers.hop[0].face == face_find(&world, "up"));
	expect_eq(t->workers.hop[1].relay, 1);
	expect_eq(t->kind, TREE_WORKERS);
	expect_eq(t->up_child, INDEX_NONE);
	s.workers.nhop = 0;
	expect_eq(check(&s), 0);
	s = spec_worker(1, v6("fd00::9"));
	spec_local(&s, 0, INDEX_NONE);
	s.workers.group = v6("ff15::77");
	spec_hop(&s, 7, "six");
	expect_eq(check(&s), 0);
	expect(IN6_ARE_ADDR_EQUAL(&t->workers.group, &s.workers.group));
}

static struct tree_spec worker_spec(void)
{
	struct tree_spec s = spec_worker(1, v4("10.0.9.2"));

	spec_local(&s, 3, INDEX_NONE);
	spec_hop(&s, 7, "up");
	return s;
}

static void worker__has_nothing_that_nodes_have(void)
{
	struct tree_spec s = worker_spec();

	spec_children(&s, "a:0");
	refused(s, -EINVAL, "children");
	s = worker_spec();
	strcpy(s.parent, "up");
	refused(s, -EINVAL, "hop");
	s = worker_spec();
	s.up_child = 3;
	refused(s, -EINVAL, "index");
	s = worker_spec();
	spec_down(&s, "mc");
	refused(s, -EINVAL, "group");
	s = worker_spec();
	s.shared.relay = 3;
	refused(s, -EINVAL, "not both");
	s = worker_spec();
	s.shared.cap = 1;
	refused(s, -EINVAL, "cap");
	s = worker_spec();
	s.local[0].index = 2;
	refused(s, -EINVAL, "RANK:PORT");
	s = worker_spec();
	s.nlocal = 0;
	refused(s, -EINVAL, "needs local ranks");
}

static void worker__addresses_that_make_no_sense_are_refused(void)
{
	struct tree_spec s = worker_spec();

	s.workers.ps = v4("0.0.0.0");
	refused(s, -EINVAL, "ps 0.0.0.0");
	s.workers.ps = v4("239.1.1.1");
	refused(s, -EINVAL, "ps 239.1.1.1");
	s.workers.ps = v6("fd00::9");
	refused(s, -EINVAL, "face up and ps fd00::9");
	s = worker_spec();
	s.workers.group = v4("10.0.9.3");
	refused(s, -EINVAL, "group 10.0.9.3");
	s.workers.group = v6("ff15::77");
	refused(s, -EINVAL, "IPv6");
	s.workers.group = v4("239.1.1.2");
	spec_local(&s, 4, INDEX_NONE);
	refused(s, -EINVAL, "2 ranks");
}

static void worker__hops_are_relays_and_no_two_the_same(void)
{
	struct tree_spec s = worker_spec();

	s.workers.hop[0].relay = 0;
	refused(s, -ERANGE, "hop 0:up");
	s.workers.hop[0].relay = TRIB_RELAY_PS;
	refused(s, -ERANGE, "hop 65535:up");
	s = worker_spec();
	spec_hop(&s, 8, "nobody");
	refused(s, -ENOENT, "nobody");
	s = worker_spec();
	spec_hop(&s, 8, "mc");
	refused(s, -EINVAL, "mc");
	s = worker_spec();
	spec_hop(&s, 7, "a");
	refused(s, -EEXIST, "hop 7");
}

static void worker__ranks_have_a_port_each(void)
{
	struct tree_spec s = worker_spec();

	s.local[0].rank = 8;
	refused(s, -ERANGE, "rank 8");
	s = worker_spec();
	s.local[0].port = 1023;
	refused(s, -ERANGE, "1023");
	s.local[0].port = TRIB_UDP_PORT;
	refused(s, -ERANGE, "7417");
	s = worker_spec();
	spec_local(&s, 3, INDEX_NONE);
	refused(s, -EEXIST, "rank 3");
	s.local[1].rank = 4;
	s.local[1].port = TRIB_UDP_PORT_WORKER + 3;
	refused(s, -EEXIST, "rank 4");
	/* A node of the data plane has no such epoch. */
	s = spec_make(1, "a:0");
	spec_local(&s, 0, INDEX_NONE);
	s.local[0].port = 7500;
	refused(s, -EINVAL, "port 7500");
	s = spec_make(1, "a:0");
	spec_hop(&s, 7, "up");
	refused(s, -EINVAL, "ps");
}

static void worker__port_is_one_ranks_alone(void)
{
	struct job_spec job = {.name = "eval", .world = 8};
	struct tree_spec s = worker_spec(), other = spec_worker(2, s.workers.ps);

	expect_eq(job_restore(&world, &job, &why), 0);
	expect_eq(tree_restore(&world, &s, &why), 0);
	expect_eq(face_find(&world, "up")->trees, 1);
	strcpy(other.job, "eval");
	spec_local(&other, 3, INDEX_NONE);
	expect_eq(check(&other), -EADDRINUSE);
	expect(says("rank 3's of job train"));
	other.local[0].port = 7500;
	expect_eq(check(&other), 0);
	/* The same rank in another tree, or in another generation of it. */
	s.id = 2;
	expect_eq(check(&s), 0);
	/* The row is not a node of that tree, and the other way round. */
	s.id = 1;
	expect_eq(check(&s), -EEXIST);
	s = spec_make(1, "a:0");
	expect_eq(check(&s), -EEXIST);
	expect(says("not both"));
}

static void row__of_a_root(void)
{
	struct trib_key key;
	struct tree_spec s = spec_make(3, "a:0 b:1");
	struct trib_tree row = {};

	world_face("alt", "p1", v4("10.0.1.2"))->udp_port = 7420;
	strcpy(s.child[1].face, "alt");
	expect_eq(check(&s), 0);
	t->row.slot0 = 64;
	row = t->row;
	row.epoch = 9;
	row.child[1].nonce = 77;
	row.deliver = 3;
	tree_row_fill(t, &row);
	expect_eq(row.flags, TRIB_TREE_USED | TRIB_TREE_ROOT);
	expect_eq(row.nchild, 2);
	expect_eq(row.full, 3);
	expect_eq(row.slot0, 64);
	expect_eq(row.slot_mask, 7);
	expect_eq(row.window, 4);
	expect_eq(row.world, 8);
	expect_eq(row.down, GROUP_ID(3, GROUP_DOWN));
	expect_eq(row.all, row.down);
	expect_eq(row.up, TRIB_NONE);
	trib_key_down(&key, &t->job->key, t->id);
	expect_eq(row.auth, trib_key_secret(&key));
	trib_key_up(&key, &t->job->key, t->id, row.child[1].rank);
	expect_eq(row.child[1].auth, trib_key_secret(&key));
	expect_eq(row.child[1].ifindex, 11);
	expect_eq(ntohs(row.child[1].port), 7420);
	/* Fields of join.c and deliver.c do not change. */
	expect_eq(row.epoch, 9);
	expect_eq(row.child[1].nonce, 77);
	expect_eq(row.deliver, 3);
}

static void row__of_an_inner_node(void)
{
	struct tree_spec s = spec_make(2, "a b");
	struct face *f[TRIB_GROUP_MAX];
	struct trib_tree row = {};

	spec_parent(&s, "up", 6);
	expect_eq(check(&s), 0);
	tree_row_fill(t, &row);
	expect_eq(row.flags, TRIB_TREE_USED);
	expect_eq(row.up_child, 6);
	expect_eq(row.parent.ifindex, 13);
	expect_eq(row.child[0].rank, 0xffff);
	expect_eq(row.up, GROUP_ID(2, GROUP_UP));
	expect_eq(row.all, GROUP_ID(2, GROUP_ALL));
	expect_eq(group_faces(t, GROUP_ALL, f), 3);
	expect(f[2] == t->parent);
	expect_eq(group_faces(t, GROUP_UP, f), 1);
}

static void row__of_a_leaf_has_no_groups(void)
{
	struct tree_spec s = spec_make(2, "");
	struct trib_tree row = {};

	spec_parent(&s, "up", 6);
	spec_local(&s, 5, 6);
	expect_eq(check(&s), 0);
	tree_row_fill(t, &row);
	expect_eq(row.flags, TRIB_TREE_USED | TRIB_TREE_LEAF);
	expect_eq(row.full, 0);
	expect_eq(row.down, TRIB_NONE);
	expect_eq(row.all, TRIB_NONE);
	expect_eq(row.up, TRIB_NONE);
}

static void row__parent_behind_a_childs_port_leaves_out_all(void)
{
	struct tree_spec s = spec_make(2, "a c");
	struct trib_tree row = {};

	spec_parent(&s, "c2", 0);
	expect_eq(check(&s), 0);
	tree_row_fill(t, &row);
	expect_eq(row.all, TRIB_NONE);
	expect_eq(row.up, GROUP_ID(2, GROUP_UP));
	expect_eq(row.down, GROUP_ID(2, GROUP_DOWN));
}

static void row__of_64_children_is_full(void)
{
	struct tree_spec s = spec_make(1, "");
	struct trib_tree row = {};
	unsigned int i;

	for (i = 0; i < 64; i++)
		spec_children(&s, "a");
	expect_eq(check(&s), 0);
	tree_row_fill(t, &row);
	expect(row.full == ~0ULL);
	expect_eq(row.nchild, 64);
}

static void row__ipv6_is_marked(void)
{
	struct tree_spec s = spec_make(1, "six:0");
	struct trib_tree row = {};

	expect_eq(check(&s), 0);
	tree_row_fill(t, &row);
	expect(row.flags & TRIB_TREE_V6);
}

static void group__explicit_down_replaces_the_children(void)
{
	struct tree_spec s = spec_make(1, "a:0 c:1 c2:2");
	struct face *f[TRIB_GROUP_MAX];

	spec_down(&s, "mc");
	spec_down(&s, "a");
	expect_eq(check(&s), 0);
	expect_eq(group_faces(t, GROUP_DOWN, f), 2);
	expect(!strcmp(f[0]->name, "mc"));
	expect(!strcmp(f[1]->name, "a"));
}

static void group__children_behind_one_port_get_a_copy_each(void)
{
	struct tree_spec s = spec_make(1, "c:0 a:1 c2:2");
	struct face *f[TRIB_GROUP_MAX];

	expect_eq(check(&s), 0);
	expect_eq(group_faces(t, GROUP_DOWN, f), 3);
	/* Faces behind one port stand in a row. */
	expect(!strcmp(f[0]->name, "c"));
	expect(!strcmp(f[1]->name, "c2"));
	expect(!strcmp(f[2]->name, "a"));
}

static void group__down_face_covers_its_port_alone(void)
{
	struct tree_spec s = spec_make(1, "c:0 a:1 c2:2");
	struct face *f[TRIB_GROUP_MAX];

	spec_down(&s, "mc");
	expect_eq(check(&s), 0);
	expect_eq(group_faces(t, GROUP_DOWN, f), 2);
	expect(!strcmp(f[0]->name, "mc"));
	expect(!strcmp(f[1]->name, "a"));
}

static void group__worker_served_from_cells_is_no_member(void)
{
	struct tree_spec s = spec_make(1, "a:0 b:1");
	struct face *f[TRIB_GROUP_MAX];

	spec_local(&s, 0, INDEX_NONE);
	expect_eq(check(&s), 0);
	expect_eq(group_faces(t, GROUP_DOWN, f), 1);
	expect(!strcmp(f[0]->name, "b"));
	s.nlocal = 0;
	spec_local(&s, 0, 0);
	spec_local(&s, 1, 1);
	expect_eq(check(&s), 0);
	expect_eq(group_number(t, GROUP_DOWN), TRIB_NONE);
}

static void group__numbers_belong_to_one_tree_and_kind(void)
{
	uint32_t tree, kind;

	for (tree = 1; tree < 100; tree++)
		for (kind = 0; kind < GROUP__KINDS; kind++) {
			uint32_t id = GROUP_ID(tree, kind);

			expect(id != TRIB_NONE && id < GROUPS_OF(100));
			expect_eq(GROUP_TREE(id), tree);
			expect_eq(GROUP_KIND(id), kind);
		}
}

#define RUN(fn)                                                                                    \
	do {                                                                                       \
		world_make();                                                                      \
		run(fn);                                                                           \
		world_free();                                                                      \
	} while (0)

int main(void)
{
	RUN(check__root_inner_and_leaf_are_accepted);
	RUN(check__names_that_do_not_exist_are_refused);
	RUN(check__numbers_out_of_range_are_refused);
	RUN(check__tree_without_anything_to_do_is_refused);
	RUN(check__rank_given_twice_is_refused);
	RUN(check__parent_and_index_go_together);
	RUN(check__parent_that_is_a_child_is_refused);
	RUN(check__unicast_down_face_must_reach_its_child);
	RUN(check__down_faces_that_make_no_sense_are_refused);
	RUN(check__leaf_has_one_group_behind_its_parents_port);
	RUN(check__multicast_face_has_the_port_of_its_children);
	RUN(check__multicast_child_or_parent_is_refused);
	RUN(check__both_ip_versions_in_one_tree_are_refused);
	RUN(check__several_ranks_behind_one_face_are_accepted);
	RUN(check__local_ranks_must_be_children_or_have_an_index);
	RUN(check__floats_are_for_dedicated_trees);
	RUN(worker__row_is_accepted);
	RUN(worker__has_nothing_that_nodes_have);
	RUN(worker__addresses_that_make_no_sense_are_refused);
	RUN(worker__hops_are_relays_and_no_two_the_same);
	RUN(worker__ranks_have_a_port_each);
	RUN(worker__port_is_one_ranks_alone);
	RUN(row__of_a_root);
	RUN(row__of_an_inner_node);
	RUN(row__of_a_leaf_has_no_groups);
	RUN(row__parent_behind_a_childs_port_leaves_out_all);
	RUN(row__of_64_children_is_full);
	RUN(row__ipv6_is_marked);
	RUN(group__explicit_down_replaces_the_children);
	RUN(group__children_behind_one_port_get_a_copy_each);
	RUN(group__down_face_covers_its_port_alone);
	RUN(group__worker_served_from_cells_is_no_member);
	RUN(group__numbers_belong_to_one_tree_and_kind);
	free(t);
	return tap_done();
}
