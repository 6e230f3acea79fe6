// SPDX-License-Identifier: BSD-2-Clause
/*
 * Check that a job's packets fit: its values and the bitmap of its workers
 * against the path MTU to each host that sends to this PS. They are never
 * fragmented.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mtu.h"

/* Return: the MTU towards @to that the kernel knows; 0: no route now. */
static unsigned int mtu_towards(const struct ps_addr *to)
{
	bool v4 = IN6_IS_ADDR_V4MAPPED(&to->ip);
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(to->port), .sin6_addr = to->ip};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(to->port)};
	const struct sockaddr *sa = v4 ? (void *)&in : (void *)&in6;
	int fd = socket(sa->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), mtu = 0;
	socklen_t len = sizeof(mtu);

	memcpy(&in.sin_addr, to->ip.s6_addr + 12, 4);
	if (fd < 0)
		return 0;
	if (connect(fd, sa, v4 ? sizeof(in) : sizeof(in6)) ||
	    getsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_MTU : IPV6_MTU, &mtu, &len))
		mtu = 0;
	close(fd);
	return mtu > 0 ? (unsigned int)mtu : 0;
}

static int way_check(const struct ps_tree *t, const struct ps_addr *to, char *why, size_t size)
{
	bool v4 = IN6_IS_ADDR_V4MAPPED(&to->ip);
	unsigned int bitmap = 8 * t->bmwords;
	unsigned int over = (v4 ? 20 : 40) + 8 + (unsigned int)sizeof(struct trib_hdr) + bitmap;
	unsigned int need = over + trib_payload_len(t->job->nval);
	unsigned int mtu = mtu_towards(to);
	unsigned int room = mtu > over ? (mtu - over) / 4 : 0;
	char text[ADDR_TEXT_MAX];

	if (!mtu || need <= mtu)
		return 0;
	snprintf(
		why, size,
		"tree %u: %u values and a bitmap of %u bytes make packets of %u bytes, but the path to %s takes %u: use nval %u or less",
		t->number, t->job->nval, bitmap, need, ps_addr_text(to, text), mtu,
		room / TRIB_NVAL_BLOCK * TRIB_NVAL_BLOCK);
	return -EMSGSIZE;
}

int ps_mtu_check(const struct ps *ps, char *why, size_t size)
{
	unsigned int i, k;
	int err = 0;

	for (i = 0; !err && i < ps->ntree; i++) {
		const struct ps_tree *t = ps->tree[i];

		for (k = 0; !err && k < t->ngroup; k++)
			err = way_check(t, &t->group[k], why, size);
	}
	return err;
}
