/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the Data of a training job carry: the Content of an NDN Data packet, on
 * the wire (struct names_wire_...) and decoded. Headers are of fixed size,
 * big-endian, without padding; what is reserved is 0, and refused if it is not.
 * Values are IEEE 754 binary32, little-endian, and follow the header.
 *
 * Empty Content: the acknowledgements, /distribute/P and /delete/P.
 *
 * A vector of `elements` values is cut into segments of `segment` bytes each
 * (all of it told in the start content); the last one may be shorter.
 */
#ifndef TRIB_NAMES_CONTENT_H
#define TRIB_NAMES_CONTENT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "userspace/ndn/ndn.h"

#define NAMES_MAGIC 0x544e /* "TN" */
#define NAMES_FORMAT 1	   /* of all that is declared here */

/* Bytes of values in a segment: a multiple of 4 up to this. */
#define NAMES_SEGMENT_MAX 8192
#define NAMES_SEGMENTS_MAX (1U << 22)
#define NAMES_ELEMENTS_MAX (1ULL << 32)
#define NAMES_VALUE_SIZE 4
#define NAMES_LEASE_MIN_MS 100
#define NAMES_LEASE_MAX_MS 3600000
/* &names_start.tree_job: gradients come by collect Interests. */
#define NAMES_NO_TREE 0xffffffffU

/**
 * enum names_kind - &names_wire_head.kind
 * @NAMES_OFFER:    answer to an offer, /<gpu>/P.
 * @NAMES_START:    what a worker needs to start, /P/<gpu>.
 * @NAMES_NEWEST:   which version is the newest, /P/32=newest/v.
 * @NAMES_GRADIENT: segment of a gradient, /<gpu>/P/v/s.
 * @NAMES_MODEL:    segment of a model, /distribute/P/v/s.
 */
enum names_kind {
	NAMES_OFFER = 1,
	NAMES_START = 2,
	NAMES_NEWEST = 3,
	NAMES_GRADIENT = 4,
	NAMES_MODEL = 5,
};

enum names_answer {
	NAMES_ACCEPT = 1,
	NAMES_BUSY = 2,
};

enum names_mode {
	NAMES_SYNC = 0,
	NAMES_ASYNC = 1,
};

enum names_dtype {
	NAMES_F32 = 1,
};

/* ---- on the wire ---- */

/**
 * struct names_wire_head - how each begins
 * @magic:  NAMES_MAGIC.
 * @format: NAMES_FORMAT.
 * @kind:   enum names_kind.
 */
struct names_wire_head {
	__be16 magic;
	__u8 format;
	__u8 kind;
} __attribute__((packed));

/**
 * struct names_wire_offer - the whole answer to an offer
 * @answer: enum names_answer.
 */
struct names_wire_offer {
	struct names_wire_head head;
	__u8 answer;
	__u8 rsvd[3];
} __attribute__((packed));
_Static_assert(sizeof(struct names_wire_offer) == 8, "names_wire_offer");

/**
 * struct names_wire_start - the whole start content
 * @mode:     enum names_mode.
 * @dtype:    enum names_dtype.
 * @elements: values of a model, and of a gradient.
 * @segment:  bytes of values in each segment of both, but the last.
 * @lease_ms: of a subscription, and of the silence of a living worker.
 * @rto_ms:   when a first question is repeated.
 * @tree_job: number of the aggregation job by whose trees gradients go, or
 *            NAMES_NO_TREE.
 * @version:  the newest version that has been distributed. Its upper 32 bits are
 *            the incarnation of the PS.
 */
struct names_wire_start {
	struct names_wire_head head;
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
_Static_assert(sizeof(struct names_wire_start) == 40, "names_wire_start");

/**
 * struct names_wire_newest - of the version in the Data's name
 * @segments: how many it has.
 * @last:     1: it is the job's last, 0: it is not.
 */
struct names_wire_newest {
	struct names_wire_head head;
	__be32 segments;
	__u8 last;
	__u8 rsvd[3];
} __attribute__((packed));
_Static_assert(sizeof(struct names_wire_newest) == 12, "names_wire_newest");

/**
 * struct names_wire_gradient - how a segment of a gradient begins; values follow
 * @segments: how many it has.
 * @id:       names the gradient: another one of the same worker, after a
 *            restart too, has another. Segments of two are not mixed.
 * @base:     the version that it was computed on.
 */
struct names_wire_gradient {
	struct names_wire_head head;
	__be32 segments;
	__be64 id;
	__be64 base;
} __attribute__((packed));
_Static_assert(sizeof(struct names_wire_gradient) == 24, "names_wire_gradient");

/**
 * struct names_wire_model - how a segment of a model begins; values follow
 * @segments: how many it has.
 * @last:     1: the version is the job's last, 0: it is not.
 */
struct names_wire_model {
	struct names_wire_head head;
	__be32 segments;
	__u8 last;
	__u8 rsvd[3];
} __attribute__((packed));
_Static_assert(sizeof(struct names_wire_model) == 12, "names_wire_model");

/* ---- decoded ---- */

struct names_start {
	enum names_mode mode;
	enum names_dtype dtype;
	uint64_t elements;
	uint32_t segment;
	uint32_t lease_ms;
	uint32_t rto_ms;
	uint32_t tree_job;
	uint64_t version;
};

struct names_newest {
	uint32_t segments;
	bool last;
};

/* @values: in the buffer that was decoded; their bytes are a multiple of 4. */
struct names_gradient {
	uint32_t segments;
	uint64_t id;
	uint64_t base;
	struct ndn_bytes values;
};

struct names_model {
	uint32_t segments;
	bool last;
	struct ndn_bytes values;
};

/*
 * Decoding: 0, or -EPROTO (not this kind of content, or another format),
 * -EMSGSIZE (of another length), -EINVAL (a value that is not allowed).
 */
int names_offer_decode(enum names_answer *a, struct ndn_bytes content);
int names_start_decode(struct names_start *s, struct ndn_bytes content);
int names_newest_decode(struct names_newest *n, struct ndn_bytes content);
int names_gradient_decode(struct names_gradient *g, struct ndn_bytes content);
int names_model_decode(struct names_model *m, struct ndn_bytes content);

/* Encoding: the header's bytes, to which @buf has room; values go after it. */
size_t names_offer_encode(uint8_t *buf, enum names_answer a);
size_t names_start_encode(uint8_t *buf, const struct names_start *s);
size_t names_newest_encode(uint8_t *buf, const struct names_newest *n);
size_t names_gradient_encode(uint8_t *buf, const struct names_gradient *g);
size_t names_model_encode(uint8_t *buf, const struct names_model *m);

/* Longest of the headers. */
#define NAMES_HEADER_MAX sizeof(struct names_wire_start)

/* Segments of a vector; 0: @elements or @segment is out of bounds. */
uint32_t names_segments(uint64_t elements, uint32_t segment);
/* Bytes of values in segment @s, which must exist. */
uint32_t names_segment_bytes(uint64_t elements, uint32_t segment, uint32_t s);

/* Of little-endian binary32, in whole values: neither NaN nor infinity. */
bool names_is_finite(const void *values, size_t bytes);

#endif /* TRIB_NAMES_CONTENT_H */
