// SPDX-License-Identifier: BSD-2-Clause
/* Owns the error line of a run. */
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "cli.h"

static void set_error(struct cli *c, const char *fmt, va_list ap)
{
	vsnprintf(c->error, sizeof(c->error), fmt, ap);
	text_one_line(c->error);
}

int cli_error(struct cli *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_error(c, fmt, ap);
	va_end(ap);
	return CLI_ERROR;
}

int cli_usage(struct cli *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_error(c, fmt, ap);
	va_end(ap);
	return CLI_USAGE;
}

int cli_no_args(struct cli *c, int argc, char **argv)
{
	return argc ? cli_usage(c, "\"%s\" is not expected here", argv[0]) : CLI_OK;
}
