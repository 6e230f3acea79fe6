/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of the bootstrap, and their secrets. A message is a head of 16 bytes and a
 * body; numbers are little-endian.
 *
 *	rank r			rank 0
 *	HELLO ---------------->			who, and a nonce; in the clear
 *	      <---------------- CHALLENGE	another nonce, and a proof
 *	PROOF ---------------->			a proof
 *	      <---------------- WAIT		who is missing; START; REFUSE
 *	SWAP ----------------->			number, blob
 *	      <---------------- ALL		number, all lengths, all blobs
 *	BEAT, FAULT, BYE <---->
 *	OWN <---->				in libtrib's mesh only
 *
 * A proof is a hash of both nonces and of HELLO under the job's key. From PROOF on,
 * each message is authentic: its head has a hash of it and of its number on the
 * connection, under a key of this connection and direction.
 */
#ifndef PEER_BOOT_WIRE_H
#define PEER_BOOT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/trib_auth.h"

#define BOOT_MAGIC 0x31504254U /* "TBP1" */
#define BOOT_NONCE 16
#define BOOT_TEXT_MAX 192
#define BOOT_EARLY_MAX 64 /* bytes of the largest body before the proof */

enum boot_type {
	BOOT_HELLO = 1,
	BOOT_CHALLENGE = 2,
	BOOT_PROOF = 3,
	BOOT_WAIT = 4,
	BOOT_START = 5,
	BOOT_REFUSE = 6,
	BOOT_SWAP = 7,
	BOOT_ALL = 8,
	BOOT_BEAT = 9,
	BOOT_FAULT = 10,
	BOOT_BYE = 11,
	BOOT_OWN = 12, /* of who uses connections for more */
	BOOT_TYPE__MAX,
};

/** struct boot_head - before each body */
struct boot_head {
	uint32_t len;
	uint32_t type;
	uint64_t auth;
};

/** struct boot_hello - body of HELLO */
struct boot_hello {
	uint32_t magic;
	uint32_t job;
	uint32_t rank;
	uint32_t world;
	uint8_t nonce[BOOT_NONCE];
};

/** struct boot_proof - body of CHALLENGE, whose nonce is rank 0's, and of PROOF */
struct boot_proof {
	uint8_t nonce[BOOT_NONCE];
	uint64_t proof[2];
};

/** struct boot_fault - body of FAULT and REFUSE; text follows, without NUL */
struct boot_fault {
	uint32_t code;
	int32_t rank;
};

/** struct boot_keys - secrets of one connection */
struct boot_keys {
	uint64_t proof_root[2];
	uint64_t proof_rank[2];
	struct trib_key to_root;
	struct trib_key to_rank;
};

/* Derive all secrets of a connection from the job's key. */
void boot_keys_make(struct boot_keys *k, const struct trib_key *job, const struct boot_hello *hello,
		    const uint8_t root_nonce[BOOT_NONCE]);

/* Authenticator of a message, the @count-th of its connection and direction. */
uint64_t boot_auth(const struct trib_key *key, uint64_t count, uint32_t type, const void *body,
		   uint32_t len);

/* Compare in a time that says nothing. */
bool boot_equal(const uint64_t *a, const uint64_t *b, unsigned int n);

/* Fill with random bytes. Return: 0 or -errno. */
int boot_nonce(uint8_t nonce[BOOT_NONCE]);

/**
 * boot_ranks_text() - write the ranks whose byte in @there is 0, as "1, 4-6 and 9 more"
 * Return: how many there are; *@first is the lowest.
 */
uint32_t boot_ranks_text(const uint8_t *there, uint32_t world, char *out, size_t room,
			 uint32_t *first);

#endif /* PEER_BOOT_WIRE_H */
