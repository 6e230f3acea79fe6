// SPDX-License-Identifier: BSD-2-Clause
/*
 * One link of a port over TCP. All that comes is hostile: lengths and places are checked
 * before a byte is written there.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>

#include "peer/net/stream.h"

/* Messages of a link in one poll(), so that others have their turn. */
#define TURN 64

/* --- sending */

/* The socket takes no more: epoll tells when it does. */
static void block(struct stream_port *s, uint32_t link)
{
	if (s->links[link].blocked)
		return;
	s->links[link].blocked = true;
	stream_watch(s, link, EPOLL_CTL_MOD);
}

/* Give the socket what is in @l->out. Return: bytes that it took, -EAGAIN, or a fault. */
static ssize_t push(struct stream_port *s, struct stream_link *l)
{
	struct stream_out *o = &l->out;
	struct iovec iov[2] = {
		{(uint8_t *)&o->head + sizeof(o->head) - o->head_left, o->head_left},
		{(void *)(uintptr_t)o->data, o->left},
	};
	struct msghdr m = {.msg_iov = iov, .msg_iovlen = 2};
	ssize_t n = sendmsg(l->sock, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	size_t head;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR
			       ? -EAGAIN
			       : peer_fault_set(&s->fault, errno, (int)l->rank,
						"connection to rank %u: %s", l->rank,
						strerror(errno));
	head = (size_t)n < o->head_left ? (size_t)n : o->head_left;
	o->head_left -= head;
	o->data += (size_t)n - head;
	o->left -= (size_t)n - head;
	return n;
}

static bool is_sending(const struct stream_link *l)
{
	return l->out.head_left || l->out.left;
}

int stream_put(struct stream_port *s, uint32_t link, enum stream_kind kind, const void *data,
	       size_t len, uint64_t off)
{
	struct stream_link *l = &s->links[link];
	ssize_t n;

	if (is_sending(l) || l->blocked)
		return -EAGAIN;
	l->out = (struct stream_out){
		.head = {.len = (uint32_t)len,
			 .kind = (uint8_t)kind,
			 .taken = (uint16_t)l->flow.taken,
			 .off = off},
		.head_left = sizeof(l->out.head),
		.data = data,
		.left = len,
	};
	n = push(s, l);
	if (n < 0) {
		l->out = (struct stream_out){0};
		if (n == -EAGAIN)
			block(s, link);
		return -EAGAIN;
	}
	peer_flow_tell(&l->flow);
	l->credit_due = false;
	if (!is_sending(l))
		return 0;
	s->unsent += l->out.left > 0;
	block(s, link);
	return 0;
}

void stream_flush(struct stream_port *s, uint32_t link)
{
	struct stream_link *l = &s->links[link];
	bool values = l->out.left > 0;

	if (is_sending(l) && push(s, l) >= 0)
		s->unsent -= values && !l->out.left;
	if (is_sending(l) || s->fault.err) {
		block(s, link);
		return;
	}
	if (l->note_due && !stream_put(s, link, STREAM_NOTE, NULL, 0, l->place_len))
		l->note_due = false;
	if (l->credit_due)
		stream_put(s, link, STREAM_CREDIT, NULL, 0, 0);
}

/* --- receiving */

/* Find the place for the values of a message. Return: NULL: nobody sends this. */
static uint8_t *target(struct stream_port *s, struct stream_link *l, const struct stream_head *h)
{
	if (h->len > s->chunk || l->came - l->flow.taken >= s->slots)
		return NULL;
	if (h->kind == STREAM_STAGED)
		return l->slots + (l->staged % s->slots) * s->chunk;
	if (!l->notes || l->note_due || h->off > l->place_len || h->len > l->place_len - h->off)
		return NULL;
	return l->place + h->off;
}

/* A head is complete. Return: 0 or -EPROTO. */
static int head_take(struct stream_port *s, struct stream_link *l)
{
	const struct stream_head *h = &l->in.head;

	if (peer_flow_credit(&l->flow, h->taken) || h->zero)
		return -EPROTO;
	switch (h->kind) {
	case STREAM_STAGED:
	case STREAM_DIRECT:
		l->in.data = target(s, l, h);
		l->in.left = h->len;
		return l->in.data ? 0 : -EPROTO;
	case STREAM_NOTE:
		l->heard++;
		l->target_len = h->off;
		return h->len ? -EPROTO : 0;
	case STREAM_CREDIT:
		return h->len ? -EPROTO : 0;
	}
	return -EPROTO;
}

/* All of a message is there. */
static int message_take(struct stream_link *l)
{
	bool staged = l->in.head.kind == STREAM_STAGED;

	l->in.got = 0;
	if (!staged && l->in.head.kind != STREAM_DIRECT)
		return 0;
	l->staged += staged;
	return peer_flow_arrived(&l->flow, (uint16_t)l->came++, staged, l->in.head.len);
}

/* Return: bytes, 0: none now, -errno. */
static ssize_t receive(struct stream_port *s, struct stream_link *l, void *to, size_t len)
{
	ssize_t n = recv(l->sock, to, len, MSG_DONTWAIT);

	if (n > 0)
		return n;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return peer_fault_set(&s->fault, n ? errno : ECONNRESET, (int)l->rank,
			      n ? "connection to rank %u: %s" : "rank %u has closed", l->rank,
			      strerror(errno));
}

/* Take bytes of one message. Return: 1: it is complete, 0: the rest is to come, -errno. */
static int take_some(struct stream_port *s, struct stream_link *l)
{
	struct stream_in *in = &l->in;
	ssize_t n;

	if (in->got < sizeof(in->head)) {
		n = receive(s, l, (uint8_t *)&in->head + in->got, sizeof(in->head) - in->got);
		if (n <= 0)
			return (int)n;
		in->got += (size_t)n;
		if (in->got < sizeof(in->head))
			return 0;
		if (head_take(s, l))
			return -EPROTO;
	}
	while (in->left) {
		n = receive(s, l, in->data, in->left);
		if (n <= 0)
			return (int)n;
		in->data += n;
		in->left -= (size_t)n;
	}
	return message_take(l) ? -EPROTO : 1;
}

int stream_take(struct stream_port *s, uint32_t link)
{
	struct stream_link *l = &s->links[link];
	int n, total = 0;

	do {
		n = take_some(s, l);
		total += n > 0;
	} while (n > 0 && total < TURN);
	if (n >= 0)
		return total;
	if (!s->fault.err)
		peer_fault_set(&s->fault, EPROTO, (int)l->rank,
			       "rank %u sent what no peer of ours sends", l->rank);
	return -s->fault.err;
}
