// SPDX-License-Identifier: BSD-2-Clause
/* The fields of packets that a forwarder reads. ndn_make.h has the notation. */
#include "tests/lib/tap.h"
#include "tests/lib/ndn/ndn_make.h"
#include "ndn/packet/ndn.h"

#define NAME "(7 (8 'ps')(8 'job'))"
#define SIG "(16 (1b 00))(17 *32..aa)"

static struct made wire;
static struct ndn_view v;

static void view(const char *s)
{
	make(&wire, s);
	ndn_view(&v, wire.b, wire.n);
}

static void view__shows_an_interest(void)
{
	view("(5 " NAME "(21)(12)(a 0a0b0c0d)(c 0400)(22 09))");
	expect_eq(v.verdict, NDN_OK);
	expect_eq(v.type, TRIB_NDN_INTEREST);
	expect_eq(v.packet_off, 0);
	expect_eq(v.packet_len, wire.n);
	expect_eq(v.name_off, 4);
	expect_eq(v.name_len, 9);
	expect_eq(v.count, 2);
	expect(v.at[0] == 0 && v.at[1] == 4 && v.at[2] == 9);
	expect_eq(v.flags, NDN_VIEW_CAN_BE_PREFIX | NDN_VIEW_MUST_BE_FRESH);
	expect(!memcmp(wire.b + v.nonce_off, "\x0a\x0b\x0c\x0d", 4));
	expect_eq(wire.b[v.hop_off], 9);
	expect_eq(v.lifetime_ms, 1024);
	expect_eq(v.token_off, 0);
	view("(5 " NAME ")");
	expect_eq(v.flags, 0);
	expect_eq(v.nonce_off, 0);
	expect_eq(v.hop_off, 0);
	expect_eq(v.lifetime_ms, TRIB_NDN_LIFETIME_MS);
	view("(5 (7 (8)(1 *32..00))(1e 'x')(c ffffffffffffffff))");
	expect_eq(v.flags, NDN_VIEW_DIGEST | NDN_VIEW_HINT);
	expect_eq(v.lifetime_ms, UINT32_MAX);
	view("(5 (7 (2 *32..00))(24)(2c)(2e))");
	expect_eq(v.flags, NDN_VIEW_PARAMS | NDN_VIEW_SIGNED);
}

static void view__shows_a_data(void)
{
	view("(6 " NAME "(14 (19 2710))(15 'x')" SIG ")");
	expect_eq(v.verdict, NDN_OK);
	expect_eq(v.type, TRIB_NDN_DATA);
	expect_eq(v.fresh_ms, 10000);
	expect_eq(v.name_off, 4);
	expect_eq(v.flags, 0);
	expect_eq(v.lifetime_ms, 0);
}

static void view__looks_through_the_link_header(void)
{
	view("(64 (62 'tok')(320 (321 32))(340 02)(50 (5 " NAME "(22 00))))");
	expect_eq(v.verdict, NDN_OK);
	expect_eq(v.flags, NDN_VIEW_NACK);
	expect_eq(v.nack_reason, TRIB_NDN_NACK_CONGESTION);
	expect_eq(v.congestion, 2);
	expect_eq(v.token_len, 3);
	expect(!memcmp(wire.b + v.token_off, "tok", 3));
	expect_eq(wire.b[v.packet_off], TRIB_NDN_INTEREST);
	expect_eq(v.packet_off + v.packet_len, wire.n);
	expect(!memcmp(wire.b + v.name_off + v.at[1] + 2, "job", 3));
}

static void view__says_nothing_of_what_it_refuses(void)
{
	static const struct ndn_view none;
	static const char *const refused[] = {"(5 " NAME "(22 00))", "(5 (7))", "(6 " NAME ")",
					      "(64 (62 01)(50 (6 " NAME ")))", "05"};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		view(refused[i]);
		expect(v.verdict != NDN_OK);
		if (!i)
			expect_eq(v.verdict, NDN_E_HOPS);
		v.verdict = 0;
		expect(!memcmp(&v, &none, sizeof(v)));
	}
}

/* A forwarder ignores fields that only the endpoints check. */
static void view__does_not_look_deeper_than_it_must(void)
{
	static const char *const odd[] = {
		"(5 " NAME "(1e 00))", "(5 (7 (2 *32..00))(24)(2c 01)(2e))",
		"(6 " NAME "(14 (1a 00))" SIG ")", "(6 " NAME "(16 00)(17 *32..00))"};
	struct ndn_packet pkt;

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		view(odd[i]);
		expect_eq(v.verdict, NDN_OK);
		expect(ndn_packet_decode(&pkt, wire.b, wire.n) != NDN_OK);
	}
	/* A forwarder checks freshness, because its cache uses it. */
	view("(6 " NAME "(14 (19))" SIG ")");
	expect_eq(v.verdict, NDN_E_NUMBER);
}

int main(void)
{
	run(view__shows_an_interest);
	run(view__shows_a_data);
	run(view__looks_through_the_link_header);
	run(view__says_nothing_of_what_it_refuses);
	run(view__does_not_look_deeper_than_it_must);
	return tap_done();
}
