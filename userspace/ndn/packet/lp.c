// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decodes and encodes link packets (NDNLPv2). Their rules are stricter than those
 * of packets: few unknown fields may be skipped, types strictly increase, and the
 * Fragment is last.
 */
#include <string.h>

#include "packet.h"

struct fragment {
	uint64_t index;
	uint64_t count;
};

static enum ndn_err read_nack(struct ndn_lp *lp, struct ndn_bytes value)
{
	static const uint16_t within[] = {TRIB_NDN_LP_NACK_REASON};
	unsigned int place;
	struct ndn_tlv_walk w;
	enum ndn_err err;
	struct ndn_tlv t;

	lp->is_nack = true;
	ndn_tlv_walk_begin(&w, value);
	do {
		err = ndn_tlv_walk_known(&w, within, 1, &t, &place);
		if (err || place)
			return err;
		err = ndn_tlv_number(t.value, &lp->nack_reason);
	} while (!err);
	return err;
}

static bool may_skip(uint32_t type)
{
	return type >= TRIB_NDN_LP_SKIP_MIN && type <= TRIB_NDN_LP_SKIP_MAX && !(type & 3);
}

static enum ndn_err read_field(struct ndn_lp *lp, struct fragment *f, const struct ndn_tlv *t)
{
	switch (t->type) {
	case TRIB_NDN_LP_SEQUENCE:
	case TRIB_NDN_LP_ACK:
		return t->value.n == 8 ? NDN_OK : NDN_E_SIZE;
	case TRIB_NDN_LP_FRAG_INDEX:
		return ndn_tlv_number(t->value, &f->index);
	case TRIB_NDN_LP_FRAG_COUNT:
		return ndn_tlv_number(t->value, &f->count);
	case TRIB_NDN_LP_PIT_TOKEN:
		lp->pit_token = t->value;
		return t->value.n >= 1 && t->value.n <= TRIB_NDN_TOKEN_MAX ? NDN_OK : NDN_E_SIZE;
	case TRIB_NDN_LP_NACK:
		return read_nack(lp, t->value);
	case TRIB_NDN_LP_CONGESTION:
		return ndn_tlv_number(t->value, &lp->congestion);
	}
	return may_skip(t->type) ? NDN_OK : NDN_E_LP_FIELD;
}

enum ndn_err ndn_lp_read(struct ndn_lp *lp, const struct ndn_tlv *t, struct ndn_tlv *inner)
{
	struct fragment f = {.index = 0, .count = 1};
	uint32_t last = 0;
	struct ndn_tlv_walk w;
	enum ndn_err err;
	struct ndn_tlv e;

	memset(lp, 0, sizeof(*lp));
	ndn_tlv_walk_begin(&w, t->value);
	for (;;) {
		if (ndn_tlv_walk_is_over(&w))
			return NDN_E_LP_EMPTY;
		err = ndn_tlv_walk_next(&w, &e);
		if (err)
			return err;
		if (e.type == TRIB_NDN_LP_FRAGMENT)
			break;
		if (e.type < last || (e.type == last && e.type != TRIB_NDN_LP_ACK))
			return NDN_E_LP_ORDER;
		last = e.type;
		err = read_field(lp, &f, &e);
		if (err)
			return err;
	}
	if (!ndn_tlv_walk_is_over(&w))
		return NDN_E_LP_ORDER;
	if (f.index || f.count != 1)
		return NDN_E_LP_FRAGMENTED;
	if (!e.value.n)
		return NDN_E_LP_EMPTY;
	err = ndn_tlv_only(inner, e.value.p, e.value.n);
	if (!err && lp->is_nack && inner->type != TRIB_NDN_INTEREST)
		err = NDN_E_LP_NACK;
	return err;
}

enum ndn_err ndn_lp_encode(const struct ndn_lp *lp, struct ndn_bytes fragment, uint8_t *buf,
			   size_t size, size_t *len)
{
	struct ndn_tlv_writer w;
	const uint8_t *end;

	if (!fragment.n)
		return NDN_E_LP_EMPTY;
	if (lp->pit_token.n > TRIB_NDN_TOKEN_MAX)
		return NDN_E_SIZE;
	ndn_tlv_writer_begin(&w, buf, size);
	ndn_tlv_put(&w, TRIB_NDN_LP_FRAGMENT, fragment.p, fragment.n);
	if (lp->congestion)
		ndn_tlv_put_number(&w, TRIB_NDN_LP_CONGESTION, lp->congestion);
	if (lp->is_nack) {
		end = w.p;
		if (lp->nack_reason)
			ndn_tlv_put_number(&w, TRIB_NDN_LP_NACK_REASON, lp->nack_reason);
		ndn_tlv_put_head(&w, TRIB_NDN_LP_NACK, end);
	}
	if (lp->pit_token.n)
		ndn_tlv_put(&w, TRIB_NDN_LP_PIT_TOKEN, lp->pit_token.p, lp->pit_token.n);
	ndn_tlv_put_head(&w, TRIB_NDN_LP, w.end);
	return ndn_tlv_writer_finish(&w, len);
}
