// SPDX-License-Identifier: BSD-2-Clause
/*
 * A message's memory beside its struct: what requests send and receive, and what the
 * GPU needs besides. It belongs to the tensor, and stays for the next message.
 */
#include "compress.h"

/* Shares begin at multiples of 64 bytes. */
static void *take(struct area *a, size_t n)
{
	size_t at = a->len;

	a->len += (n / 64 + 1) * 64; /* never nothing */
	return a->base ? a->base + at : NULL;
}

static size_t sum_bytes(const struct layout *l, const struct cut *c)
{
	return l->lanes ? 8 * c->words : 4 * c->packed;
}

/* Sums that need no expanding go straight to dst, where the CPU can write it. */
static void *result_of(const struct message *m, const struct bucket *b, struct area *near, bool far)
{
	const struct layout *l = &m->layout;

	if (l->local && far)
		return take(near, 4 * b->cut.values);
	if (!far && (l->local || (l->spec.group == 1 && !l->lanes)))
		return m->dst + b->first;
	return b->sum;
}

static void cut_far(struct bucket *b, const struct layout *l, struct area *near, struct area *far)
{
	size_t rows = (b->cut.values + TRIB_NM_ENERGY_ROW - 1) / TRIB_NM_ENERGY_ROW;
	size_t answer = 16 + (4 * b->cut.ranges + 7) / 8 * 8 + 24 * rows;

	b->far = (struct far){
		.mask = b->cut.masks ? take(far, 4 * b->cut.masks) : NULL,
		.sum = take(far, sum_bytes(l, &b->cut)),
		.packed = take(far, l->lanes && b->cut.masks ? 4 * b->cut.packed : 0),
		.scale = take(far, 4 * b->cut.ranges),
		.scales = take(near, 4 * b->cut.ranges),
		.back = take(far, answer),
		.answer = take(near, answer),
	};
}

void room_cut(struct message *m, struct area *near, struct area *far)
{
	const struct layout *l = &m->layout;
	size_t i;

	if (m->tensor->residual)
		m->old = take(far ? far : near, 4 * l->count);
	for (i = 0; i < l->nbucket; i++) {
		struct bucket *b = &m->bucket[i];

		b->mask = b->cut.masks ? take(near, 4 * b->cut.masks) : NULL;
		b->exp = take(near, 4 * b->cut.ranges);
		b->sum = take(near, sum_bytes(l, &b->cut));
		b->result = result_of(m, b, near, far);
		if (far)
			cut_far(b, l, near, far);
	}
}
