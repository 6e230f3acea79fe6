// SPDX-License-Identifier: BSD-2-Clause
/* The reason why a port failed. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "peer/net/fault.h"

int peer_fault_set(struct peer_fault *f, int err, int peer, const char *fmt, ...)
{
	va_list ap;

	if (f->err)
		return -f->err;
	f->err = err > 0 ? err : EIO;
	f->peer = peer;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	text_one_line(f->text);
	return -f->err;
}
