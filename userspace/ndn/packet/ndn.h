/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The NDN codec: decode, encode, sign and verify packets; names and their text.
 * Pure: no allocation, no global state, no I/O except for reading a key file.
 * Decoded structures point into the caller's buffer and live as long as it.
 *
 * Functions return 0 (NDN_OK) or an enum ndn_err of trib_ndn.h. After an error
 * the outputs are undefined unless the function says otherwise.
 */
#ifndef TRIB_NDN_NDN_H
#define TRIB_NDN_NDN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/trib_ndn.h"

/* Describe an error; the text is static. */
const char *ndn_err_text(enum ndn_err err);

/* Borrowed bytes. */
struct ndn_bytes {
	const uint8_t *p;
	size_t n;
};

/* ---- names ---- */

/**
 * struct ndn_name - a name in wire format
 * @value: VALUE of a Name element, borrowed.
 * @len:   its bytes.
 * @count: components.
 * @at:    offset of each component in @value; @at[@count] is @len.
 */
struct ndn_name {
	const uint8_t *value;
	uint8_t len;
	uint8_t count;
	uint8_t at[TRIB_NDN_COMPONENTS_MAX + 1];
};

/* A name with storage of its own; ndn_name_of() reads it. Initialise with {}. */
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

/* Decode the VALUE of a Name element, which may be empty. */
enum ndn_err ndn_name_decode(struct ndn_name *name, const uint8_t *value, size_t n);
/* The name in @buf; valid until @buf changes. */
struct ndn_name ndn_name_of(const struct ndn_name_buf *buf);
enum ndn_err ndn_name_copy(struct ndn_name_buf *buf, const struct ndn_name *name);

/* Get component @i, which must exist. */
struct ndn_component ndn_name_get(const struct ndn_name *name, unsigned int i);
/* Get component @i, which must exist and be a number of @type. */
enum ndn_err ndn_name_get_number(const struct ndn_name *name, unsigned int i, uint32_t type,
				 uint64_t *number);
/* Get @count components from @first on, which must exist. */
struct ndn_name ndn_name_slice(const struct ndn_name *name, unsigned int first, unsigned int count);

/* Append a component. An error leaves the name unchanged. */
enum ndn_err ndn_name_append(struct ndn_name_buf *buf, uint32_t type, const void *value, size_t n);
/* Append a number (TRIB_NDN_SEGMENT, _VERSION, ...) in its shortest form. */
enum ndn_err ndn_name_append_number(struct ndn_name_buf *buf, uint32_t type, uint64_t number);
enum ndn_err ndn_name_append_name(struct ndn_name_buf *buf, const struct ndn_name *more);

/* Compare in canonical order. Return: as memcmp(). */
int ndn_name_compare(const struct ndn_name *a, const struct ndn_name *b);
bool ndn_name_is_equal(const struct ndn_name *a, const struct ndn_name *b);
/* A name is a prefix of itself. */
bool ndn_name_is_prefix(const struct ndn_name *prefix, const struct ndn_name *name);

/* Parse `/ps/train/v=3/seg=0` or `ndn:/...`; README.md has the syntax. */
enum ndn_err ndn_name_parse(struct ndn_name_buf *buf, const char *text);
/* Write as text; NDN_NAME_TEXT_MAX bytes suffice for every name. */
enum ndn_err ndn_name_text(const struct ndn_name *name, char *text, size_t size);

/* ---- packets ---- */

/**
 * struct ndn_sig - signature of a Data or an Interest, as decoded
 * @type:       enum trib_ndn_sig, or a type that cannot be verified here.
 * @has_key:    KeyLocator is @key; else it is @key_digest, or absent.
 * @has_time:   @time is present.
 * @has_seq:    @seq is present.
 * @key:        KeyLocator as a name.
 * @key_digest: KeyLocator as a digest; 0 bytes: none.
 * @nonce:      SignatureNonce; 0 bytes: none.
 * @time:       SignatureTime, ms since 1970.
 * @seq:        SignatureSeqNum.
 * @value:      the signature.
 * @covered:    the signed bytes, in two parts.
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
 * @can_be_prefix: Data with longer names satisfy it.
 * @must_be_fresh: a cache must not answer with stale Data.
 * @has_nonce:     @nonce is present.
 * @has_lifetime:  @lifetime is present; decoded without: TRIB_NDN_LIFETIME_MS.
 * @has_hop_limit: @hop_limit is present.
 * @has_params:    @params is present, possibly with 0 bytes.
 * @is_signed:     @sig is present.
 * @hint:          VALUE of ForwardingHint, or 0 bytes. Its names are checked and
 *                 not followed.
 * @nonce:         big-endian value of its 4 bytes.
 * @lifetime:      ms.
 * @hop_limit:     remaining hops.
 * @params:        ApplicationParameters.
 * @sig:           signature. The encoder takes its nonce, time and sequence
 *                 number from here, the rest from the key.
 * @wire:          decoded: the whole element.
 * @digested:      decoded: bytes that ParametersSha256DigestComponent covers.
 * @nonce_at:      decoded: address of @nonce, or NULL.
 * @hop_limit_at:  decoded: address of @hop_limit, or NULL.
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
 * @has_freshness: @freshness is present; else the Data is stale at once.
 * @has_final:     @final_block is present.
 * @has_content:   @content is present, possibly with 0 bytes.
 * @content_type:  0 if absent.
 * @freshness:     ms.
 * @final_block:   last component of the name of the last segment.
 * @content:       payload.
 * @sig:           decoded: signature. The encoder takes it from the key.
 * @wire:          decoded: the whole element, whose SHA-256 is the implicit
 *                 digest.
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
 * @is_nack:     Nack: the packet is a returned Interest.
 * @nack_reason: enum trib_ndn_nack, or an unknown reason.
 * @pit_token:   must be copied into the answer; 0 bytes: none.
 * @congestion:  CongestionMark; 0: none.
 */
struct ndn_lp {
	bool is_nack;
	uint64_t nack_reason;
	struct ndn_bytes pit_token;
	uint64_t congestion;
};

/**
 * struct ndn_packet - a decoded packet
 * @type:     TRIB_NDN_INTEREST or TRIB_NDN_DATA; selects the member.
 * @lp:       link header.
 * @interest: an Interest, possibly one that came back as a Nack.
 * @data:     a Data.
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
 * Get the size of the first packet in @buf; padding may follow in an Ethernet
 * frame. Checks nothing but type and length.
 */
enum ndn_err ndn_packet_size(const uint8_t *buf, size_t n, size_t *size);

/* Decode a buffer that holds one packet, bare or in an LpPacket. */
enum ndn_err ndn_packet_decode(struct ndn_packet *pkt, const uint8_t *buf, size_t n);
/* Decode a bare packet of known kind. */
enum ndn_err ndn_interest_decode(struct ndn_interest *i, const uint8_t *buf, size_t n);
enum ndn_err ndn_data_decode(struct ndn_data *d, const uint8_t *buf, size_t n);

/* ---- keys and signatures ---- */

#define NDN_KEY_SIZE 32

/**
 * struct ndn_key - a key to sign or verify with
 * @type:       enum trib_ndn_sig.
 * @has_secret: it can sign, else it can only verify.
 * @name:       written to the KeyLocator. Verification requires a KeyLocator
 *              that begins with it. Empty: neither.
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

/* DigestSha256: integrity without a secret. */
extern const struct ndn_key ndn_key_sha256;

void ndn_key_hmac(struct ndn_key *key, const uint8_t secret[NDN_KEY_SIZE]);
void ndn_key_ed25519(struct ndn_key *key, const uint8_t seed[NDN_KEY_SIZE]);
void ndn_key_ed25519_public(struct ndn_key *key, const uint8_t pub[NDN_KEY_SIZE]);
/*
 * Read a key file: one line `TYPE NAME HEX`. TYPE is hmac, ed25519 or
 * ed25519-public, HEX has 64 digits. Empty lines and lines that begin with # are
 * skipped. A file with a secret must be accessible to its owner only.
 */
enum ndn_err ndn_key_read(struct ndn_key *key, const char *path);
/* Clear the key in memory. */
void ndn_key_wipe(struct ndn_key *key);

/*
 * Verify a signature: it must be of the key's type, its KeyLocator must begin
 * with the key's name. An Interest must be signed, and the digest in its name
 * must match.
 */
enum ndn_err ndn_data_verify(const struct ndn_data *d, const struct ndn_key *key);
enum ndn_err ndn_interest_verify(const struct ndn_interest *i, const struct ndn_key *key);
/* Verify only the digest in the name, if the Interest has parameters. */
enum ndn_err ndn_interest_check_digest(const struct ndn_interest *i);
/* Compute the implicit digest of a decoded Data. */
void ndn_data_digest(const struct ndn_data *d, uint8_t digest[TRIB_NDN_DIGEST_SIZE]);

/* ---- encode ---- */

/*
 * Encode into @buf. All @size bytes may be overwritten; the packet is the first
 * @len. The input must not lie in @buf. Equal input gives equal bytes. Packets
 * that the decoder would refuse are refused with the same error.
 *
 * An Interest with parameters or a key gets a ParametersSha256DigestComponent, in
 * the place of the one in its name or behind the name. A NULL @key makes an
 * unsigned Interest, or a Data with DigestSha256.
 */
enum ndn_err ndn_interest_encode(const struct ndn_interest *i, const struct ndn_key *key,
				 uint8_t *buf, size_t size, size_t *len);
enum ndn_err ndn_data_encode(const struct ndn_data *d, const struct ndn_key *key, uint8_t *buf,
			     size_t size, size_t *len);
/* Wrap @fragment, a whole Interest or Data, in a link packet. */
enum ndn_err ndn_lp_encode(const struct ndn_lp *lp, struct ndn_bytes fragment, uint8_t *buf,
			   size_t size, size_t *len);

/* ---- for forwarders ---- */

/*
 * Decode the fields that forwarding needs, without ForwardingHint, SignatureInfo
 * and FinalBlockId. An Interest with HopLimit 0 is refused unless it is a Nack.
 * The error is @v->verdict.
 */
void ndn_view(struct ndn_view *v, const uint8_t *buf, size_t n);

#endif /* TRIB_NDN_NDN_H */
