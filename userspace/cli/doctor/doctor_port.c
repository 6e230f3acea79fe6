// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib doctor: checks the device of a face: link, XDP on it and on a veth's
 * other end, what hides packets from generic XDP, queues against CPUs.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "doctor_face.h"

#define VETH_MTU_MAX 3500 /* with native XDP at the other end */

bool face_is_local(const uint8_t addr[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	static const uint8_t zero[16];
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	bool v4 = !memcmp(addr, mapped, sizeof(mapped));
	int fd, err;

	if (!memcmp(addr, zero, 16))
		return false;
	memcpy(&in.sin_addr, addr + 12, 4);
	memcpy(&in6.sin6_addr, addr, 16);
	fd = socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return true; /* unknown */
	err = v4 ? bind(fd, (struct sockaddr *)&in, sizeof(in))
		 : bind(fd, (struct sockaddr *)&in6, sizeof(in6));
	if (err)
		err = errno;
	close(fd);
	return err != EADDRNOTAVAIL;
}

bool face_same_addr(const char *a, const char *b)
{
	uint8_t x[16], y[16];

	return !parse_addr(a, x) && !parse_addr(b, y) && !memcmp(x, y, 16);
}

const char *face_mac_text(const uint8_t mac[6], char buf[18])
{
	snprintf(buf, 18, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
		 mac[5]);
	return buf;
}

/*
 * A veth loses packets that XDP sends unless its other end polls: it needs XDP
 * of its own, or GRO.
 */
static void check_veth(struct doctor *d, struct rt *rt, const struct face *f)
{
	int nsid = f->link.below_nsid, sock, gro = -ENOENT, err;
	const char *where = nsid == LINK_HERE ? "" : " in another namespace";
	struct link peer;
	char fix[96];

	err = rt_link(rt, f->link.below, nsid, &peer);
	if (err) {
		doctor_note(d, DOCTOR_WARN, "veth", f->name,
			    "make sure that it has XDP or GRO: without, it loses what XDP sends",
			    "the other end of %s%s cannot be looked at: %s", f->link.name, where,
			    strerror(-err));
		return;
	}
	if (peer.xdp == LINK_XDP_NATIVE) {
		doctor_note(d, DOCTOR_OK, "veth", f->name, NULL, "the other end, %s%s, has XDP",
			    peer.name, where);
		return;
	}
	sock = rt_ethtool(rt, nsid);
	if (sock >= 0) {
		gro = ethtool_feature(sock, peer.name, "rx-gro");
		close(sock);
	}
	doctor_text(fix, sizeof(fix), "%sethtool -K %s gro on",
		    nsid == LINK_HERE ? "" : "there: ", peer.name);
	if (gro > 0)
		doctor_note(d, DOCTOR_OK, "veth", f->name, NULL, "the other end, %s%s, has GRO",
			    peer.name, where);
	else if (!gro)
		doctor_note(d, DOCTOR_FAIL, "veth", f->name, fix,
			    "the other end, %s%s, has neither XDP nor GRO: it loses what XDP sends",
			    peer.name, where);
	else
		doctor_note(d, DOCTOR_WARN, "veth", f->name, fix,
			    "the other end, %s%s, has no XDP; whether it has GRO is not known: %s",
			    peer.name, where, strerror(-gro));
}

/* Check our end of the veth for packets that a relay's XDP sends to us. */
static void check_own_end(struct doctor *d, struct rt *rt, const struct face *f)
{
	struct link peer;
	char fix[64];
	int sock, gro;

	if (f->link.xdp == LINK_XDP_NATIVE ||
	    rt_link(rt, f->link.below, f->link.below_nsid, &peer) || peer.xdp != LINK_XDP_NATIVE)
		return;
	sock = rt_ethtool(rt, LINK_HERE);
	if (sock < 0)
		return;
	gro = ethtool_feature(sock, f->link.name, "rx-gro");
	close(sock);
	if (!gro)
		doctor_note(
			d, DOCTOR_FAIL, "veth", f->name,
			doctor_text(fix, sizeof(fix), "ethtool -K %s gro on", f->link.name),
			"the other end has XDP, but %s has neither XDP nor GRO: it loses what XDP sends",
			f->link.name);
}

static bool on(int sock, const char *ifname, const char *feature)
{
	return ethtool_feature(sock, ifname, feature) > 0;
}

/*
 * Generic XDP skips packets that a filter has redirected, be it in another
 * namespace: of a veth's two ends one must be native.
 */
static void check_both_generic(struct doctor *d, const struct face *f, const struct link *peer)
{
	const char *where = f->link.below_nsid == LINK_HERE ? "" : " in another namespace";
	char fix[96] = "mend at one end at least what keeps native XDP away";

	if (peer->xdp != LINK_XDP_GENERIC)
		return;
	if (f->link.mtu > VETH_MTU_MAX || peer->mtu > VETH_MTU_MAX)
		doctor_text(fix, sizeof(fix), "ip link set %s mtu 3400, and so for %s%s",
			    f->link.name, peer->name, where);
	doctor_note(
		d, DOCTOR_FAIL, "veth", f->name, fix,
		"the other end, %s%s, has generic XDP, too: neither sees what the other one sends",
		peer->name, where);
}

/* Generic XDP sees packets after the stack merged them. */
static void check_generic(struct doctor *d, struct rt *rt, const struct face *f)
{
	struct link peer;
	char fix[128];
	int sock = rt_ethtool(rt, LINK_HERE);

	if (sock >= 0 && (on(sock, f->link.name, "rx-udp-gro-forwarding") ||
			  on(sock, f->link.name, "rx-gro-list")))
		doctor_note(d, DOCTOR_FAIL, "offload", f->name,
			    doctor_text(fix, sizeof(fix),
					"ethtool -K %s rx-udp-gro-forwarding off rx-gro-list off",
					f->link.name),
			    "%s merges UDP packets before generic XDP sees them", f->link.name);
	if (sock >= 0)
		close(sock);
	if (strcmp(f->link.kind, "veth") || rt_link(rt, f->link.below, f->link.below_nsid, &peer))
		return;
	check_both_generic(d, f, &peer);
	sock = rt_ethtool(rt, f->link.below_nsid);
	if (sock < 0)
		return;
	if (on(sock, peer.name, "tx-udp-segmentation") ||
	    on(sock, peer.name, "tx-generic-segmentation"))
		doctor_note(
			d, DOCTOR_FAIL, "offload", f->name,
			doctor_text(fix, sizeof(fix),
				    "ethtool -K %s tx-udp-segmentation off gso off", peer.name),
			"the sending device %s passes on super-packets, which generic XDP drops",
			peer.name);
	close(sock);
}

static void check_none(struct doctor *d, const struct face *f, const char *why)
{
	const char *mode = f->link.xdp == LINK_XDP_GENERIC ? "xdpgeneric" : "xdpdrv";
	char fix[160] = "mend what it says: tribd tries again until it can";

	if (f->link.xdp != LINK_XDP_NONE)
		doctor_text(
			fix, sizeof(fix),
			"bpftool net detach %s dev %s, if nothing needs it: tribd takes the hook when it is free",
			mode, f->link.name);
	doctor_note(d, DOCTOR_FAIL, "xdp", f->name, fix, "not attached to %s: %s", f->link.name,
		    *why ? why : "no reason known");
}

static void check_reattached(struct doctor *d, const struct face *f)
{
	uint64_t n = jnum(f->json, "reattached");

	if (n)
		doctor_note(d, DOCTOR_WARN, "xdp", f->name,
			    "find who does it: tribd's log has times and names",
			    "taken off %s %llu time%s, and put back by tribd", f->link.name,
			    (unsigned long long)n, n == 1 ? "" : "s");
}

static void check_xdp(struct doctor *d, struct rt *rt, const struct face *f)
{
	static const char *const names[] = {"none", "native", "generic"};
	const char *mode = jstr(f->json, "xdp_mode");
	const char *why = jstr(f->json, "reason");
	const char *real = names[f->link.xdp];

	if (!f->known)
		return;
	check_reattached(d, f);
	if (!strcmp(mode, "none"))
		check_none(d, f, why);
	else if (strcmp(mode, real))
		doctor_note(d, DOCTOR_FAIL, "xdp", f->name,
			    "look again: tribd puts it back within a second",
			    "tribd says %s, but %s has %s", mode, f->link.name, real);
	else if (f->link.xdp == LINK_XDP_NATIVE)
		doctor_note(d, DOCTOR_OK, "xdp", f->name, NULL, "native on %s", f->link.name);
	else
		doctor_note(
			d, DOCTOR_WARN, "xdp", f->name,
			"mend what it says and restart tribd, or use a NIC whose driver has XDP",
			"generic on %s, which is slow: %s", f->link.name,
			*why ? why : "the driver refused native mode");
	if (f->link.xdp == LINK_XDP_GENERIC)
		check_generic(d, rt, f);
	else if (!strcmp(f->link.kind, "veth"))
		check_veth(d, rt, f);
}

static void check_queues(struct doctor *d, struct rt *rt, const struct face *f)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t now = 0, max = 0;
	char fix[96];
	int sock;

	/* Only hardware spreads packets over CPUs by queues. */
	sock = f->link.real ? rt_ethtool(rt, LINK_HERE) : -1;
	if (sock < 0)
		return;
	if (!ethtool_channels(sock, f->link.name, &now, &max)) {
		if (now < max && now < (uint32_t)cpus)
			doctor_note(d, DOCTOR_WARN, "queues", f->name,
				    doctor_text(fix, sizeof(fix), "ethtool -L %s combined %u",
						f->link.name,
						max < (uint32_t)cpus ? max : (uint32_t)cpus),
				    "%s uses %u of %u queues for %ld CPUs", f->link.name, now, max,
				    cpus);
		else
			doctor_note(d, DOCTOR_OK, "queues", f->name, NULL,
				    "%s uses %u queues for %ld CPUs", f->link.name, now, cpus);
	} else if (f->link.rx_queues == 1 && cpus > 1) {
		doctor_note(d, DOCTOR_WARN, "queues", f->name, NULL,
			    "%s has one queue: one of %ld CPUs does all the work", f->link.name,
			    cpus);
	}
	close(sock);
}

void face_check_port(struct doctor *d, struct rt *rt, const struct face *f)
{
	char fix[64];

	if (!f->link.up)
		doctor_note(d, DOCTOR_FAIL, "device", f->name,
			    doctor_text(fix, sizeof(fix), "ip link set %s up", f->link.name),
			    "%s is down", f->link.name);
	else if (!f->link.carrier)
		doctor_note(d, DOCTOR_FAIL, "device", f->name,
			    "see the cable, or whether the other end is up", "%s has no carrier",
			    f->link.name);
	else
		doctor_note(d, DOCTOR_OK, "device", f->name, NULL, "%s is up", f->link.name);
	check_xdp(d, rt, f);
	if (!strcmp(f->link.kind, "veth"))
		check_own_end(d, rt, f);
	check_queues(d, rt, f);
}
