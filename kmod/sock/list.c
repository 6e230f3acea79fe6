// SPDX-License-Identifier: GPL-2.0
/*
 * Collective sockets by generic netlink: a dump of those that the caller may
 * see, and events of single sockets.
 */
#include <net/genetlink.h>

#include "compat/compat.h"
#include "netlink/event.h"
#include "netlink/family.h"
#include "list.h"
#include "sock.h"
#include "uapi/trib.h"

static int put_sock(struct sk_buff *skb, const struct trib_view *v, struct user_namespace *viewer)
{
	const struct trib_sock_info *i = &v->info;
	struct nlattr *nest = nla_nest_start(skb, TRIB_A_SOCK);

	if (!nest || trib_put_u64(skb, TRIB_A_SOCK_INODE, v->inode) ||
	    nla_put_u32(skb, TRIB_A_SOCK_UID, from_kuid_munged(viewer, v->uid)) ||
	    nla_put_u8(skb, TRIB_A_SOCK_STATE, i->state) ||
	    nla_put_u16(skb, TRIB_A_SOCK_JOB, i->job) ||
	    nla_put_u16(skb, TRIB_A_SOCK_RANK, i->rank) ||
	    nla_put_u16(skb, TRIB_A_SOCK_WORLD, i->world) ||
	    trib_put_u64(skb, TRIB_A_SOCK_MEM, i->mem) ||
	    trib_put_u64(skb, TRIB_A_SOCK_MESSAGES, i->messages) ||
	    trib_put_u64(skb, TRIB_A_SOCK_CHUNKS, i->chunks) ||
	    trib_put_u64(skb, TRIB_A_SOCK_SENT, i->sent_packets) ||
	    trib_put_u64(skb, TRIB_A_SOCK_RECEIVED, i->recv_packets) ||
	    trib_put_u64(skb, TRIB_A_SOCK_RESENDS, i->resends) ||
	    trib_put_u64(skb, TRIB_A_SOCK_INFLIGHT, i->inflight) ||
	    trib_put_u64(skb, TRIB_A_SOCK_CARRIED, i->carried) ||
	    (v->error[0] && nla_put_string(skb, TRIB_A_SOCK_ERROR, v->error)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* May the caller see the sockets of @uid? */
static bool may_see(const struct netlink_callback *cb, struct net *net, kuid_t uid)
{
	return uid_eq(NETLINK_CREDS(cb->skb)->uid, uid) ||
	       netlink_ns_capable(cb->skb, net->user_ns, CAP_NET_ADMIN);
}

static int dump_one(struct sk_buff *skb, struct netlink_callback *cb, struct trib_sock *ts,
		    struct trib_view *v)
{
	void *hdr;

	if (!may_see(cb, sock_net(skb->sk), trib_sock_sk(ts)->sk_uid) || !trib_sock_view(ts, v))
		return 0;
	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &trib_genl,
			  NLM_F_MULTI, TRIB_CMD_SOCK_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (put_sock(skb, v, sk_user_ns(NETLINK_CB(cb->skb).sk))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

int trib_sock_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *attr = trib_dump_attrs(cb)[TRIB_A_SOCK];
	unsigned long index = cb->args[0];
	struct trib_view *v;
	struct trib_sock *ts;
	int rc = 0;

	if (attr) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attr, "a dump lists all sockets: name none");
		return -EINVAL;
	}
	v = kmalloc(sizeof(*v), GFP_KERNEL);
	if (!v)
		return -ENOMEM;
	while (!rc && (ts = trib_netns_next(sock_net(skb->sk), &index))) {
		rc = dump_one(skb, cb, ts, v);
		sock_put(trib_sock_sk(ts));
		if (!rc)
			cb->args[0] = ++index;
	}
	kfree(v);
	return skb->len;
}

/* Listeners are in this namespace: map ids to its user namespace. */
static int put_event(struct sk_buff *skb, void *arg)
{
	struct trib_sock *ts = arg;
	struct sock *sk = trib_sock_sk(ts);
	struct trib_view *v = kmalloc(sizeof(*v), GFP_KERNEL);
	int rc;

	if (!v)
		return -ENOMEM;
	v->inode = sock_i_ino(sk);
	v->uid = sk->sk_uid;
	trib_sock_info(ts, &v->info);
	strscpy(v->error, ts->state == TRIB_SOCK_DEAD ? ts->eng.error.text : "", sizeof(v->error));
	rc = put_sock(skb, v, sock_net(sk)->user_ns);
	kfree(v);
	return rc;
}

void trib_sock_event(struct trib_sock *ts, u32 kind, u64 count)
{
	trib_event_tell(sock_net(trib_sock_sk(ts)), kind, count, put_event, ts);
}
