/* SPDX-License-Identifier: BSD-2-Clause */
/* Signatures, for the encoder. */
#ifndef TRIB_NDN_SIGN_H
#define TRIB_NDN_SIGN_H

#include "ndn.h"

/* Bytes of a signature; 0: unknown type. */
size_t ndn_sig_size(uint32_t type);
/* Sign both parts together. Writes ndn_sig_size() bytes to @out. */
enum ndn_err ndn_sig_make(const struct ndn_key *key, const struct ndn_bytes covered[2],
			  uint8_t *out);
void ndn_sig_sha256(const struct ndn_bytes covered[2], uint8_t out[TRIB_NDN_DIGEST_SIZE]);

#endif /* TRIB_NDN_SIGN_H */
