// SPDX-License-Identifier: BSD-2-Clause
/*
 * Signatures with libsodium: DigestSha256, HMAC-SHA256 and Ed25519. Values derived
 * from secrets are compared in constant time.
 */
#include <sodium.h>
#include <string.h>

#include "sign.h"

size_t ndn_sig_size(uint32_t type)
{
	switch (type) {
	case TRIB_NDN_SIG_SHA256:
		return crypto_hash_sha256_BYTES;
	case TRIB_NDN_SIG_HMAC:
		return crypto_auth_hmacsha256_BYTES;
	case TRIB_NDN_SIG_ED25519:
		return crypto_sign_BYTES;
	}
	return 0;
}

void ndn_sig_sha256(const struct ndn_bytes covered[2], uint8_t out[TRIB_NDN_DIGEST_SIZE])
{
	crypto_hash_sha256_state st;

	crypto_hash_sha256_init(&st);
	for (int i = 0; i < 2; i++)
		crypto_hash_sha256_update(&st, covered[i].p, covered[i].n);
	crypto_hash_sha256_final(&st, out);
}

static void hmac(const struct ndn_key *key, const struct ndn_bytes covered[2], uint8_t *out)
{
	crypto_auth_hmacsha256_state st;

	crypto_auth_hmacsha256_init(&st, key->secret, sizeof(key->secret));
	for (int i = 0; i < 2; i++)
		crypto_auth_hmacsha256_update(&st, covered[i].p, covered[i].n);
	crypto_auth_hmacsha256_final(&st, out);
	sodium_memzero(&st, sizeof(st));
}

/* Ed25519 needs its message in one piece. */
static struct ndn_bytes join(const struct ndn_bytes covered[2], uint8_t room[TRIB_NDN_PACKET_MAX])
{
	size_t n = covered[0].n;

	if (!covered[1].n || n + covered[1].n > TRIB_NDN_PACKET_MAX)
		return covered[0];
	memcpy(room, covered[0].p, n);
	memcpy(room + n, covered[1].p, covered[1].n);
	return (struct ndn_bytes){room, n + covered[1].n};
}

static void ed25519_make(const struct ndn_key *key, const struct ndn_bytes covered[2], uint8_t *out)
{
	uint8_t room[TRIB_NDN_PACKET_MAX], pair[crypto_sign_SECRETKEYBYTES];
	struct ndn_bytes m = join(covered, room);

	memcpy(pair, key->secret, NDN_KEY_SIZE);
	memcpy(pair + NDN_KEY_SIZE, key->pub, NDN_KEY_SIZE);
	crypto_sign_detached(out, NULL, m.p, m.n, pair);
	sodium_memzero(pair, sizeof(pair));
}

enum ndn_err ndn_sig_make(const struct ndn_key *key, const struct ndn_bytes covered[2],
			  uint8_t *out)
{
	if (!key->has_secret)
		return NDN_E_KEY_PUBLIC;
	switch (key->type) {
	case TRIB_NDN_SIG_SHA256:
		ndn_sig_sha256(covered, out);
		return NDN_OK;
	case TRIB_NDN_SIG_HMAC:
		hmac(key, covered, out);
		return NDN_OK;
	case TRIB_NDN_SIG_ED25519:
		ed25519_make(key, covered, out);
		return NDN_OK;
	}
	return NDN_E_SIG_TYPE;
}

static bool ed25519_is_right(const struct ndn_key *key, const struct ndn_sig *sig)
{
	uint8_t room[TRIB_NDN_PACKET_MAX];
	struct ndn_bytes m = join(sig->covered, room);

	return !crypto_sign_verify_detached(sig->value.p, m.p, m.n, key->pub);
}

/* Verify DigestSha256 or HMAC: compute the signature again and compare. */
static bool is_same_again(const struct ndn_key *key, const struct ndn_sig *sig)
{
	uint8_t again[TRIB_NDN_DIGEST_SIZE];

	return !ndn_sig_make(key, sig->covered, again) &&
	       !sodium_memcmp(again, sig->value.p, sizeof(again));
}

static bool is_of_key(const struct ndn_sig *sig, const struct ndn_key *key)
{
	struct ndn_name name = ndn_name_of(&key->name);

	return !name.count || (sig->has_key && ndn_name_is_prefix(&name, &sig->key));
}

static enum ndn_err verify(const struct ndn_sig *sig, const struct ndn_key *key)
{
	bool good;

	if (sig->type != key->type || !ndn_sig_size(key->type))
		return NDN_E_SIG_TYPE;
	if (!is_of_key(sig, key))
		return NDN_E_SIG_KEY;
	if (sig->value.n != ndn_sig_size(key->type))
		return NDN_E_SIG;
	if (key->type == TRIB_NDN_SIG_ED25519)
		good = ed25519_is_right(key, sig);
	else
		good = is_same_again(key, sig);
	return good ? NDN_OK : NDN_E_SIG;
}

enum ndn_err ndn_data_verify(const struct ndn_data *d, const struct ndn_key *key)
{
	return verify(&d->sig, key);
}

enum ndn_err ndn_interest_check_digest(const struct ndn_interest *i)
{
	const struct ndn_bytes covered[2] = {i->digested};
	uint8_t digest[TRIB_NDN_DIGEST_SIZE];
	struct ndn_component c;

	if (!i->has_params)
		return NDN_OK;
	ndn_sig_sha256(covered, digest);
	for (unsigned int at = 0; at < i->name.count; at++) {
		c = ndn_name_get(&i->name, at);
		if (c.type == TRIB_NDN_PARAMS_DIGEST)
			return sodium_memcmp(digest, c.value.p, sizeof(digest)) ? NDN_E_DIGEST
										: NDN_OK;
	}
	return NDN_E_PARAMS;
}

enum ndn_err ndn_interest_verify(const struct ndn_interest *i, const struct ndn_key *key)
{
	enum ndn_err err;

	if (!i->is_signed)
		return NDN_E_UNSIGNED;
	err = ndn_interest_check_digest(i);
	return err ? err : verify(&i->sig, key);
}

void ndn_data_digest(const struct ndn_data *d, uint8_t digest[TRIB_NDN_DIGEST_SIZE])
{
	const struct ndn_bytes covered[2] = {d->wire};

	ndn_sig_sha256(covered, digest);
}
