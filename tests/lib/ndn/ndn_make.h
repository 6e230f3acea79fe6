/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets for tests, assembled byte by byte, so that they may be malformed. */
#ifndef NDN_MAKE_H
#define NDN_MAKE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct made - a buffer
 * @n: number of valid bytes in @b.
 */
struct made {
	size_t n;
	uint8_t b[16384];
};

/*
 * Assemble from hexadecimal text. Blanks are ignored; (TYPE ...) is an element
 * of that type, hexadecimal, around the text up to the bracket; 'text' gives
 * its bytes; *N..X repeats the byte X N times (decimal).
 */
static inline void make_part(struct made *m, const char **s);

static inline void make_varnum(struct made *m, size_t v)
{
	if (v >= 253) {
		m->b[m->n++] = 253;
		m->b[m->n++] = v >> 8;
	}
	m->b[m->n++] = v;
}

static inline void make_element(struct made *m, const char **s)
{
	struct made *inner = calloc(1, sizeof(*inner));
	char *end;

	make_varnum(m, strtoul(*s, &end, 16));
	*s = end;
	while (**s != ')')
		make_part(inner, s);
	++*s;
	make_varnum(m, inner->n);
	memcpy(m->b + m->n, inner->b, inner->n);
	m->n += inner->n;
	free(inner);
}

static inline void make_part(struct made *m, const char **s)
{
	char two[3] = "";
	size_t count;
	char *end;

	switch (*(*s)++) {
	case ' ':
		break;
	case '(':
		make_element(m, s);
		break;
	case '\'':
		while (*(*s)++ != '\'')
			m->b[m->n++] = (*s)[-1];
		break;
	case '*':
		count = strtoul(*s, &end, 10);
		memset(m->b + m->n, strtoul(end + 2, &end, 16), count);
		m->n += count;
		*s = end;
		break;
	default:
		memcpy(two, *s - 1, 2);
		m->b[m->n++] = strtoul(two, NULL, 16);
		++*s;
	}
}

static inline void make(struct made *m, const char *s)
{
	memset(m, 0, sizeof(*m));
	while (*s)
		make_part(m, &s);
}

#endif /* NDN_MAKE_H */
