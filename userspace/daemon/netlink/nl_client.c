// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns answers that clients have not read. A client is kept only until it has
 * read everything; most live for one call. A dump is made in pieces as the
 * client reads, so it needs memory for one datagram. The kernel does not report
 * room in a netlink peer's queue: a timer tries again.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "nl_client.h"
#include "nl_queue.h"

/*
 * Send one datagram. Returns 0, -EAGAIN without room, or another error if the
 * client is gone.
 */
static int put_datagram(struct nl_client *c, const void *data, size_t len)
{
	struct sockaddr_nl to = {.nl_family = AF_NETLINK, .nl_pid = c->port};
	ssize_t n = sendto(c->all->fd, data, len, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to));

	if (n >= 0) {
		c->progress_ns = loop_now();
		return 0;
	}
	if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR)
		return -EAGAIN;
	c->gone = true;
	return -errno;
}

static void dump_end(struct nl_client *c)
{
	if (c->cmd && c->cursor.own)
		c->cursor.own_free(c->cursor.own);
	c->cursor.own = NULL;
	c->cmd = NULL;
}

static void queue_clear(struct nl_client *c)
{
	struct nl_datagram *g;

	while ((g = TAILQ_FIRST(&c->queue))) {
		TAILQ_REMOVE(&c->queue, g, link);
		free(g);
	}
	c->queued = 0;
	dump_end(c);
}

static void queue_datagram(struct tribd *d, struct nl_client *c, const void *data, size_t len)
{
	struct nl_datagram *g = NULL;

	if (c->queued < NL_QUEUE_MAX)
		g = malloc(sizeof(*g) + len);
	if (!g) {
		log_debug("netlink client %u does not read: given up", c->port);
		c->gone = true;
		return;
	}
	g->len = len;
	memcpy(g->data, data, len);
	TAILQ_INSERT_TAIL(&c->queue, g, link);
	c->queued++;
	if (!c->all->retry.at_ns)
		timer_set(d, &c->all->retry, NL_RETRY_MS);
}

static void send_or_queue(struct tribd *d, struct nl_client *c, const void *data, size_t len)
{
	if (c->gone)
		return;
	if (c->queued || put_datagram(c, data, len) == -EAGAIN)
		queue_datagram(d, c, data, len);
}

void nl_client_send(struct tribd *d, struct nl_client *c, const struct nlmsghdr *nlh)
{
	send_or_queue(d, c, nlh, nlh->nlmsg_len);
}

/* --- dumps */

static struct nl_msg *dump_message(const struct nl_client *c, int type, bool changed)
{
	struct genlmsghdr genl = {.cmd = c->genl_cmd, .version = TRIB_GENL_VERSION};
	struct nl_msg *m = nlmsg_alloc_size(TRIB_NL_MSG_MAX);
	int zero = 0, err;

	if (!m)
		return NULL;
	if (!nlmsg_put(m, c->port, c->req.nlmsg_seq, type, 0,
		       NLM_F_MULTI | (changed ? NLM_F_DUMP_INTR : 0)))
		goto fail;
	if (type == NLMSG_DONE)
		err = nlmsg_append(m, &zero, sizeof(zero), NLMSG_ALIGNTO);
	else
		err = nlmsg_append(m, &genl, sizeof(genl), NLMSG_ALIGNTO);
	if (!err)
		return m;
fail:
	nlmsg_free(m);
	return NULL;
}

/*
 * Fill @buf with whole messages, DONE at the end of the dump, until it is full or
 * dump_next() has looked at enough rows. Returns the length; clears c->cmd at the
 * end. An object that fails ends the dump.
 */
static size_t dump_fill(struct tribd *d, struct nl_client *c, char *buf)
{
	size_t len = 0;

	while (c->cmd) {
		struct nl_cursor before = c->cursor;
		bool changed = d->generation != c->generation;
		struct nl_msg *m = dump_message(c, TRIB_NL_TYPE, changed);
		int more = m ? c->cmd->dump_next(d, &c->cursor, m) : -ENOMEM;
		struct nlmsghdr *nlh;

		if (more == -EAGAIN) {
			nlmsg_free(m);
			break;
		}
		if (more <= 0) {
			if (m)
				nlmsg_free(m);
			if (more < 0)
				log_debug("dump of command %u ends early: %s", c->genl_cmd,
					  strerror(-more));
			m = dump_message(c, NLMSG_DONE, changed);
			if (!m) {
				dump_end(c);
				break;
			}
		}
		nlh = nlmsg_hdr(m);
		if (len + NLMSG_ALIGN(nlh->nlmsg_len) > TRIB_NL_MSG_MAX) {
			c->cursor = before;
			nlmsg_free(m);
			break;
		}
		memset(buf + len, 0, NLMSG_ALIGN(nlh->nlmsg_len));
		memcpy(buf + len, nlh, nlh->nlmsg_len);
		len += NLMSG_ALIGN(nlh->nlmsg_len);
		nlmsg_free(m);
		if (more <= 0)
			dump_end(c);
	}
	return len;
}

/* Can the dump go on, or must the client read first? */
static bool dump_can_go_on(const struct nl_client *c)
{
	return c->cmd && !c->queued && !c->gone;
}

static void dump_step(struct tribd *d, struct nl_client *c)
{
	char *buf = malloc(TRIB_NL_MSG_MAX);
	size_t len;

	if (!buf) {
		c->gone = true;
		return;
	}
	len = dump_fill(d, c, buf);
	if (len)
		send_or_queue(d, c, buf, len);
	free(buf);
}

bool nl_clients_step(struct tribd *d, struct nl_clients *all, uint32_t uid)
{
	struct nl_client *c;

	TAILQ_FOREACH(c, &all->list, link)
		if (c->uid == uid && dump_can_go_on(c))
			break;
	if (!c)
		return false;
	/* The user's other dumps come first next time. */
	TAILQ_REMOVE(&all->list, c, link);
	TAILQ_INSERT_TAIL(&all->list, c, link);
	dump_step(d, c);
	nl_client_put(d, c);
	return true;
}

int nl_client_dump(struct tribd *d, struct nl_client *c, const struct nl_command *cmd,
		   const struct nl_cursor *cursor, const struct nlmsghdr *req, struct reason *why)
{
	if (c->cmd)
		return reason_set(why, -EBUSY, "another dump is under way");
	c->cmd = cmd;
	c->cursor = *cursor;
	c->req = *req;
	c->genl_cmd = ((const struct genlmsghdr *)nlmsg_data(req))->cmd;
	c->generation = d->generation;
	nl_queue_wake(d, c->all->queue, c->uid);
	return 0;
}

/* --- clients */

static void client_free(struct nl_client *c)
{
	queue_clear(c);
	TAILQ_REMOVE(&c->all->list, c, link);
	c->all->count--;
	free(c);
}

static void client_retry(struct tribd *d, struct nl_client *c)
{
	struct nl_datagram *g;

	while ((g = TAILQ_FIRST(&c->queue)) && !c->gone) {
		if (put_datagram(c, g->data, g->len) == -EAGAIN)
			break;
		TAILQ_REMOVE(&c->queue, g, link);
		free(g);
		c->queued--;
	}
	if (dump_can_go_on(c))
		nl_queue_wake(d, c->all->queue, c->uid);
	else if (loop_now() - c->progress_ns > NL_PATIENCE_MS * 1000000ULL)
		c->gone = true;
	nl_client_put(d, c);
}

static void clients_retry(struct tribd *d, struct timer *t)
{
	struct nl_clients *all = t->arg;
	struct nl_client *c, *next;

	for (c = TAILQ_FIRST(&all->list); c; c = next) {
		next = TAILQ_NEXT(c, link);
		client_retry(d, c);
	}
	if (all->count)
		timer_set(d, t, NL_RETRY_MS);
}

void nl_clients_init(struct nl_clients *all, struct nl_queue *queue)
{
	TAILQ_INIT(&all->list);
	all->fd = -1;
	all->queue = queue;
	all->retry.fn = clients_retry;
	all->retry.arg = all;
}

void nl_clients_exit(struct tribd *d, struct nl_clients *all)
{
	timer_cancel(d, &all->retry);
	while (TAILQ_FIRST(&all->list))
		client_free(TAILQ_FIRST(&all->list));
}

static unsigned int clients_of(const struct nl_clients *all, uint32_t uid)
{
	const struct nl_client *c;
	unsigned int n = 0;

	TAILQ_FOREACH(c, &all->list, link)
		n += c->uid == uid;
	return n;
}

/* Find the user with the most clients. */
static uint32_t clients_most(const struct nl_clients *all)
{
	unsigned int most = 0, n;
	const struct nl_client *c;
	uint32_t uid = 0;

	TAILQ_FOREACH(c, &all->list, link) {
		n = clients_of(all, c->uid);
		if (n > most) {
			most = n;
			uid = c->uid;
		}
	}
	return uid;
}

/* Drop the client of @uid that has not read for the longest time. */
static void clients_drop_one(struct nl_clients *all, uint32_t uid)
{
	struct nl_client *c, *oldest = NULL;

	TAILQ_FOREACH(c, &all->list, link)
		if (c->uid == uid && (!oldest || c->progress_ns < oldest->progress_ns))
			oldest = c;
	if (oldest)
		client_free(oldest);
}

static void clients_make_room(struct nl_clients *all, uint32_t uid)
{
	if (clients_of(all, uid) >= NL_CLIENTS_USER)
		clients_drop_one(all, uid);
	else if (all->count >= NL_CLIENTS_MAX)
		clients_drop_one(all, clients_most(all));
}

struct nl_client *nl_client_get(struct nl_clients *all, uint32_t port, uint32_t uid)
{
	struct nl_client *c;

	TAILQ_FOREACH(c, &all->list, link)
		if (c->port == port && c->uid == uid)
			return c;
	clients_make_room(all, uid);
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->all = all;
	c->port = port;
	c->uid = uid;
	c->progress_ns = loop_now();
	TAILQ_INIT(&c->queue);
	TAILQ_INSERT_TAIL(&all->list, c, link);
	all->count++;
	return c;
}

void nl_client_put(struct tribd *d, struct nl_client *c)
{
	(void)d;
	if (c->gone || (!c->queued && !c->cmd))
		client_free(c);
}
