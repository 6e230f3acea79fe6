// SPDX-License-Identifier: BSD-2-Clause
/* trib-ps: job files and the state file. */
#include <errno.h>
#include <unistd.h>

#include "ps/sum/state.h"
#include "ps_fixture.h"

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

#define GOOD_HEAD                                                                                  \
	"{\"job\": 7, \"key\": \"000102030405060708090a0b0c0d0e0f\", \"window\": 4,"               \
	"\"nval\": 48, \"timeout_ms\": 5000,"
#define GOOD_WORKERS "\"workers\": [\"10.0.0.1\", \"10.0.0.2:7500\"],"
#define GOOD_TREES "\"trees\": [{\"tree\": 3}]}"

static void config__is_read(void)
{
	char why[256] = "";

	ps = empty_ps();
	write_file("ps-unit.json", GOOD_HEAD GOOD_WORKERS
		   "\"name\": \"train\", \"trees\": [{\"tree\": 3},"
		   "{\"tree\": 4, \"group\": [\"10.0.0.9\", \"10.0.0.2:7500\"]}]}");
	expect_eq(ps_config_load(ps, "ps-unit.json", true, why, sizeof(why)), 0);
	expect_eq(ps->ntree, 2);
	expect_eq(ps->job[0]->world, 2);
	expect_eq(ps->job[0]->worker[0].port, TRIB_UDP_PORT_WORKER);
	expect_eq(ps->job[0]->worker[1].port, 7500);
	expect_eq(ps->job[0]->key.b[15], 15);
	expect_eq(ps->by_tree[3]->ngroup, 2);
	expect(ps->by_tree[3]->direct[0] && ps->by_tree[3]->direct[1]);
	expect_eq(ps->by_tree[4]->group[0].port, TRIB_UDP_PORT);
	expect(!ps->by_tree[4]->direct[0] && ps->by_tree[4]->direct[1]);
	end();
	unlink("ps-unit.json");
}

static void config__local_is_the_relay_on_this_host(void)
{
	char why[256] = "", text[ADDR_TEXT_MAX];

	ps = empty_ps();
	ps->everywhere = true;
	write_file("ps-unit.json", GOOD_HEAD GOOD_WORKERS
		   "\"trees\": [{\"tree\": 3, \"group\": [\"10.0.0.9\", \"local\"]}]}");
	expect_eq(ps_config_load(ps, "ps-unit.json", true, why, sizeof(why)), 0);
	expect(!ps->by_tree[3]->group[0].local);
	expect(ps->by_tree[3]->group[1].local);
	expect(!strcmp(ps_addr_text(&ps->by_tree[3]->group[1], text), "169.254.77.1:7417"));
	end();
	ps = empty_ps();
	ps->everywhere = true;
	write_file("ps-unit.json", GOOD_HEAD "\"workers\": [\"[fd77::2]\"],"
					     "\"trees\": [{\"tree\": 3, \"group\": [\"local\"]}]}");
	expect_eq(ps_config_load(ps, "ps-unit.json", false, why, sizeof(why)), 0);
	expect(!strcmp(ps_addr_text(&ps->by_tree[3]->group[0], text), "[fe80::77:1]:7417"));
	end();
	unlink("ps-unit.json");
}

static void config__errors_name_the_field_and_the_value(void)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
		{"{", ":1:1: not JSON"},
		{"[]", "is a list, not an object"},
		{"{\"jab\": 1}", "1:9: jab: is not known here"},
		{"{}", "job is missing"},
		{"{\"job\": \"1\"}", "job: is text, not an integer"},
		{"{\"job\": 65536}", "job: 65536 is not within 0 to 65535"},
		{"{\"job\": 1, \"window\": 3}", "window: 3 is not a power"},
		{"{\"job\": 1, \"window\": 32768}", "window: 32768 is not"},
		{"{\"job\": 1, \"window\": 4, \"nval\": 50}", "nval: 50 is not a multiple of 16"},
		{"{\"job\": 1, \"window\": 4, \"nval\": 48,\"timeout_ms\": 1}",
		 "timeout_ms: 1 is not within"},
		{"{\"job\": 7, \"window\": 4, \"nval\": 48,\"timeout_ms\": 500,"
		 "\"key\": \"12x\"}",
		 "key: is not text of 32 hexadecimal digits"},
		{GOOD_HEAD GOOD_TREES, "workers is missing"},
		{GOOD_HEAD "\"workers\": [\"10.0.0.1\", 7]," GOOD_TREES, "workers[1]: is not text"},
		{GOOD_HEAD "\"workers\": [\"10.0.0\"]," GOOD_TREES,
		 "workers[0]: '10.0.0' is not ADDR"},
		{GOOD_HEAD "\"workers\": [\"10.0.0.1:0\"]," GOOD_TREES,
		 "workers[0]: '10.0.0.1:0' is not ADDR"},
		{GOOD_HEAD "\"workers\": [\"10.0.0.1:65536\"]," GOOD_TREES,
		 "workers[0]: '10.0.0.1:65536'"},
		{GOOD_HEAD "\"workers\": [\"239.0.0.1\"]," GOOD_TREES, "not the address of a host"},
		{GOOD_HEAD "\"workers\": [\"[fd00::1]\"]," GOOD_TREES, "'[fd00::1]' is IPv6"},
		{GOOD_HEAD GOOD_WORKERS "\"trees\": []}", "trees: has no entries"},
		{GOOD_HEAD GOOD_WORKERS "\"trees\": [3]}", "trees[0]: is a number, not an object"},
		{GOOD_HEAD GOOD_WORKERS "\"trees\": [{\"tree\": -1}]}",
		 "trees[0].tree: -1 is not within"},
		{GOOD_HEAD GOOD_WORKERS "\"trees\": [{\"tree\": 3}, {\"tree\": 3}]}",
		 "trees[1].tree: there is a tree 3 already"},
		{GOOD_HEAD GOOD_WORKERS "\"trees\": [{\"tree\": 3, \"group\": []}]}",
		 "trees[0].group: has no entries"},
		{GOOD_HEAD GOOD_WORKERS "\"trees\": [{\"tree\": 3, \"group\": [\"x\"]}]}",
		 "trees[0].group[0]: 'x' is not ADDR"},
		{GOOD_HEAD GOOD_WORKERS "\"trees\": [{\"tree\": 3, \"group\": [\"local\"]}]}",
		 "trees[0].group[0]: the relay on this host"},
		{GOOD_HEAD GOOD_WORKERS "\"trees\": [{\"tree\": 3, \"groups\": 1}]}",
		 "trees[0].groups: is not known here"},
	};
	unsigned int i;
	char why[256];

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ps = empty_ps();
		write_file("ps-unit.json", bad[i].text);
		*why = '\0';
		expect(ps_config_load(ps, "ps-unit.json", true, why, sizeof(why)) < 0);
		if (!expect(strstr(why, bad[i].want)))
			printf("# '%s' does not say '%s'\n", why, bad[i].want);
		expect(!strncmp(why, "ps-unit.json:1:", 15));
		end();
	}
	unlink("ps-unit.json");
}

static void state__restart_goes_on_and_no_epoch_is_used_twice(void)
{
	uint64_t nonce = 0x100000001ULL;
	char why[256] = "";
	unsigned int r, world, turn;

	for (turn = 0; turn < 2; turn++) {
		world = turn ? 130 : 3;
		begin(world, 4);
		for (r = 0; r < world; r++)
			join(r, nonce + ((uint64_t)r << 32));
		expect_eq(tree->epoch, 1);
		expect_eq(ps_state_save(ps, "ps-unit.state"), 0);
		end();
		begin(world, 4);
		expect_eq(ps_state_load(ps, "ps-unit.state", why, sizeof(why)), 0);
		expect_eq(tree->epoch, 1);
		/* A repeated JOIN is answered; another nonce ends the epoch. */
		join(1, nonce + (1ULL << 32));
		expect_eq(started(TRIB_START_RUN), 1);
		forget();
		now += 1000;
		join(1, nonce + (77ULL << 40));
		expect_eq(count(TRIB_T_ABORT, 0), 1);
		expect_eq(count(TRIB_T_ABORT, world - 1), 1);
		for (r = 0; r < world; r++)
			if (r != 1)
				join(r, nonce + ((uint64_t)r << 32) + 1);
		ps_tick(ps, now += 300);
		expect_eq(tree->epoch, 2);
		end();
	}
	unlink("ps-unit.state");
}

static void state__no_epoch_starts_while_the_disk_is_full(void)
{
	unsigned int r, i, world, turn;

	for (turn = 0; turn < 2; turn++) {
		world = turn ? 130 : 3;
		begin(world, 4);
		save_fails = -ENOSPC;
		for (r = 0; r < world; r++)
			join(r, 1 + ((uint64_t)(r + 1) << 32));
		for (i = 0; i < 20; i++)
			ps_tick(ps, now += 100);
		for (r = 0; r < world; r++)
			join(r, 1 + ((uint64_t)(r + 1) << 32));
		expect_eq(started(TRIB_START_RUN), 0);
		expect(started(TRIB_START_WAIT) >= world);
		expect_eq(tree->epoch, 0);
		save_fails = 0;
		for (i = 0; i < 3; i++)
			ps_tick(ps, now += 100);
		expect_eq(tree->epoch, 1);
		expect_eq(started(TRIB_START_RUN), world);
		expect(nsaved >= 1);
		end();
	}
	save_fails = 0;
}

static void state__ranks_that_leave_are_saved_together(void)
{
	unsigned int r, i, before;

	begin(64, 4);
	for (r = 0; r < 64; r++)
		join(r, 1 + ((uint64_t)(r + 1) << 32));
	before = nsaved;
	for (r = 0; r < 64; r++)
		join_as(r, TRIB_T_LEAVE, 1 + ((uint64_t)(r + 1) << 32), NVAL, host(r, 9000));
	for (i = 0; i < 20; i++)
		ps_tick(ps, now += 100);
	expect_eq(nsaved, before + 1);
	end();
}

static void state__newer_epoch_of_packets_is_kept(void)
{
	struct in p = grad(0, 9, 1, 1);

	begin(2, 4);
	p.epoch = 40;
	rx(p);
	expect_eq(tree->epoch, 40);
	ps_tick(ps, now += 1000);
	expect_eq(nsaved, 1);
	join(0, 0x100000001ULL);
	join(1, 0x200000001ULL);
	expect_eq(tree->epoch, 41);
	end();
}

static void state__wrong_files_are_refused(void)
{
	static const char *const bad[] = {
		"",
		"{}",
		"\x1b[7m",
		"{\"version\": 2, \"trees\": []}",
		"{\"version\": 1, \"trees\": [{\"job\": 7, \"tree\": 3,"
		"\"epoch\": -1, \"last_epoch\": 1, \"nonces\": []}]}",
		"{\"version\": 1, \"trees\": [{\"job\": 7, \"tree\": 3,"
		"\"epoch\": 2, \"last_epoch\": 1, \"nonces\": []}]}",
		"{\"version\": 1, \"trees\": [{\"job\": 7, \"tree\": 3,"
		"\"epoch\": 1, \"last_epoch\": 4294967295, \"nonces\": []}]}",
		"{\"version\": 1, \"trees\": [{\"job\": 7, \"tree\": 3,"
		"\"epoch\": 1, \"last_epoch\": 1, \"nonces\": [\"1\",\"g\"]}]}",
		"{\"version\": 1, \"trees\": [{\"job\": 7, \"tree\": 3,"
		"\"epoch\": 2, \"last_epoch\": 5, \"nonces\": [\"1\",\"2\"]},"
		"{\"job\": 7, \"tree\": 3, \"epoch\": 0, \"last_epoch\": 1, \"nonces\": []}]}",
	};
	char why[256], *c;
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin(2, 4);
		write_file("ps-unit.state", bad[i]);
		expect(ps_state_load(ps, "ps-unit.state", why, sizeof(why)) < 0);
		/* The reason is one line that no file's content spoils. */
		for (c = why; *c; c++)
			expect(*c >= ' ');
		end();
	}
	unlink("ps-unit.state");
}

int main(void)
{
	char dir[] = "/tmp/unit_ps.XXXXXX";
	int rc;

	if (!mkdtemp(dir) || chdir(dir))
		abort();
	run(config__is_read);
	run(config__local_is_the_relay_on_this_host);
	run(config__errors_name_the_field_and_the_value);
	run(state__restart_goes_on_and_no_epoch_is_used_twice);
	run(state__no_epoch_starts_while_the_disk_is_full);
	run(state__ranks_that_leave_are_saved_together);
	run(state__newer_epoch_of_packets_is_kept);
	run(state__wrong_files_are_refused);
	rc = tap_done();
	if (!chdir("/"))
		rmdir(dir);
	return rc;
}
