// SPDX-License-Identifier: BSD-2-Clause
/* Owns the findings of an examination, and prints them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/netlink/schema.h"
#include "cli/out/out.h"
#include "doctor.h"

static const char *const states[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_WARN] = "warn",
	[DOCTOR_FAIL] = "fail",
};

const char *doctor_text(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return buf;
}

void doctor_note(struct doctor *d, int state, const char *check, const char *subject,
		 const char *remedy, const char *fmt, ...)
{
	char text[OUT_CELL];
	va_list ap;
	json_t *note;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	note = json_pack("{s:s, s:s, s:o, s:o}", "state", states[state], "check", check, "subject",
			 schema_string(subject, strlen(subject)), "text",
			 schema_string(text, strlen(text)));
	if (remedy)
		json_object_set_new(note, "remedy", schema_string(remedy, strlen(remedy)));
	json_array_append_new(d->notes, note);
	if (state > d->worst)
		d->worst = state;
}

/* Note the counter if it has grown. Growth that stopped may be mended. */
bool doctor_counter(struct doctor *d, int state, bool now, const char *remedy, const json_t *before,
		    const json_t *stat, double seconds)
{
	uint64_t was = jnum(before, "value"), is = jnum(stat, "value");
	char rate[32];

	if (!is || (is <= was && now))
		return false;
	out_rate((double)(is > was ? is - was : 0) / seconds, rate, sizeof(rate));
	doctor_note(d, is > was ? state : DOCTOR_WARN, "counter", jstr(stat, "name"), remedy,
		    is > was ? "%llu, growing by %s/s: %s" : "%llu, not growing now (%s/s): %s",
		    (unsigned long long)is, rate, jstr(stat, "text"));
	return true;
}

void doctor_print(const struct doctor *d)
{
	const json_t *note;
	char what[160];
	int width = 0, count[3] = {0}, n;
	size_t i, k;

	json_array_foreach(d->notes, i, note) {
		n = (int)(strlen(jstr(note, "check")) + strlen(jstr(note, "subject")) + 1);
		if (n > width && n < (int)sizeof(what))
			width = n;
	}
	json_array_foreach(d->notes, i, note) {
		snprintf(what, sizeof(what), "%s %s", jstr(note, "check"), jstr(note, "subject"));
		printf("%-4s  %-*s  %s\n", jstr(note, "state"), width, what, jstr(note, "text"));
		if (json_object_get(note, "remedy"))
			printf("      %-*s  -> %s\n", width, "", jstr(note, "remedy"));
		for (k = 0; k < 3; k++)
			count[k] += !strcmp(jstr(note, "state"), states[k]);
	}
	printf("\n%d ok, %d warning%s, %d failure%s\n", count[DOCTOR_OK], count[DOCTOR_WARN],
	       &"s"[count[DOCTOR_WARN] == 1], count[DOCTOR_FAIL], &"s"[count[DOCTOR_FAIL] == 1]);
}
