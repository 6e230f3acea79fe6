// SPDX-License-Identifier: BSD-2-Clause
/* tribd: the order in which its rooms start and end, and signals. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/host/service.h"
#include "daemon/attach/attach.h"
#include "daemon/attach/deliver.h"
#include "daemon/core/instance.h"
#include "daemon/core/sockets.h"
#include "daemon/device/port_check.h"
#include "daemon/device/rtnl.h"
#include "daemon/job/claims.h"
#include "daemon/load/bpf_load.h"
#include "daemon/ndn/ndnd.h"
#include "daemon/netlink/nl.h"
#include "daemon/session/join.h"
#include "daemon/ways/ways.h"
#include "options.h"
#include "start.h"
#include "wire.h"

static void on_signal(struct tribd *d, struct watch *w, uint32_t events)
{
	struct signalfd_siginfo si;

	(void)events;
	if (read(w->fd, &si, sizeof(si)) != sizeof(si))
		return;
	log_info("received signal %u and ends; the data plane continues", si.ssi_signo);
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
	ways_purge(d);
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

#define ALSO_PURGE 1
#define ALSO_CHECK 2

static const struct part {
	int (*init)(struct tribd *d);
	void (*exit)(struct tribd *d);
	unsigned int also; /* ALSO_...: needed for that, too */
} part[] = {
	{bpf_log_init, NULL, ALSO_PURGE | ALSO_CHECK},
	{instance_open, instance_close, ALSO_PURGE | ALSO_CHECK},
	{loop_init, loop_exit, ALSO_PURGE | ALSO_CHECK},
	{signals_init, NULL, ALSO_PURGE | ALSO_CHECK},
	{rtnl_init, rtnl_exit, ALSO_PURGE | ALSO_CHECK},
	/* The tribd of this network namespace has these. */
	{sockets_init, sockets_exit, 0},
	{netlink_init, netlink_exit, 0},
	{udp_init, udp_exit, 0},
	{ndnd_init, ndnd_exit, ALSO_CHECK},
	/* Up to here, and in this part, nothing that runs is touched. */
	{start_look, objects_free, ALSO_CHECK},
	{start_take, NULL, 0},
	{ways_init, ways_exit, 0},
	{port_check_init, port_check_exit, 0},
	{deliver_init, deliver_exit, 0},
	{NULL, join_exit, 0},
	{attach_init, attach_exit, 0},
	{tree_restore_done, NULL, 0},
	{claims_init, claims_exit, 0},
	{netlink_serve, NULL, 0},
};

static int serve(struct tribd *d)
{
	log_info("instance %s: %u values, %u slots, %u faces, %u jobs, %u trees%s", d->instance,
		 d->config.nval, d->config.nslots, d->nfaces, d->njobs, d->ntrees,
		 d->adopted ? ", adopted" : "");
	(void)service_tell("READY=1\nSTATUS=serves");
	return loop_run(d);
}

static bool is_needed(const struct tribd *d, const struct part *p)
{
	return d->opt.purge ? p->also & ALSO_PURGE : d->opt.check ? p->also & ALSO_CHECK : true;
}

/*
 * If an init() fails, only its exit() knows what it left: every exit() copes
 * with a part that is half initialised.
 */
static int run(struct tribd *d)
{
	unsigned int i, n = sizeof(part) / sizeof(part[0]);
	int err = 0;

	for (i = 0; !err && i < n; i++)
		if (is_needed(d, &part[i]))
			err = part[i].init ? part[i].init(d) : 0;
	if (!err)
		err = d->opt.purge ? purge(d) : d->opt.check ? 0 : serve(d);
	while (i--)
		if (part[i].exit && is_needed(d, &part[i]))
			part[i].exit(d);
	return err;
}

int main(int argc, char **argv)
{
	static struct tribd d = {.hooks = &wire_hooks, .lock_fd = -1, .epoll_fd = -1};
	int status = options_parse(&d.opt, argc, argv);

	if (status >= 0)
		return status;
	log_open(d.opt.log);
	d.start_ns = loop_now();
	TAILQ_INIT(&d.ports);
	TAILQ_INIT(&d.faces);
	TAILQ_INIT(&d.jobs);
	TAILQ_INIT(&d.trees);
	return run(&d) ? 1 : 0;
}
