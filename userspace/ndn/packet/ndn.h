/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NDN packets in user space: decode, encode, sign, verify, names and their
 * text. Pure: no allocation, no global state, no I/O but reading a key file.
 * What is decoded points into the caller's buffer, and lives as long.
 *
 * Everything returns 0 (NDN_OK) or the reason of a refusal, enum ndn_err of
 * trib_ndn.h, which also has struct ndn_view. After
 * a refusal what was to be filled in is undefined, unless it says otherwise.
 */
#ifndef TRIB_NDN_NDN_H
#define TRIB_NDN_NDN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/trib_ndn.h"

const char *ndn_err_text(enum ndn_err err);

/* Some bytes of somebody else's. */
struct ndn_bytes {
	const uint8_t *p;
	size_t n;
};

/* ---- names ---- */

/**
 * struct ndn_name - a name, in its wire format
 * @value: the components' TLVs: the VALUE of a Name element.
 * @len:   their bytes.
 * @count: their number.
 * @at:    where each begins in @value; @at[@count] is @len.
 */
struct ndn_name {
	const uint8_t *value;
	uint8_t len;
	uint8_t count;
	uint8_t at[TRIB_NDN_COMPONENTS_MAX + 1];
};

/* A name with room of its own; ndn_name_of() is the name in it. Begin with {}. */
struct ndn_name_buf {
	uint8_t len;
	uint8_t bytes[TRIB_NDN_NAME_MAX];
};

struct ndn_component {
	uint32_t type;
	struct ndn_bytes value;
};

/* Longest text of a name, with its NUL. */
#define NDN_NAME_TEXT_MAX 1024

/* From the VALUE of a Name element. A name may be empty here. */
enum ndn_err ndn_name_decode(struct ndn_name *name, const uint8_t *value,
			     size_t n);
/* Valid as long as @buf is, and until something is appended. */
struct ndn_name ndn_name_of(const struct ndn_name_buf *buf);
enum ndn_err ndn_name_copy(struct ndn_name_buf *buf,
			   const struct ndn_name *name);

/* Component @i, which must be below @name->count. */
struct ndn_component ndn_name_get(const struct ndn_name *name, unsigned int i);
/* As ndn_name_get(), which must be a number of @type: in @number. */
enum ndn_err ndn_name_get_number(const struct ndn_name *name, unsigned int i,
				 uint32_t type, uint64_t *number);
/* The components from @first on, @count of them, all of which must exist. */
struct ndn_name ndn_name_slice(const struct ndn_name *name, unsigned int first,
			       unsigned int count);

/* What fails to fit leaves the name as it was. */
enum ndn_err ndn_name_append(struct ndn_name_buf *buf, uint32_t type,
			     const void *value, size_t n);
/* Of TRIB_NDN_SEGMENT, _VERSION, ...: a number in its shortest form. */
enum ndn_err ndn_name_append_number(struct ndn_name_buf *buf, uint32_t type,
				    uint64_t number);
enum ndn_err ndn_name_append_name(struct ndn_name_buf *buf,
				  const struct ndn_name *more);

/* Canonical order: below, at or above 0 as memcmp() has it. */
int ndn_name_compare(const struct ndn_name *a, const struct ndn_name *b);
bool ndn_name_is_equal(const struct ndn_name *a, const struct ndn_name *b);
/* Also true of a name and itself. */
bool ndn_name_is_prefix(const struct ndn_name *prefix,
			const struct ndn_name *name);

/*
 * From text: `/ps/train/v=3/seg=0`, with or without `ndn:` before it. README.md
 * has the syntax.
 */
enum ndn_err ndn_name_parse(struct ndn_name_buf *buf, const char *text);
/* To text; NDN_NAME_TEXT_MAX suffices for any. */
enum ndn_err ndn_name_text(const struct ndn_name *name, char *text,
			   size_t size);

/* ---- packets ---- */

/**
 * struct ndn_sig - signature of a Data or an Interest, as decoded
 * @type:       enum trib_ndn_sig, or another that nobody here can check.
 * @has_key:    KeyLocator is @key; else @key_digest has bytes, or there is none.
 * @nonce:      SignatureNonce; no bytes: there is none.
 * @time:       SignatureTime, ms since 1970, if @has_time.
 * @seq:        SignatureSeqNum, if @has_seq.
 * @value:      the signature.
 * @covered:    what it covers, one after the other.
 */
struct ndn_sig {
	uint64_t type;
	bool has_key;
	bool has_time;
	bool has_seq;
	struct ndn_name key;
	struct ndn_bytes key_digest;
	struct ndn_bytes nonce;
	uint64_t time;
	uint64_t seq;
	struct ndn_bytes value;
	struct ndn_bytes covered[2];
};

/**
 * struct ndn_interest - an Interest
 * @name:          at least one component.
 * @can_be_prefix: Data of longer names will do.
 * @must_be_fresh: a cache must not answer with stale Data.
 * @has_nonce:     @nonce is there.
 * @has_lifetime:  @lifetime is there; else it is TRIB_NDN_LIFETIME_MS.
 * @has_hop_limit: @hop_limit is there.
 * @has_params:    @params are there, maybe of no bytes.
 * @is_signed:     @sig is there.
 * @hint:          VALUE of ForwardingHint, or no bytes. Its names are checked,
 *                 and nothing here follows them.
 * @nonce:         its 4 bytes as a big-endian number.
 * @lifetime:      ms.
 * @hop_limit:     hops that are left.
 * @params:        ApplicationParameters.
 * @sig:           of a signed Interest. When encoding, its @nonce, @time and
 *                 @seq are taken from here, the rest from the key.
 * @wire:          decoded: the whole element.
 * @digested:      decoded: what the ParametersSha256DigestComponent covers.
 * @nonce_at:      decoded: where @nonce is, or NULL.
 * @hop_limit_at:  decoded: where @hop_limit is, or NULL.
 */
struct ndn_interest {
	struct ndn_name name;
	bool can_be_prefix;
	bool must_be_fresh;
	bool has_nonce;
	bool has_lifetime;
	bool has_hop_limit;
	bool has_params;
	bool is_signed;
	struct ndn_bytes hint;
	uint32_t nonce;
	uint64_t lifetime;
	uint8_t hop_limit;
	struct ndn_bytes params;
	struct ndn_sig sig;
	struct ndn_bytes wire;
	struct ndn_bytes digested;
	const uint8_t *nonce_at;
	const uint8_t *hop_limit_at;
};

/**
 * struct ndn_data - a Data
 * @name:          at least one component.
 * @content_type:  0 if not given.
 * @has_freshness: @freshness is there; else it is 0: stale at once.
 * @has_final:     @final_block is there.
 * @has_content:   @content is there, maybe of no bytes.
 * @freshness:     ms.
 * @final_block:   last component of the name of the last segment.
 * @content:       payload.
 * @sig:           signature. When encoding it comes from the key.
 * @wire:          decoded: the whole element; its SHA-256 is the implicit digest.
 */
struct ndn_data {
	struct ndn_name name;
	bool has_freshness;
	bool has_final;
	bool has_content;
	uint64_t content_type;
	uint64_t freshness;
	struct ndn_component final_block;
	struct ndn_bytes content;
	struct ndn_sig sig;
	struct ndn_bytes wire;
};

/**
 * struct ndn_lp - header of a link packet; all zero for a bare packet
 * @is_nack:     the Interest comes back.
 * @nack_reason: enum trib_ndn_nack, or another.
 * @pit_token:   to be given back with the answer; no bytes: there is none.
 * @congestion:  CongestionMark, 0 is none.
 */
struct ndn_lp {
	bool is_nack;
	uint64_t nack_reason;
	struct ndn_bytes pit_token;
	uint64_t congestion;
};

/**
 * struct ndn_packet - whatever came
 * @type:     TRIB_NDN_INTEREST or TRIB_NDN_DATA: which of the two is filled in.
 * @lp:       its link header.
 * @interest: if it is one, or if one comes back.
 * @data:     if it is one.
 */
struct ndn_packet {
	uint32_t type;
	struct ndn_lp lp;
	union {
		struct ndn_interest interest;
		struct ndn_data data;
	};
};

/*
 * How many of the @n bytes the first packet takes: what comes after it in an
 * Ethernet frame is padding. It need not be a good one.
 */
enum ndn_err ndn_packet_size(const uint8_t *buf, size_t n, size_t *size);

/* All @n bytes must be one packet, bare or in an LpPacket. */
enum ndn_err ndn_packet_decode(struct ndn_packet *pkt, const uint8_t *buf,
			       size_t n);
/* The same for a bare one of a known kind. */
enum ndn_err ndn_interest_decode(struct ndn_interest *i, const uint8_t *buf,
				 size_t n);
enum ndn_err ndn_data_decode(struct ndn_data *d, const uint8_t *buf, size_t n);

/* ---- keys and signatures ---- */

#define NDN_KEY_SIZE 32

/**
 * struct ndn_key - what signs or verifies
 * @type:       enum trib_ndn_sig.
 * @has_secret: it can sign, not only verify.
 * @name:       goes into the KeyLocator; a signature whose KeyLocator does not
 *              begin with it is refused. Empty: neither.
 * @secret:     HMAC key or Ed25519 seed.
 * @pub:        Ed25519 public key.
 */
struct ndn_key {
	uint32_t type;
	bool has_secret;
	struct ndn_name_buf name;
	uint8_t secret[NDN_KEY_SIZE];
	uint8_t pub[NDN_KEY_SIZE];
};

/* DigestSha256: the key that everybody has. */
extern const struct ndn_key ndn_key_sha256;

void ndn_key_hmac(struct ndn_key *key, const uint8_t secret[NDN_KEY_SIZE]);
void ndn_key_ed25519(struct ndn_key *key, const uint8_t seed[NDN_KEY_SIZE]);
void ndn_key_ed25519_public(struct ndn_key *key,
			    const uint8_t pub[NDN_KEY_SIZE]);
/*
 * From a file of one line, `TYPE NAME HEX`: TYPE is hmac, ed25519 or
 * ed25519-public, HEX has 64 digits. Empty lines and such that begin with # are
 * skipped. A secret that others than its owner may read is refused.
 */
enum ndn_err ndn_key_read(struct ndn_key *key, const char *path);
/* Forgets the secret. */
void ndn_key_wipe(struct ndn_key *key);

/*
 * The signature is of @key's type and right, its KeyLocator begins with the
 * key's name. Of an Interest it must exist, and the digest in the name must be
 * right.
 */
enum ndn_err ndn_data_verify(const struct ndn_data *d,
			     const struct ndn_key *key);
enum ndn_err ndn_interest_verify(const struct ndn_interest *i,
				 const struct ndn_key *key);
/* Only the digest in the name; an Interest without parameters has none: good. */
enum ndn_err ndn_interest_check_digest(const struct ndn_interest *i);
/* What an ImplicitSha256DigestComponent of this Data would be. */
void ndn_data_digest(const struct ndn_data *d,
		     uint8_t digest[TRIB_NDN_DIGEST_SIZE]);

/* ---- encode ---- */

/*
 * Into @buf, which has @size bytes, all of which may be written to; @len says
 * how many the packet has. Equal input gives equal bytes. What one encodes must
 * not be in @buf. What decoding would refuse is refused, for the same reason.
 *
 * An Interest with parameters or a key gets its ParametersSha256DigestComponent:
 * in place of the one in its name, or after the name. @key: NULL makes an
 * Interest without signature, and a Data with DigestSha256.
 */
enum ndn_err ndn_interest_encode(const struct ndn_interest *i,
				 const struct ndn_key *key, uint8_t *buf,
				 size_t size, size_t *len);
enum ndn_err ndn_data_encode(const struct ndn_data *d,
			     const struct ndn_key *key, uint8_t *buf,
			     size_t size, size_t *len);
/* A link packet around @fragment, a whole Interest or Data. */
enum ndn_err ndn_lp_encode(const struct ndn_lp *lp, struct ndn_bytes fragment,
			   uint8_t *buf, size_t size, size_t *len);

/* ---- what a forwarder sees ---- */

/*
 * As ndn_packet_decode(), but looks only at what forwarding needs: not into
 * ForwardingHint, SignatureInfo and FinalBlockId. An Interest whose HopLimit is
 * 0 is refused, unless it comes back.
 */
void ndn_view(struct ndn_view *v, const uint8_t *buf, size_t n);

#endif /* TRIB_NDN_NDN_H */
