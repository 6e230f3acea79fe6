// SPDX-License-Identifier: BSD-2-Clause
/* Names and meanings of the NDN forwarder's counters, from NDN_STATS. */
#include <stdio.h>
#include <string.h>

#include "ndn/packet/ndn.h"
#include "ndnd.h"

#define STAT_TEXT(nr, NAME, name, text) [nr] = {#name, text},
#define STAT_NO_TEXT(...)
static const struct stat_text stats[NDN_STAT__MAX] = {NDN_STATS(STAT_TEXT, STAT_NO_TEXT)};

/* Members of struct ndn_stats have underscores; commands show dashes. */
const struct stat_text *ndnd_stat_text(uint32_t id)
{
	static char name[32];
	static struct stat_text s;
	char *c;

	if (id >= NDN_STAT__MAX || !stats[id].name)
		return NULL;
	snprintf(name, sizeof(name), "ndn-%s", stats[id].name);
	while ((c = strchr(name, '_')))
		*c = '-';
	s.name = name;
	s.text = stats[id].text;
	if (!s.text)
		s.text = ndn_err_text((enum ndn_err)(id - NDN_STAT_BAD));
	return &s;
}
