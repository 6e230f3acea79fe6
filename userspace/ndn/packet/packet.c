// SPDX-License-Identifier: BSD-2-Clause
/* Decodes a datagram or frame: one packet, bare or in a link packet. */
#include <string.h>

#include "packet.h"

enum ndn_err ndn_packet_size(const uint8_t *buf, size_t n, size_t *size)
{
	const uint8_t *p = buf;
	enum ndn_err err;
	uint32_t type;
	uint64_t len;

	err = ndn_tlv_head(&p, buf + n, &type, &len);
	if (err)
		return err;
	if (len > n - (p - buf))
		return NDN_E_BEYOND;
	*size = p - buf + len;
	return NDN_OK;
}

enum ndn_err ndn_packet_read(struct ndn_packet *pkt, const uint8_t *buf, size_t n, bool shallow)
{
	enum ndn_err err;
	struct ndn_tlv t;

	memset(&pkt->lp, 0, sizeof(pkt->lp));
	err = ndn_tlv_only(&t, buf, n);
	if (!err && t.type == TRIB_NDN_LP) {
		struct ndn_tlv link = t;

		err = ndn_lp_read(&pkt->lp, &link, &t);
	}
	if (err)
		return err;
	pkt->type = t.type;
	if (t.type == TRIB_NDN_INTEREST)
		return ndn_interest_read(&pkt->interest, &t, shallow);
	if (t.type == TRIB_NDN_DATA)
		return ndn_data_read(&pkt->data, &t, shallow);
	return NDN_E_KIND;
}

enum ndn_err ndn_packet_decode(struct ndn_packet *pkt, const uint8_t *buf, size_t n)
{
	return ndn_packet_read(pkt, buf, n, false);
}
