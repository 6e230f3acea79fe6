// SPDX-License-Identifier: BSD-2-Clause
/* Errors of the bootstrap: how they travel. */
#include <errno.h>
#include <string.h>

#include "peer/boot/boot_priv.h"

int boot_code_errno(int code)
{
	switch (code) {
	case TRIB_PEER_ARGUMENT:
		return -EINVAL;
	case TRIB_PEER_DEAD:
	case TRIB_PEER_GONE:
		return -EHOSTDOWN;
	case TRIB_PEER_MISSING:
		return -ETIMEDOUT;
	default:
		return -EIO;
	}
}

static bool code_known(uint32_t code)
{
	return code == TRIB_PEER_ARGUMENT || code == TRIB_PEER_SYSTEM || code == TRIB_PEER_DEAD ||
	       code == TRIB_PEER_GONE || code == TRIB_PEER_MISSING;
}

int boot_fault_parse(const struct boot_msg *m, uint32_t world, struct trib_peer_error *e)
{
	struct boot_fault f;

	if (m->len < sizeof(f) || m->len > sizeof(f) + BOOT_TEXT_MAX)
		return -EPROTO;
	memcpy(&f, m->body, sizeof(f));
	if (!code_known(f.code) || f.rank < -1 || f.rank >= (int64_t)world)
		return -EPROTO;
	peer_error(e, (int)f.code, boot_code_errno((int)f.code), f.rank, "%.*s",
		   (int)(m->len - sizeof(f)), (const char *)m->body + sizeof(f));
	return 0;
}
