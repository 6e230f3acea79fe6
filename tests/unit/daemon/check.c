// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests that are refused before anything changes: faces, jobs, instance
 * names, maps to adopt; and the text of tickets.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>

#include "base/text.h"
#include "tests/lib/tap.h"
#include "tests/lib/daemon_world.h"
#include "daemon/load/bpf_load.h"
#include "daemon/core/instance.h"
#include "daemon/attach/ticket.h"
#include "daemon/netlink/nl.h"
#include "daemon/session/udp.h"

static bool says(const char *word)
{
	if (strstr(why.text, word))
		return true;
	printf("# it says: %s\n", why.text);
	return false;
}

static struct face_spec face(const char *name, struct in6_addr addr)
{
	struct face_spec s = {.addr = addr};

	strcpy(s.ifname, "p0");
	strcpy(s.name, name);
	return s;
}

static void refused(struct face_spec s, int err, const char *word)
{
	expect_eq(face_check(&world, &s, &why), err);
	expect(says(word));
}

static void face__default_port_is_ours(void)
{
	struct face_spec s = face("x", v4("10.0.0.9"));

	expect_eq(face_check(&world, &s, &why), 0);
	expect_eq(s.udp_port, TRIB_UDP_PORT);
}

static void face__bad_names_are_refused(void)
{
	struct in6_addr a = v4("10.0.0.9");

	refused(face("", a), -EINVAL, "is empty");
	refused(face("-x", a), -EINVAL, "-x");
	refused(face("a b", a), -EINVAL, "a b");
	refused(face("a:1", a), -EINVAL, "':'");
	refused(face("\xff", a), -EINVAL, "contains");
	refused(face("a", a), -EEXIST, "face a exists");
}

static void face__addresses_of_nobody_are_refused(void)
{
	static const char *const bad4[] = {"0.0.0.0", "127.0.0.1", "255.255.255.255", "240.0.0.1",
					   "0.1.2.3"};
	unsigned int i;

	for (i = 0; i < sizeof(bad4) / sizeof(bad4[0]); i++)
		refused(face("x", v4(bad4[i])), -EINVAL, bad4[i]);
	refused(face("x", v6("::")), -EINVAL, "::");
	refused(face("x", v6("::1")), -EINVAL, "::1");
}

static void face__bad_mac_is_refused(void)
{
	struct face_spec s = face("x", v4("10.0.0.9"));

	s.mac_given = true;
	refused(s, -EINVAL, "00:00:00");
	s.mac[0] = 1;
	refused(s, -EINVAL, "01:00:00:00:00:00");
	s.addr = v4("239.0.0.1");
	expect_eq(face_check(&world, &s, &why), 0);
}

static void face__bad_vlans_are_refused(void)
{
	struct face_spec s = face("x", v4("10.0.0.9"));

	s.vlan[0] = 4095;
	refused(s, -ERANGE, "4095");
	s.vlan[0] = 0;
	s.vlan[1] = 5;
	refused(s, -EINVAL, "inner vlan 5");
}

static void face__bad_local_address_is_refused(void)
{
	struct face_spec s = face("x", v4("10.0.0.9"));

	s.local_given = true;
	s.local = v6("fd00::1");
	refused(s, -EINVAL, "fd00::1");
	s.local = v4("10.0.0.9");
	refused(s, -EINVAL, "peer");
	s.local = v4("224.0.0.1");
	refused(s, -EINVAL, "224.0.0.1");
}

static void face__mtu_follows_values_and_ip_version(void)
{
	expect_eq(face_mtu_needed(&world, face_find(&world, "a")), 352 * 4 + 68);
	world.config.nval = TRIB_NVAL_LARGE;
	expect_eq(face_mtu_needed(&world, face_find(&world, "six")), 832 * 4 + 88);
}

static void face__packet_must_come_from_its_device_and_address(void)
{
	struct face *f = face_find(&world, "a");
	struct udp_packet p = {.src = v4("10.0.0.2"), .ifindex = 10};

	expect(!udp_is_from(&p, f)); /* no device known */
	f->l3_ifindex = 10;
	expect(udp_is_from(&p, f));
	p.ifindex = 11;
	expect(!udp_is_from(&p, f));
	p.ifindex = 10;
	p.src = v4("10.0.0.3");
	expect(!udp_is_from(&p, f));
}

/* --- jobs */

static void job__defaults(void)
{
	struct job_spec s = {.name = "ps_job-1.a", .world = 1024};

	expect_eq(job_check(&world, &s, &why), 0);
	expect_eq(s.id, 2); /* 1 is taken */
	expect_eq(s.window, 256);
	expect_eq(s.timeout_ms, 5000);
	expect(s.has_key);
}

static void job_refused(struct job_spec s, int err, const char *word)
{
	expect_eq(job_check(&world, &s, &why), err);
	expect(says(word));
}

static void job__bad_numbers_are_refused(void)
{
	struct job_spec s = {.name = "j", .world = 2};

	s.world = 0;
	job_refused(s, -ERANGE, "world 0");
	s.world = 1025;
	job_refused(s, -ERANGE, "world 1025");
	s.world = 2;
	s.window = 3;
	job_refused(s, -ERANGE, "window 3");
	s.window = 32768;
	job_refused(s, -ERANGE, "window 32768");
	s.window = 16384;
	s.timeout_ms = 49;
	job_refused(s, -ERANGE, "timeout 49");
	s.timeout_ms = 3600001;
	job_refused(s, -ERANGE, "timeout 3600001");
	s.timeout_ms = 50;
	s.id = 1;
	job_refused(s, -EEXIST, "job train");
	s.id = 2;
	expect_eq(job_check(&world, &s, &why), 0);
}

static void peers_refused(const char *text, const char *word)
{
	struct job_spec s = {.name = "j", .world = 2};

	expect_eq(job_spec_peers(&s, text, &why), -EINVAL);
	expect(says(word) && says(text));
}

static void job__peers_meet_at_one_host(void)
{
	struct job_spec s = {.name = "j", .world = 2};
	char text[ADDR_TEXT_MAX];

	peers_refused("", "is not an address with a port");
	peers_refused("10.0.0.1:7416:1", "is not an address with a port");
	peers_refused("10.0.0.1:65536", "is not an address with a port");
	peers_refused("10.0.0.1:-1", "is not an address with a port");
	peers_refused("w0:7416", "is not an address with a port");
	peers_refused("fd00::1:7416", "lacks a port"); /* that is an address */
	peers_refused("10.0.0.1", "lacks a port");
	peers_refused("[fd00::1]:0", "lacks a port");
	peers_refused("0.0.0.0:7416", "address of one host");
	peers_refused("[::]:7416", "address of one host");
	peers_refused("239.1.1.1:7416", "address of one host");
	peers_refused("255.255.255.255:7416", "address of one host");
	peers_refused("[ff02::1]:7416", "address of one host");
	peers_refused("[fe80::1]:7416", "is link-local");
	expect_eq(job_spec_peers(&s, "[fd00::0:1]:7416", &why), 0);
	expect(!strcmp(addr_text_port(&s.peers, s.peers_port, text), "[fd00::1]:7416"));
	expect_eq(job_spec_peers(&s, "[::ffff:10.0.0.1]:65535", &why), 0);
	expect(!strcmp(addr_text_port(&s.peers, s.peers_port, text), "10.0.0.1:65535"));
	expect_eq(job_new(&world, &s, &why), 0);
	expect_eq(job_find(&world, "j")->peers_port, 65535);
}

static void job__floats_need_the_module(void)
{
	struct job_spec s = {.name = "j", .world = 2};

	expect_eq(job_check(&world, &s, &why), 0);
	expect_eq(s.fmt, TRIB_FMT_Q32);
	s.fmt = TRIB_FMT_I32;
	job_refused(s, -EINVAL, "format 2");
	s.fmt = TRIB_FMT__MAX;
	job_refused(s, -EINVAL, "f32");
	s.fmt = TRIB_FMT_BF16;
	s.id = 0;
	expect_eq(job_new(&world, &s, &why), -EOPNOTSUPP);
	expect(says("dtype bf16") && says("modprobe trib"));
	expect(!job_find(&world, "j"));
	/* Jobs of the state file stay without the module. */
	expect_eq(job_restore(&world, &s, &why), 0);
	expect_eq(job_find(&world, "j")->fmt, TRIB_FMT_BF16);
}

static void job__bad_names_are_refused(void)
{
	struct job_spec s = {.name = "train", .world = 2};

	job_refused(s, -EEXIST, "train");
	strcpy(s.name, "a?b");
	job_refused(s, -EINVAL, "a?b");
	strcpy(s.name, "");
	job_refused(s, -EINVAL, "is empty");
	strcpy(s.name, "../../etc");
	job_refused(s, -EINVAL, "../../etc");
	strcpy(s.name, "/ps/job");
	job_refused(s, -EINVAL, "contains '/'");
	strcpy(s.name, ".job");
	job_refused(s, -EINVAL, "begins with .");
}

/* A state file may hold jobs that an older tribd let in: they stay, and can be used. */
static void job__of_the_state_file_keeps_its_name(void)
{
	struct job_spec s = {.name = "/ps/job", .id = 9, .world = 2, .has_key = true};

	expect_eq(job_restore(&world, &s, &why), 0);
	expect(job_find(&world, "/ps/job") != NULL);
}

/* --- tickets */

static struct tree *ticket_tree(uint16_t id, const char *children)
{
	struct tree_spec s = spec_make(id, children);

	s.dedicated.slot0 = id * 64u;
	expect_eq(tree_restore(&world, &s, &why), 0);
	return tree_find(&world, id);
}

/* Keys of a rank as its ticket has them; valid until the next call. */
static const char *keys_of(const struct job *j, uint16_t rank)
{
	char up[TRIB_KEY_HEX + 1], down[TRIB_KEY_HEX + 1];
	static char text[2 * TRIB_KEY_HEX + 16];
	struct trib_key key;

	trib_key_rank(&key, &j->key, rank);
	text_key_put(&key, up);
	trib_key_members(&key, &j->key);
	snprintf(text, sizeof(text), "&keys=%s:%s", up, text_key_put(&key, down));
	return text;
}

static void ticket__names_all_trees_of_the_rank(void)
{
	const struct job *j = job_find(&world, "train");
	char text[512], want[512];

	face_find(&world, "b")->local = v4("10.0.1.1");
	/* The default port of child 1; child 0 has another. */
	face_find(&world, "b")->udp_port = TRIB_UDP_PORT_WORKER + 1;
	ticket_tree(1, "a:0 b:5");
	ticket_tree(2, "a:0");
	ticket_tree(4, "b:5 a:1");
	expect_eq(ticket_write(&world, j, 5, text, sizeof(text), &why), 0);
	snprintf(want, sizeof(want),
		 "trib://10.0.1.1:7417/train?job=1&rank=5&world=8%s&tree=1:1&tree=4:0:7419",
		 keys_of(j, 5));
	if (!expect(!strcmp(text, want)))
		printf("# %s\n# %s\n", text, want);
}

static void ticket__says_what_floats_travel_as(void)
{
	struct job *j = job_find(&world, "train");
	char text[512];

	ticket_tree(1, "a:0");
	j->fmt = TRIB_FMT_F16;
	expect_eq(ticket_write(&world, j, 0, text, sizeof(text), &why), 0);
	expect(strstr(text, "&fmt=f16"));
	j->fmt = TRIB_FMT_Q32;
	expect_eq(ticket_write(&world, j, 0, text, sizeof(text), &why), 0);
	expect(!strstr(text, "fmt"));
}

static void ticket__ipv6_address_is_in_brackets(void)
{
	const struct job *j = job_find(&world, "train");
	char text[512];

	face_find(&world, "six")->local = v6("fd00::1");
	ticket_tree(1, "six:0");
	expect_eq(ticket_write(&world, j, 0, text, sizeof(text), &why), 0);
	expect(strstr(text, "trib://[fd00::1]:7417/train?") == text);
}

static void ticket__names_port_and_group_of_a_multicast_face(void)
{
	const struct job *j = job_find(&world, "train");
	struct tree_spec s = spec_make(1, "c:0 c2:1");
	char text[512];

	face_find(&world, "c")->udp_port = 7420;
	face_find(&world, "c2")->udp_port = 7420;
	face_find(&world, "mc")->udp_port = 7420;
	spec_down(&s, "mc");
	expect_eq(tree_restore(&world, &s, &why), 0);
	expect_eq(ticket_write(&world, j, 1, text, sizeof(text), &why), 0);
	if (!expect(strstr(text, "&tree=1:1:7420@239.1.1.1")))
		printf("# %s\n", text);
	/* An IPv6 address, for its brackets. */
	face_find(&world, "mc")->addr = v6("ff15::77");
	expect_eq(ticket_write(&world, j, 1, text, sizeof(text), &why), 0);
	expect(strstr(text, "&tree=1:1:7420@[ff15::77]"));
}

static bool ticket_is(uint16_t rank, const char *fmt)
{
	const struct job *j = job_find(&world, "train");
	char text[512], want[512];

	expect_eq(ticket_write(&world, j, rank, text, sizeof(text), &why), 0);
	snprintf(want, sizeof(want), fmt, keys_of(j, rank));
	if (!strcmp(text, want))
		return true;
	printf("# %s\n# %s\n", text, want);
	return false;
}

static void ticket__of_a_rank_here_names_relays_and_ps(void)
{
	struct tree_spec s = spec_worker(1, v4("10.0.9.2"));

	spec_local(&s, 5, INDEX_NONE);
	s.local[0].port = 7500;
	s.workers.group = v4("239.1.1.2");
	spec_hop(&s, 7, "b");
	spec_hop(&s, 1, "up");
	expect_eq(tree_restore(&world, &s, &why), 0);
	s = spec_worker(2, v4("10.0.9.2"));
	s.workers.ps_port = 7999;
	spec_local(&s, 5, INDEX_NONE);
	spec_local(&s, 6, INDEX_NONE);
	s.local[0].port = 7500;
	expect_eq(tree_restore(&world, &s, &why), 0);
	expect(ticket_is(
		5,
		"trib://10.0.1.2:7417/train?job=1&rank=5&world=8%s&shared=1:7:10.0.9.2:7417,7500@239.1.1.2&via=1:1:10.0.3.2:7417&shared=2:0:10.0.9.2:7999,7500"));
	/* No relay: any address will do. */
	expect(ticket_is(
		6,
		"trib://10.0.9.2:7999/train?job=1&rank=6&world=8%s&shared=2:0:10.0.9.2:7999,7424"));
	tree_find(&world, 1)->held = true;
	expect(ticket_is(
		5,
		"trib://10.0.9.2:7999/train?job=1&rank=5&world=8%s&shared=2:0:10.0.9.2:7999,7500"));
}

static void ticket__of_a_relay_needs_the_ps_behind_it(void)
{
	const struct job *j = job_find(&world, "train");
	struct tree_spec s = spec_make(1, "b:5");
	char text[512];

	world.config.npool = 8;
	world.config.nmarks = 64;
	face_find(&world, "b")->local = v4("10.0.1.1");
	strcpy(s.parent, "up");
	s.shared.relay = 7;
	s.shared.next = TRIB_RELAY_PS;
	expect_eq(tree_restore(&world, &s, &why), 0);
	expect(ticket_is(
		5,
		"trib://10.0.1.1:7417/train?job=1&rank=5&world=8%s&shared=1:7:10.0.3.2:7417,7417"));
	tree_find(&world, 1)->shared.next = 1;
	expect_eq(ticket_write(&world, j, 5, text, sizeof(text), &why), -EXDEV);
	expect(says("behind relay 1"));
}

static void ticket__names_where_peers_meet(void)
{
	struct job *j = job_find(&world, "train");
	char text[512];

	expect_eq(ticket_write(&world, j, 0, text, sizeof(text), &why), -ENOENT);
	j->peers = v6("fd00::1");
	j->peers_port = 7416;
	expect(ticket_is(
		7, "trib://[fd00::1]:7416/train?job=1&rank=7&world=8%s&peers=[fd00::1]:7416"));
	face_find(&world, "a")->local = v4("10.0.0.1");
	face_find(&world, "a")->udp_port = TRIB_UDP_PORT_WORKER;
	ticket_tree(1, "a:0");
	expect(ticket_is(
		0,
		"trib://10.0.0.1:7417/train?job=1&rank=0&world=8%s&tree=1:0&peers=[fd00::1]:7416"));
	/* Here are trees, but none of this rank. */
	expect_eq(ticket_write(&world, j, 7, text, sizeof(text), &why), -ENOENT);
}

static void ticket__for_nobody_is_refused(void)
{
	const struct job *j = job_find(&world, "train");
	char text[512];

	ticket_tree(1, "a:0");
	expect_eq(ticket_write(&world, j, 8, text, sizeof(text), &why), -ERANGE);
	expect(says("rank 8"));
	expect_eq(ticket_write(&world, j, 7, text, sizeof(text), &why), -ENOENT);
	expect_eq(ticket_write(&world, j, 0, text, 20, &why), -EMSGSIZE);
}

/* --- names and maps */

static void instance__names(void)
{
	char name[64];

	expect(instance_name_ok("default"));
	expect(instance_name_ok("net-4026531840_a"));
	expect(!instance_name_ok(""));
	expect(!instance_name_ok("."));
	expect(!instance_name_ok("a.b"));
	expect(!instance_name_ok("../x"));
	expect(!instance_name_ok("a/b"));
	memset(name, 'a', sizeof(name));
	name[49] = 0;
	expect(!instance_name_ok(name));
	name[48] = 0;
	expect(instance_name_ok(name));
}

static void adopt__map_that_differs_is_refused(void)
{
	const struct bpf_map_info want = {.type = BPF_MAP_TYPE_ARRAY,
					  .key_size = 4,
					  .value_size = 1472,
					  .max_entries = 64,
					  .map_flags = 0};
	struct bpf_map_info have = want;

	expect_eq(adopt_map_check("slots", &have, &want, &why), 0);
	have.type = BPF_MAP_TYPE_HASH;
	expect_eq(adopt_map_check("slots", &have, &want, &why), -EPROTO);
	expect(says("slots") && says("type"));
	have = want;
	have.key_size = 8;
	expect_eq(adopt_map_check("slots", &have, &want, &why), -EPROTO);
	have = want;
	have.value_size = 3392;
	expect_eq(adopt_map_check("slots", &have, &want, &why), -EPROTO);
	expect(says("3392"));
	have = want;
	have.max_entries = 65;
	expect_eq(adopt_map_check("slots", &have, &want, &why), -EPROTO);
	expect(says("65 entries, not 64"));
	have = want;
	have.map_flags = BPF_F_MMAPABLE;
	expect_eq(adopt_map_check("slots", &have, &want, &why), -EPROTO);
}

/* --- counters */

static void stat__each_has_its_own_name_and_one_line(void)
{
	unsigned int i, k, n = 0;

	for (i = 0; i < TRIB_STAT__MAX; i++) {
		const struct stat_text *s = stat_text(i), *o;

		if (!s)
			continue;
		n++;
		expect(strlen(s->name) < 32 && strlen(s->text) < 128);
		expect(!strchr(s->text, '\n'));
		expect(i < TRIB_DROP_SHORT || !strncmp(s->name, "drop-", 5));
		for (k = 0; k < i; k++) {
			o = stat_text(k);
			expect(!o || strcmp(s->name, o->name));
		}
	}
	/* Every enumerator but the last has a name. */
	expect_eq(n, (TRIB_TX_MOVED + 1) + (TRIB_DROP_MASK - TRIB_DROP_SHORT + 1));
	expect(!stat_text(TRIB_STAT__MAX));
	expect(!stat_text(UINT32_MAX));
}

#define RUN(fn)                                                                                    \
	do {                                                                                       \
		world_make();                                                                      \
		run(fn);                                                                           \
		world_free();                                                                      \
	} while (0)

int main(void)
{
	RUN(face__default_port_is_ours);
	RUN(face__bad_names_are_refused);
	RUN(face__addresses_of_nobody_are_refused);
	RUN(face__bad_mac_is_refused);
	RUN(face__bad_vlans_are_refused);
	RUN(face__bad_local_address_is_refused);
	RUN(face__mtu_follows_values_and_ip_version);
	RUN(face__packet_must_come_from_its_device_and_address);
	RUN(job__defaults);
	RUN(job__bad_numbers_are_refused);
	RUN(job__floats_need_the_module);
	RUN(job__bad_names_are_refused);
	RUN(job__of_the_state_file_keeps_its_name);
	RUN(job__peers_meet_at_one_host);
	RUN(ticket__names_all_trees_of_the_rank);
	RUN(ticket__says_what_floats_travel_as);
	RUN(ticket__ipv6_address_is_in_brackets);
	RUN(ticket__names_port_and_group_of_a_multicast_face);
	RUN(ticket__of_a_rank_here_names_relays_and_ps);
	RUN(ticket__of_a_relay_needs_the_ps_behind_it);
	RUN(ticket__names_where_peers_meet);
	RUN(ticket__for_nobody_is_refused);
	RUN(instance__names);
	RUN(adopt__map_that_differs_is_refused);
	RUN(stat__each_has_its_own_name_and_one_line);
	return tap_done();
}
