// SPDX-License-Identifier: BSD-2-Clause
/* Makes keys from bytes, or reads them from a file. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ndn.h"

const struct ndn_key ndn_key_sha256 = {
	.type = TRIB_NDN_SIG_SHA256,
	.has_secret = true,
};

void ndn_key_hmac(struct ndn_key *key, const uint8_t secret[NDN_KEY_SIZE])
{
	memset(key, 0, sizeof(*key));
	key->type = TRIB_NDN_SIG_HMAC;
	key->has_secret = true;
	memcpy(key->secret, secret, NDN_KEY_SIZE);
}

void ndn_key_ed25519(struct ndn_key *key, const uint8_t seed[NDN_KEY_SIZE])
{
	uint8_t pair[crypto_sign_SECRETKEYBYTES];

	memset(key, 0, sizeof(*key));
	key->type = TRIB_NDN_SIG_ED25519;
	key->has_secret = true;
	memcpy(key->secret, seed, NDN_KEY_SIZE);
	crypto_sign_seed_keypair(key->pub, pair, seed);
	sodium_memzero(pair, sizeof(pair));
}

void ndn_key_ed25519_public(struct ndn_key *key, const uint8_t pub[NDN_KEY_SIZE])
{
	memset(key, 0, sizeof(*key));
	key->type = TRIB_NDN_SIG_ED25519;
	memcpy(key->pub, pub, NDN_KEY_SIZE);
}

void ndn_key_wipe(struct ndn_key *key)
{
	sodium_memzero(key, sizeof(*key));
}

static const struct {
	const char *text;
	void (*make)(struct ndn_key *key, const uint8_t bytes[NDN_KEY_SIZE]);
	bool is_secret;
} kinds[] = {
	{"hmac", ndn_key_hmac, true},
	{"ed25519", ndn_key_ed25519, true},
	{"ed25519-public", ndn_key_ed25519_public, false},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Parse TYPE NAME HEX. Overwrites @line. */
static enum ndn_err read_line(struct ndn_key *key, char *line, mode_t mode)
{
	static const char blank[] = " \t\r\n";
	uint8_t bytes[NDN_KEY_SIZE];
	char *type, *name, *hex, *rest = NULL;
	struct ndn_name_buf buf;
	enum ndn_err err;
	unsigned int i;
	size_t n;

	type = strtok_r(line, blank, &rest);
	name = strtok_r(NULL, blank, &rest);
	hex = strtok_r(NULL, blank, &rest);
	if (!hex || strtok_r(NULL, blank, &rest))
		return NDN_E_KEY_TEXT;
	for (i = 0; i < KINDS && strcmp(kinds[i].text, type); i++)
		;
	if (i == KINDS)
		return NDN_E_KEY_TEXT;
	if (kinds[i].is_secret && (mode & (S_IRWXG | S_IRWXO)))
		return NDN_E_KEY_MODE;
	err = ndn_name_parse(&buf, name);
	if (err)
		return err;
	if (strlen(hex) != 2 * sizeof(bytes) ||
	    sodium_hex2bin(bytes, sizeof(bytes), hex, strlen(hex), NULL, &n, NULL) ||
	    n != sizeof(bytes))
		return NDN_E_KEY_TEXT;
	kinds[i].make(key, bytes);
	key->name = buf;
	sodium_memzero(bytes, sizeof(bytes));
	return NDN_OK;
}

static enum ndn_err read_file(struct ndn_key *key, FILE *f, mode_t mode)
{
	char line[NDN_NAME_TEXT_MAX + 128];
	enum ndn_err err = NDN_E_KEY_TEXT;
	bool found = false;

	/* A buffer in @f would keep a copy of the secret. */
	setvbuf(f, NULL, _IONBF, 0);
	while (fgets(line, sizeof(line), f)) {
		if (line[strspn(line, " \t\r\n")] == 0 || *line == '#')
			continue;
		err = found ? NDN_E_KEY_TEXT : read_line(key, line, mode);
		found = true;
		if (err)
			break;
	}
	sodium_memzero(line, sizeof(line));
	return ferror(f) ? NDN_E_KEY_FILE : err;
}

enum ndn_err ndn_key_read(struct ndn_key *key, const char *path)
{
	enum ndn_err err = NDN_E_KEY_FILE;
	struct stat st;
	FILE *f;

	f = fopen(path, "re");
	if (!f)
		return err;
	if (!fstat(fileno(f), &st))
		err = read_file(key, f, st.st_mode);
	fclose(f);
	if (err)
		ndn_key_wipe(key);
	return err;
}
