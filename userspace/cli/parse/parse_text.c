// SPDX-License-Identifier: BSD-2-Clause
/* Owns how text becomes a value: see parse.h. */
#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <string.h>

#include "base/addr.h"
#include "base/text.h"
#include "uapi/trib_wire.h"
#include "parse.h"

int parse_rate(const char *s, uint64_t *out)
{
	static const char units[] = "kMGT";
	char digits[24];
	size_t n = strspn(s, "0123456789");
	uint64_t v, unit = 1;
	const char *u;
	int err;

	if (n >= sizeof(digits))
		return -ERANGE;
	memcpy(digits, s, n);
	digits[n] = '\0';
	err = text_number(digits, 0, UINT64_MAX, &v);
	if (err)
		return err;
	if (s[n]) {
		u = strchr(units, s[n] == 'K' ? 'k' : s[n]);
		if (!u || s[n + 1])
			return -EINVAL;
		for (; u >= units; u--)
			unit *= 1000;
	}
	if (v > INT64_MAX / unit)
		return -ERANGE;
	*out = v * unit;
	return 0;
}

int parse_addr(const char *s, uint8_t out[16])
{
	struct in6_addr a;

	if (!addr_parse(s, &a))
		return -EINVAL;
	memcpy(out, &a, sizeof(a));
	return 0;
}

int parse_host(const char *s, uint8_t addr[16], uint16_t *port)
{
	const char *colon = strrchr(s, ':'), *end = s + strlen(s);
	bool brackets = *s == '[';
	char text[INET6_ADDRSTRLEN];
	uint64_t v;

	*port = 0;
	if (colon && (brackets ? colon[-1] == ']' : colon == strchr(s, ':'))) {
		if (text_number(colon + 1, 1, 65535, &v))
			return -EINVAL;
		*port = (uint16_t)v;
		end = colon;
	}
	if (brackets && (end[-1] != ']' || !memchr(s, ':', (size_t)(end - s))))
		return -EINVAL;
	s += brackets;
	end -= brackets;
	if (end <= s || (size_t)(end - s) >= sizeof(text))
		return -EINVAL;
	memcpy(text, s, (size_t)(end - s));
	text[end - s] = '\0';
	return parse_addr(text, addr);
}

int parse_mac(const char *s, uint8_t out[6])
{
	int i, j, v;

	for (i = 0; i < 6; i++) {
		for (v = 0, j = 0; j < 2; j++, s++) {
			if (!isxdigit((unsigned char)*s))
				return -EINVAL;
			v = v << 4 |
			    (isdigit((unsigned char)*s) ? *s - '0' : tolower(*s) - 'a' + 10);
		}
		out[i] = (uint8_t)v;
		if (*s++ != (i == 5 ? '\0' : ':'))
			return -EINVAL;
	}
	return 0;
}

int parse_uid(const char *s, uint32_t *out)
{
	struct passwd *pw;
	uint64_t v;
	int err;

	/* (uid_t)-1 means "nobody in particular" to the kernel. */
	err = text_number(s, 0, UINT32_MAX - 1, &v);
	if (err == -ERANGE)
		return err;
	if (!err) {
		*out = (uint32_t)v;
		return 0;
	}
	pw = getpwnam(s);
	if (!pw)
		return -EINVAL;
	*out = pw->pw_uid;
	return 0;
}

/*
 * Read a decimal number as thousandths; *@end is the text after it. Numbers out
 * of range stay too large.
 */
static int thousandths(const char *s, uint64_t *out, const char **end)
{
	uint64_t whole = 0, part = 0, unit = 100;

	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	for (; isdigit((unsigned char)*s); s++)
		if (whole <= UINT32_MAX)
			whole = whole * 10 + (uint64_t)(*s - '0');
	if (*s == '.') {
		if (!isdigit((unsigned char)*++s))
			return -EINVAL;
		for (; isdigit((unsigned char)*s); s++, unit /= 10)
			part += (uint64_t)(*s - '0') * unit;
	}
	*out = whole * 1000 + part;
	*end = s;
	return 0;
}

int parse_seconds(const char *s, uint32_t min_ms, uint32_t max_ms, uint32_t *out)
{
	uint64_t ms;

	if (thousandths(s, &ms, &s) || *s)
		return -EINVAL;
	if (ms < min_ms || ms > max_ms)
		return -ERANGE;
	*out = (uint32_t)ms;
	return 0;
}

int parse_time(const char *s, uint32_t min_ms, uint32_t max_ms, uint32_t *out)
{
	uint64_t v, ms;

	if (thousandths(s, &v, &s))
		return -EINVAL;
	if (!strcmp(s, "s"))
		ms = v;
	else if (!strcmp(s, "m"))
		ms = v * 60;
	else if (!strcmp(s, "ms") && v % 1000 == 0)
		ms = v / 1000;
	else
		return -EINVAL;
	if (ms < min_ms || ms > max_ms)
		return -ERANGE;
	*out = (uint32_t)ms;
	return 0;
}

/* Read a number of a list, up to a comma or a dash. */
static int take_rank(const char **s, unsigned int *rank)
{
	const char *p = *s;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (*rank = 0; isdigit((unsigned char)*p); p++) {
		*rank = *rank * 10 + (unsigned int)(*p - '0');
		if (*rank >= TRIB_WORLD_MAX)
			return -ERANGE;
	}
	*s = p;
	return 0;
}

int parse_ranks(const char *s, uint8_t out[128])
{
	unsigned int first, last;
	int err;

	memset(out, 0, 128);
	for (;; s++) {
		err = take_rank(&s, &first);
		last = first;
		if (!err && *s == '-') {
			s++;
			err = take_rank(&s, &last);
		}
		if (err || last < first)
			return err ? err : -EINVAL;
		/* Big-endian words of 64. */
		for (; first <= last; first++)
			out[first / 64 * 8 + 7 - first % 64 / 8] |= 1u << first % 8;
		if (*s != ',')
			return *s ? -EINVAL : 0;
	}
}
