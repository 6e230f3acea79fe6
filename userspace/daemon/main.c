// SPDX-License-Identifier: BSD-2-Clause
/*
 * tribd: arguments, the order in which its parts start and end, signals.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "daemon/load/bpf_load.h"
#include "daemon/job/claims.h"
#include "daemon/face/face.h"
#include "instance.h"
#include "daemon/job/job.h"
#include "loop.h"
#include "daemon/ndn/ndnd.h"
#include "daemon/netlink/nl.h"
#include "daemon/tree/pool.h"
#include "daemon/device/port.h"
#include "daemon/device/rtnl.h"
#include "daemon/state/state.h"
#include "daemon/session/udp.h"

/* Enough for 32 pools of the default window; 24 or 56 MB. */
#define SLOTS_DEFAULT 16384
#define SLOTS_MAX (1u << 20)
#define TREES_DEFAULT 1024
#define TREES_MAX 65536
#define RINGS 1024

static const char usage_text[] =
	"usage: tribd [--instance NAME] [--values auto|352|832] [--slots N]\n"
	"             [--trees N] [--pool N] [--ndn N [--ndn-cache N]]\n"
	"             [--log error|warn|info|debug]\n"
	"       tribd --purge [--instance NAME]\n"
	"       tribd --version | --help\n"
	"see tribd(8)\n";

static int usage(const char *fmt, const char *value)
{
	fprintf(stderr, "tribd: ");
	fprintf(stderr, fmt, value);
	fprintf(stderr, "\n%s", usage_text);
	return 2;
}

/* --- arguments: 0, or the exit status + 1 */

static bool number_parse(const char *s, uint32_t min, uint32_t max,
			 uint32_t *out)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(s, &end, 10);
	if (errno || *end || end == s || *s == '-' || v < min || v > max)
		return false;
	*out = (uint32_t)v;
	return true;
}

static bool values_parse(const char *s, uint32_t *nval)
{
	if (!strcmp(s, "auto")) {
		*nval = 0;
		return true;
	}
	return number_parse(s, 0, UINT32_MAX, nval) &&
	       (*nval == TRIB_NVAL_SMALL || *nval == TRIB_NVAL_LARGE);
}

static bool log_parse(const char *s, enum log_level *level)
{
	static const char *const name[] = {"error", "warn", "info", "debug"};
	unsigned int i;

	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (!strcmp(s, name[i])) {
			*level = (enum log_level)i;
			return true;
		}
	return false;
}

static int option_parse(struct options *o, int c, const char *arg)
{
	switch (c) {
	case 'i':
		o->instance = arg;
		if (!instance_name_ok(arg))
			return usage(
				"--instance %s: 1 to 48 letters, digits, - and _",
				arg);
		return 0;
	case 'v':
		return values_parse(arg, &o->nval)
			       ? 0
			       : usage("--values %s: auto, 352 or 832", arg);
	case 's':
		return number_parse(arg, 2, SLOTS_MAX, &o->nslots)
			       ? 0
			       : usage("--slots %s: 2 to 1048576", arg);
	case 't':
		return number_parse(arg, 2, TREES_MAX, &o->ntrees)
			       ? 0
			       : usage("--trees %s: 2 to 65536", arg);
	case 'o':
		return number_parse(arg, 1, POOL_MAX, &o->pool)
			       ? 0
			       : usage("--pool %s: 1 to 4096", arg);
	case 'n':
		return number_parse(arg, 1, NDND_ENTRIES_MAX, &o->ndn)
			       ? 0
			       : usage("--ndn %s: 1 to 1048576", arg);
	case 'c':
		return number_parse(arg, 0, NDND_CACHE_MAX, &o->ndn_cache)
			       ? 0
			       : usage("--ndn-cache %s: 0 to 65536", arg);
	case 'l':
		return log_parse(arg, &o->log)
			       ? 0
			       : usage("--log %s: error, warn, info or debug",
				       arg);
	case 'p':
		o->purge = true;
		return 0;
	default:
		fputs(usage_text, stderr);
		return 2;
	}
}

/* -1: go on; else the exit status. */
static int arguments_parse(struct options *o, int argc, char **argv)
{
	static const struct option option[] = {
		{"instance", required_argument, NULL, 'i'},
		{"values", required_argument, NULL, 'v'},
		{"slots", required_argument, NULL, 's'},
		{"trees", required_argument, NULL, 't'},
		{"pool", required_argument, NULL, 'o'},
		{"ndn", required_argument, NULL, 'n'},
		{"ndn-cache", required_argument, NULL, 'c'},
		{"log", required_argument, NULL, 'l'},
		{"purge", no_argument, NULL, 'p'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c, err;

	o->log = LOG_INFO;
	o->ndn_cache = UINT32_MAX;
	while ((c = getopt_long(argc, argv, "", option, NULL)) != -1) {
		if (c == 'V') {
			puts("tribd " TRIB_VERSION);
			return 0;
		}
		if (c == 'h') {
			fputs(usage_text, stdout);
			return 0;
		}
		err = option_parse(o, c, optarg);
		if (err)
			return err;
	}
	if (optind < argc)
		return usage("unexpected argument %s", argv[optind]);
	if (!o->ndn && o->ndn_cache != UINT32_MAX)
		return usage("%s without --ndn", "--ndn-cache");
	if (o->ndn_cache == UINT32_MAX)
		o->ndn_cache = NDND_CACHE_DEFAULT;
	return -1;
}

/* --- what to load */

static int narrow_device(const struct netdev *dev, void *arg)
{
	const uint32_t need = TRIB_NVAL_LARGE * 4 + TRIB_OVERHEAD_V6;
	bool *seen = arg;

	if (!dev->ether || !dev->up || !strcmp(dev->name, "lo"))
		return 0;
	*seen = true;
	return dev->mtu < need;
}

/* The larger packets, if every Ethernet device that is up has room for them. */
static uint32_t values_choose(struct tribd *d)
{
	bool seen = false;

	if (d->opt.nval)
		return d->opt.nval;
	if (rtnl_each_dev(d, narrow_device, &seen) || !seen)
		return TRIB_NVAL_SMALL;
	return TRIB_NVAL_LARGE;
}

static int config_choose(struct tribd *d)
{
	struct trib_config *c = &d->config;

	memset(c, 0, sizeof(*c));
	c->abi = TRIB_MAPS_ABI;
	c->nval = values_choose(d);
	c->ntrees = d->opt.ntrees ? d->opt.ntrees : TREES_DEFAULT;
	c->nslots = d->opt.nslots ? d->opt.nslots : SLOTS_DEFAULT;
	c->ngroups = GROUPS_OF(c->ntrees);
	c->ndelivers = c->ntrees;
	c->nrings = RINGS;
	c->npool = d->opt.pool > POOL_DEFAULT ? d->opt.pool : POOL_DEFAULT;
	c->nbuckets = pool_buckets(c->npool);
	c->nmarks = POOL_MARKS;
	c->nfaces = POOL_FACES;
	if (getrandom(&c->instance, sizeof(c->instance), 0) !=
	    sizeof(c->instance)) {
		log_error("no random numbers");
		return -EIO;
	}
	return 0;
}

/* Pins of another namespace: dead ones go, living ones are not ours. */
static int foreign_pins(struct tribd *d)
{
	if (adopt_alive(d)) {
		log_error(
			"instance %s belongs to another network namespace, where its programs still run; use another --instance",
			d->instance);
		return -EBUSY;
	}
	log_info(
		"%s was left by a network namespace that is gone; starts afresh",
		d->pin_dir);
	return pins_remove(d);
}

/*
 * Finds out whether to adopt: *doc is the state to restore, or NULL; if not,
 * only what it says of names: subscribers renew, jobs do not begin again.
 * trib_config is pinned last and state.json written before it, so pins
 * without their state file are nobody's that we could name.
 */
static int adoption_decide(struct tribd *d, json_t **doc)
{
	int err = adopt_config(d), state_err;

	*doc = NULL;
	if (err && err != -ENOENT)
		return err;
	*doc = state_read(d, &state_err);
	if (err == -ENOENT) {
		if (*doc && d->opt.ndn &&
		    state_netns(*doc) == d->netns_cookie) {
			log_info(
				"%s/state.json describes maps that are gone: used for names only",
				d->run_dir);
			return config_choose(d);
		}
		if (*doc || state_err)
			log_info(
				"%s/state.json describes maps that are gone: not used",
				d->run_dir);
		goto afresh;
	}
	if (!*doc || state_instance(*doc) != d->config.instance) {
		log_error(
			"%s has pinned maps, but %s/state.json %s; remove them by `tribd --purge --instance %s`",
			d->pin_dir, d->run_dir,
			*doc ? "describes others" : "is missing or unreadable",
			d->instance);
		return -EPROTO;
	}
	if (state_netns(*doc) == d->netns_cookie) {
		d->adopted = true;
		return 0;
	}
	err = foreign_pins(d);
	if (err)
		return err;
afresh:
	json_decref(*doc);
	*doc = NULL;
	return config_choose(d);
}

/* The records only: a file that makes no sense is refused before anything
 * that runs is touched. */
static int restore(struct tribd *d, const json_t *doc)
{
	struct reason why = {};
	int err = 0;

	if (doc)
		err = d->adopted ? state_restore(d, doc, &why)
				 : state_restore_ndn(d, doc, &why);
	if (err)
		log_error(
			"%s/state.json: %s; `tribd --purge --instance %s` starts over",
			d->run_dir, why.text, d->instance);
	return err;
}

/* Slots of the shared pool in use: as asked for, or as they were. */
static uint32_t pool_choose(const struct tribd *d, const json_t *doc)
{
	uint32_t n = doc ? state_pool(doc) : POOL_DEFAULT;

	if (d->opt.pool)
		return d->opt.pool;
	return n && n <= d->config.npool ? n : d->config.npool;
}

static int data_plane_start(struct tribd *d)
{
	json_t *doc = NULL;
	int err = adoption_decide(d, &doc);

	if (!err) {
		d->pool = pool_choose(d, doc);
		err = restore(d, doc);
	}
	json_decref(doc);
	if (!err)
		err = bpf_load(d, d->adopted);
	if (!err)
		job_warn(d);
	if (!err)
		err = ndnd_load(d);
	if (!err)
		err = pool_table_write(d);
	if (!err)
		err = bpf_pin_folder(d);
	if (err)
		return err;
	face_restore_done(d);
	err = ndnd_start(d);
	if (!err)
		err = state_save(d);
	if (!err)
		err = bpf_pin(d);
	return err ? err : ndnd_pin(d);
}

static void on_signal(struct tribd *d, struct watch *w, uint32_t events)
{
	struct signalfd_siginfo si;

	(void)events;
	if (read(w->fd, &si, sizeof(si)) != sizeof(si))
		return;
	log_info("ends by signal %u; the data plane goes on", si.ssi_signo);
	d->stop = true;
}

static int signals_init(struct tribd *d)
{
	static struct watch w = {.fn = on_signal};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	w.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return w.fd < 0 ? -errno : loop_add(d, &w, EPOLLIN);
}

static int purge(struct tribd *d)
{
	int err = port_purge_filters(d);

	if (err)
		log_warn("clsact filters: %s", strerror(-err));
	err = pins_remove(d);
	if (!err) {
		instance_forget(d);
		log_info("instance %s removed", d->instance);
	}
	return err;
}

/* --- the parts, in the order of starting; they end in reverse */

static void objects_free(struct tribd *d)
{
	tree_free_all(d);
	job_free_all(d);
	face_free_all(d);
	bpf_unload(d);
}

static const struct part {
	int (*init)(struct tribd *d);
	void (*exit)(struct tribd *d);
	bool purge; /* needed to purge, too */
} part[] = {
	{bpf_log_init, NULL, true},
	{instance_open, instance_close, true},
	{loop_init, loop_exit, true},
	{signals_init, NULL, true},
	{rtnl_init, rtnl_exit, true},
	/* Whoever has these is the tribd of this network namespace. */
	{netlink_init, netlink_exit, false},
	{udp_init, udp_exit, false},
	{ndnd_init, ndnd_exit, false},
	{data_plane_start, objects_free, false},
	{deliver_init, deliver_exit, false},
	{join_init, join_exit, false},
	{attach_init, attach_exit, false},
	{tree_restore_done, NULL, false},
	{claims_init, claims_exit, false},
	{netlink_serve, NULL, false},
};

static int serve(struct tribd *d)
{
	log_info(
		"instance %s: %u values, %u slots, %u faces, %u jobs, %u trees%s",
		d->instance, d->config.nval, d->config.nslots, d->nfaces,
		d->njobs, d->ntrees, d->adopted ? ", adopted" : "");
	return loop_run(d);
}

/* A part's init() that fails leaves something only its exit() knows about:
 * every exit() copes with a part that is half there. */
static int run(struct tribd *d)
{
	unsigned int i, n = sizeof(part) / sizeof(part[0]);
	int err = 0;

	for (i = 0; !err && i < n; i++)
		if (!d->opt.purge || part[i].purge)
			err = part[i].init(d);
	if (!err)
		err = d->opt.purge ? purge(d) : serve(d);
	while (i--)
		if (part[i].exit && (!d->opt.purge || part[i].purge))
			part[i].exit(d);
	return err;
}

int main(int argc, char **argv)
{
	static struct tribd d = {.lock_fd = -1, .epoll_fd = -1};
	int status = arguments_parse(&d.opt, argc, argv);

	if (status >= 0)
		return status;
	log_open(d.opt.log);
	d.start_ns = now_ns();
	TAILQ_INIT(&d.ports);
	TAILQ_INIT(&d.faces);
	TAILQ_INIT(&d.jobs);
	TAILQ_INIT(&d.trees);
	return run(&d) ? 1 : 0;
}
