/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * Collective sockets of the kernel module: what one rank of a job sends is a
 * message of elements, what it receives is their sum over all ranks.
 *
 *	fd = socket(AF_INET, SOCK_DGRAM, IPPROTO_TRIB);
 *	setsockopt(fd, SOL_TRIB, TRIB_SO_PLACE, &place, len);
 *	bind(fd, (struct sockaddr *)&addr, sizeof(addr));
 *	send(fd, gradient, bytes, 0);
 *	recv(fd, sum, bytes, 0);
 *
 * The kernel speaks the worker's side of trib_wire.h over UDP, so such ranks
 * and those of libtrib join one job. No capability is needed: who has the
 * job's cookie may take part, unless the job is claimed (TRIB_CMD_CLAIM_NEW)
 * for another user.
 *
 * A socket's life:
 *
 *	NEW ------> JOINING	bind(): addresses are checked, UDP ports bound
 *	JOINING --> RUNNING	everybody has joined; POLLOUT
 *	RUNNING --> LEAVING	shutdown(fd, SHUT_WR): no more messages; those under
 *				way are finished, then a barrier with all others,
 *				as in trib_detach(); POLLHUP at its end
 *	any ------> DEAD	the job cannot go on; POLLERR, and the error of
 *				every call from then on, once the results that
 *				were there are received; TRIB_SO_ERROR tells why
 *
 * close() without shutdown() is the end of a rank that died: the others are
 * told at once. Neither it nor the end of a process waits for anybody.
 */
#ifndef _UAPI_TRIB_SOCK_H
#define _UAPI_TRIB_SOCK_H

#include <linux/types.h>

#include "trib_attach.h"
#include "trib_wire.h"

/* Of socket(); the module's parameter `protocol` can be another one. */
#define IPPROTO_TRIB 253
/* Level of options and control messages. */
#define SOL_TRIB 7417

/**
 * struct sockaddr_trib - for bind(); getsockname() gives it back
 * @family: AF_INET.
 * @job:    job number.
 * @rank:   that this socket is.
 * @zero:   0.
 * @cookie: of the job. getsockname() says 0.
 *
 * As long as a struct sockaddr_in. bind() is -EINVAL if there is no place, or it
 * names another job, rank or cookie, or the socket is bound; -EACCES if the job is claimed for another
 * user; -EADDRINUSE if another socket of this network namespace is that rank,
 * or the place's UDP port is taken; -ENOMEM, -ENOBUFS beyond the limits.
 */
struct sockaddr_trib {
	__u16 family;
	__be16 job;
	__be16 rank;
	__u16 zero;
	__be64 cookie;
};
TRIB_ASSERT(sizeof(struct sockaddr_trib) == 16, "sockaddr_trib");

/**
 * enum trib_sockopt - options of level SOL_TRIB
 *
 * @TRIB_SO_PLACE:  set, before bind(): struct trib_attach_rep as tribd gives it
 *	or a ticket says it, of any length that holds its @ntree trees. @err
 *	must be 0 and @flags without TRIB_ATTACH_MAPPED. @nval and @window may
 *	be 0.
 * @TRIB_SO_WINDOW: u32: chunks in flight per tree at most, a power of 2 and at
 *	least 4; 0 (default): what the job says. Before bind().
 * @TRIB_SO_DTYPE:  u32, enum trib_sock_dtype: of messages that do not say.
 *	Default TRIB_SOCK_F32.
 * @TRIB_SO_TIMEOUT: u32: ms of silence after which a rank is dead; 0 (default):
 *	what the job says. Before bind().
 * @TRIB_SO_JOIN_TIMEOUT: u32: ms that others have to join; default 60000. Before
 *	bind().
 * @TRIB_SO_MEM:    u32: bytes that messages of this socket may take, from
 *	send() until recv(); default and most: module parameter mem_max. Like
 *	all of the socket's memory they count for the memory cgroup, and all
 *	sockets together for the parameter mem_total.
 * @TRIB_SO_INFO:   get: struct trib_sock_info.
 * @TRIB_SO_ERROR:  get: struct trib_sock_error: the newest. Unlike SO_ERROR it
 *	stays.
 */
enum trib_sockopt {
	TRIB_SO_PLACE = 1,
	TRIB_SO_WINDOW = 2,
	TRIB_SO_DTYPE = 3,
	TRIB_SO_TIMEOUT = 4,
	TRIB_SO_JOIN_TIMEOUT = 5,
	TRIB_SO_MEM = 6,
	TRIB_SO_INFO = 7,
	TRIB_SO_ERROR = 8,
};

/* Element types; numbers as in libtrib's enum trib_dtype. */
enum trib_sock_dtype {
	TRIB_SOCK_F32 = 0,
	TRIB_SOCK_I32 = 1,
};

/* Operations; numbers as in libtrib's enum trib_op. AVG: floats only. */
enum trib_sock_op {
	TRIB_SOCK_SUM = 0,
	TRIB_SOCK_AVG = 1,
	TRIB_SOCK_MAX = 2,
	TRIB_SOCK_MIN = 3,
};

/**
 * enum trib_collective - what a message is; n its elements, w the ranks
 * @TRIB_COLL_ALLREDUCE:      in n, out n.
 * @TRIB_COLL_REDUCE_SCATTER: in n * w, out this rank's n of the sum.
 * @TRIB_COLL_ALLGATHER:      in n, out n * w in order of ranks. @op is 0.
 * @TRIB_COLL_BROADCAST:      in n on all ranks (those of @root count), out n.
 *			      @op is 0.
 * @TRIB_COLL_BARRIER:        in 0, out 0. @op is 0.
 */
enum trib_collective {
	TRIB_COLL_ALLREDUCE = 0,
	TRIB_COLL_REDUCE_SCATTER = 1,
	TRIB_COLL_ALLGATHER = 2,
	TRIB_COLL_BROADCAST = 3,
	TRIB_COLL_BARRIER = 4,
};

/* Control messages of level SOL_TRIB. */
enum trib_cmsg {
	TRIB_CM_SEND = 1, /* struct trib_cm_send, to sendmsg() */
	TRIB_CM_RECV = 2, /* struct trib_cm_recv, from recvmsg() */
};

/**
 * struct trib_cm_send - what a message is
 * @id:         for the result; any number.
 * @collective: enum trib_collective.
 * @op:         enum trib_sock_op.
 * @dtype:      enum trib_sock_dtype.
 * @zero:       0.
 * @root:       rank; broadcast only, else 0.
 *
 * A message without is an allreduce sum of the socket's dtype, and its id the
 * number of messages before it. All ranks must send the same sequence of
 * collectives, operations, types and lengths.
 *
 * sendmsg() takes a whole message or nothing. It waits until everybody has
 * joined and there is memory; with MSG_DONTWAIT -EAGAIN. -EMSGSIZE: more than
 * TRIB_SO_MEM in all; -ENOBUFS: more than all sockets together may take, which
 * nobody waits for; -EINVAL: not whole elements, or no such collective; -EPIPE:
 * after shutdown(); -EISCONN: an address. At most 1024 messages may be under way
 * or wait for recvmsg(); who may not wait gets -EAGAIN, and POLLOUT once a
 * message as long as that one fits. An allgather takes n * w.
 */
struct trib_cm_send {
	__u64 id;
	__u8 collective;
	__u8 op;
	__u8 dtype;
	__u8 zero;
	__u32 root;
};
TRIB_ASSERT(sizeof(struct trib_cm_send) == 16, "trib_cm_send");

/**
 * struct trib_cm_recv - whose result this is
 * @id:    of the message.
 * @bytes: of the whole result.
 * @err:   0, or the positive errno that the message failed with; then there
 *	   are no bytes.
 * @rank:  the rank whose value was not finite (err EDOM), or -1.
 * @index: of that value, or -1.
 *
 * recvmsg() gives results in the order in which their messages were sent. One
 * that is longer than the buffer is cut (MSG_TRUNC). Of a failed one recvmsg()
 * returns the error if there is no room for control messages, else 0 bytes.
 * At the end (after shutdown(SHUT_RD), or LEFT) it returns 0. What could not be
 * copied (-EFAULT) is still there. MSG_PEEK and MSG_TRUNC as for UDP; SIOCINQ
 * says how long the next one is, SIOCOUTQ how many bytes of messages have no
 * result yet.
 */
struct trib_cm_recv {
	__u64 id;
	__u64 bytes;
	__s32 err;
	__s32 rank;
	__s64 index;
};
TRIB_ASSERT(sizeof(struct trib_cm_recv) == 32, "trib_cm_recv");

enum trib_sock_state {
	TRIB_SOCK_NEW = 0,
	TRIB_SOCK_JOINING = 1,
	TRIB_SOCK_RUNNING = 2,
	TRIB_SOCK_LEAVING = 3,
	TRIB_SOCK_LEFT = 4,
	TRIB_SOCK_DEAD = 5,
};

/**
 * struct trib_sock_info - a socket's state and counters since bind()
 * @state:  enum trib_sock_state.
 * @job, @rank, @world, @ntree: of the place.
 * @nval, @window, @epoch: of the first tree; 0 before it runs.
 * @mem:    bytes that messages take now. @mem_max: that they may take.
 * The rest is as in libtrib's struct trib_counters.
 */
struct trib_sock_info {
	__u32 state;
	__u16 job;
	__u16 rank;
	__u16 world;
	__u16 ntree;
	__u16 nval;
	__u16 window;
	__u32 epoch;
	__u32 zero;
	__u64 mem;
	__u64 mem_max;
	__u64 messages;
	__u64 chunks;
	__u64 sent_packets;
	__u64 sent_bytes;
	__u64 recv_packets;
	__u64 recv_bytes;
	__u64 resends;
	__u64 fast_resends;
	__u64 needs;
	__u64 dups;
	__u64 bad_packets;
	__u64 rtt_us;
	__u64 rtt_min_us;
	__u64 inflight;
	__u64 last_count;
};
TRIB_ASSERT(sizeof(struct trib_sock_info) == 24 + 8 * 17, "trib_sock_info");

/* Numbers as in libtrib's enum trib_error_code, which says more. */
enum trib_sock_code {
	TRIB_SOCK_ERR_NONE = 0,
	TRIB_SOCK_ERR_ARGUMENT = 1,
	TRIB_SOCK_ERR_SYSTEM = 2,
	TRIB_SOCK_ERR_NONFINITE = 3,
	TRIB_SOCK_ERR_DEAD = 4,
	TRIB_SOCK_ERR_GONE = 5,
	TRIB_SOCK_ERR_REJOIN = 6,
	TRIB_SOCK_ERR_RELAY = 7,
	TRIB_SOCK_ERR_MISSING = 8,
	TRIB_SOCK_ERR_REMOVED = 9,
};

/**
 * struct trib_sock_error - why
 * @code: enum trib_sock_code; 0: nothing failed.
 * @err:  positive errno.
 * @rank: to blame, or -1.
 * @zero: 0.
 * @index: element of the message, or -1.
 * @text: one line.
 */
struct trib_sock_error {
	__s32 code;
	__s32 err;
	__s32 rank;
	__s32 zero;
	__s64 index;
	char text[232];
};
TRIB_ASSERT(sizeof(struct trib_sock_error) == 256, "trib_sock_error");

#endif /* _UAPI_TRIB_SOCK_H */
