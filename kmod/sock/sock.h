/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Collective sockets (uapi/trib_sock.h): what their files share. README.md has
 * the picture.
 *
 * Locks, outer first:
 *
 *	ts->lock	the engine, the messages, the state. May sleep. Nobody
 *			touches user memory below it: a page fault may last as
 *			long as a user likes.
 *	rtnl, the UDP sockets' own locks
 *
 * What packets touch (softirq) needs none: &trib_sock.flags, @drivers, @wait.
 */
#ifndef TRIB_SOCK_SOCK_H
#define TRIB_SOCK_SOCK_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <net/inet_sock.h>
#include <net/net_namespace.h>

#include "engine/engine.h"
#include "uapi/trib_sock.h"

struct mem_cgroup;
struct trib_io;

/* Messages of one socket, from send() until recv(). */
#define TRIB_SOCK_MESSAGES 1024

/**
 * struct trib_msg - one collective of a socket
 * @list:  in order of sending.
 * @refs:  one of the list, one for each recvmsg() that copies.
 * @ts:    its socket; memory is charged to it.
 * @req:   the engine's; NULL once it is done.
 * @id:    as the user named it.
 * @buf:   elements, later the result: @size bytes, charged.
 * @bytes: of the result, which begins at @buf.
 * @in_bytes: that were sent.
 * @done:  @err, @rank and @index are final.
 */
struct trib_msg {
	struct list_head list;
	refcount_t refs;
	struct trib_sock *ts;
	struct trib_req *req;
	u64 id;
	void *buf;
	size_t size;
	size_t bytes;
	size_t in_bytes;
	bool done;
	int err;
	s32 rank;
	s64 index;
};

/* Bit of &trib_sock.flags: there is something to do for whoever drives. */
#define TRIB_SOCK_PENDING 0

/**
 * struct trib_sock - a collective socket
 * @inet:   first: the kernel makes it as one of AF_INET.
 * @lock:   see above.
 *
 * Options, and what bind() takes from them:
 * @place, @window, @timeout_ms, @join_timeout_ms: see enum trib_sockopt.
 * @dtype:  of messages that do not say.
 *
 * Memory of messages:
 * @mem, @mem_max: now, and at most.
 * @want:   that a sender which did not wait could not have; POLLOUT waits for it.
 * @fixed:  bytes of the engine that are charged to all sockets together.
 *
 * A life:
 * @state:  enum trib_sock_state; written below @lock.
 * @index:  in the namespace's table, of what is bound.
 * @eng:    of what is bound.
 * @io:     its UDP sockets.
 * @error:  newest, before bind().
 * @msgs:   @nmsg of them, @undone of which have no result; @undone_bytes.
 * @next_id: of messages without one.
 * @seen:   a result came since @seen_ns; &trib_tally.chunks was @seen_chunks.
 * @stalled: that was told.
 *
 * Driving (work.c):
 * @flags:   TRIB_SOCK_PENDING.
 * @drivers: threads in sendmsg() or recvmsg() that drive while they wait.
 * @wait:    they sleep here.
 * @work:    drives when there is none.
 * @timer:   kicks whoever drives at @due (0: it does not run).
 * @wake:    who is to be told, at the end of a turn; @told counts up then.
 * @memcg:   that @work allocates for.
 */
struct trib_sock {
	struct inet_sock inet;
	struct mutex lock;

	struct trib_attach_rep *place;
	u32 window;
	u32 timeout_ms;
	u32 join_timeout_ms;
	u32 dtype;

	atomic64_t mem;
	u64 mem_max;
	u64 want;
	u64 fixed;

	u32 state;
	u32 index;
	struct trib_engine eng;
	struct trib_io *io;
	struct trib_sock_error error;
	struct list_head msgs;
	u32 nmsg;
	u32 undone;
	u64 undone_bytes;
	u64 next_id;
	u64 seen_ns;
	u64 seen_chunks;
	bool stalled;

	unsigned long flags;
	atomic_t drivers;
	wait_queue_head_t wait;
	struct work_struct work;
	struct hrtimer timer;
	u64 due;
	u32 wake;
	u32 told;
	struct mem_cgroup *memcg;
};

/* Bits of &trib_sock.wake. */
enum {
	TRIB_WAKE_READ = 1 << 0,
	TRIB_WAKE_WRITE = 1 << 1,
	TRIB_WAKE_STATE = 1 << 2,
};

static inline struct trib_sock *trib_sk(const struct sock *sk)
{
	return (struct trib_sock *)sk;
}

static inline struct sock *trib_sock_sk(struct trib_sock *ts)
{
	return &ts->inet.sk;
}

static inline struct trib_sock *trib_sock_of(struct trib_engine *eng)
{
	return container_of(eng, struct trib_sock, eng);
}

static inline bool trib_sock_is_bound(const struct trib_sock *ts)
{
	return READ_ONCE(ts->state) != TRIB_SOCK_NEW;
}

/* --- proto.c: sockets as the kernel sees them ------------------------------ */

int trib_sock_init(void);
void trib_sock_exit(void);
/* From now on, and until then, there can be sockets. */
void trib_sock_open(void);
void trib_sock_close(void);

/* --- option.c ---------------------------------------------------------------- */

int trib_sock_setsockopt(struct socket *sock, int level, int name,
			 sockptr_t val, unsigned int len);
int trib_sock_getsockopt(struct socket *sock, int level, int name,
			 char __user *val, int __user *len);
/* Lock held. */
void trib_sock_info(struct trib_sock *ts, struct trib_sock_info *info);
const struct trib_sock_error *trib_sock_error(const struct trib_sock *ts);

/* --- bind.c: a place becomes an engine --------------------------------------- */

int trib_sock_bind(struct socket *sock, struct sockaddr *addr, int len);
/* The others are told, then all of it goes. Lock held. */
void trib_sock_unbind(struct trib_sock *ts);

/* --- msg.c: messages ------------------------------------------------------------ */

int trib_sock_sendmsg(struct socket *sock, struct msghdr *m, size_t len);
int trib_sock_recvmsg(struct socket *sock, struct msghdr *m, size_t len,
		      int flags);
/* Of struct trib_host_ops. */
void trib_msg_done(struct trib_req *r);
/* Free all that nobody copies from. Lock held. */
void trib_msg_free_all(struct trib_sock *ts);
/* The next one, if it has a result, or NULL. Lock held. */
struct trib_msg *trib_msg_ready(const struct trib_sock *ts);
/* May a message of @bytes come? Lock held. */
bool trib_msg_room(const struct trib_sock *ts, u64 bytes);

/* --- work.c: who drives ----------------------------------------------------------- */

int trib_work_init(void);
void trib_work_exit(void);
void trib_work_setup(struct trib_sock *ts);
/* Nobody drives once this returns. The socket is not bound any more. */
void trib_work_stop(struct trib_sock *ts);
/* There is something to do. Any context. */
void trib_work_kick(struct trib_sock *ts);
/* One turn: take what has come, run the engine, tell who waits. Lock held.
 * Return: whether more has come than one turn takes.
 */
bool trib_work_turn(struct trib_sock *ts);
/* Tell those whom &trib_sock.wake names. Lock held. */
void trib_work_tell(struct trib_sock *ts);

/* What somebody waits for; called with the lock held. */
typedef bool trib_ready_fn(const struct trib_sock *ts, const void *arg);

/**
 * trib_work_wait() - drive until @ready, or until it is time
 * @timeo: jiffies; 0: one turn only.
 *
 * Lock held, on return as well; not in between. Return: 0, -EAGAIN, or what
 * a signal makes of it.
 */
int trib_work_wait(struct trib_sock *ts, trib_ready_fn *ready, const void *arg,
		   long timeo);

/* --- state.c: from one state to the next ------------------------------------------- */

/* After what has come: join, run, leave, end. Lock held; eng->now is set. */
void trib_state_turn(struct trib_sock *ts);
/* When to look again at the latest; 0: never. */
u64 trib_state_deadline(const struct trib_sock *ts);
/* No more messages: shutdown(). Lock held. */
void trib_state_leave(struct trib_sock *ts);
/* Of struct trib_host_ops. */
void trib_state_died(struct trib_engine *eng);

/* --- mem.c: bytes of messages, and of all sockets ----------------------------------- */

/* -EAGAIN: the socket has no more; -ENOBUFS: all together have not. Any context. */
int trib_mem_charge(struct trib_sock *ts, size_t bytes);
void trib_mem_uncharge(struct trib_sock *ts, size_t bytes);
/* Of struct trib_host_ops: what engines keep. */
int trib_mem_room(struct trib_engine *eng, size_t bytes);
int trib_mem_charge_all(u64 bytes);
void trib_mem_uncharge_all(u64 bytes);
u64 trib_mem_max(void);
void trib_mem_init(void);

/* --- claim.c: whose jobs are ---------------------------------------------------------- */

/* May the caller bind to @job? */
bool trib_claim_allows(struct net *net, u16 job);

/* --- netns.c: the sockets of a namespace ---------------------------------------------- */

/**
 * struct trib_netns - what a network namespace has
 * @socks:  bound sockets, by job << 16 | rank.
 * @claims: struct trib_claim, by job.
 */
struct trib_netns {
	struct xarray socks;
	struct xarray claims;
};

struct trib_netns *trib_netns(const struct net *net);
/* -EADDRINUSE: another one is that rank. */
int trib_netns_add(struct trib_sock *ts, u16 job, u16 rank);
void trib_netns_remove(struct trib_sock *ts);
/* The first one from *@index on, held (sock_put()), or NULL. */
struct trib_sock *trib_netns_next(struct net *net, unsigned long *index);
int trib_netns_init(void);
void trib_netns_exit(void);

/**
 * struct trib_view - what lists tell of a socket
 * @error: text; "" if it is not dead.
 */
struct trib_view {
	struct trib_sock_info info;
	u64 inode;
	kuid_t uid;
	char error[sizeof(((struct trib_sock_error *)0)->text)];
};

/* Takes the lock. Return: false if it was closed meanwhile. */
bool trib_sock_view(struct trib_sock *ts, struct trib_view *v);

/* --- list.c: netlink and events ---------------------------------------------------------- */

/* An event of @ts (TRIB_MODULE_EVENT_...). Lock held. */
void trib_sock_event(struct trib_sock *ts, u32 kind, u64 count);

#endif /* TRIB_SOCK_SOCK_H */
