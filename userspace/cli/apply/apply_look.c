// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the check of what a host said of itself. Names in it become words of
 * commands for that host: each must be one that its tribd accepts.
 */
#include "base/name.h"
#include "apply.h"

/* Characters that tribd refuses in the name of a face. */
#define NO_FACE ":\"\\"

static void want(struct apply_host *h, const char *what, const char *name, const char *refused)
{
	char why[NAME_WHY_MAX];

	if (name_check_word(name, refused, why))
		apply_refuse(h, "its answer is of no use: %s \"%.64s\" %s", what, name, why);
}

static void want_named(struct apply_host *h, const char *list, const char *what,
		       const char *refused)
{
	const json_t *v;
	size_t i;

	json_array_foreach(json_object_get(h->look, list), i, v)
		want(h, what, jstr(v, "name"), refused);
}

static void want_faces(struct apply_host *h, const json_t *list)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		want(h, "a tree's face", json_is_string(v) ? json_string_value(v) : jstr(v, "face"),
		     NO_FACE);
}

static void want_tree(struct apply_host *h, const json_t *t)
{
	want(h, "a tree's job", jstr(t, "job"), "");
	if (json_object_get(t, "parent"))
		want(h, "a tree's face", jstr(t, "parent"), NO_FACE);
	want_faces(h, json_object_get(t, "children"));
	want_faces(h, json_object_get(t, "hops"));
	want_faces(h, json_object_get(t, "down"));
}

void apply_look(struct apply_host *h)
{
	const json_t *t;
	size_t i;

	want_named(h, "faces", "face", NO_FACE);
	want_named(h, "jobs", "job", "");
	json_array_foreach(json_object_get(h->look, "trees"), i, t)
		want_tree(h, t);
	if (!*h->why)
		return;
	json_decref(h->look);
	h->look = json_object();
}
