// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names as text, in the NDN URI scheme with naming conventions; README.md has the
 * syntax. The text of a name always parses to the same name.
 */
#include <stdio.h>
#include <string.h>

#include "tlv.h"

/* Components that are numbers, and those that are digests. */
static const struct {
	const char *text;
	uint32_t type;
	bool is_digest;
} kinds[] = {
	{"sha256digest", TRIB_NDN_DIGEST, true}, {"params-sha256", TRIB_NDN_PARAMS_DIGEST, true},
	{"seg", TRIB_NDN_SEGMENT, false},	 {"off", TRIB_NDN_OFFSET, false},
	{"v", TRIB_NDN_VERSION, false},		 {"t", TRIB_NDN_TIMESTAMP, false},
	{"seq", TRIB_NDN_SEQUENCE, false},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* <ctype.h> depends on the locale. */
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("-._~", c));
}

static bool is_dots(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] != '.')
			return false;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* ---- reading ---- */

/* Two hexadecimal digits, or -1. */
static int hex_byte(const char *s, size_t n)
{
	int hi = n > 0 ? hex_digit(s[0]) : -1;
	int lo = n > 1 ? hex_digit(s[1]) : -1;

	return hi < 0 || lo < 0 ? -1 : hi << 4 | lo;
}

static enum ndn_err read_digest(struct ndn_name_buf *buf, uint32_t type, const char *s, size_t n)
{
	uint8_t digest[TRIB_NDN_DIGEST_SIZE];
	int byte;

	if (n != 2 * sizeof(digest))
		return NDN_E_TEXT;
	for (size_t i = 0; i < sizeof(digest); i++) {
		byte = hex_byte(s + 2 * i, 2);
		if (byte < 0)
			return NDN_E_TEXT;
		digest[i] = byte;
	}
	return ndn_name_append(buf, type, digest, sizeof(digest));
}

/* Decimal, without leading zeros, at most @max. */
static bool read_decimal(const char *s, size_t n, uint64_t max, uint64_t *num)
{
	uint64_t v = 0;

	if (!n || (n > 1 && *s == '0'))
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned int digit = s[i] - '0';

		if (digit > 9 || v > (max - digit) / 10)
			return false;
		v = 10 * v + digit;
	}
	*num = v;
	return true;
}

static enum ndn_err read_number(struct ndn_name_buf *buf, uint32_t type, const char *s, size_t n)
{
	uint64_t number;

	if (!read_decimal(s, n, UINT64_MAX, &number))
		return NDN_E_TEXT;
	return ndn_name_append_number(buf, type, number);
}

/* Percent-encoded bytes. A value of dots only has three dots more. */
static enum ndn_err read_bytes(struct ndn_name_buf *buf, uint32_t type, const char *s, size_t n)
{
	uint8_t value[TRIB_NDN_NAME_MAX];
	size_t len = 0;
	int byte;

	if (is_dots(s, n)) {
		if (n < 3)
			return NDN_E_TEXT;
		s += 3;
		n -= 3;
	}
	for (size_t i = 0; i < n; i++) {
		if (len == sizeof(value))
			return NDN_E_NAME_LONG;
		byte = (unsigned char)s[i];
		if (s[i] == '%') {
			byte = hex_byte(s + i + 1, n - i - 1);
			i += 2;
		} else if (!is_plain(s[i])) {
			byte = -1;
		}
		if (byte < 0)
			return NDN_E_TEXT;
		value[len++] = byte;
	}
	return ndn_name_append(buf, type, value, len);
}

static enum ndn_err read_component(struct ndn_name_buf *buf, const char *s, size_t n)
{
	const char *eq = memchr(s, '=', n);
	size_t word = eq ? (size_t)(eq - s) : 0;
	uint64_t type;

	if (!eq)
		return read_bytes(buf, TRIB_NDN_GENERIC, s, n);
	s = eq + 1;
	n -= word + 1;
	for (size_t i = 0; i < KINDS; i++) {
		if (strlen(kinds[i].text) != word || memcmp(kinds[i].text, eq - word, word))
			continue;
		return kinds[i].is_digest ? read_digest(buf, kinds[i].type, s, n)
					  : read_number(buf, kinds[i].type, s, n);
	}
	if (!read_decimal(eq - word, word, TRIB_NDN_COMPONENT_TYPE_MAX, &type))
		return NDN_E_TEXT;
	return read_bytes(buf, type, s, n);
}

enum ndn_err ndn_name_parse(struct ndn_name_buf *buf, const char *text)
{
	enum ndn_err err;
	size_t n;

	buf->len = 0;
	if (!strncmp(text, "ndn:", 4))
		text += 4;
	if (*text != '/')
		return NDN_E_TEXT;
	if (!text[1])
		return NDN_OK;
	while (*text) {
		text++;
		n = strcspn(text, "/");
		err = read_component(buf, text, n);
		if (err)
			return err;
		text += n;
	}
	return NDN_OK;
}

/* ---- writing ---- */

struct out {
	char *p;
	size_t left;
	bool is_full;
};

static void put(struct out *o, const char *s, size_t n)
{
	/* One more for the NUL. */
	if (o->is_full || n >= o->left) {
		o->is_full = true;
		return;
	}
	memcpy(o->p, s, n);
	o->p += n;
	o->left -= n;
}

static void put_text(struct out *o, const char *s)
{
	put(o, s, strlen(s));
}

static void put_number(struct out *o, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	put_text(o, text);
}

static void put_hex(struct out *o, struct ndn_bytes value)
{
	char text[3];

	for (size_t i = 0; i < value.n; i++) {
		snprintf(text, sizeof(text), "%02x", value.p[i]);
		put(o, text, 2);
	}
}

static void put_bytes(struct out *o, struct ndn_bytes value)
{
	char text[4];

	if (is_dots((const char *)value.p, value.n))
		put_text(o, "...");
	for (size_t i = 0; i < value.n; i++) {
		text[0] = value.p[i];
		text[1] = 0;
		if (!is_plain(text[0]))
			snprintf(text, sizeof(text), "%%%02X", value.p[i]);
		put_text(o, text);
	}
}

/* Is it a number in shortest form? Others are written as bytes. */
static bool is_short_number(struct ndn_bytes value, uint64_t *number)
{
	uint8_t again[8];

	return !ndn_tlv_number(value, number) && ndn_tlv_number_write(again, *number) == value.n;
}

static void put_component(struct out *o, const struct ndn_component *c)
{
	uint64_t number;

	for (size_t i = 0; i < KINDS; i++) {
		if (kinds[i].type != c->type)
			continue;
		if (!kinds[i].is_digest && !is_short_number(c->value, &number))
			break;
		put_text(o, kinds[i].text);
		put_text(o, "=");
		if (kinds[i].is_digest)
			put_hex(o, c->value);
		else
			put_number(o, number);
		return;
	}
	if (c->type != TRIB_NDN_GENERIC) {
		put_number(o, c->type);
		put_text(o, "=");
	}
	put_bytes(o, c->value);
}

enum ndn_err ndn_name_text(const struct ndn_name *name, char *text, size_t size)
{
	struct out o = {text, size, false};
	struct ndn_component c;

	if (!size)
		return NDN_E_SPACE;
	if (!name->count)
		put_text(&o, "/");
	for (unsigned int i = 0; i < name->count; i++) {
		c = ndn_name_get(name, i);
		put_text(&o, "/");
		put_component(&o, &c);
	}
	*o.p = 0;
	return o.is_full ? NDN_E_SPACE : NDN_OK;
}
