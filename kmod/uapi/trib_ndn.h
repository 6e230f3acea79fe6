/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * NDN packets (packet format v0.3, NDNLPv2, naming conventions rev. 3): type
 * numbers, and limits of the forwarder and its ends. BPF C and user space compile
 * this file; no other file declares these numbers.
 *
 * A packet is one TLV element: the whole payload of a UDP datagram, or of an
 * Ethernet frame, where padding may follow. userspace/ndn/packet/README.md has the
 * rules by which packets are refused.
 */
#ifndef _UAPI_TRIB_NDN_H
#define _UAPI_TRIB_NDN_H

#include <linux/types.h>

#ifndef NDN_ASSERT
#define NDN_ASSERT(cond, text) _Static_assert(cond, text)
#endif

/* UDP destination port and EtherType of NDN packets. */
#define TRIB_NDN_UDP_PORT 6363
#define TRIB_NDN_ETHERTYPE 0x8624

/*
 * Limits of a name: bytes of the VALUE of its Name element, and components. Names
 * are stored and compared in full.
 */
#define TRIB_NDN_NAME_MAX 255
#define TRIB_NDN_COMPONENTS_MAX 16

/* Bytes of a packet with its link header. */
#define TRIB_NDN_PACKET_MAX 8800
/*
 * Elements directly within an element other than a Name, with skipped ones. This
 * bounds the loops of the forwarder.
 */
#define TRIB_NDN_ELEMENTS_MAX 24
/* Bytes of a PIT token at most; at least 1. */
#define TRIB_NDN_TOKEN_MAX 32
#define TRIB_NDN_NONCE_SIZE 4
#define TRIB_NDN_DIGEST_SIZE 32

/* Default InterestLifetime. */
#define TRIB_NDN_LIFETIME_MS 4000

/*
 * Default marker components (GenericNameComponent), which begin the names that
 * subscribe, distribute and unsubscribe.
 */
#define TRIB_NDN_MARK_INSERT "insert"
#define TRIB_NDN_MARK_DISTRIBUTE "distribute"
#define TRIB_NDN_MARK_DELETE "delete"

/**
 * enum trib_ndn_type - TLV type numbers
 *
 * Packets
 * @TRIB_NDN_INTEREST: asks for Data by name.
 * @TRIB_NDN_DATA:     named, signed content.
 * @TRIB_NDN_LP:       link packet (NDNLPv2): header fields and one Fragment.
 *
 * Names
 * @TRIB_NDN_NAME:          a sequence of components.
 * @TRIB_NDN_DIGEST:        ImplicitSha256DigestComponent, 32 bytes; in Interests
 *                          only: the Data with just these bits.
 * @TRIB_NDN_PARAMS_DIGEST: ParametersSha256DigestComponent, 32 bytes; in an
 *                          Interest exactly if it has ApplicationParameters.
 * @TRIB_NDN_GENERIC:       GenericNameComponent, any bytes.
 * @TRIB_NDN_KEYWORD:       a word that a convention gives a meaning.
 * @TRIB_NDN_SEGMENT:       number, from 0.
 * @TRIB_NDN_OFFSET:        number, of a byte.
 * @TRIB_NDN_VERSION:       number.
 * @TRIB_NDN_TIMESTAMP:     number, microseconds since 1970.
 * @TRIB_NDN_SEQUENCE:      number.
 *
 * Interest, in this order after the Name
 * @TRIB_NDN_CAN_BE_PREFIX: empty.
 * @TRIB_NDN_MUST_BE_FRESH: empty.
 * @TRIB_NDN_HINT:          ForwardingHint, names.
 * @TRIB_NDN_NONCE:         4 bytes.
 * @TRIB_NDN_LIFETIME:      number, ms.
 * @TRIB_NDN_HOP_LIMIT:     1 byte.
 * @TRIB_NDN_PARAMS:        ApplicationParameters, any bytes.
 * @TRIB_NDN_ISIG_INFO:     InterestSignatureInfo.
 * @TRIB_NDN_ISIG_VALUE:    InterestSignatureValue.
 *
 * Data, in this order after the Name
 * @TRIB_NDN_META:      MetaInfo: ContentType, FreshnessPeriod, FinalBlockId.
 * @TRIB_NDN_CONTENT:   any bytes.
 * @TRIB_NDN_SIG_INFO:  SignatureInfo.
 * @TRIB_NDN_SIG_VALUE: SignatureValue.
 *
 * MetaInfo
 * @TRIB_NDN_CONTENT_TYPE: number.
 * @TRIB_NDN_FRESHNESS:    FreshnessPeriod, number, ms.
 * @TRIB_NDN_FINAL_BLOCK:  FinalBlockId, one component.
 *
 * SignatureInfo and InterestSignatureInfo
 * @TRIB_NDN_SIG_TYPE:    number, enum trib_ndn_sig.
 * @TRIB_NDN_KEY_LOCATOR: a Name or a KeyDigest.
 * @TRIB_NDN_KEY_DIGEST:  any bytes.
 * @TRIB_NDN_SIG_NONCE:   any bytes.
 * @TRIB_NDN_SIG_TIME:    number, ms since 1970.
 * @TRIB_NDN_SIG_SEQ:     number.
 * @TRIB_NDN_VALIDITY:    ValidityPeriod of certificates; not looked at.
 *
 * LpPacket, in increasing order, Fragment last
 * @TRIB_NDN_LP_FRAGMENT:    the packet.
 * @TRIB_NDN_LP_SEQUENCE:    8 bytes.
 * @TRIB_NDN_LP_FRAG_INDEX:  number, from 0.
 * @TRIB_NDN_LP_FRAG_COUNT:  number.
 * @TRIB_NDN_LP_PIT_TOKEN:   1 to TRIB_NDN_TOKEN_MAX bytes.
 * @TRIB_NDN_LP_NACK:        an Interest comes back; may contain a NackReason.
 * @TRIB_NDN_LP_NACK_REASON: number, enum trib_ndn_nack.
 * @TRIB_NDN_LP_CONGESTION:  CongestionMark, number; 0 is none.
 * @TRIB_NDN_LP_ACK:         8 bytes, may be repeated.
 */
enum trib_ndn_type {
	TRIB_NDN_DIGEST = 0x01,
	TRIB_NDN_PARAMS_DIGEST = 0x02,
	TRIB_NDN_INTEREST = 0x05,
	TRIB_NDN_DATA = 0x06,
	TRIB_NDN_NAME = 0x07,
	TRIB_NDN_GENERIC = 0x08,
	TRIB_NDN_NONCE = 0x0a,
	TRIB_NDN_LIFETIME = 0x0c,
	TRIB_NDN_MUST_BE_FRESH = 0x12,
	TRIB_NDN_META = 0x14,
	TRIB_NDN_CONTENT = 0x15,
	TRIB_NDN_SIG_INFO = 0x16,
	TRIB_NDN_SIG_VALUE = 0x17,
	TRIB_NDN_CONTENT_TYPE = 0x18,
	TRIB_NDN_FRESHNESS = 0x19,
	TRIB_NDN_FINAL_BLOCK = 0x1a,
	TRIB_NDN_SIG_TYPE = 0x1b,
	TRIB_NDN_KEY_LOCATOR = 0x1c,
	TRIB_NDN_KEY_DIGEST = 0x1d,
	TRIB_NDN_HINT = 0x1e,
	TRIB_NDN_KEYWORD = 0x20,
	TRIB_NDN_CAN_BE_PREFIX = 0x21,
	TRIB_NDN_HOP_LIMIT = 0x22,
	TRIB_NDN_PARAMS = 0x24,
	TRIB_NDN_SIG_NONCE = 0x26,
	TRIB_NDN_SIG_TIME = 0x28,
	TRIB_NDN_SIG_SEQ = 0x2a,
	TRIB_NDN_ISIG_INFO = 0x2c,
	TRIB_NDN_ISIG_VALUE = 0x2e,
	TRIB_NDN_SEGMENT = 0x32,
	TRIB_NDN_OFFSET = 0x34,
	TRIB_NDN_VERSION = 0x36,
	TRIB_NDN_TIMESTAMP = 0x38,
	TRIB_NDN_SEQUENCE = 0x3a,
	TRIB_NDN_LP_FRAGMENT = 0x50,
	TRIB_NDN_LP_SEQUENCE = 0x51,
	TRIB_NDN_LP_FRAG_INDEX = 0x52,
	TRIB_NDN_LP_FRAG_COUNT = 0x53,
	TRIB_NDN_LP_PIT_TOKEN = 0x62,
	TRIB_NDN_LP = 0x64,
	TRIB_NDN_VALIDITY = 0xfd,
	TRIB_NDN_LP_NACK = 0x320,
	TRIB_NDN_LP_NACK_REASON = 0x321,
	TRIB_NDN_LP_CONGESTION = 0x340,
	TRIB_NDN_LP_ACK = 0x344,
};

/* Component types are 1 to this. */
#define TRIB_NDN_COMPONENT_TYPE_MAX 65535

/*
 * Unknown link header fields are skipped if their type is in this range and a
 * multiple of 4.
 */
#define TRIB_NDN_LP_SKIP_MIN 800
#define TRIB_NDN_LP_SKIP_MAX 959

/*
 * Elements that are unknown or out of order are skipped; if critical, the packet
 * is refused.
 */
#define TRIB_NDN_IS_CRITICAL(type) ((type) < 32 || ((type)&1))

/**
 * enum trib_ndn_sig - supported signature types
 * @TRIB_NDN_SIG_SHA256:  DigestSha256, 32 bytes: no key, only integrity.
 * @TRIB_NDN_SIG_HMAC:    HMAC-SHA256, 32 bytes.
 * @TRIB_NDN_SIG_ED25519: Ed25519, 64 bytes.
 */
enum trib_ndn_sig {
	TRIB_NDN_SIG_SHA256 = 0,
	TRIB_NDN_SIG_HMAC = 4,
	TRIB_NDN_SIG_ED25519 = 5,
};

/**
 * enum trib_ndn_nack - NackReason
 * @TRIB_NDN_NACK_NONE:       no reason given.
 * @TRIB_NDN_NACK_CONGESTION: too much.
 * @TRIB_NDN_NACK_DUPLICATE:  its nonce was seen: a loop.
 * @TRIB_NDN_NACK_NO_ROUTE:   nowhere to send it.
 */
enum trib_ndn_nack {
	TRIB_NDN_NACK_NONE = 0,
	TRIB_NDN_NACK_CONGESTION = 50,
	TRIB_NDN_NACK_DUPLICATE = 100,
	TRIB_NDN_NACK_NO_ROUTE = 150,
};

/**
 * enum ndn_err - reasons to refuse a packet, name or key
 *
 * The numbers are stable: counters are indexed by them.
 */
enum ndn_err {
	NDN_OK = 0,
	/* TLV */
	NDN_E_CUT = 1,
	NDN_E_VARNUM = 2,
	NDN_E_TYPE_ZERO = 3,
	NDN_E_TYPE_BIG = 4,
	NDN_E_BEYOND = 5,
	NDN_E_TRAILING = 6,
	NDN_E_LONG = 7,
	NDN_E_ELEMENTS = 8,
	NDN_E_CRITICAL = 9,
	NDN_E_ORDER = 10,
	NDN_E_NUMBER = 11,
	NDN_E_SIZE = 12,
	NDN_E_KIND = 13,
	/* names */
	NDN_E_NO_NAME = 14,
	NDN_E_NAME_EMPTY = 15,
	NDN_E_NAME_LONG = 16,
	NDN_E_NAME_DEEP = 17,
	NDN_E_COMPONENT = 18,
	NDN_E_DIGEST_PLACE = 19,
	NDN_E_TEXT = 20,
	/* Interest and Data */
	NDN_E_PARAMS = 21,
	NDN_E_HINT = 22,
	NDN_E_FINAL_BLOCK = 23,
	NDN_E_UNSIGNED = 24,
	NDN_E_KEY_LOCATOR = 25,
	/* link packets */
	NDN_E_LP_FIELD = 26,
	NDN_E_LP_ORDER = 27,
	NDN_E_LP_FRAGMENTED = 28,
	NDN_E_LP_EMPTY = 29,
	NDN_E_LP_NACK = 30,
	/* forwarding */
	NDN_E_HOPS = 31,
	/* signatures and keys */
	NDN_E_DIGEST = 32,
	NDN_E_SIG_TYPE = 33,
	NDN_E_SIG_KEY = 34,
	NDN_E_SIG = 35,
	NDN_E_KEY_FILE = 36,
	NDN_E_KEY_MODE = 37,
	NDN_E_KEY_TEXT = 38,
	NDN_E_KEY_PUBLIC = 39,
	/* the caller's buffer */
	NDN_E_SPACE = 40,
	NDN_E__MAX
};

/**
 * enum ndn_view_flags - bits of &ndn_view.flags
 * @NDN_VIEW_NACK:          Nack: an Interest that came back; see @nack_reason.
 * @NDN_VIEW_CAN_BE_PREFIX: Interest.
 * @NDN_VIEW_MUST_BE_FRESH: Interest.
 * @NDN_VIEW_HINT:          Interest has a ForwardingHint.
 * @NDN_VIEW_PARAMS:        Interest has ApplicationParameters.
 * @NDN_VIEW_SIGNED:        Interest has a signature.
 * @NDN_VIEW_DIGEST:        name of the Interest ends in an implicit digest. Matching
 *                          Data requires SHA-256.
 */
enum ndn_view_flags {
	NDN_VIEW_NACK = 1 << 0,
	NDN_VIEW_CAN_BE_PREFIX = 1 << 1,
	NDN_VIEW_MUST_BE_FRESH = 1 << 2,
	NDN_VIEW_HINT = 1 << 3,
	NDN_VIEW_PARAMS = 1 << 4,
	NDN_VIEW_SIGNED = 1 << 5,
	NDN_VIEW_DIGEST = 1 << 6,
};

/**
 * struct ndn_view - fields of a packet that a forwarder needs
 * @verdict:     enum ndn_err; if it is not NDN_OK all else is 0.
 * @type:        TRIB_NDN_INTEREST or TRIB_NDN_DATA.
 * @count:       components of the name.
 * @token_len:   bytes of the PIT token.
 * @flags:       enum ndn_view_flags.
 * @packet_off:  offset of the Interest or Data, from its type on.
 * @packet_len:  its bytes.
 * @name_off:    offset of the VALUE of its Name.
 * @name_len:    its bytes.
 * @nonce_off:   offset of the 4 bytes of the Nonce; 0: none.
 * @hop_off:     offset of the HopLimit; 0: none.
 * @token_off:   offset of the PIT token; 0: none.
 * @lifetime_ms: of an Interest, default TRIB_NDN_LIFETIME_MS; at most 2^32 - 1.
 * @fresh_ms:    FreshnessPeriod of a Data, default 0; at most 2^32 - 1.
 * @nack_reason: at most 2^32 - 1.
 * @congestion:  CongestionMark, at most 2^32 - 1.
 * @at:          offsets of components in the VALUE; @at[@count] is @name_len.
 *
 * Offsets count from the beginning of the buffer.
 */
struct ndn_view {
	__u8 verdict;
	__u8 type;
	__u8 count;
	__u8 token_len;
	__u16 flags;
	__u16 packet_off;
	__u16 packet_len;
	__u16 name_off;
	__u16 name_len;
	__u16 nonce_off;
	__u16 hop_off;
	__u16 token_off;
	__u32 lifetime_ms;
	__u32 fresh_ms;
	__u32 nack_reason;
	__u32 congestion;
	__u8 at[TRIB_NDN_COMPONENTS_MAX + 1];
};

#endif /* _UAPI_TRIB_NDN_H */
