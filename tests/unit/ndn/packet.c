// SPDX-License-Identifier: BSD-2-Clause
/*
 * Interests, Data and link packets: which are accepted, which are refused and
 * why, and what the fields decode to. ndn_make.h has the notation.
 */
#include "tests/lib/tap.h"
#include "tests/lib/ndn/ndn_make.h"
#include "ndn/packet/ndn.h"

#define NAME "(7 (8 'ps')(8 'job'))"
#define SIG "(16 (1b 00))(17 *32..aa)"
#define DIGEST "(2 *32..00)"
#define INTEREST "(5 " NAME ")"
#define DATA "(6 " NAME SIG ")"

static struct made wire;
static struct ndn_packet pkt;

static enum ndn_err decode(const char *s)
{
	make(&wire, s);
	return ndn_packet_decode(&pkt, wire.b, wire.n);
}

static void want(const char *s, enum ndn_err err)
{
	enum ndn_err got = decode(s);

	if (!expect(got == err))
		printf("# %s: %s\n", s, ndn_err_text(got));
}

static void packet__is_all_there_is(void)
{
	size_t size;

	want(INTEREST, NDN_OK);
	want(DATA, NDN_OK);
	want(INTEREST "00", NDN_E_TRAILING);
	want("", NDN_E_CUT);
	want("0510", NDN_E_BEYOND);
	want("(7 (8 'a'))", NDN_E_KIND);
	want("(5 " NAME "(24 *8800..00))", NDN_E_LONG);
	/* The size tells where the padding of a short frame begins. */
	make(&wire, INTEREST "*20..00");
	expect_eq(ndn_packet_size(wire.b, wire.n, &size), NDN_OK);
	expect_eq(size, wire.n - 20);
	expect_eq(ndn_packet_size(wire.b, 5, &size), NDN_E_BEYOND);
	expect_eq(ndn_packet_size(wire.b, 1, &size), NDN_E_CUT);
}

static void interest__is_understood(void)
{
	const struct ndn_interest *i = &pkt.interest;

	want("(5 " NAME "(21)(12)(1e (7 (8 'x')))(a 01020304)(c 0fa0)(22 07))", NDN_OK);
	expect_eq(pkt.type, TRIB_NDN_INTEREST);
	expect_eq(i->name.count, 2);
	expect(i->can_be_prefix && i->must_be_fresh);
	expect_eq(i->hint.n, 5);
	expect(i->has_nonce && i->nonce == 0x01020304);
	expect(!memcmp(i->nonce_at, "\x01\x02\x03\x04", 4));
	expect(i->has_lifetime && i->lifetime == 4000);
	expect(i->has_hop_limit && i->hop_limit == 7 && *i->hop_limit_at == 7);
	expect(!i->has_params && !i->is_signed);
	want(INTEREST, NDN_OK);
	expect(!i->can_be_prefix && !i->must_be_fresh && !i->has_nonce);
	expect(!i->has_lifetime && !i->has_hop_limit);
	expect_eq(i->lifetime, TRIB_NDN_LIFETIME_MS);
}

static void interest__needs_its_name_first(void)
{
	want("(5)", NDN_E_NO_NAME);
	want("(5 (21)" NAME ")", NDN_E_NO_NAME);
	want("(5 (42)" NAME ")", NDN_E_NO_NAME);
	want("(5 (7))", NDN_E_NAME_EMPTY);
	want("(5 " NAME NAME ")", NDN_E_CRITICAL);
}

static void interest__has_sizes_and_order(void)
{
	want("(5 " NAME "(21 00))", NDN_E_SIZE);
	want("(5 " NAME "(12 00))", NDN_E_SIZE);
	want("(5 " NAME "(a 010203))", NDN_E_SIZE);
	want("(5 " NAME "(c 010203))", NDN_E_NUMBER);
	want("(5 " NAME "(22))", NDN_E_SIZE);
	want("(5 " NAME "(1e))", NDN_E_HINT);
	want("(5 " NAME "(1e (7 (8 'a'))(7 (8 'b'))))", NDN_OK);
	want("(5 " NAME "(1e (8 'a')))", NDN_E_CRITICAL);
	want("(5 " NAME "(12)(21))", NDN_E_ORDER);
	want("(5 " NAME "(a *4..00)(a *4..00))", NDN_E_ORDER);
	want("(5 " NAME "(23))", NDN_E_CRITICAL);
	want("(5 " NAME "(18 00))", NDN_E_CRITICAL);
	/*
	 * HopLimit is not critical: a second one or a misplaced one is ignored.
	 */
	want("(5 " NAME "(22 05)(22 09)(a *4..01))", NDN_E_ORDER);
	want("(5 " NAME "(22 05)(22 09))", NDN_OK);
	expect_eq(pkt.interest.hop_limit, 5);
	want("(5 " NAME "(fc 'whatever')(a *4..01)(fffc))", NDN_OK);
	expect_eq(pkt.interest.nonce, 0x01010101);
}

static void interest__has_parameters_with_their_digest(void)
{
	want("(5 (7 (8 'a')" DIGEST ")(24 'xyz'))", NDN_OK);
	expect(pkt.interest.has_params && pkt.interest.params.n == 3);
	expect_eq(pkt.interest.digested.n, 5);
	want("(5 (7 (8 'a')" DIGEST "(8 'b'))(24))", NDN_OK);
	want("(5 (7 (8 'a'))(24 'xyz'))", NDN_E_PARAMS);
	want("(5 (7 (8 'a')" DIGEST "))", NDN_E_PARAMS);
	want("(5 (7 (8 'a')" DIGEST DIGEST ")(24 'xyz'))", NDN_E_PARAMS);
}

static void interest__is_signed_in_whole(void)
{
	const struct ndn_sig *sig = &pkt.interest.sig;

	want("(5 (7 (8 'a')" DIGEST ")(24 'x')"
	     "(2c (1b 05)(1c (7 (8 'k')))(26 0102)(28 0300)(2a 04))(2e 'sig'))",
	     NDN_OK);
	expect(pkt.interest.is_signed);
	expect_eq(sig->type, TRIB_NDN_SIG_ED25519);
	expect(sig->has_key && sig->key.count == 1);
	expect_eq(sig->nonce.n, 2);
	expect(sig->has_time && sig->time == 0x300);
	expect(sig->has_seq && sig->seq == 4);
	expect_eq(sig->value.n, 3);
	expect_eq(sig->covered[0].n, 3);
	expect_eq(sig->covered[1].n, 3 + 2 + 3 + 7 + 4 + 4 + 3);
	expect_eq(pkt.interest.digested.n, sig->covered[1].n + 5);
	want("(5 (7 (8 'a')" DIGEST ")(24)(2c (1b 00)))", NDN_E_UNSIGNED);
	want("(5 (7 (8 'a')" DIGEST ")(24)(2e))", NDN_E_UNSIGNED);
	want("(5 (7 (8 'a')" DIGEST ")(2c (1b 00))(2e))", NDN_E_PARAMS);
	want("(5 (7 (8 'a')" DIGEST "(8))(24)(2c (1b 00))(2e))", NDN_E_DIGEST_PLACE);
}

static void interest__may_end_in_an_implicit_digest(void)
{
	want("(5 (7 (8 'a')(1 *32..00)))", NDN_OK);
	want("(5 (7 (1 *32..00)(8 'a')))", NDN_E_DIGEST_PLACE);
	want("(5 (7 (1 *32..00)(1 *32..00)))", NDN_E_DIGEST_PLACE);
}

static void data__is_understood(void)
{
	const struct ndn_data *d = &pkt.data;

	want("(6 " NAME "(14 (18 02)(19 03e8)(1a (32 07)))(15 'hello')" SIG ")", NDN_OK);
	expect_eq(pkt.type, TRIB_NDN_DATA);
	expect_eq(d->name.count, 2);
	expect_eq(d->content_type, 2);
	expect(d->has_freshness && d->freshness == 1000);
	expect(d->has_final && d->final_block.type == TRIB_NDN_SEGMENT);
	expect(d->has_content && d->content.n == 5);
	expect_eq(d->sig.value.n, 32);
	expect_eq(d->sig.covered[0].n, wire.n - 2 - 34);
	expect(d->sig.covered[0].p == wire.b + 2);
	want(DATA, NDN_OK);
	expect(!d->has_content && !d->has_freshness && !d->has_final);
	want("(6 " NAME "(15)" SIG ")", NDN_OK);
	expect(d->has_content && !d->content.n);
}

static void data__has_order_and_a_signature(void)
{
	want("(6 " NAME ")", NDN_E_UNSIGNED);
	want("(6 " NAME "(16 (1b 00)))", NDN_E_UNSIGNED);
	want("(6 " NAME "(17 *32..00))", NDN_E_UNSIGNED);
	want("(6 " NAME "(16)(17))", NDN_E_UNSIGNED);
	want("(6 " NAME "(15)(14)" SIG ")", NDN_E_ORDER);
	want("(6 " NAME "(14)(14)" SIG ")", NDN_E_ORDER);
	want("(6 " NAME SIG SIG ")", NDN_E_ORDER);
	want("(6 " NAME "(24)" SIG "(40))", NDN_OK);
	want("(6 " NAME "(25)" SIG ")", NDN_E_CRITICAL);
	want("(6 (7 (8 'a')(1 *32..00))" SIG ")", NDN_E_DIGEST_PLACE);
	want("(6 (7 (8 'a')" DIGEST ")" SIG ")", NDN_OK);
}

static void data__meta_is_checked(void)
{
	want("(6 " NAME "(14 (19 010203))" SIG ")", NDN_E_NUMBER);
	want("(6 " NAME "(14 (18))" SIG ")", NDN_E_NUMBER);
	want("(6 " NAME "(14 (19 01)(18 01))" SIG ")", NDN_E_ORDER);
	want("(6 " NAME "(14 (1a))" SIG ")", NDN_E_FINAL_BLOCK);
	want("(6 " NAME "(14 (1a (8)(8)))" SIG ")", NDN_E_FINAL_BLOCK);
	want("(6 " NAME "(14 (40)(19 01))" SIG ")", NDN_OK);
	expect_eq(pkt.data.freshness, 1);
}

static void data__key_locator_is_one_name_or_digest(void)
{
#define LOCATED(l) "(6 " NAME "(16 (1b 04)(1c " l "))(17))"
	want(LOCATED("(7 (8 'k'))"), NDN_OK);
	expect(pkt.data.sig.has_key);
	want(LOCATED("(1d 0102)"), NDN_OK);
	expect_eq(pkt.data.sig.key_digest.n, 2);
	want(LOCATED(""), NDN_E_KEY_LOCATOR);
	want(LOCATED("(7 (8 'k'))(1d 01)"), NDN_E_KEY_LOCATOR);
	want(LOCATED("(1d)"), NDN_E_SIZE);
	/* Certificates are Data like any other. */
	want("(6 " NAME "(16 (1b 03)(fd 'validity'))(17 00))", NDN_OK);
	want("(6 " NAME "(16 (1c (1d 01)))(17))", NDN_E_UNSIGNED);
	want("(6 " NAME "(16 (1b 00)(26))(17))", NDN_E_SIZE);
}

static void lp__is_understood(void)
{
	want("(64 (50 " INTEREST "))", NDN_OK);
	expect_eq(pkt.type, TRIB_NDN_INTEREST);
	want("(64 (62 0102)(320 (321 96))(340 01)(50 " INTEREST "))", NDN_OK);
	expect_eq(pkt.lp.pit_token.n, 2);
	expect(pkt.lp.is_nack);
	expect_eq(pkt.lp.nack_reason, TRIB_NDN_NACK_NO_ROUTE);
	expect_eq(pkt.lp.congestion, 1);
	want("(64 (320)(50 " INTEREST "))", NDN_OK);
	expect(pkt.lp.is_nack && !pkt.lp.nack_reason);
	want("(64 (50 " DATA "))", NDN_OK);
	expect_eq(pkt.type, TRIB_NDN_DATA);
	/* A bare packet has no header. */
	want(DATA, NDN_OK);
	expect(!pkt.lp.is_nack && !pkt.lp.pit_token.n && !pkt.lp.congestion);
}

static void lp__fragments_are_refused(void)
{
	want("(64 (51 *8..00)(52 00)(53 02)(50 " INTEREST "))", NDN_E_LP_FRAGMENTED);
	want("(64 (51 *8..00)(52 01)(50 'rest'))", NDN_E_LP_FRAGMENTED);
	want("(64 (53 00)(50 " INTEREST "))", NDN_E_LP_FRAGMENTED);
	want("(64 (51 *8..00)(52 00)(53 01)(50 " INTEREST "))", NDN_OK);
}

static void lp__header_is_strict(void)
{
	want("(64)", NDN_E_LP_EMPTY);
	want("(64 (50))", NDN_E_LP_EMPTY);
	want("(64 (344 *8..00))", NDN_E_LP_EMPTY);
	want("(64 (344 *8..00)(344 *8..01)(50 " INTEREST "))", NDN_OK);
	want("(64 (62 01)(62 02)(50 " INTEREST "))", NDN_E_LP_ORDER);
	want("(64 (340 01)(62 02)(50 " INTEREST "))", NDN_E_LP_ORDER);
	want("(64 (50 " INTEREST ")(340 01))", NDN_E_LP_ORDER);
	want("(64 (62)(50 " INTEREST "))", NDN_E_SIZE);
	want("(64 (62 *32..01)(50 " INTEREST "))", NDN_OK);
	want("(64 (62 *33..01)(50 " INTEREST "))", NDN_E_SIZE);
	want("(64 (51 01)(50 " INTEREST "))", NDN_E_SIZE);
	want("(64 (54 01)(50 " INTEREST "))", NDN_E_LP_FIELD);
	want("(64 (330 01)(50 " INTEREST "))", NDN_OK);
	want("(64 (332 01)(50 " INTEREST "))", NDN_E_LP_FIELD);
	want("(64 (3c0 01)(50 " INTEREST "))", NDN_E_LP_FIELD);
	want("(64 (320 (323))(50 " INTEREST "))", NDN_E_CRITICAL);
	want("(64 (320 (321 010203))(50 " INTEREST "))", NDN_E_NUMBER);
	want("(64 (320)(50 " DATA "))", NDN_E_LP_NACK);
	want("(64 (50 (64 (50 " INTEREST "))))", NDN_E_KIND);
	want("(64 (50 " INTEREST "00))", NDN_E_TRAILING);
}

/* Any packet is refused if it is cut anywhere; nothing behind its end is read. */
static void packet__cut_anywhere_is_refused(void)
{
	static const char *const whole[] = {"(64 (62 01)(50 (5 (7 (8 'a')" DIGEST
					    ")(a *4..00)(24 'x')(2c (1b 00))(2e *32..00))))",
					    "(6 " NAME "(14 (19 03e8))(15 *300..00)" SIG ")"};

	for (int i = 0; i < 2; i++) {
		make(&wire, whole[i]);
		for (size_t n = 0; n < wire.n; n++) {
			/*
			 * A buffer of the exact size, so that ASan sees reads beyond it.
			 */
			uint8_t *copy = malloc(n + 1);

			memcpy(copy, wire.b, n);
			copy = realloc(copy, n ? n : 1);
			expect(ndn_packet_decode(&pkt, copy, n) != NDN_OK);
			free(copy);
		}
		expect_eq(ndn_packet_decode(&pkt, wire.b, wire.n), NDN_OK);
	}
}

int main(void)
{
	run(packet__is_all_there_is);
	run(interest__is_understood);
	run(interest__needs_its_name_first);
	run(interest__has_sizes_and_order);
	run(interest__has_parameters_with_their_digest);
	run(interest__is_signed_in_whole);
	run(interest__may_end_in_an_implicit_digest);
	run(data__is_understood);
	run(data__has_order_and_a_signature);
	run(data__meta_is_checked);
	run(data__key_locator_is_one_name_or_digest);
	run(lp__is_understood);
	run(lp__fragments_are_refused);
	run(lp__header_is_strict);
	run(packet__cut_anywhere_is_refused);
	return tap_done();
}
