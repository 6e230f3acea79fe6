// SPDX-License-Identifier: BSD-2-Clause
/*
 * Collectives by a collective socket: a request is one message, sent as soon as
 * the kernel has room for it; its result is received straight into @dst.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "ksock.h"

/*
 * A full kernel is asked again after this time, if no result makes room before.
 */
#define RETRY_NS (5 * TRIB_MS)

union control {
	struct cmsghdr align;
	char send[CMSG_SPACE(sizeof(struct trib_cm_send))];
	char recv[CMSG_SPACE(sizeof(struct trib_cm_recv))];
};

/* The input: this rank's elements. */
static struct iovec input(const struct trib *t, const struct trib_call *c)
{
	uint64_t n = c->count;
	const char *from = c->src;

	switch (c->collective) {
	case TRIB_COLL_REDUCE_SCATTER:
		n *= t->eng.world;
		break;
	case TRIB_COLL_ALLGATHER: /* they are in their place in the result */
		from = (const char *)c->dst + 4 * n * t->eng.rank;
		break;
	case TRIB_COLL_BROADCAST:
		from = c->dst;
		break;
	}
	return (struct iovec){(void *)from, 4 * n};
}

static struct iovec output(const struct trib *t, const struct trib_call *c)
{
	uint64_t n = c->count;

	if (c->collective == TRIB_COLL_ALLGATHER)
		n *= t->eng.world;
	return (struct iovec){c->dst, 4 * n};
}

static int send_one(const struct trib *t, const struct ksock_msg *m)
{
	struct trib_cm_send what = {
		.id = m->id,
		.collective = (uint8_t)m->call.collective,
		.op = (uint8_t)m->call.op,
		.dtype = (uint8_t)m->call.dtype,
		.root = m->call.root,
	};
	struct iovec iov = input(t, &m->call);
	union control control = {0};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.send,
		.msg_controllen = sizeof(control.send),
	};
	struct cmsghdr *cm = CMSG_FIRSTHDR(&msg);
	ssize_t n;

	cm->cmsg_level = SOL_TRIB;
	cm->cmsg_type = TRIB_CM_SEND;
	cm->cmsg_len = CMSG_LEN(sizeof(what));
	memcpy(CMSG_DATA(cm), &what, sizeof(what));
	n = sendmsg(t->ksock->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	return (size_t)n == iov.iov_len ? 0 : -EPROTO;
}

static void too_large(struct trib *t, const struct ksock_msg *m)
{
	struct iovec in = input(t, &m->call), out = output(t, &m->call);
	size_t most = in.iov_len > out.iov_len ? in.iov_len : out.iov_len;

	trib_die_rank(
		&t->eng, TRIB_ERR_ARGUMENT, -EMSGSIZE, (int)t->eng.rank,
		"a message of %zu bytes is too large for the kernel: raise module parameter mem_max",
		most);
}

void trib_ksock_send(struct trib *t)
{
	struct trib_ksock *k = t->ksock;
	struct ksock_msg *m;
	int rc = 0;

	k->retry_ns = 0;
	while (!t->eng.dead && (m = k->unsent)) {
		rc = send_one(t, m);
		if (rc)
			break;
		m->sent = true;
		k->unsent = m->next;
	}
	if (!rc)
		return;
	if (rc == -EAGAIN)
		k->retry_ns = t->eng.now + RETRY_NS;
	else if (rc == -EMSGSIZE)
		too_large(t, m);
	else if (rc == -EDQUOT || rc == -ENOBUFS)
		trib_die_rank(
			&t->eng, TRIB_ERR_SYSTEM, rc, (int)t->eng.rank,
			"collective sockets%s use all memory that they may: raise module parameter %s",
			rc == -EDQUOT ? " of this user" : "",
			rc == -EDQUOT ? "mem_user" : "mem_total");
	else
		trib_ksock_die(t, rc, "sending failed");
}

int trib_ksock_issue(struct trib *t, const struct trib_call *call, struct trib_req **out)
{
	struct trib_ksock *k = t->ksock;
	struct ksock_msg *m;
	struct trib_req *r;
	int rc = trib_call_check(&t->eng, call);

	if (rc)
		return rc;
	m = calloc(1, sizeof(*m));
	r = m ? trib_req_own(&t->eng) : NULL;
	if (!r) {
		free(m);
		return trib_fail(t, TRIB_ERR_SYSTEM, -ENOMEM, "out of memory");
	}
	m->req = r;
	m->call = *call;
	m->id = k->next_id++;
	*k->tail = m;
	k->tail = &m->next;
	if (!k->unsent) {
		k->unsent = m;
		trib_ksock_send(t);
	}
	*out = r;
	return 0;
}

/* --- results */

/* Read the label of a result. Return: whether there is one. */
static bool label(struct msghdr *msg, struct trib_cm_recv *out)
{
	struct cmsghdr *cm;

	for (cm = CMSG_FIRSTHDR(msg); cm; cm = CMSG_NXTHDR(msg, cm))
		if (cm->cmsg_level == SOL_TRIB && cm->cmsg_type == TRIB_CM_RECV &&
		    cm->cmsg_len == CMSG_LEN(sizeof(*out))) {
			memcpy(out, CMSG_DATA(cm), sizeof(*out));
			return true;
		}
	return false;
}

/* Note in the request which element failed. Return: its status. */
static int status_of(struct trib_req *r, const struct trib_cm_recv *cm)
{
	if (cm->err == EDOM)
		r->bad = trib_exp_bad((uint32_t)cm->rank, (uint64_t)cm->index);
	if (cm->err == ERANGE)
		r->over = (uint64_t)cm->index + 1;
	return -cm->err;
}

/* A message that failed has no result, except one that overflowed. */
static bool label_ok(const struct trib_cm_recv *cm, size_t bytes, size_t want)
{
	switch (cm->err) {
	case 0:
		return bytes == want;
	case ERANGE:
		return bytes == want && cm->index >= 0;
	case EDOM:
		return !bytes && cm->rank >= 0 && cm->index >= 0;
	default:
		return !bytes && cm->err > 0;
	}
}

static void done(struct trib_ksock *k, int status)
{
	struct ksock_msg *m = k->head;

	k->head = m->next;
	if (!k->head)
		k->tail = &k->head;
	trib_req_done(m->req, status);
	free(m);
}

/* Return: 1 if a result was taken; 0 if there is none, or the handle is dead. */
static int take_one(struct trib *t)
{
	struct trib_ksock *k = t->ksock;
	struct ksock_msg *m = k->head && k->head->sent ? k->head : NULL;
	struct iovec iov = m ? output(t, &m->call) : (struct iovec){0};
	union control control = {0};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.recv,
		.msg_controllen = sizeof(control.recv),
	};
	struct trib_cm_recv cm;
	ssize_t n = recvmsg(k->fd, &msg, MSG_DONTWAIT);

	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			trib_ksock_die(t, -errno, "cannot receive from the collective socket");
		return 0;
	}
	if (!m || msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || !label(&msg, &cm) || cm.id != m->id ||
	    !label_ok(&cm, (size_t)n, iov.iov_len)) {
		trib_ksock_die(
			t, -EPROTO,
			"the kernel returned a result that no message of this handle asked for");
		return 0;
	}
	if (cm.err && cm.err != EDOM && cm.err != ERANGE) {
		trib_ksock_die(t, -cm.err, "a message failed");
		return 0;
	}
	done(k, status_of(m->req, &cm));
	return 1;
}

int trib_ksock_results(struct trib *t)
{
	int n = 0;

	while (n < TRIB_TUNE_RECV_BATCH && !t->eng.dead && take_one(t))
		n++;
	return n;
}

void trib_ksock_drop(struct trib_ksock *k)
{
	struct ksock_msg *m;

	while ((m = k->head)) {
		k->head = m->next;
		free(m);
	}
}
