// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib-ps: arguments, signals, and the loop that connects the pure parts to
 * the socket, the state file and the log. One thread for one socket.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host/folder.h"
#include "base/host/service.h"
#include "base/ps_folder.h"
#include "base/text.h"
#include "jobs.h"
#include "mtu.h"
#include "ps/ndn/ndn_main.h"
#include "net.h"
#include "ps/program/process.h"
#include "report.h"
#include "ps/sum/state.h"

#define TURNS 64 /* batches received before timers get their turn */
#define STATE_DEFAULT PS_RUN_DIR "/ps.json"

static const char usage_text[] =
	"usage: trib-ps --listen ADDR[:PORT] [--jobs DIR | --job FILE...]\n"
	"               [--state FILE] [--stats FILE [--interval MS]]\n"
	"       trib-ps --check --listen ADDR[:PORT] [--jobs DIR | --job FILE...]\n"
	"       trib-ps ndn ...: see trib-ps ndn --help\n"
	"       trib-ps --version | --help\n"
	"see trib-ps(8)\n";

struct options {
	const char *listen;
	const char *job[PS_TREES_MAX];
	unsigned int njob;
	const char *jobs; /* folder; NULL: files only */
	const char *state;
	const char *stats;
	unsigned int interval;
	bool check;
};

struct server {
	struct options o;
	struct ps_addr listen;
	struct ps *ps;
	struct ps_net *net;
	struct ps_jobs *jobs;
	char jobs_dir[128], state_file[4096];
	int signals;
	uint64_t report_ms;
	int save_err;
	bool stop;
};

/* --- struct ps_ops */

static void on_to(void *ctx, const struct ps_addr *to, const void *pkt, size_t len,
		  struct ps_place *z)
{
	struct server *s = ctx;

	ps_net_to(s->net, to, pkt, len, z);
}

static void on_result(void *ctx, struct ps_tree *t, struct ps_place *z)
{
	struct server *s = ctx;

	ps_net_result(s->net, t, z);
}

static void on_settle(void *ctx, struct ps_place *z)
{
	struct server *s = ctx;

	ps_net_settle(s->net, z);
}

/* Log a change only: a job that waits for it asks several times a second. */
static int on_save(void *ctx)
{
	struct server *s = ctx;
	int err = ps_state_save(s->ps, s->o.state);

	if (err && err != s->save_err)
		ps_log("cannot write %s: %s: no job starts until it can be written; %s", s->o.state,
		       strerror(-err),
		       err == -ENOSPC || err == -EDQUOT ? "make room there"
							: "look at its folder and its disk");
	if (!err && s->save_err)
		ps_log("%s is written again", s->o.state);
	s->save_err = err;
	return err;
}

static void on_log(void *ctx, const char *line)
{
	(void)ctx;
	ps_log("%s", line);
}

static const struct ps_ops ops = {
	.to = on_to,
	.result = on_result,
	.settle = on_settle,
	.save = on_save,
	.log = on_log,
};

/* --- arguments. Return: -1 to go on, else the exit status */

static int usage(const char *fmt, const char *value)
{
	return ps_usage(usage_text, fmt, value);
}

static int option_parse(struct options *o, int c, const char *arg)
{
	switch (c) {
	case 'l':
		o->listen = arg;
		return -1;
	case 'j':
		if (o->njob == PS_TREES_MAX)
			return usage("--job %s: more jobs than trib-ps takes", arg);
		o->job[o->njob++] = arg;
		return -1;
	case 'J':
		o->jobs = arg;
		return -1;
	case 's':
		o->state = arg;
		return -1;
	case 'S':
		o->stats = arg;
		return -1;
	case 'i':
		return ps_interval_parse(arg, &o->interval)
			       ? -1
			       : usage("--interval %s: want 10 to 86400000", arg);
	case 'c':
		o->check = true;
		return -1;
	case 'V':
		puts("trib-ps " TRIB_VERSION);
		return 0;
	case 'h':
		fputs(usage_text, stdout);
		return 0;
	default:
		fputs(usage_text, stderr);
		return 2;
	}
}

static int arguments_parse(struct server *s, int argc, char **argv)
{
	static const struct option option[] = {
		{"listen", required_argument, NULL, 'l'},
		{"job", required_argument, NULL, 'j'},
		{"jobs", required_argument, NULL, 'J'},
		{"state", required_argument, NULL, 's'},
		{"stats", required_argument, NULL, 'S'},
		{"interval", required_argument, NULL, 'i'},
		{"check", no_argument, NULL, 'c'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct options *o = &s->o;
	int c, rc;

	while ((c = getopt_long(argc, argv, "", option, NULL)) != -1) {
		rc = option_parse(o, c, optarg);
		if (rc >= 0)
			return rc;
	}
	if (optind < argc)
		return usage("unexpected argument '%s'", argv[optind]);
	if (!o->listen)
		return usage("%s is missing", "--listen");
	if (o->jobs && strlen(o->jobs) > 4000)
		return usage("%s is too long", "--jobs");
	if (!o->njob && !o->jobs) {
		if (ps_jobs_dir(s->jobs_dir, sizeof(s->jobs_dir)))
			return usage("%s is missing", "--jobs");
		o->jobs = s->jobs_dir;
	}
	if (o->interval && !o->stats)
		return usage("%s is missing", "--stats");
	if (!ps_addr_parse(o->listen, TRIB_UDP_PORT_PS, &s->listen))
		return usage("--listen %s: want ADDR[:PORT]", o->listen);
	if (!o->interval)
		o->interval = PS_INTERVAL_DEFAULT;
	return -1;
}

/* --- opening and running */

static bool is_any(const struct in6_addr *ip)
{
	static const uint8_t any_v4[4];

	return IN6_IS_ADDR_UNSPECIFIED(ip) ||
	       (IN6_IS_ADDR_V4MAPPED(ip) && !memcmp(ip->s6_addr + 12, any_v4, sizeof(any_v4)));
}

/* A folder of jobs, which one trib-ps locks, also holds the state. */
static int choose_state(struct server *s, char *why, size_t size)
{
	s->o.state = STATE_DEFAULT;
	if (!s->o.jobs)
		return folder_own(PS_RUN_DIR, 0755, why, size);
	snprintf(s->state_file, sizeof(s->state_file), "%s/.state", s->o.jobs);
	s->o.state = s->state_file;
	return 0;
}

/* Signals are blocked first: one must end the wait for a port that is taken. */
static int open_service(struct server *s, char *why, size_t size)
{
	int err = 0;

	s->signals = ps_signals_open();
	if (s->signals < 0)
		return text_fail(why, size, -errno, "signals: %s", strerror(errno));
	if (!s->o.state)
		err = choose_state(s, why, size);
	/* Bind the port first: another trib-ps may be using this state. */
	if (!err)
		err = ps_net_open(&s->net, s->ps, &s->listen, why, size);
	if (!err)
		err = ps_state_load(s->ps, s->o.state, why, size);
	return err;
}

static int open_all(struct server *s)
{
	bool v4 = IN6_IS_ADDR_V4MAPPED(&s->listen.ip);
	char why[512], text[ADDR_TEXT_MAX];
	unsigned int i;
	int err;

	s->ps->everywhere = is_any(&s->listen.ip);
	for (i = 0; i < s->o.njob; i++) {
		if (!ps_config_load(s->ps, s->o.job[i], v4, why, sizeof(why)))
			continue;
		ps_log("%s", why);
		return -EINVAL;
	}
	if (!s->o.check && ps_mtu_check(s->ps, why, sizeof(why))) {
		ps_log("%s", why);
		return -EMSGSIZE;
	}
	if (s->o.jobs && ps_jobs_open(&s->jobs, s->ps, s->o.jobs, v4,
				      ps_addr_text(&s->listen, text), why, sizeof(why))) {
		ps_log("%s", why);
		return -EINVAL;
	}
	if (s->o.check)
		return s->jobs && ps_jobs_refused(s->jobs) ? -EINVAL : 0;
	if (open_service(s, why, sizeof(why))) {
		ps_log("%s", why);
		return -EINVAL;
	}
	err = ps_state_save(s->ps, s->o.state);
	if (err)
		ps_log("cannot write %s: %s", s->o.state, strerror(-err));
	return err;
}

static void report(struct server *s)
{
	int err = ps_report(s->ps, s->net, s->o.stats);

	if (err)
		ps_log("cannot write %s: %s", s->o.stats, strerror(-err));
}

static void take_signals(struct server *s)
{
	unsigned int got = ps_signals_take(s->signals);

	if (got & PS_SIGNAL_REPORT)
		report(s);
	if (got & PS_SIGNAL_STOP)
		s->stop = true;
}

/* Return: milliseconds to sleep; -1: until a packet comes. */
static int due(struct server *s)
{
	uint64_t now = clock_ms();
	uint32_t wait = ps_tick(s->ps, now), left;

	ps_net_flush(s->net);
	if (!s->o.stats)
		return wait ? (int)wait : -1;
	if (now >= s->report_ms) {
		report(s);
		s->report_ms = now + s->o.interval;
	}
	left = (uint32_t)(s->report_ms - now);
	return (int)(wait && wait < left ? wait : left);
}

static int serve(struct server *s)
{
	struct pollfd pfd[3] = {
		{.fd = ps_net_fd(s->net), .events = POLLIN},
		{.fd = s->signals, .events = POLLIN},
		{.fd = s->jobs ? ps_jobs_fd(s->jobs) : -1, .events = POLLIN},
	};
	unsigned int i;

	while (!s->stop) {
		if (poll(pfd, 3, due(s)) < 0 && errno != EINTR) {
			ps_log("poll: %s", strerror(errno));
			return 1;
		}
		if (pfd[1].revents)
			take_signals(s);
		/* The queue is empty, because due() flushed it. */
		if (pfd[2].revents)
			ps_jobs_turn(s->jobs);
		for (i = 0; i < TURNS && ps_net_turn(s->net) > 0; i++)
			;
	}
	if (s->ps->save_ms)
		on_save(s);
	if (s->o.stats)
		report(s);
	return 0;
}

int main(int argc, char **argv)
{
	static struct server s = {.signals = -1};
	char text[ADDR_TEXT_MAX];
	int rc;

	if (argc > 1 && !strcmp(argv[1], "ndn"))
		return ps_ndn_main(argc - 1, argv + 1);
	rc = arguments_parse(&s, argc, argv);
	if (rc >= 0)
		return rc;
	s.ps = calloc(1, sizeof(*s.ps));
	if (!s.ps) {
		ps_log("out of memory");
		return 1;
	}
	s.ps->ops = &ops;
	s.ps->ctx = &s;
	rc = 1;
	if (!open_all(&s)) {
		rc = 0;
		if (!s.o.check) {
			ps_log("%u trees of %u jobs on %s%s%s", s.ps->ntree, s.ps->njob,
			       ps_addr_text(&s.listen, text), s.o.jobs ? ", jobs in " : "",
			       s.o.jobs ? s.o.jobs : "");
			(void)service_tell("READY=1");
			rc = serve(&s);
		}
	}
	if (s.signals >= 0)
		close(s.signals);
	ps_net_close(s.net);
	ps_jobs_close(s.jobs);
	ps_free(s.ps);
	free(s.ps);
	return rc;
}
