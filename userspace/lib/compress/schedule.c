// SPDX-License-Identifier: BSD-2-Clause
/*
 * The spec of a step: from a list by step, or from a ladder that all ranks climb and
 * descend alike, because they decide by the same sums.
 *
 * The ladder looks at ratio = residual / gradient, of the root mean squares of all
 * values of the step, averaged over the ranks. A residual that is larger than the
 * gradient means that values wait for several steps until they are sent.
 *
 *	ratio < CALM for CLIMB_AFTER steps	one rung up: more compression
 *	ratio > HIGH				one rung down at once, and no climbing
 *						for REST_AFTER steps more
 *	otherwise				stay, and count from 0 again
 *
 * While gradients keep their size the ratio is about 0.7 on the rungs of floats and
 * int8, and 0.9 with int4. It grows when gradients become smaller.
 */
#include <errno.h>
#include <stdio.h>

#include "base/text.h"
#include "compress.h"

#define CALM 1.0f
#define HIGH 2.0f
#define CLIMB_AFTER 16
#define REST_AFTER 64

static const struct trib_nm_spec ladder[] = {
	{1, 1, 0}, {8, 4, 0}, {4, 2, 0}, {4, 2, 8}, {4, 2, 4},
};

#define RUNGS (int)(sizeof(ladder) / sizeof(ladder[0]))

int schedule_rungs(void)
{
	return RUNGS;
}

/* Read "STEP:SPEC". */
static int parse_entry(struct schedule *s, const char *text, size_t len, char *why, size_t why_len)
{
	const char *colon = memchr(text, ':', len);
	char number[21];
	uint64_t from;
	size_t digits;

	digits = colon ? (size_t)(colon - text) : 0;
	if (!digits || digits >= sizeof(number)) {
		snprintf(why, why_len, "\"%.*s\": want STEP:SPEC, as 200:2:4", (int)len, text);
		return -EINVAL;
	}
	memcpy(number, text, digits);
	number[digits] = 0;
	if (text_number(number, 0, INT32_MAX, &from)) {
		snprintf(why, why_len, "\"%s\" is not the number of a step", number);
		return -EINVAL;
	}
	if (s->n == SCHEDULE_ENTRIES) {
		snprintf(why, why_len, "more than %d entries", SCHEDULE_ENTRIES);
		return -EINVAL;
	}
	if (s->n ? from <= s->entry[s->n - 1].from : from) {
		snprintf(why, why_len, "step %s: steps begin at 0 and grow", number);
		return -EINVAL;
	}
	s->entry[s->n].from = from;
	return trib_nm_parse(&s->entry[s->n++].spec, colon + 1, len - digits - 1, why, why_len);
}

int schedule_parse(struct schedule *s, const char *text, char *why, size_t why_len)
{
	const char *comma;
	size_t len;
	int rc;

	memset(s, 0, sizeof(*s));
	if (!strcmp(text, "auto")) {
		s->automatic = true;
		return 0;
	}
	/* "2:4" is a spec, not step 2. */
	s->n = 1;
	rc = trib_nm_parse(&s->entry[0].spec, text, strlen(text), why, why_len);
	if (!rc || !strpbrk(text, ":,"))
		return rc;
	s->n = 0;
	do {
		comma = strchr(text, ',');
		len = comma ? (size_t)(comma - text) : strlen(text);
		rc = parse_entry(s, text, len, why, why_len);
		text += len + 1;
	} while (!rc && comma);
	return rc;
}

bool schedule_quantises(const struct schedule *s)
{
	unsigned int i;

	for (i = 0; i < s->n; i++)
		if (s->entry[i].spec.bits)
			return true;
	return s->automatic;
}

struct trib_nm_spec schedule_spec(const struct schedule *s, uint64_t step)
{
	unsigned int i;

	if (s->automatic)
		return ladder[s->rung];
	for (i = s->n - 1; i && s->entry[i].from > step; i--)
		;
	return s->entry[i].spec;
}

void schedule_judge(struct schedule *s, float grad, float residual)
{
	if (residual > HIGH * grad) {
		if (s->rung)
			s->rung--;
		s->calm = -REST_AFTER;
	} else if (residual < CALM * grad || (!grad && !residual)) {
		s->calm++;
	} else if (s->calm > 0) {
		s->calm = 0;
	}
	if (s->calm < CLIMB_AFTER)
		return;
	s->calm = 0;
	if (s->rung < RUNGS - 1)
		s->rung++;
}
