// SPDX-License-Identifier: BSD-2-Clause
/* Requests to the kernel by netlink: see kernel_ask.h. */
#include <errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "kernel_ask.h"

struct ask {
	int (*fn)(struct nlmsghdr *nlh, void *arg);
	void *arg;
	int result; /* of @fn: non-zero ends the calls */
	int error;  /* of the kernel */
};

static int ask_valid(struct nl_msg *msg, void *arg)
{
	struct ask *a = arg;

	if (a->fn && !a->result)
		a->result = a->fn(nlmsg_hdr(msg), a->arg);
	return NL_OK;
}

static int ask_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct ask *a = arg;

	(void)from;
	a->error = e->error;
	return NL_STOP;
}

int kernel_ask(struct nl_sock *sk, struct nl_msg *m, int (*fn)(struct nlmsghdr *nlh, void *arg),
	       void *arg)
{
	struct ask a = {.fn = fn, .arg = arg};
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int err;

	if (!m || !cb) {
		err = -ENOMEM;
		goto out;
	}
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, ask_valid, &a);
	nl_cb_err(cb, NL_CB_CUSTOM, ask_error, &a);
	err = nl_send_auto(sk, m);
	if (err < 0) {
		err = -EIO;
		goto out;
	}
	/*
	 * Receive one answer, a dump with its end, or an error (0 is an
	 * acknowledgement).
	 */
	err = nl_recvmsgs(sk, cb);
	if (a.error)
		err = a.error;
	else if (err < 0 && err != -NLE_DUMP_INTR)
		err = -EIO;
	else
		err = a.result; /* changes during a dump also come as news */
out:
	nl_cb_put(cb);
	nlmsg_free(m);
	return err;
}
