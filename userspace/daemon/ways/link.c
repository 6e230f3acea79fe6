// SPDX-License-Identifier: BSD-2-Clause
#include "link.h"

#include <string.h>

void ways_link_start(struct ways_link *l)
{
	memset(l->asked, 0, sizeof(l->asked));
	l->heard = l->digest = 0;
	l->known = l->met = l->dead = false;
	l->silent = 0;
	l->signs = WAYS_SIGNS;
}

bool ways_link_judge(struct ways_link *l)
{
	l->silent++;
	/* The other end's turn may be a little longer than ours. */
	if (l->met && l->silent > 2)
		l->signs = l->signs > 2 ? l->signs - 2 : 0;
	if (l->dead || l->silent <= WAYS_PROBES)
		return false;
	l->dead = true;
	return true;
}

void ways_link_asked(struct ways_link *l, uint64_t number)
{
	memmove(l->asked + 1, l->asked, sizeof(l->asked) - sizeof(l->asked[0]));
	l->asked[0] = number;
}

/* Take @echo off the list, and all older ones. Return: it was there. */
static bool is_fresh(struct ways_link *l, uint64_t echo)
{
	unsigned int i;

	if (!echo)
		return false;
	for (i = 0; i < WAYS_PROBES && l->asked[i] != echo; i++)
		;
	if (i == WAYS_PROBES)
		return false;
	memset(l->asked + i, 0, (WAYS_PROBES - i) * sizeof(l->asked[0]));
	return true;
}

bool ways_link_heard(struct ways_link *l, uint64_t number, uint64_t echo, uint64_t digest)
{
	bool fresh = is_fresh(l, echo);

	/* A copy of an old probe has neither. A neighbour whose clock went back has the first. */
	if (!fresh && number <= l->heard)
		return false;
	l->heard = number;
	l->digest = digest;
	l->known = true;
	if (!fresh)
		return false;
	l->met = true;
	if (l->silent && l->signs < WAYS_SIGNS)
		l->signs++;
	l->silent = 0;
	if (!l->dead || l->signs < WAYS_SIGNS)
		return false;
	l->dead = false;
	return true;
}
