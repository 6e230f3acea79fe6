// SPDX-License-Identifier: BSD-2-Clause
/*
 * Claims of jobs at the kernel module, by generic netlink: see claims.h.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "claims.h"
#include "job.h"
#include "daemon/device/kernel_ask.h"

/*
 * @ask: socket for requests. @news: for families that come and go. @family: id
 * of the module's family; 0: it is not loaded.
 */
struct claims {
	struct nl_sock *ask;
	struct nl_sock *news;
	struct watch watch;
	uint16_t family;
};

/* The group of the controller's news has the number of its family. */
#define NEWS_GROUP GENL_ID_CTRL

static struct nl_msg *message(int type, int flags, uint8_t cmd, uint8_t version)
{
	struct nl_msg *m = nlmsg_alloc_simple(type, NLM_F_REQUEST | flags);
	struct genlmsghdr g = {.cmd = cmd, .version = version};

	if (m && nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO) < 0) {
		nlmsg_free(m);
		m = NULL;
	}
	return m;
}

/* --- whether the module is there */

void claims_family(struct nlmsghdr *nlh, uint16_t *id)
{
	struct nlattr *tb[CTRL_ATTR_MAX + 1];
	static struct nla_policy policy[CTRL_ATTR_MAX + 1] = {
		[CTRL_ATTR_FAMILY_ID] = {.type = NLA_U16},
		[CTRL_ATTR_FAMILY_NAME] = {.type = NLA_STRING},
	};
	const struct genlmsghdr *g = nlmsg_data(nlh);

	if (nlh->nlmsg_type != GENL_ID_CTRL || nlmsg_datalen(nlh) < (int)sizeof(*g) ||
	    nlmsg_parse(nlh, sizeof(*g), tb, CTRL_ATTR_MAX, policy) || !tb[CTRL_ATTR_FAMILY_NAME] ||
	    !tb[CTRL_ATTR_FAMILY_ID] || nla_strcmp(tb[CTRL_ATTR_FAMILY_NAME], TRIB_GENL_NAME))
		return;
	if (g->cmd == CTRL_CMD_NEWFAMILY)
		*id = nla_get_u16(tb[CTRL_ATTR_FAMILY_ID]);
	else if (g->cmd == CTRL_CMD_DELFAMILY)
		*id = 0;
}

static int family_one(struct nlmsghdr *nlh, void *arg)
{
	claims_family(nlh, arg);
	return 0;
}

/* Dump all families: a request for one by name would load its module. */
static uint16_t family_look(struct claims *c)
{
	uint16_t id = 0;
	int err = kernel_ask(c->ask, message(GENL_ID_CTRL, NLM_F_DUMP, CTRL_CMD_GETFAMILY, 1),
			     family_one, &id);

	if (err)
		log_warn("generic netlink: %s", strerror(-err));
	return err ? 0 : id;
}

/* --- claims */

static int change(struct claims *c, uint8_t cmd, const struct job *j)
{
	struct nl_msg *m = message(c->family, NLM_F_ACK, cmd, TRIB_GENL_VERSION);
	struct nlattr *nest = m ? nla_nest_start(m, TRIB_A_CLAIM) : NULL;

	if (!nest || nla_put_u16(m, TRIB_A_CLAIM_JOB, j->id) ||
	    (cmd == TRIB_CMD_CLAIM_NEW && nla_put_u32(m, TRIB_A_CLAIM_UID, j->owner))) {
		nlmsg_free(m);
		return -ENOMEM;
	}
	nla_nest_end(m, nest);
	return kernel_ask(c->ask, m, NULL, NULL);
}

void claims_job_added(struct tribd *d, const struct job *j)
{
	struct claims *c = d->claims;
	int err;

	if (!c || !c->family)
		return;
	err = change(c, TRIB_CMD_CLAIM_NEW, j);
	if (err)
		log_warn(
			"job %s is not claimed at the kernel module (%s): sockets of any user who has a place in it may join",
			j->name, strerror(-err));
}

void claims_job_removed(struct tribd *d, const struct job *j)
{
	struct claims *c = d->claims;
	int err;

	if (!c || !c->family)
		return;
	err = change(c, TRIB_CMD_CLAIM_DEL, j);
	/* The operator may have taken the claim back. */
	if (err && err != -ENOENT)
		log_warn("the claim of job %s stays at the kernel module: %s", j->name,
			 strerror(-err));
}

static void claim_all(struct tribd *d)
{
	const struct job *j;

	if (!d->claims->family)
		return;
	TAILQ_FOREACH(j, &d->jobs, link)
		claims_job_added(d, j);
}

/* --- news */

static int news_one(struct nl_msg *msg, void *arg)
{
	struct tribd *d = arg;
	uint16_t was = d->claims->family;

	claims_family(nlmsg_hdr(msg), &d->claims->family);
	if (d->claims->family == was)
		return NL_OK;
	log_info("the kernel module is %s",
		 d->claims->family ? "loaded: jobs are claimed for their owners" : "gone");
	claim_all(d);
	return NL_OK;
}

static void news_ready(struct tribd *d, struct watch *w, uint32_t events)
{
	struct claims *c = d->claims;
	int err, turns = 64;

	(void)w;
	(void)events;
	do {
		err = nl_recvmsgs_default(c->news);
	} while (!err && --turns);
	/* Some were lost (ENOBUFS): libnl says NLE_NOMEM. */
	if (err != -NLE_NOMEM)
		return;
	c->family = family_look(c);
	claim_all(d);
}

static struct nl_sock *open_genl(void)
{
	struct nl_sock *sk = nl_socket_alloc();

	if (sk && nl_connect(sk, NETLINK_GENERIC)) {
		nl_socket_free(sk);
		sk = NULL;
	}
	return sk;
}

static int listen_for_news(struct tribd *d)
{
	struct claims *c = d->claims;

	nl_socket_disable_seq_check(c->news);
	nl_socket_set_nonblocking(c->news);
	nl_socket_modify_cb(c->news, NL_CB_VALID, NL_CB_CUSTOM, news_one, d);
	if (nl_socket_add_membership(c->news, NEWS_GROUP))
		return -EIO;
	c->watch.fd = nl_socket_get_fd(c->news);
	c->watch.fn = news_ready;
	return loop_add(d, &c->watch, EPOLLIN);
}

int claims_init(struct tribd *d)
{
	struct claims *c = calloc(1, sizeof(*c));
	int err = -EIO;

	if (!c)
		return -ENOMEM;
	d->claims = c;
	c->watch.fd = -1;
	c->ask = open_genl();
	c->news = open_genl();
	if (c->ask && c->news) {
		nl_socket_disable_auto_ack(c->ask);
		err = listen_for_news(d);
	}
	if (err) {
		log_warn("generic netlink: %s: jobs are not claimed", strerror(-err));
		claims_exit(d);
		return 0;
	}
	c->family = family_look(c);
	claim_all(d);
	return 0;
}

void claims_exit(struct tribd *d)
{
	struct claims *c = d->claims;

	if (!c)
		return;
	if (c->watch.fd >= 0)
		loop_del(d, &c->watch);
	if (c->ask)
		nl_socket_free(c->ask);
	if (c->news)
		nl_socket_free(c->news);
	free(c);
	d->claims = NULL;
}
