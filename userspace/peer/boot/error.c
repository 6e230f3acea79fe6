// SPDX-License-Identifier: BSD-2-Clause
/* Errors of the bootstrap: codes, texts, and how they travel. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "peer/boot/boot_priv.h"

int boot_error(struct peer_boot_error *e, int code, int err, int rank, const char *fmt, ...)
{
	va_list ap;

	e->code = code;
	e->err = err;
	e->rank = rank;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	text_one_line(e->text);
	return err;
}

int boot_code_errno(int code)
{
	switch (code) {
	case PEER_BOOT_ARGUMENT:
		return -EINVAL;
	case PEER_BOOT_DEAD:
	case PEER_BOOT_GONE:
		return -EHOSTDOWN;
	case PEER_BOOT_MISSING:
		return -ETIMEDOUT;
	default:
		return -EIO;
	}
}

static bool code_known(uint32_t code)
{
	return code == PEER_BOOT_ARGUMENT || code == PEER_BOOT_SYSTEM || code == PEER_BOOT_DEAD ||
	       code == PEER_BOOT_GONE || code == PEER_BOOT_MISSING;
}

int boot_fault_parse(const struct boot_msg *m, uint32_t world, struct peer_boot_error *e)
{
	struct boot_fault f;

	if (m->len < sizeof(f) || m->len > sizeof(f) + BOOT_TEXT_MAX)
		return -EPROTO;
	memcpy(&f, m->body, sizeof(f));
	if (!code_known(f.code) || f.rank < -1 || f.rank >= (int64_t)world)
		return -EPROTO;
	boot_error(e, (int)f.code, boot_code_errno((int)f.code), f.rank, "%.*s",
		   (int)(m->len - sizeof(f)), (const char *)m->body + sizeof(f));
	return 0;
}
