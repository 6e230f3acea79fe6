// SPDX-License-Identifier: BSD-2-Clause
/* The codec thread, and what the handle tells about its end. */
#include <signal.h>

#include "compress.h"

static struct trib_compress *compress_of(struct trib_guest *g)
{
	return (struct trib_compress *)((char *)g - offsetof(struct trib_compress, guest));
}

static void *thread_main(void *arg)
{
	struct trib_compress *c = arg;
	struct trib *t = c->t;

	pthread_mutex_lock(&t->lock);
	for (;;) {
		if (trib_compress_turn(c))
			continue;
		if (c->stop)
			break;
		pthread_cond_wait(&c->work, &t->lock);
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
	pthread_cond_signal(&c->work);
	pthread_mutex_unlock(&t->lock);
	pthread_join(c->thread, NULL);
	pthread_mutex_lock(&t->lock);
	c->threaded = false;
	c->stop = false;
}

static void on_died(struct trib_guest *g)
{
	pthread_cond_signal(&compress_of(g)->work);
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
