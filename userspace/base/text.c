// SPDX-License-Identifier: BSD-2-Clause
/* Owns the parsing of numbers; see text.h. */
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Value of a digit; 16 and more: not a digit of @base. */
static unsigned int digit(char c, unsigned int base)
{
	unsigned int v = 16;

	if (c >= '0' && c <= '9')
		v = (unsigned int)(c - '0');
	else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		v = (unsigned int)((c | 0x20) - 'a') + 10;
	return v < base ? v : 16;
}

int text_digits(const char **s, unsigned int base, uint64_t *out)
{
	const char *p = *s;
	uint64_t v = 0;
	unsigned int d;

	for (; (d = digit(*p, base)) < 16; p++)
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v))
			return -ERANGE;
	if (p == *s)
		return -EINVAL;
	*s = p;
	*out = v;
	return 0;
}

int text_number(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t v;
	int err = text_digits(&s, 10, &v);

	if (err == -ERANGE) {
		/* Text behind the digits makes it no number. */
		while (digit(*s, 10) < 10)
			s++;
		return *s ? -EINVAL : -ERANGE;
	}
	if (err || *s)
		return -EINVAL;
	if (v < min || v > max)
		return -ERANGE;
	*out = v;
	return 0;
}

int text_hex(const char *s, uint64_t *out)
{
	const char *end = s;
	uint64_t v;
	int err = text_digits(&end, 16, &v);

	if (err || *end)
		return err ? err : -EINVAL;
	if (end - s > 16)
		return -ERANGE;
	*out = v;
	return 0;
}

int text_key(const char *s, struct trib_key *out)
{
	struct trib_key key;
	unsigned int i, hi, lo;

	if (strlen(s) != TRIB_KEY_HEX)
		return -EINVAL;
	for (i = 0; i < sizeof(key.b); i++) {
		hi = digit(s[2 * i], 16);
		lo = digit(s[2 * i + 1], 16);
		if (hi > 15 || lo > 15)
			return -EINVAL;
		key.b[i] = (uint8_t)(hi << 4 | lo);
	}
	*out = key;
	return 0;
}

const char *text_key_put(const struct trib_key *key, char buf[TRIB_KEY_HEX + 1])
{
	unsigned int i;

	for (i = 0; i < sizeof(key->b); i++)
		snprintf(buf + 2 * i, 3, "%02x", key->b[i]);
	return buf;
}

void text_one_line(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
}

int text_fail(char *why, size_t size, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, size, fmt, ap);
	va_end(ap);
	if (size)
		text_one_line(why);
	return err;
}
