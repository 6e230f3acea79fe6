// SPDX-License-Identifier: BSD-2-Clause
/* Look-ups of faces, and facts that follow from one. */
#include <string.h>

#include "face.h"

struct face *face_find(struct tribd *d, const char *name)
{
	struct face *f;

	TAILQ_FOREACH(f, &d->faces, link)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

bool face_ready(const struct face *f)
{
	const struct face *next = f->around ? f->around : f;

	return next->port->ifindex && next->mac_known && f->local_known;
}

bool face_same_peer(const struct face *a, const struct face *b)
{
	return a == b || (a->port == b->port && a->udp_port == b->udp_port &&
			  !memcmp(&a->addr, &b->addr, sizeof(a->addr)) &&
			  !memcmp(a->vlan, b->vlan, sizeof(a->vlan)));
}

uint32_t face_mtu_needed(const struct tribd *d, const struct face *f)
{
	return d->config.nval * 4 + (addr_is_v4(&f->addr) ? TRIB_OVERHEAD_V4 : TRIB_OVERHEAD_V6);
}
