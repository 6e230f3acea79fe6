/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the Data of a training job carry: the Content of an NDN Data packet, on
 * the wire (struct ndn_wire_...) and decoded. Headers are of fixed size,
 * big-endian, without padding; what is reserved is 0, and refused if it is not.
 * Values are IEEE 754 binary32, little-endian, and follow the header.
 *
 * Empty Content: the acknowledgements, /distribute/P and /delete/P.
 *
 * A vector of `elements` values is cut into segments of `segment` bytes each
 * (all of it told in the start content); the last one may be shorter.
 */
#ifndef TRIB_NDN_CONTENT_H
#define TRIB_NDN_CONTENT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ndn/packet/ndn.h"

#define NDN_CONTENT_MAGIC 0x544e /* "TN" */
#define NDN_CONTENT_FORMAT 1	 /* of all that is declared here */

/* Bytes of values in a segment: a multiple of 4 up to this. */
#define NDN_SEGMENT_MAX 8192
#define NDN_SEGMENTS_MAX (1U << 22)
#define NDN_ELEMENTS_MAX (1ULL << 32)
#define NDN_VALUE_SIZE 4
#define NDN_LEASE_MIN_MS 100
#define NDN_LEASE_MAX_MS 3600000
/* &ndn_start.tree_job: gradients come by collect Interests. */
#define NDN_NO_TREE 0xffffffffU

/**
 * enum ndn_content_kind - &ndn_wire_head.kind
 * @NDN_CONTENT_OFFER:    answer to an offer, /<gpu>/P.
 * @NDN_CONTENT_START:    what a worker needs to start, /P/<gpu>.
 * @NDN_CONTENT_NEWEST:   which version is the newest, /P/32=newest/v.
 * @NDN_CONTENT_GRADIENT: segment of a gradient, /<gpu>/P/v/s.
 * @NDN_CONTENT_MODEL:    segment of a model, /distribute/P/v/s.
 */
enum ndn_content_kind {
	NDN_CONTENT_OFFER = 1,
	NDN_CONTENT_START = 2,
	NDN_CONTENT_NEWEST = 3,
	NDN_CONTENT_GRADIENT = 4,
	NDN_CONTENT_MODEL = 5,
};

enum ndn_answer {
	NDN_ANSWER_ACCEPT = 1,
	NDN_ANSWER_BUSY = 2,
};

enum ndn_mode {
	NDN_MODE_SYNC = 0,
	NDN_MODE_ASYNC = 1,
};

enum ndn_dtype {
	NDN_DTYPE_F32 = 1,
};

/* ---- on the wire ---- */

/**
 * struct ndn_wire_head - how each begins
 * @magic:  NDN_CONTENT_MAGIC.
 * @format: NDN_CONTENT_FORMAT.
 * @kind:   enum ndn_content_kind.
 */
struct ndn_wire_head {
	__be16 magic;
	__u8 format;
	__u8 kind;
} __attribute__((packed));

/**
 * struct ndn_wire_offer - the whole answer to an offer
 * @answer: enum ndn_answer.
 */
struct ndn_wire_offer {
	struct ndn_wire_head head;
	__u8 answer;
	__u8 rsvd[3];
} __attribute__((packed));
_Static_assert(sizeof(struct ndn_wire_offer) == 8, "ndn_wire_offer");

/**
 * struct ndn_wire_start - the whole start content
 * @mode:     enum ndn_mode.
 * @dtype:    enum ndn_dtype.
 * @elements: values of a model, and of a gradient.
 * @segment:  bytes of values in each segment of both, but the last.
 * @lease_ms: of a subscription, and of the silence of a living worker.
 * @rto_ms:   when a first question is repeated.
 * @tree_job: number of the aggregation job by whose trees gradients go, or
 *            NDN_NO_TREE.
 * @version:  the newest version that has been distributed. Its upper 32 bits are
 *            the incarnation of the PS.
 */
struct ndn_wire_start {
	struct ndn_wire_head head;
	__u8 mode;
	__u8 dtype;
	__be16 rsvd;
	__be64 elements;
	__be32 segment;
	__be32 lease_ms;
	__be32 rto_ms;
	__be32 tree_job;
	__be64 version;
} __attribute__((packed));
_Static_assert(sizeof(struct ndn_wire_start) == 40, "ndn_wire_start");

/**
 * struct ndn_wire_newest - of the version in the Data's name
 * @segments: how many it has.
 * @last:     1: it is the job's last, 0: it is not.
 */
struct ndn_wire_newest {
	struct ndn_wire_head head;
	__be32 segments;
	__u8 last;
	__u8 rsvd[3];
} __attribute__((packed));
_Static_assert(sizeof(struct ndn_wire_newest) == 12, "ndn_wire_newest");

/**
 * struct ndn_wire_gradient - how a segment of a gradient begins; values follow
 * @segments: how many it has.
 * @id:       names the gradient: another one of the same worker, after a
 *            restart too, has another. Segments of two are not mixed.
 * @base:     the version that it was computed on.
 */
struct ndn_wire_gradient {
	struct ndn_wire_head head;
	__be32 segments;
	__be64 id;
	__be64 base;
} __attribute__((packed));
_Static_assert(sizeof(struct ndn_wire_gradient) == 24, "ndn_wire_gradient");

/**
 * struct ndn_wire_model - how a segment of a model begins; values follow
 * @segments: how many it has.
 * @last:     1: the version is the job's last, 0: it is not.
 */
struct ndn_wire_model {
	struct ndn_wire_head head;
	__be32 segments;
	__u8 last;
	__u8 rsvd[3];
} __attribute__((packed));
_Static_assert(sizeof(struct ndn_wire_model) == 12, "ndn_wire_model");

/* ---- decoded ---- */

struct ndn_start {
	enum ndn_mode mode;
	enum ndn_dtype dtype;
	uint64_t elements;
	uint32_t segment;
	uint32_t lease_ms;
	uint32_t rto_ms;
	uint32_t tree_job;
	uint64_t version;
};

struct ndn_newest {
	uint32_t segments;
	bool last;
};

/* @values: in the buffer that was decoded; their bytes are a multiple of 4. */
struct ndn_gradient {
	uint32_t segments;
	uint64_t id;
	uint64_t base;
	struct ndn_bytes values;
};

struct ndn_model {
	uint32_t segments;
	bool last;
	struct ndn_bytes values;
};

/*
 * Decoding: 0, or -EPROTO (not this kind of content, or another format),
 * -EMSGSIZE (of another length), -EINVAL (a value that is not allowed).
 */
int ndn_content_offer_decode(enum ndn_answer *a, struct ndn_bytes content);
int ndn_content_start_decode(struct ndn_start *s, struct ndn_bytes content);
int ndn_content_newest_decode(struct ndn_newest *n, struct ndn_bytes content);
int ndn_content_gradient_decode(struct ndn_gradient *g,
				struct ndn_bytes content);
int ndn_content_model_decode(struct ndn_model *m, struct ndn_bytes content);

/* Encoding: the header's bytes, to which @buf has room; values go after it. */
size_t ndn_content_offer_encode(uint8_t *buf, enum ndn_answer a);
size_t ndn_content_start_encode(uint8_t *buf, const struct ndn_start *s);
size_t ndn_content_newest_encode(uint8_t *buf, const struct ndn_newest *n);
size_t ndn_content_gradient_encode(uint8_t *buf, const struct ndn_gradient *g);
size_t ndn_content_model_encode(uint8_t *buf, const struct ndn_model *m);

/* Longest of the headers. */
#define NDN_HEADER_MAX sizeof(struct ndn_wire_start)

/* Segments of a vector; 0: @elements or @segment is out of bounds. */
uint32_t ndn_content_segments(uint64_t elements, uint32_t segment);
/* Bytes of values in segment @s, which must exist. */
uint32_t ndn_content_segment_bytes(uint64_t elements, uint32_t segment,
				   uint32_t s);

/* Of little-endian binary32, in whole values: neither NaN nor infinity. */
bool ndn_content_is_finite(const void *values, size_t bytes);

#endif /* TRIB_NDN_CONTENT_H */
