// SPDX-License-Identifier: BSD-2-Clause
/* A machine's communicator of NCCL: its leader makes the id, which the hello carries. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "nccl.h"
#include "own.h"

_Static_assert(sizeof(struct nccl_id) == NCCL_ID, "ids have 128 bytes");

bool gpu_nccl_offer(struct peer_gpu *g, unsigned char id[NCCL_ID], char *why, size_t room)
{
	struct nccl_id made;
	int rc;

	g->nccl_lib = gpu_nccl_find(why, room);
	if (!g->nccl_lib || !g->leads)
		return g->nccl_lib;
	rc = g->nccl_lib->get_id(&made);
	if (rc)
		snprintf(why, room, "NCCL: %s", g->nccl_lib->text(rc));
	else
		memcpy(id, &made, sizeof(made));
	return !rc;
}

int gpu_nccl_join(struct peer_gpu *g, const unsigned char id[NCCL_ID], char *why, size_t room)
{
	struct nccl_id copy;
	int rc;

	memcpy(&copy, id, sizeof(copy));
	rc = g->nccl_lib->init(&g->nccl, (int)g->nlocal, copy, (int)g->me);
	if (!rc)
		return 0;
	g->nccl = NULL;
	snprintf(why, room, "NCCL: %s", g->nccl_lib->text(rc));
	return -EIO;
}

void gpu_nccl_part(struct peer_gpu *g)
{
	if (g->nccl && g->conf.crew->end)
		g->nccl_lib->abort(g->nccl);
	else if (g->nccl)
		g->nccl_lib->destroy(g->nccl);
	g->nccl = NULL;
}
