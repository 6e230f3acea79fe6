// SPDX-License-Identifier: BSD-2-Clause
/*
 * The builtin topologies. Devices have the names that scripts/fabric uses;
 * topo_place() chooses the addresses.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo.h"

static int add(struct plan_topology *t, bool host, const char *fmt, int a, int b)
{
	char name[TOPO_NAME];

	snprintf(name, sizeof(name), fmt, a, b);
	return topo_add_node(t, name, host);
}

static int join(struct plan_topology *t, int top, int low, double cap, const char *top_dev,
		int port, const char *low_dev)
{
	int i = topo_add_link(t, top, low, cap);

	if (i < 0)
		return i;
	snprintf(t->link[i].dev[0], TOPO_DEV, top_dev, port);
	snprintf(t->link[i].dev[1], TOPO_DEV, "%s", low_dev);
	return 0;
}

static void put(struct plan_topology *t, int node, double x, double y)
{
	if (node < 0)
		return;
	t->node[node].x = x;
	t->node[node].y = y;
}

static int star(struct plan_topology *t, const int *v, double cap)
{
	int top = add(t, false, "r%d", 0, 0), i, low, err = top < 0 ? top : 0;
	int hosts = v[0];

	put(t, top, hosts / 2.0 - 0.5, 0);
	for (i = 0; !err && i < hosts; i++) {
		low = add(t, true, "w%d", i, 0);
		put(t, low, i, 1);
		err = low < 0 ? low : join(t, top, low, cap, "p%d", i, "eth0");
	}
	return err;
}

/* Add the host "ps" at port @ports of switch @at. */
static int add_ps(struct plan_topology *t, int at, int ports, double cap)
{
	int ps = topo_add_node(t, "ps", true);

	put(t, ps, t->node[at].x + 0.5, t->node[at].y + 0.5);
	return ps < 0 ? ps : join(t, at, ps, cap, "p%d", ports, "eth0");
}

static int two_tier(struct plan_topology *t, const int *v, double cap)
{
	int top = add(t, false, "r%d", 0, 0), err = top < 0 ? top : 0;
	int racks = v[0], hosts = v[1], ps = v[2], r, i, low;

	put(t, top, racks * hosts / 2.0 - 0.5, 0);
	for (r = 0; !err && r < racks; r++) {
		low = add(t, false, "r%d", r + 1, 0);
		put(t, low, (r + 0.5) * hosts - 0.5, 1);
		err = low < 0 ? low : join(t, top, low, cap, "p%d", r, "up0");
	}
	for (r = 0; !err && r < racks; r++)
		for (i = 0; !err && i < hosts; i++) {
			low = add(t, true, "w%d", r * hosts + i, 0);
			put(t, low, r * hosts + i, 2);
			err = low < 0 ? low : join(t, r + 1, low, cap, "p%d", i, "eth0");
		}
	if (!err && ps >= 0)
		err = add_ps(t, ps, ps ? hosts : racks, cap);
	return err;
}

/* Nodes in order: cores, each pod's aggregation and edge switches, hosts. */
static int fat_tree_switches(struct plan_topology *t, int k)
{
	int h = k / 2, err = 0, p, i, n;

	for (i = 0; err >= 0 && i < h * h; i++) {
		err = add(t, false, "c%d", i, 0);
		put(t, err, (i + 0.5) * k, 0);
	}
	for (p = 0; err >= 0 && p < k; p++) {
		for (i = 0; err >= 0 && i < h; i++) {
			err = add(t, false, "a%d.%d", p, i);
			put(t, err, (p * h + i + 0.5) * h, 1);
		}
		for (i = 0; err >= 0 && i < h; i++) {
			err = add(t, false, "e%d.%d", p, i);
			put(t, err, (p * h + i + 0.5) * h, 2);
		}
	}
	for (n = 0; err >= 0 && n < k * h * h; n++) {
		err = add(t, true, "h%d", n, 0);
		put(t, err, n, 3);
	}
	return err < 0 ? err : 0;
}

static int fat_tree(struct plan_topology *t, const int *v, double cap)
{
	int k = v[0], h = k / 2, core = 0, pods = h * h, hosts = pods + k * k;
	int err = fat_tree_switches(t, k), p, a, e, i;
	char dev[TOPO_DEV];

	for (p = 0; !err && p < k; p++)
		for (a = 0; !err && a < h; a++)
			for (i = 0; !err && i < h; i++) {
				snprintf(dev, sizeof(dev), "up%d", i);
				err = join(t, core + a * h + i, pods + p * k + a, cap, "p%d", p,
					   dev);
			}
	for (p = 0; !err && p < k; p++)
		for (a = 0; !err && a < h; a++)
			for (e = 0; !err && e < h; e++) {
				snprintf(dev, sizeof(dev), "up%d", a);
				err = join(t, pods + p * k + a, pods + p * k + h + e, cap, "p%d", e,
					   dev);
			}
	for (p = 0; !err && p < k; p++)
		for (e = 0; !err && e < h; e++)
			for (i = 0; !err && i < h; i++)
				err = join(t, pods + p * k + h + e, hosts + (p * h + e) * h + i,
					   cap, "p%d", i, "eth0");
	return err;
}

/* A torus has no switches: each host has a link to the next in row and column. */
static int torus(struct plan_topology *t, const int *v, double cap)
{
	int rows = v[0], cols = v[1], r, c, n, err = 0;

	t->kind = TOPO_TORUS;
	t->p = rows;
	t->q = cols;
	t->forward = true;
	for (r = 0; err >= 0 && r < rows; r++)
		for (c = 0; err >= 0 && c < cols; c++) {
			err = add(t, true, "w%d.%d", r, c);
			if (err >= 0)
				t->node[err].relay = true;
			put(t, err, c, r);
		}
	/* A ring of two hosts has one link, not two. */
	for (n = 0; err >= 0 && n < rows * cols; n++) {
		r = n / cols;
		c = n % cols;
		if (cols > 2 || c + 1 < cols)
			err = join(t, n, r * cols + (c + 1) % cols, cap, "east", 0, "west");
		if (err >= 0 && (rows > 2 || (rows == 2 && r == 0)))
			err = join(t, n, (r + 1) % rows * cols + c, cap, "south", 0, "north");
	}
	return err < 0 ? err : 0;
}

static int bcube(struct plan_topology *t, const int *v, double cap)
{
	return topo_bcube(t, v[0], v[1], cap);
}

#define NUMBERS 3

/**
 * struct builtin - a topology and its numbers
 * @numbers: count of required numbers.
 * @more:    count of optional numbers; -1 stands for those not given.
 * @min, @max: range of each number.
 * @nodes:   returns the number of nodes.
 */
struct builtin {
	const char *name;
	const char *usage;
	int numbers, more;
	int min[NUMBERS], max[NUMBERS];
	double (*nodes)(double a, double b);
	int (*make)(struct plan_topology *t, const int *v, double cap);
};

static double star_nodes(double a, double b)
{
	(void)b;
	return a + 1;
}

static double two_tier_nodes(double a, double b)
{
	return 2 + a + a * b;
}

static double fat_tree_nodes(double a, double b)
{
	(void)b;
	return a * a * 5 / 4 + a * a * a / 4;
}

static double bcube_nodes(double a, double b)
{
	return pow(a, b) + b * pow(a, b - 1);
}

static double torus_nodes(double a, double b)
{
	return a * b;
}

#define ANY (1 << 30)

static const struct builtin builtins[] = {
	{"star", "star:HOSTS", 1, 0, {1}, {ANY}, star_nodes, star},
	{"two-tier",
	 "two-tier:RACKS,HOSTS[,PS]",
	 2,
	 1,
	 {1, 1, 0},
	 {ANY, ANY, ANY},
	 two_tier_nodes,
	 two_tier},
	{"fat-tree", "fat-tree:K", 1, 0, {2}, {ANY}, fat_tree_nodes, fat_tree},
	{"bcube", "bcube:N,K", 2, 0, {2, 1}, {250, 13}, bcube_nodes, bcube},
	{"torus", "torus:ROWS,COLUMNS", 2, 0, {1, 2}, {ANY, ANY}, torus_nodes, torus},
};

/* Parse @least to @most numbers such as "4,2"; their count, or -EINVAL. */
static int numbers(const char *s, int least, int most, int *out)
{
	char *end;
	int i = 0;

	while (*s >= '0' && *s <= '9' && strspn(s, "0123456789") <= 9) {
		out[i++] = (int)strtol(s, &end, 10);
		if (!*end)
			return i < least ? -EINVAL : i;
		if (*end != ',' || i == most)
			return -EINVAL;
		s = end + 1;
	}
	return -EINVAL;
}

static const struct builtin *find_builtin(const char *spec, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++)
		if (strlen(builtins[i].name) == len && !strncmp(builtins[i].name, spec, len))
			return &builtins[i];
	return NULL;
}

/* Checks beyond the range of each number. */
static int check_numbers(const struct builtin *b, const char *spec, const int *v,
			 struct plan_error *err)
{
	if (b->make == fat_tree && v[0] % 2)
		return plan_fail(err, -EINVAL, "topology \"%.60s\": %d: wanted an even number",
				 spec, v[0]);
	if (b->make == two_tier && v[2] > v[0])
		return plan_fail(err, -EINVAL,
				 "topology \"%.60s\": PS at rack %d: wanted 0 (the core) to %d",
				 spec, v[2], v[0]);
	if (b->nodes(v[0], v[1]) > PLAN_NODES_MAX)
		return plan_fail(err, -EINVAL, "topology \"%.60s\": %.0f nodes: at most %d", spec,
				 b->nodes(v[0], v[1]), PLAN_NODES_MAX);
	return 0;
}

int topo_builtin(struct plan_topology *t, const char *spec, double cap, struct plan_error *err)
{
	size_t len = strcspn(spec, ":");
	const struct builtin *b = find_builtin(spec, len);
	int v[NUMBERS] = {-1, -1, -1}, n, k, rc;

	if (!b)
		return plan_fail(
			err, -EINVAL,
			"unknown topology \"%.60s\": wanted star, two-tier, fat-tree, bcube or torus",
			spec);
	n = spec[len] == ':' ? numbers(spec + len + 1, b->numbers, b->numbers + b->more, v)
			     : -EINVAL;
	if (n < 0)
		return plan_fail(err, -EINVAL, "topology \"%.60s\": wanted %s", spec, b->usage);
	for (k = 0; k < n; k++)
		if (v[k] < b->min[k] || v[k] > b->max[k])
			return plan_fail(err, -EINVAL,
					 "topology \"%.60s\": %d is not within %d to %d", spec,
					 v[k], b->min[k], b->max[k]);
	rc = check_numbers(b, spec, v, err);
	if (rc)
		return rc;
	if (b->make(t, v, cap) || topo_place(t))
		return plan_fail(err, -ENOMEM, "out of memory");
	return 0;
}
