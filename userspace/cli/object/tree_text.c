// SPDX-License-Identifier: BSD-2-Clause
/* Owns the words for states and roles of trees: see tree_text.h. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/out/out.h"
#include "tree_text.h"

bool tree_is_shared(const json_t *tree)
{
	return jnum(tree, "relay");
}

bool tree_is_worker(const json_t *tree)
{
	return *jstr(tree, "ps");
}

static bool is_attached(const json_t *tree)
{
	const json_t *l;
	size_t i;

	json_array_foreach(json_object_get(tree, "local"), i, l)
		if (jnum(l, "pid"))
			return true;
	return false;
}

const char *tree_state(const json_t *tree)
{
	if (tree_is_shared(tree)) /* workers join at the PS */
		return "shared";
	if (jnum(tree, "epoch"))
		return jbool(tree, "held") ? "draining" : "running";
	if (jbool(tree, "held"))
		return "held";
	if (tree_is_worker(tree))
		return is_attached(tree) ? "waiting" : "idle";
	return json_array_size(json_object_get(tree, "joined")) ? "waiting" : "idle";
}

const char *tree_role(const json_t *tree)
{
	if (tree_is_worker(tree))
		return "worker";
	if (!*jstr(tree, "parent"))
		return "root";
	return json_array_size(json_object_get(tree, "children")) ? "relay" : "leaf";
}

void tree_missing(const json_t *tree, char *buf, size_t size)
{
	const json_t *child;
	size_t i, at = 0;
	int n;

	buf[0] = '\0';
	json_array_foreach(json_object_get(tree, "children"), i, child) {
		if (jbool(child, "joined") || tree_is_shared(tree))
			continue;
		if (json_object_get(child, "rank"))
			n = snprintf(buf + at, size - at, "%srank %u (%s)", at ? ", " : "",
				     (unsigned int)jnum(child, "rank"), jstr(child, "face"));
		else
			n = snprintf(buf + at, size - at, "%srelay %s", at ? ", " : "",
				     jstr(child, "face"));
		if (n < 0 || (size_t)n >= size - at)
			break;
		at += (size_t)n;
	}
}
