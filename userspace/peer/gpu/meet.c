// SPDX-License-Identifier: BSD-2-Clause
/*
 * The first call: ranks tell what they can, choose one way for all of them, and open
 * what it needs. Each choice is swapped, so that all fall back together.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "own.h"

#define MAGIC 0x54504755 /* "TPGU" */
#define GPU_PAGE (2 << 20)

/**
 * struct gpu_hello - what a rank tells
 * @wanted, @slot: must be the same on all.
 * @ipc:   its areas are ready: @areas; @port, its port for notes.
 * @why:   ... or why they are not.
 * @nccl:  it has NCCL; @nccl_id: made by the machine's leader; @nccl_why: as @why.
 */
struct gpu_hello {
	uint32_t magic;
	uint32_t wanted;
	uint64_t slot;
	uint32_t ipc;
	uint32_t port_len;
	uint8_t uuid[TRIB_GPU_UUID];
	uint8_t areas[TRIB_GPU_HANDLE];
	uint8_t port[256];
	char why[120];
	uint32_t nccl;
	uint8_t nccl_id[128];
	char nccl_why[124];
};

/** struct gpu_result - whether a rank could open a way */
struct gpu_result {
	uint32_t good;
	char why[124];
};

/* --- swapping */

static int swap(struct peer_gpu *g, const void *blob, size_t len, const void **all, size_t *lens)
{
	struct trib_peer_error e = {.rank = -1};
	struct peer_fault f;
	int rc = peer_boot_swap(g->conf.boot, blob, len, all, lens, &e);

	if (!rc)
		return 0;
	f = (struct peer_fault){.err = rc, .peer = e.rank};
	snprintf(f.text, sizeof(f.text), "%.190s", e.text);
	peer_crew_fail(g->conf.crew, &f);
	return rc;
}

/* Give all ranks @blob of @len bytes. Return: those of all, by rank, or NULL. */
static void *swap_all(struct peer_gpu *g, const void *blob, size_t len)
{
	uint32_t world = g->conf.world, r;
	const void **all = calloc(world, sizeof(*all));
	size_t *lens = calloc(world, sizeof(*lens));
	unsigned char *out = calloc(world, len);
	int rc = -ENOMEM;

	if (!all || !lens || !out)
		gpu_fail(g, rc, "out of memory");
	else
		rc = swap(g, blob, len, all, lens);
	for (r = 0; !rc && r < world; r++) {
		if (lens[r] != len)
			rc = gpu_fail(g, -EPROTO, "rank %u has another version of libtrib-peer", r);
		else
			memcpy(out + r * len, all[r], len);
	}
	if (all && all[0])
		peer_boot_swap_free(all);
	free(all);
	free(lens);
	if (!rc)
		return out;
	free(out);
	return NULL;
}

/* Return: 1: all ranks could, 0: @why says who could not, or -errno. */
static int all_could(struct peer_gpu *g, const struct gpu_result *own, char *why, size_t room)
{
	struct gpu_result *all = swap_all(g, own, sizeof(*own));
	uint32_t r, bad;

	if (!all)
		return -EPROTO;
	for (bad = r = 0; r < g->conf.world && !bad; r++) {
		bad = !all[r].good;
		if (bad)
			snprintf(why, room, "rank %u: %.120s", r, all[r].why);
	}
	free(all);
	return !bad;
}

/* --- this rank's part */

static int find_locals(struct peer_gpu *g)
{
	const struct peer_gpu_conf *c = &g->conf;
	uint32_t r;

	g->local = calloc(c->world, sizeof(*g->local));
	if (!g->local)
		return gpu_fail(g, -ENOMEM, "out of memory");
	for (r = 0; r < c->world; r++) {
		if (c->machine[r] != c->machine[c->rank])
			continue;
		if (r == c->rank)
			g->me = g->nlocal;
		if (r == c->leader[c->machine[r]])
			g->lead = g->nlocal;
		g->local[g->nlocal++].rank = r;
	}
	g->leads = g->me == g->lead;
	return 0;
}

/* Why no machine's ranks may add up by themselves; NULL: they may. The same on all ranks. */
static const char *why_apart(const struct peer_gpu *g)
{
	uint32_t m, r, n, most = 0;

	for (m = 0; m < g->conf.machines; m++) {
		for (n = r = 0; r < g->conf.world; r++)
			n += g->conf.machine[r] == m;
		most = most < n ? n : most;
	}
	if (g->wanted == GPU_HOST)
		return "as TRIB_PEER_GPU_WAY says";
	if (g->conf.intra == PEER_INTRA_NONE)
		return "intra is none";
	if (most < 2)
		return "no two ranks share a machine";
	return most > TRIB_GPU_REDUCE_MAX ? "more than 16 ranks share a machine" : NULL;
}

static int make_streams(struct peer_gpu *g)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < GPU_STAGES && !rc; i++)
		rc = gpu_rc(g, g->ops->stream_new(&g->stream[i]));
	return rc;
}

static int make_pinned(struct peer_gpu *g)
{
	g->pinned = g->ops->host_new(PEER_GPU_SLOTS * g->slot);
	return g->pinned ? 0
			 : gpu_fail(g, -ENOMEM, "no pinned memory of %zu bytes: %s",
				    PEER_GPU_SLOTS * g->slot, g->ops->error_text());
}

static unsigned char *out_of(const struct peer_gpu *g, unsigned char *in)
{
	return in + PEER_GPU_SLOTS * g->slot;
}

/*
 * Make areas that others can open. Smaller ones would share a page of the GPU with other
 * memory. Return: 0 or -errno, with h->why.
 */
static int make_areas(struct peer_gpu *g, struct gpu_hello *h)
{
	size_t len = 2 * PEER_GPU_SLOTS * g->slot;

	g->in = g->ops->memory_new(len < GPU_PAGE ? GPU_PAGE : len);
	g->out = g->in ? out_of(g, g->in) : NULL;
	if (g->in && !g->ops->export_memory(h->areas, g->in) && !g->ops->identify(h->uuid))
		return 0;
	snprintf(h->why, sizeof(h->why), "%s", g->ops->error_text());
	return -EIO;
}

static void drop_areas(struct peer_gpu *g)
{
	if (g->in)
		g->ops->memory_free(g->in);
	g->in = g->out = NULL;
}

static int prepare(struct peer_gpu *g, struct gpu_hello *h)
{
	int rc;

	*h = (struct gpu_hello){.magic = MAGIC, .wanted = g->wanted, .slot = g->slot};
	if (why_apart(g))
		return 0;
	if (g->nlocal > 1) {
		rc = gpu_notes_open(g);
		if (rc)
			return rc;
		h->port_len = (uint32_t)g->port->ops->blob(g->port, h->port, sizeof(h->port));
	}
	h->ipc = !make_areas(g, h);
	if (g->wanted != GPU_IPC)
		h->nccl = gpu_nccl_offer(g, h->nccl_id, h->nccl_why, sizeof(h->nccl_why));
	return 0;
}

/* --- all together */

static int check(struct peer_gpu *g, const struct gpu_hello *h, uint32_t rank)
{
	if (h->magic != MAGIC || h->port_len > sizeof(h->port))
		return gpu_fail(g, -EPROTO, "rank %u has another version of libtrib-peer", rank);
	if (h->wanted != g->wanted || h->slot != g->slot)
		return gpu_fail(
			g, -EINVAL,
			"rank %u has another TRIB_PEER_GPU_WAY or TRIB_PEER_GPU_SEGMENT than this rank",
			rank);
	return 0;
}

static int connect_notes(struct peer_gpu *g, const struct gpu_hello *all)
{
	uint32_t link, rank;
	int rc = 0;

	for (link = 0; g->port && link + 1 < g->nlocal && !rc; link++) {
		rank = g->local[link < g->me ? link : link + 1].rank;
		rc = g->port->ops->connect(g->port, link, all[rank].port, all[rank].port_len);
		if (rc)
			return gpu_fail(g, rc, "cannot meet rank %u by shared memory: %s", rank,
					strerror(-rc));
	}
	return 0;
}

/* Open the areas of the machine's other ranks. */
static void open_areas(struct peer_gpu *g, const struct gpu_hello *all, struct gpu_result *res)
{
	struct gpu_local *l;
	void *in = NULL;
	unsigned int i;

	*res = (struct gpu_result){.good = 1};
	for (i = 0; i < g->nlocal && res->good; i++) {
		l = &g->local[i];
		if (i == g->me)
			l->in = g->in;
		else if (!g->ops->open(&in, all[l->rank].areas))
			l->in = in;
		l->out = l->in ? out_of(g, l->in) : NULL;
		res->good = l->in != NULL;
		if (!res->good)
			snprintf(res->why, sizeof(res->why), "cannot open memory of rank %u: %s",
				 l->rank, g->ops->error_text());
	}
}

void gpu_part(struct peer_gpu *g)
{
	unsigned int i;

	for (i = 0; i < g->nlocal; i++) {
		if (i != g->me && g->local[i].in)
			g->ops->close(g->local[i].in);
		g->local[i].in = g->local[i].out = NULL;
	}
}

/* Values pass the host's memory between machines, and why. */
static const char *hmem(const struct peer_gpu *g)
{
	return peer_nic_hmem(g->conf.provider)
		       ? "the provider offers FI_HMEM, which is not used yet"
		       : "the provider has no FI_HMEM for GPU memory";
}

static int choose(struct peer_gpu *g, const struct gpu_way *way, const char *why)
{
	bool host = way == &gpu_way_host;
	int rc = 0;

	if (host && g->wanted != GPU_AUTO && g->wanted != GPU_HOST)
		return gpu_fail(g, -ENODEV, "TRIB_PEER_GPU_WAY asks for more than there is: %s",
				why);
	if (host) {
		gpu_part(g);
		drop_areas(g);
	}
	if (host || g->conf.machines > 1)
		rc = make_pinned(g);
	pthread_mutex_lock(&g->lock);
	g->chosen = way;
	g->rest = g->conf.machines == 1 ? way : &gpu_way_host;
	if (host || g->conf.machines > 1)
		snprintf(g->why, sizeof(g->why), "%.160s; %s", why, hmem(g));
	else
		snprintf(g->why, sizeof(g->why), "%s", why);
	pthread_mutex_unlock(&g->lock);
	return rc;
}

static int choose_host(struct peer_gpu *g, const char *because)
{
	char why[256];

	snprintf(why, sizeof(why), "by pinned host memory (%s)", because);
	return choose(g, &gpu_way_host, why);
}

/* Why the ranks of this machine cannot use NCCL; NULL: they can. */
static const char *why_no_nccl(const struct peer_gpu *g, const struct gpu_hello *all)
{
	const struct gpu_hello *a, *b;
	unsigned int i, k;

	for (i = 0; i < g->nlocal; i++) {
		a = &all[g->local[i].rank];
		if (!a->ipc || !a->nccl)
			return a->ipc ? a->nccl_why : a->why;
		for (k = 0; k < i; k++) {
			b = &all[g->local[k].rank];
			if (!memcmp(a->uuid, b->uuid, sizeof(a->uuid)))
				return "no NCCL: ranks share a GPU";
		}
	}
	return NULL;
}

/* Return: 1: NCCL was chosen, 0: @why says why not, or -errno. */
static int try_nccl(struct peer_gpu *g, const struct gpu_hello *all, char *why, size_t room)
{
	const char *not = why_no_nccl(g, all);
	struct gpu_result own = {.good = !not };
	int rc;

	/* All machines can, before any begins: who begins waits for the others. */
	snprintf(own.why, sizeof(own.why), "%s", not ? not : "");
	rc = all_could(g, &own, why, room);
	if (rc <= 0)
		return rc;
	own.good = !gpu_nccl_join(g, all[g->local[g->lead].rank].nccl_id, own.why, sizeof(own.why));
	rc = all_could(g, &own, why, room);
	if (rc <= 0) {
		gpu_nccl_part(g);
		return rc;
	}
	if (g->conf.machines == 1)
		rc = choose(g, &gpu_way_nccl_call, "by NCCL");
	else
		rc = choose(g, &gpu_way_nccl,
			    "ranks of a machine by NCCL, machines by pinned host memory");
	return rc ? rc : 1;
}

/* Return: as try_nccl(). */
static int try_ipc(struct peer_gpu *g, const struct gpu_hello *all, char *why, size_t room)
{
	struct gpu_result own;
	uint32_t r;
	int rc;

	for (r = 0; r < g->conf.world; r++) {
		if (all[r].ipc)
			continue;
		snprintf(why, room, "no IPC: rank %u: %.120s", r, all[r].why);
		return 0;
	}
	open_areas(g, all, &own);
	rc = all_could(g, &own, why, room);
	if (rc <= 0)
		return rc;
	rc = choose(g, &gpu_way_ipc,
		    g->conf.machines > 1
			    ? "ranks of a machine by CUDA IPC, machines by pinned host memory"
			    : "by CUDA IPC");
	return rc ? rc : 1;
}

static int choose_of(struct peer_gpu *g, const struct gpu_hello *all)
{
	const char *apart = why_apart(g);
	char why[160] = "";
	uint32_t r;
	int rc = 0;

	for (r = 0; r < g->conf.world && !rc; r++)
		rc = check(g, &all[r], r);
	if (!rc && apart)
		return choose_host(g, apart);
	if (!rc)
		rc = connect_notes(g, all);
	if (!rc && g->wanted != GPU_IPC)
		rc = try_nccl(g, all, why, sizeof(why));
	if (!rc && g->wanted != GPU_NCCL)
		rc = try_ipc(g, all, why, sizeof(why));
	if (rc)
		return rc > 0 ? 0 : rc;
	return choose_host(g, why);
}

int gpu_meet(struct peer_gpu *g)
{
	struct gpu_hello own, *all;
	int rc = find_locals(g);

	if (!rc)
		rc = make_streams(g);
	if (rc)
		return rc;
	if (g->conf.world == 1) {
		pthread_mutex_lock(&g->lock);
		g->chosen = g->rest = &gpu_way_alone;
		snprintf(g->why, sizeof(g->why), "one rank");
		pthread_mutex_unlock(&g->lock);
		return 0;
	}
	rc = prepare(g, &own);
	if (rc)
		return rc;
	all = swap_all(g, &own, sizeof(own));
	if (!all)
		return -EPROTO;
	rc = choose_of(g, all);
	free(all);
	return rc;
}
