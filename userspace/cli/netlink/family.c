// SPDX-License-Identifier: BSD-2-Clause
/* Owns requests to the kernel module over generic netlink, and its events. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <linux/netlink.h>

#include "cli/core/cli.h"
#include "uapi/trib.h"
#include "client.h"
#include "family.h"
#include "schema.h"

struct family {
	struct nl_sock *sk;
	int id;
};

/* An answer while it arrives. */
struct collect {
	int top;
	json_t *list;
	bool done;
	int err;
	char text[256];
};

/* Ask for errors with text and without a copy of the request. */
static int want_texts(struct nl_sock *sk)
{
	int fd = nl_socket_get_fd(sk), one = 1;

	if (setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one)))
		return -errno;
	return 0;
}

int family_open(struct cli *c, struct family **out)
{
	struct family *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return cli_error(c, "out of memory");
	f->sk = nl_socket_alloc();
	if (!f->sk) {
		free(f);
		return cli_error(c, "out of memory");
	}
	nl_socket_disable_auto_ack(f->sk);
	err = genl_connect(f->sk);
	if (err || want_texts(f->sk)) {
		family_close(f);
		return cli_error(c, "cannot open a generic netlink socket: %s",
				 err ? nl_geterror(err) : strerror(errno));
	}
	f->id = genl_ctrl_resolve(f->sk, TRIB_GENL_NAME);
	if (f->id < 0) {
		family_close(f);
		return cli_error(c, "the kernel module is not loaded: see modprobe trib");
	}
	*out = f;
	return CLI_OK;
}

void family_close(struct family *f)
{
	if (!f)
		return;
	nl_socket_free(f->sk);
	free(f);
}

/* Add the socket of an event to it. */
static int add_sock(struct nlmsghdr *nlh, json_t *event)
{
	json_t *sock;
	int err = schema_decode(nlh, TRIB_A_SOCK, &sock);

	if (err)
		return err == -ENOENT ? 0 : err;
	return json_object_set_new(event, "sock", sock) ? -ENOMEM : 0;
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct collect *co = arg;
	json_t *obj = NULL;

	if (co->top == TRIB_A_UNSPEC)
		return NL_OK;
	co->err = schema_decode(nlmsg_hdr(msg), co->top, &obj);
	if (!co->err && json_array_append(co->list, obj))
		co->err = -ENOMEM;
	if (!co->err && co->top == TRIB_A_EVENT)
		co->err = add_sock(nlmsg_hdr(msg), obj);
	json_decref(obj);
	if (co->err)
		co->done = true;
	else if (!(nlmsg_hdr(msg)->nlmsg_flags & NLM_F_MULTI))
		co->done = true;
	return NL_OK;
}

static int on_end(struct nl_msg *msg, void *arg)
{
	struct collect *co = arg;
	struct nlmsghdr *nlh = nlmsg_hdr(msg);

	if (nlh->nlmsg_type == NLMSG_DONE && nlmsg_datalen(nlh) >= (int)sizeof(int))
		co->err = *(int *)nlmsg_data(nlh);
	co->done = true;
	return NL_OK;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)((char *)e - NLMSG_HDRLEN);
	struct collect *co = arg;

	(void)from;
	co->err = e->error;
	co->done = true;
	client_error_text(nlh, co->text, sizeof(co->text));
	return NL_STOP;
}

static struct nl_cb *callbacks(struct collect *co)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);

	if (!cb)
		return NULL;
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, co);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_end, co);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_end, co);
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, co);
	return cb;
}

static int transact(struct cli *c, struct family *f, struct nl_msg *msg, struct collect *co)
{
	struct nl_cb *cb = callbacks(co);
	int err;

	if (!cb)
		return cli_error(c, "out of memory");
	err = nl_send_auto(f->sk, msg);
	while (err >= 0 && !co->done)
		err = nl_recvmsgs(f->sk, cb);
	nl_cb_put(cb);
	if (co->err)
		return cli_error(c, "%s", co->text[0] ? co->text : strerror(-co->err));
	if (err < 0)
		return cli_error(c, "generic netlink: %s", nl_geterror(err));
	return CLI_OK;
}

struct nl_msg *family_message(struct cli *c, struct family *f, int cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, f->id, 0, flags, (uint8_t)cmd,
			       TRIB_GENL_VERSION))
		return msg;
	nlmsg_free(msg);
	cli_error(c, "out of memory");
	return NULL;
}

int family_request(struct cli *c, struct family *f, struct nl_msg *msg, int top, json_t **out)
{
	struct collect co = {.top = top, .list = json_array()};
	int err = CLI_ERROR;

	if (!co.list)
		cli_error(c, "out of memory");
	else
		err = transact(c, f, msg, &co);
	nlmsg_free(msg);
	if (err || top == TRIB_A_UNSPEC)
		json_decref(co.list);
	else
		*out = co.list;
	return err;
}

int family_listen(struct cli *c, struct family *f)
{
	int group = genl_ctrl_resolve_grp(f->sk, TRIB_GENL_NAME, TRIB_GENL_EVENTS);

	if (group < 0 || nl_socket_add_membership(f->sk, group) < 0)
		return cli_error(c, "the kernel module has no events");
	return CLI_OK;
}

/* Events answer no request. */
static int any_seq(struct nl_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	return NL_OK;
}

int family_event(struct cli *c, struct family *f, int ms, json_t **out, bool *lost)
{
	struct pollfd p = {.fd = nl_socket_get_fd(f->sk), .events = POLLIN};
	struct collect co = {.top = TRIB_A_EVENT, .list = json_array()};
	struct nl_cb *cb = callbacks(&co);
	int err = 0;

	*lost = false;
	if (!co.list || !cb) {
		json_decref(co.list);
		nl_cb_put(cb);
		return cli_error(c, "out of memory");
	}
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, any_seq, NULL);
	if (poll(&p, 1, ms) > 0) {
		err = nl_recvmsgs(f->sk, cb);
		/* libnl's name for ENOBUFS. */
		if (err == -NLE_NOMEM) {
			*lost = true;
			err = 0;
		}
	}
	nl_cb_put(cb);
	if (!err && !co.err) {
		*out = co.list;
		return CLI_OK;
	}
	json_decref(co.list);
	return cli_error(c, "generic netlink: %s", co.err ? strerror(-co.err) : nl_geterror(err));
}

int family_ask(struct cli *c, int cmd, int flags, int top, json_t **out)
{
	struct nl_msg *msg;
	struct family *f;
	int err = family_open(c, &f);

	if (err)
		return err;
	msg = family_message(c, f, cmd, flags);
	err = msg ? family_request(c, f, msg, top, out) : CLI_ERROR;
	family_close(f);
	return err;
}
