/* SPDX-License-Identifier: BSD-2-Clause */
/* Log lines on stderr, with a level that journald reads; reasons of refusals. */
#ifndef TRIBD_LOG_H
#define TRIBD_LOG_H

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Print lines up to level @max from here on. */
void log_open(enum log_level max);
/* Print one line. Bytes that cannot be printed become '?'. */
void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)

/* The reason of a refusal: one line that names the wrong value. */
struct reason {
	char text[240];
};

/* Format @why (NULL: not wanted) and return @err, a negative errno. */
int reason_set(struct reason *why, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* TRIBD_LOG_H */
