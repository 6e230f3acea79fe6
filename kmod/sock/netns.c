// SPDX-License-Identifier: GPL-2.0
/*
 * The collective sockets of each network namespace, by job and rank. A socket
 * holds its namespace, so the table is empty when the namespace ends.
 */
#include <net/netns/generic.h>
#include <linux/proc_fs.h>

#include "claim.h"
#include "proc.h"
#include "sock.h"

static unsigned int netns_id;

struct trib_netns *trib_netns(const struct net *net)
{
	return net_generic(net, netns_id);
}

int trib_netns_add(struct trib_sock *ts, u16 job, u16 rank)
{
	struct trib_netns *n = trib_netns(sock_net(trib_sock_sk(ts)));
	u32 index = (u32)job << 16 | rank;
	int rc;

	ts->index = index;
	rc = xa_insert(&n->socks, index, ts, GFP_KERNEL_ACCOUNT);
	return rc == -EBUSY ? -EADDRINUSE : rc;
}

void trib_netns_remove(struct trib_sock *ts)
{
	xa_erase(&trib_netns(sock_net(trib_sock_sk(ts)))->socks, ts->index);
}

/* Sockets are freed after a grace period (SOCK_RCU_FREE). */
struct trib_sock *trib_netns_next(struct net *net, unsigned long *index)
{
	struct trib_netns *n = trib_netns(net);
	struct trib_sock *ts;

	rcu_read_lock();
	for (;;) {
		ts = xa_find(&n->socks, index, ULONG_MAX, XA_PRESENT);
		if (!ts || refcount_inc_not_zero(&trib_sock_sk(ts)->sk_refcnt))
			break;
		++*index;
	}
	rcu_read_unlock();
	return ts;
}

static int __net_init netns_init(struct net *net)
{
	struct trib_netns *n = trib_netns(net);

	xa_init(&n->socks);
	xa_init(&n->claims);
	return trib_proc_add(net);
}

static void __net_exit netns_exit(struct net *net)
{
	struct trib_netns *n = trib_netns(net);

	trib_proc_remove(net);
	trib_claim_clear(n);
	WARN_ON(!xa_empty(&n->socks));
}

static struct pernet_operations netns_ops = {
	.init = netns_init,
	.exit = netns_exit,
	.id = &netns_id,
	.size = sizeof(struct trib_netns),
};

int trib_netns_init(void)
{
	return register_pernet_subsys(&netns_ops);
}

void trib_netns_exit(void)
{
	unregister_pernet_subsys(&netns_ops);
}
