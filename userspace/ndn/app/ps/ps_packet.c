// SPDX-License-Identifier: BSD-2-Clause
/* Makes, signs and sends the packets of the PS. */
#include "ps.h"

/* FreshnessPeriod: long enough for forwarders that demand fresh Data. */
#define FRESHNESS_MS 1

void nps_send(struct nps *ps, const struct ndn_packet *asked, const uint8_t *pkt, size_t n)
{
	uint8_t room[TRIB_NDN_PACKET_MAX];
	struct ndn_lp lp = {0};
	size_t len;

	/* An answer carries the PIT token of its Interest. */
	if (asked && asked->lp.pit_token.n) {
		lp.pit_token = asked->lp.pit_token;
		if (ndn_lp_encode(&lp, (struct ndn_bytes){pkt, n}, room, sizeof(room), &len))
			return;
		ps->ops->send(ps->ctx, room, len);
		return;
	}
	ps->ops->send(ps->ctx, pkt, n);
}

void nps_express(struct nps_job *job, enum ndn_name_kind what, const struct ndn_name_parts *parts,
		 uint64_t life, bool prefix, bool fresh)
{
	struct nps *ps = job->ps;
	struct ndn_interest i = {
		.can_be_prefix = prefix,
		.must_be_fresh = fresh,
		.has_nonce = true,
		.nonce = (uint32_t)ndn_random_next(&ps->random),
		.has_lifetime = true,
		.lifetime = life / NDN_MS + 1,
		.has_hop_limit = true,
		.hop_limit = NPS_HOPS,
	};
	struct ndn_name_buf name;
	size_t len;

	if (ndn_job_name(&name, &job->names, what, parts)) {
		job->drop[NPS_DROP_ENCODE]++;
		return;
	}
	i.name = ndn_name_of(&name);
	if (ndn_interest_encode(&i, NULL, ps->out, sizeof(ps->out), &len)) {
		job->drop[NPS_DROP_ENCODE]++;
		return;
	}
	nps_send(ps, NULL, ps->out, len);
}

enum ndn_err nps_data_make(struct nps_job *job, enum ndn_name_kind what,
			   const struct ndn_name_parts *parts, struct ndn_bytes content,
			   const uint32_t *segments, uint8_t *buf, size_t size, size_t *len)
{
	struct ndn_data d = {
		.has_freshness = true,
		.freshness = FRESHNESS_MS,
		.has_content = content.n > 0,
		.content = content,
	};
	struct ndn_name_buf name, last = {0};
	struct ndn_name in_last;
	enum ndn_err err = ndn_job_name(&name, &job->names, what, parts);

	if (!err && segments)
		err = ndn_name_append_number(&last, TRIB_NDN_SEGMENT, *segments - 1);
	if (err)
		return err;
	d.name = ndn_name_of(&name);
	if (segments) {
		in_last = ndn_name_of(&last);
		d.has_final = true;
		d.final_block = ndn_name_get(&in_last, 0);
	}
	job->count[NPS_COUNT_SIGNED]++;
	return ndn_data_encode(&d, job->spec.key, buf, size, len);
}
