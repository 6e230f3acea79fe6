// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the choice of the driver: the thread that polls, receives and runs the
 * engine. There is one at a time. A thread of the caller that waits for a result
 * drives until it has the result, so that no packet is handed from thread to
 * thread. Otherwise the progress thread of this library drives.
 *
 *	NONE ------> USER	trib_wait(), trib_test()
 *	NONE ------> PROGRESS	within a tick, or at once if there is work
 *	PROGRESS --> USER	a user thread takes over and calls the progress
 *				thread back from poll()
 *	USER ------> NONE	the request is done; another waiting thread, or
 *				else the progress thread, goes on
 *
 * While a user thread drives, packets do not wake the progress thread; it looks
 * once a tick whether the user thread still drives. When nothing is under way it
 * sleeps in poll() without a timer, and wakes to answer peers.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "handle.h"

static void kick(int fd)
{
	uint64_t one = 1;

	/* A full counter means that a wake-up is pending already. */
	while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void drain(int fd)
{
	uint64_t n;

	while (read(fd, &n, sizeof(n)) < 0 && errno == EINTR)
		;
}

static void to_timespec(uint64_t ns, struct timespec *ts)
{
	ts->tv_sec = (time_t)(ns / TRIB_SEC);
	ts->tv_nsec = (long)(ns % TRIB_SEC);
}

static int receive(struct trib *t)
{
	t->eng.now = clock_ns();
	return t->way->turn(t);
}

/* Block, without the lock, until a packet arrives or a deadline comes. */
static void block(struct trib *t, int kick_fd, uint64_t until)
{
	struct pollfd pfd[TRIB_POLLFDS_MAX + 1];
	unsigned int n = t->npfd;
	uint64_t due = t->way->due(t), now;
	struct timespec ts;

	if (t->way->rest && !t->way->rest(t))
		return;
	if (!due || (until && until < due))
		due = until;
	t->poll_until = due;
	t->waits++;
	memcpy(pfd, t->pfd, n * sizeof(*pfd));
	pfd[n - 1].fd = kick_fd;
	pthread_mutex_unlock(&t->lock);
	if (due) {
		now = clock_ns();
		to_timespec(due > now ? due - now : 0, &ts);
	}
	ppoll(pfd, n, due ? &ts : NULL, NULL);
	pthread_mutex_lock(&t->lock);
	if (pfd[n - 1].revents)
		drain(kick_fd);
}

/* Poll for a while before blocking. Return: something came. */
static bool spin(struct trib *t, const struct trib_req *req)
{
	uint64_t end = clock_ns() + t->spin.most_ns;
	long evicted = trib_spin_evicted();
	bool came;

	do
		came = receive(t) || (req && req->done);
	while (!came && t->eng.now < end);
	trib_spin_note(&t->spin, came && trib_spin_evicted() == evicted);
	return came;
}

static void drive(struct trib *t, const struct trib_req *req, uint64_t until)
{
	int n = 0;

	if (t->driver == TRIB_DRIVER_PROGRESS)
		kick(t->progress_fd);
	t->driver = TRIB_DRIVER_USER;
	while (!(req && req->done) && !t->eng.dead) {
		if (until && clock_ns() >= until)
			break;
		/* A full batch: more may be waiting. */
		if (n < TRIB_TUNE_RECV_BATCH) {
			if (trib_spin_may(&t->spin) && spin(t, req))
				continue;
			block(t, t->kick_fd, until);
		}
		n = receive(t);
	}
	t->driver = TRIB_DRIVER_NONE;
	if (t->waiters)
		pthread_cond_broadcast(&t->cond);
	else if (t->eng.unfinished)
		pthread_cond_signal(&t->progress_cond);
}

/* Requests that are kept are done some time after the engine's death. */
static bool is_over(const struct trib *t, const struct trib_req *req)
{
	if (req && (req->done || req->kept))
		return req->done;
	return t->eng.dead;
}

void trib_drive_until(struct trib *t, const struct trib_req *req, uint64_t until)
{
	struct timespec ts;

	while (!is_over(t, req)) {
		if (until && clock_ns() >= until)
			return;
		if (t->driver != TRIB_DRIVER_USER && !t->eng.dead) {
			drive(t, req, until);
			continue;
		}
		t->waiters++;
		if (until) {
			to_timespec(until, &ts);
			pthread_cond_timedwait(&t->cond, &t->lock, &ts);
		} else {
			pthread_cond_wait(&t->cond, &t->lock);
		}
		t->waiters--;
	}
}

void trib_drive_once(struct trib *t)
{
	if (t->driver == TRIB_DRIVER_NONE)
		receive(t);
}

void trib_drive_wake(struct trib *t)
{
	uint64_t due = t->way->due(t);

	if (t->driver == TRIB_DRIVER_NONE) {
		pthread_cond_signal(&t->progress_cond);
		return;
	}
	/* Wake the driver only if it would sleep past the new deadline. */
	if (!due || (t->poll_until && t->poll_until <= due))
		return;
	t->poll_until = due;
	kick(t->driver == TRIB_DRIVER_USER ? t->kick_fd : t->progress_fd);
}

void trib_drive_interrupt(struct trib *t)
{
	if (t->driver == TRIB_DRIVER_USER)
		kick(t->kick_fd);
}

static void *progress_main(void *arg)
{
	struct trib *t = arg;
	struct timespec ts;

	pthread_mutex_lock(&t->lock);
	while (!t->progress_stop) {
		if (t->driver == TRIB_DRIVER_USER) {
			to_timespec(clock_ns() + TRIB_TUNE_TICK, &ts);
			pthread_cond_timedwait(&t->progress_cond, &t->lock, &ts);
			continue;
		}
		t->driver = TRIB_DRIVER_PROGRESS;
		if (receive(t) < TRIB_TUNE_RECV_BATCH)
			block(t, t->progress_fd, 0);
	}
	if (t->driver == TRIB_DRIVER_PROGRESS)
		t->driver = TRIB_DRIVER_NONE;
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

int trib_progress_start(struct trib *t)
{
	sigset_t all, old;
	int rc;

	/* Signals go to the caller's threads, not to the progress thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&t->progress, NULL, progress_main, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return trib_fail(t, TRIB_ERR_SYSTEM, -rc, "cannot start a thread: %s",
				 strerror(rc));
	t->progress_runs = true;
	return 0;
}

void trib_progress_stop(struct trib *t)
{
	if (!t->progress_runs)
		return;
	pthread_mutex_lock(&t->lock);
	t->progress_stop = true;
	pthread_cond_signal(&t->progress_cond);
	kick(t->progress_fd);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->progress, NULL);
	t->progress_runs = false;
}
