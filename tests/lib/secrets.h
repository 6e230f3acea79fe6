/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Secrets in tests of workers: the job's key is all zeros, and doubles of relays and
 * of a PS sign what they send. Packets are complete except for their secrets.
 */
#ifndef TEST_SECRETS_H
#define TEST_SECRETS_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/trib_attach.h"
#include "uapi/trib_auth.h"

static const struct trib_key secrets_job;
/* Number of the newest control packet, of all that sign in this program. */
__attribute__((weak)) uint32_t secrets_number;

/* Keys of a place, whose rank is set. */
static inline void secrets_place(struct trib_attach_rep *rep)
{
	trib_key_rank(&rep->up, &secrets_job, rep->rank);
	trib_key_members(&rep->down, &secrets_job);
}

/* A relay at @addr (16 bytes; NULL: the PS of a shared tree) sends to all. */
static inline void secrets_down(struct trib_hdr *h, const void *body, size_t len, const void *addr)
{
	struct trib_key key;

	trib_key_down(&key, &secrets_job, be16toh(h->tree));
	if (trib_auth_is_secret(h->type)) {
		h->auth = trib_key_secret(&key);
		return;
	}
	if (addr)
		trib_key_node(&key, &key, addr);
	h->scale = htobe32(++secrets_number);
	h->auth = trib_auth(&key, h, body, (uint32_t)len);
}

/* Something for, or of, @rank alone: START, a PS's NEED, an answer to PROBE, JOIN. */
static inline void secrets_rank(struct trib_hdr *h, const void *body, size_t len, uint16_t rank)
{
	struct trib_key key;

	trib_key_up(&key, &secrets_job, be16toh(h->tree), rank);
	h->auth = trib_auth_is_secret(h->type) ? trib_key_secret(&key)
					       : trib_auth(&key, h, body, (uint32_t)len);
}

#endif /* TEST_SECRETS_H */
