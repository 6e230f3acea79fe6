/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each attribute set of trib.h means: one table that turns an answer into
 * a JSON object. Every command works on these objects, so plain and JSON
 * output cannot differ in substance.
 */
#ifndef TRIB_CLI_SCHEMA_H
#define TRIB_CLI_SCHEMA_H

#include <stdbool.h>
#include <jansson.h>
#include <linux/netlink.h>

/**
 * enum schema_kind - type of an attribute and its form in JSON
 * @KIND_STRING: string.
 * @KIND_U8:     integer, as are U16, U32 and U64.
 * @KIND_BOOL:   u8; true or false.
 * @KIND_ADDR:   16 bytes; "10.0.0.1" or "fd00::1".
 * @KIND_MAC:    6 bytes; "02:00:00:00:00:01".
 * @KIND_HEX:    u64; "0x..." of 16 digits, as JSON integers are signed.
 * @KIND_XDP:    u8, enum trib_xdp_mode; "none", "native", "generic".
 * @KIND_BITS:   u64; list of the bits that are set.
 * @KIND_RANKS:  bitmap as in a packet; "0-3,8".
 * @KIND_CHILD:  nest of enum trib_attr_child; object.
 * @KIND_NDN:    u8, enum trib_face_ndn; "none", "router", "host".
 * @KIND_DTYPE:  u8, enum trib_fmt; "int", "f32", "f16", "bf16".
 * @KIND_PIT:    u8, enum trib_pit_state; "pending", "confirmed", "leaving".
 * @KIND_SOCK:   u8, enum trib_sock_state; "new", "joining", ...
 */
enum schema_kind {
	KIND_STRING,
	KIND_U8,
	KIND_U16,
	KIND_U32,
	KIND_U64,
	KIND_BOOL,
	KIND_ADDR,
	KIND_MAC,
	KIND_HEX,
	KIND_XDP,
	KIND_BITS,
	KIND_RANKS,
	KIND_CHILD,
	KIND_NDN,
	KIND_PIT,
	KIND_DTYPE,
	KIND_SOCK,
};

/**
 * struct schema_attr - one attribute
 * @attr: number in its set.
 * @kind: enum schema_kind.
 * @key:  name in JSON.
 * @list: may be repeated; always an array in JSON.
 */
struct schema_attr {
	int attr;
	enum schema_kind kind;
	const char *key;
	bool list;
};

/**
 * struct schema_set - one object
 * @top:   enum trib_attr that holds it, 0 for a nest inside another.
 * @max:   its TRIB_A_..._MAX, so that a test can tell what is missing.
 * @attrs: the attributes.
 * @n:     how many.
 */
struct schema_set {
	int top;
	int max;
	const struct schema_attr *attrs;
	size_t n;
};

/* The set of a top level attribute; TRIB_A_UNSPEC: that of a child. */
const struct schema_set *schema_set(int top);

/**
 * schema_decode() - the object in one message
 * @nlh: a message of generic netlink layout, of checked length.
 * @top: enum trib_attr expected in it.
 * @out: a new reference.
 *
 * Unknown attributes are skipped: they come from a newer tribd.
 * Return: 0, -ENOENT (no such attribute), -EINVAL, -ENOMEM.
 */
int schema_decode(const struct nlmsghdr *nlh, int top, json_t **out);

/* A JSON string of any bytes; what is not printable UTF-8 becomes '?'. */
json_t *schema_string(const char *s, size_t len);

#endif /* TRIB_CLI_SCHEMA_H */
