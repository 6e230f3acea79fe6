// SPDX-License-Identifier: BSD-2-Clause
/* Owns the checks of JSON values and the errors they lead to; see json_read.h. */
#include "json_read.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "text.h"

int json_read_open(struct json_read *r, const char *name, const char *text, size_t len, char *why,
		   size_t size)
{
	json_error_t e;

	*r = (struct json_read){.name = name, .text = text, .len = len, .why = why, .size = size};
	r->root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
	if (r->root)
		return 0;
	return text_fail(why, size, -EINVAL, "%s:%d:%d: not JSON: %s", name, e.line,
			 e.column < 1 ? 1 : e.column, e.text);
}

int json_read_load(struct json_read *r, const char *path, size_t max, char *why, size_t size)
{
	char *text;
	size_t len;
	int err = file_read(path, max, &text, &len);

	if (err == -EFBIG)
		return text_fail(why, size, err, "%s: more than %zu bytes", path, max);
	if (err)
		return text_fail(why, size, err, "%s: %s", path, strerror(-err));
	err = json_read_open(r, path, text, len, why, size);
	if (err)
		free(text);
	else
		r->own = text;
	return err;
}

void json_read_close(struct json_read *r)
{
	json_decref(r->root);
	r->root = NULL;
	free(r->own);
	r->own = NULL;
}

/* "links[3].capacity"; "" for the root. Return: its length, untruncated. */
static size_t path_text(const struct json_at *at, char *buf, size_t size)
{
	size_t n = 0;
	int add;

	if (!at)
		return 0;
	n = path_text(at->up, buf, size);
	if (n >= size)
		return n;
	if (at->key)
		add = snprintf(buf + n, size - n, "%s%.80s", n ? "." : "", at->key);
	else
		add = snprintf(buf + n, size - n, "[%zu]", at->index);
	return n + (size_t)(add > 0 ? add : 0);
}

__attribute__((format(printf, 3, 0))) static void
fail(const struct json_read *r, const struct json_at *at, const char *fmt, va_list ap)
{
	char path[256] = "", what[360], where[48] = "";
	size_t line, col;

	vsnprintf(what, sizeof(what), fmt, ap);
	path_text(at, path, sizeof(path));
	if (r->text) {
		json_locate(r, at, &line, &col);
		snprintf(where, sizeof(where), ":%zu:%zu", line, col);
	}
	snprintf(r->why, r->size, "%s%s: %s%s%s", r->name, where, path, *path ? ": " : "", what);
	text_one_line(r->why);
}

int json_read_fail(const struct json_read *r, const struct json_at *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fail(r, at, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int json_read_refuse(const struct json_read *r, int err, const struct json_at *at, const char *fmt,
		     ...)
{
	va_list ap;

	va_start(ap, fmt);
	fail(r, at, fmt, ap);
	va_end(ap);
	return err;
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

int json_read_object(const struct json_read *r, const struct json_at *at, const json_t *v,
		     const char *const *keys)
{
	const char *key;
	json_t *value;
	size_t i;

	if (!json_is_object(v))
		return json_read_fail(r, at, "is %s, not an object", type_name(v));
	json_object_foreach((json_t *)v, key, value) {
		for (i = 0; keys[i] && strcmp(keys[i], key);)
			i++;
		/* A misspelt key must not be taken for an absent one. */
		if (!keys[i])
			return json_read_fail(r, &JSON_KEY(at, key), "is not known here");
	}
	return 0;
}

int json_read_array(const struct json_read *r, const struct json_at *at, const json_t *v,
		    size_t max)
{
	if (!json_is_array(v))
		return json_read_fail(r, at, "is %s, not a list", type_name(v));
	if (json_array_size(v) > max)
		return json_read_fail(r, at, "has %zu entries: at most %zu", json_array_size(v),
				      max);
	return 0;
}

/* The member, or NULL: then *@err is the result. */
static const json_t *member(const struct json_read *r, const struct json_at *at, const json_t *obj,
			    const char *key, bool needed, int *err)
{
	const json_t *v = json_object_get(obj, key);

	*err = 0;
	if (!v && needed)
		*err = json_read_fail(r, at, "%s is missing", key);
	return v;
}

int json_read_bool(const struct json_read *r, const struct json_at *at, const json_t *obj,
		   const char *key, bool *out)
{
	const json_t *v = json_object_get(obj, key);

	if (!v)
		return 0;
	if (!json_is_boolean(v))
		return json_read_fail(r, &JSON_KEY(at, key), "is %s, not true or false",
				      type_name(v));
	*out = json_is_true(v);
	return 0;
}

int json_read_int(const struct json_read *r, const struct json_at *at, const json_t *obj,
		  const char *key, bool needed, int64_t min, int64_t max, int64_t *out)
{
	const json_t *v;
	json_int_t n;
	int err;

	v = member(r, at, obj, key, needed, &err);
	if (!v)
		return err;
	if (!json_is_integer(v))
		return json_read_fail(r, &JSON_KEY(at, key), "is %s, not an integer",
				      json_is_real(v) ? "a fraction" : type_name(v));
	n = json_integer_value(v);
	if (n < min || n > max)
		return json_read_fail(r, &JSON_KEY(at, key), "%lld is not within %lld to %lld",
				      (long long)n, (long long)min, (long long)max);
	*out = n;
	return 0;
}

int json_read_real(const struct json_read *r, const struct json_at *at, const json_t *obj,
		   const char *key, bool needed, double min, double max, double *out)
{
	const json_t *v;
	double d;
	int err;

	v = member(r, at, obj, key, needed, &err);
	if (!v)
		return err;
	if (!json_is_number(v))
		return json_read_fail(r, &JSON_KEY(at, key), "is %s, not a number", type_name(v));
	d = json_number_value(v);
	if (!(d >= min && d <= max))
		return json_read_fail(r, &JSON_KEY(at, key), "%g is not within %g to %g", d, min,
				      max);
	*out = d;
	return 0;
}

/* Text like "10G"; NAN if it is not. */
static double rate_of(const char *s)
{
	static const double factor[] = {1e3, 1e6, 1e9, 1e12};
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
	return v * factor[unit - units];
}

int json_read_rate(const struct json_read *r, const struct json_at *at, const json_t *obj,
		   const char *key, bool needed, double *out)
{
	const json_t *v;
	double rate;
	int err;

	v = member(r, at, obj, key, needed, &err);
	if (!v)
		return err;
	if (json_is_number(v))
		rate = json_number_value(v);
	else if (json_is_string(v))
		rate = rate_of(json_string_value(v));
	else
		return json_read_fail(r, &JSON_KEY(at, key),
				      "is %s, not a number or text like \"10G\"", type_name(v));
	if (isnan(rate))
		return json_read_fail(r, &JSON_KEY(at, key),
				      "\"%.40s\" is not a number like \"10G\"",
				      json_string_value(v));
	if (!(rate > 0))
		return json_read_fail(r, &JSON_KEY(at, key), "%g: must be above 0", rate);
	if (rate < 1e-3 || rate > 1e18)
		return json_read_fail(r, &JSON_KEY(at, key), "%g is not within 0.001 to 1e18",
				      rate);
	*out = rate;
	return 0;
}

int json_read_string(const struct json_read *r, const struct json_at *at, const json_t *obj,
		     const char *key, bool needed, const char **out)
{
	const json_t *v;
	int err;

	v = member(r, at, obj, key, needed, &err);
	if (!v)
		return err;
	if (!json_is_string(v))
		return json_read_fail(r, &JSON_KEY(at, key), "is %s, not text", type_name(v));
	*out = json_string_value(v);
	return 0;
}

int json_read_text(const struct json_read *r, const struct json_at *at, const json_t *obj,
		   const char *key, bool needed, char *out, size_t size)
{
	const char *s = NULL;
	int err = json_read_string(r, at, obj, key, needed, &s);
	size_t len;

	if (err || !s)
		return err;
	len = json_string_length(json_object_get(obj, key));
	if (!len || len >= size || strlen(s) != len)
		return json_read_fail(r, &JSON_KEY(at, key), "is not text of 1 to %zu bytes",
				      size - 1);
	memcpy(out, s, len + 1);
	return 0;
}
