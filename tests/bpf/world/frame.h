/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames as the tests build and read them: Ethernet, up to two tags, IPv4 or
 * IPv6, UDP, struct trib_hdr, payload.
 */
#ifndef TEST_FRAME_H
#define TEST_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "uapi/trib_wire.h"

#define FRAME_MAX 3800

/**
 * struct frame - a frame and the offsets of its parts
 * @b:    its bytes; @len of them are valid.
 * @l3:   offset of the IP header.
 * @l4:   offset of the UDP header.
 * @h:    offset of struct trib_hdr.
 * @pay:  offset of the payload behind it.
 * @tags: number of VLAN tags.
 * @v6:   IPv6.
 */
struct frame {
	uint8_t b[FRAME_MAX];
	int len;
	int l3, l4, h, pay;
	int tags;
	bool v6;
};

/**
 * struct addr - one end of a frame
 * @mac:  Ethernet address.
 * @ip:   IPv6 or v4-mapped.
 * @port: UDP port.
 */
struct addr {
	uint8_t mac[6];
	uint8_t ip[16];
	uint16_t port;
};

/*
 * The outer tag comes first; id 0 means no tag. @tos is written to the IP
 * header as it is.
 */
struct link {
	struct addr from, to;
	uint16_t vlan[2];
	uint16_t tpid[2];
	uint8_t tos;
	bool v6;
};

/* Build headers from Ethernet to UDP, then @hdr and @len bytes of @pay. */
void frame_build(struct frame *f, const struct link *link, const struct trib_hdr *hdr,
		 const void *pay, int len);

/*
 * Find the offsets in @f->b. Return: false if it is no packet of this protocol.
 */
bool frame_parse(struct frame *f);

/* Return: whether the lengths of IP, UDP, struct trib_hdr and frame agree. */
bool frame_lengths_agree(const struct frame *f);
/* The same, for a frame that leaves: fresh TTL, right checksums (UDP: none). */
bool frame_sound(const struct frame *f);

static inline struct trib_hdr *frame_hdr(struct frame *f)
{
	return (struct trib_hdr *)(f->b + f->h);
}

/* Source (0) or destination (1) of the IP header, v4-mapped. */
void frame_ip(const struct frame *f, int which, uint8_t out[16]);
uint16_t frame_port(const struct frame *f, int which);
/* VLAN id of a tag; 0 is the outermost. */
uint16_t frame_vlan(const struct frame *f, int i);
/* Return the bitmap of a NEED. */
uint64_t frame_bitmap(const struct frame *f);
/* Return a 64-bit word of the payload. */
uint64_t frame_word(const struct frame *f, int i);

#endif /* TEST_FRAME_H */
