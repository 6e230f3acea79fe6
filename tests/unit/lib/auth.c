// SPDX-License-Identifier: BSD-2-Clause
/* uapi/trib_auth.h: the hash by its authors' vectors, keys, and numbers. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tests/lib/tap.h"
#include "uapi/trib_auth.h"

/* SipHash-2-4 of 0, 1, ... (the length), with the key 0, 1, ... 15. */
static const __u64 vectors[64] = {
	0x726fdb47dd0e0e31ULL, 0x74f839c593dc67fdULL, 0x0d6c8009d9a94f5aULL, 0x85676696d7fb7e2dULL,
	0xcf2794e0277187b7ULL, 0x18765564cd99a68dULL, 0xcbc9466e58fee3ceULL, 0xab0200f58b01d137ULL,
	0x93f5f5799a932462ULL, 0x9e0082df0ba9e4b0ULL, 0x7a5dbbc594ddb9f3ULL, 0xf4b32f46226bada7ULL,
	0x751e8fbc860ee5fbULL, 0x14ea5627c0843d90ULL, 0xf723ca908e7af2eeULL, 0xa129ca6149be45e5ULL,
	0x3f2acc7f57c29bdbULL, 0x699ae9f52cbe4794ULL, 0x4bc1b3f0968dd39cULL, 0xbb6dc91da77961bdULL,
	0xbed65cf21aa2ee98ULL, 0xd0f2cbb02e3b67c7ULL, 0x93536795e3a33e88ULL, 0xa80c038ccd5ccec8ULL,
	0xb8ad50c6f649af94ULL, 0xbce192de8a85b8eaULL, 0x17d835b85bbb15f3ULL, 0x2f2e6163076bcfadULL,
	0xde4daaaca71dc9a5ULL, 0xa6a2506687956571ULL, 0xad87a3535c49ef28ULL, 0x32d892fad841c342ULL,
	0x7127512f72f27cceULL, 0xa7f32346f95978e3ULL, 0x12e0b01abb051238ULL, 0x15e034d40fa197aeULL,
	0x314dffbe0815a3b4ULL, 0x027990f029623981ULL, 0xcadcd4e59ef40c4dULL, 0x9abfd8766a33735cULL,
	0x0e3ea96b5304a7d0ULL, 0xad0c42d6fc585992ULL, 0x187306c89bc215a9ULL, 0xd4a60abcf3792b95ULL,
	0xf935451de4f21df2ULL, 0xa9538f0419755787ULL, 0xdb9acddff56ca510ULL, 0xd06c98cd5c0975ebULL,
	0xe612a3cb9ecba951ULL, 0xc766e62cfcadaf96ULL, 0xee64435a9752fe72ULL, 0xa192d576b245165aULL,
	0x0a8787bf8ecb74b2ULL, 0x81b3e73d20b49b6fULL, 0x7fa8220ba3b2eceaULL, 0x245731c13ca42499ULL,
	0xb78dbfaf3a8d83bdULL, 0xea1ad565322a1a0bULL, 0x60e61c23a3795013ULL, 0x6606d7e446282b93ULL,
	0x6ca4ecb15c5f91e1ULL, 0x9f626da15c9625f3ULL, 0xe51b38608ef25f57ULL, 0x958a324ceb064572ULL,
};

static struct trib_key counting(void)
{
	struct trib_key key;
	int i;

	for (i = 0; i < 16; i++)
		key.b[i] = (__u8)i;
	return key;
}

static void sip__is_that_of_its_authors(void)
{
	struct trib_key key = counting();
	struct trib_sip s;
	__u8 text[64];
	__u64 last;
	int n, i;

	for (i = 0; i < 64; i++)
		text[i] = (__u8)i;
	for (n = 0; n < 64; n++) {
		trib_sip_init(&s, &key);
		for (i = 0; i + 8 <= n; i += 8)
			trib_sip_word(&s, trib_sip_load(text + i));
		for (last = (__u64)n << 56; i < n; i++)
			last |= (__u64)text[i] << i % 8 * 8;
		expect_eq(trib_sip_end(&s, last), vectors[n]);
	}
}

static void has(const struct trib_key *key, const char *want)
{
	char text[TRIB_KEY_HEX + 1];

	if (!expect(!strcmp(text_key_put(key, text), want)))
		printf("# %s\n", text);
}

/* tests/netns/lib/keys.py derives the same: nothing here may change by accident. */
static void key__derivation_is_fixed(void)
{
	struct trib_key job = counting(), key;
	__u8 addr[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
	__be64 secret;

	trib_key_up(&key, &job, 7, 3);
	has(&key, "c9273352e53c537f1099dd3a900d076d");
	secret = trib_key_secret(&key);
	expect(!memcmp(&secret, (__u8[]){0xbc, 0xf8, 0xb8, 0xb9, 0x50, 0x58, 0x08, 0xd1}, 8));
	trib_key_down(&key, &job, 7);
	has(&key, "3f69fcb1fbd1c5eea7c397eb2f5c23cf");
	trib_key_node(&key, &key, addr);
	has(&key, "e687185ffd240b4d1df5191d98ba6ab4");
}

/* No two of a job's secrets are the same. */
static void key__each_is_another(void)
{
	struct trib_key job = counting(), keys[3 * 3 * 2 + 2];
	__u8 addr[16] = {0};
	unsigned int n = 0, i, k;
	__u16 tree, rank;

	for (tree = 0; tree < 3; tree++) {
		for (rank = 0; rank < 3; rank++)
			trib_key_up(&keys[n++], &job, tree, rank);
		trib_key_up(&keys[n++], &job, tree, 0xffff);
		trib_key_down(&keys[n++], &job, tree);
		trib_key_node(&keys[n], &keys[n - 1], addr);
		n++;
	}
	trib_key_members(&keys[n++], &job);
	trib_key_rank(&keys[n++], &job, 1);
	for (i = 0; i < n; i++)
		for (k = 0; k < i; k++)
			expect(memcmp(&keys[i], &keys[k], sizeof(job)) &&
			       trib_key_secret(&keys[i]) != trib_key_secret(&keys[k]));
}

static void auth__covers_every_byte(void)
{
	struct trib_key key = counting();
	struct {
		struct trib_hdr h;
		__u8 body[16];
	} p = {.h = {.version = 1}};
	__u8 *bytes = (__u8 *)&p;
	__be64 auth = trib_auth(&key, &p.h, p.body, 16);
	unsigned int i;

	for (i = 0; i < sizeof(p); i++) {
		bytes[i] ^= 1;
		/* All but the field itself. */
		expect((trib_auth(&key, &p.h, p.body, 16) != auth) == (i < 32 || i >= 40));
		bytes[i] ^= 1;
	}
	expect(trib_auth(&key, &p.h, p.body, 8) != auth);
	key.b[15] ^= 1;
	expect(trib_auth(&key, &p.h, p.body, 16) != auth);
}

static void replay__takes_each_number_once(void)
{
	struct trib_replay r = {0};
	__u32 i;

	expect(trib_replay_take(&r, 5, 100));
	expect(!trib_replay_take(&r, 5, 100));
	for (i = 163; i > 100; i--)
		expect(trib_replay_take(&r, 5, i));
	for (i = 163; i > 99; i--)
		expect(!trib_replay_take(&r, 5, i));
	expect(!trib_replay_take(&r, 5, 50)); /* older than the newest 64 */
	expect(trib_replay_take(&r, 5, 164 + 64));
	expect(trib_replay_take(&r, 5, 164 + 1));
	expect(!trib_replay_take(&r, 5, 164));
	expect(trib_replay_take(&r, 5, TRIB_REPLAY_TRIBD));
	expect(!trib_replay_take(&r, 5, 300));
}

static void replay__counts_anew_in_each_epoch(void)
{
	struct trib_replay r = {0};

	expect(trib_replay_take(&r, 5, 100));
	expect(trib_replay_take(&r, 6, 1));
	expect(!trib_replay_take(&r, 6, 1));
	expect(trib_replay_take(&r, 6, 2));
}

static void replay__numbers_wrap(void)
{
	struct trib_replay r = {0};

	expect(trib_replay_take(&r, 5, 0xfffffff0));
	expect(trib_replay_take(&r, 5, 5));
	expect(!trib_replay_take(&r, 5, 0xfffffff0));
	expect(trib_replay_take(&r, 5, 0xfffffff1));
}

int main(void)
{
	run(sip__is_that_of_its_authors);
	run(key__derivation_is_fixed);
	run(key__each_is_another);
	run(auth__covers_every_byte);
	run(replay__takes_each_number_once);
	run(replay__counts_anew_in_each_epoch);
	run(replay__numbers_wrap);
	return tap_done();
}
