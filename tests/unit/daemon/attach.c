// SPDX-License-Identifier: BSD-2-Clause
/*
 * Connections to the attach socket: users who hold many of them without a word make
 * room for others.
 */
#include <stdlib.h>
#include <sys/socket.h>

static int test_getsockopt(int fd, int level, int name, void *v, socklen_t *len);

#define getsockopt test_getsockopt
#include "daemon/attach/attach.c"
#undef getsockopt

#include "tests/lib/tap.h"

static struct tribd D;
static struct job J = {.name = "train"};
static uint32_t next_uid;

static int test_getsockopt(int fd, int level, int name, void *v, socklen_t *len)
{
	struct ucred cred = {.pid = 77, .uid = next_uid};

	(void)fd;
	(void)level;
	(void)name;
	memcpy(v, &cred, *len);
	return 0;
}

/* --- tribd, as far as attach.c sees it */

void log_line(enum log_level level, const char *fmt, ...)
{
	(void)level;
	(void)fmt;
}

uint64_t loop_now(void)
{
	return 1;
}

void timer_set(struct tribd *d, struct timer *t, uint32_t ms)
{
	(void)d;
	t->at_ns = ms;
}

void timer_cancel(struct tribd *d, struct timer *t)
{
	(void)d;
	t->at_ns = 0;
}

int loop_add(struct tribd *d, struct watch *w, uint32_t events)
{
	(void)d;
	(void)w;
	(void)events;
	return 0;
}

void loop_del(struct tribd *d, struct watch *w)
{
	(void)d;
	(void)w;
}

int admin_pidfd(int sock, pid_t pid)
{
	(void)sock;
	(void)pid;
	return -1;
}

int admin_by_unix(pid_t pid, uid_t uid, int pidfd, struct reason *why)
{
	(void)pid;
	(void)pidfd;
	(void)why;
	return uid ? -EPERM : 0;
}

int place_take(struct tribd *d, const struct trib_attach_req *req, const struct place_peer *peer,
	       struct trib_attach_rep *rep, struct place_fds *fds, struct job **job)
{
	(void)d;
	(void)req;
	(void)peer;
	(void)rep;
	(void)fds;
	*job = &J;
	return 0;
}

void place_fds_close(struct place_fds *fds)
{
	fds->n = 0;
}

int place_epoch(struct tribd *d, const struct job *job, uint16_t rank, pid_t pid,
		const struct trib_attach_epoch *req)
{
	(void)d;
	(void)job;
	(void)rank;
	(void)pid;
	(void)req;
	return 0;
}

void place_give_back(struct tribd *d, struct job *job, uint16_t rank, bool gone)
{
	(void)d;
	(void)job;
	(void)rank;
	(void)gone;
}

void place_expire(struct tribd *d)
{
	(void)d;
}

/* --- the tests */

static struct attach *begin(void)
{
	static struct attach a;

	memset(&a, 0, sizeof(a));
	LIST_INIT(&a.conns);
	D.attach = &a;
	return &a;
}

static void end(void)
{
	while (LIST_FIRST(&D.attach->conns))
		conn_free(&D, LIST_FIRST(&D.attach->conns));
}

/* A connection of @uid; NULL: it was refused. A rank's if @job. */
static struct conn *plug(uint32_t uid, struct job *job)
{
	struct conn *before = LIST_FIRST(&D.attach->conns), *c;

	next_uid = uid;
	/* A descriptor that is not open: nobody reads it. */
	conn_new(&D, -1);
	c = LIST_FIRST(&D.attach->conns);
	if (c == before)
		return NULL;
	c->job = job;
	return c;
}

static bool is_there(const struct conn *want)
{
	const struct conn *c;

	LIST_FOREACH(c, &D.attach->conns, link)
		if (c == want)
			return true;
	return false;
}

static unsigned int of(uint32_t uid)
{
	struct conn *oldest;

	return strangers(D.attach, uid, &oldest);
}

static void user__loses_its_own_oldest(void)
{
	struct conn *other, *first, *second;
	struct attach *a = begin();

	other = plug(2, NULL);
	first = plug(1, NULL);
	second = plug(1, NULL);
	for (int i = 2; i < STRANGERS_MAX; i++)
		plug(1, NULL);
	expect(is_there(first));
	expect(plug(1, NULL));
	expect(!is_there(first));
	expect(is_there(second));
	expect(is_there(other));
	expect_eq(of(1), STRANGERS_MAX);
	expect_eq(a->nconns, STRANGERS_MAX + 1);
	end();
}

static void root__has_no_such_bound(void)
{
	begin();
	for (int i = 0; i < 2 * STRANGERS_MAX; i++)
		expect(plug(0, NULL));
	expect_eq(of(0), 2 * STRANGERS_MAX);
	end();
}

static void full__who_has_most_gives_way(void)
{
	struct attach *a = begin();
	struct conn *c, *rank;
	uint32_t uid;

	rank = plug(500, &J);
	/* One person may be many users. */
	for (uid = 1000; a->nconns < CONNS_MAX; uid++)
		for (int i = 0; i < STRANGERS_MAX && a->nconns < CONNS_MAX; i++)
			plug(uid, NULL);
	c = plug(1, NULL);
	expect(c);
	expect(plug(0, NULL));
	expect(plug(2, NULL));
	expect(is_there(c));
	expect(is_there(rank));
	expect_eq(a->nconns, CONNS_MAX);
	/* More of them do not displace who has few. */
	for (int i = 0; i < 100; i++)
		plug(uid + 1, NULL);
	expect(is_there(c));
	end();
}

static void full__of_ranks_is_full(void)
{
	struct attach *a = begin();

	while (a->nconns < CONNS_MAX)
		plug(1, &J);
	expect(!plug(2, NULL));
	expect(!plug(0, NULL));
	expect_eq(a->nconns, CONNS_MAX);
	end();
}

/* Root named no rank of these: a bound of its own keeps room for other users. */
static void bare__ranks_of_a_user_are_bounded(void)
{
	struct job rows = {.name = "rows", .ntrees = 1};

	begin();
	for (int i = 0; i < BARE_MAX - 1; i++)
		plug(1, &J);
	plug(1, &rows);
	plug(1, NULL);
	plug(2, &J);
	expect(!attach_bare_full(&D, 1));
	plug(1, &J);
	expect(attach_bare_full(&D, 1));
	expect(!attach_bare_full(&D, 2));
	end();
}

int main(void)
{
	run(user__loses_its_own_oldest);
	run(root__has_no_such_bound);
	run(full__who_has_most_gives_way);
	run(full__of_ranks_is_full);
	run(bare__ranks_of_a_user_are_bounded);
	return tap_done();
}
