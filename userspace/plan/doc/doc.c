// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns reading JSON that somebody wrote by hand: checks of single values and
 * the errors they lead to.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc.h"

/* One line, whatever a name or value held. */
static void one_line(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
}

int plan_fail(struct plan_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	one_line(err->text);
	return code;
}

int doc_open(struct doc *d, const char *name, const char *text, size_t len,
	     struct plan_error *err)
{
	json_error_t e;

	*d = (struct doc){.name = name, .text = text, .len = len, .err = err};
	if (len > PLAN_TEXT_MAX)
		return plan_fail(err, -EFBIG, "%s: %zu bytes: at most %u", name,
				 len, PLAN_TEXT_MAX);
	d->root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
	if (d->root)
		return 0;
	return plan_fail(err, -EINVAL, "%s:%d:%d: not JSON: %s", name, e.line,
			 e.column < 1 ? 1 : e.column, e.text);
}

void doc_close(struct doc *d)
{
	json_decref(d->root);
	d->root = NULL;
}

/* "links[3].capacity"; "" for the root. */
static size_t path_text(const struct at *at, char *buf, size_t size)
{
	size_t n = 0;
	int add;

	if (!at)
		return 0;
	n = path_text(at->up, buf, size);
	if (n >= size)
		return n;
	if (at->key)
		add = snprintf(buf + n, size - n, "%s%.80s", n ? "." : "",
			       at->key);
	else
		add = snprintf(buf + n, size - n, "[%zu]", at->index);
	return n + (size_t)(add > 0 ? add : 0);
}

int doc_fail(const struct doc *d, const struct at *at, const char *fmt, ...)
{
	char path[256] = "", what[360];
	size_t line, col;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	path_text(at, path, sizeof(path));
	if (!d->text)
		return plan_fail(d->err, -EINVAL, "%s: %s%s%s", d->name, path,
				 *path ? ": " : "", what);
	doc_locate(d, at, &line, &col);
	return plan_fail(d->err, -EINVAL, "%s:%zu:%zu: %s%s%s", d->name, line,
			 col, path, *path ? ": " : "", what);
}

static const char *type_name(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "text";
	case JSON_INTEGER:
	case JSON_REAL:
		return "a number";
	case JSON_NULL:
		return "null";
	default:
		return "true or false";
	}
}

int doc_object(const struct doc *d, const struct at *at, const json_t *v,
	       const char *const *keys)
{
	const char *key;
	json_t *value;
	size_t i;

	if (!json_is_object(v))
		return doc_fail(d, at, "is %s, not an object", type_name(v));
	json_object_foreach((json_t *)v, key, value) {
		for (i = 0; keys[i] && strcmp(keys[i], key);)
			i++;
		if (!keys[i])
			return doc_fail(d, &AT_KEY(at, key),
					"is not known here");
	}
	return 0;
}

int doc_array(const struct doc *d, const struct at *at, const json_t *v,
	      size_t max)
{
	if (!json_is_array(v))
		return doc_fail(d, at, "is %s, not a list", type_name(v));
	if (json_array_size(v) > max)
		return doc_fail(d, at, "has %zu entries: at most %zu",
				json_array_size(v), max);
	return 0;
}

static int missing(const struct doc *d, const struct at *at, const char *key)
{
	return doc_fail(d, at, "%s is missing", key);
}

int doc_bool(const struct doc *d, const struct at *at, const json_t *obj,
	     const char *key, bool *out)
{
	const json_t *v = json_object_get(obj, key);

	if (!v)
		return 0;
	if (!json_is_boolean(v))
		return doc_fail(d, &AT_KEY(at, key), "is %s, not true or false",
				type_name(v));
	*out = json_is_true(v);
	return 0;
}

int doc_int(const struct doc *d, const struct at *at, const json_t *obj,
	    const char *key, bool needed, int64_t min, int64_t max,
	    int64_t *out)
{
	const json_t *v = json_object_get(obj, key);
	json_int_t n;

	if (!v)
		return needed ? missing(d, at, key) : 0;
	if (!json_is_integer(v))
		return doc_fail(d, &AT_KEY(at, key), "is %s, not an integer",
				json_is_real(v) ? "a fraction" : type_name(v));
	n = json_integer_value(v);
	if (n < min || n > max)
		return doc_fail(d, &AT_KEY(at, key),
				"%lld is not within %lld to %lld", (long long)n,
				(long long)min, (long long)max);
	*out = n;
	return 0;
}

/* Text like "10G"; NAN if it is not. */
static double rate_of(const char *s)
{
	static const char units[] = "kMGT";
	const char *unit;
	char *end;
	double v;

	if (!isdigit((unsigned char)*s) || strlen(s) > 32 ||
	    strspn(s, "0123456789.") + 1 < strlen(s))
		return NAN;
	v = strtod(s, &end);
	if (!*end)
		return v;
	unit = strchr(units, *end);
	if (!unit || end[1])
		return NAN;
	return v * pow(1000, (double)(unit - units + 1));
}

int doc_rate(const struct doc *d, const struct at *at, const json_t *obj,
	     const char *key, bool needed, double *out)
{
	const json_t *v = json_object_get(obj, key);
	double rate;

	if (!v)
		return needed ? missing(d, at, key) : 0;
	if (json_is_number(v))
		rate = json_number_value(v);
	else if (json_is_string(v))
		rate = rate_of(json_string_value(v));
	else
		return doc_fail(d, &AT_KEY(at, key),
				"is %s, not a number or text like \"10G\"",
				type_name(v));
	if (isnan(rate))
		return doc_fail(d, &AT_KEY(at, key),
				"\"%.40s\" is not a number like \"10G\"",
				json_string_value(v));
	if (!(rate > 0))
		return doc_fail(d, &AT_KEY(at, key), "%g: must be above 0",
				rate);
	if (rate < 1e-3 || rate > 1e18)
		return doc_fail(d, &AT_KEY(at, key),
				"%g is not within 0.001 to 1e18", rate);
	*out = rate;
	return 0;
}

int doc_string(const struct doc *d, const struct at *at, const json_t *obj,
	       const char *key, bool needed, const char **out)
{
	const json_t *v = json_object_get(obj, key);

	if (!v)
		return needed ? missing(d, at, key) : 0;
	if (!json_is_string(v))
		return doc_fail(d, &AT_KEY(at, key), "is %s, not text",
				type_name(v));
	*out = json_string_value(v);
	return 0;
}

int doc_name(const struct doc *d, const struct at *at, const char *s)
{
	const char *c;

	if (!*s)
		return doc_fail(d, at, "is empty");
	if (strlen(s) > 63)
		return doc_fail(d, at, "\"%.40s...\" has %zu bytes: at most 63",
				s, strlen(s));
	if (*s == '-')
		return doc_fail(d, at, "\"%s\" begins with -", s);
	for (c = s; *c; c++)
		if (!isgraph((unsigned char)*c) || strchr(":\"'\\?&#%", *c))
			return doc_fail(
				d, at,
				"\"%s\" holds a blank, or one of :\"'\\?&#%%",
				s);
	return 0;
}
