// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of workers: see worker_tell.h.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "daemon/session/udp.h"
#include "daemon/tree/secret.h"
#include "worker_tell.h"

#define ABORTS 3 /* times an ABORT is sent */

void worker_fill(const struct tree *t, const struct local *l, struct trib_attach_tree *at)
{
	unsigned int i;

	memcpy(at->addr, &t->workers.ps, sizeof(at->addr));
	memcpy(at->mcast_addr, &t->workers.group, sizeof(at->mcast_addr));
	at->port = t->workers.ps_port;
	at->tree = t->id;
	at->child = l->rank;
	at->recv_port = l->port;
	at->flags = TRIB_ATTACH_SHARED;
	at->nhop = (uint16_t)t->workers.nhop;
	for (i = 0; i < t->workers.nhop; i++) {
		const struct face *f = t->workers.hop[i].face;

		memcpy(at->hop[i].addr, &f->addr, sizeof(at->hop[i].addr));
		at->hop[i].port = f->udp_port;
		at->hop[i].relay = t->workers.hop[i].relay;
	}
	/*
	 * The address by which the first relay, and so the PS, knows the rank.
	 */
	if (t->workers.nhop && t->workers.hop[0].face->local_known)
		memcpy(at->local_addr, &t->workers.hop[0].face->local, sizeof(at->local_addr));
}

void worker_abort(struct tribd *d, struct tree *t, const struct local *l, enum trib_abort why)
{
	struct trib_hdr h = {
		.version = TRIB_WIRE_VERSION,
		.type = TRIB_T_ABORT,
		.flags = TRIB_F_UP,
		.job = htons(t->job->id),
		.tree = htons(t->id),
		.relay = htons(TRIB_RELAY_PS),
		.child = htons(l->rank),
		.chunk = htonl(why),
		.epoch = htonl(l->epoch),
		.aux = htons(l->rank),
	};
	struct secret secret;
	unsigned int i;
	int err;

	secret_up(t, l->rank, NULL, &secret);
	for (i = 0; l->epoch && i < ABORTS; i++) {
		h.scale = secret_number(t);
		h.auth = trib_auth(&secret.key, &h, NULL, 0);
		err = udp_send_to(d, &t->workers.ps, t->workers.ps_port, &h, sizeof(h));
		if (err)
			log_debug("tree %u: cannot reach the PS: %s", t->id, strerror(-err));
	}
}

void worker_tree_del(struct tribd *d, struct tree *t)
{
	unsigned int i;

	for (i = 0; i < t->nlocal; i++)
		worker_abort(d, t, &t->local[i], TRIB_ABORT_ADMIN);
}
