// SPDX-License-Identifier: BSD-2-Clause
/* VAR-NUMBERs, numbers, and which elements may be skipped. */
#include <string.h>

#include "tests/lib/tap.h"
#include "ndn/packet/tlv.h"

static enum ndn_err varnum(const char *bytes, size_t n, uint64_t *num)
{
	const uint8_t *p = (const uint8_t *)bytes, *end = p + n;
	enum ndn_err err = ndn_tlv_varnum(&p, end, num);

	if (!err)
		expect(p == end);
	return err;
}

static void varnum__is_read_in_each_form(void)
{
	uint64_t v;

	expect_eq(varnum("\xfc", 1, &v), NDN_OK);
	expect_eq(v, 252);
	expect_eq(varnum("\xfd\x00\xfd", 3, &v), NDN_OK);
	expect_eq(v, 253);
	expect_eq(varnum("\xfe\x00\x01\x00\x00", 5, &v), NDN_OK);
	expect_eq(v, 65536);
	expect_eq(varnum("\xff\0\0\0\x01\0\0\0\0", 9, &v), NDN_OK);
	expect_eq(v, 1LL << 32);
}

static void varnum__must_be_shortest(void)
{
	uint64_t v;

	expect_eq(varnum("\xfd\x00\xfc", 3, &v), NDN_E_VARNUM);
	expect_eq(varnum("\xfe\x00\x00\xff\xff", 5, &v), NDN_E_VARNUM);
	expect_eq(varnum("\xff\0\0\0\0\xff\xff\xff\xff", 9, &v), NDN_E_VARNUM);
}

static void varnum__must_be_whole(void)
{
	static const char *const forms[] = {"\xfd\x01\x00", "\xfe\x01\0\0\0",
					    "\xff\x01\0\0\0\0\0\0\0"};
	uint64_t v;

	expect_eq(varnum("", 0, &v), NDN_E_CUT);
	for (int i = 0; i < 3; i++)
		for (size_t n = 1; n < 1u + (2u << i); n++)
			expect_eq(varnum(forms[i], n, &v), NDN_E_CUT);
}

static void varnum__is_written_as_it_is_read(void)
{
	static const uint64_t nums[] = {0,     252,	   253,	      65535,
					65536, UINT32_MAX, 1LL << 32, UINT64_MAX};
	uint8_t buf[16];
	struct ndn_tlv_writer w;
	uint64_t v;

	for (size_t i = 0; i < sizeof(nums) / sizeof(nums[0]); i++) {
		ndn_tlv_writer_begin(&w, buf, sizeof(buf));
		ndn_tlv_put_varnum(&w, nums[i]);
		expect_eq(w.err, NDN_OK);
		expect_eq(varnum((char *)w.p, w.end - w.p, &v), NDN_OK);
		expect(v == nums[i]);
	}
}

static void number__has_1_2_4_or_8_bytes(void)
{
	static const uint8_t bytes[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	uint64_t v;

	for (size_t n = 0; n <= 9; n++) {
		bool good = n == 1 || n == 2 || n == 4 || n == 8;
		struct ndn_bytes b = {bytes, n};

		expect_eq(ndn_tlv_number(b, &v), good ? NDN_OK : NDN_E_NUMBER);
	}
	expect_eq(ndn_tlv_number((struct ndn_bytes){bytes, 4}, &v), NDN_OK);
	expect_eq(v, 0x01020304);
}

static enum ndn_err read_one(const char *bytes, size_t n)
{
	const uint8_t *p = (const uint8_t *)bytes;
	struct ndn_tlv t;

	return ndn_tlv_read(&p, p + n, &t);
}

static void element__is_refused_when_wrong(void)
{
	expect_eq(read_one("\x08\x01x", 3), NDN_OK);
	expect_eq(read_one("\x00\x01x", 3), NDN_E_TYPE_ZERO);
	expect_eq(read_one("\x08\x02x", 3), NDN_E_BEYOND);
	expect_eq(read_one("\x08", 1), NDN_E_CUT);
	expect_eq(read_one("\xff\0\0\0\x01\0\0\0\0\0", 10), NDN_E_TYPE_BIG);
	/* A length that would wrap around a pointer. */
	expect_eq(read_one("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10), NDN_E_BEYOND);
}

/*
 * Read empty elements of these types; @found gets the position of each known
 * one.
 */
static enum ndn_err places(const uint8_t *types, size_t n, char *found)
{
	static const uint16_t order[] = {0x18, 0x40, 0x41};
	uint8_t bytes[100];
	unsigned int place;
	struct ndn_tlv_walk w;
	enum ndn_err err;
	struct ndn_tlv t;

	for (size_t i = 0; i < n; i++) {
		bytes[2 * i] = types[i];
		bytes[2 * i + 1] = 0;
	}
	ndn_tlv_walk_begin(&w, (struct ndn_bytes){bytes, 2 * n});
	for (;;) {
		err = ndn_tlv_walk_known(&w, order, 3, &t, &place);
		*found = 0;
		if (err || place == 3)
			return err;
		*found++ = '0' + place;
	}
}

#define PLACES(found, ...)                                                                         \
	places((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), found)

static void walk__skips_only_what_is_not_critical(void)
{
	char found[64];

	expect_eq(PLACES(found, 0x18, 0x40, 0x41), NDN_OK);
	expect(!strcmp(found, "012"));
	expect_eq(PLACES(found, 0x42, 0x18, 0x20, 0x41, 0xfc), NDN_OK);
	expect(!strcmp(found, "02"));
	expect_eq(PLACES(found, 0x18, 0x43), NDN_E_CRITICAL);
	/* 0x1e is even, but types below 32 are always critical. */
	expect_eq(PLACES(found, 0x1e), NDN_E_CRITICAL);
}

static void walk__takes_what_is_out_of_order_as_unknown(void)
{
	char found[64];

	/* A repeated or misplaced element is skipped unless it is critical. */
	expect_eq(PLACES(found, 0x40, 0x40, 0x41), NDN_OK);
	expect(!strcmp(found, "12"));
	expect_eq(PLACES(found, 0x41, 0x40), NDN_OK);
	expect(!strcmp(found, "2"));
	expect_eq(PLACES(found, 0x41, 0x41), NDN_E_ORDER);
	expect_eq(PLACES(found, 0x40, 0x18), NDN_E_ORDER);
}

static void walk__is_bounded(void)
{
	uint8_t many[TRIB_NDN_ELEMENTS_MAX + 1];
	char found[64];

	memset(many, 0x42, sizeof(many));
	expect_eq(places(many, sizeof(many) - 1, found), NDN_OK);
	expect_eq(places(many, sizeof(many), found), NDN_E_ELEMENTS);
}

static void err__has_a_text_for_each_number(void)
{
	const char *unknown = ndn_err_text(NDN_E__MAX);

	for (int i = 0; i < NDN_E__MAX; i++) {
		if (!expect(ndn_err_text(i) != unknown))
			printf("# %d has none\n", i);
	}
}

int main(void)
{
	run(varnum__is_read_in_each_form);
	run(varnum__must_be_shortest);
	run(varnum__must_be_whole);
	run(varnum__is_written_as_it_is_read);
	run(number__has_1_2_4_or_8_bytes);
	run(element__is_refused_when_wrong);
	run(walk__skips_only_what_is_not_critical);
	run(walk__takes_what_is_out_of_order_as_unknown);
	run(walk__is_bounded);
	run(err__has_a_text_for_each_number);
	return tap_done();
}
