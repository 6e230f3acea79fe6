// SPDX-License-Identifier: BSD-2-Clause
/* What a datagram or frame holds: one packet, bare or in a link packet. */
#include <string.h>

#include "packet.h"

enum ndn_err ndn_packet_size(const uint8_t *buf, size_t n, size_t *size)
{
	const uint8_t *p = buf;
	enum ndn_err err;
	uint32_t type;
	uint64_t len;

	err = tlv_head(&p, buf + n, &type, &len);
	if (err)
		return err;
	if (len > n - (p - buf))
		return NDN_E_BEYOND;
	*size = p - buf + len;
	return NDN_OK;
}

enum ndn_err packet_open(struct tlv *t, const uint8_t *buf, size_t n)
{
	const uint8_t *p = buf;
	enum ndn_err err;

	if (n > TRIB_NDN_PACKET_MAX)
		return NDN_E_LONG;
	err = tlv_read(&p, buf + n, t);
	if (err)
		return err;
	return p == buf + n ? NDN_OK : NDN_E_TRAILING;
}

enum ndn_err packet_name(struct tlv_walk *w, struct ndn_name *name,
			 struct tlv *t)
{
	enum ndn_err err;

	if (tlv_walk_is_over(w))
		return NDN_E_NO_NAME;
	err = tlv_walk_next(w, t);
	if (err)
		return err;
	if (t->type != TRIB_NDN_NAME)
		return NDN_E_NO_NAME;
	err = ndn_name_decode(name, t->value.p, t->value.n);
	if (!err && !name->count)
		err = NDN_E_NAME_EMPTY;
	return err;
}

unsigned int name_only(const struct ndn_name *name, uint32_t type,
		       unsigned int *count)
{
	unsigned int at = name->count;

	*count = 0;
	for (unsigned int i = 0; i < name->count; i++) {
		if (ndn_name_get(name, i).type != type)
			continue;
		at = i;
		++*count;
	}
	return *count == 1 ? at : name->count;
}

enum ndn_err packet_read(struct ndn_packet *pkt, const uint8_t *buf, size_t n,
			 bool shallow)
{
	enum ndn_err err;
	struct tlv t;

	memset(&pkt->lp, 0, sizeof(pkt->lp));
	err = packet_open(&t, buf, n);
	if (!err && t.type == TRIB_NDN_LP) {
		struct tlv link = t;

		err = lp_read(&pkt->lp, &link, &t);
	}
	if (err)
		return err;
	pkt->type = t.type;
	if (t.type == TRIB_NDN_INTEREST)
		return interest_read(&pkt->interest, &t, shallow);
	if (t.type == TRIB_NDN_DATA)
		return data_read(&pkt->data, &t, shallow);
	return NDN_E_KIND;
}

enum ndn_err ndn_packet_decode(struct ndn_packet *pkt, const uint8_t *buf,
			       size_t n)
{
	return packet_read(pkt, buf, n, false);
}
