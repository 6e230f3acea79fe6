// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the state file: for each tree the running epoch, the newest one, and the
 * nonce of each rank that takes part. An epoch is on disk before anybody hears
 * of it; who left in the meantime follows within a second.
 */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "base/json_write.h"
#include "base/text.h"

#define STATE_VERSION 1

static json_t *tree_pack(const struct ps_tree *t)
{
	uint64_t nonce[TRIB_WORLD_MAX];
	struct ps_lasting l = {.nonce = nonce};
	json_t *list = json_array();
	char hex[20];
	unsigned int r;

	ps_members_keep(t, &l);
	for (r = 0; r < t->job->world; r++) {
		snprintf(hex, sizeof(hex), "%" PRIx64, nonce[r]);
		json_array_append_new(list, json_string(hex));
	}
	return json_pack("{s:i s:i s:I s:I s:o}", "job", t->job->number, "tree", t->number, "epoch",
			 (json_int_t)l.epoch, "last_epoch", (json_int_t)l.last_epoch, "nonces",
			 list);
}

int ps_state_save(const struct ps *ps, const char *path)
{
	json_t *trees = json_array(), *doc;
	unsigned int i;
	int err;

	for (i = 0; i < ps->ntree; i++)
		json_array_append_new(trees, tree_pack(ps->tree[i]));
	doc = json_pack("{s:i s:o}", "version", STATE_VERSION, "trees", trees);
	err = json_write(AT_FDCWD, path, 0600, doc, true);
	json_decref(doc);
	return err;
}

/* An epoch, or UINT32_MAX. */
static uint32_t epoch_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	json_int_t n = json_integer_value(v);

	return json_is_integer(v) && n >= 0 && n <= (json_int_t)PS_EPOCH_MAX ? (uint32_t)n
									     : UINT32_MAX;
}

static bool nonces_read(const json_t *list, unsigned int world, uint64_t *out)
{
	unsigned int i;

	if (json_array_size(list) != world)
		return false;
	for (i = 0; i < world; i++) {
		const char *s = json_string_value(json_array_get(list, i));

		if (!s || text_hex(s, &out[i]))
			return false;
	}
	return true;
}

/*
 * @seen: a bit for each tree of the file so far. Return: NULL, or the name of the
 * field that is wrong.
 */
static const char *tree_load(struct ps *ps, const json_t *o, uint8_t *seen)
{
	json_int_t job = json_integer_value(json_object_get(o, "job"));
	json_int_t tree = json_integer_value(json_object_get(o, "tree"));
	uint64_t nonce[TRIB_WORLD_MAX];
	struct ps_lasting l = {
		.epoch = epoch_of(o, "epoch"),
		.last_epoch = epoch_of(o, "last_epoch"),
		.nonce = nonce,
	};
	struct ps_tree *t;

	/* The later one of two entries would bring back a used epoch. */
	if (tree < 0 || tree > UINT16_MAX || seen[tree / 8] >> tree % 8 & 1)
		return "tree";
	seen[tree / 8] |= (uint8_t)(1 << tree % 8);
	if (l.epoch == UINT32_MAX)
		return "epoch";
	if (l.last_epoch < l.epoch || l.last_epoch == UINT32_MAX)
		return "last_epoch";
	t = ps->by_tree[tree];
	if (!t || t->job->number != job)
		return NULL;
	/* A job whose size has changed begins again, in a newer epoch. */
	if (json_array_size(json_object_get(o, "nonces")) != t->job->world)
		l.epoch = 0;
	else if (!nonces_read(json_object_get(o, "nonces"), t->job->world, nonce))
		return "nonces";
	ps_members_restore(t, &l);
	return NULL;
}

int ps_state_load(struct ps *ps, const char *path, char *why, size_t size)
{
	uint8_t seen[(UINT16_MAX + 1) / 8] = {0};
	const char *bad = NULL;
	json_error_t error;
	json_t *doc, *trees;
	size_t i;

	if (access(path, F_OK) && errno == ENOENT)
		return 0;
	doc = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (!doc)
		return text_fail(why, size, -EPROTO, "%s: line %d: %s", path, error.line,
				 error.text);
	trees = json_object_get(doc, "trees");
	if (json_integer_value(json_object_get(doc, "version")) != STATE_VERSION ||
	    !json_is_array(trees)) {
		json_decref(doc);
		return text_fail(why, size, -EPROTO, "%s: not a state file of version %d", path,
				 STATE_VERSION);
	}
	for (i = 0; i < json_array_size(trees) && !bad; i++) {
		bad = tree_load(ps, json_array_get(trees, i), seen);
		if (bad)
			snprintf(why, size, "%s: trees[%zu].%s: bad value", path, i, bad);
	}
	json_decref(doc);
	return bad ? -EPROTO : 0;
}
