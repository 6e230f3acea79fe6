// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests to tribd over NETLINK_USERSOCK. Any process may take tribd's port
 * id while it is down, so every datagram must carry the credentials of uid 0.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "base/clock.h"
#include "uapi/trib.h"
#include "client.h"

/* Tries for a dump whose set of objects keeps changing. */
#define DUMP_TRIES 10
/* Limit of an answer's memory, far above any real one. */
#define ANSWER_MAX (64u << 20)

struct client {
	struct nl_sock *sk;
	int timeout_ms;
	pid_t pid;
	uid_t uid;
	char text[512];
	/* The answer so far: messages one after the other, as received. */
	unsigned char *buf;
	size_t len, size;
};

static int fail(struct client *c, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct client *c, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->text, sizeof(c->text), fmt, ap);
	va_end(ap);
	return err;
}

int client_open(struct client **out)
{
	struct client *c = calloc(1, sizeof(*c));
	int err = -ENOMEM;

	if (!c)
		return err;
	c->timeout_ms = 5000;
	c->uid = (uid_t)-1;
	c->sk = nl_socket_alloc();
	if (!c->sk)
		goto out_free;
	/* Each request sets NLM_F_ACK itself. */
	nl_socket_disable_auto_ack(c->sk);
	errno = 0;
	if (nl_connect(c->sk, NETLINK_USERSOCK) < 0) {
		err = errno ? -errno : -EPROTO;
		goto out_sock;
	}
	errno = 0;
	if (nl_socket_set_passcred(c->sk, 1) < 0) {
		err = errno ? -errno : -EPROTO;
		goto out_sock;
	}
	nl_socket_set_peer_port(c->sk, TRIB_NL_PORT);
	/* Room for long dumps, as much as the system allows. */
	nl_socket_set_buffer_size(c->sk, 1 << 20, 0);
	*out = c;
	return 0;

out_sock:
	nl_socket_free(c->sk);
out_free:
	free(c);
	return err;
}

void client_close(struct client *c)
{
	if (!c)
		return;
	nl_socket_free(c->sk);
	free(c->buf);
	free(c);
}

void client_timeout(struct client *c, int ms)
{
	c->timeout_ms = ms;
}

const char *client_text(const struct client *c)
{
	return c->text;
}

void client_peer(const struct client *c, pid_t *pid, uid_t *uid)
{
	*pid = c->pid;
	*uid = c->uid;
}

struct nl_msg *client_message(int cmd, int flags)
{
	struct genlmsghdr genl = {
		.cmd = cmd,
		.version = TRIB_GENL_VERSION,
	};
	struct nl_msg *msg = nlmsg_alloc_size(TRIB_NL_MSG_MAX);

	if (!msg)
		return NULL;
	if (!nlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, TRIB_NL_TYPE, 0, NLM_F_REQUEST | flags) ||
	    nlmsg_append(msg, &genl, sizeof(genl), NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

static int keep(struct client *c, const struct nlmsghdr *nlh)
{
	size_t need = c->len + NLMSG_ALIGN(nlh->nlmsg_len);
	unsigned char *buf;

	if (need > ANSWER_MAX)
		return fail(c, -EMSGSIZE, "tribd's answer is too long");
	if (need > c->size) {
		size_t size = need * 2;

		buf = realloc(c->buf, size);
		if (!buf)
			return fail(c, -ENOMEM, "out of memory");
		c->buf = buf;
		c->size = size;
	}
	memset(c->buf + c->len, 0, need - c->len);
	memcpy(c->buf + c->len, nlh, nlh->nlmsg_len);
	c->len = need;
	return 0;
}

void client_error_text(const struct nlmsghdr *nlh, char *text, size_t size)
{
	const struct nlmsgerr *e = nlmsg_data(nlh);
	size_t len = nlmsg_datalen(nlh), at = sizeof(*e);
	struct nlattr *nla;
	int rem;

	text[0] = '\0';
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	/*
	 * The whole request precedes the attributes unless the answer is
	 * capped.
	 */
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED)) {
		if (e->msg.nlmsg_len < sizeof(e->msg))
			return;
		at += NLMSG_ALIGN(e->msg.nlmsg_len) - sizeof(e->msg);
	}
	if (at >= len)
		return;
	nla_for_each_attr(nla, (struct nlattr *)((char *)e + at), len - at, rem) {
		if (nla_type(nla) != NLMSGERR_ATTR_MSG)
			continue;
		snprintf(text, size, "%.*s", nla_len(nla), (const char *)nla_data(nla));
		return;
	}
}

static int error_message(struct client *c, const struct nlmsghdr *nlh)
{
	char text[sizeof(c->text)];
	int err;

	if (nlmsg_datalen(nlh) < (int)sizeof(struct nlmsgerr))
		return fail(c, -EPROTO, "tribd's answer is cut short");
	err = ((struct nlmsgerr *)nlmsg_data(nlh))->error;
	if (!err)
		return 0;
	if (err > 0 || err < -4095)
		return fail(c, -EPROTO, "tribd's answer holds error %d", err);
	client_error_text(nlh, text, sizeof(text));
	return fail(c, err, "%s", text[0] ? text : strerror(-err));
}

enum answer { MORE, COMPLETE, CHANGED };

/* Take one message with our sequence number. Returns enum answer or -errno. */
static int take(struct client *c, const struct nlmsghdr *nlh, bool dump, bool *intr)
{
	int err;

	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		*intr = true;
	switch (nlh->nlmsg_type) {
	case NLMSG_ERROR:
		err = error_message(c, nlh);
		return err ? err : COMPLETE;
	case NLMSG_DONE:
		if (nlmsg_datalen(nlh) >= (int)sizeof(int)) {
			err = *(int *)nlmsg_data(nlh);
			if (err < 0)
				return fail(c, err, "%s", strerror(-err));
		}
		return *intr ? CHANGED : COMPLETE;
	case NLMSG_NOOP:
		return MORE;
	case TRIB_NL_TYPE:
		if (nlmsg_datalen(nlh) < (int)sizeof(struct genlmsghdr))
			return fail(c, -EPROTO, "tribd's answer is cut short");
		err = keep(c, nlh);
		if (err)
			return err;
		return dump ? MORE : COMPLETE;
	default:
		return fail(c, -EPROTO, "tribd's answer has type %u", nlh->nlmsg_type);
	}
}

static int datagram(struct client *c, unsigned char *buf, int len, uint32_t seq, bool dump,
		    bool *intr)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)buf;
	int ret = MORE;

	for (; nlmsg_ok(nlh, len); nlh = nlmsg_next(nlh, &len)) {
		/* Skip answers to an earlier request that timed out. */
		if (nlh->nlmsg_seq != seq)
			continue;
		ret = take(c, nlh, dump, intr);
		if (ret != MORE)
			return ret;
	}
	if (len > 0)
		return fail(c, -EPROTO, "tribd's answer is cut short");
	return ret;
}

/* Wait for the next datagram from tribd's port; skip those of others. */
static int receive(struct client *c, int64_t deadline, unsigned char **buf)
{
	struct pollfd p = {.fd = nl_socket_get_fd(c->sk), .events = POLLIN};
	struct sockaddr_nl from;
	struct ucred *creds;
	int64_t left;
	uid_t uid;
	int n;

	for (;;) {
		left = deadline - (int64_t)clock_ms();
		n = left > 0 ? poll(&p, 1, left) : 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(c, -errno, "poll: %s", strerror(errno));
		if (n == 0)
			return fail(c, -ETIMEDOUT, "tribd did not answer within %d ms",
				    c->timeout_ms);
		creds = NULL;
		*buf = NULL;
		errno = 0;
		n = nl_recv(c->sk, &from, buf, &creds);
		if (n <= 0) {
			if (errno == ENOBUFS)
				return fail(c, -ENOBUFS, "tribd's answer was lost");
			return fail(c, errno ? -errno : -EPROTO, "receive: %s", nl_geterror(n));
		}
		uid = creds ? creds->uid : (uid_t)-1;
		if (from.nl_pid == TRIB_NL_PORT)
			break;
		free(creds);
		free(*buf);
	}
	c->uid = uid;
	c->pid = creds ? creds->pid : 0;
	free(creds);
	if (uid != 0) {
		free(*buf);
		*buf = NULL;
		return fail(
			c, -EPERM,
			"what answers at tribd's address runs as uid %d, not as root: not trusted",
			(int)uid);
	}
	return n;
}

static int transact(struct client *c, struct nl_msg *msg)
{
	struct nlmsghdr *req = nlmsg_hdr(msg);
	bool dump = req->nlmsg_flags & NLM_F_DUMP, intr = false;
	unsigned char *buf;
	int ret;

	c->len = 0;
	req->nlmsg_seq = 0;
	nl_complete_msg(c->sk, msg);
	errno = 0;
	if (nl_send(c->sk, msg) < 0) {
		if (errno == ECONNREFUSED)
			return fail(
				c, -ECONNREFUSED,
				"no tribd answers in this network namespace: start one, see tribd(8)");
		return fail(c, errno ? -errno : -EPROTO, "cannot send to tribd: %s",
			    strerror(errno ? errno : EPROTO));
	}
	do {
		ret = receive(c, (int64_t)clock_ms() + c->timeout_ms, &buf);
		if (ret < 0)
			return ret;
		ret = datagram(c, buf, ret, req->nlmsg_seq, dump, &intr);
		free(buf);
	} while (ret == MORE);
	return ret;
}

int client_request(struct client *c, struct nl_msg *msg, client_fn fn, void *arg)
{
	bool dump = nlmsg_hdr(msg)->nlmsg_flags & NLM_F_DUMP;
	struct nlmsghdr *nlh;
	int ret, rem, tries = 0;

	c->text[0] = '\0';
	do {
		ret = transact(c, msg);
	} while (dump && (ret == CHANGED || ret == -ENOBUFS) && ++tries < DUMP_TRIES);
	if (ret == CHANGED)
		return fail(c, -EAGAIN, "the list kept changing while it was read: try again");
	if (ret < 0)
		return ret;
	if (!fn)
		return 0;
	nlh = (struct nlmsghdr *)c->buf;
	rem = c->len;
	for (; rem > 0 && nlmsg_ok(nlh, rem); nlh = nlmsg_next(nlh, &rem)) {
		ret = fn(nlh, arg);
		if (ret < 0)
			return fail(c, ret, "tribd's answer makes no sense: %s", strerror(-ret));
	}
	return 0;
}
