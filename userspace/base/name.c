// SPDX-License-Identifier: BSD-2-Clause
/* Owns the rules for names; see name.h. */
#include "name.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "text.h"
#include "uapi/trib.h"

/* ASCII only, in every locale. */
static bool is_visible(char c)
{
	return c > ' ' && c < 0x7f;
}

static bool is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c && strchr("._-", c));
}

static int refuse_char(char c, char *why)
{
	if (is_visible(c) || c == ' ')
		return text_fail(why, NAME_WHY_MAX, -EINVAL, "contains '%c'", c);
	return text_fail(why, NAME_WHY_MAX, -EINVAL, "contains byte 0x%02x", (unsigned char)c);
}

int name_check_word(const char *s, const char *refused, char why[NAME_WHY_MAX])
{
	if (!*s)
		return text_fail(why, NAME_WHY_MAX, -EINVAL, "is empty");
	if (strlen(s) >= TRIB_NAME_MAX)
		return text_fail(why, NAME_WHY_MAX, -EINVAL, "has %zu bytes: at most %d", strlen(s),
				 TRIB_NAME_MAX - 1);
	if (*s == '-')
		return text_fail(why, NAME_WHY_MAX, -EINVAL, "begins with -");
	for (; *s; s++)
		if (!is_visible(*s) || strchr(refused, *s))
			return refuse_char(*s, why);
	return 0;
}

int name_check(const char *s, char why[NAME_WHY_MAX])
{
	int err = name_check_word(s, "", why);

	if (err)
		return err;
	for (const char *c = s; *c; c++)
		if (!is_plain(*c))
			return refuse_char(*c, why);
	if (*s == '.')
		return text_fail(why, NAME_WHY_MAX, -EINVAL, "begins with .");
	return 0;
}
