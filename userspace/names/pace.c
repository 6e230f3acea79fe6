// SPDX-License-Identifier: BSD-2-Clause
/* A pacing clock. */
#include "userspace/names/pace.h"

bool names_pace_is_open(const struct names_pace *p, uint64_t now)
{
	return !p->rate || now >= p->next;
}

void names_pace_take(struct names_pace *p, uint64_t now, uint32_t bytes)
{
	uint64_t from = now > p->burst ? now - p->burst : 0;

	if (!p->rate)
		return;
	if (p->next < from)
		p->next = from;
	p->next += bytes * 1000000000ULL / p->rate;
}
