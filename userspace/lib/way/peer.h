/* SPDX-License-Identifier: BSD-2-Clause */
/* The way by peers: what its files share. */
#ifndef TRIB_LIB_WAY_PEER_H
#define TRIB_LIB_WAY_PEER_H

#include "carrier.h"
#include "peer/peer.h"

struct peers_call;

/**
 * struct trib_by_peers - a handle's exchange
 * @ops:  of the library, which stays loaded.
 * @first, @tail: calls that the exchange has not got yet, in order.
 * @left: the exchange has ended: it touches no memory of calls any more.
 */
struct trib_by_peers {
	const struct trib_peer_ops *ops;
	struct trib_peer *peer;
	struct peers_call *first, **tail;
	bool left;
};

/* peer.c: end the handle with the exchange's reason, or with @err if it has none. */
void trib_peers_die(struct trib *t, int err);

/* peer_calls.c: functions of struct trib_way. */
size_t trib_peers_size(struct trib *t, const struct trib_call *call);
int trib_peers_issue(struct trib *t, const struct trib_call *call, struct trib_req **out);
int trib_peers_issue_where(struct trib *t, const struct trib_call *call,
			   const struct trib_where *where, struct trib_req **out);
int trib_peers_prepare(struct trib *t, const struct trib_call *call, struct trib_req **out);
void trib_peers_start(struct trib *t, struct trib_req *r);
void trib_peers_release(struct trib *t, struct trib_req *r);
void trib_peers_drop(struct trib *t, struct trib_req *r);
/* Forget the calls that the exchange has not got. Their requests are those of a dead handle. */
void trib_peers_forget(struct trib_by_peers *b);

#endif /* TRIB_LIB_WAY_PEER_H */
