// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib doctor: checks each face. First the facts of this host (device, XDP,
 * queues, MTU, addresses), then probes to all peers at once, then the results
 * (reachability, path MTU, neighbour entries).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/object/ndn.h"
#include "doctor.h"
#include "doctor_face.h"

#define PROBE_MS 1000

/* IP length of a packet with a full chunk for this face. */
static uint32_t full_packet(const struct doctor *d, const struct face *f)
{
	uint32_t nval = (uint32_t)jnum(d->status, "nval");

	return (face_v4(f) ? TRIB_OVERHEAD_V4 : TRIB_OVERHEAD_V6) +
	       trib_payload_len(nval ? nval : TRIB_NVAL_SMALL);
}

bool face_v4(const struct face *f)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(f->addr, mapped, sizeof(mapped));
}

bool face_multicast(const struct face *f)
{
	return face_v4(f) ? (f->addr[12] & 0xf0) == 0xe0 : f->addr[0] == 0xff;
}

/* Device of a link-local address, 0 for other addresses. */
static int face_scope(const struct face *f)
{
	return f->addr[0] == 0xfe && (f->addr[1] & 0xc0) == 0x80 ? f->link.ifindex : 0;
}

static void check_mtu(struct doctor *d, const struct face *f)
{
	/* Devices send one VLAN tag beyond their MTU, not two. */
	uint32_t tags = jnum(f->json, "vlan_inner") ? 4 : 0;
	uint32_t need = full_packet(d, f) + tags;
	char fix[96];
	int n;

	if (f->link.mtu >= need) {
		doctor_note(d, DOCTOR_OK, "mtu", f->name, NULL, "%s has %u, full packets need %u",
			    f->link.name, f->link.mtu, need);
		return;
	}
	n = snprintf(fix, sizeof(fix), "ip link set %s mtu %u", f->link.name, need);
	if (jnum(d->status, "nval") > TRIB_NVAL_SMALL)
		snprintf(fix + n, sizeof(fix) - (size_t)n, ", or tribd --values %u",
			 TRIB_NVAL_SMALL);
	doctor_note(d, DOCTOR_FAIL, "mtu", f->name, fix,
		    "%s has %u, full packets need %u: they are lost", f->link.name, f->link.mtu,
		    need);
}

/* True if @ifindex is the face's port or a VLAN device on it. */
static bool over_port(struct rt *rt, int ifindex, const struct face *f)
{
	struct link l;
	int i;

	for (i = 0; i < 3 && ifindex != f->link.ifindex; i++) {
		if (rt_link(rt, ifindex, LINK_HERE, &l) || strcmp(l.kind, "vlan"))
			return false;
		ifindex = l.below;
	}
	return ifindex == f->link.ifindex;
}

static void check_route(struct doctor *d, struct rt *rt, struct face *f)
{
	int err = rt_route(rt, f->addr, face_scope(f), &f->route);
	struct link l;

	if (err) {
		doctor_note(d, DOCTOR_FAIL, "route", f->name,
			    "ip route add, or give this host an address in its network",
			    "no route to %s: %s", jstr(f->json, "addr"), strerror(-err));
		return;
	}
	f->have_route = true;
	/* The LOCAL pair's other end is on this host, too. */
	if (f->route.local && !strcmp(jstr(f->json, "ifname"), TRIB_LOCAL_PORT)) {
		f->have_route = false;
	} else if (f->route.local) {
		doctor_note(d, DOCTOR_FAIL, "route", f->name,
			    "a face names the other end: trib face del, trib face add",
			    "%s is an address of this host", jstr(f->json, "addr"));
		f->have_route = false;
	} else if (f->have_link && !over_port(rt, f->route.oif, f)) {
		if (rt_link(rt, f->route.oif, LINK_HERE, &l))
			snprintf(l.name, sizeof(l.name), "device %d", f->route.oif);
		doctor_note(d, DOCTOR_FAIL, "route", f->name, "change the route, or the face's dev",
			    "packets of tribd and workers to %s leave by %s, not by %s",
			    jstr(f->json, "addr"), l.name, f->link.name);
	}
}

static void check_local(struct doctor *d, const struct face *f)
{
	const char *text = jstr(f->json, "local_addr");
	char port_mac[18];
	uint8_t mac[6];

	if (*text && !face_is_local(f->local))
		doctor_note(d, DOCTOR_FAIL, "address", f->name,
			    "ip addr add, or trib face add ... local ADDR",
			    "%s is not an address of this host: answers to it are lost", text);
	if (f->have_link && !parse_mac(jstr(f->json, "local_mac"), mac) &&
	    memcmp(mac, f->link.mac, 6))
		doctor_note(d, DOCTOR_WARN, "address", f->name,
			    "restart tribd, or add the face again",
			    "%s has MAC %s, the face has %s", f->link.name,
			    face_mac_text(f->link.mac, port_mac), jstr(f->json, "local_mac"));
}

/* Two faces of one neighbour: it is taken for both children of a tree. */
static void check_twins(struct doctor *d, const struct face *faces, size_t n)
{
	static const char *const same[] = {"port", "vlan", "vlan_inner", "ndn_port"};
	const json_t *a, *b;
	size_t i, j, k;

	for (i = 1; i < n; i++)
		for (j = 0; j < i; j++) {
			a = faces[i].json;
			b = faces[j].json;
			for (k = 0; k < 4 && jnum(a, same[k]) == jnum(b, same[k]); k++)
				;
			if (k < 4 || strcmp(jstr(a, "ifname"), jstr(b, "ifname")) ||
			    memcmp(faces[i].addr, faces[j].addr, 16) || face_multicast(&faces[i]))
				continue;
			doctor_note(d, DOCTOR_WARN, "face", faces[i].name,
				    "trib face del one of them; workers of one host differ in port",
				    "has the device, address and port of face %s", faces[j].name);
			break;
		}
}

/* Report what tribd's own probes say of a watched face. */
static void check_watch(struct doctor *d, const struct face *f)
{
	const char *word = jstr(f->json, "neighbour");

	if (!strcmp(word, "alive"))
		doctor_note(d, DOCTOR_OK, "watch", f->name, NULL, "the neighbour's tribd answers");
	else if (!strcmp(word, "dead"))
		doctor_note(
			d, DOCTOR_FAIL, "watch", f->name,
			"see the cable; whether tribd runs there, watches with the same key, and gets UDP port 7415",
			"the neighbour's tribd does not answer: routes lead round this link");
}

/* After the probes the kernel knows the neighbours. */
static void check_neigh(struct doctor *d, struct rt *rt, const struct face *f)
{
	const uint8_t *hop = f->route.has_gateway ? f->route.gateway : f->addr;
	const char *text = jstr(f->json, "mac");
	char real[18];
	uint8_t mac[6];
	struct neigh n;

	if (rt_neigh(rt, f->route.oif, hop, &n))
		return;
	if (parse_mac(text, mac)) {
		if (f->known)
			doctor_note(d, DOCTOR_WARN, "mac", f->name,
				    "make the address answer, or trib face add ... mac MAC",
				    "not resolved yet: nothing is sent to it");
		return;
	}
	if (!n.found)
		doctor_note(d, DOCTOR_WARN, "mac", f->name, NULL,
			    "the neighbour does not answer; the face says %s", text);
	else if (memcmp(mac, n.mac, 6))
		doctor_note(d, DOCTOR_FAIL, "mac", f->name,
			    "trib face del and add it again with the right mac",
			    "the face says %s, the neighbour has %s", text,
			    face_mac_text(n.mac, real));
	else
		doctor_note(d, DOCTOR_OK, "mac", f->name, NULL, "%s", text);
}

/* True if a tree with this child runs: its worker must listen then. */
static bool in_running_tree(const struct doctor *d, const char *name)
{
	const json_t *t, *ch;
	size_t i, k;

	json_array_foreach(d->trees, i, t) {
		if (!jnum(t, "epoch"))
			continue;
		json_array_foreach(json_object_get(t, "children"), k, ch)
			if (!strcmp(jstr(ch, "face"), name))
				return true;
	}
	return false;
}

/* True if this face is a tree's parent: a relay, whose tribd must listen. */
static bool is_parent(const struct doctor *d, const char *name)
{
	const json_t *t;
	size_t i;

	json_array_foreach(d->trees, i, t)
		if (!strcmp(jstr(t, "parent"), name))
			return true;
	return false;
}

/* A face for NDN only need not listen on the port of trees. */
static bool for_names(const struct face *f)
{
	return ndn_is_face(f->json) && !jnum(f->json, "trees");
}

/*
 * UDP port to probe, or 0 for none. A router's port is not probed: its XDP
 * takes all packets to it, listener or not, and counts ours as from no face.
 */
static uint16_t port_of(const struct face *f)
{
	if (!for_names(f))
		return (uint16_t)jnum(f->json, "port");
	if (!strcmp(jstr(f->json, "ndn"), "router"))
		return 0;
	return (uint16_t)jnum(f->json, "ndn_port");
}

static void judge_port(struct doctor *d, const struct face *f, const struct probe *p)
{
	bool relay = p->port == TRIB_UDP_PORT;

	/* NDN over Ethernet has no UDP port either. */
	if (!p->port)
		return;
	if (p->err != ECONNREFUSED)
		doctor_note(d, DOCTOR_OK, "port", f->name, NULL, "UDP port %u does not refuse",
			    p->port);
	else if (for_names(f))
		doctor_note(d, DOCTOR_WARN, "port", f->name,
			    "start the program that speaks NDN there, bound to this port",
			    "nothing listens on UDP port %u of %s", p->port, jstr(f->json, "addr"));
	else if (relay && !is_parent(d, f->name) && !in_running_tree(d, f->name))
		doctor_note(d, DOCTOR_WARN, "port", f->name,
			    "start tribd there, or a worker with its ticket (trib job ticket)",
			    "nothing listens on UDP port %u of %s yet", p->port,
			    jstr(f->json, "addr"));
	else if (relay)
		doctor_note(d, DOCTOR_FAIL, "port", f->name, "start tribd there",
			    "nothing listens on UDP port %u of %s", p->port, jstr(f->json, "addr"));
	else if (in_running_tree(d, f->name))
		doctor_note(d, DOCTOR_FAIL, "port", f->name,
			    "see whether the worker lives, and which port it has bound",
			    "its tree runs, but nothing listens on UDP port %u of %s", p->port,
			    jstr(f->json, "addr"));
	else
		doctor_note(d, DOCTOR_OK, "port", f->name, NULL,
			    "UDP port %u refuses: no worker runs there now", p->port);
}

static void judge_full(struct doctor *d, const struct face *f, const struct probe *full)
{
	if (full->answered)
		doctor_note(d, DOCTOR_OK, "path", f->name, NULL,
			    "packets of %u bytes get through unfragmented", full->size);
	else
		doctor_note(d, DOCTOR_FAIL, "path", f->name,
			    "raise the MTU of every device on the way, the peer's included",
			    "small packets get through, %u bytes do not%s", full->size,
			    full->err == EMSGSIZE ? ": too long for a device here" : "");
}

static void judge(struct doctor *d, const struct face *f, const struct probe *p)
{
	const struct probe *ping = &p[0], *full = &p[1], *port = &p[2];

	if (ping->err == EPERM || ping->err == EACCES) {
		doctor_note(d, DOCTOR_WARN, "reach", f->name, "run trib doctor as root",
			    "not probed: raw sockets are not allowed");
	} else if (!ping->answered) {
		doctor_note(d, DOCTOR_FAIL, "reach", f->name,
			    "see the cable, the peer's address and its firewall",
			    "%s does not answer a ping within %d ms%s%s", jstr(f->json, "addr"),
			    PROBE_MS, ping->err ? ": " : "", ping->err ? strerror(ping->err) : "");
	} else {
		doctor_note(d, DOCTOR_OK, "reach", f->name, NULL, "%s answers in %.2f ms",
			    jstr(f->json, "addr"), ping->rtt_ms);
		judge_full(d, f, full);
		judge_port(d, f, port);
	}
}

static void prepare(const struct doctor *d, const struct face *f, struct probe *p)
{
	int i;

	memset(p, 0, 3 * sizeof(*p));
	p[0].kind = p[1].kind = PROBE_PING;
	p[2].kind = PROBE_PORT;
	p[0].size = face_v4(f) ? 84 : 104;
	p[1].size = full_packet(d, f);
	p[2].port = port_of(f);
	for (i = 0; i < 3; i++) {
		memcpy(p[i].addr, f->addr, 16);
		p[i].scope = (uint32_t)face_scope(f);
		if (face_is_local(f->local))
			memcpy(p[i].local, f->local, 16);
	}
}

static void probe_faces(struct doctor *d, struct rt *rt, struct face *faces, size_t n)
{
	struct probe *p = calloc(n * 3, sizeof(*p));
	size_t i, k = 0;

	if (!p)
		return;
	for (i = 0; i < n; i++)
		if (faces[i].have_route && !face_multicast(&faces[i]))
			prepare(d, &faces[i], &p[3 * k++]);
	if (k)
		probe_run(p, 3 * k, PROBE_MS);
	for (i = k = 0; i < n; i++) {
		if (!faces[i].have_route || face_multicast(&faces[i]))
			continue;
		judge(d, &faces[i], &p[3 * k++]);
		check_neigh(d, rt, &faces[i]);
		check_watch(d, &faces[i]);
	}
	free(p);
}

/* The address has no face: its port is the device of its route. */
static json_t *make_face(const char *addr)
{
	return json_pack("{s:s, s:s, s:i}", "name", addr, "addr", addr, "port", TRIB_UDP_PORT);
}

static void check_face(struct doctor *d, struct rt *rt, struct face *f)
{
	int ifindex = (int)jnum(f->json, "ifindex");

	f->name = jstr(f->json, "name");
	if (parse_addr(jstr(f->json, "addr"), f->addr))
		return;
	if (*jstr(f->json, "local_addr"))
		parse_addr(jstr(f->json, "local_addr"), f->local);
	if (!f->known && !rt_route(rt, f->addr, 0, &f->route))
		ifindex = f->route.oif;
	f->have_link = ifindex && !rt_link(rt, ifindex, LINK_HERE, &f->link);
	if (f->have_link) {
		face_check_port(d, rt, f);
		check_mtu(d, f);
	} else if (f->known) {
		doctor_note(d, DOCTOR_FAIL, "device", f->name,
			    "bring the device back: tribd attaches to it again", "%s is gone",
			    jstr(f->json, "ifname"));
	}
	check_route(d, rt, f);
	check_local(d, f);
}

void doctor_faces(struct doctor *d)
{
	size_t i, n = 0, max = json_array_size(d->faces) + 1;
	struct face *faces = calloc(max, sizeof(*faces));
	json_t *one = NULL, *f;
	struct rt *rt;

	if (!faces)
		return;
	if (rt_open(&rt)) {
		free(faces);
		return;
	}
	json_array_foreach(d->faces, i, f)
		if (!d->peer || face_same_addr(d->peer, jstr(f, "addr"))) {
			faces[n].known = true;
			faces[n++].json = f;
		}
	if (d->peer && !n) {
		one = make_face(d->peer);
		faces[n++].json = one;
	}
	for (i = 0; i < n; i++)
		check_face(d, rt, &faces[i]);
	check_twins(d, faces, n);
	probe_faces(d, rt, faces, n);
	if (!n && d->status)
		doctor_note(d, DOCTOR_WARN, "faces", "", "trib face add", "none");
	json_decref(one);
	rt_close(rt);
	free(faces);
}
