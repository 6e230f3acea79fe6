// SPDX-License-Identifier: BSD-2-Clause
/* Decodes the fields that a forwarder needs: struct ndn_view. */
#include <string.h>

#include "packet.h"

static uint32_t saturated(uint64_t v)
{
	return v < UINT32_MAX ? v : UINT32_MAX;
}

/* NULL becomes 0, which no field can have: the packet's type is there. */
static uint16_t offset(const uint8_t *buf, const uint8_t *p)
{
	return p ? p - buf : 0;
}

static void view_name(struct ndn_view *v, const uint8_t *buf, const struct ndn_name *name)
{
	v->name_off = name->value - buf;
	v->name_len = name->len;
	v->count = name->count;
	memcpy(v->at, name->at, sizeof(v->at));
}

static void view_packet(struct ndn_view *v, const uint8_t *buf, struct ndn_bytes wire)
{
	v->packet_off = wire.p - buf;
	v->packet_len = wire.n;
}

static void view_interest(struct ndn_view *v, const uint8_t *buf, const struct ndn_interest *i)
{
	unsigned int last = i->name.count - 1;

	view_packet(v, buf, i->wire);
	view_name(v, buf, &i->name);
	v->nonce_off = offset(buf, i->nonce_at);
	v->hop_off = offset(buf, i->hop_limit_at);
	v->lifetime_ms = saturated(i->lifetime);
	if (i->can_be_prefix)
		v->flags |= NDN_VIEW_CAN_BE_PREFIX;
	if (i->must_be_fresh)
		v->flags |= NDN_VIEW_MUST_BE_FRESH;
	if (i->hint.n)
		v->flags |= NDN_VIEW_HINT;
	if (i->has_params)
		v->flags |= NDN_VIEW_PARAMS;
	if (i->is_signed)
		v->flags |= NDN_VIEW_SIGNED;
	if (ndn_name_get(&i->name, last).type == TRIB_NDN_DIGEST)
		v->flags |= NDN_VIEW_DIGEST;
}

static void view_link(struct ndn_view *v, const uint8_t *buf, const struct ndn_lp *lp)
{
	v->token_off = offset(buf, lp->pit_token.p);
	v->token_len = lp->pit_token.n;
	v->congestion = saturated(lp->congestion);
	v->nack_reason = saturated(lp->nack_reason);
	if (lp->is_nack)
		v->flags |= NDN_VIEW_NACK;
}

void ndn_view(struct ndn_view *v, const uint8_t *buf, size_t n)
{
	struct ndn_packet pkt;
	enum ndn_err err;

	memset(v, 0, sizeof(*v));
	err = ndn_packet_read(&pkt, buf, n, true);
	/* A Nack goes no further, so its HopLimit may be 0. */
	if (!err && pkt.type == TRIB_NDN_INTEREST && !pkt.lp.is_nack &&
	    pkt.interest.has_hop_limit && !pkt.interest.hop_limit)
		err = NDN_E_HOPS;
	v->verdict = err;
	if (err)
		return;
	v->type = pkt.type;
	view_link(v, buf, &pkt.lp);
	if (pkt.type == TRIB_NDN_INTEREST) {
		view_interest(v, buf, &pkt.interest);
	} else {
		view_packet(v, buf, pkt.data.wire);
		view_name(v, buf, &pkt.data.name);
		v->fresh_ms = saturated(pkt.data.freshness);
	}
}
