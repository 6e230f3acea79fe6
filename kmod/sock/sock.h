/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of collective sockets (uapi/trib_sock.h). README.md has the
 * picture.
 *
 * Locks, outer first:
 *
 *	ts->lock	the engine, the messages, the state. May sleep. No code
 *			touches user memory under it: a page fault can last
 *			as long as the user likes.
 *	rtnl, the UDP sockets' own locks
 *
 * Softirq uses only &trib_sock.flags, @drivers and @wait, without a lock.
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
struct trib_handed;
struct trib_io;
struct trib_user;

/* Limit of messages per socket, from send() until recv(). */
#define TRIB_SOCK_MESSAGES 1024

/**
 * struct trib_msg - one collective of a socket
 * @list:  in ts->msgs, in order of sending.
 * @refs:  one for the list, one for each recvmsg() that copies.
 * @ts:    its socket; memory is charged to it.
 * @req:   the engine's request; NULL once the user receives it.
 * @id:    the user's number.
 * @buf:   @size charged bytes: elements, later the result.
 * @bytes: bytes of the result, from @buf on.
 * @in_bytes: bytes that were sent.
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

/* Bytes of a result for the user: a message that failed has none, unless it overflowed. */
static inline size_t trib_msg_bytes(const struct trib_msg *m)
{
	return m->err && m->err != ERANGE ? 0 : m->bytes;
}

/* Bit of &trib_sock.flags: packets or the timer are due. */
#define TRIB_SOCK_PENDING 0

/**
 * struct trib_sock - a collective socket
 * @inet:   must be first: the kernel allocates it for AF_INET.
 * @lock:   see above.
 *
 * Options, which bind() uses:
 * @place, @window, @timeout_ms, @join_timeout_ms: see enum trib_sockopt.
 * @dtype:  element type of messages without a control message.
 * @handed: what TRIB_SO_CELLS handed over, or NULL; fixed while bound. @handed_bytes: charged.
 *
 * Memory of messages:
 * @user:   its memory is charged to this user, too.
 * @mem, @mem_max: bytes in use, and the limit.
 * @want:   size that a sender with MSG_DONTWAIT did not get; POLLOUT waits for it.
 * @spare:  @spare_size bytes for the next message (buffer.c), or NULL.
 * @fixed:  bytes of the engine, charged to the user and the total.
 * @full:   error of a charge that the engine needs, or 0.
 *
 * State:
 * @state:  enum trib_sock_state; written under @lock.
 * @index:  key in the namespace's table, while bound.
 * @eng:    the engine, while bound.
 * @io:     the UDP sockets, while bound.
 * @error:  newest error before bind(); afterwards the engine has it.
 * @msgs:   @nmsg messages; @undone of them, @undone_bytes long, have no result.
 * @next_id: number of the next message without a control message.
 * @seen_ns: time of the newest result; &trib_tally.chunks was @seen_chunks.
 * @stalled: the stall was reported.
 *
 * Driving (work.c):
 * @flags:   TRIB_SOCK_PENDING.
 * @drivers: number of threads in sendmsg() or recvmsg() that drive.
 * @wait:    they sleep here.
 * @work:    drives if no thread does.
 * @timer:   kicks at @due; 0 if it does not run.
 * @wake:    TRIB_WAKE_ bits to report at the end of a turn; @told counts reports.
 * @memcg:   memory cgroup that @work charges.
 */
struct trib_sock {
	struct inet_sock inet;
	struct mutex lock;

	struct trib_attach_rep *place;
	u32 window;
	u32 timeout_ms;
	u32 join_timeout_ms;
	u32 dtype;
	struct trib_handed *handed;
	u64 handed_bytes;

	struct trib_user *user;
	atomic64_t mem;
	u64 mem_max;
	u64 want;
	void *spare;
	size_t spare_size;
	u64 fixed;
	int full;

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
/* Allow, and no longer allow, socket() to make collective sockets. */
void trib_sock_open(void);
void trib_sock_close(void);

/* --- option.c ---------------------------------------------------------------- */

int trib_sock_setsockopt(struct socket *sock, int level, int name, sockptr_t val, unsigned int len);
int trib_sock_getsockopt(struct socket *sock, int level, int name, char __user *val,
			 int __user *len);
/* Lock held. */
void trib_sock_info(struct trib_sock *ts, struct trib_sock_info *info);
const struct trib_sock_error *trib_sock_error(const struct trib_sock *ts);

/* --- bind.c: a place becomes an engine --------------------------------------- */

int trib_sock_bind(struct socket *sock, struct sockaddr *addr, int len);
/* Tell the other ranks, then free all that bind() made. Lock held. */
void trib_sock_unbind(struct trib_sock *ts);

/* --- hand_over.c: cells ------------------------------------------------------- */

struct trib_cells;

/* TRIB_SO_CELLS. */
int trib_cells_set(struct trib_sock *ts, sockptr_t val, unsigned int len);
/* Give up what was handed over, if any; it kicks no more. Lock held. */
void trib_cells_drop(struct trib_sock *ts);
/* cells() of struct trib_transport_ops. */
int trib_cells_of(struct trib_engine *eng, struct trib_stream *s, struct trib_cells *out);
/* Read results and records. Lock held. */
void trib_cells_recv(struct trib_sock *ts);
/* Did the newest trib_cells_recv() find results? More may follow at once. */
bool trib_cells_busy(const struct trib_sock *ts);
/* Arm wake-ups. Return: false if there is news: take another turn. Lock held. */
bool trib_cells_may_sleep(struct trib_sock *ts);

/* --- msg.c: messages ------------------------------------------------------------ */

int trib_sock_sendmsg(struct socket *sock, struct msghdr *m, size_t len);
int trib_sock_recvmsg(struct socket *sock, struct msghdr *m, size_t len, int flags);
/* done() of struct trib_host_ops. */
void trib_msg_done(struct trib_req *r);
/* Free all messages; a recvmsg() that copies one frees it later. Lock held. */
void trib_msg_free_all(struct trib_sock *ts);
/* The first message if it has a result, else NULL. Lock held. */
struct trib_msg *trib_msg_ready(const struct trib_sock *ts);
/* Is there room for a message of @bytes? Lock held. */
bool trib_msg_room(const struct trib_sock *ts, u64 bytes);

/* --- work.c: drivers ----------------------------------------------------------- */

int trib_work_init(void);
void trib_work_exit(void);
void trib_work_setup(struct trib_sock *ts);
/* Stop timer and worker and wait for them. Call it after unbind. */
void trib_work_stop(struct trib_sock *ts);
/* Make a driver take a turn. Any context. */
void trib_work_kick(struct trib_sock *ts);
/* Receive packets, run the engine, report to waiters. Lock held. */
void trib_work_turn(struct trib_sock *ts);
/* Wake waiters as &trib_sock.wake says. Lock held. */
void trib_work_tell(struct trib_sock *ts);

/* A condition to wait for; called with the lock held. */
typedef bool trib_ready_fn(const struct trib_sock *ts, const void *arg);

/**
 * trib_work_wait() - drive until @ready returns true
 * @timeo: timeout in jiffies; 0: one turn only.
 *
 * The lock is held on entry and return, but released while sleeping. Return: 0,
 * -EAGAIN after the timeout, or the errno of an interrupted call.
 */
int trib_work_wait(struct trib_sock *ts, trib_ready_fn *ready, const void *arg, long timeo);

/* --- state.c: from one state to the next ------------------------------------------- */

/* Advance the state after packets: join, run, leave. Lock held, eng->now set. */
void trib_state_turn(struct trib_sock *ts);
/* Latest time of the next turn; 0 if none is needed. */
u64 trib_state_deadline(const struct trib_sock *ts);
/* Begin to leave, for shutdown(). Lock held. */
void trib_state_leave(struct trib_sock *ts);
/* died() of struct trib_host_ops. */
void trib_state_died(struct trib_engine *eng);

/* --- user.c: users of sockets ---------------------------------------------------------- */

/**
 * struct trib_user - a user with sockets, in any network namespace
 * @socks: number of sockets; each holds the user.
 * @used:  bytes charged.
 */
struct trib_user {
	kuid_t uid;
	unsigned int socks;
	atomic64_t used;
};

/* The user that the current task's new socket is charged to; NULL without memory. */
struct trib_user *trib_user_get(void);
/* NULL: does nothing. */
void trib_user_put(struct trib_user *u);

/* --- mem.c: limits of memory ----------------------------------------------------------- */

/*
 * Return: -EAGAIN above the socket's limit, -EDQUOT above the user's, -ENOBUFS above the
 * total. Any context.
 */
int trib_mem_charge(struct trib_sock *ts, size_t bytes);
void trib_mem_uncharge(struct trib_sock *ts, size_t bytes);
/*
 * room() of struct trib_host_ops: charge buffers of engines to the user and the total.
 * Return: the same; -E2BIG beyond mem_max.
 */
int trib_mem_room(struct trib_engine *eng, size_t bytes);
int trib_mem_charge_all(struct trib_sock *ts, u64 bytes);
void trib_mem_uncharge_all(struct trib_sock *ts, u64 bytes);
u64 trib_mem_max(void);
void trib_mem_init(void);

/* --- claim.c: jobs reserved for users ---------------------------------------- */

/* May the current task bind to @job? */
bool trib_claim_allows(struct net *net, u16 job);

/* --- netns.c: the sockets of a namespace ---------------------------------------------- */

/**
 * struct trib_netns - sockets and claims of a network namespace
 * @socks:  bound sockets, by job << 16 | rank.
 * @claims: struct trib_claim, by job.
 */
struct trib_netns {
	struct xarray socks;
	struct xarray claims;
};

struct trib_netns *trib_netns(const struct net *net);
/* Return: 0; -EADDRINUSE if another socket is that rank; -ENOMEM. */
int trib_netns_add(struct trib_sock *ts, u16 job, u16 rank);
void trib_netns_remove(struct trib_sock *ts);
/* The first socket at or after *@index, or NULL. The caller must sock_put() it. */
struct trib_sock *trib_netns_next(struct net *net, unsigned long *index);
int trib_netns_init(void);
void trib_netns_exit(void);

/**
 * struct trib_view - state of a socket for lists
 * @user_mem: bytes that all sockets of its user use.
 * @error: text of a dead socket, else "".
 */
struct trib_view {
	struct trib_sock_info info;
	u64 inode;
	kuid_t uid;
	u64 user_mem;
	char error[sizeof(((struct trib_sock_error *)0)->text)];
};

/* Fill @v. Takes the lock. Return: false if the socket is not bound any more. */
bool trib_sock_view(struct trib_sock *ts, struct trib_view *v);

/* --- list.c: netlink and events ---------------------------------------------------------- */

/* Send an event about @ts (TRIB_MODULE_EVENT_...). Lock held. */
void trib_sock_event(struct trib_sock *ts, u32 kind, u64 count);

#endif /* TRIB_SOCK_SOCK_H */
