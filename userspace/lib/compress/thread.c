// SPDX-License-Identifier: BSD-2-Clause
/* The codec thread, and what the handle tells about its end. */
#include <signal.h>

#include "compress.h"

static struct trib_compress *compress_of(struct trib_guest *g)
{
	return (struct trib_compress *)((char *)g - offsetof(struct trib_compress, guest));
}

void bell_ring(struct trib_compress *c)
{
	pthread_mutex_lock(&c->bell);
	c->rung = true;
	pthread_cond_signal(&c->bell_cond);
	pthread_mutex_unlock(&c->bell);
}

/* Handle's lock held, released meanwhile. */
static void bell_wait(struct trib_compress *c, struct trib *t)
{
	pthread_mutex_unlock(&t->lock);
	pthread_mutex_lock(&c->bell);
	while (!c->rung)
		pthread_cond_wait(&c->bell_cond, &c->bell);
	c->rung = false;
	pthread_mutex_unlock(&c->bell);
	pthread_mutex_lock(&t->lock);
}

static void *thread_main(void *arg)
{
	struct trib_compress *c = arg;
	struct trib *t = c->t;

	c->work->enter(c);
	pthread_mutex_lock(&t->lock);
	for (;;) {
		if (trib_compress_turn(c))
			continue;
		/* Messages end before the thread: a GPU may be at work for them. */
		if (c->stop && !c->first)
			break;
		bell_wait(c, t);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

static int thread_start(struct trib_compress *c)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&c->thread, NULL, thread_main, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -rc;
}

/* Lock held; released while the thread ends. */
static void thread_stop(struct trib_compress *c)
{
	struct trib *t = c->t;

	if (!c->threaded)
		return;
	c->stop = true;
	bell_ring(c);
	pthread_mutex_unlock(&t->lock);
	pthread_join(c->thread, NULL);
	pthread_mutex_lock(&t->lock);
	c->threaded = false;
	c->stop = false;
}

static void on_died(struct trib_guest *g)
{
	bell_ring(compress_of(g));
}

static void on_leave(struct trib_guest *g)
{
	norms_wait(compress_of(g));
}

static void on_gone(struct trib_guest *g)
{
	struct trib_compress *c = compress_of(g);

	thread_stop(c);
	c->t = NULL;
}

int guest_enter(struct trib_compress *c, struct trib *t, bool threaded)
{
	int rc = 0;

	pthread_mutex_lock(&t->lock);
	c->t = t;
	c->why[0] = 0;
	if (threaded)
		rc = thread_start(c);
	c->threaded = threaded && !rc;
	if (rc) {
		c->t = NULL;
		trib_fail(t, TRIB_ERR_SYSTEM, rc, "cannot start a thread: %s", strerror(-rc));
	} else {
		c->guest = (struct trib_guest){
			.next = t->guests, .died = on_died, .leave = on_leave, .gone = on_gone};
		t->guests = &c->guest;
	}
	pthread_mutex_unlock(&t->lock);
	return rc;
}

void guest_leave(struct trib_compress *c)
{
	struct trib *t = c->t;
	struct trib_guest **link;

	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	norms_wait(c);
	thread_stop(c);
	for (link = &t->guests; *link != &c->guest; link = &(*link)->next)
		;
	*link = c->guest.next;
	pthread_mutex_unlock(&t->lock);
	c->t = NULL;
}
