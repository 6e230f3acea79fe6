// SPDX-License-Identifier: BSD-2-Clause
/* The double of a GPU: streams, events, failures. See double.h. */
#include "double.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inner.h"

#define THREADS_MAX 8

/* One record of an event. The event, that work, and followers hold it. */
struct mark {
	bool happened;
	unsigned int holders;
};

struct event {
	int device;
	struct mark *newest;
};

struct stream {
	struct stream *next;
	int device;
	struct work *first, **tail;
	bool busy;
	bool on_hold;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct stream *streams;
static unsigned int objects;
static uint64_t rng;

static unsigned int fail_call, fail_work;
static bool failed, broken, absent, missing;
static char reason[64];

static pthread_t threads[THREADS_MAX];
static unsigned int nthread;
static bool stop;

static _Thread_local int current;
static _Thread_local char error[160];

static uint64_t rnd(void)
{
	rng = rng * 6364136223846793005ULL + 1442695040888963407ULL;
	return rng >> 33;
}

int double_error(const char *text)
{
	snprintf(error, sizeof(error), "%s", text);
	return -EIO;
}

/* Does this call fail, because the test wants it or the GPU is broken? Lock not held. */
bool double_call_fails(void)
{
	bool fails;

	pthread_mutex_lock(&lock);
	fails = fail_call && !--fail_call;
	failed |= fails;
	if (fails)
		double_error("a call that fails");
	else if (broken)
		double_error(reason);
	fails |= broken;
	pthread_mutex_unlock(&lock);
	return fails;
}

void double_count(int n)
{
	pthread_mutex_lock(&lock);
	objects += (unsigned int)n;
	pthread_mutex_unlock(&lock);
}

int double_device(void)
{
	return current;
}

/* --- queues */

int double_push(void *stream, const struct work *w)
{
	struct stream *s = stream;
	struct work *copy;

	if (double_call_fails())
		return -EIO;
	if (w->launch && s->device != current)
		return double_error("invalid resource handle: the stream is another GPU's");
	copy = double_alloc(sizeof(*copy));
	*copy = *w;
	copy->next = NULL;
	pthread_mutex_lock(&lock);
	*s->tail = copy;
	s->tail = &copy->next;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* Can the stream go on? */
static bool can_go_on(const struct stream *s)
{
	return s->first && !s->busy && !s->on_hold &&
	       (s->first->kind != WORK_FOLLOW || s->first->mark->happened);
}

/* Any stream that can go on, by chance. */
static struct stream *pick(void)
{
	struct stream *s, *chosen = NULL;
	unsigned int n = 0;

	for (s = streams; s; s = s->next)
		if (can_go_on(s) && !(rnd() % ++n))
			chosen = s;
	return chosen;
}

static void drop_mark(struct mark *k)
{
	if (k && !--k->holders)
		free(k);
}

/* Do the stream's first work. Lock held, released meanwhile. */
static void do_first(struct stream *s)
{
	struct work *w = s->first;
	const char *why;

	s->busy = true;
	if (w->kind != WORK_TELL && fail_work && !--fail_work) {
		broken = failed = true;
		snprintf(reason, sizeof(reason), "work that fails");
	}
	why = broken ? reason : NULL;
	pthread_mutex_unlock(&lock);
	if (w->kind == WORK_TELL)
		w->fn(w->arg, why);
	else if (!why && w->run)
		w->run(w);
	pthread_mutex_lock(&lock);
	if (w->kind == WORK_RECORD)
		w->mark->happened = true;
	drop_mark(w->mark);
	s->first = w->next;
	if (!s->first)
		s->tail = &s->first;
	s->busy = false;
	free(w);
	pthread_cond_broadcast(&changed);
}

bool gpu_double_step(void)
{
	struct stream *s;

	pthread_mutex_lock(&lock);
	s = pick();
	if (s)
		do_first(s);
	pthread_mutex_unlock(&lock);
	return s;
}

bool gpu_double_idle(void)
{
	struct stream *s;
	bool idle = true;

	pthread_mutex_lock(&lock);
	for (s = streams; s; s = s->next)
		idle &= !s->first;
	pthread_mutex_unlock(&lock);
	return idle;
}

static void *thread_main(void *arg)
{
	struct stream *s;

	(void)arg;
	pthread_mutex_lock(&lock);
	while (!stop) {
		s = pick();
		if (!s) {
			pthread_cond_wait(&changed, &lock);
			continue;
		}
		if (!(rnd() % 4)) {
			/* Late, so that others may overtake it. */
			s->busy = true;
			pthread_mutex_unlock(&lock);
			usleep(50);
			pthread_mutex_lock(&lock);
		}
		do_first(s);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

void gpu_double_start(unsigned int n)
{
	stop = false;
	for (nthread = 0; nthread < n && nthread < THREADS_MAX; nthread++)
		if (pthread_create(&threads[nthread], NULL, thread_main, NULL))
			abort();
}

void gpu_double_stop(void)
{
	pthread_mutex_lock(&lock);
	stop = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	while (nthread)
		pthread_join(threads[--nthread], NULL);
}

/* --- the runtime's functions for streams and events */

static int stream_new(void **out)
{
	struct stream *s;

	if (double_call_fails())
		return -EIO;
	s = double_alloc(sizeof(*s));
	s->device = current;
	s->tail = &s->first;
	pthread_mutex_lock(&lock);
	s->next = streams;
	streams = s;
	objects++;
	pthread_mutex_unlock(&lock);
	*out = s;
	return 0;
}

/* Until the stream is empty; without threads the caller does the work. Lock held. */
static void drain(struct stream *s)
{
	struct stream *any;

	while (s->first) {
		any = nthread ? NULL : pick();
		if (any)
			do_first(any);
		else if (nthread)
			pthread_cond_wait(&changed, &lock);
		else
			double_die("a stream that waits for an event for ever");
	}
}

static void stream_free(void *stream)
{
	struct stream *s = stream, **link = &streams;

	pthread_mutex_lock(&lock);
	drain(s);
	while (*link != s)
		link = &(*link)->next;
	*link = s->next;
	objects--;
	pthread_mutex_unlock(&lock);
	free(s);
}

static int wait_for(void *stream)
{
	bool fails = double_call_fails();
	int rc;

	pthread_mutex_lock(&lock);
	drain(stream);
	rc = broken ? double_error(reason) : fails ? -EIO : 0;
	pthread_mutex_unlock(&lock);
	return rc;
}

static int event_new(void **out)
{
	struct event *e;

	if (double_call_fails())
		return -EIO;
	e = double_alloc(sizeof(*e));
	e->device = current;
	double_count(1);
	*out = e;
	return 0;
}

static void event_free(void *event)
{
	struct event *e = event;

	double_count(-1);
	pthread_mutex_lock(&lock);
	drop_mark(e->newest);
	pthread_mutex_unlock(&lock);
	free(e);
}

static int record(void *event, void *stream)
{
	struct event *e = event;
	struct work w = {.kind = WORK_RECORD, .mark = double_alloc(sizeof(*w.mark))};
	int rc;

	if (e->device != ((struct stream *)stream)->device) {
		free(w.mark);
		return double_error("invalid resource handle: the event is another GPU's");
	}
	w.mark->holders = 2;
	rc = double_push(stream, &w);
	if (rc) {
		free(w.mark);
		return rc;
	}
	pthread_mutex_lock(&lock);
	drop_mark(e->newest);
	e->newest = w.mark;
	pthread_mutex_unlock(&lock);
	return 0;
}

static int follow(void *stream, void *event)
{
	struct event *e = event;
	struct work w = {.kind = WORK_FOLLOW, .mark = e->newest};
	int rc;

	if (!w.mark)
		return 0;
	pthread_mutex_lock(&lock);
	w.mark->holders++;
	pthread_mutex_unlock(&lock);
	rc = double_push(stream, &w);
	pthread_mutex_lock(&lock);
	if (rc)
		drop_mark(w.mark);
	pthread_mutex_unlock(&lock);
	return rc;
}

static int tell(void *stream, trib_gpu_told fn, void *arg)
{
	struct work w = {.kind = WORK_TELL, .fn = fn, .arg = arg};

	return double_push(stream, &w);
}

static int device_now(int *number)
{
	*number = current;
	return double_call_fails() ? -EIO : 0;
}

static int use(int number)
{
	if (double_call_fails())
		return -EIO;
	current = number;
	return 0;
}

static int describe(char *text, size_t len)
{
	snprintf(text, len, "\"gpu\": \"double\"");
	if (!absent)
		return double_call_fails() ? -ENODEV : 0;
	double_error("no GPU is detected");
	return -ENODEV;
}

static const char *error_text(void)
{
	return error;
}

/* --- for tests */

unsigned int gpu_double_reset(uint64_t seed)
{
	unsigned int left = objects;

	rng = seed;
	fail_call = fail_work = 0;
	failed = broken = absent = missing = false;
	objects = 0;
	return left;
}

void gpu_double_fail_call(unsigned int nth)
{
	pthread_mutex_lock(&lock);
	fail_call = nth;
	pthread_mutex_unlock(&lock);
}

void gpu_double_fail_work(unsigned int nth)
{
	pthread_mutex_lock(&lock);
	fail_work = nth;
	pthread_mutex_unlock(&lock);
}

bool gpu_double_failed(void)
{
	bool yes;

	pthread_mutex_lock(&lock);
	yes = failed;
	pthread_mutex_unlock(&lock);
	return yes;
}

void gpu_double_absent(bool yes)
{
	absent = yes;
}

void gpu_double_hold(void *stream, bool hold)
{
	struct stream *s = stream;

	pthread_mutex_lock(&lock);
	s->on_hold = hold;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void gpu_double_missing(bool yes)
{
	pthread_mutex_lock(&lock);
	missing = yes;
	pthread_mutex_unlock(&lock);
}

const struct trib_gpu_ops *__wrap_trib_gpu_load(const char *path, char *why, size_t why_len);
const struct trib_gpu_ops *__wrap_trib_gpu_load(const char *path, char *why, size_t why_len)
{
	bool is_missing;

	pthread_mutex_lock(&lock);
	is_missing = missing;
	pthread_mutex_unlock(&lock);
	if (!is_missing)
		return &gpu_double;
	snprintf(why, why_len, "no compression on the GPU: %s is missing",
		 path ? path : "libtrib-gpu.so");
	return NULL;
}

static int identify(unsigned char uuid[TRIB_GPU_UUID])
{
	memset(uuid, 0xd0 + current, TRIB_GPU_UUID);
	return double_call_fails() ? -EIO : 0;
}

const struct trib_gpu_ops gpu_double = {
	.abi = TRIB_GPU_ABI,
	.name = "double",
	.select = double_select,
	.amax = double_amax,
	.pack = double_pack,
	.pack_lanes = double_pack_lanes,
	.unpack_lanes = double_unpack_lanes,
	.expand = double_expand,
	.check = double_check,
	.first_bad = double_first_bad,
	.energy = double_energy,
	.memory_new = double_memory_new,
	.memory_free = double_memory_free,
	.copy = double_copy,
	.clear = double_clear,
	.host_new = double_host_new,
	.host_free = double_host_free,
	.owner = double_owner,
	.stream_new = stream_new,
	.stream_free = stream_free,
	.wait = wait_for,
	.event_new = event_new,
	.event_free = event_free,
	.record = record,
	.follow = follow,
	.tell = tell,
	.device = device_now,
	.use = use,
	.reduce = double_reduce,
	.identify = identify,
	.export_memory = double_export,
	.open = double_open,
	.close = double_memory_free,
	.describe = describe,
	.error_text = error_text,
};
