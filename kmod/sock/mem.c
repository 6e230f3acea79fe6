// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of collective sockets. A message is charged to its socket, its user and the
 * total, an engine to the user and the total. Every allocation is charged before it is
 * made.
 */
#include <linux/mm.h>
#include <linux/moduleparam.h>

#include "check/limit.h"
#include "sock.h"

static ulong mem_max = 256ul << 20;
module_param(mem_max, ulong, 0644);
MODULE_PARM_DESC(mem_max, "limit in bytes for messages of one socket");

static ulong mem_total;
module_param(mem_total, ulong, 0644);
MODULE_PARM_DESC(mem_total, "limit in bytes for all sockets (default: an eighth of memory)");

static ulong mem_user;
module_param(mem_user, ulong, 0644);
MODULE_PARM_DESC(mem_user, "limit in bytes for the sockets of one user (0: half of mem_total)");

static atomic64_t used;

static int used_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%lld\n", atomic64_read(&used));
}

static const struct kernel_param_ops used_ops = {.get = used_get};
module_param_cb(mem_used, &used_ops, NULL, 0444);
MODULE_PARM_DESC(mem_used, "bytes that all sockets use");

u64 trib_mem_max(void)
{
	return READ_ONCE(mem_max);
}

/* Add @bytes to @sum, unless the result would exceed @most. */
static bool charge(atomic64_t *sum, u64 bytes, u64 most)
{
	s64 old = atomic64_read(sum);

	do {
		if (!trib_limit_fits(old, bytes, most))
			return false;
	} while (!atomic64_try_cmpxchg(sum, &old, old + bytes));
	return true;
}

int trib_mem_charge_all(struct trib_sock *ts, u64 bytes)
{
	u64 total = READ_ONCE(mem_total);

	if (!charge(&ts->user->used, bytes, trib_limit_user(READ_ONCE(mem_user), total)))
		return -EDQUOT;
	if (charge(&used, bytes, total))
		return 0;
	atomic64_sub(bytes, &ts->user->used);
	return -ENOBUFS;
}

void trib_mem_uncharge_all(struct trib_sock *ts, u64 bytes)
{
	atomic64_sub(bytes, &used);
	atomic64_sub(bytes, &ts->user->used);
}

int trib_mem_charge(struct trib_sock *ts, size_t bytes)
{
	int rc;

	if (!charge(&ts->mem, bytes, READ_ONCE(ts->mem_max)))
		return -EAGAIN;
	rc = trib_mem_charge_all(ts, bytes);
	if (rc)
		atomic64_sub(bytes, &ts->mem);
	return rc;
}

void trib_mem_uncharge(struct trib_sock *ts, size_t bytes)
{
	atomic64_sub(bytes, &ts->mem);
	trib_mem_uncharge_all(ts, bytes);
}

int trib_mem_room(struct trib_engine *eng, size_t bytes)
{
	struct trib_sock *ts = trib_sock_of(eng);
	int rc;

	if (bytes > trib_mem_max() || ts->fixed > trib_mem_max() - bytes)
		rc = -E2BIG;
	else
		rc = trib_mem_charge_all(ts, bytes);
	if (rc)
		ts->full = rc;
	else
		ts->fixed += bytes;
	return rc;
}

void trib_mem_init(void)
{
	if (!mem_total)
		mem_total = (totalram_pages() << PAGE_SHIFT) / 8;
}
