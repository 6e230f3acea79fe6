// SPDX-License-Identifier: BSD-2-Clause
/* Secrets of the bootstrap, and names of ranks. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "peer/boot/wire.h"

#define AUTH_BOOT 0x746f6f62U /* "boot": no other use of the job's key has it */
#define RANGES_MAX 12

_Static_assert(sizeof(struct boot_hello) == 32, "boot_hello");
_Static_assert(sizeof(struct boot_head) == 16, "boot_head");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "messages are little-endian");

/* Two words from both nonces and HELLO; @use tells the uses apart. */
static void keys_hash(const struct trib_key *key, uint32_t use, const struct boot_hello *hello,
		      const uint8_t *root_nonce, uint64_t out[2])
{
	struct trib_sip s;
	size_t at;
	int half;

	for (half = 0; half < 2; half++) {
		trib_sip_init(&s, key);
		trib_sip_word(&s, use | (uint64_t)half << 32);
		for (at = 0; at < sizeof(*hello); at += 8)
			trib_sip_word(&s, trib_sip_load((const uint8_t *)hello + at));
		for (at = 0; at < BOOT_NONCE; at += 8)
			trib_sip_word(&s, trib_sip_load(root_nonce + at));
		out[half] = trib_sip_end(&s, (8ULL + sizeof(*hello) + BOOT_NONCE) << 56);
	}
}

void boot_keys_make(struct boot_keys *k, const struct trib_key *job, const struct boot_hello *hello,
		    const uint8_t root_nonce[BOOT_NONCE])
{
	struct trib_key base;
	uint64_t half[2];

	trib_key_derive(&base, job, AUTH_BOOT, 0);
	keys_hash(&base, 1, hello, root_nonce, k->proof_root);
	keys_hash(&base, 2, hello, root_nonce, k->proof_rank);
	keys_hash(&base, 3, hello, root_nonce, half);
	memcpy(k->to_root.b, half, sizeof(half));
	keys_hash(&base, 4, hello, root_nonce, half);
	memcpy(k->to_rank.b, half, sizeof(half));
}

uint64_t boot_auth(const struct trib_key *key, uint64_t count, uint32_t type, const void *body,
		   uint32_t len)
{
	const uint8_t *p = body;
	struct trib_sip s;
	uint64_t last = 0;
	uint32_t at;

	trib_sip_init(&s, key);
	trib_sip_word(&s, count);
	trib_sip_word(&s, len | (uint64_t)type << 32);
	for (at = 0; len - at >= 8; at += 8)
		trib_sip_word(&s, trib_sip_load(p + at));
	if (len > at)
		memcpy(&last, p + at, len - at);
	return trib_sip_end(&s, last | (uint64_t)len << 56);
}

bool boot_equal(const uint64_t *a, const uint64_t *b, unsigned int n)
{
	uint64_t other = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		other |= a[i] ^ b[i];
	return !other;
}

int boot_nonce(uint8_t nonce[BOOT_NONCE])
{
	return getrandom(nonce, BOOT_NONCE, 0) == BOOT_NONCE ? 0 : -EIO;
}

uint32_t boot_ranks_text(const uint8_t *there, uint32_t world, char *out, size_t room,
			 uint32_t *first)
{
	uint32_t missing = 0, shown = 0, ranges = 0, r, end;
	size_t at = 0;

	out[0] = '\0';
	for (r = 0; r < world; r = end) {
		for (end = r; end < world && !there[end] == !there[r]; end++)
			;
		if (there[r])
			continue;
		if (!missing)
			*first = r;
		missing += end - r;
		if (ranges++ >= RANGES_MAX || at + 32 > room)
			continue;
		shown = missing;
		at += (size_t)snprintf(out + at, room - at, "%s%u", at ? ", " : "", r);
		if (end - r > 1)
			at += (size_t)snprintf(out + at, room - at, "-%u", end - 1);
	}
	if (shown < missing)
		snprintf(out + at, room - at, " and %u more", missing - shown);
	return missing;
}
