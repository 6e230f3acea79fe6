// SPDX-License-Identifier: BSD-2-Clause
/*
 * A tree's newest epoch, the headers of packets that go down it and their
 * destinations; and the names of all counters.
 */
#include <endian.h>
#include <string.h>

#include "ps.h"

const char *const ps_drop_name[PS_DROP__MAX] = {
	[PS_DROP_SHORT] = "drop-short",	    [PS_DROP_VERSION] = "drop-version",
	[PS_DROP_LENGTH] = "drop-length",   [PS_DROP_TYPE] = "drop-type",
	[PS_DROP_TREE] = "drop-tree",	    [PS_DROP_AUTH] = "drop-auth",
	[PS_DROP_RANK] = "drop-rank",	    [PS_DROP_BITMAP] = "drop-bitmap",
	[PS_DROP_FORMAT] = "drop-format",   [PS_DROP_EPOCH] = "drop-epoch",
	[PS_DROP_STALE] = "drop-stale",	    [PS_DROP_SHAPE] = "drop-shape",
	[PS_DROP_OVERLAP] = "drop-overlap", [PS_DROP_KNOWN] = "drop-known",
	[PS_DROP_DONE] = "drop-done",	    [PS_DROP_PACE] = "drop-pace",
	[PS_DROP_SOURCE] = "drop-source",   [PS_DROP_JOIN] = "drop-join",
	[PS_DROP_REPLAY] = "drop-replay",   [PS_DROP_MASK] = "drop-mask",
};

const char *const ps_count_name[PS_COUNT__MAX] = {
	[PS_COUNT_GRAD] = "grad",	  [PS_COUNT_PARTIAL] = "partial",
	[PS_COUNT_SUPERSET] = "superset", [PS_COUNT_DONE] = "done",
	[PS_COUNT_TAKEN] = "taken",	  [PS_COUNT_ANSWER] = "answer",
	[PS_COUNT_ASK] = "ask",		  [PS_COUNT_NEED] = "need",
	[PS_COUNT_PROBE] = "probe",	  [PS_COUNT_ALIVE] = "alive",
	[PS_COUNT_ABORT] = "abort",	  [PS_COUNT_JOIN] = "join",
	[PS_COUNT_BYTES] = "bytes",
};

void ps_hdr_fill(const struct ps_tree *t, struct trib_hdr *h, uint8_t type)
{
	memset(h, 0, sizeof(*h));
	h->version = TRIB_WIRE_VERSION;
	h->type = type;
	h->job = htobe16(t->job->number);
	h->tree = htobe16(t->number);
	h->auth = t->down_secret;
}

bool ps_tree_epoch(struct ps_tree *t, uint32_t epoch)
{
	if (!epoch || epoch > PS_EPOCH_MAX)
		return false;
	if (epoch == t->epoch)
		return true;
	if (t->epoch && (int32_t)(epoch - t->epoch) < 0)
		return false;
	t->epoch = epoch;
	return true;
}

unsigned int ps_tree_dests(const struct ps_tree *t, uint64_t now, const struct ps_addr **out)
{
	unsigned int i, n = 0;

	for (i = 0; i < t->ngroup; i++)
		out[n++] = &t->group[i];
	for (i = 0; i < t->job->world; i++)
		if (t->lease_ms[i] > now && !t->direct[i])
			out[n++] = &t->job->worker[i];
	return n;
}
