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

#include "bpf_load.h"
#include "face.h"
#include "names.h"

#define MS 1000000ULL

/* --- the sweep */

/* In parts, so that requests need not wait for all of it. */
static void sweep_run(struct tribd *d, struct timer *t)
{
	struct names *n = d->names;
	struct names_part part = {.from = n->swept, .buckets = NAMES_PART};
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = &part,
		    .ctx_size_in = sizeof(part));

	if (bpf_prog_test_run_opts(n->prog[NPROG_SWEEP], &o))
		log_error("names: the sweep does not run: %s", strerror(errno));
	n->swept += NAMES_PART;
	if (n->swept < n->config.buckets) {
		timer_set(d, t, 1);
		return;
	}
	n->swept = 0;
	names_sweep_set(d);
}

void names_sweep_set(struct tribd *d)
{
	timer_set(d, &d->names->sweep, d->names->lease_ms / 2);
}

/* --- start and end */

int names_init(struct tribd *d)
{
	struct names *n = calloc(1, sizeof(*n));
	struct reason why;

	if (!n)
		return -ENOMEM;
	d->names = n;
	n->lease_ms = NAMES_LEASE_MS;
	n->sweep.fn = sweep_run;
	TAILQ_INIT(&n->routes);
	names_marker_parse(TRIB_NDN_MARK_INSERT, &n->marker[NAMES_INSERT],
			   &why);
	names_marker_parse(TRIB_NDN_MARK_DISTRIBUTE,
			   &n->marker[NAMES_DISTRIBUTE], &why);
	names_marker_parse(TRIB_NDN_MARK_DELETE, &n->marker[NAMES_DELETE],
			   &why);
	return 0;
}

void names_exit(struct tribd *d)
{
	struct names *n = d->names;
	struct route *r;

	if (!n)
		return;
	timer_cancel(d, &n->sweep);
	names_miss_exit(d);
	while ((r = TAILQ_FIRST(&n->routes))) {
		TAILQ_REMOVE(&n->routes, r, link);
		free(r);
	}
	names_unload(d);
	free(n);
	d->names = NULL;
}

int names_need(struct tribd *d, struct reason *why)
{
	return d->names && d->names->on
		       ? 0
		       : refuse(why, -EOPNOTSUPP,
				"tribd runs without --names: no names forwarder");
}

/* Times and markers in the configuration, which is not stored here. */
void names_config_fill(struct names *n)
{
	struct names_config *c = &n->config;
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

int names_start(struct tribd *d)
{
	struct names *n = d->names;
	int err;

	if (!n || !n->on)
		return 0;
	if (n->adopted) {
		names_rows_read(d);
		names_rows_recall(d);
	}
	names_config_fill(n);
	names_rows_settle(d);
	err = names_tables_write(d);
	if (err)
		return err;
	n->config.abi = NAMES_ABI;
	n->config.changes++;
	err = names_config_store(d);
	if (!err)
		err = hook_set(d, MAP_NAMES_LEAVE, n->prog[NPROG_EGRESS]);
	if (!err)
		err = hook_set(d, MAP_NAMES_IN, n->prog[NPROG_XDP]);
	if (!err)
		err = names_miss_init(d);
	if (!err)
		names_sweep_set(d);
	return err;
}

void names_settle(struct tribd *d)
{
	if (d->names && d->names->on)
		names_rows_settle(d);
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

	for (i = 1; i < NAMES_FACES; i++)
		if (!number_find(d, i))
			return (uint8_t)i;
	return NAMES_NOBODY;
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
int names_face_check(struct tribd *d, const struct face_spec *s,
		     struct reason *why)
{
	const struct names_spec *n = s->names;

	(void)d;
	if (!addr_is_zero(&s->addr))
		return 0;
	if (!n || !n->has_kind || !n->kind || !n->has_port || n->port)
		return refuse(
			why, -EINVAL,
			"address :: is not a neighbour's: only faces of names with ndn-port 0 need none");
	if (!s->has_mac)
		return refuse(why, -EINVAL, "face %s has neither addr nor mac",
			      s->name);
	return 0;
}

static struct names_peer *peer_make(const struct names_spec *s,
				    const struct names_peer *old)
{
	struct names_peer *p = calloc(1, sizeof(*p));

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

void names_peer_free(struct tribd *d, struct names_peer *p)
{
	if (!p)
		return;
	if (d->names)
		d->names->nprefixes -= p->n;
	free(p->prefix);
	free(p);
}

/* The new peer of @f, for what @s changes; *out NULL: none any more. */
static int peer_prepare(struct tribd *d, const struct face *f,
			const struct names_spec *s, struct names_peer **out,
			struct reason *why)
{
	struct names *n = d->names;
	struct names_spec *now = malloc(sizeof(*now));
	int err;

	*out = NULL;
	if (!now)
		return refuse(why, -ENOMEM, "no memory");
	*now = *s;
	err = names_spec_apply(f->ndn, now, why);
	if (err || !now->kind)
		goto out;
	err = shape_check(d, f, now->port, why);
	if (!err && n->nprefixes + now->n > NAMES_RIGHTS_MAX)
		err = refuse(why, -ENOSPC, "faces have more than %u prefixes",
			     NAMES_RIGHTS_MAX);
	if (err)
		goto out;
	*out = peer_make(now, f->ndn);
	if (!*out) {
		err = refuse(why, -ENOMEM, "no memory");
		goto out;
	}
	n->nprefixes += now->n;
	if (!f->ndn)
		(*out)->number = s->number && s->number < NAMES_FACES &&
						 !number_find(d, s->number)
					 ? (uint8_t)s->number
					 : number_free(d);
	if (!(*out)->number) {
		err = refuse(why, -ENOSPC, "there are %u faces of names",
			     NAMES_FACES - 1);
		names_peer_free(d, *out);
	}
out:
	free(now);
	return err;
}

int names_face_add(struct tribd *d, struct face *f, const struct names_spec *s,
		   struct reason *why)
{
	struct names_peer *p;
	int err = peer_prepare(d, f, s, &p, why);

	if (!err)
		f->ndn = p;
	return err;
}

/* Without --names nobody could take the routes away first. */
int names_face_del_check(struct tribd *d, const struct face *f,
			 struct reason *why)
{
	if (!f->ndn || !f->ndn->routes || !d->names->on)
		return 0;
	return refuse(why, -EBUSY, "face %s is used by %u route%s", f->name,
		      f->ndn->routes, f->ndn->routes == 1 ? "" : "s");
}

/* The maps, after @f->ndn took the place of @old; frees it. */
static void peer_changed(struct tribd *d, struct face *f,
			 struct names_peer *old)
{
	static const struct names_peer none;
	const struct names_peer *was = old ? old : &none;
	const struct names_peer *now = f->ndn ? f->ndn : &none;

	if (d->names && d->names->on) {
		names_rights_store(d, f->ndn ? f->ndn->number : was->number,
				   was->prefix, was->n, now->prefix, now->n);
		names_rows_settle(d);
		if (old && !f->ndn) {
			bpf_quiesce(d);
			names_pit_forget_face(d, old->number);
		}
	}
	names_peer_free(d, old);
}

void names_face_added(struct tribd *d, struct face *f)
{
	if (f->ndn)
		peer_changed(d, f, NULL);
}

int names_face_set(struct tribd *d, const char *name,
		   const struct names_spec *s, struct reason *why)
{
	struct face *f = face_find(d, name);
	struct names_peer *old, *now;
	int err;

	if (!f)
		return refuse(why, -ENOENT, "no face %s", name);
	if (s->has_kind && !s->kind) {
		err = names_face_del_check(d, f, why);
		if (!err && addr_is_zero(&f->addr))
			err = refuse(
				why, -EINVAL,
				"face %s has no address: it is for names only, delete it",
				name);
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
		names_peer_free(d, now);
		return refuse(why, err, "cannot save the state: %s",
			      strerror(-err));
	}
	peer_changed(d, f, old);
	return 0;
}

void names_face_del(struct tribd *d, struct face *f)
{
	struct names_peer *old = f->ndn;

	if (!old)
		return;
	names_routes_drop(d, f);
	f->ndn = NULL;
	peer_changed(d, f, old);
}
