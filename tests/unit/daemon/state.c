// SPDX-License-Identifier: BSD-2-Clause
/* state.c and state_load.c: reading restores exactly what was written. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/tap.h"
#include "tests/lib/daemon_world.h"
#include "daemon/state/state.h"

static char dir[] = "/tmp/trib-unit-XXXXXX";

/* A tree as state_restore() makes it: no kernel is asked. */
static void add_tree(struct tree_spec s, uint32_t slot0, uint32_t last_epoch)
{
	s.dedicated.slot0 = slot0;
	s.last_epoch = last_epoch;
	if (!expect(!tree_restore(&world, &s, &why)))
		printf("# %s\n", why.text);
}

static void fill(void)
{
	struct tree_spec s = spec_make(3, "a:0 c:1 c2:2 b");
	struct face *f = face_find(&world, "a");

	f->mac_given = true;
	memcpy(f->mac, "\x02\x00\x5e\x10\xff\x01", 6);
	f->local_given = true;
	f->local = v4("10.0.0.1");
	f->vlan[0] = 10;
	f->vlan[1] = 4094;
	f->udp_port = 7419;
	f->port->clsact_ours = true;
	snprintf(f->port->reason, sizeof(f->port->reason), "said the kernel");
	memset(&job_find(&world, "train")->key, 0xfe, sizeof(struct trib_key));
	job_find(&world, "train")->rate = ~0ULL;
	job_find(&world, "train")->owner = UINT32_MAX;
	spec_down(&s, "mc");
	spec_down(&s, "a");
	spec_down(&s, "b");
	spec_parent(&s, "up", 63);
	spec_local(&s, 0, 0);
	add_tree(s, 128, 4000000000u);
	s = spec_make(9, "");
	spec_parent(&s, "up", INDEX_NONE);
	spec_local(&s, 7, 5);
	add_tree(s, 0, 0);
	s = spec_worker(10, v4("10.0.9.2"));
	s.workers.ps_port = 7500;
	s.held = true;
	s.workers.group = v4("239.1.1.2");
	spec_local(&s, 2, INDEX_NONE);
	s.local[0].port = 65535;
	spec_hop(&s, 65534, "up");
	spec_hop(&s, 1, "a");
	add_tree(s, 0, 0);
	s = spec_worker(11, v6("fd00::9"));
	spec_local(&s, 3, INDEX_NONE);
	add_tree(s, 0, 0);
}

/* Empty the world except its identity, and restore @doc. */
static int restore(const json_t *doc)
{
	world_free();
	TAILQ_INIT(&world.jobs);
	world.nfaces = 0;
	return state_restore(&world, doc, &why);
}

static void state__everything_comes_back(void)
{
	json_t *before, *after;
	struct face *f;

	fill();
	before = state_pack(&world, NULL);
	expect(before != NULL);
	expect_eq(restore(before), 0);
	after = state_pack(&world, NULL);
	if (!expect(json_equal(before, after))) {
		json_dumpf(before, stdout, 0);
		json_dumpf(after, stdout, 0);
	}
	f = face_find(&world, "a");
	if (expect(f != NULL)) {
		expect_eq(f->vlan[1], 4094);
		expect(f->mac_given && f->mac[4] == 0xff);
		expect(f->local_given && f->port->clsact_ours);
	}
	expect_eq(job_find(&world, "train")->key.b[0], 0xfe);
	expect_eq(job_find(&world, "train")->key.b[15], 0xfe);
	expect_eq(job_find(&world, "train")->fmt, TRIB_FMT_Q32);
	expect_eq(tree_find(&world, 3)->last_epoch, 4000000000u);
	expect_eq(tree_find(&world, 3)->row.slot0, 128);
	json_decref(before);
	json_decref(after);
}

static void state__dtype_comes_back(void)
{
	static const uint8_t fmts[] = {TRIB_FMT_Q32, TRIB_FMT_F32, TRIB_FMT_F16, TRIB_FMT_BF16};
	unsigned int i;
	json_t *doc;

	for (i = 0; i < sizeof(fmts); i++) {
		job_find(&world, "train")->fmt = fmts[i];
		doc = state_pack(&world, NULL);
		expect_eq(restore(doc), 0);
		expect_eq(job_find(&world, "train")->fmt, fmts[i]);
		json_decref(doc);
	}
}

static void state__peers_come_back(void)
{
	struct job *j = job_find(&world, "train");
	json_t *doc, *o;

	/* A job without them has no member that an older tribd would refuse. */
	doc = state_pack(&world, NULL);
	expect(!json_object_get(json_array_get(json_object_get(doc, "jobs"), 0), "peers"));
	expect_eq(restore(doc), 0);
	json_decref(doc);
	j = job_find(&world, "train");
	expect_eq(j->peers_port, 0);
	j->peers = v4("10.0.0.1");
	j->peers_port = 7416;
	doc = state_pack(&world, NULL);
	o = json_array_get(json_object_get(doc, "jobs"), 0);
	expect(!strcmp(json_string_value(json_object_get(o, "peers")), "10.0.0.1:7416"));
	expect_eq(restore(doc), 0);
	expect_eq(job_find(&world, "train")->peers_port, 7416);
	expect(addr_is_v4(&job_find(&world, "train")->peers));
	expect_eq(job_find(&world, "train")->peers.s6_addr[15], 1);
	json_object_set_new(o, "peers", json_string("10.0.0.1"));
	expect_eq(restore(doc), -EPROTO);
	expect(strstr(why.text, "peers of job train") != NULL);
	json_object_set_new(o, "peers", json_integer(7416));
	expect_eq(restore(doc), -EPROTO);
	json_decref(doc);
}

static void state__file_comes_back_and_is_roots_only(void)
{
	struct stat st;
	char path[200];
	json_t *doc;
	int err;

	fill();
	expect_eq(hooks_save(&world, NULL), 0);
	snprintf(path, sizeof(path), "%s/state.json", dir);
	expect_eq(stat(path, &st), 0);
	expect_eq(st.st_mode & 0777, 0600);
	err = state_read(&world, &doc, &why);
	expect_eq(err, 0);
	expect(doc != NULL);
	expect(!strcmp(world.maker, "tribd " TRIB_VERSION));
	expect_eq(state_instance(doc), 0x1122334455667788);
	expect_eq(state_netns(doc), 7);
	json_decref(doc);
	snprintf(path, sizeof(path), "%s/state.json.new", dir);
	expect(access(path, F_OK) != 0);
}

static void state__without_an_object_leaves_it_out(void)
{
	struct job *j = job_find(&world, "train");
	json_t *doc;

	fill();
	doc = state_pack(&world, j);
	expect_eq(json_array_size(json_object_get(doc, "jobs")), 0);
	expect_eq(json_array_size(json_object_get(doc, "trees")), 0);
	json_decref(doc);
	doc = state_pack(&world, tree_find(&world, 3));
	expect_eq(json_array_size(json_object_get(doc, "trees")), 3);
	json_decref(doc);
	doc = state_pack(&world, face_find(&world, "six"));
	expect_eq(json_array_size(json_object_get(doc, "faces")), world.nfaces - 1);
	json_decref(doc);
}

static void state__overlapping_slots_are_refused(void)
{
	json_t *doc, *tree;

	fill();
	doc = state_pack(&world, NULL);
	tree = json_deep_copy(json_array_get(json_object_get(doc, "trees"), 0));
	json_object_set_new(tree, "id", json_integer(4));
	json_object_set_new(tree, "slot0", json_integer(130));
	json_array_append_new(json_object_get(doc, "trees"), tree);
	expect_eq(restore(doc), -EEXIST);
	json_object_set_new(tree, "slot0", json_integer(1020));
	expect_eq(restore(doc), -ERANGE);
	json_object_set_new(tree, "slot0", json_integer(136));
	expect_eq(restore(doc), 0);
	json_decref(doc);
}

/* No tribd wrote any of these files. */
static void state__wrong_values_are_refused(void)
{
	static const char *const text[] = {
		"{'faces':[{'name':'x'}]}",
		"{'faces':[{'name':'x','dev':'p0','addr':'10.0.0'}]}",
		"{'faces':[{'name':'x','dev':'p0','addr':'10.0.0.9','vlan':[70000,0]}]}",
		"{'faces':[{'name':'x','dev':'0123456789abcdef','addr':'10.0.0.9'}]}",
		"{'jobs':[{'name':'j','id':1,'world':0,'window':4}]}",
		"{'jobs':[{'name':'j','id':1,'world':-1,'window':4}]}",
		"{'jobs':[{'name':'j','id':1,'world':2,'window':3}]}",
		"{'jobs':[{'name':3,'id':1,'world':2,'window':4}]}",
		"{'jobs':[7]}",
		"{'trees':[{'id':1,'job':'nope'}]}",
		"{'trees':[{}]}",
	};
	unsigned int i;

	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		char json[256], *s;
		json_t *doc;

		snprintf(json, sizeof(json), "%s", text[i]);
		while ((s = strchr(json, '\'')))
			*s = '"';
		doc = json_loads(json, 0, NULL);
		if (!expect(doc && restore(doc) < 0))
			printf("# %s\n", json);
		json_decref(doc);
	}
}

static void state__broken_file_is_an_error_and_none_is_not(void)
{
	char path[200];
	json_t *doc;
	FILE *f;
	int err;

	snprintf(path, sizeof(path), "%s/state.json", dir);
	unlink(path);
	err = state_read(&world, &doc, &why);
	expect(!doc && !err);
	f = fopen(path, "w");
	fputs("{\"version\": 1, \"faces\": [", f);
	fclose(f);
	err = state_read(&world, &doc, &why);
	expect(!doc && err == -EPROTO);
	expect(!strcmp(world.maker, "the tribd before"));
	f = fopen(path, "w");
	fputs("{\"version\": 99, \"by\": \"9.8.7\"}", f);
	fclose(f);
	err = state_read(&world, &doc, &why);
	expect(!doc && err == -EPROTO && strstr(why.text, "has version 99"));
	expect(!strcmp(world.maker, "tribd 9.8.7"));
	unlink(path);
}

/* Restore @doc, and compare what is left of it. Releases @doc. */
static int kept(json_t *doc)
{
	int err = restore(doc);

	if (!err)
		err = state_kept(&world, doc, &why);
	json_decref(doc);
	return err;
}

static void state__member_of_another_version_is_refused(void)
{
	static const struct {
		const char *list;
		const char *inside; /* member of the first entry; NULL: the entry */
		const char *named;
	} cases[] = {
		{NULL, NULL, "member quota"},
		{"faces", NULL, "member faces[a].quota"},
		{"jobs", NULL, "member jobs[train].quota"},
		{"trees", NULL, "member trees[3].quota"},
		{"trees", "child", "member trees[3].child[0].quota"},
		{"trees", "local", "member trees[3].local[0].quota"},
	};
	json_t *doc, *o;
	size_t i;

	fill();
	doc = state_pack(&world, NULL);
	expect_eq(kept(json_deep_copy(doc)), 0);
	/* A member that older files lack, and a port without a face, are fine. */
	o = json_deep_copy(doc);
	json_object_del(json_array_get(json_object_get(o, "jobs"), 0), "dtype");
	json_object_del(o, "by");
	json_array_append_new(json_object_get(o, "ports"), json_pack("{s:s}", "dev", "gone0"));
	expect_eq(kept(o), 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *copy = json_deep_copy(doc);

		o = copy;
		if (cases[i].list)
			o = json_array_get(json_object_get(o, cases[i].list), 0);
		if (cases[i].inside)
			o = json_array_get(json_object_get(o, cases[i].inside), 0);
		json_object_set_new(o, "quota", json_integer(1));
		expect_eq(kept(copy), -EPROTO);
		if (!expect(strstr(why.text, cases[i].named)))
			printf("# %s\n", why.text);
	}
	json_decref(doc);
}

static void state__trees_of_another_protocol_are_refused(void)
{
	static const char *const keys[] = {"wire", "attach"};
	json_t *doc;
	size_t i;

	fill();
	for (i = 0; i < 2; i++) {
		doc = state_pack(&world, NULL);
		expect_eq(state_contracts(doc, &why), 0);
		json_object_set_new(doc, keys[i], json_integer(99));
		expect_eq(state_contracts(doc, &why), -EPROTO);
		expect(strstr(why.text, "version 99") && strstr(why.text, keys[i]));
		/* Nobody speaks where there is no tree; an older file does not say. */
		json_array_clear(json_object_get(doc, "trees"));
		expect_eq(state_contracts(doc, &why), 0);
		json_decref(doc);
		doc = state_pack(&world, NULL);
		json_object_del(doc, keys[i]);
		expect_eq(state_contracts(doc, &why), 0);
		json_decref(doc);
	}
}

#define RUN(fn)                                                                                    \
	do {                                                                                       \
		world_make();                                                                      \
		snprintf(world.run_dir, sizeof(world.run_dir), "%s", dir);                         \
		run(fn);                                                                           \
		world_free();                                                                      \
	} while (0)

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	log_open(LOG_ERROR);
	RUN(state__everything_comes_back);
	RUN(state__dtype_comes_back);
	RUN(state__peers_come_back);
	RUN(state__file_comes_back_and_is_roots_only);
	RUN(state__without_an_object_leaves_it_out);
	RUN(state__overlapping_slots_are_refused);
	RUN(state__wrong_values_are_refused);
	RUN(state__broken_file_is_an_error_and_none_is_not);
	RUN(state__member_of_another_version_is_refused);
	RUN(state__trees_of_another_protocol_are_refused);
	rmdir(dir);
	return tap_done();
}
