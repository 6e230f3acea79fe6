/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes as JSON: tables that scripts/mkspec makes from kmod/trib.yaml turn
 * an answer into an object. All commands work on these objects, so plain and
 * JSON output agree.
 */
#ifndef TRIB_CLI_SCHEMA_H
#define TRIB_CLI_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>
#include <jansson.h>
#include <linux/netlink.h>

/**
 * enum schema_kind - type of an attribute and its form in JSON
 * @KIND_STRING: string.
 * @KIND_U8:     integer, as are U16, U32 and U64.
 * @KIND_BOOL:   u8; true or false.
 * @KIND_ADDR:   16 bytes; "10.0.0.1" or "fd00::1".
 * @KIND_MAC:    6 bytes; "02:00:00:00:00:01".
 * @KIND_KEY:    struct trib_key; 32 hexadecimal digits.
 * @KIND_WORD:   u8; one of the words of its enum, or "unknown".
 * @KIND_BITS:   u64; list of the bits that are set.
 * @KIND_RANKS:  bitmap as in a packet; "0-3,8".
 * @KIND_DTYPE:  u8, enum trib_fmt; "int", "f32", "f16", "bf16".
 * @KIND_NEST:   nest of enum trib_attr_child; object.
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
	KIND_KEY,
	KIND_WORD,
	KIND_BITS,
	KIND_RANKS,
	KIND_DTYPE,
	KIND_NEST,
};

/**
 * struct schema_attr - one attribute
 * @attr:  number in its set.
 * @kind:  enum schema_kind.
 * @key:   name in JSON.
 * @word:  name in trib.yaml; keyword on the command line.
 * @min:   smallest and
 * @max:   largest number, or most bytes of a string (0: no limit).
 * @words: KIND_WORD: by value; ends with NULL.
 * @list:  may be repeated; always an array in JSON.
 * @read_only: only answers hold it.
 */
struct schema_attr {
	int attr;
	enum schema_kind kind;
	const char *key;
	const char *word;
	uint64_t min, max;
	const char *const *words;
	bool list;
	bool read_only;
};

/**
 * struct schema_set - attributes of one kind of object
 * @top:   enum trib_attr that holds it, 0 for child, which is nested in a tree.
 * @max:   its TRIB_A_..._MAX.
 * @attrs: the attributes, @n of them.
 */
struct schema_set {
	int top;
	int max;
	const struct schema_attr *attrs;
	size_t n;
};

/* The set of a top-level attribute, of child for TRIB_A_UNSPEC. NULL if @top is
 * out of range. */
const struct schema_set *schema_set(int top);

/**
 * schema_decode() - decode the object in one message
 * @nlh: message of generic netlink layout; its length is checked.
 * @top: enum trib_attr expected in it.
 * @out: a new reference.
 *
 * Attributes that no table has are skipped: they come from a newer tribd.
 *
 * Return: 0, -ENOENT (no such attribute), -EINVAL, -ENOMEM.
 */
int schema_decode(const struct nlmsghdr *nlh, int top, json_t **out);

/* Make a JSON string of any bytes; bytes that are not printable UTF-8 become
 * '?'. */
json_t *schema_string(const char *s, size_t len);

#endif /* TRIB_CLI_SCHEMA_H */
