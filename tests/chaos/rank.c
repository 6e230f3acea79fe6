// SPDX-License-Identifier: BSD-2-Clause
/*
 * One rank of a training job under chaos: sums without end, each checked against
 * the exact oracle. After an error it leaves and joins again, as a training job
 * that continues from its checkpoint would.
 *
 *	rank -s SEED -l MS -f FILE [-n VALUES]
 *
 * A step is up to three sums of integers or floats under way at once, of at most
 * -n values. All ranks agree on the number of the step after each joining: the
 * largest that one of them has reached. FILE is a struct status that the driver
 * maps: it sees calls that do not return. -l: calls that take longer are told.
 * SIGTERM on any rank ends all after the step. Standard output has a line of JSON
 * for each joining, error, wrong sum and late call.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "trib.h"
#include "userspace/perf/oracle.h"

#define BUCKETS 3
#define PAUSE_US 3000	      /* of a step: what computing gradients takes */
#define RETRY_US (100 * 1000) /* from an error to the next joining */

enum call { CALL_NONE, CALL_ATTACH, CALL_SUM, CALL_DETACH };

static const char *const call_names[] = {"none", "attach", "sum", "detach"};

/* The driver reads it as eight 64-bit numbers (ranks.py). */
struct status {
	uint64_t call;	   /* enum call that is under way */
	uint64_t begun_ns; /* by CLOCK_MONOTONIC */
	uint64_t step;
	uint64_t sums_i32; /* checked */
	uint64_t sums_f32;
	uint64_t wrong;
	uint64_t joined;
	uint64_t errors;
};

struct bucket {
	struct oracle oracle;
	struct trib_req *req;
	void *in, *out;
};

static struct status *status;
static struct bucket buckets[BUCKETS];
static uint64_t seed, late_ns = 10 * 1000 * 1000 * 1000ULL;
static size_t values_max = 20000;
static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* One line: {"what": WHAT, "t": SECONDS, ...}. @text ends it, as a JSON string. */
static __attribute__((format(printf, 3, 4))) void say(const char *what, const char *text,
						      const char *fmt, ...)
{
	va_list ap;

	printf("{\"what\": \"%s\", \"t\": %.3f, ", what, (double)now_ns() / 1e9);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf(", \"text\": \"");
	for (; *text; text++)
		printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	puts("\"}");
	fflush(stdout);
}

static void begin(enum call call)
{
	status->begun_ns = now_ns();
	__atomic_store_n(&status->call, call, __ATOMIC_RELEASE);
}

static void end(void)
{
	uint64_t ns = now_ns() - status->begun_ns;
	enum call call = (enum call)status->call;

	__atomic_store_n(&status->call, CALL_NONE, __ATOMIC_RELEASE);
	if (ns > late_ns)
		say("late", "", "\"call\": \"%s\", \"begun\": %.3f, \"ms\": %llu", call_names[call],
		    (double)status->begun_ns / 1e9, (unsigned long long)ns / 1000000);
}

static void say_error(enum call call, int rc, const struct trib *t)
{
	struct trib_error e;

	trib_error(t, &e);
	status->errors++;
	say("error", e.text,
	    "\"call\": \"%s\", \"rc\": %d, \"code\": %d, \"rank\": %d, \"ms\": %llu",
	    call_names[call], rc, e.code, e.rank,
	    (unsigned long long)(now_ns() - status->begun_ns) / 1000000);
}

/* Issues bucket @i of the step. */
static int issue(struct trib *t, unsigned int i)
{
	struct bucket *b = &buckets[i];
	uint64_t key = mix(seed + mix(status->step * BUCKETS + i + 1));
	struct oracle *o = &b->oracle;

	*o = (struct oracle){
		.seed = key,
		.world = (unsigned int)trib_world(t),
		.dtype = key & 1 ? TRIB_F32 : TRIB_I32,
		.op = TRIB_SUM,
		.bound = ORACLE_BLOCK_FP,
		.total = 1 + (key >> 8) % (key & 2 ? values_max : 400),
	};
	oracle_fill(o, (unsigned int)trib_rank(t), 0, o->total, b->in);
	oracle_poison(b->out, o->total * 4);
	return trib_iallreduce(t, b->in, b->out, o->total, o->dtype, o->op, &b->req);
}

static void check(const struct bucket *b)
{
	struct oracle_report rep = {0};
	const struct oracle_wrong *w = rep.first;

	oracle_check(&b->oracle, 0, b->oracle.total, b->out, &rep);
	*(b->oracle.dtype == TRIB_F32 ? &status->sums_f32 : &status->sums_i32) += 1;
	if (!rep.wrong)
		return;
	status->wrong++;
	say("wrong", "",
	    "\"step\": %llu, \"type\": \"%s\", \"values\": %zu, \"bad\": %zu, "
	    "\"index\": %zu, \"got\": %.17g, \"want\": %.17g, \"bound\": %.17g",
	    (unsigned long long)status->step, b->oracle.dtype == TRIB_F32 ? "f32" : "i32",
	    b->oracle.total, rep.wrong, w->index, w->got, w->want, w->bound);
}

/* All requests are waited for, also after an error: each must be freed. */
static int step(struct trib *t, bool *ended)
{
	unsigned int n = 1 + (unsigned int)(mix(seed ^ status->step) % BUCKETS), i, issued;
	int32_t flag[3] = {stop, (int32_t)status->step, -(int32_t)status->step};
	struct trib_req *req = NULL;
	int rc, err = 0;

	begin(CALL_SUM);
	err = trib_iallreduce(t, flag, flag, 3, TRIB_I32, TRIB_MAX, &req);
	for (issued = 0; issued < n && !err; issued++) {
		err = issue(t, issued);
		if (err)
			break;
	}
	rc = req ? trib_wait(req) : 0;
	err = err ? err : rc;
	for (i = 0; i < issued; i++) {
		rc = trib_wait(buckets[i].req);
		if (!rc)
			check(&buckets[i]);
		err = err ? err : rc;
	}
	if (err)
		say_error(CALL_SUM, err, t);
	end();
	if (err)
		return err;
	if (flag[1] != (int32_t)status->step || flag[2] != -flag[1]) {
		status->wrong++;
		say("wrong", "ranks are at different steps", "\"step\": %llu, \"largest\": %d",
		    (unsigned long long)status->step, flag[1]);
	}
	*ended = flag[0];
	status->step++;
	return 0;
}

/* The step that the rank which has come farthest is at. */
static int agree(struct trib *t)
{
	int32_t n = (int32_t)status->step;
	int rc;

	begin(CALL_SUM);
	rc = trib_allreduce(t, &n, &n, 1, TRIB_I32, TRIB_MAX);
	if (rc)
		say_error(CALL_SUM, rc, t);
	else
		status->step = (uint64_t)n;
	end();
	return rc;
}

/* One membership. Returns true when all want to end. */
static bool take_part(void)
{
	struct trib *t = NULL;
	bool ended = false;
	int rc;

	begin(CALL_ATTACH);
	rc = trib_attach(&t, NULL);
	if (rc)
		say_error(CALL_ATTACH, rc, NULL);
	end();
	if (rc)
		return false;
	status->joined++;
	rc = agree(t);
	say("joined", trib_transport_name(t), "\"step\": %llu", (unsigned long long)status->step);
	while (!rc && !ended) {
		rc = step(t, &ended);
		usleep(PAUSE_US);
	}
	begin(CALL_DETACH);
	trib_detach(t);
	end();
	return ended;
}

static uint64_t number(const char *text)
{
	char *rest;
	uint64_t v = strtoull(text, &rest, 10);

	if (rest == text || *rest) {
		fprintf(stderr, "rank: '%s' is not a number\n", text);
		exit(2);
	}
	return v;
}

static struct status *map_status(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	void *p = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, sizeof(struct status)))
		p = mmap(NULL, sizeof(struct status), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	close(fd);
	/* The former process may have died in a call. Its step is our checkpoint. */
	((struct status *)p)->call = CALL_NONE;
	return p;
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_signal};
	const char *path = NULL;
	int o;

	while ((o = getopt(argc, argv, "s:l:f:n:")) != -1) {
		if (o == 's')
			seed = number(optarg);
		else if (o == 'l')
			late_ns = number(optarg) * 1000000;
		else if (o == 'f')
			path = optarg;
		else if (o == 'n')
			values_max = number(optarg);
		else
			return 2;
	}
	if (!path || !values_max)
		return 2;
	status = map_status(path);
	for (int i = 0; i < BUCKETS; i++) {
		buckets[i].in = calloc(values_max + 400, 4);
		buckets[i].out = calloc(values_max + 400, 4);
		if (!buckets[i].in || !buckets[i].out)
			return 1;
	}
	sigaction(SIGTERM, &sa, NULL);
	while (!take_part()) {
		if (stop && status->joined == 0)
			return 1;
		usleep(RETRY_US);
	}
	say("ended", "", "\"step\": %llu", (unsigned long long)status->step);
	return 0;
}
