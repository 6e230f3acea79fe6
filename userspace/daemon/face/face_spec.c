// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks of a face that need nothing but the request and the other faces.
 */
#include <errno.h>
#include <string.h>

#include "base/name.h"
#include "face.h"

/* Addresses that no neighbour can have. */
static bool is_no_host(const struct in6_addr *a)
{
	if (!addr_is_v4(a))
		return IN6_IS_ADDR_UNSPECIFIED(a) || IN6_IS_ADDR_LOOPBACK(a);
	return a->s6_addr[12] == 0 || a->s6_addr[12] == 127 || a->s6_addr[12] >= 240;
}

static int mac_check(const struct face_spec *s, struct reason *why)
{
	static const uint8_t zero[6];

	if (!s->mac_given)
		return 0;
	if (!memcmp(s->mac, zero, 6))
		return reason_set(why, -EINVAL, "mac 00:00:00:00:00:00 cannot be a neighbour's");
	if ((s->mac[0] & 1) && !addr_is_multicast(&s->addr))
		return reason_set(
			why, -EINVAL,
			"mac %02x:%02x:%02x:%02x:%02x:%02x is a group address, but the face's address is not",
			s->mac[0], s->mac[1], s->mac[2], s->mac[3], s->mac[4], s->mac[5]);
	return 0;
}

static int vlan_check(const struct face_spec *s, struct reason *why)
{
	int i;

	for (i = 0; i < 2; i++)
		if (s->vlan[i] > 4094)
			return reason_set(why, -ERANGE, "vlan %u: 1 to 4094", s->vlan[i]);
	if (s->vlan[1] && !s->vlan[0])
		return reason_set(why, -EINVAL, "inner vlan %u needs an outer vlan", s->vlan[1]);
	return 0;
}

static int local_check(const struct face_spec *s, struct reason *why)
{
	char text[INET6_ADDRSTRLEN];

	if (!s->local_given)
		return 0;
	if (addr_is_zero(&s->addr))
		return reason_set(why, -EINVAL,
				  "local address %s: a face without an address has no local one",
				  addr_text(&s->local, text));
	if (addr_is_v4(&s->local) != addr_is_v4(&s->addr))
		return reason_set(why, -EINVAL,
				  "local address %s and the face's address differ in IP version",
				  addr_text(&s->local, text));
	if (is_no_host(&s->local) || addr_is_multicast(&s->local))
		return reason_set(why, -EINVAL, "local address %s is not a unicast address",
				  addr_text(&s->local, text));
	if (!memcmp(&s->local, &s->addr, sizeof(s->addr)))
		return reason_set(why, -EINVAL, "local address %s is also the peer's",
				  addr_text(&s->local, text));
	return 0;
}

int face_check(struct tribd *d, struct face_spec *s, struct reason *why)
{
	char text[INET6_ADDRSTRLEN], bad[NAME_WHY_MAX];
	int err = name_check_word(s->name, ":\"\\", bad);

	if (err)
		return reason_set(why, err, "face name '%s' %s", s->name, bad);
	if (face_find(d, s->name))
		return reason_set(
			why, -EEXIST,
			"face %s exists: trib face set changes it, trib face del removes it",
			s->name);
	if (!s->ifname[0])
		return reason_set(why, -EINVAL, "face %s has no device", s->name);
	err = d->hooks->face_check(d, s, why);
	if (err)
		return err;
	if (!addr_is_zero(&s->addr) && is_no_host(&s->addr))
		return reason_set(why, -EINVAL, "address %s cannot be a neighbour's",
				  addr_text(&s->addr, text));
	if (!s->udp_port)
		s->udp_port = TRIB_UDP_PORT;
	err = mac_check(s, why);
	if (!err)
		err = vlan_check(s, why);
	return err ? err : local_check(s, why);
}
