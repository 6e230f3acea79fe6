// SPDX-License-Identifier: GPL-2.0
/* bind(): checks the caller and the place, and starts an engine that joins. */
#include <linux/memcontrol.h>
#include <linux/random.h>
#include <linux/spinlock.h>

#include "fp/codec.h"
#include "io.h"
#include "sock/check/limit.h"
#include "sock/check/place.h"

static const struct trib_transport_ops transport = {
	.send = trib_io_send,
};

static const struct trib_transport_ops transport_cells = {
	.send = trib_io_send,
	.cells = trib_cells_of,
};

static const struct trib_host_ops host = {
	.done = trib_msg_done,
	.died = trib_state_died,
	.room = trib_mem_room,
};

/*
 * Draw the nonce of an attempt to join: see trib_nonce(). This module is the
 * instance. A rank draws after its predecessor has left, so its nonce is larger.
 */
static u64 next_nonce(void)
{
	static DEFINE_SPINLOCK(lock);
	static u32 instance, count;
	u64 nonce;

	spin_lock(&lock);
	if (!instance || !++count) {
		instance = get_random_u32() | 1;
		count = 0;
	}
	nonce = trib_nonce(instance, count);
	spin_unlock(&lock);
	return nonce;
}

static int refuse(struct trib_sock *ts, int err, const char *why)
{
	ts->error.code = TRIB_SOCK_ERR_ARGUMENT;
	ts->error.err = -err;
	strscpy(ts->error.text, why, sizeof(ts->error.text));
	return err;
}

static int check(struct trib_sock *ts, const struct sockaddr_trib *a, int len)
{
	const struct trib_attach_rep *rep = ts->place;

	if (len < sizeof(*a) || a->family != AF_INET || a->zero)
		return refuse(ts, -EINVAL,
			      "bind() needs a struct sockaddr_trib with family AF_INET and zero 0");
	if (ts->state != TRIB_SOCK_NEW)
		return -EINVAL;
	if (!rep)
		return refuse(ts, -EINVAL,
			      "the socket has no place: set TRIB_SO_PLACE before bind()");
	if (rep->flags & TRIB_ATTACH_MAPPED && !ts->handed)
		return refuse(
			ts, -EINVAL,
			"the place is for mapped delivery: hand over its cells by TRIB_SO_CELLS");
	if (ntohs(a->job) != rep->job || ntohs(a->rank) != rep->rank ||
	    memcmp(a->secret, rep->up.b, sizeof(a->secret)))
		return refuse(ts, -EINVAL,
			      "job, rank or secret of the address differ from the place's");
	if (!trib_claim_allows(sock_net(trib_sock_sk(ts)), rep->job))
		return refuse(ts, -EACCES,
			      "the job is claimed for another user; CAP_NET_ADMIN may bind");
	return 0;
}

static int begin(struct trib_sock *ts)
{
	struct trib_engine *eng = &ts->eng;
	int rc;

	memset(eng, 0, sizeof(*eng));
	eng->max_window = ts->window;
	eng->timeout_ns = ts->timeout_ms * TRIB_MS;
	eng->join_timeout_ns = ts->join_timeout_ms * TRIB_MS;
	eng->error.rank = -1;
	eng->error.index = -1;
	eng->now = ktime_get_ns();
	/* Each tree is charged when it starts. */
	rc = trib_mem_room(eng, sizeof(*ts->place) + trib_io_bytes(ts->place->ntree));
	if (rc)
		trib_fault(eng, TRIB_SOCK_ERR_SYSTEM, rc, "%s", trib_limit_text(rc));
	if (!rc)
		rc = trib_engine_init(eng, ts->handed ? &transport_cells : &transport, &host,
				      trib_codec_kernel(), ts->place);
	if (!rc)
		rc = trib_io_open(ts);
	if (rc) {
		ts->error = eng->error;
		trib_engine_free(eng);
		trib_mem_uncharge_all(ts, ts->fixed);
		ts->fixed = 0;
		return rc;
	}
	trib_join_start(eng, next_nonce());
	return 0;
}

int trib_sock_bind(struct socket *sock, struct sockaddr *addr, int len)
{
	const struct sockaddr_trib *a = (const struct sockaddr_trib *)addr;
	struct trib_sock *ts = trib_sk(sock->sk);
	int rc;

	mutex_lock(&ts->lock);
	rc = check(ts, a, len);
	if (rc)
		goto unlock;
	/* Lists that find it before begin() see an unbound socket. */
	rc = trib_netns_add(ts, ts->place->job, ts->place->rank);
	if (rc) {
		refuse(ts, rc, "another socket of this network namespace is that rank");
		goto unlock;
	}
	rc = begin(ts);
	if (rc) {
		trib_netns_remove(ts);
		goto unlock;
	}
	ts->memcg = get_mem_cgroup_from_mm(current->mm);
	WRITE_ONCE(ts->state, TRIB_SOCK_JOINING);
	trib_work_turn(ts);
unlock:
	mutex_unlock(&ts->lock);
	return rc;
}

void trib_sock_unbind(struct trib_sock *ts)
{
	if (ts->state == TRIB_SOCK_NEW)
		return;
	ts->eng.now = ktime_get_ns();
	if (ts->state != TRIB_SOCK_LEFT)
		trib_leave_end(&ts->eng);
	WRITE_ONCE(ts->state, TRIB_SOCK_NEW);
	trib_netns_remove(ts);
	trib_io_close(ts);
	trib_engine_free(&ts->eng);
	trib_mem_uncharge_all(ts, ts->fixed);
	trib_msg_free_all(ts);
}
