// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names without a kernel: text and rows, contents of a face, times and markers,
 * counters; and all of it through the state file.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/tap.h"
#include "tests/lib/daemon_world.h"
#include "daemon/ndn/ndnd.h"
#include "daemon/netlink/nl.h"
#include "daemon/state/state.h"
#include "ndn/packet/ndn.h"

static void start(void)
{
	world_make();
	ndnd_init(&world);
	snprintf(world.run_dir, sizeof(world.run_dir), "/tmp/trib-unit-%d", (int)getpid());
	mkdir(world.run_dir, 0700);
}

static void end(void)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/state.json", world.run_dir);
	unlink(path);
	rmdir(world.run_dir);
	world_free();
	ndnd_exit(&world);
}

static bool says(const char *word)
{
	if (strstr(why.text, word))
		return true;
	printf("# it says: %s\n", why.text);
	return false;
}

/* --- text */

static void text__comes_back(void)
{
	static const char *const good[] = {
		"/", "/ps/job", "/ps/job/v=4294967297/seg=0", "/a%2Fb/%00/...", "/32=newest",
	};
	struct ndn_row_name n;
	char buf[NDND_TEXT_MAX];

	for (unsigned int i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		expect_eq(ndnd_name_parse(good[i], &n, &why), 0);
		expect(!strcmp(ndnd_name_text(&n, buf), good[i]));
	}
	ndnd_name_parse("/ps/job", &n, &why);
	expect_eq(n.len, 9);
	expect_eq(n.count, 2);
	expect(!memcmp(n.value, "\x08\x02ps\x08\x03job", 10));
}

static void text__that_is_no_name_is_refused_by_its_words(void)
{
	static const char *const bad[] = {"",	 "ps",	  "/a b",   "/%", "/%4",
					  "/v=", "/v=01", "/seg=x", "/.."};
	char longest[600];
	struct ndn_row_name n;

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		expect_eq(ndnd_name_parse(bad[i], &n, &why), -EINVAL);
		expect(says(bad[i]));
	}
	memset(longest, 'a', sizeof(longest));
	longest[0] = '/';
	longest[254] = 0; /* 253 bytes behind a head of 4 */
	expect_eq(ndnd_name_parse(longest, &n, &why), -EINVAL);
	expect(says("255 bytes"));
	longest[253] = 0; /* 252 bytes behind a head of 2: the maximum */
	expect_eq(ndnd_name_parse(longest, &n, &why), 0);
	expect_eq(n.len, 254);
}

static void text__of_a_row_that_is_no_name_is_a_question_mark(void)
{
	struct ndn_row_name n = {.len = 300};
	char buf[NDND_TEXT_MAX];

	expect(!strcmp(ndnd_name_text(&n, buf), "?"));
	n.len = 3;
	memset(n.value, 0xff, 3);
	expect(!strcmp(ndnd_name_text(&n, buf), "?"));
}

static void below__is_by_components(void)
{
	struct ndn_row_name all, ps, psx, job;

	ndnd_name_parse("/", &all, &why);
	ndnd_name_parse("/ps", &ps, &why);
	ndnd_name_parse("/psx", &psx, &why);
	ndnd_name_parse("/ps/job", &job, &why);
	expect(ndnd_name_is_below(&all, &job) && ndnd_name_is_below(&ps, &job));
	expect(ndnd_name_is_below(&ps, &ps) && !ndnd_name_is_below(&job, &ps));
	expect(!ndnd_name_is_below(&ps, &psx));
}

static void marker__is_one_component(void)
{
	struct ndn_marker m;
	char buf[NDND_TEXT_MAX];

	expect_eq(ndnd_marker_parse("32=sub", &m, &why), 0);
	expect_eq(m.len, 5);
	expect(!strcmp(ndnd_marker_text(&m, buf), "32=sub"));
	expect_eq(ndnd_marker_parse("", &m, &why), -EINVAL);
	expect_eq(ndnd_marker_parse("a/b", &m, &why), -EINVAL);
	expect_eq(ndnd_marker_parse("%zz", &m, &why), -EINVAL);
	expect_eq(ndnd_marker_parse("abcdefghijklmnopqrstuvwxyz01234", &m, &why), -E2BIG);
	expect_eq(ndnd_marker_parse("abcdefghijklmnopqrstuvwxyz0123", &m, &why), 0);
}

/* --- attributes of a face */

static struct ndnd_spec spec;

static int add(uint8_t may, const char *text)
{
	return ndnd_spec_add(world.ndn, &spec, may, text, &why);
}

static int set(const char *face)
{
	struct nlattr *none[TRIB_A_FACE__MAX] = {};
	struct face_spec s = {.ndn = &spec};

	strcpy(s.name, face);
	return face_set(&world, &s, none, &why);
}

static void fresh(int kind)
{
	memset(&spec, 0, sizeof(spec));
	spec.has_kind = true;
	spec.kind = (uint8_t)kind;
}

static const struct ndnd_peer *peer(const char *face)
{
	return face_find(&world, face)->ndn;
}

static void face__router_may_all_and_host_nothing(void)
{
	start();
	fresh(TRIB_FACE_NDN_ROUTER);
	expect_eq(set("a"), 0);
	expect_eq(peer("a")->n, 1);
	expect_eq(peer("a")->prefix[0].name.len, 0);
	expect_eq(peer("a")->prefix[0].may, 3);
	expect_eq(peer("a")->port, 6363);
	fresh(TRIB_FACE_NDN_HOST);
	expect_eq(set("b"), 0);
	expect_eq(peer("b")->n, 0);
	expect_eq(peer("b")->number, 2);
	expect_eq(world.ndn->nprefixes, 1);
	end();
}

static void face__set_replaces_what_it_names(void)
{
	start();
	fresh(TRIB_FACE_NDN_HOST);
	spec.has_subscribe = spec.has_write = true;
	add(NDN_MAY_SUBSCRIBE, "/ps");
	add(NDN_MAY_WRITE, "/ps");
	add(NDN_MAY_WRITE, "/gpu");
	expect_eq(set("a"), 0);
	expect_eq(peer("a")->n, 2);
	memset(&spec, 0, sizeof(spec));
	spec.has_subscribe = true;
	add(NDN_MAY_SUBSCRIBE, "/other");
	expect_eq(set("a"), 0);
	expect_eq(peer("a")->n, 3);
	expect_eq(peer("a")->kind, TRIB_FACE_NDN_HOST);
	memset(&spec, 0, sizeof(spec));
	spec.has_subscribe = spec.has_write = true;
	expect_eq(add(NDN_MAY_WRITE, ""), 0);
	expect_eq(set("a"), 0);
	expect_eq(peer("a")->n, 0);
	expect_eq(world.ndn->nprefixes, 0);
	end();
}

static void face__bad_ones_are_refused(void)
{
	start();
	fresh(3);
	expect_eq(set("a"), -ERANGE);
	expect(says("ndn 3"));
	fresh(TRIB_FACE_NDN_HOST);
	expect_eq(set("nobody"), -ENOENT);
	expect_eq(set("mc"), -EINVAL);
	expect(says("239.1.1.1"));
	face_find(&world, "b")->vlan[1] = 7;
	expect_eq(set("b"), -EINVAL);
	expect(says("inner vlan 7"));
	fresh(TRIB_FACE_NDN_NONE);
	spec.has_port = true;
	expect_eq(set("a"), -EINVAL);
	fresh(TRIB_FACE_NDN_HOST);
	expect_eq(add(NDN_MAY_WRITE, "/insert/ps"), -EINVAL);
	expect(says("/insert/ps"));
	for (unsigned int i = 0; i < NDND_PREFIXES_MAX; i++) {
		char text[16];

		snprintf(text, sizeof(text), "/%u", i);
		expect_eq(add(NDN_MAY_WRITE, text), 0);
	}
	expect_eq(add(NDN_MAY_WRITE, "/x"), -E2BIG);
	expect(!peer("a") && !peer("mc"));
	end();
}

static void face__two_of_one_sender_are_refused(void)
{
	start();
	fresh(TRIB_FACE_NDN_HOST);
	expect_eq(set("c"), 0);
	expect_eq(set("c2"), 0); /* another address */
	memcpy(&face_find(&world, "c2")->addr, &face_find(&world, "c")->addr, 16);
	expect_eq(set("c2"), -EEXIST);
	expect(says("face c "));
	end();
}

static void face__with_routes_stays(void)
{
	start();
	fresh(TRIB_FACE_NDN_ROUTER);
	expect_eq(set("a"), 0);
	expect_eq(ndnd_route_restore(&world, "/ps", "a", &why), 0);
	world.ndn->on = true;
	expect_eq(ndnd_face_del_check(&world, face_find(&world, "a"), &why), -EBUSY);
	expect(says("1 route"));
	world.ndn->on = false;
	expect_eq(ndnd_face_del_check(&world, face_find(&world, "a"), &why), 0);
	ndnd_face_del(&world, face_find(&world, "a"));
	expect_eq(world.ndn->nroutes, 0);
	end();
}

static void face__without_address_is_for_ndn_alone(void)
{
	struct face_spec s = {.name = "e", .ifname = "p6"};

	start();
	expect_eq(face_check(&world, &s, &why), -EINVAL);
	expect(says("::"));
	fresh(TRIB_FACE_NDN_HOST);
	s.ndn = &spec;
	expect_eq(face_check(&world, &s, &why), -EINVAL);
	spec.has_port = true;
	expect_eq(face_check(&world, &s, &why), -EINVAL);
	expect(says("neither addr nor mac"));
	s.mac_given = true;
	s.mac[5] = 1;
	expect_eq(face_check(&world, &s, &why), 0);
	end();
}

/* --- times and markers */

static void times__are_checked_before_anything_changes(void)
{
	struct ndnd_set s = {.lease_ms = 99};

	start();
	expect_eq(ndnd_set(&world, &s, &why), -ERANGE);
	s = (struct ndnd_set){.leave_ms = NDND_LEASE_MS + 1};
	expect_eq(ndnd_set(&world, &s, &why), -ERANGE);
	s = (struct ndnd_set){.lease_ms = 500, .marker[NDN_MARK_INSERT] = "distribute"};
	expect_eq(ndnd_set(&world, &s, &why), -EINVAL);
	expect_eq(world.ndn->lease_ms, NDND_LEASE_MS);
	s = (struct ndnd_set){.lease_ms = 500, .leave_ms = 400};
	expect_eq(ndnd_set(&world, &s, &why), 0);
	ndnd_config_fill(world.ndn);
	expect_eq(world.ndn->config.leave_ns, 400000000);
	/* A shorter lease also shortens a longer leave time. */
	s = (struct ndnd_set){.lease_ms = 200};
	expect_eq(ndnd_set(&world, &s, &why), 0);
	ndnd_config_fill(world.ndn);
	expect_eq(world.ndn->config.leave_ns, 100000000);
	end();
}

/* --- the state file */

static json_t *fill(void)
{
	struct ndnd_set s = {.lease_ms = 500, .marker[NDN_MARK_INSERT] = "32=sub"};

	ndnd_set(&world, &s, &why);
	fresh(TRIB_FACE_NDN_HOST);
	spec.has_subscribe = spec.has_write = spec.has_port = true;
	spec.port = 7000;
	spec.number = 200;
	add(NDN_MAY_SUBSCRIBE, "/ps");
	add(NDN_MAY_WRITE, "/ps/v=1");
	add(NDN_MAY_SUBSCRIBE | NDN_MAY_WRITE, "/%00");
	expect_eq(set("a"), 0);
	fresh(TRIB_FACE_NDN_ROUTER);
	expect_eq(set("up"), 0);
	expect_eq(ndnd_route_restore(&world, "/ps", "up", &why), 0);
	expect_eq(ndnd_route_restore(&world, "/", "a", &why), 0);
	return state_pack(&world, NULL);
}

static int restore(json_t *doc, bool ndn_only)
{
	world_free();
	TAILQ_INIT(&world.jobs);
	world.nfaces = world.njobs = world.ntrees = 0;
	ndnd_exit(&world);
	ndnd_init(&world);
	return ndn_only ? state_restore_ndn(&world, doc, &why) : state_restore(&world, doc, &why);
}

static void state__ndn_comes_back(void)
{
	json_t *before, *after;

	start();
	before = fill();
	expect_eq(restore(before, false), 0);
	after = state_pack(&world, NULL);
	if (!expect(json_equal(before, after))) {
		json_dumpf(before, stdout, 0);
		json_dumpf(after, stdout, 0);
	}
	expect_eq(peer("a")->number, 200);
	expect_eq(world.ndn->nroutes, 2);
	expect_eq(world.ndn->nprefixes, 4);
	expect_eq(restore(before, true), 0);
	expect_eq(world.nfaces, 2);
	expect_eq(world.njobs, 0);
	expect_eq(world.ndn->lease_ms, 500);
	json_decref(before);
	json_decref(after);
	end();
}

static void state__without_a_face_has_none_of_its_routes(void)
{
	json_t *all, *less, *routes;

	start();
	all = fill();
	less = state_pack(&world, face_find(&world, "up"));
	routes = json_object_get(json_object_get(less, "ndn"), "routes");
	expect_eq(json_array_size(routes), 1);
	expect_eq(restore(less, false), 0);
	json_decref(all);
	json_decref(less);
	end();
}

static void state__that_makes_no_sense_is_refused(void)
{
	json_t *doc, *ndn;

	start();
	doc = fill();
	ndn = json_object_get(doc, "ndn");
	json_object_set_new(ndn, "lease_ms", json_integer(1));
	expect_eq(restore(doc, false), -ERANGE);
	json_object_set_new(ndn, "lease_ms", json_integer(-1));
	expect_eq(restore(doc, false), -ERANGE);
	json_object_set_new(ndn, "lease_ms", json_integer(500));
	json_object_set_new(json_object_get(ndn, "markers"), "insert", json_string("delete"));
	expect_eq(restore(doc, false), -EINVAL);
	json_object_set_new(json_object_get(ndn, "markers"), "insert", json_string("insert"));
	json_array_append_new(json_object_get(ndn, "routes"),
			      json_pack("{s:s s:s}", "prefix", "/x", "face", "b"));
	expect_eq(restore(doc, false), -EPROTO);
	json_array_append_new(json_object_get(ndn, "routes"), json_integer(7));
	expect_eq(restore(doc, false), -EPROTO);
	json_decref(doc);
	end();
}

/* --- counters */

static void stats__table_and_enum_agree(void)
{
	unsigned int bad = 0;

	for (uint32_t i = 0; i < NDN_STAT__MAX; i++) {
		const struct stat_text *s = ndnd_stat_text(i);

		if (!s)
			continue;
		bad += !s->name || strncmp(s->name, "ndn-", 4) || !s->text ||
		       strlen(s->name) > 31 || strlen(s->text) > 127;
	}
	expect_eq(bad, 0);
	/* The numbers of the enum, except the parser's last one. */
	for (uint32_t i = 0; i <= NDN_DROP_LATE; i++) {
		bool used = i <= NDN_STAT_REPLACED || i >= NDN_DROP_SHORT;

		if (!expect(!!ndnd_stat_text(i) == used))
			printf("# counter %u\n", i);
	}
	expect(!strcmp(ndnd_stat_text(NDN_STAT_RX_INTEREST)->name, "ndn-rx-interest"));
	expect(!strcmp(ndnd_stat_text(NDN_DROP_OFFLOAD)->name, "ndn-drop-offload"));
	expect(!ndnd_stat_text(NDN_DROP_LATE + 1));
	expect(!ndnd_stat_text(NDN_STAT__MAX));
	/* Every reason to refuse a packet. */
	for (uint32_t e = NDN_E_CUT; e <= NDN_E_LP_NACK; e++)
		if (!expect(e == NDN_E_TEXT || ndnd_stat_text(NDN_STAT_BAD + e)))
			printf("# reason %u\n", e);
}

static void stats__are_not_shown_without_ndn(void)
{
	uint32_t id, n = 0;

	start();
	for (id = stat_next(&world, 0); id != STAT_NONE; id = stat_next(&world, id + 1)) {
		expect(id < TRIB_STAT__MAX && stat_text(id));
		n++;
	}
	expect(n > 40);
	world.ndn->on = true;
	expect_eq(stat_next(&world, TRIB_STAT__MAX), TRIB_STAT_NDN + NDN_STAT_RX_INTEREST);
	world.ndn->on = false;
	end();
}

int main(void)
{
	log_open(LOG_ERROR);
	run(text__comes_back);
	run(text__that_is_no_name_is_refused_by_its_words);
	run(text__of_a_row_that_is_no_name_is_a_question_mark);
	run(below__is_by_components);
	run(marker__is_one_component);
	run(face__router_may_all_and_host_nothing);
	run(face__set_replaces_what_it_names);
	run(face__bad_ones_are_refused);
	run(face__two_of_one_sender_are_refused);
	run(face__with_routes_stays);
	run(face__without_address_is_for_ndn_alone);
	run(times__are_checked_before_anything_changes);
	run(state__ndn_comes_back);
	run(state__without_a_face_has_none_of_its_routes);
	run(state__that_makes_no_sense_is_refused);
	run(stats__table_and_enum_agree);
	run(stats__are_not_shown_without_ndn);
	return tap_done();
}
