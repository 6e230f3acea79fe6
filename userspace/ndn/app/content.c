// SPDX-License-Identifier: BSD-2-Clause
/* Encodes and decodes contents. Input may come from anybody. */
#include "content.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

static struct ndn_wire_head head_of(enum ndn_content_kind kind)
{
	return (struct ndn_wire_head){
		.magic = htobe16(NDN_CONTENT_MAGIC),
		.format = NDN_CONTENT_FORMAT,
		.kind = (__u8)kind,
	};
}

/* Copy a header of @n bytes to @to. @rest: the values behind it, or NULL. */
static int header(void *to, size_t n, enum ndn_content_kind kind, struct ndn_bytes content,
		  struct ndn_bytes *rest)
{
	struct ndn_wire_head h;

	if (content.n < sizeof(h))
		return -EMSGSIZE;
	memcpy(&h, content.p, sizeof(h));
	if (be16toh(h.magic) != NDN_CONTENT_MAGIC || h.format != NDN_CONTENT_FORMAT ||
	    h.kind != kind)
		return -EPROTO;
	if (rest ? content.n <= n : content.n != n)
		return -EMSGSIZE;
	memcpy(to, content.p, n);
	if (rest)
		*rest = (struct ndn_bytes){content.p + n, content.n - n};
	return 0;
}

static bool is_zero(const __u8 *p, size_t n)
{
	while (n--)
		if (p[n])
			return false;
	return true;
}

static bool are_values(struct ndn_bytes v)
{
	return v.n <= NDN_SEGMENT_MAX && v.n % NDN_VALUE_SIZE == 0;
}

static bool are_segments(uint32_t n)
{
	return n && n <= NDN_SEGMENTS_MAX;
}

uint32_t ndn_content_segments(uint64_t elements, uint32_t segment)
{
	uint64_t n;

	if (!elements || elements > NDN_ELEMENTS_MAX || !segment || segment > NDN_SEGMENT_MAX ||
	    segment % NDN_VALUE_SIZE)
		return 0;
	n = (elements * NDN_VALUE_SIZE + segment - 1) / segment;
	return n > NDN_SEGMENTS_MAX ? 0 : (uint32_t)n;
}

uint32_t ndn_content_segment_bytes(uint64_t elements, uint32_t segment, uint32_t s)
{
	uint64_t left = elements * NDN_VALUE_SIZE - (uint64_t)s * segment;

	return left < segment ? (uint32_t)left : segment;
}

/* ---- decoding ---- */

int ndn_content_offer_decode(enum ndn_answer *a, struct ndn_bytes content)
{
	struct ndn_wire_offer w;
	int err = header(&w, sizeof(w), NDN_CONTENT_OFFER, content, NULL);

	if (err)
		return err;
	if ((w.answer != NDN_ANSWER_ACCEPT && w.answer != NDN_ANSWER_BUSY) ||
	    !is_zero(w.rsvd, sizeof(w.rsvd)))
		return -EINVAL;
	*a = w.answer;
	return 0;
}

int ndn_content_start_decode(struct ndn_start *s, struct ndn_bytes content)
{
	struct ndn_wire_start w;
	int err = header(&w, sizeof(w), NDN_CONTENT_START, content, NULL);

	if (err)
		return err;
	if (w.mode > NDN_MODE_ASYNC || w.dtype != NDN_DTYPE_F32 || w.rsvd)
		return -EINVAL;
	*s = (struct ndn_start){
		.mode = w.mode,
		.dtype = w.dtype,
		.elements = be64toh(w.elements),
		.segment = be32toh(w.segment),
		.lease_ms = be32toh(w.lease_ms),
		.rto_ms = be32toh(w.rto_ms),
		.tree_job = be32toh(w.tree_job),
		.version = be64toh(w.version),
	};
	if (!ndn_content_segments(s->elements, s->segment) || s->lease_ms < NDN_LEASE_MIN_MS ||
	    s->lease_ms > NDN_LEASE_MAX_MS || !s->rto_ms || s->rto_ms > s->lease_ms ||
	    !(s->version >> 32) || (s->tree_job > UINT16_MAX && s->tree_job != NDN_NO_TREE))
		return -EINVAL;
	return 0;
}

int ndn_content_newest_decode(struct ndn_newest *n, struct ndn_bytes content)
{
	struct ndn_wire_newest w;
	int err = header(&w, sizeof(w), NDN_CONTENT_NEWEST, content, NULL);

	if (err)
		return err;
	n->segments = be32toh(w.segments);
	n->last = w.last;
	if (!are_segments(n->segments) || w.last > 1 || !is_zero(w.rsvd, sizeof(w.rsvd)))
		return -EINVAL;
	return 0;
}

int ndn_content_gradient_decode(struct ndn_gradient *g, struct ndn_bytes content)
{
	struct ndn_wire_gradient w;
	int err = header(&w, sizeof(w), NDN_CONTENT_GRADIENT, content, &g->values);

	if (err)
		return err;
	g->segments = be32toh(w.segments);
	g->id = be64toh(w.id);
	g->base = be64toh(w.base);
	return are_segments(g->segments) && are_values(g->values) ? 0 : -EINVAL;
}

int ndn_content_model_decode(struct ndn_model *m, struct ndn_bytes content)
{
	struct ndn_wire_model w;
	int err = header(&w, sizeof(w), NDN_CONTENT_MODEL, content, &m->values);

	if (err)
		return err;
	m->segments = be32toh(w.segments);
	m->last = w.last;
	if (!are_segments(m->segments) || !are_values(m->values) || w.last > 1 ||
	    !is_zero(w.rsvd, sizeof(w.rsvd)))
		return -EINVAL;
	return 0;
}

/* ---- encoding ---- */

static size_t put(uint8_t *buf, const void *wire, size_t n)
{
	memcpy(buf, wire, n);
	return n;
}

size_t ndn_content_offer_encode(uint8_t *buf, enum ndn_answer a)
{
	struct ndn_wire_offer w = {
		.head = head_of(NDN_CONTENT_OFFER),
		.answer = (__u8)a,
	};

	return put(buf, &w, sizeof(w));
}

size_t ndn_content_start_encode(uint8_t *buf, const struct ndn_start *s)
{
	struct ndn_wire_start w = {
		.head = head_of(NDN_CONTENT_START),
		.mode = (__u8)s->mode,
		.dtype = (__u8)s->dtype,
		.elements = htobe64(s->elements),
		.segment = htobe32(s->segment),
		.lease_ms = htobe32(s->lease_ms),
		.rto_ms = htobe32(s->rto_ms),
		.tree_job = htobe32(s->tree_job),
		.version = htobe64(s->version),
	};

	return put(buf, &w, sizeof(w));
}

size_t ndn_content_newest_encode(uint8_t *buf, const struct ndn_newest *n)
{
	struct ndn_wire_newest w = {
		.head = head_of(NDN_CONTENT_NEWEST),
		.segments = htobe32(n->segments),
		.last = n->last,
	};

	return put(buf, &w, sizeof(w));
}

size_t ndn_content_gradient_encode(uint8_t *buf, const struct ndn_gradient *g)
{
	struct ndn_wire_gradient w = {
		.head = head_of(NDN_CONTENT_GRADIENT),
		.segments = htobe32(g->segments),
		.id = htobe64(g->id),
		.base = htobe64(g->base),
	};

	return put(buf, &w, sizeof(w));
}

size_t ndn_content_model_encode(uint8_t *buf, const struct ndn_model *m)
{
	struct ndn_wire_model w = {
		.head = head_of(NDN_CONTENT_MODEL),
		.segments = htobe32(m->segments),
		.last = m->last,
	};

	return put(buf, &w, sizeof(w));
}

bool ndn_content_is_finite(const void *values, size_t bytes)
{
	const uint8_t *p = values;
	bool finite = true;
	size_t i;

	for (i = 3; i < bytes; i += 4)
		finite &= (p[i] & 0x7f) != 0x7f || !(p[i - 1] & 0x80);
	return finite;
}
