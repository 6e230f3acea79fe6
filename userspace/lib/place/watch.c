// SPDX-License-Identifier: BSD-2-Clause
/*
 * The connection by which tribd knows that this process lives. tribd may
 * restart while data moves: the rank then reports to the new tribd under its
 * old number, with its old maps.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "tribd.h"

#define TICK_NS (100 * TRIB_MS)
/* Interval of these checks while traffic keeps the driver busy. */
#define LOOK_NS (50 * TRIB_MS)
/* Attaching waits this long for a tribd that restarts. */
#define EPOCH_NS (10 * TRIB_SEC)

static int tick(const struct trib_watch *w, bool on)
{
	struct itimerspec its = {0};

	if (on)
		its.it_interval.tv_nsec = its.it_value.tv_nsec = TICK_NS;
	return timerfd_settime(w->timer, 0, &its, NULL) ? -errno : 0;
}

static int add(const struct trib_watch *w, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(w->fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

int trib_watch_open(struct trib *t, struct trib_watch *w)
{
	int err;

	w->timer = -1;
	w->state = TRIB_WATCH_UP;
	w->fd = epoll_create1(EPOLL_CLOEXEC);
	if (w->fd >= 0)
		w->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	err = w->timer < 0 ? -errno : add(w, w->timer);
	if (!err)
		err = add(w, t->place.sock);
	if (err)
		trib_watch_close(w);
	return err;
}

void trib_watch_close(struct trib_watch *w)
{
	if (w->state == TRIB_WATCH_OFF)
		return;
	if (w->timer >= 0)
		close(w->timer);
	if (w->fd >= 0)
		close(w->fd);
	w->state = TRIB_WATCH_OFF;
}

static void go_down(struct trib *t, struct trib_watch *w)
{
	/* close() also takes it out of the epoll instance. */
	if (t->place.sock >= 0)
		close(t->place.sock);
	t->place.sock = -1;
	w->state = TRIB_WATCH_DOWN;
	tick(w, true);
}

static void ask(struct trib *t, struct trib_watch *w)
{
	struct trib_attach_req req;
	int fd = trib_tribd_connect();

	if (fd < 0)
		return;
	trib_tribd_fill(&req, TRIB_ATTACH_HELLO,
			TRIB_ATTACH_RESUME | (t->place.rep.flags & TRIB_ATTACH_MAPPED),
			t->place.rep.rank, t->place.job);
	if (send(fd, &req, sizeof(req), MSG_NOSIGNAL) < 0 || add(w, fd)) {
		close(fd);
		return;
	}
	t->place.sock = fd;
	w->state = TRIB_WATCH_ASKED;
}

void trib_watch_tell(const struct trib *t, const struct trib_watch *w)
{
	struct trib_attach_epoch req = {
		.magic = TRIB_ATTACH_MAGIC,
		.version = TRIB_ATTACH_VERSION,
		.cmd = TRIB_ATTACH_EPOCH,
	};
	unsigned int i;

	if (w->state != TRIB_WATCH_UP)
		return;
	for (i = 0; i < t->eng.nstream; i++) {
		req.tree = t->eng.stream[i]->tree;
		req.epoch = t->eng.stream[i]->epoch;
		if (req.epoch && !t->eng.stream[i]->detour.state)
			send(t->place.sock, &req, sizeof(req), MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}

static void answered(struct trib *t, struct trib_watch *w, const struct trib_attach_rep *rep,
		     size_t len)
{
	if (!trib_tribd_rep_ok(rep, len)) {
		go_down(t, w);
	} else if (!rep->err) {
		w->state = TRIB_WATCH_UP;
		tick(w, false);
		/*
		 * The new tribd may have written the trees' rows anew, so tell
		 * it the epochs.
		 */
		trib_watch_tell(t, w);
	} else if (rep->err == ENOENT || rep->err == ESTALE || rep->err == EINVAL) {
		trib_die_rank(&t->eng, TRIB_ERR_REMOVED, -ECONNABORTED, -1,
			      "tribd restarted and refuses this rank: %.*s", (int)sizeof(rep->text),
			      rep->text);
		trib_watch_close(w);
	} else {
		go_down(t, w);
	}
}

/* Read and drop the acknowledgements of epochs. */
static void sock_event(struct trib *t, struct trib_watch *w)
{
	struct trib_attach_rep rep;
	ssize_t len = recv(t->place.sock, &rep, sizeof(rep), MSG_DONTWAIT);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len <= 0)
		go_down(t, w);
	else if (w->state == TRIB_WATCH_ASKED)
		answered(t, w, &rep, (size_t)len);
}

void trib_watch_run(struct trib *t, struct trib_watch *w, bool busy)
{
	struct epoll_event ev[2];
	uint64_t ticks;
	int n, i;

	if (w->state == TRIB_WATCH_OFF || (busy && t->eng.now - w->seen_ns < LOOK_NS))
		return;
	w->seen_ns = t->eng.now;
	n = epoll_wait(w->fd, ev, 2, 0);
	for (i = 0; i < n && w->state != TRIB_WATCH_OFF; i++) {
		if (ev[i].data.fd == t->place.sock)
			sock_event(t, w);
		else if (ev[i].data.fd == w->timer && read(w->timer, &ticks, sizeof(ticks)) > 0 &&
			 w->state == TRIB_WATCH_DOWN)
			ask(t, w);
	}
}

int trib_watch_epoch(struct trib *t, struct trib_watch *w, uint16_t tree, uint32_t epoch)
{
	uint64_t until = clock_ns() + EPOCH_NS;
	struct timespec pause = {.tv_nsec = 10 * TRIB_MS};
	int err = -ENOTCONN;

	while (!t->eng.dead && clock_ns() < until) {
		if (w->state == TRIB_WATCH_UP) {
			err = trib_tribd_epoch(&t->place, tree, epoch);
			if (err != -ENOTCONN)
				return err;
			go_down(t, w);
		}
		nanosleep(&pause, NULL);
		t->eng.now = clock_ns();
		trib_watch_run(t, w, false);
	}
	return t->eng.dead ? t->eng.dead : err;
}
