// SPDX-License-Identifier: BSD-2-Clause
/* See error.h. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

int peer_error(struct trib_peer_error *error, int code, int err, int rank, const char *fmt, ...)
{
	va_list ap;

	error->code = code;
	error->err = err;
	error->rank = rank;
	va_start(ap, fmt);
	vsnprintf(error->text, sizeof(error->text), fmt, ap);
	va_end(ap);
	text_one_line(error->text);
	return err;
}
