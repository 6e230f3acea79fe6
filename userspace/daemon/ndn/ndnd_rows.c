// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of NDN faces and ports in the maps. The wanted rows are computed from the
 * faces, compared with a copy of the present ones, and the difference is written
 * in an order in which no packet finds half of it. New rows: port, bits of the
 * configuration, face, sender, then the counter that invalidates cached look-ups.
 * Old rows: the other way round.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#include "daemon/face/face.h"
#include "ndnd.h"
#include "daemon/device/port.h"

/* Wanted content of the maps. */
struct want {
	struct ndnd_rows rows;
	uint64_t extra[NDN_FACE_WORDS];
	uint64_t generic[NDN_FACE_WORDS];
};

static void must(int failed, const char *map)
{
	if (failed)
		log_error("ndn: map %s: %s", map, strerror(errno));
}

int ndnd_config_store(struct tribd *d)
{
	struct ndnd *fw = d->ndn;
	uint32_t zero = 0;

	if (!bpf_map_update_elem(fw->map[NDND_MAP_CONFIG], &zero, &fw->config, BPF_ANY))
		return 0;
	log_error("ndn: map ndn_config: %s", strerror(errno));
	return -errno;
}

/* --- wanted rows */

static bool ready(const struct face *f)
{
	if (!f->ndn)
		return false;
	if (!f->ndn->port)
		return f->port->ifindex && f->l3_ifindex && f->mac_known;
	return f->l3_ifindex && face_ready(f);
}

static void face_fill(const struct face *f, struct ndn_face *row)
{
	const struct face *next = f->around ? f->around : f;
	const struct ndnd_peer *p = f->ndn;
	unsigned int i;

	row->flags = NDN_FACE_USED;
	if (p->kind == TRIB_FACE_NDN_HOST)
		row->flags |= NDN_FACE_HOST;
	for (i = 0; i < p->n; i++) {
		if (p->prefix[i].name.len)
			continue;
		if (p->prefix[i].may & NDN_MAY_SUBSCRIBE)
			row->flags |= NDN_FACE_SUBSCRIBE;
		if (p->prefix[i].may & NDN_MAY_WRITE)
			row->flags |= NDN_FACE_WRITE;
	}
	row->right_lens = ndnd_rights_lens(p);
	row->ifindex = face_port(f)->ifindex;
	row->max = face_port(f)->mtu;
	memcpy(row->dmac, next->mac, 6);
	memcpy(row->smac, next->local_mac, 6);
	row->vlan = f->around ? 0 : htons(f->vlan[0]);
	row->dport = htons(p->port);
	if (!p->port) {
		row->flags |= NDN_FACE_ETHER;
		return;
	}
	row->sport = htons(TRIB_NDN_UDP_PORT);
	if (addr_is_v4(&f->addr)) {
		memcpy(&row->saddr[3], f->local.s6_addr + 12, 4);
		memcpy(&row->daddr[3], f->addr.s6_addr + 12, 4);
		return;
	}
	row->flags |= NDN_FACE_V6;
	memcpy(row->saddr, &f->local, 16);
	memcpy(row->daddr, &f->addr, 16);
}

/* Packets arrive at the face's own port, even while ours take a detour. */
static void from_fill(const struct face *f, struct ndn_from *from)
{
	from->ifindex = f->port->ifindex;
	from->vlan = htons(f->vlan[0]);
	from->port = htons(f->ndn->port);
	if (f->ndn->port)
		memcpy(from->addr, &f->addr, sizeof(from->addr));
	else
		memcpy(from->addr, f->mac, 6);
}

static void bit_set(uint64_t *set, unsigned int n)
{
	set[n / 64] |= 1ULL << n % 64;
}

static unsigned int first_of(const uint32_t first[NDN_FACES], uint32_t ifindex)
{
	unsigned int i;

	for (i = 1; i < NDN_FACES; i++)
		if (first[i] == ifindex)
			return i;
	return NDN_FACE_NONE;
}

static bool out_has(const uint32_t out[NDN_FACES], uint32_t ifindex)
{
	unsigned int i;

	for (i = 0; i < NDN_FACES; i++)
		if (out[i] == ifindex)
			return true;
	return false;
}

/* Ports keep their places, so that a change concerns one place only. */
static void out_place(const struct ndnd_rows *have, struct ndnd_rows *want, uint32_t ifindex)
{
	unsigned int i;

	if (out_has(want->out, ifindex))
		return;
	for (i = 0; i < NDN_FACES; i++)
		if (have->out[i] == ifindex)
			break;
	for (unsigned int k = 0; i == NDN_FACES && k < NDN_FACES; k++)
		if (!have->out[k] && !want->out[k])
			i = k;
	for (unsigned int k = 0; i == NDN_FACES && k < NDN_FACES; k++)
		if (!want->out[k])
			i = k;
	if (i < NDN_FACES)
		want->out[i] = ifindex;
}

/* The first face of a port stays the first as long as it exists. */
static void firsts(const struct ndnd_rows *have, struct want *w)
{
	uint32_t ifindex;
	unsigned int i;

	for (i = 1; i < NDN_FACES; i++)
		if (w->rows.face[i].flags && have->first[i] &&
		    have->first[i] == w->rows.face[i].ifindex)
			w->rows.first[i] = have->first[i];
	for (i = 1; i < NDN_FACES; i++) {
		ifindex = w->rows.face[i].ifindex;
		if (!w->rows.face[i].flags || w->rows.first[i])
			continue;
		if (first_of(w->rows.first, ifindex))
			bit_set(w->extra, i);
		else
			w->rows.first[i] = ifindex;
	}
}

static void want_make(struct tribd *d, struct want *w)
{
	const struct ndnd_rows *have = &d->ndn->rows;
	const struct face *f;

	memset(w, 0, sizeof(*w));
	TAILQ_FOREACH(f, &d->faces, link) {
		unsigned int i;

		if (!ready(f))
			continue;
		i = f->ndn->number;
		face_fill(f, &w->rows.face[i]);
		from_fill(f, &w->rows.from[i]);
		if (face_port(f)->mode == TRIB_XDP_MODE_NATIVE)
			out_place(have, &w->rows, face_port(f)->ifindex);
		else
			bit_set(w->generic, i);
	}
	firsts(have, w);
}

/* --- the difference */

static int port_put(struct tribd *d, uint32_t ifindex, const uint32_t *place)
{
	struct ndnd *fw = d->ndn;
	struct bpf_devmap_val v = {
		.ifindex = ifindex,
		.bpf_prog.fd = d->prog[PROG_EGRESS],
	};

	if (bpf_map_update_elem(fw->map[NDND_MAP_PORTS], &ifindex, &v, BPF_ANY))
		return -1;
	return bpf_map_update_elem(fw->map[NDND_MAP_OUT], place, &v, BPF_ANY);
}

static void ports_come(struct tribd *d, const struct ndnd_rows *w)
{
	struct ndnd_rows *have = &d->ndn->rows;

	for (uint32_t i = 0; i < NDN_FACES; i++) {
		if (!w->out[i] || w->out[i] == have->out[i])
			continue;
		must(port_put(d, w->out[i], &i), "ndn_out");
	}
	for (uint32_t i = 1; i < NDN_FACES; i++) {
		if (!w->first[i] || w->first[i] == have->first[i])
			continue;
		must(bpf_map_update_elem(d->ndn->map[NDND_MAP_FIRST], &w->first[i], &i, BPF_ANY),
		     "ndn_first");
	}
}

/* Rows that disappeared with their device are fine. */
static void ports_go(struct tribd *d, const struct ndnd_rows *w)
{
	struct ndnd *fw = d->ndn;
	const struct ndnd_rows *have = &fw->rows;

	for (uint32_t i = 0; i < NDN_FACES; i++) {
		if (!have->out[i] || have->out[i] == w->out[i])
			continue;
		if (!w->out[i])
			bpf_map_delete_elem(fw->map[NDND_MAP_OUT], &i);
		if (!out_has(w->out, have->out[i]))
			bpf_map_delete_elem(fw->map[NDND_MAP_PORTS], &have->out[i]);
	}
	for (uint32_t i = 1; i < NDN_FACES; i++)
		if (have->first[i] && !first_of(w->first, have->first[i]))
			bpf_map_delete_elem(fw->map[NDND_MAP_FIRST], &have->first[i]);
}

/* Delete old senders. Return: whether there were any. */
static bool from_go(struct tribd *d, const struct ndnd_rows *w)
{
	struct ndnd *fw = d->ndn;
	bool any = false;

	for (unsigned int i = 1; i < NDN_FACES; i++) {
		const struct ndn_from *was = &fw->rows.from[i];

		if (!was->ifindex || !memcmp(was, &w->from[i], sizeof(*was)))
			continue;
		bpf_map_delete_elem(fw->map[NDND_MAP_FROM], was);
		any = true;
	}
	return any;
}

static bool from_come(struct tribd *d, const struct ndnd_rows *w)
{
	struct ndnd *fw = d->ndn;
	bool any = false;

	for (uint32_t i = 1; i < NDN_FACES; i++) {
		const struct ndn_from *now = &w->from[i];

		if (!now->ifindex || !memcmp(now, &fw->rows.from[i], sizeof(*now)))
			continue;
		must(bpf_map_update_elem(fw->map[NDND_MAP_FROM], now, &i, BPF_ANY), "ndn_from");
		any = true;
	}
	return any;
}

/* Write changed faces: those in use if @come, else the others. */
static void faces_put(struct tribd *d, const struct ndnd_rows *w, bool come)
{
	struct ndnd *fw = d->ndn;

	for (uint32_t i = 1; i < NDN_FACES; i++) {
		if (!w->face[i].flags == come ||
		    !memcmp(&w->face[i], &fw->rows.face[i], sizeof(w->face[i])))
			continue;
		must(bpf_map_update_elem(fw->map[NDND_MAP_FACES], &i, &w->face[i], BPF_ANY),
		     "ndn_faces");
	}
}

/* Bits that are set too early or too long only cost speed. */
static void bits_put(struct tribd *d, const struct want *w, bool both, bool count)
{
	struct ndn_config *c = &d->ndn->config, old = *c;

	for (unsigned int i = 0; i < NDN_FACE_WORDS; i++) {
		c->extra[i] = w->extra[i] | (both ? c->extra[i] : 0);
		c->generic[i] = w->generic[i] | (both ? c->generic[i] : 0);
	}
	c->changes += count;
	if (memcmp(&old, c, sizeof(old)))
		ndnd_config_store(d);
}

void ndnd_rows_settle(struct tribd *d)
{
	static struct want w;
	bool gone;

	want_make(d, &w);
	if (!memcmp(&w.rows, &d->ndn->rows, sizeof(w.rows)) &&
	    !memcmp(w.extra, d->ndn->config.extra, sizeof(w.extra)) &&
	    !memcmp(w.generic, d->ndn->config.generic, sizeof(w.generic)))
		return;
	gone = from_go(d, &w.rows);
	bits_put(d, &w, true, gone);
	ports_come(d, &w.rows);
	faces_put(d, &w.rows, true);
	gone = from_come(d, &w.rows);
	bits_put(d, &w, false, gone);
	faces_put(d, &w.rows, false);
	ports_go(d, &w.rows);
	d->ndn->rows = w.rows;
}

/* --- rows of a former tribd */

static void from_read(struct ndnd *fw)
{
	struct ndn_from key, next;
	void *at = NULL;
	uint32_t face;

	while (!bpf_map_get_next_key(fw->map[NDND_MAP_FROM], at, &next)) {
		if (!bpf_map_lookup_elem(fw->map[NDND_MAP_FROM], &next, &face) && face &&
		    face < NDN_FACES && !fw->rows.from[face].ifindex)
			fw->rows.from[face] = next;
		else if (bpf_map_delete_elem(fw->map[NDND_MAP_FROM], &next))
			return;
		else
			continue;
		key = next;
		at = &key;
	}
}

/* Read the ports; the caller writes them again with the new programs. */
static void ports_read(struct ndnd *fw)
{
	struct bpf_devmap_val v;

	for (uint32_t i = 0; i < NDN_FACES; i++)
		if (!bpf_map_lookup_elem(fw->map[NDND_MAP_OUT], &i, &v))
			fw->rows.out[i] = v.ifindex;
}

static void firsts_read(struct ndnd *fw)
{
	uint32_t key, next, face;
	void *at = NULL;

	while (!bpf_map_get_next_key(fw->map[NDND_MAP_FIRST], at, &next)) {
		if (!bpf_map_lookup_elem(fw->map[NDND_MAP_FIRST], &next, &face) && face &&
		    face < NDN_FACES && !fw->rows.first[face])
			fw->rows.first[face] = next;
		else if (bpf_map_delete_elem(fw->map[NDND_MAP_FIRST], &next))
			return;
		else
			continue;
		key = next;
		at = &key;
	}
}

void ndnd_rows_read(struct tribd *d)
{
	struct ndnd *fw = d->ndn;

	for (uint32_t i = 1; i < NDN_FACES; i++)
		if (bpf_map_lookup_elem(fw->map[NDND_MAP_FACES], &i, &fw->rows.face[i]))
			log_error("ndn: map ndn_faces: %s", strerror(errno));
	from_read(fw);
	ports_read(fw);
	firsts_read(fw);
	for (uint32_t i = 0; i < NDN_FACES; i++)
		if (fw->rows.out[i])
			must(port_put(d, fw->rows.out[i], &i), "ndn_out");
}

/*
 * The kernel forgets neighbours that only XDP talks to. The address that XDP used
 * is good until another is learned.
 */
void ndnd_rows_recall(struct tribd *d)
{
	const struct ndnd_rows *rows = &d->ndn->rows;
	struct face *f;

	TAILQ_FOREACH(f, &d->faces, link) {
		struct ndn_face now = {};
		const struct ndn_face *was;

		if (!f->ndn || f->mac_known || f->around || !f->l3_ifindex || !f->local_known)
			continue;
		was = &rows->face[f->ndn->number];
		face_fill(f, &now);
		if (!was->flags || was->ifindex != now.ifindex || was->vlan != now.vlan ||
		    was->dport != now.dport || memcmp(was->daddr, now.daddr, sizeof(now.daddr)))
			continue;
		memcpy(f->mac, was->dmac, 6);
		f->mac_known = true;
	}
}
