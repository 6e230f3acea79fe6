// SPDX-License-Identifier: GPL-2.0
/*
 * Collective sockets as the kernel sees them: a protocol of AF_INET and its
 * socket operations. Each socket holds a reference to the module.
 */
#include <asm/ioctls.h>
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sockios.h>
#include <net/inet_common.h>
#include <net/protocol.h>

#include "io.h"

static int protocol = IPPROTO_TRIB;
module_param(protocol, int, 0444);
MODULE_PARM_DESC(protocol, "protocol number of collective sockets");

static int init_sock(struct sock *sk)
{
	struct trib_sock *ts = trib_sk(sk);

	mutex_init(&ts->lock);
	INIT_LIST_HEAD(&ts->msgs);
	atomic64_set(&ts->mem, 0);
	atomic_set(&ts->drivers, 0);
	ts->mem_max = trib_mem_max();
	ts->error.rank = -1;
	ts->error.index = -1;
	strscpy(ts->error.text, "no error", sizeof(ts->error.text));
	trib_work_setup(ts);
	/* Packets and lists may access it until a grace period after close(). */
	sock_set_flag(sk, SOCK_RCU_FREE);
	/* For /proc/net/protocols. */
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, 1);
	ts->user = trib_user_get();
	return ts->user ? 0 : -ENOMEM;
}

/* The last user is gone, but lists may still access the socket. */
static void close_sock(struct sock *sk, long timeout)
{
	struct trib_sock *ts = trib_sk(sk);

	mutex_lock(&ts->lock);
	trib_sock_unbind(ts);
	/* Its ring kicks no more. */
	trib_cells_drop(ts);
	mutex_unlock(&ts->lock);
	trib_work_stop(ts);
	kvfree(ts->place);
	mem_cgroup_put(ts->memcg);
	trib_user_put(ts->user);
	sk_common_release(sk);
}

/* Unused: the kernel hashes by port, bind() and close() by job and rank. */
static int hash(struct sock *sk)
{
	return 0;
}

static void unhash(struct sock *sk)
{
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, -1);
}

static struct proto proto = {
	.name = "TRIB",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct trib_sock),
	.init = init_sock,
	.close = close_sock,
	.hash = hash,
	.unhash = unhash,
};

static int get_name(struct socket *sock, struct sockaddr *addr, int peer)
{
	struct sockaddr_trib *a = (struct sockaddr_trib *)addr;
	struct trib_sock *ts = trib_sk(sock->sk);

	if (peer)
		return -ENOTCONN;
	memset(a, 0, sizeof(*a));
	a->family = AF_INET;
	mutex_lock(&ts->lock);
	if (trib_sock_is_bound(ts)) {
		a->job = htons(ts->place->job);
		a->rank = htons(ts->place->rank);
	}
	mutex_unlock(&ts->lock);
	return sizeof(*a);
}

static int shut_down(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	struct trib_sock *ts = trib_sk(sk);
	int rc = 0;

	/* Convert 0, 1, 2 to bits, as inet_shutdown() does. */
	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	how++;
	mutex_lock(&ts->lock);
	if (ts->state == TRIB_SOCK_NEW) {
		rc = -ENOTCONN;
		goto unlock;
	}
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
	if (how & SEND_SHUTDOWN)
		trib_state_leave(ts);
	ts->wake |= TRIB_WAKE_STATE;
	trib_work_turn(ts);
unlock:
	mutex_unlock(&ts->lock);
	return rc;
}

static __poll_t poll(struct file *file, struct socket *sock, struct poll_table_struct *table)
{
	struct trib_sock *ts = trib_sk(sock->sk);
	__poll_t mask = 0;

	sock_poll_wait(file, sock, table);
	mutex_lock(&ts->lock);
	if (trib_msg_ready(ts))
		mask |= EPOLLIN | EPOLLRDNORM;
	switch (ts->state) {
	case TRIB_SOCK_RUNNING:
		if (trib_msg_room(ts, ts->want))
			mask |= EPOLLOUT | EPOLLWRNORM;
		break;
	case TRIB_SOCK_LEFT:
		mask |= EPOLLHUP | EPOLLRDHUP | EPOLLIN | EPOLLRDNORM;
		break;
	case TRIB_SOCK_DEAD:
		mask |= EPOLLERR | EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLWRNORM;
		break;
	}
	if (sock->sk->sk_shutdown & RCV_SHUTDOWN)
		mask |= EPOLLRDHUP | EPOLLIN | EPOLLRDNORM;
	mutex_unlock(&ts->lock);
	return mask;
}

static int ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct trib_sock *ts = trib_sk(sock->sk);
	struct trib_msg *m;
	u64 n;

	mutex_lock(&ts->lock);
	switch (cmd) {
	case SIOCINQ:
		m = trib_msg_ready(ts);
		n = m ? trib_msg_bytes(m) : 0;
		break;
	case SIOCOUTQ:
		n = ts->undone_bytes;
		break;
	default:
		mutex_unlock(&ts->lock);
		return -ENOIOCTLCMD;
	}
	mutex_unlock(&ts->lock);
	return put_user((int)min_t(u64, n, INT_MAX), (int __user *)arg);
}

static int sendmsg(struct socket *sock, struct msghdr *m, size_t len)
{
	return trib_sock_sendmsg(sock, m, len);
}

static int recvmsg(struct socket *sock, struct msghdr *m, size_t len, int flags)
{
	return trib_sock_recvmsg(sock, m, len, flags);
}

static const struct proto_ops ops = {
	.family = PF_INET,
	.owner = THIS_MODULE,
	.release = inet_release,
	.bind = trib_sock_bind,
	.connect = sock_no_connect,
	.socketpair = sock_no_socketpair,
	.accept = sock_no_accept,
	.getname = get_name,
	.poll = poll,
	.ioctl = ioctl,
	.listen = sock_no_listen,
	.shutdown = shut_down,
	.setsockopt = trib_sock_setsockopt,
	.getsockopt = trib_sock_getsockopt,
	.sendmsg = sendmsg,
	.recvmsg = recvmsg,
	.mmap = sock_no_mmap,
};

static struct inet_protosw protosw = {
	.type = SOCK_DGRAM,
	.prot = &proto,
	.ops = &ops,
};

/* Numbers below are taken; sockets cannot use those above. */
static bool protocol_is_wrong(void)
{
	return protocol <= IPPROTO_UDP || protocol >= IPPROTO_RAW;
}

int trib_sock_init(void)
{
	int rc;

	if (protocol_is_wrong()) {
		pr_err("trib: cannot use protocol %d: choose one from %d to %d\n", protocol,
		       IPPROTO_UDP + 1, IPPROTO_RAW - 1);
		return -EINVAL;
	}
	trib_mem_init();
	rc = trib_work_init();
	if (rc)
		return rc;
	rc = trib_netns_init();
	if (rc)
		goto out_work;
	rc = proto_register(&proto, 1);
	if (rc)
		goto out_netns;
	protosw.protocol = protocol;
	return 0;

out_netns:
	trib_netns_exit();
out_work:
	trib_work_exit();
	return rc;
}

void trib_sock_open(void)
{
	inet_register_protosw(&protosw);
}

/* No socket is left: each holds the module. */
void trib_sock_close(void)
{
	inet_unregister_protosw(&protosw);
}

void trib_sock_exit(void)
{
	proto_unregister(&proto);
	trib_netns_exit();
	trib_work_exit();
	/* Wait until claims are freed. */
	rcu_barrier();
}
