/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * Collective sockets of the kernel module: a rank of a job sends messages of
 * elements and receives their sums over all ranks.
 *
 *	fd = socket(AF_INET, SOCK_DGRAM, IPPROTO_TRIB);
 *	setsockopt(fd, SOL_TRIB, TRIB_SO_PLACE, &place, len);
 *	bind(fd, (struct sockaddr *)&addr, sizeof(addr));
 *	send(fd, gradient, bytes, 0);
 *	recv(fd, sum, bytes, 0);
 *
 * The kernel speaks the worker's side of trib_wire.h over UDP, so ranks with
 * sockets and ranks with libtrib join the same job. Any process with a place, which
 * has the keys of one rank, may take part, without capabilities, unless the job is
 * claimed for another user (TRIB_CMD_CLAIM_NEW).
 *
 * States:
 *
 *	NEW ------> JOINING	bind() checks the address and binds UDP ports
 *	JOINING --> RUNNING	all ranks have joined; POLLOUT
 *	RUNNING --> LEAVING	shutdown(fd, SHUT_WR): no more messages
 *	LEAVING --> LEFT	messages are finished and all ranks have passed a
 *				barrier, as in trib_detach(); POLLHUP
 *	any ------> DEAD	the job cannot go on; POLLERR. recv() still returns
 *				the results that are there; then every call fails.
 *				TRIB_SO_ERROR has the reason
 *
 * close() without shutdown() tells the other ranks at once that this rank is gone.
 * Neither close() nor the end of a process waits.
 */
#ifndef _UAPI_TRIB_SOCK_H
#define _UAPI_TRIB_SOCK_H

#include <linux/types.h>

#include "trib_attach.h"
#include "trib_wire.h"

/* Protocol for socket(); the module's parameter `protocol` changes it. */
#define IPPROTO_TRIB 253
/* Level of socket options and control messages. */
#define SOL_TRIB 7417

/**
 * struct sockaddr_trib - address of bind() and getsockname()
 * @family: AF_INET.
 * @job:    job number.
 * @rank:   rank of this socket.
 * @zero:   0.
 * @secret: first 8 bytes of the place's up key: a mistaken address does not bind. Zeros
 *          from getsockname().
 *
 * It has the size of a struct sockaddr_in. bind() fails with:
 *
 *	-EINVAL		no TRIB_SO_PLACE; another job, rank or secret than the place's;
 *			the socket is bound
 *	-EACCES		the job is claimed for another user
 *	-EADDRINUSE	another socket of this network namespace is that rank, or the
 *			place's UDP port is in use
 *	-ENOMEM, -E2BIG, -EDQUOT, -ENOBUFS	beyond the limits of memory
 */
struct sockaddr_trib {
	__u16 family;
	__be16 job;
	__be16 rank;
	__u16 zero;
	__u8 secret[8];
};
TRIB_ASSERT(sizeof(struct sockaddr_trib) == 16, "sockaddr_trib");

/**
 * enum trib_sockopt - options of level SOL_TRIB
 *
 * @TRIB_SO_PLACE:  set only, before bind(): struct trib_attach_rep from tribd or
 *	from a ticket, long enough for its @ntree trees. @err must be 0. @nval and
 *	@window may be 0. With TRIB_ATTACH_MAPPED it needs TRIB_SO_CELLS, and then
 *	forgets those of an earlier place.
 * @TRIB_SO_WINDOW: u32, set before bind(): limit of chunks in flight per tree, a
 *	power of 2 from 4 on; 0 (default): the job's.
 * @TRIB_SO_DTYPE:  u32, enum trib_sock_dtype: element type of messages without a
 *	struct trib_cm_send. Default: TRIB_SOCK_F32.
 * @TRIB_SO_TIMEOUT: u32, set before bind(): ms of silence after which a rank is
 *	dead; 0 (default): the job's.
 * @TRIB_SO_JOIN_TIMEOUT: u32, set before bind(): ms for other ranks to join;
 *	default: 60000.
 * @TRIB_SO_MEM:    u32: limit of bytes for messages of this socket, from send()
 *	until recv(). Default and maximum: module parameter mem_max. All of the
 *	socket's memory is charged to the memory cgroup and to the module's
 *	parameters mem_total and, for the user who made it, mem_user.
 * @TRIB_SO_INFO:   get only: struct trib_sock_info.
 * @TRIB_SO_ERROR:  get only: struct trib_sock_error, the newest error. Reading does
 *	not clear it, unlike SO_ERROR.
 * @TRIB_SO_CELLS:  set only, after TRIB_SO_PLACE and before bind(): struct
 *	trib_sock_cells, the descriptors that tribd sent with the place.
 * @TRIB_SO_EPOCHS: get only: u32 for each tree of the place, in its order: its epoch,
 *	0 before it runs; nothing before bind(). After TRIB_SO_CELLS the process must
 *	tell tribd (TRIB_ATTACH_EPOCH) once POLLOUT has come, before the first message.
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
	TRIB_SO_CELLS = 9,
	TRIB_SO_EPOCHS = 10,
};

/**
 * struct trib_sock_cells - descriptors of mapped delivery (trib_attach.h), from tribd
 * @ring:  ring buffer of the rank.
 * @cells: array of cells and a desk for each tree of the place, and no more.
 *
 * The socket takes part by these cells as a process would: XDP delivers results there, and
 * sends what the socket leaves to it; the socket drains the ring. Joining and the rest go by
 * UDP. The process may close the descriptors and keeps tribd's connection; it should not map
 * the memory, and whatever it writes there spoils its own sums at most.
 *
 * The kernel maps the memory itself and charges it to mem_user and mem_total, like the
 * buffers of a socket without cells, until close(). Errors, with a text in TRIB_SO_ERROR:
 *
 *	-EINVAL		no place with mapped delivery, another length than its trees
 *			need, or a descriptor of another kind or size
 *	-EBADF		a descriptor is not open
 *	-EACCES, -EPERM	the process may not map it for writing
 *	-ENOMEM, -E2BIG, -EDQUOT, -ENOBUFS	beyond the limits of memory
 *	-EISCONN	the socket is bound
 */
struct trib_sock_cells {
	__s32 ring;
	__s32 cells[TRIB_ATTACH_TREES];
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
 * enum trib_collective - collectives; n elements, w ranks
 * @TRIB_COLL_ALLREDUCE:      in n, out n.
 * @TRIB_COLL_REDUCE_SCATTER: in n * w, out this rank's n of the sum.
 * @TRIB_COLL_ALLGATHER:      in n, out n * w in order of ranks. @op is 0.
 * @TRIB_COLL_BROADCAST:      in n on all ranks, out the n of @root. @op is 0.
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
 * struct trib_cm_send - type of a message
 * @id:         any number; the result carries it.
 * @collective: enum trib_collective.
 * @op:         enum trib_sock_op.
 * @dtype:      enum trib_sock_dtype.
 * @zero:       0.
 * @root:       rank; broadcast only, else 0.
 *
 * A message without this control message is an allreduce sum of the socket's
 * dtype; its id is the number of messages before it. All ranks must send the same
 * sequence of collectives, operations, types and lengths.
 *
 * sendmsg() takes a whole message or nothing. It waits until all ranks have joined
 * and there is memory. At most 1024 messages may wait for a result or recvmsg().
 * An allgather takes memory for n * w elements. Errors:
 *
 *	-EAGAIN		MSG_DONTWAIT, and it would wait; POLLOUT comes once a message
 *			of the same size fits
 *	-EMSGSIZE	the message exceeds TRIB_SO_MEM
 *	-EDQUOT		the sockets of this user would exceed mem_user; it does not wait
 *	-ENOBUFS	all sockets together would exceed mem_total; it does not wait
 *	-EINVAL		incomplete elements, or no such collective
 *	-EPIPE		after shutdown()
 *	-EISCONN	the call has an address
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
 * struct trib_cm_recv - description of a result
 * @id:    id of its message.
 * @bytes: bytes of the whole result.
 * @err:   0, or the positive errno of a failed message, which has no bytes; only
 *         that of ERANGE has its result: a sum exceeds the largest fp32.
 * @rank:  EDOM: the rank with a value that is not finite; else -1.
 * @index: EDOM: index of that value; ERANGE: of the first infinite sum; else -1.
 *
 * recvmsg() returns results in the order of their messages. A result longer than
 * the buffer is cut (MSG_TRUNC). For a failed message recvmsg() returns 0 bytes, or
 * the error if there is no room for control messages. It returns 0 after
 * shutdown(SHUT_RD) and in state LEFT. A result that could not be copied (-EFAULT)
 * stays queued. MSG_PEEK and MSG_TRUNC work as for UDP. SIOCINQ returns the length
 * of the next result, SIOCOUTQ the bytes of messages without a result.
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
 * @job, @rank, @world, @ntree: from the place.
 * @nval, @window, @epoch: from the first tree; 0 before it runs.
 * @mem:    bytes in use by messages; @mem_max: their limit.
 *
 * The other fields are those of libtrib's struct trib_counters. @carried, of @sent_packets,
 * are those that XDP sent.
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
	__u64 carried;
};
TRIB_ASSERT(sizeof(struct trib_sock_info) == 24 + 8 * 18, "trib_sock_info");

/* Numbers as in libtrib's enum trib_error_code, which documents them. */
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
	TRIB_SOCK_ERR_OVERFLOW = 10,
};

/**
 * struct trib_sock_error - the newest error
 * @code: enum trib_sock_code; 0: none.
 * @err:  positive errno.
 * @rank: rank that caused it, or -1.
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
