/* SPDX-License-Identifier: BSD-2-Clause */
/* One connection of the bootstrap: messages in, messages out, both without waiting. */
#ifndef PEER_BOOT_CONN_H
#define PEER_BOOT_CONN_H

#include <stdatomic.h>

#include "base/addr.h"
#include "peer/boot/wire.h"

/** struct boot_body - a body that several connections send, and both threads hold */
struct boot_body {
	atomic_uint refs;
	uint32_t len;
	uint8_t data[];
};

/** struct boot_msg - a message that came; @body lives until the next one is asked for */
struct boot_msg {
	enum boot_type type;
	const uint8_t *body;
	uint32_t len;
};

/**
 * struct boot_conn - a connection
 * @fd:      non-blocking, or -1: none.
 * @rank:    at the other end.
 * @proved:  keys are set; from then on all is authentic.
 * @max:     largest body that may come, once it is proved.
 * @bye:     the other end said BYE.
 * @heard:   when something came last, in ms.
 * @end:     when it must be proved.
 * @hello, @keys: of the handshake.
 */
struct boot_conn {
	int fd;
	uint32_t rank;
	bool proved;
	bool bye;
	uint64_t max;
	uint64_t heard;
	uint64_t end;
	struct boot_hello hello;
	bool has_hello;
	struct boot_keys keys;

	struct trib_key in_key, out_key;
	uint64_t in_count, out_count;
	struct boot_head head;
	size_t head_at;
	uint8_t *body;
	size_t body_at, body_room;
	struct boot_out *out, **out_end;
};

/* Take over @fd, which becomes non-blocking. */
void boot_conn_init(struct boot_conn *c, int fd);
/* Close, and free what it holds. */
void boot_conn_end(struct boot_conn *c);
/* Move a connection; @from is as if never used. */
void boot_conn_move(struct boot_conn *to, struct boot_conn *from);
/* Both have proved the key: messages are authentic from here on. */
void boot_conn_secure(struct boot_conn *c, bool is_root, uint64_t max);

/**
 * boot_conn_read() - take the next message that has come as a whole
 * Return: 1; 0: none yet; -ECONNRESET: it ended; -EPROTO, -EBADMSG: garbage.
 */
int boot_conn_read(struct boot_conn *c, struct boot_msg *m);

/* Poll one socket until the time @end, ms. Return: 0, or -ETIMEDOUT. */
int boot_await(int fd, short events, uint64_t end);
/* Connect to @ip until then; *@out does not block. Return: 0 or -errno. */
int boot_dial(const struct in6_addr *ip, uint16_t port, uint64_t end, int *out);

/* A body; the caller has one reference. NULL: no memory. */
struct boot_body *boot_body_new(uint64_t len);
void boot_body_put(struct boot_body *b);

/* Queue a message. The connection takes a reference of its own. Return: 0 or -errno. */
int boot_conn_push(struct boot_conn *c, enum boot_type type, struct boot_body *body);
/* The same with a copy of @data. */
int boot_conn_say(struct boot_conn *c, enum boot_type type, const void *data, size_t len);
/* FAULT or REFUSE. */
int boot_conn_fault(struct boot_conn *c, enum boot_type type, int code, int rank, const char *text);

/* Write what the socket takes. Return: 1: all, 0: some is left, -errno: it ended. */
int boot_conn_flush(struct boot_conn *c);

#endif /* PEER_BOOT_CONN_H */
