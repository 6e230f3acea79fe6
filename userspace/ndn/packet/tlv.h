/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TLV elements. Reading goes forward through the elements of one container.
 * Writing goes backward from the end of a buffer, so that the length of an
 * element is known when its head is written.
 */
#ifndef TRIB_NDN_TLV_H
#define TRIB_NDN_TLV_H

#include "ndn.h"

/* ---- reading ---- */

/**
 * struct ndn_tlv - one element
 * @type:  never 0.
 * @start: address of its type.
 * @value: its VALUE.
 */
struct ndn_tlv {
	uint32_t type;
	const uint8_t *start;
	struct ndn_bytes value;
};

/**
 * struct ndn_tlv_walk - position among the elements of a container
 * @p:    next element.
 * @end:  of the container.
 * @left: how many more elements are allowed.
 * @pos:  for ndn_tlv_walk_known(): next position in the order.
 */
struct ndn_tlv_walk {
	const uint8_t *p;
	const uint8_t *end;
	unsigned int left;
	unsigned int pos;
};

/* Read a VAR-NUMBER. Advances @p. */
enum ndn_err ndn_tlv_varnum(const uint8_t **p, const uint8_t *end, uint64_t *num);
/* Read type and length of the element at @p. Its VALUE may exceed @end. */
enum ndn_err ndn_tlv_head(const uint8_t **p, const uint8_t *end, uint32_t *type, uint64_t *len);
/* Read the element at *@p. Advances @p. */
enum ndn_err ndn_tlv_read(const uint8_t **p, const uint8_t *end, struct ndn_tlv *t);

void ndn_tlv_walk_begin(struct ndn_tlv_walk *w, struct ndn_bytes container);
bool ndn_tlv_walk_is_over(const struct ndn_tlv_walk *w);
enum ndn_err ndn_tlv_walk_next(struct ndn_tlv_walk *w, struct ndn_tlv *t);
/*
 * Read the next element whose type follows in @order (@n types). @place is its
 * position there, or @n at the end of the container. Elements that are unknown or
 * out of order are skipped, or refused if critical.
 */
enum ndn_err ndn_tlv_walk_known(struct ndn_tlv_walk *w, const uint16_t *order, unsigned int n,
				struct ndn_tlv *t, unsigned int *place);

/* Read a VALUE as a nonNegativeInteger of 1, 2, 4 or 8 bytes. */
enum ndn_err ndn_tlv_number(struct ndn_bytes value, uint64_t *number);

/* ---- writing ---- */

/**
 * struct ndn_tlv_writer - output is between @p and @end
 * @base: begin of the buffer.
 * @p:    begin of the element written last.
 * @end:  end of the buffer.
 * @err:  first error: NDN_E_SPACE, or one that a caller stored.
 */
struct ndn_tlv_writer {
	uint8_t *base;
	uint8_t *p;
	uint8_t *end;
	enum ndn_err err;
};

void ndn_tlv_writer_begin(struct ndn_tlv_writer *w, uint8_t *buf, size_t size);
/* Reserve @n bytes before the output. Return: NULL if they do not fit. */
uint8_t *ndn_tlv_put_room(struct ndn_tlv_writer *w, size_t n);
void ndn_tlv_put_bytes(struct ndn_tlv_writer *w, const void *value, size_t n);
void ndn_tlv_put_varnum(struct ndn_tlv_writer *w, uint64_t num);
/* Write type and length of the VALUE written since @p was @end. */
void ndn_tlv_put_head(struct ndn_tlv_writer *w, uint32_t type, const uint8_t *end);
void ndn_tlv_put(struct ndn_tlv_writer *w, uint32_t type, const void *value, size_t n);
void ndn_tlv_put_number(struct ndn_tlv_writer *w, uint32_t type, uint64_t number);
/* Move the output, one packet, to the beginning of the buffer. */
enum ndn_err ndn_tlv_writer_finish(struct ndn_tlv_writer *w, size_t *len);

/* Write a nonNegativeInteger in shortest form. Return: its bytes. */
size_t ndn_tlv_number_write(uint8_t out[8], uint64_t number);

#endif /* TRIB_NDN_TLV_H */
