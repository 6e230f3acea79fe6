// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib-ps ndn: arguments, signals, and the loop that connects the PS of
 * userspace/ndn/app with a socket, disks, standard output and a file of counters.
 */
#include "ndn_main.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "ndn_report.h"
#include "ndn_sums.h"
#include "ps/program/process.h"

#define TURNS 16 /* batches received before timers get their turn */
/* After the last version, answer late workers for this number of leases. */
#define STAY_LEASES 4
#define SLEEP_MAX (60 * NDN_SEC)

static const char usage_text[] =
	"usage: trib-ps ndn --forwarder ADDR[:PORT] [--bind ADDR[:PORT]]\n"
	"                     --job FILE... [--stats FILE] [--interval MS]\n"
	"       trib-ps ndn --check --job FILE...\n"
	"see trib-ps(8)\n";

struct options {
	struct ndn_socket_addr addr;
	const char *stats;
	unsigned int interval;
	bool check;
};

/* A job with its file and its folder. */
struct row {
	struct nps_file *file;
	struct nps_disk *disk;
	struct ps_sums *tree; /* NULL: the PS collects gradients by Interests */
	uint64_t told;	      /* time of the last progress line */
	uint64_t made;	      /* time of the last version */
};

struct server {
	struct options o;
	struct row row[NPS_JOBS_MAX];
	unsigned int nrow;
	struct ndn_socket *link;
	struct nps *ps;
	int signals;
	int trees; /* eventfd: an aggregation job has an outcome */
	uint64_t report_at;
	bool stop;
};

/* --- struct nps_ops */

static struct row *row_of(struct server *s, const struct nps_job *job)
{
	unsigned int i = 0;

	/* Jobs are added in the order of rows. */
	while (s->ps->job[i] != job)
		i++;
	return &s->row[i];
}

static void on_send(void *ctx, const void *pkt, size_t n)
{
	struct server *s = ctx;

	ndn_socket_send(s->link, pkt, n);
}

static int on_save(void *ctx, const struct nps_job *job)
{
	struct row *row = row_of(ctx, job);
	int err = nps_disk_save(row->disk, job->spec.elements, &job->model);

	if (err)
		ps_log("%s: cannot write a checkpoint to %s: %s", job->spec.title, row->file->state,
		       strerror(-err));
	return err;
}

/* Print a line for a version, at most one each interval. */
static void on_version(void *ctx, const struct nps_job *job)
{
	struct server *s = ctx;
	struct row *row = row_of(s, job);
	uint64_t now = s->ps->now;
	unsigned int i, got = 0;

	for (i = 0; i < job->spec.nworker; i++)
		got += job->guests[i].got;
	if (row->tree)
		got = ps_sums_workers(row->tree);
	if (job->over || now - row->told >= s->o.interval * NDN_MS) {
		printf("%s version %u of %u, gradients %u, workers %u, %.1f ms\n", job->spec.title,
		       job->model.n, job->spec.versions, got, nps_members(job),
		       (double)(now - row->made) / NDN_MS);
		fflush(stdout);
		row->told = now;
	}
	row->made = now;
}

static void on_log(void *ctx, const struct nps_job *job, const char *line)
{
	(void)ctx;
	ps_log("%s: %s", job->spec.title, line);
}

static const struct nps_ops ops = {
	.send = on_send,
	.save = on_save,
	.version = on_version,
	.log = on_log,
};

/* --- arguments. Return: -1 to go on, else the exit status */

static int usage(const char *fmt, const char *value)
{
	return ps_usage(usage_text, fmt, value);
}

static int job_read(struct server *s, const char *path)
{
	char why[512];

	if (s->nrow == NPS_JOBS_MAX)
		return usage("--job %s: more jobs than trib-ps ndn takes", path);
	if (!nps_file_load(&s->row[s->nrow].file, path, why, sizeof(why))) {
		s->nrow++;
		return -1;
	}
	ps_log("%s", why);
	return 1;
}

static int option_parse(struct server *s, int c, const char *arg)
{
	struct options *o = &s->o;

	switch (c) {
	case 'f':
		o->addr.forwarder = arg;
		return -1;
	case 'b':
		o->addr.bind = arg;
		return -1;
	case 'j':
		return job_read(s, arg);
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
		{"forwarder", required_argument, NULL, 'f'},
		{"bind", required_argument, NULL, 'b'},
		{"job", required_argument, NULL, 'j'},
		{"stats", required_argument, NULL, 'S'},
		{"interval", required_argument, NULL, 'i'},
		{"check", no_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c, rc;

	s->o.interval = PS_INTERVAL_DEFAULT;
	while ((c = getopt_long(argc, argv, "", option, NULL)) != -1) {
		rc = option_parse(s, c, optarg);
		if (rc >= 0)
			return rc;
	}
	if (optind < argc)
		return usage("unexpected argument '%s'", argv[optind]);
	if (!s->nrow)
		return usage("%s is missing", "--job");
	if (s->o.check)
		return 0;
	if (!s->o.addr.forwarder)
		return usage("%s is missing", "--forwarder");
	return -1;
}

/* --- opening */

/* Choose the largest segment that the network carries in one packet. */
static int segment_choose(struct server *s, struct nps_spec *spec)
{
	int room = ndn_socket_room(s->link);
	uint32_t fits = room > 0 ? nps_segment_fitting(spec, (size_t)room) : 0;

	if (!fits || spec->segment > fits) {
		ps_log("%s: segment of %u bytes does not fit into a packet: use %u or less",
		       spec->title, spec->segment, fits);
		return -EMSGSIZE;
	}
	if (!spec->segment)
		spec->segment = fits;
	return 0;
}

static int job_open(struct server *s, struct row *row)
{
	struct nps_spec *spec = &row->file->spec;
	struct nps_model model;
	uint32_t incarnation;
	char why[700];
	int err = segment_choose(s, spec);

	if (err)
		return err;
	err = nps_disk_open(&row->disk, row->file, &incarnation, &model, why, sizeof(why));
	if (err) {
		ps_log("%s: %s", spec->title, why);
		return err;
	}
	err = nps_add(s->ps, spec, incarnation, &model, ndn_socket_now(), why, sizeof(why));
	if (err) {
		ps_log("%s: %s", spec->title, why);
		free(model.values);
		free(model.momentum);
		return err;
	}
	if (*row->file->tree)
		err = ps_sums_open(&row->tree, row->file, s->ps->job[s->ps->njob - 1], s->trees);
	if (err) {
		ps_log("%s: tree: %s", spec->title, strerror(-err));
		return err;
	}
	row->made = s->ps->now;
	ps_log("%s: incarnation %u, version %u of %u, %u segments of %u bytes", spec->title,
	       incarnation, model.n, spec->versions,
	       ndn_content_segments(spec->elements, spec->segment), spec->segment);
	return 0;
}

static int open_all(struct server *s)
{
	char why[300];
	uint64_t seed;
	unsigned int i;
	int err;

	if (sodium_init() < 0 || getrandom(&seed, sizeof(seed), 0) != sizeof(seed)) {
		ps_log("no random numbers");
		return -EIO;
	}
	/* Bind the port first: another trib-ps may be using this state. */
	err = ndn_socket_open(&s->link, &s->o.addr, why, sizeof(why));
	if (err) {
		ps_log("%s", why);
		return err;
	}
	s->ps = nps_new(&ops, s, seed);
	if (!s->ps)
		return -ENOMEM;
	s->signals = ps_signals_open();
	if (s->signals < 0)
		return -errno;
	s->trees = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (s->trees < 0)
		return -errno;
	for (i = 0; i < s->nrow && !err; i++)
		err = job_open(s, &s->row[i]);
	return err;
}

/* --- running */

static void report(struct server *s)
{
	int err = ps_ndn_report(s->ps, s->link, s->o.stats);

	if (err)
		ps_log("cannot write %s: %s", s->o.stats ? s->o.stats : "-", strerror(-err));
}

static void take_signals(struct server *s)
{
	unsigned int got = ps_signals_take(s->signals);

	if (got & PS_SIGNAL_REPORT)
		report(s);
	if (got & PS_SIGNAL_STOP)
		s->stop = true;
}

static void take_packet(void *ctx, const uint8_t *pkt, size_t n)
{
	struct server *s = ctx;

	nps_rx(s->ps, pkt, n, ndn_socket_now());
}

/*
 * Return: whether all jobs are over, and late workers had time to fetch the
 * last version. Else lowers *@until to that time.
 */
static bool is_over(const struct server *s, uint64_t now, uint64_t *until)
{
	uint64_t ended = nps_ended(s->ps), stay = 0;
	unsigned int i;

	if (!ended)
		return false;
	for (i = 0; i < s->ps->njob; i++)
		if (s->ps->job[i]->lease > stay)
			stay = s->ps->job[i]->lease;
	ended += STAY_LEASES * stay;
	*until = ended < *until ? ended : *until;
	return now >= ended;
}

/* Take the sums of aggregation jobs. */
static int run_trees(struct server *s)
{
	uint64_t n;
	unsigned int i;
	int err = 0;

	/* Clear the eventfd before looking: a new outcome sets it again. */
	if (read(s->trees, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return -errno;
	s->ps->now = ndn_socket_now();
	for (i = 0; i < s->nrow && !err; i++)
		if (s->row[i].tree)
			err = ps_sums_run(s->row[i].tree);
	return err;
}

/* Run timers. Return: ns to sleep. */
static uint64_t due(struct server *s)
{
	uint64_t now = ndn_socket_now(), next = nps_run(s->ps, now);

	ndn_socket_flush(s->link);
	if (s->o.stats && now >= s->report_at) {
		report(s);
		s->report_at = now + s->o.interval * NDN_MS;
	}
	if (s->o.stats && s->report_at < next)
		next = s->report_at;
	if (is_over(s, now, &next))
		s->stop = true;
	return next <= now ? 0 : next - now < SLEEP_MAX ? next - now : SLEEP_MAX;
}

static int serve(struct server *s)
{
	struct pollfd pfd[3] = {
		{.fd = ndn_socket_fd(s->link), .events = POLLIN},
		{.fd = s->signals, .events = POLLIN},
		{.fd = s->trees, .events = POLLIN},
	};
	int i, n = 0;

	while (!s->stop) {
		struct timespec t;
		uint64_t wait;

		if (run_trees(s))
			return 1;
		wait = due(s);
		t = (struct timespec){(time_t)(wait / NDN_SEC), (long)(wait % NDN_SEC)};
		if (s->stop)
			break;
		if (ppoll(pfd, 3, &t, NULL) < 0 && errno != EINTR) {
			ps_log("poll: %s", strerror(errno));
			return 1;
		}
		if (pfd[1].revents)
			take_signals(s);
		for (i = 0, n = 1; i < TURNS && n > 0; i++)
			n = ndn_socket_receive(s->link, take_packet, s);
		if (n < 0) {
			ps_log("receive: %s", strerror(-n));
			return 1;
		}
	}
	return 0;
}

/* Save the models, so that no training is lost. */
static int end(struct server *s)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < s->ps->njob; i++)
		rc |= on_save(s, s->ps->job[i]) ? 1 : 0;
	if (s->o.stats)
		report(s);
	return rc;
}

int ps_ndn_main(int argc, char **argv)
{
	static struct server s = {.signals = -1, .trees = -1};
	int rc = arguments_parse(&s, argc, argv);
	unsigned int i;

	if (rc < 0) {
		rc = 1;
		if (!open_all(&s)) {
			rc = serve(&s);
			rc |= end(&s);
		}
	}
	for (i = 0; i < s.nrow; i++)
		ps_sums_close(s.row[i].tree);
	nps_free(s.ps);
	ndn_socket_close(s.link);
	if (s.signals >= 0)
		close(s.signals);
	for (i = 0; i < s.nrow; i++) {
		nps_disk_close(s.row[i].disk);
		nps_file_free(s.row[i].file);
	}
	return rc;
}
