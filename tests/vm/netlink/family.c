/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The module's netlink family through libnl: answers, and refusals with a text.
 * Runs with trib.ko loaded.
 */
#include "genl.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uapi/trib_kfunc.h"
#include "tests/lib/tap.h"

/* Contents of the last answer: functions, or the module. */
static struct {
	char name[64], level[16];
	unsigned int api;
} said;

static void on_object(struct nlattr **top)
{
	struct nlattr *k[TRIB_A_KFUNC__MAX], *m[TRIB_A_MODULE__MAX];

	if (top[TRIB_A_KFUNC] &&
	    !nla_parse_nested(k, TRIB_A_KFUNC__MAX - 1, top[TRIB_A_KFUNC], NULL) &&
	    k[TRIB_A_KFUNC_NAME])
		nla_strlcpy(said.name, k[TRIB_A_KFUNC_NAME], sizeof(said.name));
	if (top[TRIB_A_MODULE] &&
	    !nla_parse_nested(m, TRIB_A_MODULE__MAX - 1, top[TRIB_A_MODULE], NULL)) {
		if (m[TRIB_A_MODULE_LEVEL])
			nla_strlcpy(said.level, m[TRIB_A_MODULE_LEVEL], sizeof(said.level));
		if (m[TRIB_A_MODULE_API])
			said.api = nla_get_u32(m[TRIB_A_MODULE_API]);
	}
}

/* Refused with @error and a text that holds @words. */
#define expect_refusal(msg, error, words) expect(genl_refused(msg, error, words))

static struct nl_msg *kfunc_named(const char *name)
{
	struct nl_msg *msg = genl_request(TRIB_CMD_KFUNC_GET, 0);
	struct nlattr *nest = nla_nest_start(msg, TRIB_A_KFUNC | NLA_F_NESTED);

	nla_put_string(msg, TRIB_A_KFUNC_NAME, name);
	nla_nest_end_keep_empty(msg, nest);
	return msg;
}

static void module__says_what_it_is(void)
{
	genl_ask(genl_request(TRIB_CMD_MODULE_GET, 0));
	expect_eq(genl_got.error, 0);
	expect_eq(genl_got.objects, 1);
	expect_eq(said.api, TRIB_KFUNC_API);
	expect(said.level[0]);
}

static void kfunc__dump_has_all(void)
{
	genl_ask(genl_request(TRIB_CMD_KFUNC_GET, NLM_F_DUMP));
	expect_eq(genl_got.error, 0);
	expect_eq(genl_got.objects, 10);
}

static void kfunc__one_by_name(void)
{
	genl_ask(kfunc_named("trib_pkt_emit"));
	expect_eq(genl_got.error, 0);
	expect_eq(genl_got.objects, 1);
	expect(!strcmp(said.name, "trib_pkt_emit"));
}

static void kfunc__wrong_names_are_refused(void)
{
	char longest[80];
	struct nl_msg *msg;
	struct nlattr *nest;

	expect_refusal(genl_request(TRIB_CMD_KFUNC_GET, 0), -EINVAL, "name a function");
	expect_refusal(kfunc_named("trib_pkt_emi"), -ENOENT, "no such");
	expect_refusal(kfunc_named(""), -ENOENT, "no such");
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	expect_refusal(kfunc_named(longest), -EINVAL, "ttribute");
	/* No terminating zero. */
	msg = genl_request(TRIB_CMD_KFUNC_GET, 0);
	nest = nla_nest_start(msg, TRIB_A_KFUNC | NLA_F_NESTED);
	nla_put(msg, TRIB_A_KFUNC_NAME, 4, "trib");
	nla_nest_end_keep_empty(msg, nest);
	expect_refusal(msg, -EINVAL, "ttribute");
	/* A nest without a name. */
	msg = genl_request(TRIB_CMD_KFUNC_GET, 0);
	nest = nla_nest_start(msg, TRIB_A_KFUNC | NLA_F_NESTED);
	nla_nest_end_keep_empty(msg, nest);
	expect_refusal(msg, -EINVAL, "no name");
}

static void kfunc__read_only_attributes_are_refused(void)
{
	static const char *const words[TRIB_A_KFUNC__MAX] = {
		[TRIB_A_KFUNC_CALLS] = "calls",
		[TRIB_A_KFUNC_BYTES] = "bytes",
		[TRIB_A_KFUNC_FALLBACKS] = "fallbacks",
		[TRIB_A_KFUNC_REFUSED] = "refused",
	};
	struct nl_msg *msg;
	struct nlattr *nest;
	int attr;

	for (attr = TRIB_A_KFUNC_CALLS; attr < TRIB_A_KFUNC__MAX; attr++) {
		msg = genl_request(TRIB_CMD_KFUNC_GET, 0);
		nest = nla_nest_start(msg, TRIB_A_KFUNC | NLA_F_NESTED);
		nla_put_u64(msg, attr, 1);
		nla_nest_end_keep_empty(msg, nest);
		expect_refusal(msg, -EINVAL, words[attr]);
	}
}

static void request__foreign_attributes_are_refused(void)
{
	static const int cmds[] = {TRIB_CMD_MODULE_GET, TRIB_CMD_MODULE_RESET, TRIB_CMD_KFUNC_GET};
	struct nl_msg *msg;
	struct nlattr *nest;
	size_t i;

	for (i = 0; i < 3; i++) {
		/* tribd's attribute, an unknown one, one of answers. */
		msg = genl_request(cmds[i], 0);
		nest = nla_nest_start(msg, TRIB_A_FACE | NLA_F_NESTED);
		nla_nest_end_keep_empty(msg, nest);
		expect_refusal(msg, -EINVAL, "ttribute");
		msg = genl_request(cmds[i], 0);
		nla_put_u32(msg, 4000, 1);
		expect_refusal(msg, -EINVAL, "ttribute");
		msg = genl_request(cmds[i], 0);
		nest = nla_nest_start(msg, TRIB_A_EVENT | NLA_F_NESTED);
		nla_nest_end_keep_empty(msg, nest);
		expect_refusal(msg, -EINVAL, "");
	}
	msg = kfunc_named("trib_pkt_emit");
	nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_DUMP;
	expect_refusal(msg, -EINVAL, "name none");
}

static void request__rubbish_is_refused(void)
{
	struct nl_msg *msg = genl_request(TRIB_CMD_MODULE_GET, 0);

	nlmsg_append(msg, "\xff\xff\xff\xff\xff\xff\xff", 7, 4);
	expect_refusal(msg, -EINVAL, "");
	/* A value where a nest is expected. */
	msg = genl_request(TRIB_CMD_KFUNC_GET, 0);
	nla_put_u32(msg, TRIB_A_KFUNC, 7);
	expect_refusal(msg, -EINVAL, "NESTED");
	/* tribd's commands, and unknown ones. */
	genl_ask(genl_request(TRIB_CMD_FACE_GET, 0));
	expect_eq(genl_got.error, -EOPNOTSUPP);
	genl_ask(genl_request(200, 0));
	expect_eq(genl_got.error, -EOPNOTSUPP);
}

static void reset__takes_capabilities(void)
{
	int status = 1;
	pid_t pid;

	genl_ask(genl_request(TRIB_CMD_MODULE_RESET, NLM_F_ACK));
	expect_eq(genl_got.error, 0);
	pid = fork();
	if (!pid) {
		tap_bad = 0;
		genl_close();
		if (setgid(65534) || setuid(65534) || !genl_open(on_object))
			_exit(2);
		expect_refusal(genl_request(TRIB_CMD_MODULE_RESET, NLM_F_ACK), -EPERM,
			       "CAP_NET_ADMIN");
		/* Reading needs no capability. */
		genl_ask(genl_request(TRIB_CMD_KFUNC_GET, NLM_F_DUMP));
		expect_eq(genl_got.objects, 10);
		fflush(stdout);
		_exit(tap_bad ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	expect_eq(status, 0);
}

int main(void)
{
	/* Without an answer the test must end. */
	alarm(60);
	if (!genl_open(on_object)) {
		printf("Bail out! there is no family %s\n", TRIB_GENL_NAME);
		return 1;
	}
	run(module__says_what_it_is);
	run(kfunc__dump_has_all);
	run(kfunc__one_by_name);
	run(kfunc__wrong_names_are_refused);
	run(kfunc__read_only_attributes_are_refused);
	run(request__foreign_attributes_are_refused);
	run(request__rubbish_is_refused);
	run(reset__takes_capabilities);
	genl_close();
	return tap_done();
}
