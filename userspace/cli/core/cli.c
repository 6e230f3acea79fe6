// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns what all commands of trib(8) stand on: the table of objects and the way
 * from a command line to its function, errors, and requests for objects.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "schema.h"

extern const struct cli_object object_status, object_face, object_job,
	object_tree, object_group, object_fib, object_pit, object_cs,
	object_strategy, object_stats, object_watch, object_doctor, object_plan,
	object_apply, object_batch, object_module, object_help;

const struct cli_object *const cli_objects[] = {
	&object_status,	  &object_face,	 &object_job,	&object_tree,
	&object_group,	  &object_fib,	 &object_pit,	&object_cs,
	&object_strategy, &object_stats, &object_watch, &object_doctor,
	&object_plan,	  &object_apply, &object_batch, &object_module,
	&object_help,	  NULL,
};

static void note(struct cli *c, const char *fmt, va_list ap)
{
	size_t i;

	vsnprintf(c->error, sizeof(c->error), fmt, ap);
	/* One line, whatever an argument held. */
	for (i = 0; c->error[i]; i++)
		if ((unsigned char)c->error[i] < 0x20 || c->error[i] == 0x7f)
			c->error[i] = '?';
}

int cli_error(struct cli *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(c, fmt, ap);
	va_end(ap);
	return CLI_ERROR;
}

int cli_usage(struct cli *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(c, fmt, ap);
	va_end(ap);
	return CLI_USAGE;
}

int cli_no_args(struct cli *c, int argc, char **argv)
{
	return argc ? cli_usage(c, "\"%s\" is not expected here", argv[0])
		    : CLI_OK;
}

struct nl_msg *cli_message(struct cli *c, int cmd, int flags)
{
	struct nl_msg *msg = client_message(cmd, flags);

	if (!msg)
		cli_error(c, "out of memory");
	return msg;
}

static int request(struct cli *c, struct nl_msg *msg, client_fn fn, void *arg)
{
	int err;

	if (!c->client) {
		err = client_open(&c->client);
		if (err) {
			nlmsg_free(msg);
			return cli_error(c, "cannot open a netlink socket: %s",
					 strerror(-err));
		}
	}
	err = client_request(c->client, msg, fn, arg);
	c->refused = err;
	nlmsg_free(msg);
	return err ? cli_error(c, "%s", client_text(c->client)) : CLI_OK;
}

int cli_change(struct cli *c, struct nl_msg *msg)
{
	return request(c, msg, NULL, NULL);
}

struct fetch {
	int top;
	json_t *list;
};

static int fetch_one(struct nlmsghdr *nlh, void *arg)
{
	struct fetch *f = arg;
	json_t *obj;
	int err;

	err = schema_decode(nlh, f->top, &obj);
	if (err)
		return err;
	return json_array_append_new(f->list, obj) ? -ENOMEM : 0;
}

int cli_fetch(struct cli *c, struct nl_msg *msg, int top, json_t **out)
{
	struct fetch f = {.top = top, .list = json_array()};
	int err;

	*out = NULL;
	err = request(c, msg, fetch_one, &f);
	if (err) {
		json_decref(f.list);
		return err;
	}
	*out = f.list;
	return CLI_OK;
}

int cli_fetch_all(struct cli *c, int cmd, int top, json_t **out)
{
	struct nl_msg *msg = cli_message(c, cmd, NLM_F_DUMP);

	*out = NULL;
	return msg ? cli_fetch(c, msg, top, out) : CLI_ERROR;
}

int cli_fetch_below(struct cli *c, int cmd, int top, int attr, int argc,
		    char **argv, json_t **out)
{
	const struct arg name = ARG_ROW(NULL, "PREFIX", ARG_PREFIX, attr, 0);
	struct nl_msg *msg = cli_message(c, cmd, NLM_F_DUMP);
	struct nlattr *nest;
	int err = CLI_OK;

	*out = NULL;
	if (!msg)
		return CLI_ERROR;
	if (argc > 0) {
		nest = nla_nest_start(msg, top);
		err = parse_args(c, argc, argv, &name, 1, msg, NULL);
		nla_nest_end(msg, nest);
	}
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	return cli_fetch(c, msg, top, out);
}

/* Exact, or the only one that begins so; -1: none, -2: several. */
static int match(const char *word, const char *(*name)(const void *, size_t),
		 const void *table, size_t n)
{
	size_t i, len = strlen(word);
	int found = -1;

	for (i = 0; i < n; i++) {
		if (!strcmp(name(table, i), word))
			return (int)i;
		if (!strncmp(name(table, i), word, len))
			found = found == -1 ? (int)i : -2;
	}
	return len ? found : -1;
}

static const char *object_name(const void *table, size_t i)
{
	return ((const struct cli_object *const *)table)[i]->name;
}

static const char *cmd_name(const void *table, size_t i)
{
	return ((const struct cli_cmd *)table)[i].name;
}

static int run_object(struct cli *c, const struct cli_object *o, int argc,
		      char **argv)
{
	int i;

	if (argc > 0 && (!strcmp(argv[0], "help") || !strcmp(argv[0], "-h") ||
			 !strcmp(argv[0], "--help")))
		return help_object(c, o);
	if (argc < 1 || !*o->cmds[0].name)
		return o->cmds[0].fn(c, argc, argv);
	i = match(argv[0], cmd_name, o->cmds, o->ncmds);
	if (i == -2)
		return cli_usage(c, "%s command \"%s\" is ambiguous", o->name,
				 argv[0]);
	if (i < 0)
		return cli_usage(
			c, "%s has no command \"%s\": see \"trib %s help\"",
			o->name, argv[0], o->name);
	return o->cmds[i].fn(c, argc - 1, argv + 1);
}

int cli_run(struct cli *c, int argc, char **argv)
{
	size_t n = 0;
	int i;

	while (cli_objects[n])
		n++;
	if (argc < 1)
		return run_object(c, cli_objects[0], argc, argv);
	i = match(argv[0], object_name, cli_objects, n);
	if (i == -2)
		return cli_usage(c, "object \"%s\" is ambiguous", argv[0]);
	if (i < 0)
		return cli_usage(c, "no object \"%s\": see \"trib help\"",
				 argv[0]);
	return run_object(c, cli_objects[i], argc - 1, argv + 1);
}
