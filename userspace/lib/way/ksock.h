/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A handle's collective socket, and its messages: taken by the kernel, or
 * waiting for room there. For ksock.c and ksock_call.c.
 */
#ifndef TRIB_LIB_KSOCK_H
#define TRIB_LIB_KSOCK_H

#include <sys/uio.h>

#include "carrier.h"
#include "lib/place/tribd.h"
#include "uapi/trib_sock.h"

/**
 * struct ksock_msg - a message that has no result yet
 * @next: in order of issue, which is that of sending and of results.
 * @req:  whose it is. Gone if the handle is dead.
 * @call: what it is.
 * @id:   for the kernel.
 * @sent: the kernel has it.
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
 * @fd:     it, or -1.
 * @watch:  of tribd, if the place is from there.
 * @next_id: of messages.
 * @head, @tail: messages without result.
 * @unsent: the first of them that the kernel has not taken; NULL: none.
 * @retry_ns: when it is asked again.
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

/* ksock.c: the handle ends, with what the socket says, or else @err. */
void trib_ksock_die(struct trib *t, int err, const char *what);

/* ksock_call.c: messages and their results; as in way.h. */
int trib_ksock_issue(struct trib *t, const struct trib_call *call, struct trib_req **out);
/* Offer the kernel what it has not taken. */
void trib_ksock_send(struct trib *t);
/* Take results. Return: how many. */
int trib_ksock_results(struct trib *t);
void trib_ksock_drop(struct trib_ksock *k);

#endif /* TRIB_LIB_KSOCK_H */
