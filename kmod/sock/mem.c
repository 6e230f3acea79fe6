// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of collective sockets. A message is charged to its socket and to the
 * total, an engine to the total. Every allocation is charged before it is made.
 */
#include <linux/mm.h>
#include <linux/moduleparam.h>

#include "sock.h"

static ulong mem_max = 256ul << 20;
module_param(mem_max, ulong, 0644);
MODULE_PARM_DESC(mem_max, "limit in bytes for messages of one socket");

static ulong mem_total;
module_param(mem_total, ulong, 0644);
MODULE_PARM_DESC(mem_total, "limit in bytes for all sockets (default: an eighth of memory)");

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
		if (bytes > most || old > most - bytes)
			return false;
	} while (!atomic64_try_cmpxchg(sum, &old, old + bytes));
	return true;
}

int trib_mem_charge_all(u64 bytes)
{
	return charge(&used, bytes, READ_ONCE(mem_total)) ? 0 : -ENOBUFS;
}

void trib_mem_uncharge_all(u64 bytes)
{
	atomic64_sub(bytes, &used);
}

int trib_mem_charge(struct trib_sock *ts, size_t bytes)
{
	if (!charge(&ts->mem, bytes, READ_ONCE(ts->mem_max)))
		return -EAGAIN;
	if (!trib_mem_charge_all(bytes))
		return 0;
	atomic64_sub(bytes, &ts->mem);
	return -ENOBUFS;
}

void trib_mem_uncharge(struct trib_sock *ts, size_t bytes)
{
	atomic64_sub(bytes, &ts->mem);
	trib_mem_uncharge_all(bytes);
}

int trib_mem_room(struct trib_engine *eng, size_t bytes)
{
	struct trib_sock *ts = trib_sock_of(eng);

	if (bytes > trib_mem_max() || ts->fixed > trib_mem_max() - bytes ||
	    trib_mem_charge_all(bytes))
		return -ENOBUFS;
	ts->fixed += bytes;
	return 0;
}

void trib_mem_init(void)
{
	if (!mem_total)
		mem_total = (totalram_pages() << PAGE_SHIFT) / 8;
}
