// SPDX-License-Identifier: BSD-2-Clause
/* Writes of a rank into its cells and onto its desk: anything. */
#include <arpa/inet.h>
#include "gen.h"

void gen_cells(uint8_t *cells, uint32_t epoch, uint32_t base, uint32_t sent, uint32_t dist)
{
	struct trib_desk *desk = rig_desk(cells);

	for (uint32_t i = 0; i < CELLS; i++) {
		struct trib_cell *c = rig_cell(cells, base + i);

		c->state = TRIB_CELL(epoch, base + i, i < sent ? TRIB_CELL_SENT : TRIB_CELL_READY);
		c->h.fmt = TRIB_FMT_Q32;
		c->h.nval = htons(i < 6 ? rig.nval : 16);
		c->v[0] = base + i;
	}
	desk->dist = dist;
	desk->armed = 1;
	desk->cpu[rig.cpu % TRIB_DESK_CPUS].wake_at = 3;
}

/* A header that is mostly right. */
static void put_shape(struct trib_hdr *h, uint8_t what, uint8_t how)
{
	static const uint8_t fmts[8] = {TRIB_FMT_Q32, TRIB_FMT_I32, TRIB_FMT_W64, TRIB_FMT_F32,
					TRIB_FMT_F16, TRIB_FMT_I32, TRIB_FMT_Q32, TRIB_FMT_NONE};
	const uint16_t nvals[8] = {rig.nval, 32, 16, 17, 0, rig.nval / 2, rig.nval + 1, 320};

	h->op = what >> 6 == 3 ? TRIB_WOP_MAX : TRIB_WOP_ADD;
	h->fmt = fmts[what & 7];
	h->nval = htons(nvals[what >> 3 & 7]);
	h->flags = how & ~TRIB_F_MASK;
	h->nm = 0;
	h->scale = htonl(how);
	if (what >> 6 == 2) {
		h->flags = TRIB_F_MASK | (how & TRIB_F_PUSH);
		h->nm = how;
	}
}

static void put_desk(struct trib_desk *desk, uint8_t what, uint8_t how)
{
	struct trib_desk_cpu *line = &desk->cpu[rig.cpu % TRIB_DESK_CPUS];

	switch (what & 3) {
	case 0:
		desk->dist = how & 3;
		break;
	case 1:
		desk->dist = how << (how & 24);
		break;
	case 2:
		desk->armed = how & 3;
		break;
	default:
		line->wake_at = line->delivered + (how & 7) - 3;
		break;
	}
}

void gen_write(struct input *in, uint8_t *cells, uint32_t epoch, uint32_t base)
{
	uint8_t kind = take8(in), what = take8(in), how = take8(in);
	uint32_t chunk = base + (what & 15);
	struct trib_cell *c = rig_cell(cells, chunk);

	switch (kind & 7) {
	case 0:
	case 1:
		c->state = TRIB_CELL(epoch, chunk, how & 7);
		break;
	case 2:
	case 3:
		put_shape(&c->h, how, take8(in));
		c->state = TRIB_CELL(epoch, chunk, TRIB_CELL_READY);
		break;
	case 4:
		c->state = TRIB_CELL(epoch, chunk, TRIB_CELL_RESULT);
		break;
	case 5:
	case 6:
		put_desk(rig_desk(cells), what, how);
		break;
	default: /* any byte */
		((uint8_t *)c)[(what >> 3 | (what & 7) << 5) % 80] = how;
	}
}
