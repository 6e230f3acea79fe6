// SPDX-License-Identifier: BSD-2-Clause
/* libtrib's API to parameter servers: a worker, and the thread that drives it. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "ps.h"

/* trib_ps_close() waits this long for the network to drop the subscription. */
#define CLOSE_NS NDN_SEC

/* ---- the thread ---- */

static void send_packet(void *ctx, const uint8_t *packet, size_t n)
{
	struct trib_ps *p = ctx;

	ndn_socket_send(p->link, packet, n);
}

static void take_packet(void *ctx, const uint8_t *packet, size_t n)
{
	struct trib_ps *p = ctx;

	ndn_worker_receive(&p->w, ndn_socket_now(), packet, n);
}

static bool would_not_wait(const struct trib_ps *p)
{
	return p->has_task ? ndn_worker_is_ready(&p->w) : ndn_worker_has_task(&p->w);
}

/* Call after each change of the worker: sends what is due, wakes who waits. */
void trib_ps_tell(struct trib_ps *p)
{
	bool ready = would_not_wait(p);
	uint64_t n = 1;

	ndn_socket_flush(p->link);
	pthread_cond_broadcast(&p->changed);
	if (ready == p->is_set)
		return;
	p->is_set = ready;
	/*
	 * read() cannot fail with an error that matters: the counter is 0 or 1.
	 */
	if (ready)
		n = (uint64_t)write(p->ready, &n, sizeof(n));
	else
		n = (uint64_t)read(p->ready, &n, sizeof(n));
}

void trib_ps_wake(struct trib_ps *p)
{
	uint64_t one = 1;
	ssize_t n = write(p->wake, &one, sizeof(one));

	(void)n; /* write() fails only if the thread's wake-up is pending already. */
}

static void wait_for_network(struct trib_ps *p, uint64_t next)
{
	struct pollfd fds[] = {{ndn_socket_fd(p->link), POLLIN, 0}, {p->wake, POLLIN, 0}};
	uint64_t now = ndn_socket_now(), ns = next > now ? next - now : 0;
	struct timespec ts = {(time_t)(ns / NDN_SEC), (long)(ns % NDN_SEC)};
	uint64_t n;

	if (ppoll(fds, 2, next == NDN_NEVER ? NULL : &ts, NULL) > 0 && fds[1].revents &&
	    read(p->wake, &n, sizeof(n)) < 0)
		return;
}

static void *drive(void *arg)
{
	struct trib_ps *p = arg;
	uint64_t next;

	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		next = ndn_worker_next(&p->w);
		pthread_mutex_unlock(&p->lock);
		wait_for_network(p, next);
		pthread_mutex_lock(&p->lock);
		ndn_socket_receive(p->link, take_packet, p);
		ndn_worker_run(&p->w, ndn_socket_now());
		trib_ps_tell(p);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* ---- waiting ---- */

static uint64_t deadline(int timeout_ms)
{
	if (timeout_ms < 0)
		return NDN_NEVER;
	return ndn_socket_now() + (uint64_t)timeout_ms * NDN_MS;
}

/* Wait until something changes. Return: 0, or -ETIMEDOUT. */
static int wait_change(struct trib_ps *p, uint64_t end)
{
	struct timespec ts = {(time_t)(end / NDN_SEC), (long)(end % NDN_SEC)};

	if (end == NDN_NEVER)
		return -pthread_cond_wait(&p->changed, &p->lock);
	if (ndn_socket_now() >= end)
		return -ETIMEDOUT;
	return -pthread_cond_timedwait(&p->changed, &p->lock, &ts);
}

/* ---- open and close ---- */

static int init_sync(struct trib_ps *p)
{
	pthread_condattr_t attr;
	int rc;

	rc = pthread_mutex_init(&p->lock, NULL);
	if (rc)
		return -rc;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	rc = pthread_cond_init(&p->changed, &attr);
	pthread_condattr_destroy(&attr);
	if (rc) {
		pthread_mutex_destroy(&p->lock);
		return -rc;
	}
	return 0;
}

/* The thread takes no signals: they go to the caller's threads. */
static int start_thread(struct trib_ps *p)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&p->thread, NULL, drive, p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -rc;
}

static int open_all(struct trib_ps *p, const struct trib_ps_options *o)
{
	struct ndn_worker_config config;
	struct ndn_socket_addr addr = {0};
	char why[160] = "";
	int rc = trib_ps_read_options(p, &config, &addr, o);

	if (rc)
		goto err_options;
	config.send = send_packet;
	config.ctx = p;
	rc = ndn_worker_init(&p->w, &config);
	ndn_key_wipe(&config.sign);
	ndn_key_wipe(&config.verify);
	if (rc)
		goto err_options;
	rc = ndn_socket_open(&p->link, &addr, why, sizeof(why));
	if (rc) {
		trib_ps_fail(NULL, rc, "%s", why);
		goto err_worker;
	}
	p->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	p->ready = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	rc = p->wake < 0 || p->ready < 0 ? -errno : init_sync(p);
	if (rc)
		goto err_fds;
	rc = start_thread(p);
	if (!rc)
		return 0;
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
err_fds:
	if (p->wake >= 0)
		close(p->wake);
	if (p->ready >= 0)
		close(p->ready);
	ndn_socket_close(p->link);
err_worker:
	ndn_worker_free(&p->w);
err_options:
	trib_ps_free_options(p);
	return rc;
}

int trib_ps_open(struct trib_ps **out, const struct trib_ps_options *o)
{
	struct trib_ps *p = calloc(1, sizeof(*p));
	int rc;

	*out = NULL;
	if (!p)
		return trib_ps_fail(NULL, -ENOMEM, "out of memory");
	strcpy(p->error, "no error");
	trib_ps_fail(NULL, 0, "%s", "");
	rc = open_all(p, o);
	if (!rc) {
		*out = p;
		return 0;
	}
	free(p);
	if (!*trib_ps_error_text(NULL))
		trib_ps_fail(NULL, rc, "%s", strerror(-rc));
	return rc;
}

static void leave_until(struct trib_ps *p, uint64_t end)
{
	ndn_worker_leave(&p->w, ndn_socket_now());
	trib_ps_tell(p);
	trib_ps_wake(p);
	while (p->w.state != NDN_WORKER_IDLE && !wait_change(p, end))
		;
	p->has_task = false;
	trib_ps_tell(p);
}

void trib_ps_close(struct trib_ps *p)
{
	if (!p)
		return;
	trib_ps_tree_leave(p);
	pthread_mutex_lock(&p->lock);
	leave_until(p, ndn_socket_now() + CLOSE_NS);
	p->stop = true;
	pthread_mutex_unlock(&p->lock);
	trib_ps_wake(p);
	pthread_join(p->thread, NULL);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	close(p->wake);
	close(p->ready);
	ndn_socket_close(p->link);
	ndn_worker_free(&p->w);
	trib_ps_free_options(p);
	free(p);
}

int trib_ps_fd(const struct trib_ps *p)
{
	return p->ready;
}

/* ---- the task ---- */

static void describe(const struct trib_ps *p, struct trib_ps_task *task)
{
	struct ndn_name job = ndn_name_of(&p->w.job.plain);
	char text[NDN_NAME_TEXT_MAX];
	struct trib_ps_task full = {
		.size = task->size,
		.count = p->w.start.elements,
		.async = p->w.start.mode == NDN_MODE_ASYNC,
	};

	if (!ndn_name_text(&job, text, sizeof(text)))
		snprintf(full.job, sizeof(full.job), "%s", text);
	memcpy(task, &full, full.size < sizeof(full) ? full.size : sizeof(full));
}

static const char *why_no_task(const struct trib_ps *p, uint64_t bad)
{
	return p->w.count[NDN_WORKER_BAD_SIGNATURE] == bad
		       ? "no server offered a task in time: check trib-ps and the forwarder's routes"
		       : "a task was offered, but its packets are not "
			 "signed with the server's key";
}

int trib_ps_join(struct trib_ps *p, struct trib_ps_task *task, int timeout_ms)
{
	uint64_t end = deadline(timeout_ms), bad;
	int rc = 0;

	if (task->size < sizeof(task->size))
		return trib_ps_fail(p, -EINVAL, "struct trib_ps_task: set @size before the call");
	pthread_mutex_lock(&p->lock);
	bad = p->w.count[NDN_WORKER_BAD_SIGNATURE];
	if (p->has_task && ndn_worker_has_task(&p->w))
		rc = trib_ps_fail(p, -EBUSY,
				  "this worker has a task already: call trib_ps_leave() first");
	else
		p->has_task = false;
	while (!rc && !ndn_worker_has_task(&p->w)) {
		/*
		 * Refused while the worker is still leaving its last task:
		 * repeat after each change.
		 */
		ndn_worker_want(&p->w, ndn_socket_now());
		rc = wait_change(p, end);
		if (rc)
			trib_ps_fail(p, rc, "%s", why_no_task(p, bad));
	}
	if (!rc)
		rc = trib_ps_tree_join(p);
	if (!rc) {
		describe(p, task);
		p->has_task = true;
	}
	trib_ps_tell(p);
	pthread_mutex_unlock(&p->lock);
	return rc;
}

int trib_ps_leave(struct trib_ps *p)
{
	trib_ps_tree_leave(p);
	pthread_mutex_lock(&p->lock);
	leave_until(p, NDN_NEVER);
	pthread_mutex_unlock(&p->lock);
	return 0;
}

/* ---- models and gradients ---- */

static int check(struct trib_ps *p, size_t count)
{
	if (!p->has_task)
		return trib_ps_fail(p, -EINVAL, "no task: call trib_ps_join() first");
	if (count != p->w.start.elements)
		return trib_ps_fail(p, -EINVAL,
				    "@count is %zu, but this task's vectors have %llu values",
				    count, (unsigned long long)p->w.start.elements);
	return 0;
}

int trib_ps_explain(struct trib_ps *p, int rc)
{
	switch (rc) {
	case 0:
		return 0;
	case -ETIMEDOUT:
		return trib_ps_fail(p, rc, "no version of the model arrived in time");
	case -ESTALE:
		return trib_ps_fail(
			p, rc,
			"this gradient's model is outdated: fetch a newer one with trib_ps_model()");
	case -ESHUTDOWN:
		return trib_ps_fail(p, rc, "the task is over");
	case -EHOSTDOWN:
		return trib_ps_fail(
			p, rc,
			"the parameter server sent nothing for several leases: the task is given up");
	default:
		return trib_ps_fail(p, rc, "%s", strerror(-rc));
	}
}

int trib_ps_model(struct trib_ps *p, float *model, size_t count, struct trib_ps_version *version,
		  int timeout_ms)
{
	struct trib_ps_version full = {.size = version->size};
	uint64_t end = deadline(timeout_ms);
	bool last = false;
	int rc;

	if (version->size < sizeof(version->size))
		return trib_ps_fail(p, -EINVAL,
				    "struct trib_ps_version: set @size before the call");
	pthread_mutex_lock(&p->lock);
	rc = check(p, count);
	while (!rc) {
		rc = ndn_worker_begin(&p->w, ndn_socket_now(), model, &full.version, &last);
		if (rc != -EAGAIN) {
			trib_ps_explain(p, rc);
			break;
		}
		rc = trib_ps_explain(p, wait_change(p, end));
	}
	if (!rc) {
		full.last = last;
		memcpy(version, &full, full.size < sizeof(full) ? full.size : sizeof(full));
	}
	trib_ps_tell(p);
	pthread_mutex_unlock(&p->lock);
	return rc;
}

static int give(struct trib_ps *p, uint64_t version, const float *grad, size_t count)
{
	if (!ndn_content_is_finite(grad, count * sizeof(*grad)))
		return trib_ps_fail(p, -EDOM,
				    "the gradient contains NaN or infinity: nothing was sent");
	return trib_ps_explain(p, ndn_worker_give(&p->w, ndn_socket_now(), version, grad));
}

int trib_ps_gradient(struct trib_ps *p, uint64_t version, const float *grad, size_t count)
{
	int rc;

	pthread_mutex_lock(&p->lock);
	rc = check(p, count);
	if (!rc && trib_ps_has_tree(p))
		rc = trib_ps_tree_give(p, version, grad, count);
	else if (!rc)
		rc = give(p, version, grad, count);
	trib_ps_tell(p);
	pthread_mutex_unlock(&p->lock);
	trib_ps_wake(p);
	return rc;
}

int trib_ps_is_stale(struct trib_ps *p, uint64_t version)
{
	int stale;

	pthread_mutex_lock(&p->lock);
	stale = !ndn_worker_is_wanted(&p->w, version);
	pthread_mutex_unlock(&p->lock);
	return stale;
}

void trib_ps_counters(struct trib_ps *p, struct trib_ps_counters *out)
{
	const uint64_t *n = p->w.count;
	struct trib_ps_counters c = {.size = out->size};

	pthread_mutex_lock(&p->lock);
	c.sent_packets = n[NDN_WORKER_SENT];
	c.sent_bytes = p->w.sent_bytes;
	c.recv_packets = n[NDN_WORKER_RECEIVED];
	c.recv_bytes = p->w.received_bytes;
	c.versions = n[NDN_WORKER_VERSIONS];
	c.skipped = n[NDN_WORKER_SKIPPED];
	c.gradients = n[NDN_WORKER_ASKED];
	c.segments = n[NDN_WORKER_TAKEN];
	c.again = n[NDN_WORKER_AGAIN];
	c.fetches = n[NDN_WORKER_FETCHES];
	c.probes = n[NDN_WORKER_PROBES];
	c.offers = n[NDN_WORKER_ACCEPTED];
	c.busy = n[NDN_WORKER_REFUSED];
	c.bad_packets = n[NDN_WORKER_BAD_NDN] + n[NDN_WORKER_STRAY] + n[NDN_WORKER_NACKS];
	c.bad_signatures = n[NDN_WORKER_BAD_SIGNATURE];
	c.bad_content = n[NDN_WORKER_BAD_CONTENT];
	c.rtt_us = p->w.rtt.known ? p->w.rtt.mean / 1000 : 0;
	pthread_mutex_unlock(&p->lock);
	memcpy(out, &c, c.size < sizeof(c) ? c.size : sizeof(c));
}
