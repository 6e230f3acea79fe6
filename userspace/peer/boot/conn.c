// SPDX-License-Identifier: BSD-2-Clause
/* One connection of the bootstrap. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "peer/boot/conn.h"

#define GROW 65536 /* bytes: memory follows what came, not what a head promises */

/** struct boot_out - a message in the queue */
struct boot_out {
	struct boot_out *next;
	struct boot_head head;
	struct boot_body *body;
	size_t at; /* bytes written, head and body */
};

int boot_await(int fd, short events, uint64_t end)
{
	struct pollfd p = {.fd = fd, .events = events};
	uint64_t now = clock_ms();
	int n;

	do {
		n = poll(&p, 1, now < end ? (int)(end - now) : 0);
		now = clock_ms();
	} while (n < 0 && errno == EINTR);
	return n > 0 ? 0 : -ETIMEDOUT;
}

int boot_dial(const struct in6_addr *ip, uint16_t port, uint64_t end, int *out)
{
	int family = addr_is_v4(ip) ? AF_INET : AF_INET6, err = 0;
	union addr_sock sock;
	socklen_t len = addr_to_sock(family, ip, port, &sock), size = sizeof(err);
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (connect(fd, &sock.sa, len) && errno != EINPROGRESS)
		err = errno;
	else if (boot_await(fd, POLLOUT, end))
		err = ETIMEDOUT;
	else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &size))
		err = errno;
	if (err)
		close(fd);
	else
		*out = fd;
	return -err;
}

void boot_conn_init(struct boot_conn *c, int fd)
{
	int one = 1;

	memset(c, 0, sizeof(*c));
	c->fd = fd;
	c->out_end = &c->out;
	c->heard = clock_ms();
	if (fd < 0)
		return;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void out_drop(struct boot_conn *c)
{
	struct boot_out *o = c->out;

	c->out = o->next;
	if (!c->out)
		c->out_end = &c->out;
	boot_body_put(o->body);
	free(o);
}

void boot_conn_end(struct boot_conn *c)
{
	if (c->fd >= 0)
		close(c->fd);
	while (c->out)
		out_drop(c);
	free(c->body);
	explicit_bzero(&c->keys, sizeof(c->keys));
	explicit_bzero(&c->in_key, sizeof(c->in_key));
	explicit_bzero(&c->out_key, sizeof(c->out_key));
	c->body = NULL;
	c->body_room = 0;
	c->fd = -1;
}

void boot_conn_move(struct boot_conn *to, struct boot_conn *from)
{
	*to = *from;
	if (!to->out)
		to->out_end = &to->out;
	boot_conn_init(from, -1);
}

void boot_conn_secure(struct boot_conn *c, bool is_root, uint64_t max)
{
	c->in_key = is_root ? c->keys.to_root : c->keys.to_rank;
	c->out_key = is_root ? c->keys.to_rank : c->keys.to_root;
	c->in_count = 0;
	c->out_count = 0;
	c->max = max;
	c->proved = true;
}

/* Read up to @want bytes. Return: bytes, 0: none now, -errno. */
static ssize_t conn_recv(struct boot_conn *c, void *to, size_t want)
{
	ssize_t n = recv(c->fd, to, want, MSG_DONTWAIT);

	if (n > 0) {
		c->heard = clock_ms();
		return n;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return -ECONNRESET;
}

/* Read the head. Return: 1, 0 or -errno. */
static int read_head(struct boot_conn *c)
{
	ssize_t n;

	while (c->head_at < sizeof(c->head)) {
		n = conn_recv(c, (uint8_t *)&c->head + c->head_at, sizeof(c->head) - c->head_at);
		if (n <= 0)
			return (int)n;
		c->head_at += (size_t)n;
	}
	if (c->head.type == 0 || c->head.type >= BOOT_TYPE__MAX)
		return -EPROTO;
	return c->head.len <= (c->proved ? c->max : BOOT_EARLY_MAX) ? 1 : -EPROTO;
}

/* Read the body. Return: 1, 0 or -errno. */
static int read_body(struct boot_conn *c)
{
	size_t room;
	ssize_t n;
	void *p;

	while (c->body_at < c->head.len) {
		if (c->body_at == c->body_room) {
			room = c->body_room ? 2 * c->body_room : GROW;
			p = realloc(c->body, room);
			if (!p)
				return -ENOMEM;
			c->body = p;
			c->body_room = room;
		}
		room = c->body_room < c->head.len ? c->body_room : c->head.len;
		n = conn_recv(c, c->body + c->body_at, room - c->body_at);
		if (n <= 0)
			return (int)n;
		c->body_at += (size_t)n;
	}
	return 1;
}

int boot_conn_read(struct boot_conn *c, struct boot_msg *m)
{
	uint64_t auth;
	int err = read_head(c);

	if (err == 1)
		err = read_body(c);
	if (err != 1)
		return err;
	if (c->proved) {
		auth = boot_auth(&c->in_key, c->in_count++, c->head.type, c->body, c->head.len);
		if (!boot_equal(&auth, &c->head.auth, 1))
			return -EBADMSG;
	}
	m->type = (enum boot_type)c->head.type;
	m->body = c->body;
	m->len = c->head.len;
	c->head_at = 0;
	c->body_at = 0;
	return 1;
}

struct boot_body *boot_body_new(uint64_t len)
{
	struct boot_body *b;

	if (len > UINT32_MAX)
		return NULL;
	b = malloc(sizeof(*b) + len);
	if (b) {
		atomic_init(&b->refs, 1);
		b->len = (uint32_t)len;
	}
	return b;
}

void boot_body_put(struct boot_body *b)
{
	if (b && atomic_fetch_sub(&b->refs, 1) == 1)
		free(b);
}

int boot_conn_push(struct boot_conn *c, enum boot_type type, struct boot_body *body)
{
	struct boot_out *o;

	if (c->fd < 0)
		return -ENOTCONN;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->head.len = body->len;
	o->head.type = type;
	if (c->proved)
		o->head.auth = boot_auth(&c->out_key, c->out_count++, type, body->data, body->len);
	o->body = body;
	atomic_fetch_add(&body->refs, 1);
	*c->out_end = o;
	c->out_end = &o->next;
	return 0;
}

int boot_conn_say(struct boot_conn *c, enum boot_type type, const void *data, size_t len)
{
	struct boot_body *b = boot_body_new(len);
	int err;

	if (!b)
		return -ENOMEM;
	if (len)
		memcpy(b->data, data, len);
	err = boot_conn_push(c, type, b);
	boot_body_put(b);
	return err;
}

int boot_conn_fault(struct boot_conn *c, enum boot_type type, int code, int rank, const char *text)
{
	struct boot_fault f = {.code = (uint32_t)code, .rank = rank};
	uint8_t buf[sizeof(f) + BOOT_TEXT_MAX];
	size_t len = strnlen(text, BOOT_TEXT_MAX);

	memcpy(buf, &f, sizeof(f));
	memcpy(buf + sizeof(f), text, len);
	return boot_conn_say(c, type, buf, sizeof(f) + len);
}

int boot_conn_flush(struct boot_conn *c)
{
	struct boot_out *o;
	const void *from;
	size_t left;
	ssize_t n;

	while ((o = c->out)) {
		if (o->at < sizeof(o->head)) {
			from = (const uint8_t *)&o->head + o->at;
			left = sizeof(o->head) - o->at;
		} else {
			from = o->body->data + (o->at - sizeof(o->head));
			left = o->body->len - (o->at - sizeof(o->head));
		}
		n = left ? send(c->fd, from, left,
				MSG_DONTWAIT | MSG_NOSIGNAL | (o->next ? MSG_MORE : 0))
			 : 0;
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -ECONNRESET;
		o->at += (size_t)n;
		if (o->at == sizeof(o->head) + o->body->len)
			out_drop(c);
	}
	return 1;
}
