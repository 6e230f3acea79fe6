// SPDX-License-Identifier: BSD-2-Clause
/* Sums of owned chunks. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu.h"
#include "kernels/sum/words.h"
#include "owner.h"

int trib_owner_init(struct trib_owner *o, unsigned int world, unsigned int window,
		    unsigned int nval)
{
	o->world = world;
	o->nval = nval;
	o->mask = 2 * window - 1;
	o->place = calloc(2ul * window, sizeof(*o->place));
	return o->place ? 0 : -ENOMEM;
}

void trib_owner_free(struct trib_owner *o)
{
	uint32_t i;

	for (i = 0; o->place && i <= o->mask; i++) {
		if (o->place[i])
			free(o->place[i]->seen);
		free(o->place[i]);
	}
	free(o->place);
	o->place = NULL;
}

static unsigned int bitmap_words(const struct trib_owner *o)
{
	return (o->world + 63) / 64;
}

/* Accumulators of 16-bit floats need twice the room of their values. */
static struct trib_sum_place *place_new(const struct trib_owner *o)
{
	size_t len = sizeof(struct trib_sum_place) + 2ul * trib_payload_len(o->nval);
	struct trib_sum_place *z = aligned_alloc(64, (len + 63) & ~63ul);

	if (!z)
		return NULL;
	memset(z, 0, sizeof(*z));
	z->seen = calloc(bitmap_words(o), sizeof(*z->seen));
	if (z->seen)
		return z;
	free(z);
	return NULL;
}

static void place_take(const struct trib_owner *o, struct trib_sum_place *z, uint64_t chunk,
		       const struct trib_hdr *h)
{
	z->chunk = chunk;
	z->count = 0;
	memset(z->seen, 0, bitmap_words(o) * sizeof(*z->seen));
	memset(&z->h, 0, sizeof(z->h));
	z->h.version = TRIB_WIRE_VERSION;
	z->h.type = TRIB_T_RESULT;
	z->h.op = h->op;
	z->h.fmt = h->fmt;
	z->h.scale = h->scale;
}

/* The place of a chunk; *@out NULL: a newer one has it. Return: 0 or -ENOMEM. */
static int place_find(struct trib_owner *o, uint64_t chunk, const struct trib_hdr *h,
		      struct trib_sum_place **out)
{
	struct trib_sum_place **at = &o->place[chunk & o->mask];
	bool fresh = !*at;

	if (fresh)
		*at = place_new(o);
	if (!*at)
		return -ENOMEM;
	if (fresh || (*at)->chunk < chunk)
		place_take(o, *at, chunk, h);
	*out = (*at)->chunk == chunk ? *at : NULL;
	return 0;
}

static const struct trib_sum_ops *float_ops(unsigned int fmt)
{
	uint32_t caps = trib_cpu_caps();

	return trib_sum_ops(trib_sum_get(trib_sum_level_best(caps), caps), fmt);
}

static bool mask_fits(const struct trib_hdr *h, const void *v)
{
	unsigned int nval = be16toh(h->nval);

	return nval && !(nval % TRIB_MASK_UNITS) && trib_nm_is_mask(h->nm) &&
	       !(h->flags & TRIB_F_EMPTY) && h->op == TRIB_WOP_ADD &&
	       (h->fmt == TRIB_FMT_I32 || h->fmt == TRIB_FMT_F32) &&
	       trib_words_mask_ok(v, nval, h->nm);
}

/* Does a sum of this op, format and length exist? */
static bool is_possible(const struct trib_owner *o, const struct trib_hdr *h, const void *v,
			unsigned int len)
{
	unsigned int nval = be16toh(h->nval);

	if (nval > o->nval || h->fmt < TRIB_FMT_Q32 || h->fmt > TRIB_FMT_BF16 ||
	    h->op >= TRIB_WOP__MAX || (h->op == TRIB_WOP_MAX && h->fmt != TRIB_FMT_W64) ||
	    (h->fmt == TRIB_FMT_W64 && nval & 1))
		return false;
	if (h->flags & TRIB_F_MASK)
		return trib_nm_is_mask(h->nm) && len == trib_masked_len(nval, h->nm) &&
		       mask_fits(h, v);
	return !h->nm && len == trib_payload_len(nval);
}

/* Empty contributions are compared, too, but for their length. */
static bool fits(const struct trib_sum_place *z, const struct trib_hdr *h)
{
	return z->h.op == h->op && z->h.fmt == h->fmt && z->h.scale == h->scale &&
	       (!h->nval || !z->h.nval || z->h.nval == h->nval);
}

static void add_floats(struct trib_sum_place *z, const struct trib_hdr *h, const void *v,
		       unsigned int len, bool first)
{
	const struct trib_sum_ops *ops = float_ops(h->fmt);
	unsigned int acc = 4u * be16toh(h->nval);

	if (h->flags & TRIB_F_MASK)
		(first ? ops->expand_store : ops->expand_add)(z->v, acc, v, len, h->nm);
	else
		(first ? ops->store : ops->add)(z->v, v, len);
}

static void add_integers(struct trib_sum_place *z, const struct trib_hdr *h, const void *v,
			 unsigned int len, bool first)
{
	if (h->flags & TRIB_F_MASK)
		trib_words_expand(z->v, v, be16toh(h->nval), h->nm, first);
	else if (first)
		memcpy(z->v, v, len);
	else if (h->op == TRIB_WOP_MAX)
		trib_words_max(z->v, v, len / 8);
	else if (h->fmt == TRIB_FMT_I32)
		trib_words_add32(z->v, v, len / 8);
	else
		trib_words_add(z->v, v, len / 8);
}

static void add(struct trib_sum_place *z, const struct trib_hdr *h, const void *v, unsigned int len)
{
	bool first = !z->h.nval;

	z->h.flags |= h->flags & TRIB_F_PUSH;
	if (!h->nval || (h->flags & TRIB_F_EMPTY))
		return;
	z->h.nval = h->nval;
	if (trib_fmt_is_float(h->fmt))
		add_floats(z, h, v, len, first);
	else
		add_integers(z, h, v, len, first);
}

/* Round accumulators of floats, once, to the packet's format. */
static void finish(struct trib_sum_place *z)
{
	if (z->h.nval && trib_fmt_is_half(z->h.fmt))
		float_ops(z->h.fmt)->emit(z->v, z->v, trib_payload_len(be16toh(z->h.nval)));
}

int trib_owner_add(struct trib_owner *o, unsigned int rank, uint64_t chunk,
		   const struct trib_hdr *h, const void *v, unsigned int len,
		   struct trib_sum_place **out)
{
	struct trib_sum_place *z = NULL;
	uint64_t bit = 1ULL << rank % 64;
	int err;

	if (!is_possible(o, h, v, len))
		return -EPROTO;
	err = place_find(o, chunk, h, &z);
	if (err || !z || z->seen[rank / 64] & bit)
		return err;
	if (!fits(z, h))
		return -EINVAL;
	add(z, h, v, len);
	z->seen[rank / 64] |= bit;
	if (++z->count < o->world)
		return 0;
	finish(z);
	*out = z;
	return 1;
}
