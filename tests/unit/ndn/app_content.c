// SPDX-License-Identifier: BSD-2-Clause
/* Contents: encoding and decoding, and refusal of malformed ones. */
#include <errno.h>
#include <string.h>

#include "tests/lib/tap.h"
#include "ndn/app/content.h"

#define VALUES 8

static const struct ndn_start start = {
	.mode = NDN_MODE_ASYNC,
	.dtype = NDN_DTYPE_F32,
	.elements = 0x12345,
	.segment = 1368,
	.lease_ms = 30000,
	.rto_ms = 100,
	.tree_job = NDN_NO_TREE,
	.version = (7ULL << 32) | 9,
};

static struct ndn_bytes bytes(const uint8_t *p, size_t n)
{
	return (struct ndn_bytes){p, n};
}

static void start__is_laid_out_as_documented(void)
{
	static const uint8_t want[] = {
		'T', 'N', 1, 2,	   1,	 1,    0,    0,	   /* mode, type */
		0,   0,	  0, 0,	   0,	 1,    0x23, 0x45, /* elements */
		0,   0,	  5, 0x58, 0,	 0,    0x75, 0x30, /* segment, lease */
		0,   0,	  0, 100,  0xff, 0xff, 0xff, 0xff, /* RTO, tree */
		0,   0,	  0, 7,	   0,	 0,    0,    9,	   /* version */
	};
	uint8_t buf[NDN_HEADER_MAX];

	expect_eq(ndn_content_start_encode(buf, &start), sizeof(want));
	expect(!memcmp(buf, want, sizeof(want)));
}

static void start__is_read_as_written(void)
{
	uint8_t buf[NDN_HEADER_MAX];
	struct ndn_start s;
	size_t n = ndn_content_start_encode(buf, &start);

	expect_eq(ndn_content_start_decode(&s, bytes(buf, n)), 0);
	expect(s.mode == start.mode && s.dtype == start.dtype && s.elements == start.elements &&
	       s.segment == start.segment && s.lease_ms == start.lease_ms &&
	       s.rto_ms == start.rto_ms && s.tree_job == start.tree_job &&
	       s.version == start.version);
}

static int start_with(struct ndn_start s)
{
	uint8_t buf[NDN_HEADER_MAX];
	size_t n = ndn_content_start_encode(buf, &s);

	return ndn_content_start_decode(&s, bytes(buf, n));
}

static void start__out_of_bounds_is_refused(void)
{
	struct ndn_start s;

#define WITH(field, value) (s = start, s.field = (value), start_with(s))
	expect_eq(WITH(mode, 2), -EINVAL);
	expect_eq(WITH(dtype, 0), -EINVAL);
	expect_eq(WITH(elements, 0), -EINVAL);
	expect_eq(WITH(elements, NDN_ELEMENTS_MAX + 1), -EINVAL);
	expect_eq(WITH(elements, NDN_ELEMENTS_MAX), -EINVAL);
	expect_eq(WITH(elements, UINT64_MAX), -EINVAL);
	expect_eq(WITH(segment, 0), -EINVAL);
	expect_eq(WITH(segment, 1366), -EINVAL);
	expect_eq(WITH(segment, NDN_SEGMENT_MAX + 4), -EINVAL);
	expect_eq(WITH(lease_ms, NDN_LEASE_MIN_MS - 1), -EINVAL);
	expect_eq(WITH(lease_ms, NDN_LEASE_MAX_MS + 1), -EINVAL);
	expect_eq(WITH(rto_ms, 0), -EINVAL);
	expect_eq(WITH(rto_ms, 30001), -EINVAL);
	expect_eq(WITH(tree_job, 65536), -EINVAL);
	expect_eq(WITH(version, 9), -EINVAL);
	expect_eq(WITH(tree_job, 65535), 0);
#undef WITH
}

/*
 * Run every decoder on the same bytes. Return: the set of those that accept
 * them.
 */
static unsigned int takers(struct ndn_bytes b)
{
	enum ndn_answer a;
	struct ndn_start s;
	struct ndn_newest n;
	struct ndn_gradient g;
	struct ndn_model m;

	return (!ndn_content_offer_decode(&a, b) ? 1U << NDN_CONTENT_OFFER : 0) |
	       (!ndn_content_start_decode(&s, b) ? 1U << NDN_CONTENT_START : 0) |
	       (!ndn_content_newest_decode(&n, b) ? 1U << NDN_CONTENT_NEWEST : 0) |
	       (!ndn_content_gradient_decode(&g, b) ? 1U << NDN_CONTENT_GRADIENT : 0) |
	       (!ndn_content_model_decode(&m, b) ? 1U << NDN_CONTENT_MODEL : 0);
}

struct sample {
	unsigned int kind;
	size_t n;
	uint8_t buf[NDN_HEADER_MAX + VALUES];
};

static void samples_make(struct sample s[5])
{
	static const struct ndn_newest newest = {3, true};
	static const struct ndn_gradient grad = {3, 0xabcdef, 1ULL << 32, {NULL, 0}};
	static const struct ndn_model model = {3, false, {NULL, 0}};

	memset(s, 0, 5 * sizeof(*s));
	s[0].kind = NDN_CONTENT_OFFER;
	s[0].n = ndn_content_offer_encode(s[0].buf, NDN_ANSWER_BUSY);
	s[1].kind = NDN_CONTENT_START;
	s[1].n = ndn_content_start_encode(s[1].buf, &start);
	s[2].kind = NDN_CONTENT_NEWEST;
	s[2].n = ndn_content_newest_encode(s[2].buf, &newest);
	s[3].kind = NDN_CONTENT_GRADIENT;
	s[3].n = ndn_content_gradient_encode(s[3].buf, &grad) + VALUES;
	s[4].kind = NDN_CONTENT_MODEL;
	s[4].n = ndn_content_model_encode(s[4].buf, &model) + VALUES;
}

static void content__has_one_kind_and_length(void)
{
	struct sample s[5];
	size_t n;

	samples_make(s);
	for (int i = 0; i < 5; i++) {
		expect_eq(takers(bytes(s[i].buf, s[i].n)), 1 << s[i].kind);
		/*
		 * A segment may have fewer values, but whole ones, and at least
		 * one.
		 */
		for (n = 0; n < s[i].n; n++)
			if (i < 3 || n != s[i].n - 4)
				expect_eq(takers(bytes(s[i].buf, n)), 0);
	}
	for (int i = 0; i < 3; i++)
		expect_eq(takers(bytes(s[i].buf, s[i].n + 4)), 0);
}

static void content__magic_and_format_are_checked(void)
{
	struct sample s[5];

	samples_make(s);
	for (int i = 0; i < 5; i++)
		for (int at = 0; at < 4; at++) {
			s[i].buf[at] ^= 0x80;
			expect_eq(takers(bytes(s[i].buf, s[i].n)), 0);
			s[i].buf[at] ^= 0x80;
		}
}

static void content__reserved_is_zero(void)
{
	static const struct {
		int sample, at;
	} rsvd[] = {{0, 5}, {0, 7}, {1, 6}, {1, 7}, {2, 9}, {2, 11}, {4, 9}, {4, 11}};
	struct sample s[5];

	samples_make(s);
	for (size_t i = 0; i < sizeof(rsvd) / sizeof(*rsvd); i++) {
		struct sample *x = &s[rsvd[i].sample];

		x->buf[rsvd[i].at] = 1;
		expect_eq(takers(bytes(x->buf, x->n)), 0);
		x->buf[rsvd[i].at] = 0;
	}
	s[0].buf[4] = 3; /* neither accept nor busy */
	expect_eq(takers(bytes(s[0].buf, s[0].n)), 0);
	s[2].buf[8] = 2; /* last */
	expect_eq(takers(bytes(s[2].buf, s[2].n)), 0);
}

static void gradient__is_read_as_written(void)
{
	struct ndn_gradient g;
	struct sample s[5];

	samples_make(s);
	s[3].buf[24] = 42;
	expect_eq(ndn_content_gradient_decode(&g, bytes(s[3].buf, s[3].n)), 0);
	expect_eq(g.segments, 3);
	expect_eq(g.id, 0xabcdef);
	expect_eq(g.base, 1LL << 32);
	expect_eq(g.values.n, VALUES);
	expect(g.values.p == s[3].buf + 24 && *g.values.p == 42);
	memset(s[3].buf + 4, 0, 4);
	expect_eq(ndn_content_gradient_decode(&g, bytes(s[3].buf, s[3].n)), -EINVAL);
	memset(s[3].buf + 4, 0xff, 4);
	expect_eq(ndn_content_gradient_decode(&g, bytes(s[3].buf, s[3].n)), -EINVAL);
}

static void segments__cover_the_vector(void)
{
	expect_eq(ndn_content_segments(1, 4), 1);
	expect_eq(ndn_content_segments(342, 1368), 1);
	expect_eq(ndn_content_segments(343, 1368), 2);
	expect_eq(ndn_content_segment_bytes(343, 1368, 0), 1368);
	expect_eq(ndn_content_segment_bytes(343, 1368, 1), 4);
	expect_eq(ndn_content_segments(NDN_SEGMENTS_MAX, 4), NDN_SEGMENTS_MAX);
	expect_eq(ndn_content_segments(NDN_SEGMENTS_MAX + 1ULL, 4), 0);
}

int main(void)
{
	run(start__is_laid_out_as_documented);
	run(start__is_read_as_written);
	run(start__out_of_bounds_is_refused);
	run(content__has_one_kind_and_length);
	run(content__magic_and_format_are_checked);
	run(content__reserved_is_zero);
	run(gradient__is_read_as_written);
	run(segments__cover_the_vector);
	return tap_done();
}
