/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON documents that come from outside: values with checks, and errors that
 * say where in the text a value is.
 */
#ifndef TRIB_PLAN_DOC_H
#define TRIB_PLAN_DOC_H

#include <stdint.h>

#include "plan/plan.h"

/**
 * struct doc - a document
 * @name: of its file, or whatever errors are to begin with.
 * @text: NULL if it did not come as text: then errors have no line.
 */
struct doc {
	const char *name;
	const char *text;
	size_t len;
	json_t *root;
	struct plan_error *err;
};

/* A place in a document, as a chain towards the root: key, or else index. */
struct at {
	const struct at *up;
	const char *key;
	size_t index;
};

#define AT_KEY(parent, name) ((struct at){.up = (parent), .key = (name)})
#define AT_INDEX(parent, i) ((struct at){.up = (parent), .index = (i)})

int plan_fail(struct plan_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

int doc_open(struct doc *d, const char *name, const char *text, size_t len,
	     struct plan_error *err);
void doc_close(struct doc *d);

/* Note what is wrong at a place; always returns -EINVAL. */
int doc_fail(const struct doc *d, const struct at *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* No other keys than these (ends with NULL), and an object at all. */
int doc_object(const struct doc *d, const struct at *at, const json_t *v,
	       const char *const *keys);
int doc_array(const struct doc *d, const struct at *at, const json_t *v,
	      size_t max);

/* Members of @obj. Absent ones leave *out as it is, unless needed. */
#define DOC_NEEDED true
int doc_bool(const struct doc *d, const struct at *at, const json_t *obj,
	     const char *key, bool *out);
int doc_int(const struct doc *d, const struct at *at, const json_t *obj,
	    const char *key, bool needed, int64_t min, int64_t max,
	    int64_t *out);
/* A positive number, or text like "2.5G" (powers of 1000). */
int doc_rate(const struct doc *d, const struct at *at, const json_t *obj,
	     const char *key, bool needed, double *out);
int doc_string(const struct doc *d, const struct at *at, const json_t *obj,
	       const char *key, bool needed, const char **out);
/* Something that tribd takes for a name, as the value at @at itself. */
int doc_name(const struct doc *d, const struct at *at, const char *s);

/* Where the value at a place begins. */
void doc_locate(const struct doc *d, const struct at *at, size_t *line,
		size_t *col);

#endif /* TRIB_PLAN_DOC_H */
