/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A handle's collective socket, and its messages, whether the kernel has taken
 * them or they wait for room. For ksock.c and ksock_call.c.
 */
#ifndef TRIB_LIB_KSOCK_H
#define TRIB_LIB_KSOCK_H

#include <sys/uio.h>

#include "carrier.h"
#include "lib/place/tribd.h"
#include "uapi/trib_sock.h"

/**
 * struct ksock_msg - a message without a result yet
 * @next: in order of issue, which is the order of sending and of results.
 * @req:  its request; freed if the handle is dead.
 * @call: the collective and its buffers.
 * @id:   number by which the kernel labels the result.
 * @sent: the kernel has taken it.
 */
struct ksock_msg {
	struct ksock_msg *next;
	struct trib_req *req;
	struct trib_call call;
	uint64_t id;
	bool sent;
};

/**
 * struct trib_ksock - a handle's collective socket
 * @fd:     the socket, or -1.
 * @watch:  connection to tribd, if the place came from it.
 * @next_id: id of the next message.
 * @head, @tail: messages without result.
 * @unsent: first message that the kernel has not taken, or NULL.
 * @retry_ns: time to offer @unsent again.
 */
struct trib_ksock {
	int fd;
	struct trib_watch watch;
	uint64_t next_id;
	struct ksock_msg *head;
	struct ksock_msg **tail;
	struct ksock_msg *unsent;
	uint64_t retry_ns;
};

/*
 * ksock.c: end the handle with the socket's own error, or with @err if it has
 * none.
 */
void trib_ksock_die(struct trib *t, int err, const char *what);

/* ksock_call.c: messages and their results; as in way.h. */
int trib_ksock_issue(struct trib *t, const struct trib_call *call, struct trib_req **out);
/* Offer the kernel the messages that it has not taken. */
void trib_ksock_send(struct trib *t);
/* Take results. Return: their number. */
int trib_ksock_results(struct trib *t);
void trib_ksock_drop(struct trib_ksock *k);

#endif /* TRIB_LIB_KSOCK_H */
