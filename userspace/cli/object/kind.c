// SPDX-License-Identifier: BSD-2-Clause
/* Owns requests and show of all kinds of objects: see kind.h. */
#include <stdio.h>
#include <string.h>

#include "cli/netlink/request.h"
#include "cli/netlink/schema.h"
#include "kind.h"

/* How a plain attribute is read, -1 if it is not plain. */
static int plain_kind(const struct schema_attr *a)
{
	static const int kinds[] = {
		[KIND_STRING] = ARG_TEXT, [KIND_U8] = ARG_U8,	[KIND_U16] = ARG_U16,
		[KIND_U32] = ARG_U32,	  [KIND_U64] = ARG_U64, [KIND_BOOL] = ARG_FLAG,
		[KIND_ADDR] = ARG_ADDR,	  [KIND_MAC] = ARG_MAC, [KIND_KEY] = ARG_KEY,
		[KIND_WORD] = ARG_WORD,
	};
	bool known = a->kind < sizeof(kinds) / sizeof(kinds[0]);

	return a->read_only || a->list || !known ? -1 : kinds[a->kind];
}

static const char *plain_value(int kind)
{
	static const char *const values[] = {
		[ARG_TEXT] = "TEXT", [ARG_FLAG] = "",	[ARG_ADDR] = "ADDR", [ARG_MAC] = "MAC",
		[ARG_WORD] = "WORD", [ARG_U8] = "N",	[ARG_U16] = "N",     [ARG_U32] = "N",
		[ARG_U64] = "N",     [ARG_KEY] = "HEX",
	};

	return values[kind];
}

static bool has_row(const struct kind_args *args, int attr)
{
	size_t i;

	for (i = 0; args && i < args->n; i++)
		if (args->args[i].attr == attr ||
		    (args->args[i].kind == ARG_HOST && args->args[i].attr + 1 == attr))
			return true;
	return false;
}

/* All rows: those of the table, and one for each other plain attribute. */
static size_t all_args(const struct kind_args *args, struct arg out[ARG_MAX])
{
	const struct schema_set *set = schema_set(args->rest);
	size_t i, n = args->n;
	int kind;

	memcpy(out, args->args, n * sizeof(*out));
	for (i = 0; args->rest && i < set->n && n < ARG_MAX; i++) {
		const struct schema_attr *a = &set->attrs[i];

		kind = plain_kind(a);
		if (kind < 0 || has_row(args, a->attr) || has_row(args->apart, a->attr))
			continue;
		out[n++] = (struct arg){
			.word = a->word,
			.value = plain_value(kind),
			.kind = (enum arg_kind)kind,
			.attr = a->attr,
			.min = a->min,
			.max = a->max,
			.words = a->words,
		};
	}
	return n;
}

void kind_usage(const struct kind_args *args, char *buf, size_t size)
{
	struct arg all[ARG_MAX];
	size_t i, n = all_args(args, all), at = 0;
	char words[128];

	*buf = '\0';
	for (i = args->n; i < n && at < size; i++) {
		parse_words_text(all[i].words, "|", words, sizeof(words));
		at += (size_t)snprintf(buf + at, size - at, " [%s%s%s]", all[i].word,
				       *all[i].value ? " " : "",
				       all[i].words ? words : all[i].value);
	}
}

int kind_message(struct cli *c, const struct cli_kind *k, int cmd, int flags, int argc, char **argv,
		 const struct kind_args *args, struct nl_msg **out)
{
	struct nl_msg *msg = cli_message(c, cmd, flags);
	struct arg all[ARG_MAX];
	struct nlattr *nest;
	uint32_t seen;
	int err;

	if (!msg)
		return CLI_ERROR;
	nest = nla_nest_start(msg, k->attr);
	err = parse_args(c, argc, argv, all, all_args(args, all), msg, &seen);
	if (!err && args->check)
		err = args->check(c, seen);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	nla_nest_end(msg, nest);
	*out = msg;
	return CLI_OK;
}

int kind_change(struct cli *c, const struct cli_kind *k, int cmd, int argc, char **argv,
		const struct kind_args *args)
{
	struct nl_msg *msg;
	int err;

	err = kind_message(c, k, cmd, NLM_F_ACK, argc, argv, args, &msg);
	if (!err)
		err = cli_change(c, msg);
	return err ? err : out_done(c);
}

/* --- show */

#define COLS_MAX 40

static bool has_col(const struct out_col *cols, size_t n, const char *key)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (cols[i].key && !strcmp(cols[i].key, key))
			return true;
	return false;
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);
	const char *at = words;

	while (at && (at = strstr(at, word))) {
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
		at += len;
	}
	return false;
}

static bool some_have(const json_t *list, const char *key)
{
	const json_t *obj;
	size_t i;

	json_array_foreach(list, i, obj)
		if (json_object_get(obj, key))
			return true;
	return false;
}

size_t kind_more_cols(const struct cli_kind *k, const json_t *list, struct out_col *out, size_t max)
{
	const struct schema_set *set = schema_set(k->attr);
	size_t i, n = 0;

	for (i = 0; i < set->n && n < max; i++) {
		const char *key = set->attrs[i].key;

		if (!has_word(k->shown, key) && !has_col(k->table, k->ntable, key) &&
		    !has_col(k->details, k->ndetails, key) && some_have(list, key))
			out[n++] = (struct out_col){.key = key};
	}
	return n;
}

/* Columns @cols, and one for each member that no column of @k shows. */
static size_t all_cols(const struct cli_kind *k, const struct out_col *cols, size_t n,
		       const json_t *list, struct out_col out[COLS_MAX])
{
	memcpy(out, cols, n * sizeof(*out));
	return n + kind_more_cols(k, list, out + n, COLS_MAX - n);
}

int kind_list(struct cli *c, const struct cli_kind *k, json_t *list)
{
	struct out_col cols[COLS_MAX];

	return out_table(c, list, cols, all_cols(k, k->table, k->ntable, list, cols));
}

int kind_one(struct cli *c, const struct cli_kind *k, json_t *obj)
{
	json_t *list = json_pack("[O]", obj);
	struct out_col cols[COLS_MAX];
	int err;

	err = out_list(c, obj, cols, all_cols(k, k->details, k->ndetails, list, cols));
	if (!err && !c->json && k->more)
		k->more(json_array_get(list, 0));
	json_decref(list);
	return err;
}

int kind_show(struct cli *c, const struct cli_kind *k, int argc, char **argv)
{
	struct kind_args name = {k->name, 1, NULL, 0, NULL};
	struct nl_msg *msg;
	json_t *list, *obj;
	int err;

	if (!k->name) {
		err = cli_no_args(c, argc, argv);
		if (!err)
			err = cli_fetch_one(c, k->get, k->attr, &obj);
		return err ? err : kind_one(c, k, obj);
	}
	if (argc < 1) {
		err = cli_fetch_all(c, k->get, k->attr, &list);
		return err ? err : kind_list(c, k, list);
	}
	err = kind_message(c, k, k->get, 0, argc, argv, &name, &msg);
	if (!err)
		err = cli_fetch(c, msg, k->attr, &list);
	if (err)
		return err;
	err = kind_one(c, k, json_incref(json_array_get(list, 0)));
	json_decref(list);
	return err;
}

int kind_show_below(struct cli *c, const struct cli_kind *k, int argc, char **argv)
{
	const struct arg row = ARG_ROW(NULL, "PREFIX", ARG_PREFIX, 1, 0);
	struct kind_args prefix = {&row, 1, NULL, 0, NULL};
	struct nl_msg *msg;
	json_t *list;
	int err;

	if (argc < 1) {
		err = cli_fetch_all(c, k->get, k->attr, &list);
		return err ? err : kind_list(c, k, list);
	}
	err = kind_message(c, k, k->get, NLM_F_DUMP, argc, argv, &prefix, &msg);
	if (!err)
		err = cli_fetch(c, msg, k->attr, &list);
	return err ? err : kind_list(c, k, list);
}
