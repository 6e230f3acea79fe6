/* SPDX-License-Identifier: BSD-2-Clause */
/* Faces: what a request states, and the objects. */
#ifndef TRIBD_FACE_H
#define TRIBD_FACE_H

#include "base/addr.h"
#include "daemon/core/tribd.h"
#include "daemon/device/port.h"
#include "uapi/trib_auth.h"

struct ndnd_peer;
struct ndnd_spec;
struct nlattr;

/* A neighbour: a port, an address behind it, and how to reach it. */
struct face {
	TAILQ_ENTRY(face) link;
	char name[TRIB_NAME_MAX];
	struct port *port;
	struct in6_addr addr;  /* of the peer; IPv4 mapped */
	struct in6_addr local; /* our address towards it; all zeros: not known yet */
	uint16_t udp_port;     /* host order */
	uint16_t vlan[2];      /* outer, inner; host order, 0 = none */
	uint8_t mac[6];
	uint8_t local_mac[6];
	bool mac_given; /* the operator set it: never resolved */
	bool mac_known;
	bool local_given;
	bool local_known;
	/*
	 * Device that IP uses: the port, or the VLAN device over it; 0: none.
	 */
	uint32_t l3_ifindex;
	struct in6_addr next_hop; /* neighbour that has the wanted MAC address */
	uint32_t probe_ms;	  /* back-off */
	/*
	 * Detour round a dead link: packets leave through this, the LOCAL face,
	 * and the kernel forwards them. NULL: no detour.
	 */
	const struct face *around;
	unsigned int trees; /* uses by trees; deletion needs 0 */
	char comment[128];  /* the operator's; "": none */
	uint8_t forward;    /* enum trib_face_forward */
	bool watch_given;
	uint8_t neighbour;     /* enum trib_face_neighbour; ways/ways.c */
	struct trib_key watch; /* ways/ */
	struct ndnd_peer *ndn; /* its part in the NDN forwarder (ndn/ndnd.h); NULL: none */
};

/* A face as a request or the state file states it; zero means not given. */
struct face_spec {
	char name[TRIB_NAME_MAX];
	char ifname[IF_NAMESIZE];
	struct in6_addr addr;
	struct in6_addr local;
	uint8_t mac[6];
	uint16_t udp_port;
	uint16_t vlan[2];
	char comment[128];
	uint8_t forward;
	bool local_given;
	bool mac_given;
	bool watch_given;
	struct trib_key watch;
	const struct ndnd_spec *ndn; /* NULL: not given */
};

struct face *face_find(struct tribd *d, const char *name);

/* Check all that needs no kernel; fill in default values. 0 or -errno. */
int face_check(struct tribd *d, struct face_spec *spec, struct reason *why);
/*
 * Make a face: all checks, attach, save. 0 or -errno; then nothing has changed.
 */
int face_new(struct tribd *d, struct face_spec *spec, struct reason *why);
/* Make the record of a face of the state file; its device may be gone. */
int face_restore(struct tribd *d, struct face_spec *spec, struct reason *why);
/* Attach the ports of all restored faces, look up addresses. */
void face_restore_done(struct tribd *d);
/* Change what @tb, attributes by enum trib_face_attr, has of @spec. */
int face_set(struct tribd *d, const struct face_spec *spec, struct nlattr *const *tb,
	     struct reason *why);
int face_del(struct tribd *d, const char *name, struct reason *why);
void face_free_all(struct tribd *d);

/*
 * face_forward.c: make the map of neighbours whose packets XDP routes agree with the
 * faces.
 */
void face_forward_write(struct tribd *d);

/* --- face_kernel.c */

/*
 * Look up device, local address, MAC address and detour of @f. If the device
 * that IP uses is not there, l3_ifindex is 0 and @why is set.
 */
void face_resolve(struct tribd *d, struct face *f, struct reason *why);
/* Look for unknown MAC addresses again, until they are known. */
void face_probe_soon(struct tribd *d);
void face_probe_stop(struct tribd *d);
/* Hooks of device/. */
void face_device_changed(struct tribd *d, const struct netdev *dev, bool gone);
void face_port_changed(struct tribd *d, struct port *p);
void face_neighbour_changed(struct tribd *d, uint32_t ifindex, const struct in6_addr *addr,
			    const uint8_t mac[6]);
void face_routes_changed(struct tribd *d);

/* The port by which copies for @f leave. */
static inline struct port *face_port(const struct face *f)
{
	return f->around ? f->around->port : f->port;
}

/* True if all that its rewrite row needs is known. */
bool face_ready(const struct face *f);
/* True for the same neighbour: one packet reaches both. */
bool face_same_peer(const struct face *a, const struct face *b);
/* MTU that a full data packet of this face needs, in bytes. */
uint32_t face_mtu_needed(const struct tribd *d, const struct face *f);

#endif /* TRIBD_FACE_H */
