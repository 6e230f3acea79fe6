/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TLV elements, to read and to write. Reading goes forward through the elements
 * of one container; writing goes backward from the end of a buffer, so that an
 * element's length is known when it is written.
 */
#ifndef TRIB_NDN_TLV_H
#define TRIB_NDN_TLV_H

#include "ndn.h"

/* ---- reading ---- */

/**
 * struct ndn_tlv - one element
 * @type:  not 0.
 * @start: where its type is.
 * @value: its VALUE.
 */
struct ndn_tlv {
	uint32_t type;
	const uint8_t *start;
	struct ndn_bytes value;
};

/**
 * struct ndn_tlv_walk - where we are among the elements of a container
 * @p:    the next element.
 * @end:  of the container.
 * @left: elements that it may still have.
 * @pos:  of ndn_tlv_walk_known(): the first place in the order still to come.
 */
struct ndn_tlv_walk {
	const uint8_t *p;
	const uint8_t *end;
	unsigned int left;
	unsigned int pos;
};

/* One VAR-NUMBER, of at most 32 bits if it is a type. Moves @p on. */
enum ndn_err ndn_tlv_varnum(const uint8_t **p, const uint8_t *end,
			    uint64_t *num);
/* Type and length of the element at @p, which may end before its VALUE does. */
enum ndn_err ndn_tlv_head(const uint8_t **p, const uint8_t *end, uint32_t *type,
			  uint64_t *len);
/* The element at *@p, whole. Moves @p on. */
enum ndn_err ndn_tlv_read(const uint8_t **p, const uint8_t *end,
			  struct ndn_tlv *t);

void ndn_tlv_walk_begin(struct ndn_tlv_walk *w, struct ndn_bytes container);
bool ndn_tlv_walk_is_over(const struct ndn_tlv_walk *w);
enum ndn_err ndn_tlv_walk_next(struct ndn_tlv_walk *w, struct ndn_tlv *t);
/*
 * The next element that is at its place in @order (@n types): @t, and @place,
 * where in the order it is; @place is @n at the end of the container. Others
 * are skipped, unless they are critical.
 */
enum ndn_err ndn_tlv_walk_known(struct ndn_tlv_walk *w, const uint16_t *order,
				unsigned int n, struct ndn_tlv *t,
				unsigned int *place);

/* VALUE as a nonNegativeInteger: 1, 2, 4 or 8 bytes. */
enum ndn_err ndn_tlv_number(struct ndn_bytes value, uint64_t *number);

/* ---- writing ---- */

/**
 * struct ndn_tlv_writer - what has been written is between @p and @end
 * @base: of the buffer.
 * @p:    the element written last.
 * @end:  of the buffer.
 * @err:  sticks: NDN_E_SPACE, or what a caller stored.
 */
struct ndn_tlv_writer {
	uint8_t *base;
	uint8_t *p;
	uint8_t *end;
	enum ndn_err err;
};

void ndn_tlv_writer_begin(struct ndn_tlv_writer *w, uint8_t *buf, size_t size);
/* Room for @n bytes before what is there; NULL if there is none. */
uint8_t *ndn_tlv_put_room(struct ndn_tlv_writer *w, size_t n);
void ndn_tlv_put_bytes(struct ndn_tlv_writer *w, const void *value, size_t n);
void ndn_tlv_put_varnum(struct ndn_tlv_writer *w, uint64_t num);
/* Type and length before the VALUE that was written since @p was @end. */
void ndn_tlv_put_head(struct ndn_tlv_writer *w, uint32_t type,
		      const uint8_t *end);
void ndn_tlv_put(struct ndn_tlv_writer *w, uint32_t type, const void *value,
		 size_t n);
void ndn_tlv_put_number(struct ndn_tlv_writer *w, uint32_t type,
			uint64_t number);
/* Moves what was written to the beginning of the buffer: one packet. */
enum ndn_err ndn_tlv_writer_finish(struct ndn_tlv_writer *w, size_t *len);

/* A nonNegativeInteger in its shortest form: how many bytes of @out it takes. */
size_t ndn_tlv_number_write(uint8_t out[8], uint64_t number);

#endif /* TRIB_NDN_TLV_H */
