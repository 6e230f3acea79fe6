// SPDX-License-Identifier: BSD-2-Clause
/*
 * The NDN codec. The first byte of an input selects:
 *
 *  - a packet: decoded fields point into it, its name survives a round trip as
 *    text, and ndn_view() agrees with the decoder;
 *  - fields: an encoded packet decodes to the same fields and verifies;
 *  - text of a name: parsing, writing and parsing gives the same name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndn/packet/ndn.h"

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "ndn: %s\n", what);
	abort();
}

/* ---- a packet from outside ---- */

static const uint8_t *first, *last;

static void within(struct ndn_bytes b, const char *what)
{
	must(!b.n || (b.p >= first && b.p + b.n <= last), what);
}

static void name_is_its_text(const struct ndn_name *name)
{
	char text[NDN_NAME_TEXT_MAX];
	struct ndn_name_buf again;

	within((struct ndn_bytes){name->value, name->len}, "a name's place");
	must(!ndn_name_text(name, text, sizeof(text)), "a name without text");
	must(!ndn_name_parse(&again, text), text);
	must(again.len == name->len && !memcmp(again.bytes, name->value, name->len), text);
}

static void sig_is_within(const struct ndn_sig *sig)
{
	within(sig->value, "signature");
	within(sig->nonce, "signature's nonce");
	within(sig->key_digest, "key's digest");
	within(sig->covered[0], "covered, first");
	within(sig->covered[1], "covered, second");
	if (sig->has_key)
		name_is_its_text(&sig->key);
}

static void look(const struct ndn_packet *pkt)
{
	const struct ndn_interest *i = &pkt->interest;
	const struct ndn_data *d = &pkt->data;

	within(pkt->lp.pit_token, "PIT token");
	if (pkt->type == TRIB_NDN_DATA) {
		name_is_its_text(&d->name);
		within(d->content, "content");
		sig_is_within(&d->sig);
		ndn_data_verify(d, &ndn_key_sha256);
		return;
	}
	must(pkt->type == TRIB_NDN_INTEREST, "neither Interest nor Data");
	name_is_its_text(&i->name);
	within(i->hint, "hint");
	within(i->params, "parameters");
	within(i->digested, "what the digest covers");
	if (i->is_signed) {
		sig_is_within(&i->sig);
		ndn_interest_verify(i, &ndn_key_sha256);
	}
	ndn_interest_check_digest(i);
}

static void view_agrees(const struct ndn_packet *pkt, enum ndn_err err, const uint8_t *buf,
			size_t n)
{
	const struct ndn_interest *i = &pkt->interest;
	const struct ndn_name *name = &i->name;
	struct ndn_view v;

	ndn_view(&v, buf, n);
	if (err)
		return;
	if (pkt->type == TRIB_NDN_DATA)
		name = &pkt->data.name;
	if (v.verdict) {
		must(v.verdict == NDN_E_HOPS && pkt->type == TRIB_NDN_INTEREST &&
			     i->has_hop_limit && !i->hop_limit,
		     "an end takes what a forwarder refuses");
		return;
	}
	must(v.type == pkt->type, "kind");
	must(buf + v.name_off == name->value && v.name_len == name->len, "where the name is");
	must(!memcmp(v.at, name->at, sizeof(v.at)), "components");
	if (v.nonce_off)
		must(buf + v.nonce_off == i->nonce_at, "nonce");
	if (v.hop_off)
		must(buf[v.hop_off] == i->hop_limit, "hop limit");
}

static void from_outside(const uint8_t *data, size_t size)
{
	struct ndn_packet pkt;
	enum ndn_err err;
	size_t n = size;

	first = data;
	last = data + size;
	if (!ndn_packet_size(data, size, &n))
		must(n <= size, "size");
	err = ndn_packet_decode(&pkt, data, n);
	must((unsigned int)err < NDN_E__MAX, "a reason that is none");
	if (!err)
		look(&pkt);
	view_agrees(&pkt, err, data, n);
}

/* ---- a packet from fields ---- */

struct source {
	const uint8_t *p;
	size_t n;
};

static uint8_t take(struct source *s)
{
	if (!s->n)
		return 0;
	s->n--;
	return *s->p++;
}

static uint64_t take_number(struct source *s)
{
	unsigned int n = take(s) % 9;
	uint64_t v = 0;

	while (n--)
		v = v << 8 | take(s);
	return v;
}

static struct ndn_bytes take_bytes(struct source *s)
{
	size_t n = take_number(s) % 2048;
	struct ndn_bytes b;

	if (n > s->n)
		n = s->n;
	b = (struct ndn_bytes){s->p, n};
	s->p += n;
	s->n -= n;
	return b;
}

static void take_name(struct source *s, struct ndn_name_buf *buf)
{
	unsigned int n = take(s) % (TRIB_NDN_COMPONENTS_MAX + 2);

	buf->len = 0;
	while (n--) {
		uint32_t type = take_number(s);

		if (take(s) & 1)
			ndn_name_append_number(buf, type, take_number(s));
		else
			ndn_name_append(buf, type, s->p, take(s) % (s->n + 1));
	}
}

static const struct ndn_key *take_key(struct source *s, const struct ndn_key **verifier)
{
	static struct ndn_key keys[4];

	if (!keys[1].type) {
		keys[0] = ndn_key_sha256;
		ndn_key_hmac(&keys[1], (const uint8_t[NDN_KEY_SIZE]){7});
		ndn_key_ed25519(&keys[2], (const uint8_t[NDN_KEY_SIZE]){7});
		ndn_key_ed25519_public(&keys[3], keys[2].pub);
		ndn_name_parse(&keys[2].name, "/k/1");
	}
	/* Ed25519 is slow: use it rarely. */
	switch (take(s) % 16) {
	case 0:
		*verifier = &keys[3];
		return &keys[2];
	case 1 ... 5:
		return *verifier = &keys[1];
	case 6 ... 10:
		return *verifier = &keys[0];
	}
	*verifier = &keys[0];
	return NULL;
}

static bool same(struct ndn_bytes a, struct ndn_bytes b)
{
	return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n));
}

static void data_again(struct source *s)
{
	static uint8_t buf[TRIB_NDN_PACKET_MAX], buf2[TRIB_NDN_PACKET_MAX];
	const struct ndn_key *verifier, *key = take_key(s, &verifier);
	struct ndn_name_buf nb;
	struct ndn_data d = {0}, got;
	uint8_t bits = take(s);
	size_t n, n2;

	take_name(s, &nb);
	d.name = ndn_name_of(&nb);
	d.content_type = take_number(s);
	d.has_freshness = bits & 1;
	d.freshness = d.has_freshness ? take_number(s) : 0;
	d.has_content = bits & 2;
	if (bits & 4 && d.name.count) {
		d.has_final = true;
		d.final_block = ndn_name_get(&d.name, d.name.count - 1);
	}
	d.content = d.has_content ? take_bytes(s) : d.content;
	if (ndn_data_encode(&d, key, buf, sizeof(buf), &n))
		return;
	must(!ndn_data_decode(&got, buf, n), "encoded, and refused");
	must(ndn_name_is_equal(&got.name, &d.name), "name");
	must(got.content_type == d.content_type, "content type");
	must(got.has_freshness == d.has_freshness && got.freshness == d.freshness, "freshness");
	must(got.has_final == d.has_final && got.final_block.type == d.final_block.type &&
		     same(got.final_block.value, d.final_block.value),
	     "final block");
	must(got.has_content == d.has_content && same(got.content, d.content), "content");
	must(!ndn_data_verify(&got, verifier), "wrongly signed");
	must(!ndn_data_encode(&got, key, buf2, sizeof(buf2), &n2), "again");
	must(n == n2 && !memcmp(buf, buf2, n), "the same input, other bytes");
}

static void take_interest(struct source *s, struct ndn_interest *i)
{
	uint8_t bits = take(s);

	i->can_be_prefix = bits & 1;
	i->must_be_fresh = bits & 2;
	i->has_nonce = bits & 4;
	i->nonce = i->has_nonce ? take_number(s) : 0;
	i->has_lifetime = bits & 8;
	i->lifetime = i->has_lifetime ? take_number(s) : TRIB_NDN_LIFETIME_MS;
	i->has_hop_limit = bits & 16;
	i->hop_limit = i->has_hop_limit ? take(s) : 0;
	i->has_params = bits & 32;
	if (bits & 64)
		i->hint = take_bytes(s);
	if (bits & 128) {
		i->sig.has_time = true;
		i->sig.time = take_number(s);
		i->sig.has_seq = true;
		i->sig.seq = take_number(s);
		i->sig.nonce = take_bytes(s);
	}
	if (i->has_params)
		i->params = take_bytes(s);
}

static void interest_again(struct source *s)
{
	static uint8_t buf[TRIB_NDN_PACKET_MAX], buf2[TRIB_NDN_PACKET_MAX];
	const struct ndn_key *verifier, *key = take_key(s, &verifier);
	struct ndn_interest i = {0}, got;
	struct ndn_name_buf nb;
	size_t n, n2;

	take_interest(s, &i);
	take_name(s, &nb);
	i.name = ndn_name_of(&nb);
	if (ndn_interest_encode(&i, key, buf, sizeof(buf), &n))
		return;
	must(!ndn_interest_decode(&got, buf, n), "encoded, and refused");
	must(got.name.count == i.name.count ||
		     (got.name.count == i.name.count + 1 && ndn_name_is_prefix(&i.name, &got.name)),
	     "name");
	must(got.can_be_prefix == i.can_be_prefix && got.must_be_fresh == i.must_be_fresh, "flags");
	must(got.has_nonce == i.has_nonce && got.nonce == i.nonce, "nonce");
	must(got.lifetime == i.lifetime, "lifetime");
	must(got.has_hop_limit == i.has_hop_limit && got.hop_limit == i.hop_limit, "hop limit");
	must(same(got.hint, i.hint), "hint");
	must(same(got.params, i.params), "parameters");
	must(!ndn_interest_check_digest(&got), "digest");
	if (key)
		must(!ndn_interest_verify(&got, verifier), "wrongly signed");
	must(!ndn_interest_encode(&got, key, buf2, sizeof(buf2), &n2), "again");
	must(n == n2 && !memcmp(buf, buf2, n), "the same input, other bytes");
}

static void text_again(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), again[NDN_NAME_TEXT_MAX];
	struct ndn_name_buf a, b;
	struct ndn_name name;

	memcpy(text, data, size);
	text[size] = 0;
	if (!ndn_name_parse(&a, text)) {
		name = ndn_name_of(&a);
		must(!ndn_name_text(&name, again, sizeof(again)), text);
		must(!ndn_name_parse(&b, again), again);
		must(a.len == b.len && !memcmp(a.bytes, b.bytes, a.len), again);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source s = {data + 1, size - 1};

	if (!size)
		return 0;
	switch (*data) {
	case 'd':
		data_again(&s);
		break;
	case 'i':
		interest_again(&s);
		break;
	case 't':
		text_again(s.p, s.n);
		break;
	default:
		from_outside(s.p, s.n);
	}
	return 0;
}
