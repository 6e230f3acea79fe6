// SPDX-License-Identifier: GPL-2.0
/* TRIB_SO_CELLS: a process hands over cells, which are charged to its socket. */
#include <linux/slab.h>

#include "cells/cells.h"
#include "check/limit.h"
#include "sock.h"

static void kick(void *ctx)
{
	trib_work_kick(ctx);
}

static void drop(struct trib_sock *ts, struct trib_handed *h, u64 bytes)
{
	if (!h)
		return;
	trib_handed_free(h);
	trib_mem_uncharge_all(ts, bytes);
}

void trib_cells_drop(struct trib_sock *ts)
{
	drop(ts, ts->handed, ts->handed_bytes);
	ts->handed = NULL;
	ts->handed_bytes = 0;
}

static bool has_place(const struct trib_sock *ts)
{
	return ts->place && ts->place->flags & TRIB_ATTACH_MAPPED;
}

/* Charge and allocate for the place. */
static int make(struct trib_sock *ts, struct trib_handed **out, u64 *bytes, const char **why)
{
	int rc;

	*bytes = trib_handed_bytes(ts->place);
	rc = *bytes > trib_mem_max() ? -E2BIG : trib_mem_charge_all(ts, *bytes);
	*why = rc ? trib_limit_text(rc) : "out of memory";
	if (rc)
		return rc;
	*out = trib_handed_make(ts->place);
	if (!*out) {
		trib_mem_uncharge_all(ts, *bytes);
		return -ENOMEM;
	}
	(*out)->kick = kick;
	(*out)->ctx = ts;
	return 0;
}

static int begin(struct trib_sock *ts, unsigned int len, struct trib_handed **out, u64 *bytes,
		 const char **why)
{
	if (trib_sock_is_bound(ts))
		return -EISCONN;
	*why = "the socket has no place with mapped delivery: set TRIB_SO_PLACE before TRIB_SO_CELLS";
	if (!has_place(ts))
		return -EINVAL;
	*why = "TRIB_SO_CELLS needs a ring and one descriptor for each tree of the place";
	if (len != offsetof(struct trib_sock_cells, cells[ts->place->ntree]))
		return -EINVAL;
	return make(ts, out, bytes, why);
}

/* Keep @h, unless the socket was bound or got another place meanwhile. */
static int finish(struct trib_sock *ts, struct trib_handed *h, u64 bytes, const char **why)
{
	if (trib_sock_is_bound(ts))
		return -EISCONN;
	*why = "the socket's place changed meanwhile";
	if (!has_place(ts) || ts->place->ncell != h->ncell || ts->place->nval != h->nval ||
	    ts->place->ntree != h->ntree)
		return -EINVAL;
	trib_cells_drop(ts);
	ts->handed = h;
	ts->handed_bytes = bytes;
	return 0;
}

static void note(struct trib_sock *ts, int rc, const char *why)
{
	/* The error of a bound socket is the engine's. */
	if (!rc || rc == -EISCONN)
		return;
	ts->error.code = TRIB_SOCK_ERR_ARGUMENT;
	ts->error.err = -rc;
	strscpy(ts->error.text, why, sizeof(ts->error.text));
}

static int hand_over(struct trib_sock *ts, const struct trib_sock_cells *fds, unsigned int len)
{
	struct trib_handed *h = NULL;
	const char *why = "";
	u64 bytes;
	int rc;

	mutex_lock(&ts->lock);
	rc = begin(ts, len, &h, &bytes, &why);
	mutex_unlock(&ts->lock);
	/* Without the lock: it touches the process's memory. */
	if (!rc)
		rc = trib_handed_take(h, fds, &why);
	mutex_lock(&ts->lock);
	if (!rc)
		rc = finish(ts, h, bytes, &why);
	note(ts, rc, why);
	mutex_unlock(&ts->lock);
	if (rc)
		drop(ts, h, bytes);
	return rc;
}

int trib_cells_set(struct trib_sock *ts, sockptr_t val, unsigned int len)
{
	struct trib_sock_cells *fds;
	int rc = -EFAULT;

	if (len > sizeof(*fds))
		return -EINVAL;
	fds = kzalloc(sizeof(*fds), GFP_KERNEL_ACCOUNT);
	if (!fds)
		return -ENOMEM;
	if (!copy_from_sockptr(fds, val, len))
		rc = hand_over(ts, fds, len);
	kfree(fds);
	return rc;
}

/* --- for the engine and its drivers */

int trib_cells_of(struct trib_engine *eng, struct trib_stream *s, struct trib_cells *out)
{
	return trib_handed_cells(trib_sock_of(eng)->handed, s, out);
}

void trib_cells_recv(struct trib_sock *ts)
{
	if (ts->handed)
		trib_handed_read(ts->handed, &ts->eng);
}

bool trib_cells_busy(const struct trib_sock *ts)
{
	return ts->handed && ts->handed->news;
}

bool trib_cells_may_sleep(struct trib_sock *ts)
{
	if (!ts->handed || ts->eng.dead || !ts->eng.running)
		return true;
	return !ts->handed->left && trib_cells_rest(&ts->eng);
}
