/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * News from lower rooms to higher ones. Rooms call each other only downwards
 * (README.md); this table has all calls upwards. wire.c fills it in, and says in
 * which order several rooms hear of one event. A receiver must not keep a
 * pointer to an object beyond the event that announces its end.
 */
#ifndef TRIBD_HOOKS_H
#define TRIBD_HOOKS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct face;
struct face_spec;
struct job;
struct netdev;
struct port;
struct reason;
struct tree;
struct tribd;
struct udp_packet;

/**
 * struct hooks - events and their receivers
 * @save: write the state file as if object @without (a face, a tree, a job with
 *        its trees; NULL: none) were gone. 0 or -errno, logged.
 *
 * From device/rtnl.c:
 * @device_changed:    a device came, changed, or (@gone) went.
 * @port_changed:      XDP of @p was put back in another mode, or could not be.
 *                     From device/port_check.c.
 * @filters_changed:   clsact filters of a device changed; 0: news were lost.
 * @neighbour_changed: the kernel learnt the MAC address of a neighbour.
 * @routes_changed:    addresses or routes changed, or news were lost.
 *
 * From face/:
 * @face_check:   refuse what the NDN forwarder cannot do with @s. Changes nothing.
 * @face_add:     @f takes the NDN part of @s; undone by @face_free.
 * @face_set:     the same for a face that exists. Saves the state.
 * @face_added:   @f is saved.
 * @face_del_check: refuse if @f is in use.
 * @face_del:     @f is gone from the state file.
 * @face_free:    the memory of @f goes.
 * @face_changed: address, port or device of @f changed; @faces_settled follows.
 * @faces_settled: no more changes come now: write the maps.
 *
 * From job/:
 * @job_del:      @j is gone from the state file; its trees and processes follow.
 *
 * From tree/:
 * @tree_prepare: @t is about to be visible. @adopted: its row was there before
 *                this tribd, with epoch, nonces and deliver number. 0 or
 *                -errno, which undoes the addition.
 * @tree_added:   the row of @t is in the map. 0 or -errno, which undoes it.
 * @tree_changed: address, port or device of a face of @t changed; its row is written.
 * @tree_del:     @t is about to go; its row is still in the map.
 * @tree_gone:    the row is cleared, and no BPF program uses it any more.
 *
 * From session/udp.c:
 * @packet:       a datagram came in at port 7417.
 */
struct hooks {
	int (*save)(struct tribd *d, const void *without);

	void (*device_changed)(struct tribd *d, const struct netdev *dev, bool gone);
	void (*port_changed)(struct tribd *d, struct port *p);
	void (*filters_changed)(struct tribd *d, uint32_t ifindex);
	void (*neighbour_changed)(struct tribd *d, uint32_t ifindex, const struct in6_addr *addr,
				  const uint8_t mac[6]);
	void (*routes_changed)(struct tribd *d);

	int (*face_check)(struct tribd *d, const struct face_spec *s, struct reason *why);
	int (*face_add)(struct tribd *d, struct face *f, const struct face_spec *s,
			struct reason *why);
	int (*face_set)(struct tribd *d, struct face *f, const struct face_spec *s,
			struct reason *why);
	void (*face_added)(struct tribd *d, struct face *f);
	int (*face_del_check)(struct tribd *d, const struct face *f, struct reason *why);
	void (*face_del)(struct tribd *d, struct face *f);
	void (*face_free)(struct tribd *d, struct face *f);
	void (*face_changed)(struct tribd *d, const struct face *f);
	void (*faces_settled)(struct tribd *d);

	void (*job_del)(struct tribd *d, struct job *j);

	int (*tree_prepare)(struct tribd *d, struct tree *t, bool adopted);
	int (*tree_added)(struct tribd *d, struct tree *t, bool adopted);
	void (*tree_changed)(struct tribd *d, struct tree *t);
	void (*tree_del)(struct tribd *d, struct tree *t);
	void (*tree_gone)(struct tribd *d, struct tree *t);

	void (*packet)(struct tribd *d, const struct udp_packet *p);
};

/*
 * The step of every change that makes it last. 0, or -errno with @why (NULL:
 * only logged): the caller undoes the change.
 */
int hooks_save(struct tribd *d, struct reason *why);
/* The first step of every removal, and the only one that may fail. */
int hooks_save_without(struct tribd *d, const void *object, struct reason *why);

#endif /* TRIBD_HOOKS_H */
