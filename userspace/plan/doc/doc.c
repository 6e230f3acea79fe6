// SPDX-License-Identifier: BSD-2-Clause
/*
 * Errors of the planner, limits of documents, and names in them.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/name.h"
#include "base/text.h"
#include "doc.h"

int plan_fail(struct plan_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	text_one_line(err->text);
	return code;
}

int doc_open(struct json_read *d, const char *name, const char *text, size_t len,
	     struct plan_error *err)
{
	if (len > PLAN_TEXT_MAX)
		return plan_fail(err, -EFBIG, "%s: %zu bytes: at most %u", name, len,
				 PLAN_TEXT_MAX);
	return json_read_open(d, name, text, len, err->text, sizeof(err->text));
}

int doc_no_memory(const struct json_read *d)
{
	return text_fail(d->why, d->size, -ENOMEM, "out of memory");
}

int doc_job_name(const struct json_read *d, const struct json_at *at, const char *s)
{
	char why[NAME_WHY_MAX];

	return name_check(s, why) ? json_read_fail(d, at, "\"%.64s\" %s", s, why) : 0;
}

int doc_name(const struct json_read *d, const struct json_at *at, const char *s)
{
	char why[NAME_WHY_MAX];

	return name_check_word(s, ":\"'\\?&#%", why) ? json_read_fail(d, at, "\"%.64s\" %s", s, why)
						     : 0;
}
