// SPDX-License-Identifier: BSD-2-Clause
/* News and failures, from any thread. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "own.h"

void gpu_ring(struct peer_gpu *g)
{
	uint64_t one = 1;

	/* A full counter is readable already. */
	if (write(g->wake, &one, sizeof(one)) < 0)
		return;
}

int gpu_fail(struct peer_gpu *g, int err, const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&g->fail_lock);
	if (!g->failed) {
		va_start(ap, fmt);
		vsnprintf(g->fail_text, sizeof(g->fail_text), fmt, ap);
		va_end(ap);
		text_one_line(g->fail_text);
		g->failed = err;
	}
	pthread_mutex_unlock(&g->fail_lock);
	return err;
}

int gpu_rc(struct peer_gpu *g, int rc)
{
	return rc ? gpu_fail(g, -EIO, "%s", g->ops->error_text()) : 0;
}
