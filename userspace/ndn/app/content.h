/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Content of the Data of a training job, on the wire (struct ndn_wire_...) and
 * decoded. Headers have a fixed size and are big-endian without padding. Reserved
 * fields must be 0. Values follow the header as little-endian IEEE 754 binary32.
 * The acknowledgements /distribute/P and /delete/P are empty.
 *
 * A vector of `elements` values is cut into segments of `segment` bytes; the last
 * one may be shorter. The start content has both numbers.
 */
#ifndef TRIB_NDN_CONTENT_H
#define TRIB_NDN_CONTENT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ndn/packet/ndn.h"

#define NDN_CONTENT_MAGIC 0x544e /* "TN" */
#define NDN_CONTENT_FORMAT 1	 /* increment on any change here */

/* Bytes of values in a segment at most; a multiple of 4. */
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
 * @NDN_CONTENT_START:    parameters of the job, /P/<gpu>.
 * @NDN_CONTENT_NEWEST:   number of the newest version, /P/32=newest/v.
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
 * struct ndn_wire_head - beginning of every content
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
 * @segment:  bytes of values in a segment.
 * @lease_ms: of subscriptions. A worker silent for longer is left out.
 * @rto_ms:   first retransmission timeout.
 * @tree_job: number of the aggregation job that sums up the gradients, or
 *            NDN_NO_TREE.
 * @version:  newest distributed version. Its upper 32 bits are the incarnation of
 *            the PS.
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
 * struct ndn_wire_newest - about the version in the name of the Data
 * @segments: of its model.
 * @last:     1: last version of the job, else 0.
 */
struct ndn_wire_newest {
	struct ndn_wire_head head;
	__be32 segments;
	__u8 last;
	__u8 rsvd[3];
} __attribute__((packed));
_Static_assert(sizeof(struct ndn_wire_newest) == 12, "ndn_wire_newest");

/**
 * struct ndn_wire_gradient - header of a segment of a gradient; values follow
 * @segments: of the gradient.
 * @id:       unique among the gradients of a worker, across restarts, so that
 *            segments of two gradients are not mixed.
 * @base:     version that it was computed on.
 */
struct ndn_wire_gradient {
	struct ndn_wire_head head;
	__be32 segments;
	__be64 id;
	__be64 base;
} __attribute__((packed));
_Static_assert(sizeof(struct ndn_wire_gradient) == 24, "ndn_wire_gradient");

/**
 * struct ndn_wire_model - header of a segment of a model; values follow
 * @segments: of the model.
 * @last:     1: last version of the job, else 0.
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

/* @values: borrowed from the decoded buffer; a multiple of 4 bytes. */
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
 * Decode. Return: 0; -EPROTO: another kind or format; -EMSGSIZE: wrong length;
 * -EINVAL: a value out of bounds.
 */
int ndn_content_offer_decode(enum ndn_answer *a, struct ndn_bytes content);
int ndn_content_start_decode(struct ndn_start *s, struct ndn_bytes content);
int ndn_content_newest_decode(struct ndn_newest *n, struct ndn_bytes content);
int ndn_content_gradient_decode(struct ndn_gradient *g, struct ndn_bytes content);
int ndn_content_model_decode(struct ndn_model *m, struct ndn_bytes content);

/* Write a header to @buf, which has NDN_HEADER_MAX bytes. Return: its bytes. */
size_t ndn_content_offer_encode(uint8_t *buf, enum ndn_answer a);
size_t ndn_content_start_encode(uint8_t *buf, const struct ndn_start *s);
size_t ndn_content_newest_encode(uint8_t *buf, const struct ndn_newest *n);
size_t ndn_content_gradient_encode(uint8_t *buf, const struct ndn_gradient *g);
size_t ndn_content_model_encode(uint8_t *buf, const struct ndn_model *m);

/* Longest of the headers. */
#define NDN_HEADER_MAX sizeof(struct ndn_wire_start)

/* Number of segments of a vector; 0: @elements or @segment is out of bounds. */
uint32_t ndn_content_segments(uint64_t elements, uint32_t segment);
/* Bytes of values in segment @s, which must exist. */
uint32_t ndn_content_segment_bytes(uint64_t elements, uint32_t segment, uint32_t s);

/* Check whole little-endian binary32 values for NaN and infinity. */
bool ndn_content_is_finite(const void *values, size_t bytes);

#endif /* TRIB_NDN_CONTENT_H */
