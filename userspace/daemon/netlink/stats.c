// SPDX-License-Identifier: BSD-2-Clause
/*
 * The counters: their names, what they mean, and how they are summed up and
 * reset.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/ndn/ndnd.h"
#include "nl.h"

static const struct stat_text text[TRIB_STAT__MAX] = {
	[TRIB_RX_GRAD] = {"rx-grad",
			  "contributions received, resends included"},
	[TRIB_RX_RESULT] = {"rx-result", "results received"},
	[TRIB_RX_NEED] = {"rx-need", "requests for what is missing"},
	[TRIB_RX_CONTROL] = {"rx-control",
			     "ALIVE, ABORT, JOIN, START and LEAVE"},
	[TRIB_RX_RESEND] = {"rx-resend", "of rx-grad: sent again"},
	[TRIB_RX_BYTES] = {"rx-bytes",
			   "payload bytes of contributions and results"},
	[TRIB_ADDED] = {"added", "contributions merged into a slot"},
	[TRIB_DONE] = {"done", "chunks completed here"},
	[TRIB_TX_RESULT] = {"tx-result", "results multicast, once a group"},
	[TRIB_TX_PARTIAL] = {"tx-partial", "partial sums sent to the parent"},
	[TRIB_TX_ANSWER] = {"tx-answer", "results sent to one child again"},
	[TRIB_TX_NEED] = {"tx-need", "requests for what is missing, sent"},
	[TRIB_TX_GROW] = {"tx-grow", "packets sent by the clsact program"},
	[TRIB_DELIVERED] = {"delivered", "results written into cells"},
	[TRIB_RUNG] = {"rung", "ring buffer records written"},
	[TRIB_EGRESS] = {"egress", "copies rewritten on their way out"},
	[TRIB_POOL_MERGED] = {"pool-merged",
			      "contributions merged into a shared slot"},
	[TRIB_POOL_PASSED] = {"pool-passed",
			      "for this relay, but passed on: no shared slot"},
	[TRIB_POOL_FORWARDED] = {"pool-forwarded",
				 "for other relays or the PS, on their way up"},
	[TRIB_POOL_TAKEN_OVER] = {"pool-taken-over",
				  "old shared slots that another chunk took"},
	[TRIB_POOL_FREED] = {"pool-freed",
			     "shared slots freed by their result"},
	[TRIB_POOL_UNFREED] = {"pool-unfreed",
			       "results that found their shared slot in use"},
	[TRIB_POOL_PROBED] = {"pool-probed", "probes answered"},
	[TRIB_RELAYED] = {"relayed", "packets for other hosts, passed on"},

	[TRIB_DROP_SHORT] = {"drop-short", "the headers do not fit the frame"},
	[TRIB_DROP_VERSION] = {"drop-version", "another wire version"},
	[TRIB_DROP_TYPE] = {"drop-type",
			    "unknown type, or one that is never on a wire"},
	[TRIB_DROP_FORMAT] = {"drop-format",
			      "unknown operation, format or bitmap size"},
	[TRIB_DROP_LENGTH] = {"drop-length",
			      "IP, UDP, header and frame lengths disagree"},
	[TRIB_DROP_GSO] = {"drop-gso",
			   "segmentation offload glued packets together"},
	[TRIB_DROP_FRAGMENT] = {"drop-fragment",
				"IP fragment: an MTU is too small"},
	[TRIB_DROP_NVAL] = {"drop-nval", "more values than a slot holds"},
	[TRIB_DROP_TREE] = {"drop-tree", "no such tree or job here"},
	[TRIB_DROP_COOKIE] = {"drop-cookie", "wrong cookie"},
	[TRIB_DROP_CHILD] = {"drop-child", "no such child of the tree"},
	[TRIB_DROP_FACE] = {"drop-face",
			    "not from the child's or parent's face"},
	[TRIB_DROP_EPOCH] = {"drop-epoch",
			     "another epoch than the running one"},
	[TRIB_DROP_STALE] = {"drop-stale", "older than its slot's chunk"},
	[TRIB_DROP_DUP] = {"drop-dup", "contribution already counted"},
	[TRIB_DROP_SCALE] = {"drop-scale", "scale differs from the slot's"},
	[TRIB_DROP_MISMATCH] = {"drop-mismatch",
				"operation, format or length differ"},
	[TRIB_DROP_BUSY] = {"drop-busy", "the slot was in use for too long"},
	[TRIB_DROP_SEEN] = {"drop-seen", "nothing new, or not our concern"},
	[TRIB_DROP_GROUP] = {"drop-group", "the group is empty"},
	[TRIB_DROP_REWRITE] = {"drop-rewrite",
			       "no MAC or local address known for the face"},
	[TRIB_DROP_GROW] = {"drop-grow", "could not grow or clone a packet"},
	[TRIB_DROP_GROW_GONE] = {"drop-grow-gone",
				 "the slot moved on before a packet grew"},
	[TRIB_DROP_DELIVER] = {"drop-deliver", "no cells to deliver to"},
	[TRIB_DROP_RING] = {"drop-ring", "a rank's ring buffer is full"},
	[TRIB_DROP_HOPS] = {"drop-hops", "nobody to send it on to"},
	[TRIB_DROP_OPTIONS] = {"drop-options",
			       "IP options or extension headers"},
	[TRIB_DROP_BITMAP] = {"drop-bitmap",
			      "bitmap of workers empty, or of another size"},
	[TRIB_DROP_ACKED] = {"drop-acked",
			     "late copy of a chunk whose result went down"},
	[TRIB_DROP_WAITING] = {"drop-waiting",
			       "sent again, but other workers are missing"},
	[TRIB_DROP_MODULE] = {"drop-module",
			      "sum of floats, but loaded without the module"},
	[TRIB_DROP_WIPED] = {"drop-wiped",
			     "sum of floats, soon after trib tree wipe"},
};

const struct stat_text *stat_text(uint32_t id)
{
	if (id >= TRIB_STAT_NDN)
		return ndnd_stat_text(id - TRIB_STAT_NDN);
	return id < TRIB_STAT__MAX && text[id].name ? &text[id] : NULL;
}

uint32_t stat_next(const struct tribd *d, uint32_t id)
{
	uint32_t end = TRIB_STAT_NDN;

	if (d->ndn && d->ndn->on)
		end += NDN_STAT__MAX;
	if (id >= TRIB_STAT__MAX && id < TRIB_STAT_NDN)
		id = TRIB_STAT_NDN;
	while (id < end && !stat_text(id))
		id = id + 1 == TRIB_STAT__MAX ? TRIB_STAT_NDN : id + 1;
	return id < end ? id : STAT_NONE;
}

/* Counters in a row, at most. */
#define STAT_WIDTH_MAX NDN_STAT__MAX

/*
 * struct stat_map - where counters are
 * @fd:   per-CPU array.
 * @rows: its entries, of @width counters each.
 */
struct stat_map {
	int fd;
	uint32_t rows, width;
};

static struct stat_map stat_map(const struct tribd *d, bool ndn)
{
	if (ndn)
		return (struct stat_map){d->ndn->map[NDND_MAP_STATS], 1,
					 NDN_STAT__MAX};
	return (struct stat_map){d->map[MAP_STATS], TRIB_STAT__MAX, 1};
}

/* Sum up a row over all CPUs. @sum: @m->width counters. */
static int row_read(const struct stat_map *m, uint32_t row, uint64_t *sum)
{
	int cpu, cpus = libbpf_num_possible_cpus(), err;
	uint64_t *v;
	uint32_t i;

	if (cpus < 0)
		return cpus;
	v = calloc((size_t)cpus * m->width, sizeof(*v));
	if (!v)
		return -ENOMEM;
	err = bpf_map_lookup_elem(m->fd, &row, v) ? -errno : 0;
	memset(sum, 0, m->width * sizeof(*sum));
	for (cpu = 0; !err && cpu < cpus; cpu++)
		for (i = 0; i < m->width; i++)
			sum[i] += v[(uint32_t)cpu * m->width + i];
	free(v);
	return err;
}

int stat_read(struct tribd *d, uint32_t id, uint64_t *sum)
{
	const bool ndn = id >= TRIB_STAT_NDN;
	const struct stat_map m = stat_map(d, ndn);
	const uint32_t at = ndn ? id - TRIB_STAT_NDN : id;
	uint64_t row[STAT_WIDTH_MAX];
	int err = row_read(&m, at / m.width, row);

	*sum = err ? 0 : row[at % m.width];
	return err;
}

/* Has a counter kept more than half of what it had before a reset? */
static bool row_kept(const uint64_t *before, const uint64_t *after, uint32_t n)
{
	while (n--)
		if (before[n] && after[n] >= before[n] / 2)
			return true;
	return false;
}

/*
 * A program that is adding at this moment may write the old value back: look,
 * and try again. A value that is left after that came since.
 */
static int row_reset(const struct stat_map *m, uint32_t row, const void *zeros)
{
	uint64_t before[STAT_WIDTH_MAX], after[STAT_WIDTH_MAX];
	int tries, err = row_read(m, row, before);

	for (tries = 0; !err && tries < 4; tries++) {
		if (bpf_map_update_elem(m->fd, &row, zeros, BPF_ANY))
			return -errno;
		err = row_read(m, row, after);
		if (!err && !row_kept(before, after, m->width))
			break;
	}
	return err;
}

static int map_reset(const struct stat_map *m, const void *zeros)
{
	uint32_t row;
	int err = 0;

	for (row = 0; !err && row < m->rows; row++)
		err = row_reset(m, row, zeros);
	return err;
}

int stat_reset(struct tribd *d)
{
	int cpus = libbpf_num_possible_cpus(), err;
	struct stat_map m = stat_map(d, false);
	void *zeros;

	if (cpus < 0)
		return cpus;
	zeros = calloc((size_t)cpus * STAT_WIDTH_MAX, sizeof(uint64_t));
	if (!zeros)
		return -ENOMEM;
	err = map_reset(&m, zeros);
	if (!err && d->ndn && d->ndn->on) {
		m = stat_map(d, true);
		err = map_reset(&m, zeros);
	}
	free(zeros);
	return err;
}
