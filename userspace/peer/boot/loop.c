// SPDX-License-Identifier: BSD-2-Clause
/* The thread of the bootstrap: beats, deaths, faults, and what the caller wants. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "peer/boot/boot_priv.h"

#define BEAT_MAX_MS 250
#define LAST_MS 300 /* for last messages to leave */

void boot_fail(struct peer_boot *b, int code, int rank, const char *text, bool own)
{
	bool call;
	uint32_t i;

	pthread_mutex_lock(&b->lock);
	if (b->faulted) {
		pthread_mutex_unlock(&b->lock);
		return;
	}
	b->faulted = true;
	peer_error(&b->fault, code, boot_code_errno(code), rank, "%s", text);
	call = !b->closing && !own && b->conf.died;
	pthread_cond_broadcast(&b->cond);
	pthread_mutex_unlock(&b->lock);
	if (!b->conf.rank || own)
		for (i = 0; i < b->nconn; i++)
			boot_conn_fault(&b->conns[i], BOOT_FAULT, code, rank, b->fault.text);
	if (call)
		b->conf.died(b->conf.arg, &b->fault);
}

/* A connection ended, or said what it must not. */
static void loop_lost(struct peer_boot *b, struct boot_conn *c, int err)
{
	char text[BOOT_TEXT_MAX];

	boot_conn_end(c);
	if (c->bye)
		return;
	if (err == -ECONNRESET)
		snprintf(text, sizeof(text), "rank %u has ended", c->rank);
	else
		snprintf(text, sizeof(text), "rank %u sent garbage: %s", c->rank, strerror(-err));
	boot_fail(b, TRIB_PEER_GONE, (int)c->rank, text, false);
}

/* BYE came. */
static void loop_bye(struct peer_boot *b, struct boot_conn *c)
{
	c->bye = true;
	if (!b->conf.rank)
		return;
	pthread_mutex_lock(&b->lock);
	b->left = true;
	pthread_cond_broadcast(&b->cond);
	pthread_mutex_unlock(&b->lock);
}

/* Take one message. Return: 0, or -EPROTO and others: garbage. */
static int loop_take(struct peer_boot *b, struct boot_conn *c, const struct boot_msg *m)
{
	struct trib_peer_error e;

	switch (m->type) {
	case BOOT_BEAT:
		return 0;
	case BOOT_FAULT:
		if (boot_fault_parse(m, b->conf.world, &e))
			return -EPROTO;
		boot_fail(b, e.code, e.rank, e.text, false);
		return 0;
	case BOOT_BYE:
		loop_bye(b, c);
		return 0;
	case BOOT_SWAP:
		return b->conf.rank ? -EPROTO : boot_gather_add(b, c->rank, m->body, m->len);
	case BOOT_ALL:
		return b->conf.rank ? boot_swap_take(b, m->body, m->len) : -EPROTO;
	default:
		return -EPROTO;
	}
}

static void loop_read(struct peer_boot *b, struct boot_conn *c)
{
	struct boot_msg m;
	int n;

	while ((n = boot_conn_read(c, &m)) == 1) {
		n = loop_take(b, c, &m);
		if (n)
			break;
	}
	if (n < 0)
		loop_lost(b, c, n);
}

/* Send beats, and look who is silent. */
static void loop_beat(struct peer_boot *b, uint64_t now)
{
	char text[BOOT_TEXT_MAX];
	struct boot_conn *c;
	uint32_t i;

	for (i = 0; i < b->nconn; i++) {
		c = &b->conns[i];
		if (c->fd < 0)
			continue;
		/* A queue that does not move says nothing new. */
		if (!c->out)
			boot_conn_say(c, BOOT_BEAT, NULL, 0);
		if (c->bye || now - c->heard <= b->conf.timeout_ms)
			continue;
		snprintf(text, sizeof(text), "rank %u was silent for %u ms", c->rank,
			 b->conf.timeout_ms);
		boot_fail(b, TRIB_PEER_DEAD, (int)c->rank, text, false);
	}
	if (!b->conf.rank)
		boot_gather_check(b, now);
}

/* Do what the caller asked for. Return: whether to leave in order; *@stop: end now. */
static bool loop_wishes(struct peer_boot *b, bool *stop)
{
	struct boot_body *swap = NULL;
	struct trib_peer_error tell;
	bool told, leave;

	pthread_mutex_lock(&b->lock);
	told = b->told;
	tell = b->tell;
	b->told = false;
	leave = b->leave;
	*stop = b->stop;
	if (b->swap == BOOT_SWAP_WANTED) {
		swap = b->swap_out;
		b->swap_out = NULL;
		b->swap = BOOT_SWAP_AWAY;
	}
	pthread_mutex_unlock(&b->lock);
	if (told)
		boot_fail(b, tell.code, tell.rank, tell.text, true);
	if (swap)
		boot_swap_start(b, swap);
	boot_body_put(swap);
	return leave;
}

static void loop_flush(struct peer_boot *b)
{
	uint32_t i;
	int err;

	for (i = 0; i < b->nconn; i++) {
		if (b->conns[i].fd < 0 || !b->conns[i].out)
			continue;
		err = boot_conn_flush(&b->conns[i]);
		/* Its last words are still to be read. */
		if (err < 0)
			loop_read(b, &b->conns[i]);
	}
}

/* Wait until something comes, or @end. */
static void loop_poll(struct peer_boot *b, uint64_t end)
{
	uint64_t now = clock_ms(), drain;
	struct boot_conn *c;
	uint32_t i;

	b->fds[b->nconn] = (struct pollfd){.fd = b->wake, .events = POLLIN};
	for (i = 0; i < b->nconn; i++) {
		c = &b->conns[i];
		b->fds[i] = (struct pollfd){.fd = c->fd,
					    .events = (short)(POLLIN | (c->out ? POLLOUT : 0))};
	}
	if (poll(b->fds, b->nconn + 1, now < end ? (int)(end - now) : 0) <= 0)
		return;
	if (b->fds[b->nconn].revents && read(b->wake, &drain, sizeof(drain)) < 0)
		return;
	for (i = 0; i < b->nconn; i++)
		if (b->fds[i].revents & ~POLLOUT && b->conns[i].fd >= 0)
			loop_read(b, &b->conns[i]);
}

/* Whether all have said BYE, or nobody can any more. */
static bool loop_all_left(const struct peer_boot *b)
{
	uint32_t i;

	for (i = 0; i < b->nconn; i++)
		if (b->conns[i].fd >= 0 && !b->conns[i].bye)
			return false;
	return true;
}

static void loop_say_bye(struct peer_boot *b)
{
	uint32_t i;

	for (i = 0; i < b->nconn; i++)
		if (b->conns[i].fd >= 0)
			boot_conn_say(&b->conns[i], BOOT_BYE, NULL, 0);
}

/* Let the last messages go. */
static void loop_last(struct peer_boot *b)
{
	uint64_t end = clock_ms() + LAST_MS;
	bool more;
	uint32_t i;

	do {
		more = false;
		for (i = 0; i < b->nconn; i++)
			if (b->conns[i].fd >= 0 && b->conns[i].out)
				more |= boot_conn_flush(&b->conns[i]) == 0;
		if (more)
			poll(NULL, 0, 5);
	} while (more && clock_ms() < end);
}

void *boot_loop(void *arg)
{
	struct peer_boot *b = arg;
	uint64_t beat_ms =
		b->conf.timeout_ms / 4 < BEAT_MAX_MS ? b->conf.timeout_ms / 4 + 1 : BEAT_MAX_MS;
	uint64_t now = clock_ms(), beat = now, end = 0;
	bool leave, stop = false;
	uint32_t i;

	for (i = 0; i < b->nconn; i++)
		b->conns[i].heard = now;
	while (!stop) {
		loop_poll(b, beat);
		leave = loop_wishes(b, &stop);
		now = clock_ms();
		if (now >= beat) {
			loop_beat(b, now);
			beat = now + beat_ms;
		}
		if (leave && !end) {
			end = now + b->conf.timeout_ms;
			if (b->conf.rank)
				loop_say_bye(b);
		}
		loop_flush(b);
		if (leave && (b->faulted || loop_all_left(b) || now > end))
			stop = true;
	}
	if (leave && !b->conf.rank)
		loop_say_bye(b);
	loop_last(b);
	return NULL;
}
