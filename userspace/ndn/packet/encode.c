// SPDX-License-Identifier: BSD-2-Clause
/*
 * Encodes and signs Interests and Data, from the end to the beginning. The result
 * is decoded once more, so that no receiver refuses what is sent.
 */
#include <string.h>

#include "sign.h"
#include "tlv.h"

/* Write SignatureInfo. @more: fields of signed Interests, or NULL. */
static void put_sig_info(struct ndn_tlv_writer *w, uint32_t type, const struct ndn_key *key,
			 const struct ndn_sig *more)
{
	const uint8_t *end = w->p, *locator;

	if (more && more->has_seq)
		ndn_tlv_put_number(w, TRIB_NDN_SIG_SEQ, more->seq);
	if (more && more->has_time)
		ndn_tlv_put_number(w, TRIB_NDN_SIG_TIME, more->time);
	if (more && more->nonce.n)
		ndn_tlv_put(w, TRIB_NDN_SIG_NONCE, more->nonce.p, more->nonce.n);
	if (key->name.len) {
		locator = w->p;
		ndn_tlv_put(w, TRIB_NDN_NAME, key->name.bytes, key->name.len);
		ndn_tlv_put_head(w, TRIB_NDN_KEY_LOCATOR, locator);
	}
	ndn_tlv_put_number(w, TRIB_NDN_SIG_TYPE, key->type);
	ndn_tlv_put_head(w, type, end);
}

/* Reserve room for the signature, which is computed last. */
static uint8_t *put_sig_room(struct ndn_tlv_writer *w, uint32_t type, const struct ndn_key *key)
{
	const uint8_t *end = w->p;
	uint8_t *room;

	if (!w->err && !ndn_sig_size(key->type))
		w->err = NDN_E_SIG_TYPE;
	room = ndn_tlv_put_room(w, ndn_sig_size(key->type));
	ndn_tlv_put_head(w, type, end);
	return room;
}

/* ---- Data ---- */

static void put_meta(struct ndn_tlv_writer *w, const struct ndn_data *d)
{
	const struct ndn_component *c = &d->final_block;
	const uint8_t *end = w->p, *final;

	if (!d->has_final && !d->has_freshness && !d->content_type)
		return;
	if (d->has_final) {
		final = w->p;
		ndn_tlv_put(w, c->type, c->value.p, c->value.n);
		ndn_tlv_put_head(w, TRIB_NDN_FINAL_BLOCK, final);
	}
	if (d->has_freshness)
		ndn_tlv_put_number(w, TRIB_NDN_FRESHNESS, d->freshness);
	if (d->content_type)
		ndn_tlv_put_number(w, TRIB_NDN_CONTENT_TYPE, d->content_type);
	ndn_tlv_put_head(w, TRIB_NDN_META, end);
}

enum ndn_err ndn_data_encode(const struct ndn_data *d, const struct ndn_key *key, uint8_t *buf,
			     size_t size, size_t *len)
{
	struct ndn_bytes covered[2] = {0};
	struct ndn_data check;
	struct ndn_tlv_writer w;
	enum ndn_err err;
	uint8_t *sig;

	if (!key)
		key = &ndn_key_sha256;
	ndn_tlv_writer_begin(&w, buf, size);
	sig = put_sig_room(&w, TRIB_NDN_SIG_VALUE, key);
	covered[0].p = w.p;
	put_sig_info(&w, TRIB_NDN_SIG_INFO, key, NULL);
	if (d->has_content)
		ndn_tlv_put(&w, TRIB_NDN_CONTENT, d->content.p, d->content.n);
	put_meta(&w, d);
	ndn_tlv_put(&w, TRIB_NDN_NAME, d->name.value, d->name.len);
	covered[0].n = covered[0].p - w.p;
	covered[0].p = w.p;
	if (!w.err)
		w.err = ndn_sig_make(key, covered, sig);
	ndn_tlv_put_head(&w, TRIB_NDN_DATA, w.end);
	err = ndn_tlv_writer_finish(&w, len);
	return err ? err : ndn_data_decode(&check, buf, *len);
}

/* ---- Interest ---- */

static void put_guides(struct ndn_tlv_writer *w, const struct ndn_interest *i)
{
	const uint8_t nonce[] = {i->nonce >> 24, i->nonce >> 16, i->nonce >> 8, i->nonce};

	if (i->has_hop_limit)
		ndn_tlv_put(w, TRIB_NDN_HOP_LIMIT, &i->hop_limit, 1);
	if (i->has_lifetime)
		ndn_tlv_put_number(w, TRIB_NDN_LIFETIME, i->lifetime);
	if (i->has_nonce)
		ndn_tlv_put(w, TRIB_NDN_NONCE, nonce, sizeof(nonce));
	if (i->hint.n)
		ndn_tlv_put(w, TRIB_NDN_HINT, i->hint.p, i->hint.n);
	if (i->must_be_fresh)
		ndn_tlv_put(w, TRIB_NDN_MUST_BE_FRESH, NULL, 0);
	if (i->can_be_prefix)
		ndn_tlv_put(w, TRIB_NDN_CAN_BE_PREFIX, NULL, 0);
}

/*
 * Write the name, with a component for the digest of the parameters if wanted.
 * Return: address of that digest, or NULL. @signed_len: bytes before it.
 */
static uint8_t *put_name(struct ndn_tlv_writer *w, const struct ndn_interest *i, bool with_digest,
			 size_t *signed_len)
{
	static const uint8_t none[TRIB_NDN_DIGEST_SIZE];
	struct ndn_name_buf buf;
	struct ndn_name name;
	unsigned int at;

	if (!w->err)
		w->err = ndn_name_copy(&buf, &i->name);
	if (w->err)
		return NULL;
	name = ndn_name_of(&buf);
	for (at = 0; at < name.count; at++)
		if (ndn_name_get(&name, at).type == TRIB_NDN_PARAMS_DIGEST)
			break;
	if (with_digest && at == name.count) {
		w->err = ndn_name_append(&buf, TRIB_NDN_PARAMS_DIGEST, none, sizeof(none));
		if (w->err)
			return NULL;
		name = ndn_name_of(&buf);
	}
	ndn_tlv_put_bytes(w, buf.bytes, buf.len);
	if (w->err || !with_digest)
		return NULL;
	*signed_len = name.at[at];
	return w->p + name.at[at + 1] - TRIB_NDN_DIGEST_SIZE;
}

enum ndn_err ndn_interest_encode(const struct ndn_interest *i, const struct ndn_key *key,
				 uint8_t *buf, size_t size, size_t *len)
{
	struct ndn_bytes covered[2] = {0}, digested[2] = {0};
	uint8_t *sig = NULL, *digest;
	struct ndn_interest check;
	const uint8_t *end, *sig_at = NULL;
	struct ndn_tlv_writer w;
	enum ndn_err err;

	ndn_tlv_writer_begin(&w, buf, size);
	if (key) {
		sig = put_sig_room(&w, TRIB_NDN_ISIG_VALUE, key);
		sig_at = w.p;
		put_sig_info(&w, TRIB_NDN_ISIG_INFO, key, &i->sig);
	}
	if (key || i->has_params)
		ndn_tlv_put(&w, TRIB_NDN_PARAMS, i->params.p, i->params.n);
	if (key)
		covered[1] = (struct ndn_bytes){w.p, sig_at - w.p};
	digested[0] = (struct ndn_bytes){w.p, w.end - w.p};
	put_guides(&w, i);
	end = w.p;
	digest = put_name(&w, i, key || i->has_params, &covered[0].n);
	covered[0].p = w.p;
	if (!w.err && key)
		w.err = ndn_sig_make(key, covered, sig);
	if (!w.err && digest)
		ndn_sig_sha256(digested, digest);
	ndn_tlv_put_head(&w, TRIB_NDN_NAME, end);
	ndn_tlv_put_head(&w, TRIB_NDN_INTEREST, w.end);
	err = ndn_tlv_writer_finish(&w, len);
	return err ? err : ndn_interest_decode(&check, buf, *len);
}
