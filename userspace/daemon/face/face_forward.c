// SPDX-License-Identifier: BSD-2-Clause
/*
 * The map forwards: neighbours that have the right `forward` and whose MAC address is
 * known. XDP routes their packets for other hosts past the firewall.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "base/addr.h"
#include "face.h"

/* The key of @f. Return: false if it may not, or cannot now, have a row. */
static bool forward_key(const struct face *f, struct trib_forward *key)
{
	if (!f->forward || !f->mac_known || !f->port->ifindex || f->vlan[0] || f->around ||
	    addr_is_multicast(&f->addr))
		return false;
	memset(key, 0, sizeof(*key));
	key->ifindex = f->port->ifindex;
	memcpy(key->mac, f->mac, sizeof(key->mac));
	return true;
}

static bool wanted(struct tribd *d, const struct trib_forward *key)
{
	struct trib_forward mine;
	struct face *f;

	TAILQ_FOREACH(f, &d->faces, link)
		if (forward_key(f, &mine) && !memcmp(&mine, key, sizeof(mine)))
			return true;
	return false;
}

/* Remove rows that no face has any more. */
static void forward_prune(struct tribd *d, int map)
{
	struct trib_forward key, next;
	bool more = !bpf_map_get_next_key(map, NULL, &next);

	while (more) {
		key = next;
		more = !bpf_map_get_next_key(map, &key, &next);
		if (!wanted(d, &key))
			bpf_map_delete_elem(map, &key);
	}
}

void face_forward_write(struct tribd *d)
{
	int map = d->map[MAP_FORWARDS];
	struct trib_forward key;
	uint32_t one = 1;
	struct face *f;

	forward_prune(d, map);
	TAILQ_FOREACH(f, &d->faces, link)
		if (forward_key(f, &key) && bpf_map_update_elem(map, &key, &one, BPF_ANY))
			log_error("face %s: map forwards: %s", f->name, strerror(errno));
}
