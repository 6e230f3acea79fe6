// SPDX-License-Identifier: BSD-2-Clause
/* Writes TLV elements, from the end of a buffer to its beginning. */
#include <string.h>

#include "tlv.h"

void ndn_tlv_writer_begin(struct ndn_tlv_writer *w, uint8_t *buf, size_t size)
{
	w->base = buf;
	w->end = buf + size;
	w->p = w->end;
	w->err = NDN_OK;
}

uint8_t *ndn_tlv_put_room(struct ndn_tlv_writer *w, size_t n)
{
	if (!w->err && n > (size_t)(w->p - w->base))
		w->err = NDN_E_SPACE;
	if (w->err)
		return NULL;
	return w->p -= n;
}

void ndn_tlv_put_bytes(struct ndn_tlv_writer *w, const void *value, size_t n)
{
	uint8_t *p = ndn_tlv_put_room(w, n);

	if (p && n)
		memcpy(p, value, n);
}

static void big_endian(uint8_t *p, uint64_t v, unsigned int n)
{
	while (n--) {
		p[n] = v;
		v >>= 8;
	}
}

void ndn_tlv_put_varnum(struct ndn_tlv_writer *w, uint64_t num)
{
	unsigned int form = num < 253 ? 0 : num < 0x10000 ? 2 : num <= UINT32_MAX ? 4 : 8;
	uint8_t *p = ndn_tlv_put_room(w, 1 + form);

	if (!p)
		return;
	if (!form) {
		*p = num;
		return;
	}
	*p = form == 2 ? 253 : form == 4 ? 254 : 255;
	big_endian(p + 1, num, form);
}

void ndn_tlv_put_head(struct ndn_tlv_writer *w, uint32_t type, const uint8_t *end)
{
	ndn_tlv_put_varnum(w, end - w->p);
	ndn_tlv_put_varnum(w, type);
}

void ndn_tlv_put(struct ndn_tlv_writer *w, uint32_t type, const void *value, size_t n)
{
	const uint8_t *end = w->p;

	ndn_tlv_put_bytes(w, value, n);
	ndn_tlv_put_head(w, type, end);
}

size_t ndn_tlv_number_write(uint8_t out[8], uint64_t number)
{
	size_t n = number < 0x100 ? 1 : number < 0x10000 ? 2 : number <= UINT32_MAX ? 4 : 8;

	big_endian(out, number, n);
	return n;
}

void ndn_tlv_put_number(struct ndn_tlv_writer *w, uint32_t type, uint64_t number)
{
	uint8_t bytes[8];

	ndn_tlv_put(w, type, bytes, ndn_tlv_number_write(bytes, number));
}

enum ndn_err ndn_tlv_writer_finish(struct ndn_tlv_writer *w, size_t *len)
{
	size_t n = w->end - w->p;

	if (w->err)
		return w->err;
	if (n > TRIB_NDN_PACKET_MAX)
		return NDN_E_LONG;
	memmove(w->base, w->p, n);
	*len = n;
	return NDN_OK;
}
