// SPDX-License-Identifier: BSD-2-Clause
/* The mesh's thread: receives, sends, and notices ranks that end. */
#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "mesh.h"
#include "peer/boot/boot_priv.h"

#define BEAT_MAX_MS 250
#define LAST_MS 300 /* for last messages to leave */
#define LOOK_MS 5   /* between two looks whether they have */

void trib_mesh_wake(struct trib_mesh *m)
{
	uint64_t one = 1;
	ssize_t n = write(m->wake, &one, sizeof(one));

	(void)n; /* a full counter wakes, too */
}

static void have_dirt(struct trib_mesh *m)
{
	if (!m->dirty && !(m->running && pthread_equal(pthread_self(), m->thread)))
		trib_mesh_wake(m);
	m->dirty = true;
}

int trib_mesh_say(struct trib_mesh *m, unsigned int rank, struct boot_body *body)
{
	/* One that ended has been reported. */
	if (m->conn[rank].fd < 0)
		return 0;
	have_dirt(m);
	return boot_conn_push(&m->conn[rank], BOOT_OWN, body);
}

void trib_mesh_fault(struct trib_mesh *m, int code, int rank, const char *text)
{
	uint32_t i;

	for (i = 0; i < m->conf.world; i++)
		if (m->conn[i].fd >= 0)
			boot_conn_fault(&m->conn[i], BOOT_FAULT, code, rank, text);
	have_dirt(m);
}

void trib_mesh_beat(struct trib_mesh *m, bool on)
{
	uint64_t now = clock_ms();
	uint32_t i;

	if (m->beats == on)
		return;
	m->beats = on;
	m->beat_ms = now;
	for (i = 0; i < m->conf.world; i++)
		m->conn[i].heard = now;
	have_dirt(m);
}

/* --- the thread, with the lock */

static void lost(struct trib_mesh *m, unsigned int rank, int code, const char *how)
{
	struct trib_peer_error e;

	if (m->conn[rank].bye || (m->closing && !m->orderly))
		return;
	peer_error(&e, code, -EHOSTDOWN, (int)rank, "rank %u %s", rank, how);
	m->conf.lost(m->conf.arg, &e);
}

static void end_conn(struct trib_mesh *m, unsigned int rank, int err)
{
	boot_conn_end(&m->conn[rank]);
	lost(m, rank, TRIB_PEER_GONE, err == -ECONNRESET ? "ended or left" : "sent garbage");
}

static int take(struct trib_mesh *m, unsigned int rank, const struct boot_msg *msg)
{
	struct trib_peer_error e;

	switch (msg->type) {
	case BOOT_BEAT:
		return 0;
	case BOOT_BYE:
		m->conn[rank].bye = true;
		return 0;
	case BOOT_FAULT:
		if (boot_fault_parse(msg, m->conf.world, &e))
			return -EPROTO;
		m->conf.lost(m->conf.arg, &e);
		return 0;
	case BOOT_OWN:
		return m->conf.take(m->conf.arg, rank, msg->body, msg->len);
	default:
		return -EPROTO;
	}
}

static void receive(struct trib_mesh *m, unsigned int rank)
{
	struct boot_msg msg;
	int n;

	while ((n = boot_conn_read(&m->conn[rank], &msg)) == 1) {
		n = take(m, rank, &msg);
		if (n)
			break;
	}
	if (n < 0)
		end_conn(m, rank, n);
}

static void flush(struct trib_mesh *m)
{
	uint32_t i;

	m->dirty = false;
	for (i = 0; i < m->conf.world; i++)
		if (m->conn[i].fd >= 0 && m->conn[i].out && boot_conn_flush(&m->conn[i]) < 0)
			/* Its last words are still to be read. */
			receive(m, i);
}

static uint64_t beat_every(const struct trib_mesh *m)
{
	uint64_t ms = m->conf.timeout_ms / 8;

	return !ms ? 1 : ms < BEAT_MAX_MS ? ms : BEAT_MAX_MS;
}

static void beat(struct trib_mesh *m, uint64_t now)
{
	uint32_t i;

	if (!m->beats || now < m->beat_ms)
		return;
	m->beat_ms = now + beat_every(m);
	for (i = 0; i < m->conf.world; i++) {
		struct boot_conn *c = &m->conn[i];

		if (c->fd < 0)
			continue;
		/* A queue that does not move says nothing new. */
		if (!c->out)
			boot_conn_say(c, BOOT_BEAT, NULL, 0);
		if (now - c->heard <= m->conf.timeout_ms)
			continue;
		lost(m, i, TRIB_PEER_DEAD, "gave no sign of life in time");
		c->heard = now;
	}
}

/* Milliseconds until @due, ns, or the next beat; -1: for ever. */
static int wait_ms(const struct trib_mesh *m, uint64_t due)
{
	uint64_t now = clock_ns(), end = due;

	if (m->beats && (!end || m->beat_ms * 1000000 < end))
		end = m->beat_ms * 1000000;
	if (m->closing)
		return LOOK_MS;
	if (!end)
		return -1;
	return end > now ? (int)((end - now) / 1000000 + 1) : 0;
}

/* Wait, without the lock. */
static void sleep_until(struct trib_mesh *m, uint64_t due)
{
	uint32_t n = m->conf.world, i;
	int ms = wait_ms(m, due);
	uint64_t count;

	for (i = 0; i < n; i++)
		m->fds[i] = (struct pollfd){
			.fd = m->conn[i].fd,
			.events = (short)(POLLIN | (m->conn[i].out ? POLLOUT : 0)),
		};
	m->fds[n] = (struct pollfd){.fd = m->wake, .events = POLLIN};
	pthread_mutex_unlock(m->conf.lock);
	poll(m->fds, n + 1, ms);
	pthread_mutex_lock(m->conf.lock);
	if (m->fds[n].revents && read(m->wake, &count, sizeof(count)) < 0)
		return;
}

/*
 * Is the other end without something that was said? Closing a socket from which not all was
 * read resets the connection, and what its other end has not acknowledged is gone.
 */
static bool is_unsent(const struct boot_conn *c)
{
	int left = 0;

	return c->out || (!ioctl(c->fd, SIOCOUTQ, &left) && left);
}

/* Has every rank that is left said BYE, and has it all that was said? */
static bool all_left(const struct trib_mesh *m)
{
	uint32_t i;

	for (i = 0; i < m->conf.world; i++)
		if (m->conn[i].fd >= 0 &&
		    (is_unsent(&m->conn[i]) || (m->orderly && !m->conn[i].bye)))
			return false;
	return true;
}

static void say_bye(struct trib_mesh *m)
{
	uint32_t i;

	m->end_ms = clock_ms() + (m->orderly ? m->conf.timeout_ms : LAST_MS);
	for (i = 0; m->orderly && i < m->conf.world; i++)
		if (m->conn[i].fd >= 0)
			boot_conn_say(&m->conn[i], BOOT_BYE, NULL, 0);
}

static void *run(void *arg)
{
	struct trib_mesh *m = arg;
	bool told = false;
	uint64_t due;
	uint32_t i;

	pthread_mutex_lock(m->conf.lock);
	for (;;) {
		due = m->conf.turn(m->conf.arg);
		beat(m, clock_ms());
		if (m->closing && !told)
			say_bye(m);
		told = m->closing;
		flush(m);
		if (told && (all_left(m) || clock_ms() >= m->end_ms))
			break;
		sleep_until(m, due);
		for (i = 0; i < m->conf.world; i++)
			if (m->conn[i].fd >= 0 && m->fds[i].revents & ~POLLOUT)
				receive(m, i);
	}
	pthread_mutex_unlock(m->conf.lock);
	return NULL;
}

int trib_mesh_start(struct trib_mesh *m)
{
	sigset_t all, old;
	int err;

	/* Signals go to the caller's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&m->thread, NULL, run, m);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	m->running = !err;
	return -err;
}

void trib_mesh_close(struct trib_mesh *m, bool orderly)
{
	uint32_t i;

	if (m->running) {
		pthread_mutex_lock(m->conf.lock);
		m->orderly = orderly;
		m->closing = true;
		trib_mesh_wake(m);
		pthread_mutex_unlock(m->conf.lock);
		pthread_join(m->thread, NULL);
		m->running = false;
	}
	for (i = 0; m->conn && i < m->conf.world; i++)
		boot_conn_end(&m->conn[i]);
	if (m->wake >= 0)
		close(m->wake);
	m->wake = -1;
	free(m->conn);
	free(m->fds);
	m->conn = NULL;
	m->fds = NULL;
	explicit_bzero(&m->conf.key, sizeof(m->conf.key));
}
