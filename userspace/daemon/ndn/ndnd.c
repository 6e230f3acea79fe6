// SPDX-License-Identifier: BSD-2-Clause
/*
 * The NDN forwarder's start and end, its sweep, and the times and markers in its
 * configuration.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/load/bpf_load.h"
#include "daemon/face/face.h"
#include "ndnd.h"

#define MS 1000000ULL

/* --- the sweep */

/* Sweep a part of the PIT at a time, so that requests do not wait. */
static void sweep_run(struct tribd *d, struct timer *t)
{
	struct ndnd *fw = d->ndn;
	struct ndn_part part = {.from = fw->swept, .buckets = NDND_PART};
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = &part, .ctx_size_in = sizeof(part));

	if (bpf_prog_test_run_opts(fw->prog[NDND_PROG_SWEEP], &o))
		log_error("ndn: the sweep does not run: %s", strerror(errno));
	fw->swept += NDND_PART;
	if (fw->swept < fw->config.buckets) {
		timer_set(d, t, 1);
		return;
	}
	fw->swept = 0;
	ndnd_sweep_set(d);
}

void ndnd_sweep_set(struct tribd *d)
{
	timer_set(d, &d->ndn->sweep, d->ndn->lease_ms / 2);
}

/* --- start and end */

int ndnd_init(struct tribd *d)
{
	struct ndnd *fw = calloc(1, sizeof(*fw));
	struct reason why;

	if (!fw)
		return -ENOMEM;
	d->ndn = fw;
	fw->lease_ms = NDND_LEASE_MS;
	fw->sweep.fn = sweep_run;
	TAILQ_INIT(&fw->routes);
	ndnd_marker_parse(TRIB_NDN_MARK_INSERT, &fw->marker[NDN_MARK_INSERT], &why);
	ndnd_marker_parse(TRIB_NDN_MARK_DISTRIBUTE, &fw->marker[NDN_MARK_DISTRIBUTE], &why);
	ndnd_marker_parse(TRIB_NDN_MARK_DELETE, &fw->marker[NDN_MARK_DELETE], &why);
	return 0;
}

void ndnd_exit(struct tribd *d)
{
	struct ndnd *fw = d->ndn;
	struct ndnd_route *r;

	if (!fw)
		return;
	timer_cancel(d, &fw->sweep);
	ndnd_miss_exit(d);
	while ((r = TAILQ_FIRST(&fw->routes))) {
		TAILQ_REMOVE(&fw->routes, r, link);
		free(r);
	}
	ndnd_unload(d);
	free(fw);
	d->ndn = NULL;
}

int ndnd_need(struct tribd *d, struct reason *why)
{
	return d->ndn && d->ndn->on
		       ? 0
		       : reason_set(why, -EOPNOTSUPP, "tribd runs without --ndn: no NDN forwarder");
}

/* Copy times and markers to fw->config; the caller stores it. */
void ndnd_config_fill(struct ndnd *fw)
{
	struct ndn_config *c = &fw->config;
	uint32_t leave = fw->leave_ms ? fw->leave_ms : fw->lease_ms / 2;

	c->lease_ns = fw->lease_ms * MS;
	c->leave_ns = leave * MS;
	memcpy(c->marker, fw->marker, sizeof(c->marker));
}

/* Let trib_xdp and trib_egress call the forwarder. */
static int hook_set(struct tribd *d, enum map_id map, int prog)
{
	uint32_t zero = 0;

	if (!bpf_map_update_elem(d->map[map], &zero, &prog, BPF_ANY))
		return 0;
	log_error("map %s: %s", map_name[map], strerror(errno));
	return -errno;
}

int ndnd_start(struct tribd *d)
{
	struct ndnd *fw = d->ndn;
	int err;

	if (!d->opt.ndn)
		ndnd_clear(d);
	if (!fw || !fw->on)
		return 0;
	if (fw->adopted) {
		ndnd_rows_read(d);
		ndnd_rows_recall(d);
	}
	ndnd_config_fill(fw);
	ndnd_rows_settle(d);
	err = ndnd_tables_write(d);
	if (err)
		return err;
	fw->config.abi = NDN_ABI;
	fw->config.changes++;
	err = ndnd_config_store(d);
	if (!err)
		err = hook_set(d, MAP_NDN_LEAVE, fw->prog[NDND_PROG_EGRESS]);
	if (!err)
		err = hook_set(d, MAP_NDN_IN, fw->prog[NDND_PROG_XDP]);
	if (!err)
		err = ndnd_miss_init(d);
	if (!err)
		ndnd_sweep_set(d);
	return err;
}

void ndnd_settle(struct tribd *d)
{
	if (d->ndn && d->ndn->on)
		ndnd_rows_settle(d);
}
