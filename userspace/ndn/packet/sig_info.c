// SPDX-License-Identifier: BSD-2-Clause
/* Decodes SignatureInfo and InterestSignatureInfo. */
#include "packet.h"

static enum ndn_err read_locator(struct ndn_sig *sig, struct ndn_bytes value)
{
	static const uint16_t within[] = {TRIB_NDN_NAME, TRIB_NDN_KEY_DIGEST};
	unsigned int found = 0, place;
	struct ndn_tlv_walk w;
	enum ndn_err err;
	struct ndn_tlv t;

	ndn_tlv_walk_begin(&w, value);
	for (;; found++) {
		err = ndn_tlv_walk_known(&w, within, 2, &t, &place);
		if (err)
			return err;
		if (place == 2)
			return found == 1 ? NDN_OK : NDN_E_KEY_LOCATOR;
		if (place == 0) {
			sig->has_key = true;
			err = ndn_name_decode(&sig->key, t.value.p, t.value.n);
		} else {
			sig->key_digest = t.value;
			err = t.value.n ? NDN_OK : NDN_E_SIZE;
		}
		if (err)
			return err;
	}
}

enum ndn_err ndn_sig_info_read(struct ndn_sig *sig, struct ndn_bytes value)
{
	enum { TYPE, LOCATOR, NONCE, TIME, SEQ, VALIDITY, N };
	static const uint16_t within[N] = {
		[TYPE] = TRIB_NDN_SIG_TYPE,   [LOCATOR] = TRIB_NDN_KEY_LOCATOR,
		[NONCE] = TRIB_NDN_SIG_NONCE, [TIME] = TRIB_NDN_SIG_TIME,
		[SEQ] = TRIB_NDN_SIG_SEQ,     [VALIDITY] = TRIB_NDN_VALIDITY,
	};
	bool has_type = false;
	unsigned int place;
	struct ndn_tlv_walk w;
	enum ndn_err err;
	struct ndn_tlv t;

	ndn_tlv_walk_begin(&w, value);
	do {
		err = ndn_tlv_walk_known(&w, within, N, &t, &place);
		if (err)
			break;
		switch (place) {
		case TYPE:
			has_type = true;
			err = ndn_tlv_number(t.value, &sig->type);
			break;
		case LOCATOR:
			err = read_locator(sig, t.value);
			break;
		case NONCE:
			sig->nonce = t.value;
			err = t.value.n ? NDN_OK : NDN_E_SIZE;
			break;
		case TIME:
			sig->has_time = true;
			err = ndn_tlv_number(t.value, &sig->time);
			break;
		case SEQ:
			sig->has_seq = true;
			err = ndn_tlv_number(t.value, &sig->seq);
			break;
		case VALIDITY:
			break;
		default:
			return has_type ? NDN_OK : NDN_E_UNSIGNED;
		}
	} while (!err);
	return err;
}
