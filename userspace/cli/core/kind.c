// SPDX-License-Identifier: BSD-2-Clause
/*
 * What faces, jobs and trees have in common: a request whose attributes are
 * read from the command line, one that only names its object, and show.
 */
#include "cli.h"

int kind_message(struct cli *c, const struct cli_kind *k, int cmd, int flags,
		 int argc, char **argv, const struct kind_args *args,
		 struct nl_msg **out)
{
	struct nl_msg *msg = cli_message(c, cmd, flags);
	struct nlattr *nest;
	uint32_t seen;
	int err;

	if (!msg)
		return CLI_ERROR;
	nest = nla_nest_start(msg, k->attr);
	err = parse_args(c, argc, argv, args->args, args->n, msg, &seen);
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

int kind_change(struct cli *c, const struct cli_kind *k, int cmd, int argc,
		char **argv, const struct kind_args *args)
{
	struct nl_msg *msg;
	int err;

	err = kind_message(c, k, cmd, NLM_F_ACK, argc, argv, args, &msg);
	if (!err)
		err = cli_change(c, msg);
	return err ? err : out_done(c);
}

static int show_one(struct cli *c, const struct cli_kind *k, json_t *obj)
{
	int err = out_list(c, json_incref(obj), k->details, k->ndetails);

	if (!err && !c->json && k->more)
		k->more(obj);
	return err;
}

int kind_show(struct cli *c, const struct cli_kind *k, int argc, char **argv)
{
	struct kind_args name = {k->name, 1, NULL};
	struct nl_msg *msg;
	json_t *all;
	int err;

	if (argc < 1) {
		err = cli_fetch_all(c, k->get, k->attr, &all);
		return err ? err : out_table(c, all, k->table, k->ntable);
	}
	err = kind_message(c, k, k->get, 0, argc, argv, &name, &msg);
	if (!err)
		err = cli_fetch(c, msg, k->attr, &all);
	if (err)
		return err;
	err = show_one(c, k, json_array_get(all, 0));
	json_decref(all);
	return err;
}
