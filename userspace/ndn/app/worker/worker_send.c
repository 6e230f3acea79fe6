// SPDX-License-Identifier: BSD-2-Clause
/* Sends the worker's packets and verifies signatures. */
#include "worker_int.h"

/* HopLimit of Interests: longer than any path. */
#define HOPS 16
/* Lifetime of an Interest, in RTOs. */
#define LIFE_RTOS 4

static void send_packet(struct ndn_worker *w, enum ndn_err err, size_t len)
{
	if (err) {
		w->count[NDN_WORKER_UNSENT]++;
		return;
	}
	w->count[NDN_WORKER_SENT]++;
	w->sent_bytes += len;
	w->config.send(w->config.ctx, w->packet, len);
}

void ndn_worker_ask(struct ndn_worker *w, enum ndn_name_kind what,
		    const struct ndn_name_parts *parts, unsigned int flags)
{
	struct ndn_interest i = {
		.can_be_prefix = flags & NDN_WORKER_ASK_PREFIX,
		.must_be_fresh = flags & NDN_WORKER_ASK_FRESH,
		.has_nonce = true,
		.has_lifetime = true,
		.has_hop_limit = true,
		.nonce = (uint32_t)ndn_random_next(&w->random),
		.lifetime = LIFE_RTOS * w->rto / NDN_MS + 1,
		.hop_limit = HOPS,
	};
	struct ndn_name_buf name;
	enum ndn_err err = ndn_job_name(&name, &w->job, what, parts);
	size_t len = 0;

	if (!err) {
		i.name = ndn_name_of(&name);
		err = ndn_interest_encode(&i, NULL, w->packet, sizeof(w->packet), &len);
	}
	send_packet(w, err, len);
}

void ndn_worker_put(struct ndn_worker *w, const struct ndn_name *name, struct ndn_bytes content)
{
	struct ndn_data d = {.name = *name, .has_content = true, .content = content};
	size_t len = 0;
	enum ndn_err err = ndn_data_encode(&d, &w->config.sign, w->packet, sizeof(w->packet), &len);

	send_packet(w, err, len);
}

bool ndn_worker_trusts(struct ndn_worker *w, const struct ndn_data *d)
{
	if (ndn_data_verify(d, &w->config.verify)) {
		w->count[NDN_WORKER_BAD_SIGNATURE]++;
		return false;
	}
	w->heard = w->now;
	return true;
}
