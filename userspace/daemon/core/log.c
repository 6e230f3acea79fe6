// SPDX-License-Identifier: BSD-2-Clause
/*
 * Log lines and reasons. Under systemd each line starts with its priority
 * (<3> and so on) instead of the program's name.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "log.h"

static enum log_level log_max = LOG_INFO;
static bool log_journal;

void log_open(enum log_level max)
{
	log_max = max;
	log_journal = getenv("JOURNAL_STREAM") && !isatty(STDERR_FILENO);
}

/* Text may quote a client: keep it one printable line. */
static void log_clean(char *s)
{
	for (; *s; s++)
		if (!isprint((unsigned char)*s))
			*s = '?';
}

void log_line(enum log_level level, const char *fmt, ...)
{
	static const char *const word[] = {
		[LOG_ERROR] = "error: ",
		[LOG_WARN] = "warning: ",
		[LOG_INFO] = "",
		[LOG_DEBUG] = "debug: ",
	};
	static const int priority[] = {
		[LOG_ERROR] = 3,
		[LOG_WARN] = 4,
		[LOG_INFO] = 6,
		[LOG_DEBUG] = 7,
	};
	char text[512];
	va_list ap;

	if (level > log_max)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_clean(text);
	if (log_journal)
		fprintf(stderr, "<%d>%s\n", priority[level], text);
	else
		fprintf(stderr, "tribd: %s%s\n", word[level], text);
}

int reason_set(struct reason *why, int err, const char *fmt, ...)
{
	va_list ap;

	if (!why)
		return err;
	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	log_clean(why->text);
	return err;
}
