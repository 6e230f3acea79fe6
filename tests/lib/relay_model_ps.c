// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib-ps behind relay_model.h, in the place of the simulated network's relay:
 * the pure parts of userspace/ps. A wipe is a restart with only the plan left.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine_world.h"
#include "ps/sum/ps.h"

#define TREE 1

static struct ps *ps_of(const struct relay *r)
{
	return r->impl;
}

static struct ps_addr host(unsigned int rank)
{
	struct ps_addr a = {.port = 1};

	a.ip.s6_addr[15] = (uint8_t)rank;
	return a;
}

static void on_to(void *ctx, const struct ps_addr *to, const void *pkt, size_t len,
		  struct ps_place *z)
{
	struct relay *r = ctx;

	(void)z;
	r->out(r, to->ip.s6_addr[15], pkt, len);
}

static void on_result(void *ctx, struct ps_tree *t, struct ps_place *z)
{
	const struct ps_addr *to[SIM_WORKERS * 2];
	unsigned int i, n = ps_tree_dests(t, t->ps->now, to);

	for (i = 0; i < n; i++)
		on_to(ctx, to[i], &z->h, sizeof(z->h) + trib_payload_len(be16toh(z->h.nval)), z);
}

static void on_settle(void *ctx, struct ps_place *z)
{
	(void)ctx;
	(void)z;
}

static int on_save(void *ctx)
{
	(void)ctx;
	return 0;
}

static void on_log(void *ctx, const char *line)
{
	struct relay *r = ctx;

	(void)line;
	r->mismatches++;
}

static const struct ps_ops ops = {
	.to = on_to,
	.result = on_result,
	.settle = on_settle,
	.save = on_save,
	.log = on_log,
};

int relay_init(struct relay *r, unsigned int nchild, unsigned int window)
{
	struct ps_job *j = calloc(1, sizeof(*j));
	struct ps_addr *group = calloc(nchild, sizeof(*group));
	struct ps *ps = calloc(1, sizeof(*ps));
	unsigned int i;

	if (!j || !group || !ps)
		abort();
	j->number = 7;
	j->world = (uint16_t)nchild;
	j->window = (uint16_t)window;
	j->nval = TRIB_NVAL_LARGE;
	j->worker = calloc(nchild, sizeof(*j->worker));
	for (i = 0; i < nchild; i++)
		j->worker[i] = group[i] = host(i);
	ps->ops = &ops;
	ps->ctx = r;
	ps->job[ps->njob++] = j;
	r->nchild = nchild;
	r->impl = ps;
	return ps_tree_new(ps, j, TREE, group, nchild);
}

void relay_free(struct relay *r)
{
	struct ps *ps = ps_of(r);

	ps_free(ps);
	free(ps);
}

void relay_wipe(struct relay *r)
{
	struct ps_tree *t = ps_of(r)->tree[0];

	r->resets++;
	t->epoch = 0;
	memset(t->place, 0, (size_t)(t->mask + 1) * t->stride);
	memset(t->lease_ms, 0, t->job->world * sizeof(*t->lease_ms));
}

void relay_rx(struct relay *r, int from, const void *pkt, size_t len)
{
	const struct sim_relay *me = r->ctx;
	struct ps_addr source = host((unsigned int)from);

	ps_rx(ps_of(r), &source, pkt, len, false, me->sim->now / TRIB_MS);
}
