/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The module's netlink family, asked by libnl: answers, and that whatever is
 * wrong with a request is refused with a text. Runs where trib.ko is loaded.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "uapi/trib.h"
#include "uapi/trib_kfunc.h"
#include "tests/tap.h"

static struct nl_sock *sk;
static int family;

/* What the last request brought. */
static struct {
	int objects, error;
	bool done;
	char text[200], name[64], level[16];
	unsigned int api;
} got;

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct nlattr *top[TRIB_A__MAX], *k[TRIB_A_KFUNC__MAX],
		*m[TRIB_A_MODULE__MAX];

	(void)arg;
	got.objects++;
	if (genlmsg_parse(nlmsg_hdr(msg), 0, top, TRIB_A__MAX - 1, NULL))
		return NL_OK;
	if (top[TRIB_A_KFUNC] &&
	    !nla_parse_nested(k, TRIB_A_KFUNC__MAX - 1, top[TRIB_A_KFUNC],
			      NULL) &&
	    k[TRIB_A_KFUNC_NAME])
		nla_strlcpy(got.name, k[TRIB_A_KFUNC_NAME], sizeof(got.name));
	if (top[TRIB_A_MODULE] && !nla_parse_nested(m, TRIB_A_MODULE__MAX - 1,
						    top[TRIB_A_MODULE], NULL)) {
		if (m[TRIB_A_MODULE_LEVEL])
			nla_strlcpy(got.level, m[TRIB_A_MODULE_LEVEL],
				    sizeof(got.level));
		if (m[TRIB_A_MODULE_API])
			got.api = nla_get_u32(m[TRIB_A_MODULE_API]);
	}
	if (!(nlmsg_hdr(msg)->nlmsg_flags & NLM_F_MULTI))
		got.done = true;
	return NL_OK;
}

static void note_text(struct nlattr *attrs, int len)
{
	struct nlattr *a = nla_find(attrs, len, NLMSGERR_ATTR_MSG);

	if (a)
		nla_strlcpy(got.text, a, sizeof(got.text));
}

/* A dump that fails says so at its end. */
static int on_end(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	int *error = nlmsg_data(nlh);

	(void)arg;
	got.done = true;
	if (nlh->nlmsg_type != NLMSG_DONE || nlmsg_datalen(nlh) < 4)
		return NL_OK;
	got.error = *error;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		note_text((struct nlattr *)(error + 1), nlmsg_datalen(nlh) - 4);
	return NL_OK;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)((char *)e - NLMSG_HDRLEN);

	(void)from;
	(void)arg;
	got.error = e->error;
	got.done = true;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		note_text((struct nlattr *)(e + 1),
			  nlmsg_datalen(nlh) - (int)sizeof(*e));
	return NL_STOP;
}

static bool connect_family(void)
{
	int fd, one = 1;

	sk = nl_socket_alloc();
	nl_socket_disable_auto_ack(sk);
	if (genl_connect(sk))
		return false;
	fd = nl_socket_get_fd(sk);
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	family = genl_ctrl_resolve(sk, TRIB_GENL_NAME);
	return family > 0;
}

static struct nl_msg *request(int cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, flags, cmd,
		    TRIB_GENL_VERSION);
	return msg;
}

/* Send it, free it; the answer is in `got`. */
static void ask(struct nl_msg *msg)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);

	memset(&got, 0, sizeof(got));
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, NULL);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_end, NULL);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_end, NULL);
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, NULL);
	if (nl_send_auto(sk, msg) < 0)
		got.done = true;
	nlmsg_free(msg);
	while (!got.done)
		if (nl_recvmsgs(sk, cb) < 0)
			break;
	nl_cb_put(cb);
}

/* Refused with @error and a text that holds @words. */
static void expect_refusal(struct nl_msg *msg, int error, const char *words)
{
	ask(msg);
	expect_eq(got.error, error);
	expect_eq(got.objects, 0);
	if (!expect(got.text[0] && strstr(got.text, words)))
		printf("# \"%s\" is not about \"%s\"\n", got.text, words);
}

static struct nl_msg *kfunc_named(const char *name)
{
	struct nl_msg *msg = request(TRIB_CMD_KFUNC_GET, 0);
	struct nlattr *nest = nla_nest_start(msg, TRIB_A_KFUNC | NLA_F_NESTED);

	nla_put_string(msg, TRIB_A_KFUNC_NAME, name);
	nla_nest_end_keep_empty(msg, nest);
	return msg;
}

static void module__says_what_it_is(void)
{
	ask(request(TRIB_CMD_MODULE_GET, 0));
	expect_eq(got.error, 0);
	expect_eq(got.objects, 1);
	expect_eq(got.api, TRIB_KFUNC_API);
	expect(got.level[0]);
}

static void kfunc__dump_has_all(void)
{
	ask(request(TRIB_CMD_KFUNC_GET, NLM_F_DUMP));
	expect_eq(got.error, 0);
	expect_eq(got.objects, 10);
}

static void kfunc__one_by_name(void)
{
	ask(kfunc_named("trib_pkt_emit"));
	expect_eq(got.error, 0);
	expect_eq(got.objects, 1);
	expect(!strcmp(got.name, "trib_pkt_emit"));
}

static void kfunc__wrong_names_are_refused(void)
{
	char longest[80];
	struct nl_msg *msg;
	struct nlattr *nest;

	expect_refusal(request(TRIB_CMD_KFUNC_GET, 0), -EINVAL, "which");
	expect_refusal(kfunc_named("trib_pkt_emi"), -ENOENT, "no such");
	expect_refusal(kfunc_named(""), -ENOENT, "no such");
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	expect_refusal(kfunc_named(longest), -EINVAL, "ttribute");
	/* No end. */
	msg = request(TRIB_CMD_KFUNC_GET, 0);
	nest = nla_nest_start(msg, TRIB_A_KFUNC | NLA_F_NESTED);
	nla_put(msg, TRIB_A_KFUNC_NAME, 4, "trib");
	nla_nest_end_keep_empty(msg, nest);
	expect_refusal(msg, -EINVAL, "ttribute");
	/* A nest without a name. */
	msg = request(TRIB_CMD_KFUNC_GET, 0);
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
		msg = request(TRIB_CMD_KFUNC_GET, 0);
		nest = nla_nest_start(msg, TRIB_A_KFUNC | NLA_F_NESTED);
		nla_put_u64(msg, attr, 1);
		nla_nest_end_keep_empty(msg, nest);
		expect_refusal(msg, -EINVAL, words[attr]);
	}
}

static void request__foreign_attributes_are_refused(void)
{
	static const int cmds[] = {TRIB_CMD_MODULE_GET, TRIB_CMD_MODULE_RESET,
				   TRIB_CMD_KFUNC_GET};
	struct nl_msg *msg;
	struct nlattr *nest;
	size_t i;

	for (i = 0; i < 3; i++) {
		/* tribd's, one that nobody has, one that answers hold. */
		msg = request(cmds[i], 0);
		nest = nla_nest_start(msg, TRIB_A_FACE | NLA_F_NESTED);
		nla_nest_end_keep_empty(msg, nest);
		expect_refusal(msg, -EINVAL, "ttribute");
		msg = request(cmds[i], 0);
		nla_put_u32(msg, 4000, 1);
		expect_refusal(msg, -EINVAL, "ttribute");
		msg = request(cmds[i], 0);
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
	struct nl_msg *msg = request(TRIB_CMD_MODULE_GET, 0);

	nlmsg_append(msg, "\xff\xff\xff\xff\xff\xff\xff", 7, 4);
	expect_refusal(msg, -EINVAL, "");
	/* Not a nest, though it should be. */
	msg = request(TRIB_CMD_KFUNC_GET, 0);
	nla_put_u32(msg, TRIB_A_KFUNC, 7);
	expect_refusal(msg, -EINVAL, "NESTED");
	/* tribd's commands, sockets that are not there yet, and beyond. */
	ask(request(TRIB_CMD_FACE_GET, 0));
	expect_eq(got.error, -EOPNOTSUPP);
	ask(request(200, 0));
	expect_eq(got.error, -EOPNOTSUPP);
}

static void reset__takes_capabilities(void)
{
	int status = 1;
	pid_t pid;

	ask(request(TRIB_CMD_MODULE_RESET, NLM_F_ACK));
	expect_eq(got.error, 0);
	pid = fork();
	if (!pid) {
		tap_bad = 0;
		nl_socket_free(sk);
		if (setgid(65534) || setuid(65534) || !connect_family())
			_exit(2);
		expect_refusal(request(TRIB_CMD_MODULE_RESET, NLM_F_ACK),
			       -EPERM, "CAP_NET_ADMIN");
		/* Looking is free. */
		ask(request(TRIB_CMD_KFUNC_GET, NLM_F_DUMP));
		expect_eq(got.objects, 10);
		fflush(stdout);
		_exit(tap_bad ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	expect_eq(status, 0);
}

int main(void)
{
	/* What is not answered must not last for ever. */
	alarm(60);
	if (!connect_family()) {
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
	nl_socket_free(sk);
	return tap_done();
}
