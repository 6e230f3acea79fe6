/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests through libnl: see genl.h. */
#include "genl.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static struct nl_sock *sk;
static int family;
static void (*each)(struct nlattr **top);

struct genl_got genl_got;

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct nlattr *top[TRIB_A__MAX];

	(void)arg;
	genl_got.objects++;
	if (each && !genlmsg_parse(nlmsg_hdr(msg), 0, top, TRIB_A__MAX - 1, NULL))
		each(top);
	if (!(nlmsg_hdr(msg)->nlmsg_flags & NLM_F_MULTI))
		genl_got.done = true;
	return NL_OK;
}

static void note_text(struct nlattr *attrs, int len)
{
	struct nlattr *a = nla_find(attrs, len, NLMSGERR_ATTR_MSG);

	if (a)
		nla_strlcpy(genl_got.text, a, sizeof(genl_got.text));
}

/* A failed dump reports the error in its last message. */
static int on_end(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	int *error = nlmsg_data(nlh);

	(void)arg;
	genl_got.done = true;
	if (nlh->nlmsg_type != NLMSG_DONE || nlmsg_datalen(nlh) < 4)
		return NL_OK;
	genl_got.error = *error;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		note_text((struct nlattr *)(error + 1), nlmsg_datalen(nlh) - 4);
	return NL_OK;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)((char *)e - NLMSG_HDRLEN);

	(void)from;
	(void)arg;
	genl_got.error = e->error;
	genl_got.done = true;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		note_text((struct nlattr *)(e + 1), nlmsg_datalen(nlh) - (int)sizeof(*e));
	return NL_STOP;
}

bool genl_open(void (*on_object)(struct nlattr **top))
{
	int fd, one = 1;

	each = on_object;
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

struct nl_msg *genl_request(int cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, flags, cmd, TRIB_GENL_VERSION);
	return msg;
}

void genl_ask(struct nl_msg *msg)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);

	memset(&genl_got, 0, sizeof(genl_got));
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, NULL);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_end, NULL);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_end, NULL);
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, NULL);
	if (nl_send_auto(sk, msg) < 0)
		genl_got.done = true;
	nlmsg_free(msg);
	while (!genl_got.done)
		if (nl_recvmsgs(sk, cb) < 0)
			break;
	nl_cb_put(cb);
}

void genl_close(void)
{
	nl_socket_free(sk);
}

bool genl_refused(struct nl_msg *msg, int error, const char *words)
{
	genl_ask(msg);
	if (genl_got.error == error && !genl_got.objects && genl_got.text[0] &&
	    strstr(genl_got.text, words))
		return true;
	printf("# %d, \"%s\", %d objects; not %d about \"%s\"\n", genl_got.error, genl_got.text,
	       genl_got.objects, error, words);
	return false;
}

bool genl_listen(void)
{
	int group = genl_ctrl_resolve_grp(sk, TRIB_GENL_NAME, TRIB_GENL_EVENTS);

	nl_socket_disable_seq_check(sk);
	return group > 0 && !nl_socket_add_membership(sk, group);
}

bool genl_hear(int ms)
{
	struct pollfd p = {.fd = nl_socket_get_fd(sk), .events = POLLIN};

	if (poll(&p, 1, ms) != 1)
		return false;
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_valid, NULL);
	return nl_recvmsgs_default(sk) >= 0;
}
