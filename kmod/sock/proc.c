// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/net/trib. As in /proc/net/udp, every user sees each socket and its
 * counters.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/seq_file_net.h>
#include <linux/user_namespace.h>

#include "proc.h"
#include "sock.h"

#define NAME "trib"

static const char *const states[] = {
	[TRIB_SOCK_NEW] = "new",	 [TRIB_SOCK_JOINING] = "joining",
	[TRIB_SOCK_RUNNING] = "running", [TRIB_SOCK_LEAVING] = "leaving",
	[TRIB_SOCK_LEFT] = "left",	 [TRIB_SOCK_DEAD] = "dead",
};

/* Position 0 is the heading, n + 1 the first socket at or after index n. */
static void *at(struct seq_file *seq, loff_t *pos)
{
	unsigned long index = *pos - 1;
	struct trib_sock *ts;

	if (!*pos)
		return SEQ_START_TOKEN;
	ts = trib_netns_next(seq_file_net(seq), &index);
	if (ts)
		*pos = index + 1;
	return ts;
}

static void let_go(void *v)
{
	if (v && v != SEQ_START_TOKEN)
		sock_put(trib_sock_sk(v));
}

static void *proc_start(struct seq_file *seq, loff_t *pos)
{
	return at(seq, pos);
}

static void *proc_next(struct seq_file *seq, void *v, loff_t *pos)
{
	let_go(v);
	++*pos;
	return at(seq, pos);
}

static void proc_stop(struct seq_file *seq, void *v)
{
	let_go(v);
}

static int proc_show(struct seq_file *seq, void *v)
{
	struct trib_view *view;

	if (v == SEQ_START_TOKEN) {
		seq_puts(
			seq,
			"  job  rank world state        uid      inode        mem   user-mem         tx    carried         rx resends inflight\n");
		return 0;
	}
	view = kmalloc(sizeof(*view), GFP_KERNEL);
	if (!view)
		return -ENOMEM;
	if (!trib_sock_view(v, view))
		goto out;
	seq_printf(seq,
		   "%5u %5u %5u %-7s %8u %10llu %10llu %10llu %10llu %10llu %10llu %7llu %8llu\n",
		   view->info.job, view->info.rank, view->info.world, states[view->info.state],
		   from_kuid_munged(seq_user_ns(seq), view->uid), view->inode, view->info.mem,
		   view->user_mem, view->info.sent_packets, view->info.carried,
		   view->info.recv_packets, view->info.resends, view->info.inflight);
out:
	kfree(view);
	return 0;
}

static const struct seq_operations proc_ops = {
	.start = proc_start,
	.next = proc_next,
	.stop = proc_stop,
	.show = proc_show,
};

int trib_proc_add(struct net *net)
{
	return proc_create_net(NAME, 0444, net->proc_net, &proc_ops, sizeof(struct seq_net_private))
		       ? 0
		       : -ENOMEM;
}

void trib_proc_remove(struct net *net)
{
	remove_proc_entry(NAME, net->proc_net);
}
