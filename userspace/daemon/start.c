// SPDX-License-Identifier: BSD-2-Clause
/* Starting the data plane: see start.h. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "daemon/device/rtnl.h"
#include "daemon/load/bpf_load.h"
#include "daemon/ndn/ndnd.h"
#include "daemon/state/state.h"
#include "daemon/tree/tree.h"
#include "start.h"

/* 32 pools of the default window; 24 or 56 MB. */
#define SLOTS_DEFAULT 16384
#define TREES_DEFAULT 1024
#define RINGS 1024

static int narrow_device(const struct netdev *dev, void *arg)
{
	const uint32_t need = TRIB_NVAL_LARGE * 4 + TRIB_OVERHEAD_V6;
	bool *seen = arg;

	if (!dev->ether || !dev->up || !strcmp(dev->name, "lo"))
		return 0;
	*seen = true;
	return dev->mtu < need;
}

/*
 * Choose the larger packets if every Ethernet device that is up has room for
 * them.
 */
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
	if (getrandom(&c->instance, sizeof(c->instance), 0) != sizeof(c->instance)) {
		log_error("no random numbers");
		return -EIO;
	}
	return 0;
}

/* Remove pins of another namespace if it is gone; refuse if it lives. */
static int foreign_pins(struct tribd *d)
{
	if (adopt_alive(d)) {
		log_error(
			"instance %s belongs to another network namespace, where its programs still run; use another --instance",
			d->instance);
		return -EBUSY;
	}
	log_info("%s is of a network namespace that is gone: %s anew", d->pin_dir,
		 d->opt.check ? "would start" : "starts");
	return d->opt.check ? 0 : pins_remove(d);
}

/* Nothing is pinned: of the state file only the NDN part is of use. */
static int anew(struct tribd *d, json_t **doc, int state_err, const struct reason *why)
{
	if (state_err)
		log_warn("%s: not used", why->text);
	else if (*doc && d->opt.ndn && state_netns(*doc) == d->netns_cookie) {
		log_info("%s/state.json describes maps that are gone: only its NDN part is used",
			 d->run_dir);
		return config_choose(d);
	} else if (*doc) {
		log_info("%s/state.json describes maps that are gone: not used", d->run_dir);
	}
	json_decref(*doc);
	*doc = NULL;
	return config_choose(d);
}

/*
 * Decide whether to adopt. *doc: the state to restore; NULL: none. If
 * d->adopted is not set, only its NDN part is used: subscribers renew, but jobs
 * do not start again. state.json is written before trib_config is pinned, so
 * pins without their state file come from another program.
 */
static int adoption_decide(struct tribd *d, json_t **doc)
{
	struct reason why = {}, state_why = {};
	int state_err = state_read(d, doc, &state_why);
	int err = adopt_config(d, &why);

	if (err == -ENOENT)
		return anew(d, doc, state_err, &state_why);
	if (err)
		return adopt_refuse(d, err, &why);
	if (state_err)
		return adopt_refuse(d, state_err, &state_why);
	if (!*doc || state_instance(*doc) != d->config.instance) {
		reason_set(&why, 0, "it has pinned maps, but %s/state.json %s", d->run_dir,
			   *doc ? "describes others" : "is missing");
		return adopt_refuse(d, -EPROTO, &why);
	}
	if (state_netns(*doc) != d->netns_cookie) {
		err = foreign_pins(d);
		json_decref(*doc);
		*doc = NULL;
		return err ? err : config_choose(d);
	}
	d->adopted = true;
	err = state_contracts(*doc, &why);
	return err ? adopt_refuse(d, err, &why) : 0;
}

/* Make the records only: a file that makes no sense is refused. */
static int restore(struct tribd *d, const json_t *doc)
{
	struct reason why = {}, text;
	int err = 0;

	if (doc)
		err = d->adopted ? state_restore(d, doc, &why) : state_restore_ndn(d, doc, &why);
	if (!err && d->adopted)
		err = state_kept(d, doc, &why);
	if (!err)
		return 0;
	reason_set(&text, err, "%s/state.json: %.180s", d->run_dir, why.text);
	if (d->adopted)
		return adopt_refuse(d, err, &text);
	log_error("%s; `tribd --purge --instance %s` starts over", text.text, d->instance);
	return err;
}

/* Used slots of the shared pool: as the option says, or as they were. */
static uint32_t pool_choose(const struct tribd *d, const json_t *doc)
{
	uint32_t n = doc ? state_pool(doc) : POOL_DEFAULT;

	if (d->opt.pool)
		return d->opt.pool;
	return n && n <= d->config.npool ? n : d->config.npool;
}

int start_look(struct tribd *d)
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
	if (!err && d->opt.check)
		log_info("instance %s: this tribd " TRIB_VERSION
			 " can %s%s: %u jobs, %u trees, %u faces",
			 d->instance, d->adopted ? "take over from " : "start anew",
			 d->adopted ? d->maker : "", d->njobs, d->ntrees, d->nfaces);
	return err;
}

int start_take(struct tribd *d)
{
	int err = pool_table_write(d);

	if (!err)
		err = bpf_pin_folder(d);
	if (err)
		return err;
	face_restore_done(d);
	err = ndnd_start(d);
	/* An adopted instance has its file: a full disk must not keep it down. */
	if (!err && hooks_save(d, NULL) && !d->adopted)
		err = -EIO;
	if (!err)
		err = bpf_pin(d);
	return err ? err : ndnd_pin(d);
}
