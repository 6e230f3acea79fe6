// SPDX-License-Identifier: BSD-2-Clause
/*
 * The event loop: one epoll instance and a sorted list of timers. The lists
 * are short (a timer per tree at most), so insertion walks.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "tribd.h"

uint64_t loop_now(void)
{
	return clock_ns();
}

int loop_init(struct tribd *d)
{
	LIST_INIT(&d->timers);
	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return d->epoll_fd < 0 ? -errno : 0;
}

void loop_exit(struct tribd *d)
{
	if (d->epoll_fd >= 0)
		close(d->epoll_fd);
	d->epoll_fd = -1;
}

static int loop_ctl(struct tribd *d, int op, struct watch *w, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = w};

	return epoll_ctl(d->epoll_fd, op, w->fd, &ev) ? -errno : 0;
}

int loop_add(struct tribd *d, struct watch *w, uint32_t events)
{
	return loop_ctl(d, EPOLL_CTL_ADD, w, events);
}

int loop_modify(struct tribd *d, struct watch *w, uint32_t events)
{
	return loop_ctl(d, EPOLL_CTL_MOD, w, events);
}

void loop_del(struct tribd *d, struct watch *w)
{
	if (w->fd >= 0)
		loop_ctl(d, EPOLL_CTL_DEL, w, 0);
}

void timer_cancel(struct tribd *d, struct timer *t)
{
	(void)d;
	if (t->at_ns)
		LIST_REMOVE(t, link);
	t->at_ns = 0;
}

void timer_set(struct tribd *d, struct timer *t, uint32_t ms)
{
	struct timer *it, *before = NULL;

	timer_cancel(d, t);
	t->at_ns = loop_now() + ms * 1000000ULL;
	LIST_FOREACH(it, &d->timers, link) {
		if (it->at_ns > t->at_ns)
			break;
		before = it;
	}
	if (before)
		LIST_INSERT_AFTER(before, t, link);
	else
		LIST_INSERT_HEAD(&d->timers, t, link);
}

/* Milliseconds until the first timer, rounded up; -1 without one. */
static int loop_wait_ms(struct tribd *d)
{
	struct timer *t = LIST_FIRST(&d->timers);
	uint64_t now;

	if (!t)
		return -1;
	now = loop_now();
	if (t->at_ns <= now)
		return 0;
	return (int)((t->at_ns - now + 999999) / 1000000);
}

static void loop_timers(struct tribd *d)
{
	/*
	 * Timers that handlers add with 0 ms wait: sockets get their turn
	 * first.
	 */
	uint64_t now = loop_now();
	struct timer *t;

	while ((t = LIST_FIRST(&d->timers)) && t->at_ns <= now) {
		timer_cancel(d, t);
		t->fn(d, t);
	}
}

int loop_run(struct tribd *d)
{
	while (!d->stop) {
		struct epoll_event ev;
		int n = epoll_wait(d->epoll_fd, &ev, 1, loop_wait_ms(d));

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 1) {
			struct watch *w = ev.data.ptr;

			w->fn(d, w, ev.events);
		}
		loop_timers(d);
	}
	return 0;
}
