/* SPDX-License-Identifier: BSD-2-Clause */
/* The event loop: file descriptors and timers. */
#ifndef TRIBD_LOOP_H
#define TRIBD_LOOP_H

#include <stdint.h>
#include <sys/queue.h>

struct tribd;

/*
 * A watched descriptor; its owner allocates it. The loop dispatches one event a
 * turn, so a handler may free any watch or timer, its own included.
 */
struct watch {
	int fd;
	void (*fn)(struct tribd *d, struct watch *w, uint32_t events);
	void *arg;
};

/* Watch for @events (EPOLLIN, EPOLLOUT, ...). 0 or -errno. */
int loop_add(struct tribd *d, struct watch *w, uint32_t events);
int loop_modify(struct tribd *d, struct watch *w, uint32_t events);
/* Stop watching; the descriptor stays open. */
void loop_del(struct tribd *d, struct watch *w);

/* A one-shot timer; its owner allocates it, filled with zeros. */
struct timer {
	LIST_ENTRY(timer) link;
	uint64_t at_ns; /* 0: not pending */
	void (*fn)(struct tribd *d, struct timer *t);
	void *arg;
};

/* Start @t, or move it if it is pending. */
void timer_set(struct tribd *d, struct timer *t, uint32_t ms);
void timer_cancel(struct tribd *d, struct timer *t);

/* Nanoseconds of CLOCK_MONOTONIC, as bpf_ktime_get_ns(). */
uint64_t loop_now(void);

int loop_init(struct tribd *d);
void loop_exit(struct tribd *d);
/* Dispatch events until d->stop. 0 or -errno. */
int loop_run(struct tribd *d);

#endif /* TRIBD_LOOP_H */
