// SPDX-License-Identifier: BSD-2-Clause
/* Decodes Data. */
#include <string.h>

#include "packet.h"

enum place { META, CONTENT, SIG_INFO, SIG_VALUE, PLACES };

static const uint16_t order[PLACES] = {
	[META] = TRIB_NDN_META,
	[CONTENT] = TRIB_NDN_CONTENT,
	[SIG_INFO] = TRIB_NDN_SIG_INFO,
	[SIG_VALUE] = TRIB_NDN_SIG_VALUE,
};

/* FinalBlockId holds exactly one component. */
static enum ndn_err read_final_block(struct ndn_data *d, struct ndn_bytes value)
{
	struct ndn_name name;
	enum ndn_err err;

	err = ndn_name_decode(&name, value.p, value.n);
	if (err)
		return err;
	if (name.count != 1)
		return NDN_E_FINAL_BLOCK;
	d->has_final = true;
	d->final_block = ndn_name_get(&name, 0);
	return NDN_OK;
}

static enum ndn_err read_meta(struct ndn_data *d, struct ndn_bytes meta, bool shallow)
{
	enum { TYPE, FRESHNESS, FINAL, N };
	static const uint16_t within[N] = {
		[TYPE] = TRIB_NDN_CONTENT_TYPE,
		[FRESHNESS] = TRIB_NDN_FRESHNESS,
		[FINAL] = TRIB_NDN_FINAL_BLOCK,
	};
	unsigned int place;
	struct ndn_tlv_walk w;
	enum ndn_err err;
	struct ndn_tlv t;

	ndn_tlv_walk_begin(&w, meta);
	do {
		err = ndn_tlv_walk_known(&w, within, N, &t, &place);
		if (err || place == N)
			return err;
		if (place == TYPE) {
			err = ndn_tlv_number(t.value, &d->content_type);
		} else if (place == FRESHNESS) {
			d->has_freshness = true;
			err = ndn_tlv_number(t.value, &d->freshness);
		} else if (!shallow) {
			err = read_final_block(d, t.value);
		}
	} while (!err);
	return err;
}

/* A Data must be signed and must not name its own implicit digest. */
static enum ndn_err settle(struct ndn_data *d, const uint8_t *name, const uint8_t *sig_info,
			   const uint8_t *sig_value)
{
	unsigned int implicit;

	if (!sig_info || !sig_value)
		return NDN_E_UNSIGNED;
	ndn_name_only(&d->name, TRIB_NDN_DIGEST, &implicit);
	if (implicit)
		return NDN_E_DIGEST_PLACE;
	d->sig.covered[0].p = name;
	d->sig.covered[0].n = sig_value - name;
	return NDN_OK;
}

enum ndn_err ndn_data_read(struct ndn_data *d, const struct ndn_tlv *t, bool shallow)
{
	const uint8_t *name, *sig_info = NULL, *sig_value = NULL;
	unsigned int place;
	struct ndn_tlv_walk w;
	enum ndn_err err;
	struct ndn_tlv e;

	memset(d, 0, sizeof(*d));
	d->wire.p = t->start;
	d->wire.n = t->value.p + t->value.n - t->start;
	ndn_tlv_walk_begin(&w, t->value);
	err = ndn_name_read(&w, &d->name, &e);
	name = err ? NULL : e.start;
	while (!err) {
		err = ndn_tlv_walk_known(&w, order, PLACES, &e, &place);
		if (err)
			break;
		switch (place) {
		case META:
			err = read_meta(d, e.value, shallow);
			break;
		case CONTENT:
			d->has_content = true;
			d->content = e.value;
			break;
		case SIG_INFO:
			sig_info = e.start;
			if (!shallow)
				err = ndn_sig_info_read(&d->sig, e.value);
			break;
		case SIG_VALUE:
			sig_value = e.start;
			d->sig.value = e.value;
			break;
		default:
			return settle(d, name, sig_info, sig_value);
		}
	}
	return err;
}

enum ndn_err ndn_data_decode(struct ndn_data *d, const uint8_t *buf, size_t n)
{
	enum ndn_err err;
	struct ndn_tlv t;

	err = ndn_tlv_only(&t, buf, n);
	if (err)
		return err;
	if (t.type != TRIB_NDN_DATA)
		return NDN_E_KIND;
	return ndn_data_read(d, &t, false);
}
