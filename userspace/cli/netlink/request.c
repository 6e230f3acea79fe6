// SPDX-License-Identifier: BSD-2-Clause
/* Owns requests to tribd: the client opens with the first of them. */
#include <errno.h>
#include <string.h>

#include "cli/core/cli.h"
#include "client.h"
#include "request.h"
#include "schema.h"

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
			return cli_error(c, "cannot open a netlink socket: %s", strerror(-err));
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

int cli_fetch_one(struct cli *c, int cmd, int top, json_t **out)
{
	struct nl_msg *msg = cli_message(c, cmd, 0);
	json_t *list;
	int err = msg ? cli_fetch(c, msg, top, &list) : CLI_ERROR;

	*out = NULL;
	if (err)
		return err;
	*out = json_incref(json_array_get(list, 0));
	json_decref(list);
	return CLI_OK;
}
