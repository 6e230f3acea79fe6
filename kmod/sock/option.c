// SPDX-License-Identifier: GPL-2.0
/* Options of level SOL_TRIB, and the state that lists show. */
#include <linux/sockptr.h>
#include <linux/uaccess.h>

#include "io.h"
#include "sock/check/place.h"

#define TIMEOUT_MAX 86400000

static int set_place(struct trib_sock *ts, sockptr_t val, unsigned int len)
{
	struct trib_attach_rep *rep, *old = NULL;
	const char *why;
	int rc = 0;

	if (len > sizeof(*rep))
		return -EINVAL;
	/* Allocate the full size, so that no reader passes the end of a short one. */
	rep = kvzalloc(sizeof(*rep), GFP_KERNEL_ACCOUNT);
	if (!rep)
		return -ENOMEM;
	if (copy_from_sockptr(rep, val, len)) {
		kvfree(rep);
		return -EFAULT;
	}
	why = trib_place_wrong(rep, len);
	mutex_lock(&ts->lock);
	if (trib_sock_is_bound(ts)) {
		rc = -EISCONN;
	} else if (why) {
		rc = -EINVAL;
		ts->error.code = TRIB_SOCK_ERR_ARGUMENT;
		ts->error.err = EINVAL;
		strscpy(ts->error.text, why, sizeof(ts->error.text));
	} else {
		trib_cells_drop(ts);
		old = ts->place;
		ts->place = rep;
	}
	mutex_unlock(&ts->lock);
	kvfree(rc ? rep : old);
	return rc;
}

static bool only_before_bind(int name)
{
	return name == TRIB_SO_WINDOW || name == TRIB_SO_TIMEOUT || name == TRIB_SO_JOIN_TIMEOUT;
}

static int set_number(struct trib_sock *ts, int name, u32 v)
{
	if (only_before_bind(name) && trib_sock_is_bound(ts))
		return -EISCONN;
	switch (name) {
	case TRIB_SO_WINDOW:
		if (trib_window_is_wrong(v))
			return -EINVAL;
		ts->window = v;
		return 0;
	case TRIB_SO_DTYPE:
		if (v > TRIB_SOCK_I32)
			return -EINVAL;
		ts->dtype = v;
		return 0;
	case TRIB_SO_TIMEOUT:
		if (v > TIMEOUT_MAX)
			return -EINVAL;
		ts->timeout_ms = v;
		return 0;
	case TRIB_SO_JOIN_TIMEOUT:
		if (v > TIMEOUT_MAX)
			return -EINVAL;
		ts->join_timeout_ms = v;
		return 0;
	case TRIB_SO_MEM:
		if (v > trib_mem_max())
			return -EINVAL;
		WRITE_ONCE(ts->mem_max, v ? v : trib_mem_max());
		ts->wake |= TRIB_WAKE_WRITE;
		trib_work_tell(ts);
		return 0;
	}
	return -ENOPROTOOPT;
}

int trib_sock_setsockopt(struct socket *sock, int level, int name, sockptr_t val, unsigned int len)
{
	struct trib_sock *ts = trib_sk(sock->sk);
	u32 v;
	int rc;

	if (level != SOL_TRIB)
		return -ENOPROTOOPT;
	if (name == TRIB_SO_PLACE)
		return set_place(ts, val, len);
	if (name == TRIB_SO_CELLS)
		return trib_cells_set(ts, val, len);
	if (name < TRIB_SO_PLACE || name > TRIB_SO_MEM)
		return -ENOPROTOOPT;
	if (len < sizeof(v))
		return -EINVAL;
	if (copy_from_sockptr(&v, val, sizeof(v)))
		return -EFAULT;
	mutex_lock(&ts->lock);
	rc = set_number(ts, name, v);
	mutex_unlock(&ts->lock);
	return rc;
}

const struct trib_sock_error *trib_sock_error(const struct trib_sock *ts)
{
	return trib_sock_is_bound(ts) ? &ts->eng.error : &ts->error;
}

void trib_sock_info(struct trib_sock *ts, struct trib_sock_info *info)
{
	const struct trib_engine *eng = &ts->eng;
	struct trib_path path;

	memset(info, 0, sizeof(*info));
	info->state = ts->state;
	info->mem = atomic64_read(&ts->mem);
	info->mem_max = READ_ONCE(ts->mem_max);
	if (!trib_sock_is_bound(ts))
		return;
	trib_engine_path(eng, &path);
	info->job = ts->place->job;
	info->rank = ts->place->rank;
	info->world = ts->place->world;
	info->ntree = ts->place->ntree;
	info->nval = eng->stream[0]->nval;
	info->window = eng->stream[0]->window;
	info->epoch = eng->stream[0]->epoch;
	info->messages = ts->next_id;
	info->chunks = eng->count.chunks;
	info->sent_packets = eng->count.sent_packets;
	info->sent_bytes = eng->count.sent_bytes;
	info->recv_packets = eng->count.recv_packets;
	info->recv_bytes = eng->count.recv_bytes;
	info->resends = eng->count.resends;
	info->fast_resends = eng->count.fast_resends;
	info->needs = eng->count.needs;
	info->dups = eng->count.dups;
	info->bad_packets = eng->count.bad_packets;
	info->rtt_us = path.rtt_us;
	info->rtt_min_us = path.rtt_min_us;
	info->inflight = eng->inflight;
	info->last_count = eng->count.last_count;
	info->carried = eng->count.carried;
}

/* Epochs of all trees, 0 before they run. Return: their length in bytes. */
static int get_epochs(const struct trib_sock *ts, u32 *epoch)
{
	unsigned int i, n = trib_sock_is_bound(ts) ? ts->eng.nstream : 0;

	for (i = 0; i < n; i++)
		epoch[i] = ts->eng.stream[i]->epoch;
	return n * sizeof(*epoch);
}

bool trib_sock_view(struct trib_sock *ts, struct trib_view *v)
{
	bool bound;

	v->inode = sock_i_ino(trib_sock_sk(ts));
	v->uid = trib_sock_sk(ts)->sk_uid;
	mutex_lock(&ts->lock);
	bound = trib_sock_is_bound(ts);
	/* A socket that is not bound may be closed, and its user be gone. */
	v->user_mem = bound ? atomic64_read(&ts->user->used) : 0;
	trib_sock_info(ts, &v->info);
	strscpy(v->error, ts->state == TRIB_SOCK_DEAD ? ts->eng.error.text : "", sizeof(v->error));
	mutex_unlock(&ts->lock);
	return bound;
}

static bool get_number(struct trib_sock *ts, int name, u32 *v)
{
	switch (name) {
	case TRIB_SO_WINDOW:
		*v = ts->window;
		return true;
	case TRIB_SO_DTYPE:
		*v = ts->dtype;
		return true;
	case TRIB_SO_TIMEOUT:
		*v = ts->timeout_ms;
		return true;
	case TRIB_SO_JOIN_TIMEOUT:
		*v = ts->join_timeout_ms;
		return true;
	case TRIB_SO_MEM:
		*v = min_t(u64, ts->mem_max, U32_MAX);
		return true;
	}
	return false;
}

int trib_sock_getsockopt(struct socket *sock, int level, int name, char __user *val,
			 int __user *optlen)
{
	struct trib_sock *ts = trib_sk(sock->sk);
	union {
		u32 v;
		struct trib_sock_info info;
		struct trib_sock_error error;
		u32 epoch[TRIB_ATTACH_TREES];
	} out;
	bool known = true;
	int len, most;

	if (level != SOL_TRIB)
		return -ENOPROTOOPT;
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	mutex_lock(&ts->lock);
	if (name == TRIB_SO_INFO) {
		trib_sock_info(ts, &out.info);
		most = sizeof(out.info);
	} else if (name == TRIB_SO_ERROR) {
		out.error = *trib_sock_error(ts);
		most = sizeof(out.error);
	} else if (name == TRIB_SO_EPOCHS) {
		most = get_epochs(ts, out.epoch);
	} else {
		known = get_number(ts, name, &out.v);
		most = sizeof(out.v);
	}
	mutex_unlock(&ts->lock);
	if (!known)
		return -ENOPROTOOPT;
	len = min(len, most);
	if (put_user(len, optlen) || copy_to_user(val, &out, len))
		return -EFAULT;
	return 0;
}
