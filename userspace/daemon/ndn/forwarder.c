// SPDX-License-Identifier: BSD-2-Clause
/*
 * What names are told: faces, routes, times and markers. Every change is
 * checked as a whole, saved, and then written to the maps, which cannot fail
 * but for what the log says.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/load/bpf_load.h"
#include "daemon/face/face.h"
#include "forwarder.h"

#define MS 1000000ULL

/* --- the sweep */

/* In parts, so that requests need not wait for all of it. */
static void sweep_run(struct tribd *d, struct timer *t)
{
	struct ndn *n = d->ndn;
	struct ndn_part part = {.from = n->swept, .buckets = NDN_PART};
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = &part,
		    .ctx_size_in = sizeof(part));

	if (bpf_prog_test_run_opts(n->prog[NPROG_SWEEP], &o))
		log_error("ndn: the sweep does not run: %s", strerror(errno));
	n->swept += NDN_PART;
	if (n->swept < n->config.buckets) {
		timer_set(d, t, 1);
		return;
	}
	n->swept = 0;
	ndn_sweep_set(d);
}

void ndn_sweep_set(struct tribd *d)
{
	timer_set(d, &d->ndn->sweep, d->ndn->lease_ms / 2);
}

/* --- start and end */

int ndn_init(struct tribd *d)
{
	struct ndn *n = calloc(1, sizeof(*n));
	struct reason why;

	if (!n)
		return -ENOMEM;
	d->ndn = n;
	n->lease_ms = NDN_LEASE_MS;
	n->sweep.fn = sweep_run;
	TAILQ_INIT(&n->routes);
	ndn_marker_parse(TRIB_NDN_MARK_INSERT, &n->marker[NDN_INSERT], &why);
	ndn_marker_parse(TRIB_NDN_MARK_DISTRIBUTE, &n->marker[NDN_DISTRIBUTE],
			 &why);
	ndn_marker_parse(TRIB_NDN_MARK_DELETE, &n->marker[NDN_DELETE], &why);
	return 0;
}

void ndn_exit(struct tribd *d)
{
	struct ndn *n = d->ndn;
	struct route *r;

	if (!n)
		return;
	timer_cancel(d, &n->sweep);
	ndn_miss_exit(d);
	while ((r = TAILQ_FIRST(&n->routes))) {
		TAILQ_REMOVE(&n->routes, r, link);
		free(r);
	}
	ndn_unload(d);
	free(n);
	d->ndn = NULL;
}

int ndn_need(struct tribd *d, struct reason *why)
{
	return d->ndn && d->ndn->on
		       ? 0
		       : refuse(why, -EOPNOTSUPP,
				"tribd runs without --ndn: no NDN forwarder");
}

/* Times and markers in the configuration, which is not stored here. */
void ndn_config_fill(struct ndn *n)
{
	struct ndn_config *c = &n->config;
	uint32_t leave = n->leave_ms ? n->leave_ms : n->lease_ms / 2;

	c->lease_ns = n->lease_ms * MS;
	c->leave_ns = leave * MS;
	memcpy(c->marker, n->marker, sizeof(c->marker));
}

/* By the tail calls of trib_xdp and trib_egress. */
static int hook_set(struct tribd *d, enum map_id map, int prog)
{
	uint32_t zero = 0;

	if (!bpf_map_update_elem(d->map[map], &zero, &prog, BPF_ANY))
		return 0;
	log_error("map %s: %s", map_name[map], strerror(errno));
	return -errno;
}

int ndn_start(struct tribd *d)
{
	struct ndn *n = d->ndn;
	int err;

	if (!n || !n->on)
		return 0;
	if (n->adopted) {
		ndn_rows_read(d);
		ndn_rows_recall(d);
	}
	ndn_config_fill(n);
	ndn_rows_settle(d);
	err = ndn_tables_write(d);
	if (err)
		return err;
	n->config.abi = NDN_ABI;
	n->config.changes++;
	err = ndn_config_store(d);
	if (!err)
		err = hook_set(d, MAP_NDN_LEAVE, n->prog[NPROG_EGRESS]);
	if (!err)
		err = hook_set(d, MAP_NDN_IN, n->prog[NPROG_XDP]);
	if (!err)
		err = ndn_miss_init(d);
	if (!err)
		ndn_sweep_set(d);
	return err;
}

void ndn_settle(struct tribd *d)
{
	if (d->ndn && d->ndn->on)
		ndn_rows_settle(d);
}

/* --- faces */

static struct face *number_find(struct tribd *d, unsigned int number)
{
	struct face *f;

	TAILQ_FOREACH(f, &d->faces, link)
		if (f->ndn && f->ndn->number == number)
			return f;
	return NULL;
}

static uint8_t number_free(struct tribd *d)
{
	unsigned int i;

	for (i = 1; i < NDN_FACES; i++)
		if (!number_find(d, i))
			return (uint8_t)i;
	return NDN_NOBODY;
}

/* Of two that packets could be of, none is right. */
static int same_sender_check(struct tribd *d, const struct face *f,
			     uint16_t port, struct reason *why)
{
	const struct face *g;

	TAILQ_FOREACH(g, &d->faces, link) {
		if (g == f || !g->ndn || g->port != f->port ||
		    g->ndn->port != port || g->vlan[0] != f->vlan[0])
			continue;
		if (port ? !memcmp(&g->addr, &f->addr, sizeof(f->addr))
			 : (g->mac_known && f->mac_known &&
			    !memcmp(g->mac, f->mac, 6)))
			return refuse(
				why, -EEXIST,
				"face %s: names know face %s by the same address and ndn-port %u",
				f->name, g->name, port);
	}
	return 0;
}

/* What a face must be like, to be one to names. */
static int shape_check(struct tribd *d, const struct face *f, uint16_t port,
		       struct reason *why)
{
	char text[INET6_ADDRSTRLEN];

	if (f->vlan[1])
		return refuse(
			why, -EINVAL,
			"face %s has an inner vlan %u: names read one tag",
			f->name, f->vlan[1]);
	if (addr_is_multicast(&f->addr))
		return refuse(
			why, -EINVAL,
			"face %s: %s is a group's address, names need a sender's",
			f->name, addr_text(&f->addr, text));
	if (port && addr_is_zero(&f->addr))
		return refuse(why, -EINVAL,
			      "face %s has no address: ndn-port 0 needs none",
			      f->name);
	return same_sender_check(d, f, port, why);
}

/* Before there is a face: may it do without an address? */
int ndn_face_check(struct tribd *d, const struct face_spec *s,
		   struct reason *why)
{
	const struct ndn_spec *n = s->ndn;

	(void)d;
	if (!addr_is_zero(&s->addr))
		return 0;
	if (!n || !n->has_kind || !n->kind || !n->has_port || n->port)
		return refuse(
			why, -EINVAL,
			"address :: is not a neighbour's: only faces of names with ndn-port 0 need none");
	if (!s->mac_given)
		return refuse(why, -EINVAL, "face %s has neither addr nor mac",
			      s->name);
	return 0;
}

static struct ndn_peer *peer_make(const struct ndn_spec *s,
				  const struct ndn_peer *old)
{
	struct ndn_peer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->kind = s->kind;
	p->port = s->port;
	p->n = s->n;
	if (old) {
		p->number = old->number;
		p->routes = old->routes;
	}
	if (!s->n)
		return p;
	p->prefix = calloc(s->n, sizeof(*p->prefix));
	if (!p->prefix) {
		free(p);
		return NULL;
	}
	memcpy(p->prefix, s->prefix, s->n * sizeof(*p->prefix));
	return p;
}

void ndn_peer_free(struct tribd *d, struct ndn_peer *p)
{
	if (!p)
		return;
	if (d->ndn)
		d->ndn->nprefixes -= p->n;
	free(p->prefix);
	free(p);
}

/* The new peer of @f, for what @s changes; *out NULL: none any more. */
static int peer_prepare(struct tribd *d, const struct face *f,
			const struct ndn_spec *s, struct ndn_peer **out,
			struct reason *why)
{
	struct ndn *n = d->ndn;
	struct ndn_spec *now = malloc(sizeof(*now));
	int err;

	*out = NULL;
	if (!now)
		return refuse(why, -ENOMEM, "no memory");
	*now = *s;
	err = ndn_spec_apply(f->ndn, now, why);
	if (err || !now->kind)
		goto out;
	err = shape_check(d, f, now->port, why);
	if (!err && n->nprefixes + now->n > NDN_RIGHTS_MAX)
		err = refuse(why, -ENOSPC, "faces have more than %u prefixes",
			     NDN_RIGHTS_MAX);
	if (err)
		goto out;
	*out = peer_make(now, f->ndn);
	if (!*out) {
		err = refuse(why, -ENOMEM, "no memory");
		goto out;
	}
	n->nprefixes += now->n;
	if (!f->ndn)
		(*out)->number = s->number && s->number < NDN_FACES &&
						 !number_find(d, s->number)
					 ? (uint8_t)s->number
					 : number_free(d);
	if (!(*out)->number) {
		err = refuse(why, -ENOSPC, "there are %u faces of names",
			     NDN_FACES - 1);
		ndn_peer_free(d, *out);
	}
out:
	free(now);
	return err;
}

int ndn_face_add(struct tribd *d, struct face *f, const struct ndn_spec *s,
		 struct reason *why)
{
	struct ndn_peer *p;
	int err = peer_prepare(d, f, s, &p, why);

	if (!err)
		f->ndn = p;
	return err;
}

/* Without --ndn nobody could take the routes away first. */
int ndn_face_del_check(struct tribd *d, const struct face *f,
		       struct reason *why)
{
	if (!f->ndn || !f->ndn->routes || !d->ndn->on)
		return 0;
	return refuse(why, -EBUSY, "face %s is used by %u route%s", f->name,
		      f->ndn->routes, f->ndn->routes == 1 ? "" : "s");
}

/* The maps, after @f->ndn took the place of @old; frees it. */
static void peer_changed(struct tribd *d, struct face *f, struct ndn_peer *old)
{
	static const struct ndn_peer none;
	const struct ndn_peer *was = old ? old : &none;
	const struct ndn_peer *now = f->ndn ? f->ndn : &none;

	if (d->ndn && d->ndn->on) {
		ndn_rights_store(d, f->ndn ? f->ndn->number : was->number,
				 was->prefix, was->n, now->prefix, now->n);
		ndn_rows_settle(d);
		if (old && !f->ndn) {
			bpf_quiesce(d);
			ndn_pit_forget_face(d, old->number);
		}
	}
	ndn_peer_free(d, old);
}

void ndn_face_added(struct tribd *d, struct face *f)
{
	if (f->ndn)
		peer_changed(d, f, NULL);
}

int ndn_face_set(struct tribd *d, struct face *f, const struct ndn_spec *s,
		 struct reason *why)
{
	struct ndn_peer *old, *now;
	int err;

	if (s->has_kind && !s->kind) {
		err = ndn_face_del_check(d, f, why);
		if (!err && addr_is_zero(&f->addr))
			err = refuse(
				why, -EINVAL,
				"face %s has no address: it is for names only, delete it",
				f->name);
		if (err)
			return err;
	}
	err = peer_prepare(d, f, s, &now, why);
	if (err)
		return err;
	old = f->ndn;
	f->ndn = now;
	err = state_save(d);
	if (err) {
		f->ndn = old;
		ndn_peer_free(d, now);
		return refuse(why, err, "cannot save the state: %s",
			      strerror(-err));
	}
	peer_changed(d, f, old);
	return 0;
}

void ndn_face_del(struct tribd *d, struct face *f)
{
	struct ndn_peer *old = f->ndn;

	if (!old)
		return;
	ndn_routes_drop(d, f);
	f->ndn = NULL;
	peer_changed(d, f, old);
}
