// SPDX-License-Identifier: BSD-2-Clause
/*
 * BCube: forming it from hosts and NICs, and comparing its wiring with the one
 * that is found.
 */
#include <errno.h>
#include <string.h>

#include "tests/lib/tap.h"
#include "plan/topo/topo.h"

/* bcube:2,2: servers w0 to w3, level 0 pairs (0,1) (2,3), level 1 (0,2). */
static const struct plan_wire right[] = {
	{"w0", "eth0", "s0.0", "p0"}, {"w0", "eth1", "s1.0", "p0"}, {"w1", "eth0", "s0.0", "p1"},
	{"w1", "eth1", "s1.1", "p0"}, {"w2", "eth0", "s0.1", "p0"}, {"w2", "eth1", "s1.0", "p1"},
	{"w3", "eth0", "s0.1", "p1"}, {"w3", "eth1", "s1.1", "p1"},
};

#define N (sizeof(right) / sizeof(right[0]))

static struct plan_topology *bcube(void)
{
	struct plan_topology *t = NULL;
	struct plan_error e;

	expect_eq(plan_topology_builtin(&t, "bcube:2,2", &e), 0);
	return t;
}

static const char *text(const json_t *list, size_t i, const char *key)
{
	const char *s = json_string_value(json_object_get(json_array_get(list, i), key));

	return s ? s : "";
}

static void wiring__right_one_has_no_complaints(void)
{
	struct plan_topology *t = bcube();
	json_t *out;

	expect_eq(plan_wiring_check(t, right, N, &out), 0);
	expect_eq(json_array_size(out), 0);
	json_decref(out);
	plan_topology_free(t);
}

static void wiring__swapped_cables_are_both_named(void)
{
	struct plan_topology *t = bcube();
	struct plan_wire found[N];
	json_t *out;

	memcpy(found, right, sizeof(right));
	found[0].peer = "s1.0";
	found[1].peer = "s0.0";
	expect_eq(plan_wiring_check(t, found, N, &out), 0);
	expect_eq(json_array_size(out), 2);
	expect(!strcmp(text(out, 0, "state"), "wrong"));
	expect(!strcmp(text(out, 0, "text"), "w0 eth0: leads to s1.0 p0; expected s0.0 p0"));
	expect(!strcmp(text(out, 1, "dev"), "eth1"));
	json_decref(out);
	plan_topology_free(t);
}

static void wiring__silent_and_strange_ports_are_named(void)
{
	struct plan_topology *t = bcube();
	struct plan_wire found[N + 2];
	json_t *out;

	memcpy(found, right, sizeof(right));
	found[3].peer = NULL;
	found[N] = (struct plan_wire){"w9", "eth0", "s0.0", NULL};
	found[N + 1] = (struct plan_wire){"w2", "eth7", "s0.0", NULL};
	expect_eq(plan_wiring_check(t, found, N + 2, &out), 0);
	expect_eq(json_array_size(out), 3);
	expect(!strcmp(text(out, 0, "text"), "w1 eth1: no answer; expected s1.1 p0"));
	expect(!strcmp(text(out, 1, "text"), "w9 is not in the topology"));
	expect(!strcmp(text(out, 2, "text"), "w2 eth7: no link is expected here"));
	json_decref(out);
	plan_topology_free(t);
}

/* Nodes without findings are not checked. */
static void wiring__of_one_host_judges_that_host(void)
{
	struct plan_topology *t = bcube();
	json_t *out;

	expect_eq(plan_wiring_check(t, right, 1, &out), 0);
	expect_eq(json_array_size(out), 1);
	expect(!strcmp(text(out, 0, "text"), "w0 eth1: no answer; expected s1.0 p0"));
	json_decref(out);
	plan_topology_free(t);
}

static void bcube__formed_from_nics_is_wired_by_digits(void)
{
	static const char json[] =
		"{\"bcube\": {\"ports\": 2, \"hosts\": ["
		"{\"name\": \"a\", \"nics\": [{\"dev\": \"n0\", \"addr\": \"10.0.0.1\"}, {\"dev\": \"n1\", \"addr\": \"10.1.0.1\"}]},"
		"{\"name\": \"b\", \"nics\": [{\"dev\": \"n0\", \"addr\": \"10.0.0.2\"}, {\"dev\": \"n1\", \"addr\": \"10.1.1.1\"}]},"
		"{\"name\": \"c\", \"nics\": [{\"dev\": \"n0\", \"addr\": \"10.0.1.1\"}, {\"dev\": \"n1\", \"addr\": \"10.1.0.2\"}]},"
		"{\"name\": \"d\", \"nics\": [{\"dev\": \"n0\", \"addr\": \"10.0.1.2\"}, {\"dev\": \"n1\", \"addr\": \"10.1.1.2\"}]}]}}";
	static const char *const peer[4][2] = {
		{"s0.0", "s1.0"}, {"s0.0", "s1.1"}, {"s0.1", "s1.0"}, {"s0.1", "s1.1"}};
	struct plan_topology *t = NULL;
	struct plan_error e = {""};
	int i, l;

	expect_eq(plan_topology_parse(&t, "f", json, strlen(json), &e), 0);
	if (!t)
		return;
	for (i = 0; i < 8; i++) {
		l = t->link[i].dev[1][1] - '0';
		expect(!strcmp(t->node[t->link[i].a].name, peer[t->link[i].b][l]));
		expect_eq(topo_bcube_digit(t, t->link[i].b, l), t->link[i].dev[0][1] - '0');
	}
	plan_topology_free(t);
}

static void ports__of_a_server_lead_to_its_levels(void)
{
	struct plan_topology *t = bcube();
	struct plan_port *p;
	size_t n;

	expect_eq(plan_topology_ports(t, "nobody", &p, &n), -ENOENT);
	expect_eq(plan_topology_ports(t, "w3", &p, &n), 0);
	expect_eq(n, 2);
	if (n == 2) {
		expect(!strcmp(p[0].dev, "eth0") && !strcmp(p[1].dev, "eth1"));
		expect(!strcmp(p[0].peer, "s0.1") && !strcmp(p[1].peer, "s1.1"));
		expect_eq(p[0].nask, 1);
		expect_eq(p[1].nask, 1);
		expect(strcmp(p[0].ask[0], p[0].addr) != 0);
		expect(strcmp(p[0].ask[0], p[1].ask[0]) != 0);
	}
	plan_ports_free(p, n);
	plan_topology_free(t);
}

int main(void)
{
	run(wiring__right_one_has_no_complaints);
	run(wiring__swapped_cables_are_both_named);
	run(wiring__silent_and_strange_ports_are_named);
	run(wiring__of_one_host_judges_that_host);
	run(bcube__formed_from_nics_is_wired_by_digits);
	run(ports__of_a_server_lead_to_its_levels);
	return tap_done();
}
