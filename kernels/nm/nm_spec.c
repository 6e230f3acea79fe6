// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Texts of specs: "dense", "int8", "2:4", "2:4+int8". */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "nm.h"

/* Bytes of a wrong text that the message repeats. */
#define QUOTED 24

struct cursor {
	const char *at;
	const char *end;
};

static int skip(struct cursor *c, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(c->end - c->at) < len || memcmp(c->at, word, len))
		return 0;
	c->at += len;
	return 1;
}

/* One or two digits without a leading zero; 0 if there is no such number. */
static unsigned int number(struct cursor *c)
{
	unsigned int n = 0;
	int digits;

	for (digits = 0; digits < 2 && c->at < c->end; digits++, c->at++) {
		if (*c->at < '0' || *c->at > '9' || (!digits && *c->at == '0'))
			break;
		n = n * 10 + (unsigned int)(*c->at - '0');
	}
	return n;
}

static const char *read_group(struct trib_nm_spec *s, struct cursor *c)
{
	unsigned int kept = number(c), group;

	if (!kept || !skip(c, ":"))
		return "wants 'dense', 'int8', '2:4' or '2:4+int8'";
	group = number(c);
	if (group < 2 || group > 32 || group & (group - 1))
		return "wants groups of 2, 4, 8, 16 or 32, as in '2:4'";
	if (kept > group)
		return "keeps more values than a group has: '2:4' keeps 2 of every 4";
	s->group = kept == group ? 1 : (uint8_t)group;
	s->kept = kept == group ? 1 : (uint8_t)kept;
	return NULL;
}

static const char *read_bits(struct trib_nm_spec *s, struct cursor *c)
{
	unsigned int bits;

	if (!skip(c, "int"))
		return "wants int16, int8 or int4 after '+'";
	bits = number(c);
	if (bits != 4 && bits != 8 && bits != 16)
		return "wants int16, int8 or int4";
	s->bits = (uint8_t)bits;
	return NULL;
}

static const char *read_spec(struct trib_nm_spec *s, struct cursor *c)
{
	const char *wrong = NULL;

	if (c->end - c->at >= 3 && !memcmp(c->at, "int", 3)) {
		wrong = read_bits(s, c);
	} else {
		if (!skip(c, "dense"))
			wrong = read_group(s, c);
		if (!wrong && skip(c, "+"))
			wrong = read_bits(s, c);
	}
	if (!wrong && c->at != c->end)
		wrong = "goes on after its end; wants something like '2:4+int8'";
	return wrong;
}

/* Printable bytes of @text; others become '?'. */
static void quote(char *to, const char *text, size_t len)
{
	size_t i, n = len < QUOTED ? len : QUOTED;

	for (i = 0; i < n; i++)
		to[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	strcpy(to + n, len > n ? "..." : "");
}

int trib_nm_parse(struct trib_nm_spec *spec, const char *text, size_t len, char *why,
		  size_t why_len)
{
	struct trib_nm_spec s = {.group = 1, .kept = 1};
	struct cursor c = {text, text + len};
	char quoted[QUOTED + 4];
	const char *wrong = read_spec(&s, &c);

	if (!wrong) {
		*spec = s;
		return 0;
	}
	if (why_len) {
		quote(quoted, text, len);
		snprintf(why, why_len, "compression '%s' %s", quoted, wrong);
	}
	return -EINVAL;
}

void trib_nm_print(char text[TRIB_NM_TEXT], struct trib_nm_spec spec)
{
	int len = 0;

	if (spec.group > 1)
		len = snprintf(text, TRIB_NM_TEXT, "%u:%u%s", spec.kept & 63u, spec.group & 63u,
			       spec.bits ? "+" : "");
	else if (!spec.bits)
		len = snprintf(text, TRIB_NM_TEXT, "dense");
	if (spec.bits)
		snprintf(text + len, TRIB_NM_TEXT - (size_t)len, "int%u", spec.bits & 31u);
}
