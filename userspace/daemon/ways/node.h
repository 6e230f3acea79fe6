/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * This host among the others: its links, what it knows of all, what it says. Pure: the
 * caller sends, tells the time, and draws random numbers.
 */
#ifndef TRIBD_WAYS_NODE_H
#define TRIBD_WAYS_NODE_H

#include "message.h"

/**
 * struct ways_node - owned by the caller, filled with zeros before ways_node_start()
 * @send:   send @len bytes by link number @link, which may lose them.
 * @random: 64 random bits.
 * @flags:  TRIB_WAYS_PASSES_... of this host.
 * @last:   number of the newest probe.
 * @moved:  links or reports have changed; the caller looks for ways again and clears it.
 */
struct ways_node {
	void (*send)(struct ways_node *node, unsigned int link, const void *buf, size_t len);
	uint64_t (*random)(struct ways_node *node);
	void *arg;
	uint8_t flags;

	struct ways_link link[TRIB_WAYS_LINKS];
	unsigned int nlinks;
	struct ways_reports all;
	uint64_t last;
	bool moved;
};

/* A link as the caller wants it. */
struct ways_want {
	struct in6_addr local;
	struct in6_addr peer;
	struct trib_key key;
};

/*
 * Begin without links. @id: a random number that this host keeps, not 0. @clock: of the real
 * time, in microseconds. 0 or -ENOMEM.
 */
int ways_node_start(struct ways_node *node, uint64_t id, uint64_t clock);
void ways_node_free(struct ways_node *node);

/* Watch these @n links, at most TRIB_WAYS_LINKS. Those that were there keep their state. */
void ways_node_links(struct ways_node *node, const struct ways_want *want, unsigned int n,
		     uint8_t flags);
/* Each WAYS_TURN_MS: judge the links, probe, tell news. */
void ways_node_turn(struct ways_node *node);
/* A message came by @link. Return: false if it is not of the other end, or malformed. */
bool ways_node_receive(struct ways_node *node, unsigned int link, const void *buf, size_t len);

#endif /* TRIBD_WAYS_NODE_H */
