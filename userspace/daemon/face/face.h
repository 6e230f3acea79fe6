/* SPDX-License-Identifier: BSD-2-Clause */
/* Faces: what is asked for, and what becomes of it. */
#ifndef TRIBD_FACE_H
#define TRIBD_FACE_H

#include "base/addr.h"
#include "daemon/device/rtnl.h"
#include "daemon/tribd.h"

struct ndnd_spec;
struct nlattr;

/* As a request or the state file states it; zero means not given. */
struct face_spec {
	char name[TRIB_NAME_MAX];
	char ifname[IF_NAMESIZE];
	struct in6_addr addr;
	struct in6_addr local;
	uint8_t mac[6];
	uint16_t udp_port;
	uint16_t vlan[2];
	bool local_given;
	bool mac_given;
	const struct ndnd_spec *ndn; /* NULL: nothing said */
};

/* Names of faces and jobs: 1 to 63 visible ASCII characters, none of @not. */
int name_check(const char *what, const char *name, const char * not,
	       struct reason *why);

/* Everything that needs no kernel; fills in default values. */
int face_check(struct tribd *d, struct face_spec *spec, struct reason *why);
/* A new face, all checks included. */
int face_new(struct tribd *d, struct face_spec *spec, struct reason *why);
/* The record of a face that was there before: its device may be gone. */
int face_restore(struct tribd *d, struct face_spec *spec, struct reason *why);
/* Attaches the ports of all restored faces, looks up what they need. */
void face_restore_done(struct tribd *d);
/* Change what @tb, attributes by enum trib_face_attr, has of @spec. */
int face_set(struct tribd *d, const struct face_spec *spec,
	     struct nlattr *const *tb, struct reason *why);
int face_del(struct tribd *d, const char *name, struct reason *why);
void face_free_all(struct tribd *d);

/* Where copies for @f leave. */
static inline struct port *face_port(const struct face *f)
{
	return f->around ? f->around->port : f->port;
}

/* Ready to have a rewrite row. */
bool face_ready(const struct face *f);
/* The same neighbour: one packet reaches both. */
bool face_same_peer(const struct face *a, const struct face *b);
/* Bytes of MTU that a full data packet of this face takes. */
uint32_t face_mtu_needed(const struct tribd *d, const struct face *f);

#endif /* TRIBD_FACE_H */
