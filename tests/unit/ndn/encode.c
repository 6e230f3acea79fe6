// SPDX-License-Identifier: BSD-2-Clause
/* Encoding, signing, verifying, and keys from files. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/tap.h"
#include "ndn/packet/ndn.h"

static uint8_t buf[TRIB_NDN_PACKET_MAX];
static size_t len;

static struct ndn_name of(struct ndn_name_buf *b, const char *text)
{
	expect_eq(ndn_name_parse(b, text), NDN_OK);
	return ndn_name_of(b);
}

/* One key of each type; @verifiers[i] verifies what @signers[i] signed. */
static struct ndn_key signers[3], verifiers[3];

static void make_keys(void)
{
	static const uint8_t secret[NDN_KEY_SIZE] = {1, 2, 3};

	signers[0] = ndn_key_sha256;
	ndn_key_hmac(&signers[1], secret);
	ndn_key_ed25519(&signers[2], secret);
	of(&signers[1].name, "/ps/KEY/1");
	of(&signers[2].name, "/ps/KEY/2");
	memcpy(verifiers, signers, sizeof(signers));
	ndn_key_ed25519_public(&verifiers[2], signers[2].pub);
	verifiers[2].name = signers[2].name;
}

static struct ndn_bytes bytes(const char *text)
{
	return (struct ndn_bytes){(const uint8_t *)text, strlen(text)};
}

static void data__comes_back_as_it_went(void)
{
	struct ndn_name_buf nb;
	struct ndn_data d = {.name = of(&nb, "/ps/job/v=3/seg=0"),
			     .content_type = 7,
			     .has_freshness = true,
			     .freshness = 70000,
			     .has_final = true,
			     .final_block = {TRIB_NDN_SEGMENT, bytes("\x09")},
			     .has_content = true,
			     .content = bytes("gradient")};
	struct ndn_data got;

	for (int k = 0; k < 3; k++) {
		expect_eq(ndn_data_encode(&d, &signers[k], buf, sizeof(buf), &len), NDN_OK);
		expect_eq(ndn_data_decode(&got, buf, len), NDN_OK);
		expect(ndn_name_is_equal(&got.name, &d.name));
		expect_eq(got.content_type, 7);
		expect(got.has_freshness && got.freshness == 70000);
		expect(got.has_final && *got.final_block.value.p == 9);
		expect(got.content.n == 8 && !memcmp(got.content.p, "gradient", 8));
		expect_eq(got.sig.type, signers[k].type);
		expect_eq(got.sig.has_key, k > 0);
		expect_eq(ndn_data_verify(&got, &verifiers[k]), NDN_OK);
	}
}

static void data__least_is_exact(void)
{
	static const uint8_t head[] = {0x06, 0x2c, 0x07, 0x03, 0x08, 0x01, 'a',
				       0x16, 0x03, 0x1b, 0x01, 0x00, 0x17, 0x20};
	struct ndn_name_buf nb;
	struct ndn_data d = {.name = of(&nb, "/a")};

	expect_eq(ndn_data_encode(&d, NULL, buf, sizeof(buf), &len), NDN_OK);
	expect_eq(len, 46);
	expect(!memcmp(buf, head, sizeof(head)));
}

/* If any bit is flipped, decoding or verifying must fail. */
static void data__any_change_is_noticed(void)
{
	struct ndn_name_buf nb;
	struct ndn_data d = {.name = of(&nb, "/ps/job"),
			     .has_freshness = true,
			     .freshness = 1000,
			     .has_content = true,
			     .content = bytes("xyz")};
	struct ndn_data got;

	for (int k = 0; k < 3; k++) {
		expect_eq(ndn_data_encode(&d, &signers[k], buf, sizeof(buf), &len), NDN_OK);
		for (size_t bit = 0; bit < 8 * len; bit++) {
			buf[bit / 8] ^= 1 << bit % 8;
			if (!expect(ndn_data_decode(&got, buf, len) ||
				    ndn_data_verify(&got, &verifiers[k])))
				printf("# key %d, bit %zu\n", k, bit);
			buf[bit / 8] ^= 1 << bit % 8;
		}
	}
}

static void data__is_not_taken_for_another_keys(void)
{
	static const uint8_t other[NDN_KEY_SIZE] = {9};
	struct ndn_name_buf nb;
	struct ndn_data d = {.name = of(&nb, "/a")}, got;
	struct ndn_key wrong;

	for (int s = 0; s < 3; s++) {
		ndn_data_encode(&d, &signers[s], buf, sizeof(buf), &len);
		expect_eq(ndn_data_decode(&got, buf, len), NDN_OK);
		for (int v = 0; v < 3; v++)
			expect_eq(ndn_data_verify(&got, &verifiers[v]),
				  s == v ? NDN_OK : NDN_E_SIG_TYPE);
	}
	/*
	 * @got is signed by Ed25519 now. Verify with another key of the same
	 * name, then of another name.
	 */
	ndn_key_ed25519(&wrong, other);
	wrong.name = signers[2].name;
	expect_eq(ndn_data_verify(&got, &wrong), NDN_E_SIG);
	wrong = verifiers[2];
	of(&wrong.name, "/ps/KEY/2/more");
	expect_eq(ndn_data_verify(&got, &wrong), NDN_E_SIG_KEY);
	of(&wrong.name, "/ps/KEY");
	expect_eq(ndn_data_verify(&got, &wrong), NDN_OK);
	wrong.name.len = 0;
	expect_eq(ndn_data_verify(&got, &wrong), NDN_OK);
	/* The key has a name, but the packet no KeyLocator. */
	wrong = signers[1];
	wrong.name.len = 0;
	ndn_data_encode(&d, &wrong, buf, sizeof(buf), &len);
	expect_eq(ndn_data_decode(&got, buf, len), NDN_OK);
	expect_eq(ndn_data_verify(&got, &signers[1]), NDN_E_SIG_KEY);
	got.sig.value.n--;
	expect_eq(ndn_data_verify(&got, &wrong), NDN_E_SIG);
}

static struct ndn_interest full(struct ndn_name_buf *nb)
{
	static const uint8_t nonce[] = {5, 6, 7, 8};

	return (struct ndn_interest){.name = of(nb, "/insert/ps/job"),
				     .can_be_prefix = true,
				     .must_be_fresh = true,
				     .hint = {(const uint8_t *)"\x07\x03\x08\x01h", 5},
				     .has_nonce = true,
				     .nonce = 0xdeadbeef,
				     .has_lifetime = true,
				     .lifetime = 1000,
				     .has_hop_limit = true,
				     .hop_limit = 32,
				     .has_params = true,
				     .params = bytes("lease"),
				     .sig = {.nonce = {nonce, 4},
					     .has_time = true,
					     .time = 123456789012,
					     .has_seq = true,
					     .seq = 3}};
}

static void interest__comes_back_as_it_went(void)
{
	struct ndn_name_buf nb;
	struct ndn_interest i = full(&nb), got;
	struct ndn_name front;

	for (int k = -1; k < 3; k++) {
		expect_eq(
			ndn_interest_encode(&i, k < 0 ? NULL : &signers[k], buf, sizeof(buf), &len),
			NDN_OK);
		expect_eq(ndn_interest_decode(&got, buf, len), NDN_OK);
		front = ndn_name_slice(&got.name, 0, 3);
		expect(ndn_name_is_equal(&front, &i.name));
		expect_eq(got.name.count, 4);
		expect(got.can_be_prefix && got.must_be_fresh);
		expect_eq(got.hint.n, 5);
		expect_eq(got.nonce, 0xdeadbeef);
		expect_eq(got.lifetime, 1000);
		expect_eq(got.hop_limit, 32);
		expect_eq(got.params.n, 5);
		expect_eq(got.is_signed, k >= 0);
		expect_eq(ndn_interest_check_digest(&got), NDN_OK);
		if (k < 0) {
			expect_eq(ndn_interest_verify(&got, &signers[0]), NDN_E_UNSIGNED);
			continue;
		}
		expect(got.sig.has_time && got.sig.time == i.sig.time);
		expect(got.sig.has_seq && got.sig.seq == 3);
		expect_eq(got.sig.nonce.n, 4);
		expect_eq(ndn_interest_verify(&got, &verifiers[k]), NDN_OK);
	}
}

/* Routers may change fields that neither digest nor signature covers. */
static bool is_guide(const struct ndn_interest *i, const uint8_t *p)
{
	return p >= i->name.value + i->name.len && p < i->digested.p;
}

static void interest__any_change_is_noticed(void)
{
	struct ndn_name_buf nb;
	struct ndn_interest i = full(&nb), good, got;

	for (int k = 0; k < 3; k++) {
		ndn_interest_encode(&i, &signers[k], buf, sizeof(buf), &len);
		expect_eq(ndn_interest_decode(&good, buf, len), NDN_OK);
		for (size_t bit = 0; bit < 8 * len; bit++) {
			if (is_guide(&good, buf + bit / 8))
				continue;
			buf[bit / 8] ^= 1 << bit % 8;
			if (!expect(ndn_interest_decode(&got, buf, len) ||
				    ndn_interest_verify(&got, &verifiers[k])))
				printf("# key %d, bit %zu\n", k, bit);
			buf[bit / 8] ^= 1 << bit % 8;
		}
	}
}

static void interest__digest_keeps_its_place(void)
{
	struct ndn_name_buf nb;
	struct ndn_interest i = {.name = of(&nb, "/a"), .has_params = true};
	struct ndn_interest got;
	uint8_t first[200];
	size_t n;

	expect_eq(ndn_interest_encode(&i, NULL, first, sizeof(first), &n), NDN_OK);
	expect_eq(ndn_interest_decode(&got, first, n), NDN_OK);
	/* Encoding the decoded Interest gives the same bytes. */
	expect_eq(ndn_interest_encode(&got, NULL, buf, sizeof(buf), &len), NDN_OK);
	expect(len == n && !memcmp(buf, first, n));
	expect_eq(ndn_name_copy(&nb, &got.name), NDN_OK);
	expect_eq(ndn_name_append(&nb, TRIB_NDN_GENERIC, "b", 1), NDN_OK);
	i.name = ndn_name_of(&nb);
	expect_eq(ndn_interest_encode(&i, NULL, buf, sizeof(buf), &len), NDN_OK);
	expect_eq(ndn_interest_decode(&got, buf, len), NDN_OK);
	expect_eq(got.name.count, 3);
	expect_eq(ndn_interest_check_digest(&got), NDN_OK);
	/* A signature cannot cover bytes behind the digest. */
	expect_eq(ndn_interest_encode(&i, &signers[0], buf, sizeof(buf), &len), NDN_E_DIGEST_PLACE);
	i.has_params = false;
	expect_eq(ndn_interest_encode(&i, NULL, buf, sizeof(buf), &len), NDN_E_PARAMS);
}

static void encode__needs_room_and_sense(void)
{
	struct ndn_name_buf nb;
	struct ndn_interest i = full(&nb);
	struct ndn_data d = {.name = i.name, .has_content = true};
	static const uint8_t big[TRIB_NDN_PACKET_MAX];
	static uint8_t more[2 * TRIB_NDN_PACKET_MAX];
	size_t need;

	expect_eq(ndn_interest_encode(&i, &signers[2], buf, sizeof(buf), &need), NDN_OK);
	for (size_t n = 0; n < need; n++)
		expect_eq(ndn_interest_encode(&i, &signers[2], more, n, &len), NDN_E_SPACE);
	expect_eq(ndn_interest_encode(&i, &signers[2], more, need, &len), NDN_OK);
	expect(len == need && !memcmp(more, buf, need));
	d.content = (struct ndn_bytes){big, sizeof(big)};
	expect_eq(ndn_data_encode(&d, NULL, more, sizeof(more), &len), NDN_E_LONG);
	d.content.n = 0;
	expect_eq(ndn_data_encode(&d, &verifiers[2], buf, sizeof(buf), &len), NDN_E_KEY_PUBLIC);
	d.name = of(&nb, "/");
	expect_eq(ndn_data_encode(&d, NULL, buf, sizeof(buf), &len), NDN_E_NAME_EMPTY);
	i.name = d.name;
	i.has_params = false;
	expect_eq(ndn_interest_encode(&i, NULL, buf, sizeof(buf), &len), NDN_E_NAME_EMPTY);
}

static void lp__comes_back_as_it_went(void)
{
	static const uint8_t token[] = {1, 2, 3};
	struct ndn_lp lp = {.is_nack = true,
			    .nack_reason = TRIB_NDN_NACK_NO_ROUTE,
			    .pit_token = {token, 3},
			    .congestion = 1};
	struct ndn_name_buf nb;
	struct ndn_interest i = full(&nb);
	struct ndn_packet pkt;
	uint8_t inner[300];
	size_t n;

	ndn_interest_encode(&i, NULL, inner, sizeof(inner), &n);
	expect_eq(ndn_lp_encode(&lp, (struct ndn_bytes){inner, n}, buf, sizeof(buf), &len), NDN_OK);
	expect_eq(ndn_packet_decode(&pkt, buf, len), NDN_OK);
	expect(pkt.lp.is_nack && pkt.lp.nack_reason == lp.nack_reason);
	expect(pkt.lp.pit_token.n == 3 && *pkt.lp.pit_token.p == 1);
	expect_eq(pkt.lp.congestion, 1);
	expect(pkt.interest.wire.n == n && !memcmp(pkt.interest.wire.p, inner, n));
	expect_eq(ndn_lp_encode(&lp, (struct ndn_bytes){0}, buf, sizeof(buf), &len),
		  NDN_E_LP_EMPTY);
	lp.pit_token.n = 33;
	expect_eq(ndn_lp_encode(&lp, (struct ndn_bytes){inner, n}, buf, sizeof(buf), &len),
		  NDN_E_SIZE);
}

#define HEX "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static enum ndn_err read_key(struct ndn_key *key, const char *text, mode_t mode)
{
	char path[] = "/tmp/unit_ndn.XXXXXX";
	int fd = mkstemp(path);
	enum ndn_err err;

	expect(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	fchmod(fd, mode);
	close(fd);
	err = ndn_key_read(key, path);
	unlink(path);
	return err;
}

static void key__is_read_from_its_file(void)
{
	struct ndn_key key, same;
	struct ndn_name_buf nb;
	struct ndn_name want = of(&nb, "/ps/KEY/1"), name;

	expect_eq(read_key(&key, "# ours\n\nhmac /ps/KEY/1 " HEX "\n", 0600), NDN_OK);
	expect_eq(key.type, TRIB_NDN_SIG_HMAC);
	expect(key.has_secret && key.secret[31] == 0x1f);
	name = ndn_name_of(&key.name);
	expect(ndn_name_is_equal(&name, &want));
	expect_eq(read_key(&key, "ed25519\t/ " HEX, 0400), NDN_OK);
	ndn_key_ed25519(&same, key.secret);
	expect(!memcmp(same.pub, key.pub, NDN_KEY_SIZE));
	expect_eq(key.name.len, 0);
	expect_eq(read_key(&key, "ed25519-public /k " HEX, 0644), NDN_OK);
	expect(!key.has_secret && key.pub[1] == 1);
}

static void key__bad_files_are_refused(void)
{
	static const char *const bad[] = {"",
					  "hmac /k",
					  "hmac /k " HEX "00",
					  "hmac /k 00",
					  "hmac /k " HEX " more",
					  "hmac /k " HEX "\nhmac /l " HEX,
					  "rsa /k " HEX,
					  "hmac /k x" HEX};
	struct ndn_key key;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!expect(read_key(&key, bad[i], 0600) == NDN_E_KEY_TEXT))
			printf("# %s\n", bad[i]);
	expect(!key.has_secret);
	expect_eq(read_key(&key, "hmac k " HEX, 0600), NDN_E_TEXT);
	expect_eq(read_key(&key, "hmac /k " HEX, 0640), NDN_E_KEY_MODE);
	expect_eq(read_key(&key, "ed25519 /k " HEX, 0604), NDN_E_KEY_MODE);
	expect_eq(ndn_key_read(&key, "/nowhere/key"), NDN_E_KEY_FILE);
	expect_eq(ndn_key_read(&key, "/tmp"), NDN_E_KEY_FILE);
}

int main(void)
{
	make_keys();
	run(data__comes_back_as_it_went);
	run(data__least_is_exact);
	run(data__any_change_is_noticed);
	run(data__is_not_taken_for_another_keys);
	run(interest__comes_back_as_it_went);
	run(interest__any_change_is_noticed);
	run(interest__digest_keeps_its_place);
	run(encode__needs_room_and_sense);
	run(lp__comes_back_as_it_went);
	run(key__is_read_from_its_file);
	run(key__bad_files_are_refused);
	return tap_done();
}
