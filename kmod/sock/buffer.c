// SPDX-License-Identifier: GPL-2.0
/* Messages and their pages. The caller has charged the memory (mem.c). */
#include <linux/mm.h>
#include <linux/uio.h>

#include "buffer.h"

/* Smaller buffers are cheap to allocate. */
#define SPARE_MIN (64 << 10)

struct trib_msg *trib_msg_make(struct trib_sock *ts, const struct trib_want *w, void *buf,
			       struct iov_iter *from, size_t len)
{
	struct trib_msg *m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN;
	int rc = -ENOMEM;

	if (!m)
		goto out;
	m->ts = ts;
	m->size = w->size;
	m->bytes = w->bytes;
	m->in_bytes = len;
	m->rank = -1;
	m->index = -1;
	refcount_set(&m->refs, 1);
	/* recvmsg() copies all of it: zero the bytes that are not sent. */
	if (w->size > len)
		gfp |= __GFP_ZERO;
	if (w->size && !buf)
		buf = kvmalloc(w->size, gfp);
	if (w->size && !buf)
		goto out;
	m->buf = buf;
	rc = -EFAULT;
	if (!len || copy_from_iter_full((u8 *)buf + w->first, len, from))
		return m;
out:
	kvfree(buf);
	kfree(m);
	return ERR_PTR(rc);
}

void trib_msg_put(struct trib_msg *m)
{
	if (!refcount_dec_and_test(&m->refs))
		return;
	trib_mem_uncharge(m->ts, m->size);
	kvfree(m->buf);
	kfree(m);
}

bool trib_spare_drop(struct trib_sock *ts)
{
	if (!ts->spare)
		return false;
	kvfree(ts->spare);
	ts->spare = NULL;
	trib_mem_uncharge_all(ts, ts->spare_size);
	return true;
}

void trib_spare_keep(struct trib_sock *ts, struct trib_msg *m)
{
	/* A recvmsg() may still copy from it. */
	if (m->size < SPARE_MIN || refcount_read(&m->refs) != 1)
		return;
	trib_spare_drop(ts);
	ts->spare = m->buf;
	ts->spare_size = m->size;
	atomic64_sub(m->size, &ts->mem);
	m->buf = NULL;
	m->size = 0;
}

void *trib_spare_take(struct trib_sock *ts, const struct trib_want *w, size_t len)
{
	void *buf = ts->spare;

	if (!buf || ts->spare_size != w->size || len != w->size)
		return NULL;
	ts->spare = NULL;
	trib_mem_uncharge_all(ts, ts->spare_size);
	return buf;
}
