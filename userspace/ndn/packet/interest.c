// SPDX-License-Identifier: BSD-2-Clause
/* Decodes Interests. */
#include <string.h>

#include "packet.h"

enum place {
	CAN_BE_PREFIX,
	MUST_BE_FRESH,
	HINT,
	NONCE,
	LIFETIME,
	HOP_LIMIT,
	PARAMS,
	SIG_INFO,
	SIG_VALUE,
	PLACES
};

static const uint16_t order[PLACES] = {
	[CAN_BE_PREFIX] = TRIB_NDN_CAN_BE_PREFIX,
	[MUST_BE_FRESH] = TRIB_NDN_MUST_BE_FRESH,
	[HINT] = TRIB_NDN_HINT,
	[NONCE] = TRIB_NDN_NONCE,
	[LIFETIME] = TRIB_NDN_LIFETIME,
	[HOP_LIMIT] = TRIB_NDN_HOP_LIMIT,
	[PARAMS] = TRIB_NDN_PARAMS,
	[SIG_INFO] = TRIB_NDN_ISIG_INFO,
	[SIG_VALUE] = TRIB_NDN_ISIG_VALUE,
};

/* Beginnings of the parts that signature and digest cover. */
struct marks {
	const uint8_t *params;
	const uint8_t *sig_info;
	const uint8_t *sig_value;
};

static enum ndn_err check_hint(struct ndn_bytes hint)
{
	static const uint16_t names[] = {TRIB_NDN_NAME};
	struct ndn_name name;
	unsigned int found = 0, place;
	struct ndn_tlv_walk w;
	enum ndn_err err;
	struct ndn_tlv t;

	ndn_tlv_walk_begin(&w, hint);
	for (;; found++) {
		/* The name is the only element that may be repeated. */
		w.pos = 0;
		err = ndn_tlv_walk_known(&w, names, 1, &t, &place);
		if (err)
			return err;
		if (place)
			return found ? NDN_OK : NDN_E_HINT;
		err = ndn_name_decode(&name, t.value.p, t.value.n);
		if (err)
			return err;
	}
}

static enum ndn_err read_flag(bool *flag, const struct ndn_tlv *t)
{
	*flag = true;
	return t->value.n ? NDN_E_SIZE : NDN_OK;
}

static enum ndn_err read_nonce(struct ndn_interest *i, const struct ndn_tlv *t)
{
	const uint8_t *p = t->value.p;

	if (t->value.n != TRIB_NDN_NONCE_SIZE)
		return NDN_E_SIZE;
	i->has_nonce = true;
	i->nonce = (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
	i->nonce_at = p;
	return NDN_OK;
}

static enum ndn_err read_hop_limit(struct ndn_interest *i, const struct ndn_tlv *t)
{
	if (t->value.n != 1)
		return NDN_E_SIZE;
	i->has_hop_limit = true;
	i->hop_limit = *t->value.p;
	i->hop_limit_at = t->value.p;
	return NDN_OK;
}

static enum ndn_err read_element(struct ndn_interest *i, enum place place, const struct ndn_tlv *t,
				 struct marks *m, bool shallow)
{
	switch (place) {
	case CAN_BE_PREFIX:
		return read_flag(&i->can_be_prefix, t);
	case MUST_BE_FRESH:
		return read_flag(&i->must_be_fresh, t);
	case HINT:
		i->hint = t->value;
		if (!shallow)
			return check_hint(t->value);
		return t->value.n ? NDN_OK : NDN_E_HINT;
	case NONCE:
		return read_nonce(i, t);
	case LIFETIME:
		i->has_lifetime = true;
		return ndn_tlv_number(t->value, &i->lifetime);
	case HOP_LIMIT:
		return read_hop_limit(i, t);
	case PARAMS:
		i->has_params = true;
		i->params = t->value;
		m->params = t->start;
		return NDN_OK;
	case SIG_INFO:
		m->sig_info = t->start;
		return shallow ? NDN_OK : ndn_sig_info_read(&i->sig, t->value);
	case SIG_VALUE:
		i->sig.value = t->value;
		m->sig_value = t->start;
		return NDN_OK;
	case PLACES:
		break;
	}
	return NDN_OK;
}

/*
 * An implicit digest must be the last component. There is one digest of the
 * parameters if there are parameters; in a signed Interest it must be last.
 */
static enum ndn_err check_digests(const struct ndn_interest *i)
{
	unsigned int implicit, params, at;

	at = ndn_name_only(&i->name, TRIB_NDN_DIGEST, &implicit);
	if (implicit && at + 1 != i->name.count)
		return NDN_E_DIGEST_PLACE;
	at = ndn_name_only(&i->name, TRIB_NDN_PARAMS_DIGEST, &params);
	if (params != i->has_params)
		return NDN_E_PARAMS;
	if (i->is_signed && at + 1 != i->name.count)
		return NDN_E_DIGEST_PLACE;
	return NDN_OK;
}

static enum ndn_err settle(struct ndn_interest *i, const struct marks *m)
{
	const uint8_t *end = i->wire.p + i->wire.n;
	enum ndn_err err;

	if (!m->sig_info != !m->sig_value)
		return NDN_E_UNSIGNED;
	i->is_signed = m->sig_info;
	/* The second signed part begins with the parameters. */
	if (i->is_signed && !i->has_params)
		return NDN_E_PARAMS;
	err = check_digests(i);
	if (err)
		return err;
	if (i->has_params)
		i->digested = (struct ndn_bytes){m->params, end - m->params};
	if (i->is_signed) {
		i->sig.covered[0].p = i->name.value;
		i->sig.covered[0].n = i->name.at[i->name.count - 1];
		i->sig.covered[1].p = m->params;
		i->sig.covered[1].n = m->sig_value - m->params;
	}
	if (!i->has_lifetime)
		i->lifetime = TRIB_NDN_LIFETIME_MS;
	return NDN_OK;
}

enum ndn_err ndn_interest_read(struct ndn_interest *i, const struct ndn_tlv *t, bool shallow)
{
	struct marks m = {0};
	unsigned int place;
	struct ndn_tlv_walk w;
	enum ndn_err err;
	struct ndn_tlv e;

	memset(i, 0, sizeof(*i));
	i->wire.p = t->start;
	i->wire.n = t->value.p + t->value.n - t->start;
	ndn_tlv_walk_begin(&w, t->value);
	err = ndn_name_read(&w, &i->name, &e);
	while (!err) {
		err = ndn_tlv_walk_known(&w, order, PLACES, &e, &place);
		if (!err && place == PLACES)
			return settle(i, &m);
		if (!err)
			err = read_element(i, place, &e, &m, shallow);
	}
	return err;
}

enum ndn_err ndn_interest_decode(struct ndn_interest *i, const uint8_t *buf, size_t n)
{
	enum ndn_err err;
	struct ndn_tlv t;

	err = ndn_tlv_only(&t, buf, n);
	if (err)
		return err;
	if (t.type != TRIB_NDN_INTEREST)
		return NDN_E_KIND;
	return ndn_interest_read(i, &t, false);
}
