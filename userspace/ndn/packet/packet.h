/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files that decode packets. @shallow skips the fields that
 * ndn_view() does not need.
 */
#ifndef TRIB_NDN_PACKET_H
#define TRIB_NDN_PACKET_H

#include "tlv.h"

/* Read the only element of @buf. */
enum ndn_err ndn_tlv_only(struct ndn_tlv *t, const uint8_t *buf, size_t n);
enum ndn_err ndn_packet_read(struct ndn_packet *pkt, const uint8_t *buf, size_t n, bool shallow);
enum ndn_err ndn_interest_read(struct ndn_interest *i, const struct ndn_tlv *t, bool shallow);
enum ndn_err ndn_data_read(struct ndn_data *d, const struct ndn_tlv *t, bool shallow);
/* Read the link header of @t; @inner is the packet in it. */
enum ndn_err ndn_lp_read(struct ndn_lp *lp, const struct ndn_tlv *t, struct ndn_tlv *inner);

/* Read the first element of an Interest or Data: a name that is not empty. */
enum ndn_err ndn_name_read(struct ndn_tlv_walk *w, struct ndn_name *name, struct ndn_tlv *t);
/* Fill in @sig, except for @value and @covered, from a SignatureInfo. */
enum ndn_err ndn_sig_info_read(struct ndn_sig *sig, struct ndn_bytes value);

/*
 * Find the only component of @type. Return: its number, or @name->count if there
 * are none or several. @count: how many there are.
 */
unsigned int ndn_name_only(const struct ndn_name *name, uint32_t type, unsigned int *count);

#endif /* TRIB_NDN_PACKET_H */
