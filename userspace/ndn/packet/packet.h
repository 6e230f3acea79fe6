/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the files that decode packets. @shallow leaves out what a forwarder
 * has no use for; ndn_view() says what that is.
 */
#ifndef TRIB_NDN_PACKET_H
#define TRIB_NDN_PACKET_H

#include "tlv.h"

/* The one element that @buf must be. */
enum ndn_err ndn_tlv_only(struct ndn_tlv *t, const uint8_t *buf, size_t n);
enum ndn_err ndn_packet_read(struct ndn_packet *pkt, const uint8_t *buf,
			     size_t n, bool shallow);
enum ndn_err ndn_interest_read(struct ndn_interest *i, const struct ndn_tlv *t,
			       bool shallow);
enum ndn_err ndn_data_read(struct ndn_data *d, const struct ndn_tlv *t,
			   bool shallow);
/* The link header of @t, and the element in it. */
enum ndn_err ndn_lp_read(struct ndn_lp *lp, const struct ndn_tlv *t,
			 struct ndn_tlv *inner);

/* The first element of an Interest or Data; not empty. */
enum ndn_err ndn_name_read(struct ndn_tlv_walk *w, struct ndn_name *name,
			   struct ndn_tlv *t);
/* All of @sig but @value and @covered, from the VALUE of a SignatureInfo. */
enum ndn_err ndn_sig_info_read(struct ndn_sig *sig, struct ndn_bytes value);

/*
 * The only component of @type; @name->count if there is none, or several.
 * @count: how many there are.
 */
unsigned int ndn_name_only(const struct ndn_name *name, uint32_t type,
			   unsigned int *count);

#endif /* TRIB_NDN_PACKET_H */
