// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib module sock and claim: collective sockets, and jobs reserved for users.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <linux/netlink.h>

#include "base/name.h"
#include "base/text.h"
#include "cli/core/cli.h"
#include "cli/netlink/family.h"
#include "cli/netlink/request.h"
#include "cli/out/out.h"
#include "cli/parse/parse.h"
#include "uapi/trib.h"
#include "module.h"

static void rank_text(const json_t *s, char *buf, size_t size)
{
	snprintf(buf, size, "%llu/%llu", (unsigned long long)jnum(s, "rank"),
		 (unsigned long long)jnum(s, "world"));
}

static void user_text(const json_t *obj, char *buf, size_t size)
{
	out_user((uint32_t)jnum(obj, "uid"), buf, size);
}

static const struct out_col socks[] = {
	{.key = "job", .right = true},
	{.title = "RANK", .text = rank_text, .right = true},
	{.key = "state"},
	{.title = "USER", .text = user_text},
	{.key = "inode", .right = true},
	{.key = "mem", .right = true},
	{.key = "messages", .right = true},
	{.key = "chunks", .right = true},
	{.key = "sent", .right = true},
	{.key = "carried", .right = true},
	{.key = "received", .right = true},
	{.key = "resends", .right = true},
	{.key = "inflight", .right = true},
	{.key = "error"},
};

static const struct out_col claims[] = {
	{.key = "job", .right = true},
	{.title = "USER", .text = user_text},
};

int module_sock(struct cli *c, int argc, char **argv)
{
	json_t *list;
	int err = cli_no_args(c, argc, argv);

	if (!err)
		err = family_ask(c, TRIB_CMD_SOCK_GET, NLM_F_DUMP, TRIB_A_SOCK, &list);
	return err ? err : out_table(c, list, socks, sizeof(socks) / sizeof(*socks));
}

/* The number of a job that tribd knows by name. */
static int job_number(struct cli *c, const char *name, uint64_t *out)
{
	char why[NAME_WHY_MAX];
	struct nl_msg *msg;
	struct nlattr *nest;
	json_t *list;
	int err;

	if (name_check_word(name, "", why))
		return cli_error(c, "job \"%s\" is neither a number nor a name", name);
	msg = cli_message(c, TRIB_CMD_JOB_GET, 0);
	if (!msg)
		return CLI_ERROR;
	nest = nla_nest_start(msg, TRIB_A_JOB);
	nla_put_string(msg, TRIB_A_JOB_NAME, name);
	nla_nest_end(msg, nest);
	err = cli_fetch(c, msg, TRIB_A_JOB, &list);
	if (err)
		return err;
	*out = jnum(json_array_get(list, 0), "id");
	json_decref(list);
	return CLI_OK;
}

/* One change; @user: NULL, if there is none to be said. */
static int change(struct cli *c, int cmd, const char *job, const char *user)
{
	struct family *f;
	struct nl_msg *msg;
	struct nlattr *nest;
	uint32_t uid = 0;
	uint64_t number;
	int err;

	if (user && parse_uid(user, &uid))
		return cli_error(c, "\"%s\" is not a user", user);
	err = text_number(job, 1, UINT16_MAX, &number);
	if (err == -ERANGE)
		return cli_error(c, "job \"%s\" is not from 1 to 65535", job);
	if (err)
		err = job_number(c, job, &number);
	if (!err)
		err = family_open(c, &f);
	if (err)
		return err;
	err = CLI_ERROR;
	msg = family_message(c, f, cmd, NLM_F_ACK);
	if (msg) {
		nest = nla_nest_start(msg, TRIB_A_CLAIM);
		nla_put_u16(msg, TRIB_A_CLAIM_JOB, (uint16_t)number);
		if (user)
			nla_put_u32(msg, TRIB_A_CLAIM_UID, uid);
		nla_nest_end(msg, nest);
		err = family_request(c, f, msg, TRIB_A_UNSPEC, NULL);
	}
	family_close(f);
	return err ? err : out_done(c);
}

static int list(struct cli *c)
{
	json_t *all;
	int err = family_ask(c, TRIB_CMD_CLAIM_GET, NLM_F_DUMP, TRIB_A_CLAIM, &all);

	return err ? err : out_table(c, all, claims, sizeof(claims) / sizeof(*claims));
}

int module_claim(struct cli *c, int argc, char **argv)
{
	bool add = argc && !strcmp(argv[0], "add");
	bool del = argc && !strcmp(argv[0], "del");
	int words = add ? 3 : del ? 2 : argc ? 1 : 0, err;

	if (argc && !add && !del && strcmp(argv[0], "list"))
		return cli_usage(c, "\"%s\" is none of list, add, del", argv[0]);
	if ((add || del) && argc < 2)
		return cli_usage(c, "JOB is missing");
	if (add && argc < 3)
		return cli_usage(c, "UID is missing");
	err = cli_no_args(c, argc - words, argv + words);
	if (err)
		return err;
	if (add)
		return change(c, TRIB_CMD_CLAIM_NEW, argv[1], argv[2]);
	return del ? change(c, TRIB_CMD_CLAIM_DEL, argv[1], NULL) : list(c);
}
