// SPDX-License-Identifier: BSD-2-Clause
/* Routes, times and markers of the NDN forwarder. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/face/face.h"
#include "ndnd.h"

/* --- routes */

struct ndnd_route *ndnd_route_find(struct tribd *d, const struct ndn_row_name *name)
{
	struct ndnd_route *r;

	TAILQ_FOREACH(r, &d->ndn->routes, link)
		if (ndnd_name_is_equal(&r->name, name))
			return r;
	return NULL;
}

static int route_check(struct tribd *d, const char *prefix, const char *face,
		       struct ndn_row_name *name, struct face **f, struct reason *why)
{
	int err = ndnd_prefix_parse(d->ndn, prefix, name, why);

	if (err)
		return err;
	*f = face_find(d, face);
	if (!*f)
		return reason_set(why, -ENOENT, "no face %s", face);
	if (!(*f)->ndn)
		return reason_set(why, -EINVAL,
				  "face %s has no ndn role: set ndn host or ndn router", face);
	return 0;
}

static struct ndnd_route *route_add(struct tribd *d, const struct ndn_row_name *name,
				    struct face *f)
{
	struct ndnd_route *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->name = *name;
	r->face = f;
	f->ndn->routes++;
	TAILQ_INSERT_TAIL(&d->ndn->routes, r, link);
	d->ndn->nroutes++;
	d->generation++;
	return r;
}

static void route_remove(struct tribd *d, struct ndnd_route *r)
{
	TAILQ_REMOVE(&d->ndn->routes, r, link);
	r->face->ndn->routes--;
	d->ndn->nroutes--;
	d->generation++;
}

static void route_turn(struct ndnd_route *r, struct face *f)
{
	r->face->ndn->routes--;
	r->face = f;
	f->ndn->routes++;
}

/* Store a route in map and state file. The caller undoes both on error. */
static int route_save(struct tribd *d, struct ndnd_route *r, struct reason *why)
{
	int err = ndnd_route_store(d, r);

	if (err)
		return reason_set(why, err, "map ndn_fib: %s", strerror(-err));
	return hooks_save(d, why);
}

int ndnd_route_new(struct tribd *d, const char *prefix, const char *face, struct reason *why)
{
	struct ndn_row_name name;
	struct face *f, *old = NULL;
	struct ndnd_route *r;
	int err = route_check(d, prefix, face, &name, &f, why);

	if (err)
		return err;
	r = ndnd_route_find(d, &name);
	if (r) {
		old = r->face;
		route_turn(r, f);
	} else if (d->ndn->nroutes == NDND_ROUTES_MAX) {
		return reason_set(why, -ENOSPC, "all %u routes are in use", NDND_ROUTES_MAX);
	} else {
		r = route_add(d, &name, f);
	}
	if (!r)
		return reason_set(why, -ENOMEM, "no memory");
	err = route_save(d, r, why);
	if (!err)
		return 0;
	if (old) {
		route_turn(r, old);
		ndnd_route_store(d, r);
		return err;
	}
	route_remove(d, r);
	ndnd_route_clear(d, r);
	free(r);
	return err;
}

void ndnd_routes_drop(struct tribd *d, const struct face *f)
{
	struct ndnd_route *r, *next;

	for (r = TAILQ_FIRST(&d->ndn->routes); r; r = next) {
		next = TAILQ_NEXT(r, link);
		if (r->face != f)
			continue;
		route_remove(d, r);
		free(r);
	}
}

int ndnd_route_restore(struct tribd *d, const char *prefix, const char *face, struct reason *why)
{
	struct ndn_row_name name;
	struct face *f = face_find(d, face);
	int err = ndnd_name_parse(prefix, &name, why);

	if (err)
		return err;
	if (!f || !f->ndn)
		return reason_set(why, -EPROTO, "route %.100s: no face %s", prefix, face);
	if (ndnd_route_find(d, &name) || d->ndn->nroutes == NDND_ROUTES_MAX)
		return reason_set(why, -EPROTO, "route %.100s: given twice, or too many routes",
				  prefix);
	return route_add(d, &name, f) ? 0 : reason_set(why, -ENOMEM, "no memory");
}

int ndnd_route_del(struct tribd *d, const char *prefix, struct reason *why)
{
	struct ndn_row_name name;
	struct ndnd_route *r;
	int err = ndnd_name_parse(prefix, &name, why);

	if (err)
		return err;
	r = ndnd_route_find(d, &name);
	if (!r)
		return reason_set(why, -ENOENT, "no route %.100s", prefix);
	route_remove(d, r);
	err = hooks_save(d, why);
	if (err) {
		TAILQ_INSERT_TAIL(&d->ndn->routes, r, link);
		r->face->ndn->routes++;
		d->ndn->nroutes++;
		return err;
	}
	ndnd_route_clear(d, r);
	free(r);
	return 0;
}

/* --- times and markers */

static int times_check(const struct ndnd *fw, const struct ndnd_set *s, struct reason *why)
{
	uint32_t lease = s->lease_ms ? s->lease_ms : fw->lease_ms;

	if (s->lease_ms && (s->lease_ms < NDND_LEASE_MS_MIN || s->lease_ms > NDND_LEASE_MS_MAX))
		return reason_set(why, -ERANGE, "lease-ms %u: must be %u to %u", s->lease_ms,
				  NDND_LEASE_MS_MIN, NDND_LEASE_MS_MAX);
	if (s->leave_ms > lease)
		return reason_set(why, -ERANGE, "leave-ms %u: must be at most the lease, %u",
				  s->leave_ms, lease);
	return 0;
}

int ndnd_set_check(struct tribd *d, const struct ndnd_set *s, struct reason *why)
{
	struct ndn_marker m[NDN_MARK__MAX];
	char text[NDND_TEXT_MAX];
	int err = times_check(d->ndn, s, why), i, k;

	memcpy(m, d->ndn->marker, sizeof(m));
	for (i = NDN_MARK_DISTRIBUTE; !err && i < NDN_MARK__MAX; i++)
		if (s->marker[i])
			err = ndnd_marker_parse(s->marker[i], &m[i], why);
	for (i = NDN_MARK_DISTRIBUTE; !err && i < NDN_MARK__MAX; i++)
		for (k = NDN_MARK_DISTRIBUTE; k < i; k++)
			if (!memcmp(&m[i], &m[k], sizeof(m[i])))
				return reason_set(
					why, -EINVAL,
					"marker '%.60s' is given twice: markers must differ",
					ndnd_marker_text(&m[i], text));
	return err;
}

void ndnd_set_apply(struct ndnd *fw, const struct ndnd_set *s)
{
	struct reason why;
	int i;

	if (s->lease_ms) {
		fw->lease_ms = s->lease_ms;
		/* leave_ms must not exceed the lease. */
		if (fw->leave_ms > fw->lease_ms)
			fw->leave_ms = 0;
	}
	if (s->leave_ms)
		fw->leave_ms = s->leave_ms;
	for (i = NDN_MARK_DISTRIBUTE; i < NDN_MARK__MAX; i++)
		if (s->marker[i])
			ndnd_marker_parse(s->marker[i], &fw->marker[i], &why);
}

int ndnd_set(struct tribd *d, const struct ndnd_set *s, struct reason *why)
{
	struct ndnd *fw = d->ndn;
	struct ndn_marker old[NDN_MARK__MAX];
	uint32_t lease = fw->lease_ms, leave = fw->leave_ms;
	int err = ndnd_set_check(d, s, why);

	if (err)
		return err;
	memcpy(old, fw->marker, sizeof(old));
	ndnd_set_apply(fw, s);
	err = hooks_save(d, why);
	if (err) {
		memcpy(fw->marker, old, sizeof(old));
		fw->lease_ms = lease;
		fw->leave_ms = leave;
		return err;
	}
	if (!fw->on)
		return 0;
	ndnd_config_fill(fw);
	err = ndnd_config_store(d);
	ndnd_sweep_set(d);
	return err;
}
