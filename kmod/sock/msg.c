// SPDX-License-Identifier: GPL-2.0
/*
 * Messages: sendmsg() copies elements into charged pages, the engine replaces them
 * by the result, recvmsg() copies it out.
 */
#include <linux/uio.h>
#include <net/sock.h>

#include "buffer.h"
#include "io.h"
#include "sock/check/want.h"

#define SEND_FLAGS (MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR | MSG_CMSG_COMPAT)
#define RECV_FLAGS                                                                                 \
	(MSG_DONTWAIT | MSG_PEEK | MSG_TRUNC | MSG_NOSIGNAL | MSG_WAITALL | MSG_CMSG_COMPAT |      \
	 MSG_CMSG_CLOEXEC)

/* --- Queue and conditions --------------------------------------------------- */

struct trib_msg *trib_msg_ready(const struct trib_sock *ts)
{
	struct trib_msg *m;

	if (list_empty(&ts->msgs))
		return NULL;
	m = list_first_entry(&ts->msgs, struct trib_msg, list);
	return m->done ? m : NULL;
}

bool trib_msg_room(const struct trib_sock *ts, u64 bytes)
{
	u64 most = READ_ONCE(ts->mem_max);

	/* Do not wait for a message that can never fit: it is refused. */
	return ts->nmsg < TRIB_SOCK_MESSAGES &&
	       (bytes > most || atomic64_read(&ts->mem) <= most - bytes);
}

static bool is_over(const struct trib_sock *ts)
{
	return ts->state == TRIB_SOCK_LEFT || ts->state == TRIB_SOCK_DEAD;
}

static bool may_send(const struct trib_sock *ts, const void *size)
{
	return is_over(ts) || ts->state == TRIB_SOCK_LEAVING ||
	       (ts->state == TRIB_SOCK_RUNNING && trib_msg_room(ts, *(const u64 *)size));
}

static bool may_receive(const struct trib_sock *ts, const void *arg)
{
	return trib_msg_ready(ts) || is_over(ts) || (ts->inet.sk.sk_shutdown & RCV_SHUTDOWN);
}

/* The errno of sendmsg() in this state; 0 if it may send. */
static int send_error(const struct trib_sock *ts)
{
	switch (ts->state) {
	case TRIB_SOCK_NEW:
		return -ENOTCONN;
	case TRIB_SOCK_LEAVING:
	case TRIB_SOCK_LEFT:
		return -EPIPE;
	case TRIB_SOCK_DEAD:
		return ts->eng.dead;
	}
	return 0;
}

/* A message left the queue: let a waiting sender use its room. Lock held. */
static void forget(struct trib_sock *ts)
{
	ts->nmsg--;
	ts->wake |= TRIB_WAKE_WRITE;
	trib_work_tell(ts);
}

static void take_off(struct trib_sock *ts, struct trib_msg *m)
{
	if (m->req)
		trib_req_free(m->req);
	m->req = NULL;
	list_del(&m->list);
}

void trib_msg_free_all(struct trib_sock *ts)
{
	struct trib_msg *m, *next;

	/* The engine has freed the requests. */
	list_for_each_entry_safe(m, next, &ts->msgs, list)
	{
		list_del(&m->list);
		ts->nmsg--;
		trib_msg_put(m);
	}
	trib_spare_drop(ts);
}

/* --- Sending ----------------------------------------------------------------- */

/* Read the message's type: from its control message, or the socket's default. */
static int read_control(const struct trib_sock *ts, struct msghdr *m, struct trib_cm_send *cm,
			bool *has_id)
{
	struct cmsghdr *c;

	*cm = (struct trib_cm_send){.dtype = READ_ONCE(ts->dtype)};
	*has_id = false;
	if (!m->msg_controllen)
		return 0;
	for_each_cmsghdr(c, m)
	{
		if (!CMSG_OK(m, c))
			return -EINVAL;
		if (c->cmsg_level != SOL_TRIB)
			continue;
		if (c->cmsg_type != TRIB_CM_SEND || *has_id || c->cmsg_len != CMSG_LEN(sizeof(*cm)))
			return -EINVAL;
		memcpy(cm, CMSG_DATA(c), sizeof(*cm));
		*has_id = true;
	}
	return 0;
}

void trib_msg_done(struct trib_req *r)
{
	struct trib_msg *m = r->ctx;
	struct trib_sock *ts;

	/* The barrier of leaving, or a request that issue() completes. */
	if (!m)
		return;
	ts = m->ts;
	m->done = true;
	m->err = -r->status;
	/* trib_req_done() has just set the error of this request. */
	if (m->err == EDOM || m->err == ERANGE) {
		m->rank = ts->eng.error.rank;
		m->index = ts->eng.error.index;
	}
	ts->undone--;
	ts->undone_bytes -= m->in_bytes;
	ts->wake |= TRIB_WAKE_READ;
}

/* Hand a message to the engine. Lock held. */
static int issue(struct trib_sock *ts, struct trib_msg *m, const struct trib_cm_send *cm,
		 const struct trib_want *w)
{
	struct trib_call call = {
		.collective = cm->collective,
		.op = cm->op,
		.dtype = cm->dtype,
		.src = m->buf,
		.dst = m->buf,
		.count = w->count,
		.root = cm->root,
	};
	struct trib_req *r;
	int rc = send_error(ts);

	if (rc)
		return rc;
	ts->eng.now = ktime_get_ns();
	rc = trib_call_issue(&ts->eng, &call, &r);
	if (rc)
		return rc;
	m->req = r;
	r->ctx = m;
	ts->next_id++;
	ts->undone++;
	ts->undone_bytes += m->in_bytes;
	list_add_tail(&m->list, &ts->msgs);
	if (r->done)
		trib_msg_done(r);
	return 0;
}

/* Reserve @size bytes and a place in the queue for this caller. Lock held. */
static int reserve(struct trib_sock *ts, u64 size, bool dontwait)
{
	int rc;

	do {
		/* The limit may have been lowered while we waited. */
		if (size > READ_ONCE(ts->mem_max) || size > INT_MAX)
			return -EMSGSIZE;
		rc = trib_work_wait(ts, may_send, &size, sock_sndtimeo(trib_sock_sk(ts), dontwait));
		/* POLLOUT is raised once this size fits. */
		if (rc == -EAGAIN)
			ts->want = size;
		if (!rc)
			rc = send_error(ts);
		if (rc)
			return rc;
		rc = trib_mem_charge(ts, size);
		if ((rc == -ENOBUFS || rc == -EDQUOT) && trib_spare_drop(ts))
			rc = trib_mem_charge(ts, size);
		/* Another sender took the room, or the limit was lowered. */
	} while (rc == -EAGAIN && !dontwait);
	if (rc)
		return rc;
	ts->want = 0;
	ts->nmsg++;
	return 0;
}

int trib_sock_sendmsg(struct socket *sock, struct msghdr *m, size_t len)
{
	struct trib_sock *ts = trib_sk(sock->sk);
	struct trib_cm_send cm;
	struct trib_msg *msg;
	struct trib_want w;
	void *buf = NULL;
	bool has_id;
	int rc;

	if (m->msg_flags & ~SEND_FLAGS)
		return -EOPNOTSUPP;
	if (m->msg_name)
		return -EISCONN;
	rc = read_control(ts, m, &cm, &has_id);
	if (rc)
		return rc;
	mutex_lock(&ts->lock);
	rc = send_error(ts);
	if (!rc)
		rc = trib_want_of(&w, &cm, len, ts->place->world, ts->place->rank);
	if (!rc)
		rc = reserve(ts, w.size, m->msg_flags & MSG_DONTWAIT);
	if (!rc)
		buf = trib_spare_take(ts, &w, len);
	mutex_unlock(&ts->lock);
	if (rc)
		return rc;
	/* Without the lock: faults on the user's pages can take long. */
	msg = trib_msg_make(ts, &w, buf, &m->msg_iter, len);
	mutex_lock(&ts->lock);
	rc = PTR_ERR_OR_ZERO(msg);
	if (!rc) {
		msg->id = has_id ? cm.id : ts->next_id;
		rc = issue(ts, msg, &cm, &w);
	}
	if (rc)
		forget(ts);
	else
		trib_work_turn(ts);
	mutex_unlock(&ts->lock);
	if (IS_ERR(msg))
		trib_mem_uncharge(ts, w.size);
	else if (rc)
		trib_msg_put(msg);
	return rc ? rc : len;
}

/* --- Receiving --------------------------------------------------------------- */

/* Wait for the next result. Lock held. */
static int next(struct trib_sock *ts, int flags, struct trib_msg **out)
{
	struct trib_msg *m;
	int rc;

	if (ts->state == TRIB_SOCK_NEW)
		return -ENOTCONN;
	rc = trib_work_wait(ts, may_receive, NULL,
			    sock_rcvtimeo(trib_sock_sk(ts), flags & MSG_DONTWAIT));
	if (rc)
		return rc;
	m = trib_msg_ready(ts);
	if (!m)
		return ts->state == TRIB_SOCK_DEAD ? ts->eng.dead : 0;
	if (flags & MSG_PEEK)
		refcount_inc(&m->refs);
	else
		take_off(ts, m);
	*out = m;
	return 0;
}

/* Copy a result. Return: bytes, or the error of the message or the copy. */
static int give(struct trib_msg *m, struct msghdr *to, size_t len)
{
	struct trib_cm_recv cm = {
		.id = m->id,
		.bytes = trib_msg_bytes(m),
		.err = m->err,
		.rank = m->rank,
		.index = m->index,
	};
	size_t n = min_t(size_t, cm.bytes, len);

	if (m->err && to->msg_controllen < CMSG_LEN(sizeof(cm)))
		return -m->err;
	if (n < cm.bytes)
		to->msg_flags |= MSG_TRUNC;
	if (n && copy_to_iter(m->buf, n, &to->msg_iter) != n)
		return -EFAULT;
	put_cmsg(to, SOL_TRIB, TRIB_CM_RECV, sizeof(cm), &cm);
	return n;
}

int trib_sock_recvmsg(struct socket *sock, struct msghdr *to, size_t len, int flags)
{
	struct trib_sock *ts = trib_sk(sock->sk);
	struct trib_msg *m = NULL;
	bool again = false;
	int rc;

	if (flags & MSG_ERRQUEUE)
		return -EAGAIN;
	if (flags & ~RECV_FLAGS)
		return -EOPNOTSUPP;
	to->msg_namelen = 0;
	mutex_lock(&ts->lock);
	rc = next(ts, flags, &m);
	mutex_unlock(&ts->lock);
	if (!m)
		return rc;
	rc = give(m, to, len);
	if (rc >= 0 && (flags & MSG_TRUNC))
		rc = trib_msg_bytes(m);
	if (flags & MSG_PEEK) {
		trib_msg_put(m);
		return rc;
	}
	mutex_lock(&ts->lock);
	/* A result that could not be copied goes back to the queue. */
	again = rc == -EFAULT;
	if (again) {
		list_add(&m->list, &ts->msgs);
	} else {
		trib_spare_keep(ts, m);
		trib_msg_put(m);
		forget(ts);
	}
	mutex_unlock(&ts->lock);
	return rc;
}
