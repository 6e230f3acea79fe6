// SPDX-License-Identifier: BSD-2-Clause
/* Pacing of packets. */
#include "pace.h"

bool ndn_pace_is_open(const struct ndn_pace *p, uint64_t now)
{
	return !p->rate || now >= p->next;
}

void ndn_pace_take(struct ndn_pace *p, uint64_t now, uint32_t bytes)
{
	uint64_t from = now > p->burst ? now - p->burst : 0;

	if (!p->rate)
		return;
	if (p->next < from)
		p->next = from;
	p->next += bytes * 1000000000ULL / p->rate;
}
