// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads TLV elements: shortest VAR-NUMBERs, lengths within the container, skipping
 * of elements that are not critical. All input from the network is read here.
 */
#include "tlv.h"

static uint64_t big_endian(const uint8_t *p, unsigned int n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | *p++;
	return v;
}

enum ndn_err ndn_tlv_varnum(const uint8_t **p, const uint8_t *end, uint64_t *num)
{
	static const uint64_t least[] = {253, 0x10000, 0x100000000};
	unsigned int form, n;

	if (*p == end)
		return NDN_E_CUT;
	if (**p < 253) {
		*num = *(*p)++;
		return NDN_OK;
	}
	form = **p - 253;
	n = 2u << form;
	if ((size_t)(end - *p) < 1 + n)
		return NDN_E_CUT;
	*num = big_endian(*p + 1, n);
	if (*num < least[form])
		return NDN_E_VARNUM;
	*p += 1 + n;
	return NDN_OK;
}

enum ndn_err ndn_tlv_head(const uint8_t **p, const uint8_t *end, uint32_t *type, uint64_t *len)
{
	enum ndn_err err;
	uint64_t num;

	err = ndn_tlv_varnum(p, end, &num);
	if (err)
		return err;
	if (!num)
		return NDN_E_TYPE_ZERO;
	if (num > UINT32_MAX)
		return NDN_E_TYPE_BIG;
	*type = num;
	return ndn_tlv_varnum(p, end, len);
}

enum ndn_err ndn_tlv_read(const uint8_t **p, const uint8_t *end, struct ndn_tlv *t)
{
	enum ndn_err err;
	uint64_t len;

	t->start = *p;
	err = ndn_tlv_head(p, end, &t->type, &len);
	if (err)
		return err;
	if (len > (size_t)(end - *p))
		return NDN_E_BEYOND;
	t->value = (struct ndn_bytes){*p, len};
	*p += len;
	return NDN_OK;
}

enum ndn_err ndn_tlv_only(struct ndn_tlv *t, const uint8_t *buf, size_t n)
{
	const uint8_t *p = buf;
	enum ndn_err err;

	if (n > TRIB_NDN_PACKET_MAX)
		return NDN_E_LONG;
	err = ndn_tlv_read(&p, buf + n, t);
	if (err)
		return err;
	return p == buf + n ? NDN_OK : NDN_E_TRAILING;
}

void ndn_tlv_walk_begin(struct ndn_tlv_walk *w, struct ndn_bytes container)
{
	w->p = container.p;
	w->end = container.p + container.n;
	w->left = TRIB_NDN_ELEMENTS_MAX;
	w->pos = 0;
}

bool ndn_tlv_walk_is_over(const struct ndn_tlv_walk *w)
{
	return w->p == w->end;
}

enum ndn_err ndn_tlv_walk_next(struct ndn_tlv_walk *w, struct ndn_tlv *t)
{
	if (!w->left)
		return NDN_E_ELEMENTS;
	w->left--;
	return ndn_tlv_read(&w->p, w->end, t);
}

static unsigned int place_of(const uint16_t *order, unsigned int n, uint32_t type)
{
	unsigned int i;

	for (i = 0; i < n && order[i] != type; i++)
		;
	return i;
}

enum ndn_err ndn_tlv_walk_known(struct ndn_tlv_walk *w, const uint16_t *order, unsigned int n,
				struct ndn_tlv *t, unsigned int *place)
{
	enum ndn_err err;
	unsigned int i;

	while (!ndn_tlv_walk_is_over(w)) {
		err = ndn_tlv_walk_next(w, t);
		if (err)
			return err;
		i = place_of(order, n, t->type);
		if (i < n && i >= w->pos) {
			w->pos = i + 1;
			*place = i;
			return NDN_OK;
		}
		if (TRIB_NDN_IS_CRITICAL(t->type))
			return i < n ? NDN_E_ORDER : NDN_E_CRITICAL;
	}
	*place = n;
	return NDN_OK;
}

enum ndn_err ndn_tlv_number(struct ndn_bytes value, uint64_t *number)
{
	if (value.n != 1 && value.n != 2 && value.n != 4 && value.n != 8)
		return NDN_E_NUMBER;
	*number = big_endian(value.p, value.n);
	return NDN_OK;
}
