/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON documents that come from outside: typed access with checks, and errors
 * that name the file, line, column and field:
 *
 *	jobs.json:4:19: trees[1].group: is text, not a list
 */
#ifndef TRIB_BASE_JSON_READ_H
#define TRIB_BASE_JSON_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct json_read - a document
 * @name: begins each error, usually the file's.
 * @text: NULL if the document did not come as text; errors have no line then.
 * @root: owned by the reader, as all values in it.
 * @why:  room of the caller for the error's one line, @size bytes.
 * @own:  text that json_read_load() read.
 */
struct json_read {
	const char *name;
	const char *text;
	size_t len;
	json_t *root;
	char *why;
	size_t size;
	char *own;
};

/* A place in a document, as a chain to the root (NULL): a key, else an index. */
struct json_at {
	const struct json_at *up;
	const char *key;
	size_t index;
};

#define JSON_KEY(parent, name) ((struct json_at){.up = (parent), .key = (name)})
#define JSON_INDEX(parent, i) ((struct json_at){.up = (parent), .index = (i)})

/**
 * json_read_open() - parse @text
 *
 * @name, @text and @why must live until json_read_close(), which must be called
 * after success only. A key that stands twice in an object is an error.
 *
 * Return: 0, or -EINVAL with the error in @why.
 */
int json_read_open(struct json_read *r, const char *name, const char *text, size_t len, char *why,
		   size_t size);
/* The same for the file @path of at most @max bytes. Return: or its -errno. */
int json_read_load(struct json_read *r, const char *path, size_t max, char *why, size_t size);
void json_read_close(struct json_read *r);

/* Write an error about the value at @at. Return: -EINVAL. */
int json_read_fail(const struct json_read *r, const struct json_at *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same. Return: @err. */
int json_read_refuse(const struct json_read *r, int err, const struct json_at *at, const char *fmt,
		     ...) __attribute__((format(printf, 4, 5)));

/*
 * The functions below check a value and return 0, or -EINVAL with the error
 * written. @at is the place of @v or @obj.
 */

/* Check that @v is an object with no other keys than @keys (NULL ends them). */
int json_read_object(const struct json_read *r, const struct json_at *at, const json_t *v,
		     const char *const *keys);
/* Check that @v is a list of at most @max entries. */
int json_read_array(const struct json_read *r, const struct json_at *at, const json_t *v,
		    size_t max);

/*
 * Read the member @key of @obj. If it is absent, *@out stays unchanged, and the
 * result is an error only if it is @needed.
 */
#define JSON_NEEDED true
#define JSON_OPTIONAL false
int json_read_bool(const struct json_read *r, const struct json_at *at, const json_t *obj,
		   const char *key, bool *out);
int json_read_int(const struct json_read *r, const struct json_at *at, const json_t *obj,
		  const char *key, bool needed, int64_t min, int64_t max, int64_t *out);
/* A number from @min to @max. */
int json_read_real(const struct json_read *r, const struct json_at *at, const json_t *obj,
		   const char *key, bool needed, double min, double max, double *out);
/* A positive number, or text like "2.5G" (powers of 1000). */
int json_read_rate(const struct json_read *r, const struct json_at *at, const json_t *obj,
		   const char *key, bool needed, double *out);
/* Text; *@out lives as long as the document. */
int json_read_string(const struct json_read *r, const struct json_at *at, const json_t *obj,
		     const char *key, bool needed, const char **out);
/* Text of 1 to @size - 1 bytes, none of them NUL, copied to @out. */
int json_read_text(const struct json_read *r, const struct json_at *at, const json_t *obj,
		   const char *key, bool needed, char *out, size_t size);

/* json_locate.c: find the line and column where the value at @at begins. */
void json_locate(const struct json_read *r, const struct json_at *at, size_t *line, size_t *col);

#endif /* TRIB_BASE_JSON_READ_H */
