// SPDX-License-Identifier: BSD-2-Clause
/* Names: wire format, text, order, appending. */
#include <string.h>

#include "tests/lib/tap.h"
#include "ndn/packet/ndn.h"

static enum ndn_err decode(const char *bytes, size_t n)
{
	struct ndn_name name;

	return ndn_name_decode(&name, (const uint8_t *)bytes, n);
}

/* Check that @text parses to these bytes, and that these bytes print as @text. */
static void same(const char *text, const char *bytes, size_t n)
{
	char again[NDN_NAME_TEXT_MAX];
	struct ndn_name_buf buf;
	struct ndn_name name;

	expect_eq(ndn_name_parse(&buf, text), NDN_OK);
	if (!expect(buf.len == n && !memcmp(buf.bytes, bytes, n)))
		printf("# %s\n", text);
	name = ndn_name_of(&buf);
	expect_eq(ndn_name_text(&name, again, sizeof(again)), NDN_OK);
	if (!expect(!strcmp(again, text)))
		printf("# %s became %s\n", text, again);
}
#define SAME(text, bytes) same(text, bytes, sizeof(bytes) - 1)

static void name__bounds_bytes_and_components(void)
{
	char bytes[TRIB_NDN_NAME_MAX + 1] = {8, 0xfd, 0, 0xfd};

	for (size_t n = 1; n <= TRIB_NDN_COMPONENTS_MAX; n++)
		expect_eq(decode("\x08\0\x08\0\x08\0\x08\0\x08\0\x08\0\x08\0"
				 "\x08\0\x08\0\x08\0\x08\0\x08\0\x08\0\x08\0"
				 "\x08\0\x08\0\x08\0",
				 2 * n),
			  NDN_OK);
	expect_eq(decode("\x08\0\x08\0\x08\0\x08\0\x08\0\x08\0\x08\0"
			 "\x08\0\x08\0\x08\0\x08\0\x08\0\x08\0\x08\0"
			 "\x08\0\x08\0\x08\0",
			 2 * 17),
		  NDN_E_NAME_DEEP);
	expect_eq(decode(bytes, sizeof(bytes)), NDN_E_NAME_LONG);
	bytes[1] = 250;
	bytes[252] = 8;
	bytes[253] = 1;
	expect_eq(decode(bytes, TRIB_NDN_NAME_MAX), NDN_OK);
}

static void name__refuses_bad_components(void)
{
	expect_eq(decode("\x00\x00", 2), NDN_E_TYPE_ZERO);
	expect_eq(decode("\x08\x02x", 3), NDN_E_BEYOND);
	expect_eq(decode("\xfd\xff\xff\x00", 4), NDN_OK);
	expect_eq(decode("\xfe\0\x01\0\0\x00", 6), NDN_E_COMPONENT);
	expect_eq(decode("\x01\x03xyz", 5), NDN_E_SIZE);
	expect_eq(decode("\x02\x00", 2), NDN_E_SIZE);
}

static void text__is_the_name(void)
{
	SAME("/", "");
	SAME("/a", "\x08\x01"
		   "a");
	SAME("/ps/train", "\x08\x02ps\x08\x05train");
	SAME("/a-b._~9", "\x08\x07"
			 "a-b._~9");
	SAME("/%00%2F%3D%FF", "\x08\x04\0/=\xff");
	SAME("/v=3/seg=0", "\x36\x01\x03\x32\x01\0");
	SAME("/v=256/seg=65536", "\x36\x02\x01\0\x32\x04\0\x01\0\0");
	SAME("/v=18446744073709551615", "\x36\x08\xff\xff\xff\xff\xff\xff\xff\xff");
	SAME("/off=1/t=2/seq=3", "\x34\x01\x01\x38\x01\x02\x3a\x01\x03");
	SAME("/32=word", "\x20\x04word");
	SAME("/65535=x", "\xfd\xff\xff\x01x");
	SAME("/sha256digest=000102030405060708090a0b0c0d0e0f"
	     "101112131415161718191a1b1c1d1e1f",
	     "\x01\x20\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d"
	     "\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d"
	     "\x1e\x1f");
}

static void text__tells_dots_from_relative_paths(void)
{
	SAME("/...", "\x08\0");
	SAME("/....", "\x08\x01.");
	SAME("/.....", "\x08\x02..");
	SAME("/a/.../b", "\x08\x01"
			 "a\x08\0\x08\x01"
			 "b");
	SAME("/.a", "\x08\x02.a");
	SAME("/32=...", "\x20\0");
}

static void text__shows_odd_numbers_as_bytes(void)
{
	/*
	 * Values that are no number in shortest form print as bytes, so that
	 * they parse back.
	 */
	SAME("/54=%00%01", "\x36\x02\0\x01");
	SAME("/50=abc", "\x32\x03"
			"abc");
}

static void text__may_be_written_in_other_ways(void)
{
	static const char *const ways[] = {"ndn:/ps/v=1", "/8=ps/54=%01", "/%70%73/v=1"};
	struct ndn_name_buf buf;

	for (int i = 0; i < 3; i++) {
		expect_eq(ndn_name_parse(&buf, ways[i]), NDN_OK);
		expect(buf.len == 7 && !memcmp(buf.bytes, "\x08\x02ps\x36\x01\x01", 7));
	}
}

static void text__is_refused_when_wrong(void)
{
	static const char *const wrong[] = {"",
					    "ps",
					    "//a",
					    "/a/",
					    "/.",
					    "/..",
					    "/a b",
					    "/%",
					    "/%4",
					    "/%4g",
					    "/a=b",
					    "/x=1",
					    "/seg=",
					    "/seg=-1",
					    "/seg=01",
					    "/v=1x",
					    "/=a",
					    "/65536=a",
					    "/08=a",
					    "/seg=1=2",
					    "/v=18446744073709551616",
					    "/sha256digest=00",
					    "/ps?x",
					    "/ps#x",
					    "http:/a",
					    "/\xc3\xa4"};
	struct ndn_name_buf buf;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (!expect(ndn_name_parse(&buf, wrong[i]) == NDN_E_TEXT))
			printf("# %s\n", wrong[i]);
	expect_eq(ndn_name_parse(&buf, "/0=a"), NDN_E_TYPE_ZERO);
	expect_eq(ndn_name_parse(&buf, "/1=a"), NDN_E_SIZE);
	expect_eq(ndn_name_parse(&buf, "/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a"), NDN_E_NAME_DEEP);
}

static void text__fits_or_is_refused(void)
{
	struct ndn_name_buf buf = {0};
	struct ndn_name name;
	uint8_t bytes[16] = {0};
	char text[NDN_NAME_TEXT_MAX];
	size_t n;

	/*
	 * The longest text: many components with types of many digits, all
	 * escaped.
	 */
	for (int i = 0; i < 15; i++)
		expect_eq(ndn_name_append(&buf, 65535, bytes, 12), NDN_OK);
	expect_eq(ndn_name_append(&buf, 65535, bytes, 11), NDN_OK);
	expect_eq(buf.len, TRIB_NDN_NAME_MAX);
	name = ndn_name_of(&buf);
	expect_eq(ndn_name_text(&name, text, sizeof(text)), NDN_OK);
	n = strlen(text);
	expect_eq(ndn_name_text(&name, text, n + 1), NDN_OK);
	expect_eq(ndn_name_text(&name, text, n), NDN_E_SPACE);
	expect(strlen(text) < n);
	expect_eq(ndn_name_text(&name, text, 0), NDN_E_SPACE);
}

static struct ndn_name of(struct ndn_name_buf *buf, const char *text)
{
	expect_eq(ndn_name_parse(buf, text), NDN_OK);
	return ndn_name_of(buf);
}

static void order__is_canonical(void)
{
	/*
	 * Order by prefix, length of value, bytes, and type of one and of three
	 * bytes.
	 */
	static const char *const rising[] = {"/",      "/a",	   "/a/a",   "/b",
					     "/aa",    "/ab",	   "/32=a",  "/seg=1",
					     "/seg=2", "/seg=256", "/253=a", "/65535=a"};
	size_t n = sizeof(rising) / sizeof(rising[0]);
	struct ndn_name_buf ab, bb;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			struct ndn_name a = of(&ab, rising[i]);
			struct ndn_name b = of(&bb, rising[j]);
			int c = ndn_name_compare(&a, &b);

			if (!expect((c > 0) - (c < 0) == (i > j) - (i < j)))
				printf("# %s, %s: %d\n", rising[i], rising[j], c);
			expect(ndn_name_is_equal(&a, &b) == (i == j));
		}
}

static bool begins(const char *text, const char *prefix)
{
	struct ndn_name_buf ab, bb;
	struct ndn_name a = of(&ab, text), b = of(&bb, prefix);

	return ndn_name_is_prefix(&b, &a);
}

static void prefix__is_of_whole_components(void)
{
	expect(begins("/ps/train/v=1", "/ps/train/v=1"));
	expect(begins("/ps/train/v=1", "/ps/train"));
	expect(begins("/ps/train/v=1", "/"));
	expect(!begins("/ps/train/v=1", "/ps/tra"));
	expect(!begins("/ps/train/v=1", "/ps/train/v=1/seg=0"));
	expect(!begins("/ps/train/v=1", "/ps/train/seg=1"));
}

static void append__leaves_what_does_not_fit(void)
{
	struct ndn_name_buf buf = {0}, before;
	uint8_t value[TRIB_NDN_NAME_MAX] = {0};
	struct ndn_name name;
	uint64_t v;

	expect_eq(ndn_name_append(&buf, TRIB_NDN_GENERIC, "ps", 2), NDN_OK);
	expect_eq(ndn_name_append_number(&buf, TRIB_NDN_VERSION, 300), NDN_OK);
	name = ndn_name_of(&buf);
	expect_eq(name.count, 2);
	expect_eq(ndn_name_get_number(&name, 1, TRIB_NDN_VERSION, &v), NDN_OK);
	expect_eq(v, 300);
	expect_eq(ndn_name_get_number(&name, 1, TRIB_NDN_SEGMENT, &v), NDN_E_NUMBER);
	before = buf;
	expect_eq(ndn_name_append(&buf, TRIB_NDN_GENERIC, value, 250), NDN_E_NAME_LONG);
	expect_eq(ndn_name_append(&buf, TRIB_NDN_GENERIC, value, 255), NDN_E_NAME_LONG);
	expect_eq(ndn_name_append(&buf, 0, "x", 1), NDN_E_TYPE_ZERO);
	expect_eq(ndn_name_append(&buf, 65536, "x", 1), NDN_E_COMPONENT);
	expect(buf.len == before.len && !memcmp(buf.bytes, before.bytes, buf.len));
	/* 8 bytes so far: 2 of type and length and 245 of value fill the name. */
	expect_eq(ndn_name_append(&buf, TRIB_NDN_GENERIC, value, 245), NDN_OK);
	expect_eq(buf.len, 255);
	expect_eq(ndn_name_append(&buf, TRIB_NDN_GENERIC, value, 0), NDN_E_NAME_LONG);
}

static void slice__is_a_name(void)
{
	struct ndn_name_buf ab, bb;
	struct ndn_name a = of(&ab, "/insert/ps/train/v=1");
	struct ndn_name part = ndn_name_slice(&a, 1, 2);
	struct ndn_name b = of(&bb, "/ps/train");

	expect(ndn_name_is_equal(&part, &b));
	expect_eq(part.count, 2);
	expect_eq(part.at[1], 4);
	expect_eq(part.at[2], part.len);
	expect_eq(ndn_name_get(&part, 1).value.n, 5);
	expect_eq(ndn_name_slice(&a, 4, 0).len, 0);
}

int main(void)
{
	run(name__bounds_bytes_and_components);
	run(name__refuses_bad_components);
	run(text__is_the_name);
	run(text__tells_dots_from_relative_paths);
	run(text__shows_odd_numbers_as_bytes);
	run(text__may_be_written_in_other_ways);
	run(text__is_refused_when_wrong);
	run(text__fits_or_is_refused);
	run(order__is_canonical);
	run(prefix__is_of_whole_components);
	run(append__leaves_what_does_not_fit);
	run(slice__is_a_name);
	return tap_done();
}
