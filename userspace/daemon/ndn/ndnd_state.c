// SPDX-License-Identifier: BSD-2-Clause
/* The NDN forwarder's part of the state file. */
#include <errno.h>
#include <string.h>

#include "daemon/face/face.h"
#include "ndnd.h"

static const struct {
	const char *key;
	uint8_t may;
} rights[] = {
	{"subscribe", NDN_MAY_SUBSCRIBE},
	{"write", NDN_MAY_WRITE},
};

static const char *const mark_key[NDN_MARK__MAX] = {
	[NDN_MARK_DISTRIBUTE] = "distribute",
	[NDN_MARK_INSERT] = "insert",
	[NDN_MARK_DELETE] = "delete",
};

json_t *ndnd_face_pack(const struct face *f)
{
	const struct ndnd_peer *p = f->ndn;
	char text[NDND_TEXT_MAX];
	json_t *o, *list;
	unsigned int i, k;

	if (!p)
		return NULL;
	o = json_pack("{s:i s:i s:i}", "kind", p->kind, "port", p->port, "number", p->number);
	for (k = 0; k < 2; k++) {
		list = json_array();
		for (i = 0; i < p->n; i++)
			if (p->prefix[i].may & rights[k].may)
				json_array_append_new(list, json_string(ndnd_name_text(
								    &p->prefix[i].name, text)));
		json_object_set_new(o, rights[k].key, list);
	}
	return o;
}

static uint32_t number(const json_t *o, const char *key, uint32_t max)
{
	json_int_t v = json_integer_value(json_object_get(o, key));

	return v < 0 || v > (json_int_t)max ? max : (uint32_t)v;
}

int ndnd_face_load(struct tribd *d, const json_t *o, struct ndnd_spec *s, struct reason *why)
{
	unsigned int i, k;
	int err;

	memset(s, 0, sizeof(*s));
	s->has_kind = s->has_port = s->has_subscribe = s->has_write = true;
	s->kind = (uint8_t)number(o, "kind", UINT8_MAX);
	s->port = (uint16_t)number(o, "port", UINT16_MAX);
	s->number = (uint16_t)number(o, "number", UINT16_MAX);
	for (k = 0; k < 2; k++) {
		const json_t *list = json_object_get(o, rights[k].key);

		for (i = 0; i < json_array_size(list); i++) {
			const char *text = json_string_value(json_array_get(list, i));

			if (!text)
				return reason_set(why, -EPROTO, "a prefix of a face is not text");
			err = ndnd_spec_add(NULL, s, rights[k].may, text, why);
			if (err)
				return err;
		}
	}
	(void)d;
	return 0;
}

static json_t *markers_pack(const struct ndnd *fw)
{
	json_t *o = json_object();
	char text[NDND_TEXT_MAX];
	int i;

	for (i = NDN_MARK_DISTRIBUTE; i < NDN_MARK__MAX; i++)
		json_object_set_new(o, mark_key[i],
				    json_string(ndnd_marker_text(&fw->marker[i], text)));
	return o;
}

json_t *ndnd_pack(struct tribd *d, const void *gone)
{
	json_t *routes = json_array();
	char text[NDND_TEXT_MAX];
	const struct ndnd_route *r;

	TAILQ_FOREACH(r, &d->ndn->routes, link)
		if (r->face != gone)
			json_array_append_new(routes, json_pack("{s:s s:s}", "prefix",
								ndnd_name_text(&r->name, text),
								"face", r->face->name));
	return json_pack("{s:I s:I s:o s:o}", "lease_ms", (json_int_t)d->ndn->lease_ms, "leave_ms",
			 (json_int_t)d->ndn->leave_ms, "markers", markers_pack(d->ndn), "routes",
			 routes);
}

int ndnd_restore(struct tribd *d, const json_t *o, struct reason *why)
{
	const json_t *markers = json_object_get(o, "markers");
	struct ndnd_set s = {
		.lease_ms = number(o, "lease_ms", UINT32_MAX),
		.leave_ms = number(o, "leave_ms", UINT32_MAX),
	};
	int i, err;

	if (!o || !d->ndn)
		return 0;
	for (i = NDN_MARK_DISTRIBUTE; i < NDN_MARK__MAX; i++)
		s.marker[i] = json_string_value(json_object_get(markers, mark_key[i]));
	err = ndnd_set_check(d, &s, why);
	if (!err)
		ndnd_set_apply(d->ndn, &s);
	return err;
}

int ndnd_routes_restore(struct tribd *d, const json_t *o, struct reason *why)
{
	const json_t *routes = json_object_get(o, "routes");
	unsigned int i;
	int err = 0;

	for (i = 0; d->ndn && !err && i < json_array_size(routes); i++) {
		const json_t *r = json_array_get(routes, i);
		const char *prefix = json_string_value(json_object_get(r, "prefix"));
		const char *face = json_string_value(json_object_get(r, "face"));

		if (!prefix || !face)
			return reason_set(why, -EPROTO, "a route lacks prefix or face");
		err = ndnd_route_restore(d, prefix, face, why);
	}
	return err;
}
