// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whether this tribd can go on with a state file of another one. What it does not
 * know it would not obey, and would leave out of the next file: a limit or a right
 * would be lost. So it refuses.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/core/value.h"
#include "state.h"

int state_contracts(const json_t *doc, struct reason *why)
{
	static const struct {
		const char *key, *who, *header;
		int ours;
	} contract[] = {
		{"wire", "its trees run by version", "trib_wire.h", TRIB_WIRE_VERSION},
		{"attach", "its workers attach by version", "trib_attach.h", TRIB_ATTACH_VERSION},
	};
	size_t i;

	if (!json_array_size(json_object_get(doc, "trees")))
		return 0;
	for (i = 0; i < sizeof(contract) / sizeof(contract[0]); i++) {
		const json_t *v = json_object_get(doc, contract[i].key);

		/* Files of 0.1.0 may lack them. */
		if (v && json_integer_value(v) != contract[i].ours)
			return reason_set(why, -EPROTO,
					  "%s %lld of %s, this tribd " TRIB_VERSION
					  " has version %d",
					  contract[i].who, (long long)json_integer_value(v),
					  contract[i].header, contract[i].ours);
	}
	return 0;
}

/* A way into the document, for texts: "jobs[train].owner". */
struct way {
	char text[120];
	size_t len;
};

static void way_add(struct way *w, const char *fmt, const char *name)
{
	int n = snprintf(w->text + w->len, sizeof(w->text) - w->len, fmt, name);

	w->len += n > 0 ? (size_t)n : 0;
	if (w->len >= sizeof(w->text))
		w->len = sizeof(w->text) - 1;
}

static void way_back(struct way *w, size_t len)
{
	w->len = len;
	w->text[len] = '\0';
}

static const char *name_of(const json_t *o, size_t index, char buf[24])
{
	const char *name = json_string_value(json_object_get(o, "name"));
	const json_t *id = json_object_get(o, "id");

	if (name)
		return name;
	snprintf(buf, 24, "%lld", id ? (long long)json_integer_value(id) : (long long)index);
	return buf;
}

static bool has_all(const json_t *old, const json_t *new, struct way *w);

static bool list_has_all(const json_t *old, const json_t *new, struct way *w)
{
	size_t i, n = json_array_size(old), len = w->len;
	char buf[24];

	for (i = 0; i < n; i++) {
		const json_t *o = json_array_get(old, i);

		way_add(w, "[%s]", name_of(o, i, buf));
		if (!has_all(o, json_array_get(new, i), w))
			return false;
		way_back(w, len);
	}
	return true;
}

/* True if @new has every member and entry of @old; else @w leads to the first. */
static bool has_all(const json_t *old, const json_t *new, struct way *w)
{
	size_t len = w->len;
	const char *key;
	json_t *o;

	if (!new || json_typeof(old) != json_typeof(new))
		return json_is_boolean(old) && json_is_boolean(new);
	if (json_is_array(old))
		return list_has_all(old, new, w);
	json_object_foreach((json_t *)old, key, o) {
		way_add(w, len ? ".%s" : "%s", key);
		if (!has_all(o, json_object_get(new, key), w))
			return false;
		way_back(w, len);
	}
	return true;
}

int state_kept(struct tribd *d, const json_t *doc, struct reason *why)
{
	json_t *again = state_pack(d, NULL), *old = json_copy((json_t *)doc);
	struct way w = {};
	int err = 0;

	/* Ports follow from the faces; a file may name one whose last face is gone. */
	json_object_del(old, "ports");
	if (!again || !old)
		err = reason_set(why, -ENOMEM, "no memory");
	else if (!has_all(old, again, &w))
		err = reason_set(why, -EPROTO,
				 "this tribd " TRIB_VERSION " does not know its member %s", w.text);
	json_decref(again);
	json_decref(old);
	return err;
}
