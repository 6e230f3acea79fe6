/* SPDX-License-Identifier: BSD-2-Clause */
/* The socket at TRIB_UDP_PORT, IPv4 and IPv6. */
#ifndef TRIBD_UDP_H
#define TRIBD_UDP_H

#include "daemon/core/datagram.h"
#include "daemon/face/face.h"

/*
 * Send @len bytes from port 7417 and the local address of @via, out of its
 * device, with DF set. @to NULL: to the address of @via; @port 0: to its port.
 * 0, -EAGAIN (queue full: like loss), -EMSGSIZE, -errno.
 */
int udp_send(struct tribd *d, const struct face *via, const struct in6_addr *to, uint16_t port,
	     const void *data, size_t len);
/* Send to an address that has no face, as the kernel routes it. 0 or -errno. */
int udp_send_to(struct tribd *d, const struct in6_addr *to, uint16_t port, const void *data,
		size_t len);

/* True if @p came from where packets of @f come from; its port may differ. */
static inline bool udp_is_from(const struct udp_packet *p, const struct face *f)
{
	return f->l3_ifindex && (f->around || f->l3_ifindex == p->ifindex) &&
	       IN6_ARE_ADDR_EQUAL(&f->addr, &p->src);
}

int udp_init(struct tribd *d);
void udp_exit(struct tribd *d);

#endif /* TRIBD_UDP_H */
