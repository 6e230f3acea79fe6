/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * Quotas of the NDN forwarder's tables that its faces share: nobody can fill one so
 * that others find no room. TABLES.md compares them with all other tables.
 *
 * An entry of the persistent PIT counts for the face that inserted it
 * (&ndn_more.owner): each face has NDN_ENTRIES_OWN entries that no other can take,
 * and all together share &ndn_config.entries more. A host has at most a quarter of
 * these, because the next router counts entries of all hosts behind this one for one
 * face.
 *
 * A pending Interest has a seat: each face has NDN_SEATS_OWN of its own, and faces
 * with a right share &ndn_config.shared more. Seat n belongs to face
 * n / NDN_SEATS_OWN if n < NDN_SEATS_SHARED, else it is shared. A face without a
 * free seat loses its own oldest Interest (bpf/ndn/seats.h).
 */
#ifndef _UAPI_TRIB_NDN_SEATS_H
#define _UAPI_TRIB_NDN_SEATS_H

#include <linux/types.h>
#include "trib_ndn.h"

/* Face numbers are 1 to 255, as bits of four words. 0 is no face. */
#define NDN_FACES 256
#define NDN_FACE_WORDS (NDN_FACES / 64)
#define NDN_FACE_NONE 0

/* Pending Interests for which each face has room that no other can take. */
#define NDN_SEATS_OWN 32
/* First shared seat; a multiple of 64. */
#define NDN_SEATS_SHARED (NDN_FACES * NDN_SEATS_OWN)
/* A host holds at most one part in so many of the shared seats, and of the entries. */
#define NDN_SHARED_PARTS 4
/* PIT entries for which each face has room that no other can take. */
#define NDN_ENTRIES_OWN 16
/* Longest life in ms of a pending Interest of a face without any right. */
#define NDN_BARE_LIFE_MS 1000
/*
 * Time in ms for which a host's unanswered Interest keeps its seat before another
 * of the same host replaces it: so a host forwards a limited rate of them, and does
 * not displace those of its router at the next router. Routers replace at once.
 */
#define NDN_REPLACE_MS 250

/* &ndn_seat.word while a holder is being replaced. */
#define NDN_SEAT_BUSY (1ULL << 63)

/**
 * struct ndn_seat - room for a pending Interest
 * @word:  its holder: a number that is never used again, and the face in the low
 *         byte. 0: free, or about to be filled.
 * @key:   of the row of ndn_asks. If that row does not bear @word, it is gone.
 * @since: when the Interest came.
 */
struct ndn_seat {
	__u64 word;
	__u64 key;
	__u64 since;
};
NDN_ASSERT(sizeof(struct ndn_seat) == 24, "ndn_seat");

/**
 * struct ndn_owner - what a face holds of the shared tables. Row 0: of all faces
 * @used:    bit n: its own seat n is taken.
 * @wait:    when the oldest of its own seats may be replaced. Row 0: when the
 *           shared seats were found to be full; 0 since one was freed.
 * @number:  row 0: last number of a &ndn_seat.word.
 * @shared:  shared seats that it holds.
 * @entries: PIT entries that count for it. Row 0: those beyond NDN_ENTRIES_OWN.
 * @hand:    row 0: word of ndn_taken to search from.
 * @victim:  row 0: shared seat that is next in turn to be replaced.
 * @rsvd:    pads the row to a cache line.
 */
struct ndn_owner {
	__u64 used;
	__u64 wait;
	__u64 number;
	__u32 shared;
	__u32 entries;
	__u32 hand;
	__u32 victim;
	__u64 rsvd[3];
};
NDN_ASSERT(sizeof(struct ndn_owner) == 64, "ndn_owner");

#endif /* _UAPI_TRIB_NDN_SEATS_H */
