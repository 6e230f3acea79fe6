// SPDX-License-Identifier: BSD-2-Clause
/*
 * The netlink server, NETLINK_USERSOCK at TRIB_NL_PORT: reads requests, checks
 * their sender, dispatches and answers them. Requests wait in a queue of their
 * user (nl_queue.c), answers that a client has not read in the client's
 * (nl_client.c): neither delays others.
 *
 * Only a process with CAP_NET_ADMIN over this network namespace may change anything
 * (core/admin.c). It is looked up when its request is served, so it must wait for the
 * answer.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "daemon/core/admin.h"
#include "nl.h"
#include "nl_client.h"
#include "nl_queue.h"

/* Datagrams read in one turn of the loop: reading only puts them into queues. */
#define DATAGRAMS_PER_TURN 32
/* More datagrams than the kernel's queue holds. */
#define DATAGRAMS_KEPT 8192
/* Requests wait in the kernel while tribd does other work. */
#define RCVBUF (1024 * 1024)

struct netlink {
	struct watch watch;
	struct nl_clients clients;
	struct nl_queue queue;
	/* One request; a longer one is refused. */
	char buf[TRIB_NL_MSG_MAX] __attribute__((aligned(8)));
};

const struct nl_command nl_command[TRIB_CMD__MAX] = {
	[TRIB_CMD_STATUS_GET] = {0, false, nl_status_get, NULL, NULL},
	[TRIB_CMD_FACE_NEW] = {TRIB_A_FACE, true, nl_face_new, NULL, NULL},
	[TRIB_CMD_FACE_DEL] = {TRIB_A_FACE, true, nl_face_del, NULL, NULL},
	[TRIB_CMD_FACE_GET] = {TRIB_A_FACE, false, nl_face_get, NULL, nl_face_next},
	[TRIB_CMD_JOB_NEW] = {TRIB_A_JOB, true, nl_job_new, NULL, NULL},
	[TRIB_CMD_JOB_DEL] = {TRIB_A_JOB, true, nl_job_del, NULL, NULL},
	[TRIB_CMD_JOB_GET] = {TRIB_A_JOB, false, nl_job_get, nl_job_start, nl_job_next},
	[TRIB_CMD_TREE_NEW] = {TRIB_A_TREE, true, nl_tree_new, NULL, NULL},
	[TRIB_CMD_TREE_DEL] = {TRIB_A_TREE, true, nl_tree_del, NULL, NULL},
	[TRIB_CMD_TREE_GET] = {TRIB_A_TREE, false, nl_tree_get, nl_tree_start, nl_tree_next},
	[TRIB_CMD_GROUP_GET] = {TRIB_A_GROUP, false, nl_group_get, NULL, nl_group_next},
	[TRIB_CMD_STATS_GET] = {0, false, NULL, NULL, nl_stats_next},
	[TRIB_CMD_STATS_RESET] = {0, true, nl_stats_reset, NULL, NULL},
	[TRIB_CMD_TICKET_GET] = {TRIB_A_JOB, false, nl_ticket_get, NULL, NULL},
	[TRIB_CMD_TREE_WIPE] = {TRIB_A_TREE, true, nl_tree_wipe, NULL, NULL},
	[TRIB_CMD_JOB_SET] = {TRIB_A_JOB, true, nl_job_set, NULL, NULL},
	[TRIB_CMD_TREE_SWITCH] = {TRIB_A_TREE, true, nl_tree_switch, NULL, NULL},
	[TRIB_CMD_FACE_SET] = {TRIB_A_FACE, true, nl_face_set, NULL, NULL},
	[TRIB_CMD_NDN_GET] = {0, false, nl_ndn_get, NULL, NULL},
	[TRIB_CMD_NDN_SET] = {TRIB_A_NDN, true, nl_ndn_set, NULL, NULL},
	[TRIB_CMD_ROUTE_NEW] = {TRIB_A_ROUTE, true, nl_route_new, NULL, NULL},
	[TRIB_CMD_ROUTE_DEL] = {TRIB_A_ROUTE, true, nl_route_del, NULL, NULL},
	[TRIB_CMD_ROUTE_GET] = {TRIB_A_ROUTE, false, nl_route_get, nl_route_start, nl_route_next},
	[TRIB_CMD_PIT_GET] = {TRIB_A_PIT, false, nl_pit_get, nl_pit_start, nl_pit_next},
	[TRIB_CMD_PIT_DEL] = {TRIB_A_PIT, true, nl_pit_del, NULL, NULL},
	[TRIB_CMD_CS_GET] = {TRIB_A_CS, false, NULL, nl_cs_start, nl_cs_next},
	[TRIB_CMD_CS_WIPE] = {TRIB_A_CS, true, nl_cs_wipe, NULL, NULL},
};

/* --- answers */

static struct nl_msg *error_message(uint32_t port, const struct nlmsghdr *req, int err,
				    const struct reason *why)
{
	struct nl_msg *m = nlmsg_alloc_size(1024);
	struct nlmsgerr *e;
	struct nlmsghdr *nlh;

	if (!m)
		return NULL;
	nlh = nlmsg_put(m, port, req->nlmsg_seq, NLMSG_ERROR, sizeof(*e), NLM_F_CAPPED);
	e = nlmsg_data(nlh);
	e->error = err;
	e->msg = *req;
	if (err && why->text[0]) {
		nlh->nlmsg_flags |= NLM_F_ACK_TLVS;
		nla_put_string(m, NLMSGERR_ATTR_MSG, why->text);
	}
	return m;
}

static void answer_error(struct tribd *d, struct nl_client *c, const struct nlmsghdr *req, int err,
			 const struct reason *why)
{
	struct nl_msg *m = error_message(c->port, req, err, why);

	if (!m)
		return;
	nl_client_send(d, c, nlmsg_hdr(m));
	nlmsg_free(m);
}

static struct nl_msg *answer_message(const struct nl_client *c, const struct nlmsghdr *req,
				     int flags)
{
	const struct genlmsghdr *from = nlmsg_data(req);
	struct genlmsghdr genl = {.cmd = from->cmd, .version = TRIB_GENL_VERSION};
	struct nl_msg *m = nlmsg_alloc_size(TRIB_NL_MSG_MAX);

	if (!m)
		return NULL;
	if (!nlmsg_put(m, c->port, req->nlmsg_seq, TRIB_NL_TYPE, 0, flags) ||
	    nlmsg_append(m, &genl, sizeof(genl), NLMSG_ALIGNTO)) {
		nlmsg_free(m);
		return NULL;
	}
	return m;
}

/* --- one request */

bool nl_is_admin(struct nl_request *r)
{
	if (r->admin == NL_ADMIN_UNKNOWN)
		r->admin = admin_by_netlink(r->pid, r->uid, r->port, &r->no_admin) ? NL_ADMIN_NO
										   : NL_ADMIN_YES;
	return r->admin == NL_ADMIN_YES;
}

/* Parse the arguments of the command, the nest that it takes. */
static int arguments(const struct nl_command *cmd, const struct nlmsghdr *req, struct nl_request *r,
		     struct nlattr **ticket)
{
	const struct genlmsghdr *genl = nlmsg_data(req);
	struct nlattr *top[NL_SET_MAX + 1];
	size_t len = req->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN;
	unsigned int i;
	int err;

	err = nl_parse_set(&nl_top, (const char *)genl + GENL_HDRLEN, len, top, &r->why);
	if (err)
		return err;
	for (i = 1; i < TRIB_A__MAX; i++) {
		if (!top[i] || i == cmd->attr)
			continue;
		if (i == TRIB_A_TICKET && genl->cmd == TRIB_CMD_TICKET_GET)
			continue;
		return reason_set(&r->why, -EINVAL, "%s: not an argument of this command",
				  nl_top.attr[i].name);
	}
	*ticket = top[TRIB_A_TICKET];
	memset(r->tb, 0, sizeof(r->tb));
	if (!cmd->attr || !top[cmd->attr])
		return 0;
	r->args = nla_data(top[cmd->attr]);
	r->args_len = nla_len(top[cmd->attr]);
	return nl_parse_nest(nl_top.attr[cmd->attr].nest, top[cmd->attr], r->tb, &r->why);
}

static int start_dump(struct tribd *d, struct nl_client *c, const struct nl_command *cmd,
		      const struct nlmsghdr *req, struct nl_request *r)
{
	struct nl_cursor cursor = {.uid = r->uid};
	int err;

	if (!cmd->dump_next)
		return reason_set(&r->why, -EOPNOTSUPP, "this command cannot be a dump");
	if (cmd->dump_start) {
		err = cmd->dump_start(d, r, &cursor);
		if (err)
			return err;
	}
	err = nl_client_dump(d, c, cmd, &cursor, req, &r->why);
	if (err && cursor.own)
		cursor.own_free(cursor.own);
	return err;
}

/*
 * Run a request. Returns the error for an NLMSG_ERROR, or 1 if the answer was
 * sent.
 */
static int run(struct tribd *d, struct nl_client *c, const struct nlmsghdr *req,
	       struct nl_request *r)
{
	const struct genlmsghdr *genl = nlmsg_data(req);
	const struct nl_command *cmd = &nl_command[0];
	int err;

	if (genl->cmd < TRIB_CMD__MAX)
		cmd = &nl_command[genl->cmd];
	if (!cmd->run && !cmd->dump_next)
		return reason_set(&r->why, -EOPNOTSUPP, "unknown command %u", genl->cmd);
	if (cmd->changes && !nl_is_admin(r))
		return reason_set(&r->why, -EPERM, "only CAP_NET_ADMIN may do this: %s",
				  r->no_admin.text);
	err = arguments(cmd, req, r, &r->ticket);
	if (err)
		return err;
	if (!cmd->changes && (req->nlmsg_flags & NLM_F_DUMP)) {
		err = start_dump(d, c, cmd, req, r);
		return err ? err : 1;
	}
	if (!cmd->run)
		return reason_set(&r->why, -EOPNOTSUPP, "this command must be a dump");
	if (cmd->changes)
		return cmd->run(d, r);
	r->reply = answer_message(c, req, 0);
	if (!r->reply)
		return -ENOMEM;
	err = cmd->run(d, r);
	if (!err)
		nl_client_send(d, c, nlmsg_hdr(r->reply));
	nlmsg_free(r->reply);
	if (err)
		return err;
	return req->nlmsg_flags & NLM_F_ACK ? 0 : 1;
}

static void serve(struct tribd *d, const struct nl_waiting *w)
{
	struct nl_client *c = nl_client_get(&d->nl->clients, w->port, w->uid);
	struct nl_request *r = calloc(1, sizeof(*r));
	const struct nlmsghdr *req = w->msg;
	int err;

	if (!c || !r)
		goto out; /* drop it; the client's timeout reports it */
	r->uid = w->uid;
	r->pid = w->pid;
	r->port = w->port;
	if (req->nlmsg_type != TRIB_NL_TYPE)
		err = reason_set(&r->why, -EOPNOTSUPP, "unknown message type %u", req->nlmsg_type);
	else if (req->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN)
		err = reason_set(&r->why, -EINVAL, "the message is cut short");
	else
		err = run(d, c, req, r);
	if (err <= 0) {
		if (err && !r->why.text[0])
			reason_set(&r->why, err, "%s", strerror(-err));
		answer_error(d, c, req, err, &r->why);
	}
out:
	free(r);
	if (c)
		nl_client_put(d, c);
}

/* Refuse a request without serving it. The answer may get lost. */
static void refuse(struct tribd *d, const struct nlmsghdr *req, uint32_t port, int err,
		   const struct reason *why)
{
	struct sockaddr_nl to = {.nl_family = AF_NETLINK, .nl_pid = port};
	struct nl_msg *m = error_message(port, req, err, why);

	if (!m)
		return;
	(void)sendto(d->nl->watch.fd, nlmsg_hdr(m), nlmsg_hdr(m)->nlmsg_len, MSG_DONTWAIT,
		     (struct sockaddr *)&to, sizeof(to));
	nlmsg_free(m);
}

/* One that came while no tribd ran: its client may have told its user that it failed. */
static void refuse_old(struct tribd *d, const struct nlmsghdr *req, uint32_t port,
		       const struct ucred *cred)
{
	struct reason why;

	(void)cred;
	reason_set(&why, -EAGAIN, "tribd has just started: try again");
	refuse(d, req, port, -EAGAIN, &why);
}

static void request(struct tribd *d, const struct nlmsghdr *req, uint32_t port,
		    const struct ucred *cred)
{
	struct reason why;

	if (!nl_queue_add(d, &d->nl->queue, req, port, cred))
		return;
	reason_set(&why, -EBUSY, "too many requests of user %u wait: read answers, then try again",
		   (unsigned int)cred->uid);
	refuse(d, req, port, -EBUSY, &why);
}

/* --- the socket */

static int creds_of(struct msghdr *h, struct ucred *cred)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS &&
		    c->cmsg_len == CMSG_LEN(sizeof(*cred))) {
			memcpy(cred, CMSG_DATA(c), sizeof(*cred));
			return 0;
		}
	return -EPERM;
}

typedef void take_fn(struct tribd *d, const struct nlmsghdr *req, uint32_t port,
		     const struct ucred *cred);

/* Read one datagram of requests, each for @take; false if there is none. */
static bool receive(struct tribd *d, take_fn *take)
{
	struct netlink *n = d->nl;
	struct sockaddr_nl from = {};
	char control[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec iov = {n->buf, sizeof(n->buf)};
	struct msghdr h = {.msg_name = &from,
			   .msg_namelen = sizeof(from),
			   .msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	ssize_t len = recvmsg(n->watch.fd, &h, MSG_DONTWAIT);
	struct nlmsghdr *nlh = (struct nlmsghdr *)n->buf;
	struct ucred cred;
	int rem;

	if (len < 0)
		return errno == EINTR || errno == ENOBUFS;
	/* Drop messages from the kernel and without credentials. */
	if ((h.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || !from.nl_pid || creds_of(&h, &cred))
		return true;
	rem = (int)len;
	for (; nlmsg_ok(nlh, rem); nlh = nlmsg_next(nlh, &rem))
		/* Others are answers or control messages. */
		if (nlh->nlmsg_flags & NLM_F_REQUEST && nlh->nlmsg_type >= NLMSG_MIN_TYPE)
			take(d, nlh, from.nl_pid, &cred);
	return true;
}

static void readable(struct tribd *d, struct watch *w, uint32_t events)
{
	int turns = DATAGRAMS_PER_TURN;

	(void)w;
	(void)events;
	while (turns-- && receive(d, request))
		;
}

/* Refuse what came while no tribd ran. */
static void refuse_all(struct tribd *d)
{
	int turns = DATAGRAMS_KEPT;

	while (turns-- && receive(d, refuse_old))
		;
}

int netlink_init(struct tribd *d)
{
	struct netlink *n = calloc(1, sizeof(*n));
	int one = 1, size = RCVBUF, err;

	if (!n)
		return -ENOMEM;
	d->nl = n;
	n->watch.fn = readable;
	n->watch.fd = d->sock[HOME_NETLINK];
	nl_clients_init(&n->clients, &n->queue);
	nl_queue_init(&n->queue, &n->clients, serve);
	n->clients.fd = n->watch.fd;
	(void)setsockopt(n->watch.fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (setsockopt(n->watch.fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one))) {
		err = -errno;
		log_error("netlink server: %s", strerror(-err));
		return err;
	}
	if (d->sock_kept[HOME_NETLINK])
		refuse_all(d);
	return 0;
}

int netlink_serve(struct tribd *d)
{
	return loop_add(d, &d->nl->watch, EPOLLIN);
}

void netlink_exit(struct tribd *d)
{
	struct netlink *n = d->nl;

	if (!n)
		return;
	nl_queue_exit(d, &n->queue);
	nl_clients_exit(d, &n->clients);
	loop_del(d, &n->watch);
	free(n);
	d->nl = NULL;
}
