/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A UDP socket of IPv4 or of both versions that tells by which device a datagram came,
 * and sends through a device.
 */
#ifndef TRIBD_DATAGRAM_H
#define TRIBD_DATAGRAM_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct datagram {
	int fd;	 /* the owner's */
	bool v4; /* an IPv4 socket */
};

/* A datagram that came: trust nothing in it. */
struct udp_packet {
	const void *data;
	size_t len;
	struct in6_addr src; /* IPv4 mapped */
	struct in6_addr dst;
	uint16_t sport;	  /* host order */
	uint32_t ifindex; /* L3 device: compare with face.l3_ifindex */
};

/* Set the options of the bound socket @s->fd, and @s->v4. 0 or -errno. */
int datagram_setup(struct datagram *s);
/*
 * Receive one into @buf of @size bytes. Return: 1 with @p; 0: none is there; -1: one that is
 * longer than @size, or an error of an earlier one, is passed over.
 */
int datagram_receive(const struct datagram *s, void *buf, size_t size, struct udp_packet *p);
/*
 * Send from @local through device @oif (0: as the routes say), with DF set. @beside: @to is
 * behind that device itself; no gateway is used, whatever the routes say (IPv4 only).
 * 0, -EAGAIN (queue full: like loss), -EMSGSIZE, -errno.
 */
int datagram_send(const struct datagram *s, uint32_t oif, bool beside, const struct in6_addr *local,
		  const struct in6_addr *to, uint16_t port, const void *data, size_t len);
/* Send as the routes say. 0 or -errno. */
int datagram_send_to(const struct datagram *s, const struct in6_addr *to, uint16_t port,
		     const void *data, size_t len);

#endif /* TRIBD_DATAGRAM_H */
