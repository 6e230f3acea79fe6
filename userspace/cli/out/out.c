// SPDX-License-Identifier: BSD-2-Clause
/* Owns the form of output: see out.h. */
#include <ctype.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/core/cli.h"
#include "out.h"

uint64_t jnum(const json_t *obj, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(obj, key));

	return v > 0 ? (uint64_t)v : 0;
}

const char *jstr(const json_t *obj, const char *key)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s ? s : "";
}

bool jbool(const json_t *obj, const char *key)
{
	return json_is_true(json_object_get(obj, key));
}

json_t *jfmt(const char *fmt, ...)
{
	char buf[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	return json_string(buf);
}

void out_user(uint32_t uid, char *buf, size_t size)
{
	struct passwd *pw = getpwuid(uid);

	if (pw)
		snprintf(buf, size, "%s", pw->pw_name);
	else
		snprintf(buf, size, "%u", uid);
}

void out_ms(uint64_t ms, char *buf, size_t size)
{
	uint64_t s = ms / 1000;

	if (ms < 1000)
		snprintf(buf, size, "%ums", (unsigned int)ms);
	else if (s < 60)
		snprintf(buf, size, "%.1fs", (double)ms / 1e3);
	else if (s < 3600)
		snprintf(buf, size, "%um%02us", (unsigned int)(s / 60), (unsigned int)(s % 60));
	else if (s < 86400)
		snprintf(buf, size, "%uh%02um", (unsigned int)(s / 3600),
			 (unsigned int)(s / 60 % 60));
	else
		snprintf(buf, size, "%llud%02uh", (unsigned long long)(s / 86400),
			 (unsigned int)(s / 3600 % 24));
}

void out_rate(double v, char *buf, size_t size)
{
	static const char *const unit[] = {"", "k", "M", "G", "T"};
	size_t i = 0;

	while (v >= 999.5 && i < 4) {
		v /= 1000;
		i++;
	}
	snprintf(buf, size, i && v < 99.95 ? "%.1f%s" : "%.0f%s", v, unit[i]);
}

/* Join a list of strings or integers with commas. */
static void list_text(const json_t *list, char *buf, size_t size)
{
	size_t i, at = 0;
	const json_t *v;
	int n;

	buf[0] = '\0';
	json_array_foreach(list, i, v) {
		if (json_is_string(v))
			n = snprintf(buf + at, size - at, "%s%s", i ? "," : "",
				     json_string_value(v));
		else
			n = snprintf(buf + at, size - at, "%s%lld", i ? "," : "",
				     (long long)json_integer_value(v));
		if (n < 0 || (size_t)n >= size - at)
			break;
		at += (size_t)n;
	}
	if (!json_array_size(list))
		snprintf(buf, size, "-");
}

void out_text(const json_t *obj, const char *key, char *buf, size_t size)
{
	const json_t *v = json_object_get(obj, key);

	switch (v ? (int)json_typeof(v) : -1) {
	case JSON_STRING:
		snprintf(buf, size, "%s", *json_string_value(v) ? json_string_value(v) : "-");
		break;
	case JSON_INTEGER:
		snprintf(buf, size, "%lld", (long long)json_integer_value(v));
		break;
	case JSON_REAL:
		snprintf(buf, size, "%.3g", json_real_value(v));
		break;
	case JSON_TRUE:
		snprintf(buf, size, "yes");
		break;
	case JSON_FALSE:
		snprintf(buf, size, "no");
		break;
	case JSON_ARRAY:
		list_text(v, buf, size);
		break;
	default:
		snprintf(buf, size, "-");
	}
}

static void cell(const json_t *row, const struct out_col *col, char *buf)
{
	if (col->text)
		col->text(row, buf, OUT_CELL);
	else
		out_text(row, col->key, buf, OUT_CELL);
}

static void heading(const struct out_col *col, char *buf)
{
	size_t i;

	snprintf(buf, OUT_CELL, "%s", col->title ? col->title : col->key);
	for (i = 0; buf[i]; i++)
		buf[i] = buf[i] == '_' ? '-' : (char)toupper(buf[i]);
}

/* Blanks are printed only before the next cell, never at a line's end. */
static void print_row(FILE *f, const char *indent, const json_t *row, const struct out_col *cols,
		      size_t n, const int *width)
{
	char buf[OUT_CELL];
	int blanks = 0, fill;
	size_t i;

	fputs(indent, f);
	for (i = 0; i < n; i++) {
		if (row)
			cell(row, &cols[i], buf);
		else
			heading(&cols[i], buf);
		fill = width[i] - (int)strlen(buf);
		if (cols[i].right)
			blanks += fill;
		if (*buf) {
			fprintf(f, "%*s%s", blanks, "", buf);
			blanks = 0;
		}
		blanks += cols[i].right ? 2 : fill + 2;
	}
	fputc('\n', f);
}

void out_print_table(FILE *f, const char *indent, const json_t *rows, const struct out_col *cols,
		     size_t n)
{
	char buf[OUT_CELL];
	int width[32];
	const json_t *row;
	size_t i, k;

	for (i = 0; i < n; i++) {
		heading(&cols[i], buf);
		width[i] = (int)strlen(buf);
		json_array_foreach(rows, k, row) {
			cell(row, &cols[i], buf);
			if ((int)strlen(buf) > width[i])
				width[i] = (int)strlen(buf);
		}
	}
	print_row(f, indent, NULL, cols, n, width);
	json_array_foreach(rows, k, row)
		print_row(f, indent, row, cols, n, width);
}

void out_json(const struct cli *c, const json_t *val)
{
	size_t flags = JSON_ENCODE_ANY | JSON_REAL_PRECISION(6);

	flags |= c->pretty ? JSON_INDENT(2) : JSON_COMPACT;
	json_dumpf(val, stdout, flags);
	putchar('\n');
}

static int keep(struct cli *c, json_t *val)
{
	if (!val)
		return cli_error(c, "out of memory");
	if (!c->json) {
		json_decref(val);
		return CLI_OK;
	}
	json_decref(c->result);
	c->result = val;
	return CLI_OK;
}

int out_table(struct cli *c, json_t *rows, const struct out_col *cols, size_t n)
{
	if (rows && !c->json)
		out_print_table(stdout, "", rows, cols, n);
	return keep(c, rows);
}

int out_list(struct cli *c, json_t *obj, const struct out_col *cols, size_t n)
{
	char name[OUT_CELL], buf[OUT_CELL];
	size_t i, k;
	int width = 0, len;

	for (i = 0; i < n; i++) {
		len = (int)strlen(cols[i].title ? cols[i].title : cols[i].key);
		if (len > width)
			width = len;
	}
	for (i = 0; obj && !c->json && i < n; i++) {
		snprintf(name, sizeof(name), "%s", cols[i].title ? cols[i].title : cols[i].key);
		for (k = 0; name[k]; k++)
			name[k] = name[k] == '_' ? '-' : name[k];
		cell(obj, &cols[i], buf);
		printf("%-*s  %s\n", width, name, buf);
	}
	return keep(c, obj);
}

int out_value(struct cli *c, json_t *val, const char *text)
{
	if (val && !c->json)
		printf("%s\n", text);
	return keep(c, val);
}

int out_done(struct cli *c)
{
	return keep(c, json_object());
}
