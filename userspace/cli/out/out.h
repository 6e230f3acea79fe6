/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output: a command passes a JSON value, which is printed as JSON or as a
 * table.
 */
#ifndef TRIB_CLI_OUT_H
#define TRIB_CLI_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <jansson.h>

struct cli;

#define OUT_CELL 512

/**
 * struct out_col - a column of a table, or a line of a list
 * @title: heading; NULL: @key in capitals.
 * @key:   member shown; missing ones show as "-".
 * @right: align right.
 * @text:  writes the text, from the whole row instead of from @key.
 */
struct out_col {
	const char *title;
	const char *key;
	bool right;
	void (*text)(const json_t *row, char *buf, size_t size);
};

/**
 * out_table() - print an array of objects, one line each
 * @rows: takes over the reference.
 */
int out_table(struct cli *c, json_t *rows, const struct out_col *cols, size_t n);

/* Print one object, one line a member; takes over the reference. */
int out_list(struct cli *c, json_t *obj, const struct out_col *cols, size_t n);

/* Print @val under -j, else @text and a newline; takes over @val. */
int out_value(struct cli *c, json_t *val, const char *text);

/* Report a successful change: {} under -j, else nothing. */
int out_done(struct cli *c);

/* Print a table to any stream, -j or not; borrows @rows. */
void out_print_table(FILE *f, const char *indent, const json_t *rows, const struct out_col *cols,
		     size_t n);

/* Write a member as text; "-" if it is missing. */
void out_text(const json_t *obj, const char *key, char *buf, size_t size);

/* Print JSON by -j or -p, with a newline. */
void out_json(const struct cli *c, const json_t *val);

/* Write the name of a user, or the number without one. */
void out_user(uint32_t uid, char *buf, size_t size);
/* Write milliseconds as "1.2s", "3m12s", "4h05m", "2d03h". */
void out_ms(uint64_t ms, char *buf, size_t size);
/* Write a rate with k, M or G: "93.1k". */
void out_rate(double v, char *buf, size_t size);

/* Get members of JSON objects; 0, "" or false if they are missing. */
uint64_t jnum(const json_t *obj, const char *key);
const char *jstr(const json_t *obj, const char *key);
bool jbool(const json_t *obj, const char *key);
/* Format a string into a new JSON string. */
json_t *jfmt(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* TRIB_CLI_OUT_H */
