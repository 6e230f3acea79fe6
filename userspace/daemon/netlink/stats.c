// SPDX-License-Identifier: BSD-2-Clause
/* Owns the counters: names, meanings, sums over CPUs, reset. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/ndn/ndnd.h"
#include "nl.h"

#define STAT_TEXT(nr, NAME, name, text) [nr] = {#name, text},
#define STAT_NO_TEXT(...)
static const struct stat_text text[TRIB_STAT__MAX] = {TRIB_STATS(STAT_TEXT, STAT_NO_TEXT)};

/* Members of struct trib_stats have underscores; commands show dashes. */
const struct stat_text *stat_text(uint32_t id)
{
	static char name[TRIB_STAT__MAX][32];
	static struct stat_text s[TRIB_STAT__MAX];
	unsigned int i;

	if (id >= TRIB_STAT_NDN)
		return ndnd_stat_text(id - TRIB_STAT_NDN);
	if (id >= TRIB_STAT__MAX || !text[id].name)
		return NULL;
	for (i = 0; i < sizeof(name[id]) - 1 && text[id].name[i]; i++)
		name[id][i] = text[id].name[i] == '_' ? '-' : text[id].name[i];
	s[id] = (struct stat_text){name[id], text[id].text};
	return &s[id];
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

/* Most counters of one map. */
#define STAT_WIDTH_MAX NDN_STAT__MAX
_Static_assert((int)TRIB_STAT__MAX <= (int)STAT_WIDTH_MAX, "width");

/*
 * struct stat_map - the only row of a per-CPU array of counters
 * @width: counters in the row.
 */
struct stat_map {
	int fd;
	uint32_t width;
};

static struct stat_map stat_map(const struct tribd *d, bool ndn)
{
	if (ndn)
		return (struct stat_map){d->ndn->map[NDND_MAP_STATS], NDN_STAT__MAX};
	return (struct stat_map){d->map[MAP_STATS], TRIB_STAT__MAX};
}

/* Sum all counters over all CPUs into @sum, which holds @m->width. */
static int map_read(const struct stat_map *m, uint64_t *sum)
{
	int cpu, cpus = libbpf_num_possible_cpus(), err;
	uint32_t i, row = 0;
	uint64_t *v;

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
	uint64_t v[STAT_WIDTH_MAX];
	int err = map_read(&m, v);

	*sum = err ? 0 : v[ndn ? id - TRIB_STAT_NDN : id];
	return err;
}

/* True if a counter has more than half of its value before the reset. */
static bool map_kept(const uint64_t *before, const uint64_t *after, uint32_t n)
{
	while (n--)
		if (before[n] && after[n] >= before[n] / 2)
			return true;
	return false;
}

/*
 * A program that adds during the reset may write the old value back: check, and
 * reset again. Smaller values were counted since.
 */
static int map_reset(const struct stat_map *m, const void *zeros)
{
	uint64_t before[STAT_WIDTH_MAX], after[STAT_WIDTH_MAX];
	int tries, err = map_read(m, before);
	uint32_t row = 0;

	for (tries = 0; !err && tries < 4; tries++) {
		if (bpf_map_update_elem(m->fd, &row, zeros, BPF_ANY))
			return -errno;
		err = map_read(m, after);
		if (!err && !map_kept(before, after, m->width))
			break;
	}
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
