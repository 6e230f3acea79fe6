/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports that know each other, in one process, for tests of any kind of port. */
#ifndef PORT_RIG_H
#define PORT_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "peer/net/port.h"

#define RIG_MAX 5

/**
 * struct rig - @n ports, each with a link to all others
 * @chunk, @slots, @nic, @provider: for the next rig_open().
 * @in, @out: per port and peer rank: bytes that came and that were sent, by the stream
 *            functions below.
 */
struct rig {
	const struct peer_port_ops *ops;
	const char *nic, *provider, *name;
	uint32_t n;
	size_t chunk;
	unsigned int slots;
	struct peer_port *p[RIG_MAX];
	uint64_t in[RIG_MAX][RIG_MAX], out[RIG_MAX][RIG_MAX];
	uint32_t rng;
};

/* Open port @rank of @r. Return: 0 or -errno. */
int rig_open_one(struct rig *r, uint32_t rank, struct peer_fault *fault);
/* Open all and connect them. Return: whether that worked; prints why not. */
bool rig_open(struct rig *r, uint32_t n);
void rig_close(struct rig *r);
/* Link of port @rank to @peer. */
uint32_t rig_link(const struct rig *r, uint32_t rank, uint32_t peer);
/* Poll all ports. Return: 0, or the first error. */
int rig_poll(struct rig *r);
/* Poll until @link of port @rank has a chunk, at most 5 s. */
bool rig_next(struct rig *r, uint32_t rank, uint32_t link, struct peer_chunk *c);
/* Poll for some milliseconds. */
void rig_settle(struct rig *r, unsigned int ms);
/* Send once it is possible. Return: 0, -ETIMEDOUT, or the port's error. */
int rig_send(struct rig *r, uint32_t rank, uint32_t link, struct peer_mem *m, const void *src,
	     size_t len);
int rig_write(struct rig *r, uint32_t rank, uint32_t link, struct peer_mem *m, const void *src,
	      size_t len, uint64_t off);
int rig_announce(struct rig *r, uint32_t rank, uint32_t link, struct peer_mem *m, void *dst,
		 size_t len);
/* Poll until announcement @nth came. */
bool rig_ready(struct rig *r, uint32_t rank, uint32_t link, uint32_t nth);

uint32_t rig_random(struct rig *r);
/* The byte at @at of the stream from @from to @to. */
static inline uint8_t rig_byte(uint32_t from, uint32_t to, uint64_t at)
{
	uint64_t x = (at >> 3) * 0x9e3779b97f4a7c15ULL + from * 131 + to * 31;

	return (uint8_t)(x >> (8 * (at & 7)) ^ x >> 57);
}

#endif /* PORT_RIG_H */
