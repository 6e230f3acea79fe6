/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A port over TCP sockets of the kernel, from inside. stream.c has its operations,
 * stream_link.c what moves on a link, stream_meet.c how two ends meet. For hosts without
 * RDMA it costs less than libfabric over TCP: one system call sends a chunk, two receive
 * it, into its slot or its place.
 *
 *	lower rank ---- connects, hello: both tokens ---> listener of the higher one
 *	           <--- hello -------------------------
 *	both ways: { struct stream_head, values }*
 */
#ifndef PEER_STREAM_H
#define PEER_STREAM_H

#include <sys/socket.h>

#include "base/addr.h"
#include "peer/net/fault.h"
#include "peer/net/flow.h"
#include "peer/net/port.h"

#define STREAM_MAGIC 0x31545354U /* "TST1", also tells byte orders apart */
#define STREAM_TOKEN 16
#define STREAM_PENDING 32 /* connections that have not said who they are */

/** struct stream_blob - what peers must know of a port */
struct stream_blob {
	uint32_t magic;
	uint32_t rank;
	uint64_t chunk;
	uint32_t slots;
	uint16_t port;
	uint16_t zero;
	struct in6_addr addr; /* IPv4 mapped */
	uint8_t token[STREAM_TOKEN];
};

/** struct stream_hello - first message of either end; @to: token of the other one */
struct stream_hello {
	uint32_t magic;
	uint32_t rank;
	uint8_t from[STREAM_TOKEN];
	uint8_t to[STREAM_TOKEN];
};

/**
 * enum stream_kind - messages
 * @STREAM_STAGED: @len bytes for the next slot. @STREAM_DIRECT: for @off of the memory that
 *                 was announced last.
 * @STREAM_NOTE:   announcement of @off bytes. @STREAM_CREDIT: nothing but @taken.
 */
enum stream_kind {
	STREAM_STAGED = 1,
	STREAM_DIRECT,
	STREAM_NOTE,
	STREAM_CREDIT,
};

/** struct stream_head - @taken: chunks that the sender has given back */
struct stream_head {
	uint32_t len;
	uint8_t kind;
	uint8_t zero;
	uint16_t taken;
	uint64_t off;
};

/** struct stream_out - what the socket has not taken yet of one message */
struct stream_out {
	struct stream_head head;
	size_t head_left;
	const uint8_t *data;
	size_t left;
};

/**
 * struct stream_in - the message that comes
 * @got: bytes of @head that are there. @data: where @left bytes of values go.
 */
struct stream_in {
	struct stream_head head;
	size_t got;
	uint8_t *data;
	size_t left;
};

/**
 * struct stream_link - the way to one peer
 * @known: connect() took its blob. @up: both have said hello.
 * @blocked: the socket takes no more now: epoll waits for room.
 * @note_due, @credit_due: to be told when @out is sent.
 * @came:   chunks that came; @staged: of them to slots.
 * @notes:  announcements made; @place: the last. @heard, @target_len: of the peer's.
 */
struct stream_link {
	uint32_t rank;
	bool known, up, blocked, note_due, credit_due;
	int sock;
	uint8_t token[STREAM_TOKEN];
	struct peer_flow flow;
	struct stream_out out;
	struct stream_in in;
	uint32_t came, staged;
	uint32_t notes, heard;
	uint8_t *place;
	uint64_t place_len, target_len;
	uint8_t *slots;
};

struct stream_port {
	struct peer_port port;
	uint32_t rank, npeer, slots;
	size_t chunk, area_len;
	uint8_t *area;
	struct in6_addr addr;
	uint16_t tcp_port;
	int listener, events;
	int pending[STREAM_PENDING];
	unsigned int next_pending;
	uint32_t unsent; /* links with values in @out */
	uint8_t token[STREAM_TOKEN];
	struct peer_fault fault;
	struct stream_link *links;
};

/* Subjects of events of epoll: a link, or one of these. */
enum { STREAM_EV_LISTENER = 1 << 16, STREAM_EV_PENDING };

/* stream_meet.c: make the listener. Return: 0 or -errno, a fault. */
int stream_meet_open(struct stream_port *s, const char *nic);
void stream_meet_close(struct stream_port *s);
/* Go to a higher rank, or wait for a lower one. */
int stream_meet_connect(struct stream_port *s, uint32_t link, const struct stream_blob *b);
/* Look at connections that wait to become a link's. */
void stream_meet_look(struct stream_port *s);
/* Something happened to a socket that is no link's yet. Return: 0 or -errno. */
int stream_meet_event(struct stream_port *s, uint32_t what);
/* The socket of a link that is not up has something. Return: 0 or -errno. */
int stream_meet_hello(struct stream_port *s, uint32_t link);
/* Wait for input on a link's socket, and for room if it is @blocked. */
int stream_watch(struct stream_port *s, uint32_t link, int op);

/* stream_link.c */
/* Send a message, all of it or a part that stream_flush() completes. 0 or -EAGAIN. */
int stream_put(struct stream_port *s, uint32_t link, enum stream_kind kind, const void *data,
	       size_t len, uint64_t off);
/* Send what is left, and what is due. */
void stream_flush(struct stream_port *s, uint32_t link);
/* Take what came. Return: number of messages, or -errno. */
int stream_take(struct stream_port *s, uint32_t link);

#endif /* PEER_STREAM_H */
