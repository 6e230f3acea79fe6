// SPDX-License-Identifier: GPL-2.0
/*
 * Claims: in a network namespace, a job may be reserved for one user. There is at
 * most one claim per job number; each is charged to its maker's memory cgroup.
 */
#include <linux/cred.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <net/genetlink.h>

#include "claim.h"
#include "compat/compat.h"
#include "netlink/family.h"
#include "uapi/trib.h"

struct trib_claim {
	kuid_t uid;
	struct rcu_head rcu;
};

const struct nla_policy trib_claim_policy[TRIB_A_CLAIM__MAX] = {
	[TRIB_A_CLAIM_JOB] = {.type = NLA_U16},
	[TRIB_A_CLAIM_UID] = {.type = NLA_U32},
};

bool trib_claim_allows(struct net *net, u16 job)
{
	struct trib_claim *c;
	bool own = true;

	rcu_read_lock();
	c = xa_load(&trib_netns(net)->claims, job);
	if (c)
		own = uid_eq(c->uid, current_fsuid());
	rcu_read_unlock();
	return own || ns_capable(net->user_ns, CAP_NET_ADMIN);
}

void trib_claim_clear(struct trib_netns *n)
{
	struct trib_claim *c;
	unsigned long job;

	xa_for_each(&n->claims, job, c) kfree(c);
	xa_destroy(&n->claims);
}

/* Check a request and read its job and, if @uid is not NULL, its user. */
static int parse(struct sk_buff *skb, struct genl_info *info, u16 *job, kuid_t *uid)
{
	struct nlattr *tb[TRIB_A_CLAIM__MAX], *nest;
	int err;

	if (!netlink_ns_capable(skb, genl_info_net(info)->user_ns, CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG(info->extack, "only CAP_NET_ADMIN may change claims");
		return -EPERM;
	}
	nest = info->attrs[TRIB_A_CLAIM];
	if (!nest) {
		NL_SET_ERR_MSG(info->extack, "the request has no claim: add TRIB_A_CLAIM");
		return -EINVAL;
	}
	err = nla_parse_nested(tb, TRIB_A_CLAIM__MAX - 1, nest, trib_claim_policy, info->extack);
	if (err)
		return err;
	if (!tb[TRIB_A_CLAIM_JOB]) {
		NL_SET_ERR_MSG_ATTR(info->extack, nest, "the claim has no job");
		return -EINVAL;
	}
	*job = nla_get_u16(tb[TRIB_A_CLAIM_JOB]);
	if (!uid && tb[TRIB_A_CLAIM_UID]) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[TRIB_A_CLAIM_UID],
				    "a claim is deleted by its job alone: give no uid");
		return -EINVAL;
	}
	if (!uid)
		return 0;
	if (!tb[TRIB_A_CLAIM_UID]) {
		NL_SET_ERR_MSG_ATTR(info->extack, nest, "the claim has no uid");
		return -EINVAL;
	}
	*uid = make_kuid(sk_user_ns(NETLINK_CB(skb).sk), nla_get_u32(tb[TRIB_A_CLAIM_UID]));
	if (uid_valid(*uid))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, tb[TRIB_A_CLAIM_UID],
			    "there is no such user in this user namespace");
	return -EINVAL;
}

int trib_claim_new(struct sk_buff *skb, struct genl_info *info)
{
	struct trib_claim *c, *old;
	kuid_t uid;
	u16 job;
	int err;

	err = parse(skb, info, &job, &uid);
	if (err)
		return err;
	c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	if (!c)
		goto nomem;
	c->uid = uid;
	old = xa_store(&trib_netns(genl_info_net(info))->claims, job, c, GFP_KERNEL_ACCOUNT);
	if (xa_is_err(old)) {
		kfree(c);
		goto nomem;
	}
	if (old)
		kfree_rcu(old, rcu);
	return 0;
nomem:
	NL_SET_ERR_MSG(info->extack, "no memory for the claim");
	return -ENOMEM;
}

int trib_claim_del(struct sk_buff *skb, struct genl_info *info)
{
	struct trib_claim *c;
	u16 job;
	int err;

	err = parse(skb, info, &job, NULL);
	if (err)
		return err;
	c = xa_erase(&trib_netns(genl_info_net(info))->claims, job);
	if (!c) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[TRIB_A_CLAIM],
				    "the job is not claimed");
		return -ENOENT;
	}
	kfree_rcu(c, rcu);
	return 0;
}

static int put_claim(struct sk_buff *skb, struct netlink_callback *cb, u16 job, kuid_t uid)
{
	struct user_namespace *viewer = sk_user_ns(NETLINK_CB(cb->skb).sk);
	struct nlattr *nest;
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &trib_genl,
			  NLM_F_MULTI, TRIB_CMD_CLAIM_GET);
	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(skb, TRIB_A_CLAIM);
	if (!nest || nla_put_u16(skb, TRIB_A_CLAIM_JOB, job) ||
	    nla_put_u32(skb, TRIB_A_CLAIM_UID, from_kuid_munged(viewer, uid))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	genlmsg_end(skb, hdr);
	return 0;
}

int trib_claim_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *attr = trib_dump_attrs(cb)[TRIB_A_CLAIM];
	struct trib_netns *n = trib_netns(sock_net(skb->sk));
	struct trib_claim *c;
	unsigned long job;

	if (attr) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attr, "a dump lists all claims: name none");
		return -EINVAL;
	}
	rcu_read_lock();
	xa_for_each_start(&n->claims, job, c, cb->args[0])
	{
		if (put_claim(skb, cb, job, c->uid))
			break;
		cb->args[0] = job + 1;
	}
	rcu_read_unlock();
	return skb->len;
}
