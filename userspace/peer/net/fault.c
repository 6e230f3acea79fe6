// SPDX-License-Identifier: BSD-2-Clause
/* The reason why a port failed. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "peer/net/fault.h"
#include "peer/net/flow.h"

#define CHUNK_MAX (1u << 30)

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

int peer_port_check(const struct peer_port_conf *conf, struct peer_fault *f)
{
	uint32_t i;

	if (conf->chunk < 64 || conf->chunk % 64 || conf->chunk > CHUNK_MAX)
		return peer_fault_set(f, EINVAL, -1, "chunk of %zu bytes", conf->chunk);
	if (conf->slots < 2 || conf->slots > 64)
		return peer_fault_set(f, EINVAL, -1, "%u slots, wants 2 to 64", conf->slots);
	if (conf->npeer > PEER_FLOW_LINKS)
		return peer_fault_set(f, EINVAL, -1, "%u links", conf->npeer);
	for (i = 0; i < conf->npeer; i++)
		if (conf->peers[i] >= conf->world || (i && conf->peers[i] <= conf->peers[i - 1]))
			return peer_fault_set(f, EINVAL, -1, "peers not ascending");
	return 0;
}

bool peer_target_check(struct peer_fault *f, uint32_t peer, uint64_t announced, uint64_t off,
		       size_t len)
{
	if (off <= announced && len <= announced - off)
		return true;
	peer_fault_set(f, EPROTO, (int)peer, "rank %u announced %llu bytes, too few", peer,
		       (unsigned long long)announced);
	return false;
}
