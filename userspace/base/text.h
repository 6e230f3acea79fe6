/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers in text that comes from outside: every digit and range is checked. */
#ifndef TRIB_BASE_TEXT_H
#define TRIB_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/trib_auth.h"

/**
 * text_digits() - read digits of @base (10 or 16) at *@s
 *
 * Accept no sign, blank or 0x. *@s becomes the first byte after the digits.
 *
 * Return: 0; -EINVAL if *@s begins with no digit; -ERANGE if the number exceeds
 * 64 bits. *@s and *@out are unchanged after an error.
 */
int text_digits(const char **s, unsigned int base, uint64_t *out);

/**
 * text_number() - parse @s, which must be a decimal number and nothing else
 *
 * Return: 0; -EINVAL if it is none; -ERANGE if it is not within @min to @max.
 * *@out is unchanged after an error.
 */
int text_number(const char *s, uint64_t min, uint64_t max, uint64_t *out);

/* The same for 1 to 16 hexadecimal digits without 0x. */
int text_hex(const char *s, uint64_t *out);

/* Parse a key: 32 hexadecimal digits and nothing else. Return: 0 or -EINVAL. */
int text_key(const char *s, struct trib_key *out);

/* Write the digits of @key. Return: @buf. */
const char *text_key_put(const struct trib_key *key, char buf[TRIB_KEY_HEX + 1]);

/**
 * text_fail() - format an error for the user into @why, and return @err
 *
 * The error is one line, whatever it quotes.
 * For functions that end with `return text_fail(why, size, -EINVAL, ...)`.
 */
int text_fail(char *why, size_t size, int err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Replace control characters, so that @s prints as one line. */
void text_one_line(char *s);

#endif /* TRIB_BASE_TEXT_H */
