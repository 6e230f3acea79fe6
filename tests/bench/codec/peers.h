/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of methods of bench-codec: ours and those that it replaces. */
#ifndef CODEC_PEERS_H
#define CODEC_PEERS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Workers' gradients in the table, and how many values each has. */
#define PEER_WORKERS 4
#define PEER_VALUES ((size_t)1 << 22)

/* Larger than any method's message. */
#define PEER_BYTES (PEER_VALUES * 8 + 4096)

/**
 * struct peer - a method
 * @encode: write the message of a gradient. Return: its bytes.
 * @decode: write the gradient that a message holds; @x is all zeros before.
 */
struct peer {
	const char *name;
	size_t (*encode)(unsigned char *to, const float *x);
	void (*decode)(float *x, const unsigned char *from, size_t len);
};

/* Methods that ours replace, peers.c. */
extern const struct peer peer_bf16, peer_top_k, peer_block_l1;

/* Set the threshold of peer_top_k, the same for all workers, from one's gradient. */
void peer_top_k_learn(const float *x);

/* Measure each method, and print its figures as members of a JSON object. */
void peers_measure(FILE *out);

#endif /* CODEC_PEERS_H */
