// SPDX-License-Identifier: BSD-2-Clause
/* userspace/cli/apply/apply_look.c: names in what a host said of itself. */
#include <stdlib.h>
#include <string.h>

#include "cli/apply/apply.h"
#include "tests/lib/tap.h"
#include "uapi/trib_wire.h"

static const char plan[] = "{'hosts': [{'host': 'r0',"
			   " 'faces': [{'name': 'w0', 'dev': 'p0', 'addr': '10.0.0.2'}],"
			   " 'jobs': [{'name': 'a', 'id': 1, 'world': 2, 'window': 8}],"
			   " 'trees': [{'id': 1, 'job': 'a',"
			   "            'children': [{'face': 'w0', 'rank': 0}]}]}]}";

/* Parse JSON with ' for ". */
static json_t *parse(const char *text)
{
	char *copy = strdup(text), *c;
	json_t *v;

	for (c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	v = json_loads(copy, 0, NULL);
	free(copy);
	return v;
}

/* Compare the plan with an answer. Return: why not; static. */
static const char *why_not(const char *face, const char *job, const char *tree)
{
	static char why[512];
	struct cli c = {0};
	struct apply a = {.c = &c, .plan = parse(plan)};
	json_t *look;

	look = json_pack("{s:{s:i, s:i}, s:[{s:s, s:s, s:s, s:i}], s:[{s:s, s:i, s:i, s:i, s:s}],"
			 " s:[o], s:{s:i}}",
			 "status", "nval", 352, "slots", 1024, "faces", "name", face, "ifname",
			 "p0", "addr", "10.0.0.2", "port", TRIB_UDP_PORT, "jobs", "name", job, "id",
			 1, "world", 2, "window", 8, "dtype", "int", "trees", parse(tree),
			 "devices", "p0", 1500);
	if (!expect(look && !apply_hosts(&a)))
		return "";
	a.host[0].look = look;
	apply_diff(&a);
	strcpy(why, a.host[0].why);
	apply_free(&a);
	return why;
}

#define TREE(face) "{'id': 1, 'job': 'a', 'children': [{'face': '" face "', 'rank': 0}]}"

static void look__good_names_are_good(void)
{
	expect(!strcmp(why_not("w0", "a", TREE("w0")), ""));
	/* A face of a former plan. */
	expect(!strcmp(why_not("w0~2", "a", TREE("w0~2")), ""));
}

static void look__names_of_faces(void)
{
	expect(!strcmp(why_not("x\001", "a", TREE("w0")),
		       "its answer is of no use: face \"x?\" contains byte 0x01"));
	expect(!strcmp(why_not("a b", "a", TREE("w0")),
		       "its answer is of no use: face \"a b\" contains ' '"));
	expect(!strcmp(why_not("", "a", TREE("w0")),
		       "its answer is of no use: face \"\" is empty"));
	/* The word "w0:3" is face w0 with rank 3. */
	expect(!strcmp(why_not("w0:3", "a", TREE("w0")),
		       "its answer is of no use: face \"w0:3\" contains ':'"));
}

static void look__names_of_jobs(void)
{
	expect(!strcmp(why_not("w0", "\033[7m", TREE("w0")),
		       "its answer is of no use: job \"?[7m\" contains byte 0x1b"));
}

static void look__names_in_trees(void)
{
	static const char *const bad[] = {
		TREE("x\\u0001"),
		"{'id': 1, 'job': 'a', 'parent': 'x\\u0001'}",
		"{'id': 1, 'job': 'a', 'down': ['w0', 'x\\u0001']}",
		"{'id': 1, 'job': 'a', 'hops': [{'relay': 1, 'face': 'x\\u0001'}]}",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect(!strcmp(why_not("w0", "a", bad[i]),
			       "its answer is of no use: a tree's face \"x?\" contains byte 0x01"));
	expect(!strcmp(why_not("w0", "a", "{'id': 1, 'job': 'x\\u0001'}"),
		       "its answer is of no use: a tree's job \"x?\" contains byte 0x01"));
}

int main(void)
{
	run(look__good_names_are_good);
	run(look__names_of_faces);
	run(look__names_of_jobs);
	run(look__names_in_trees);
	return tap_done();
}
