// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fill in core/hooks.h: the rooms that hear of each event, in this order.
 */
#include "daemon/attach/attach.h"
#include "daemon/attach/deliver.h"
#include "daemon/attach/worker_tell.h"
#include "daemon/device/port_check.h"
#include "daemon/ndn/ndnd.h"
#include "daemon/session/join.h"
#include "daemon/state/state.h"
#include "daemon/tree/tree.h"
#include "daemon/ways/ways.h"
#include "wire.h"

static int on_face_add(struct tribd *d, struct face *f, const struct face_spec *s,
		       struct reason *why)
{
	return ndnd_face_add(d, f, s->ndn, why);
}

static int on_face_set(struct tribd *d, struct face *f, const struct face_spec *s,
		       struct reason *why)
{
	return ndnd_face_set(d, f, s->ndn, why);
}

static void on_face_added(struct tribd *d, struct face *f)
{
	ndnd_face_added(d, f);
	face_forward_write(d);
	ways_faces_changed(d);
}

/* The face is out of the list. */
static void on_face_free(struct tribd *d, struct face *f)
{
	ndnd_peer_free(d, f->ndn);
	face_forward_write(d);
	ways_faces_changed(d);
}

static void on_routes_changed(struct tribd *d)
{
	face_routes_changed(d);
	ways_routes_changed(d);
}

static void on_faces_settled(struct tribd *d)
{
	tree_settle(d);
	ndnd_settle(d);
	face_forward_write(d);
	ways_faces_changed(d);
}

/* Close connections first: the trees then only have other hosts to tell. */
static void on_job_del(struct tribd *d, struct job *j)
{
	attach_job_del(d, j);
	tree_remove_all(d, j);
}

/*
 * First tell the parent, the children or the PS, then end the processes of this
 * host: their ends need the session machine.
 */
static void on_tree_del(struct tribd *d, struct tree *t)
{
	if (t->kind == TREE_WORKERS)
		worker_tree_del(d, t);
	else
		join_tree_del(t);
	attach_tree_del(d, t);
	join_tree_free(d, t);
}

const struct hooks wire_hooks = {
	.save = state_write,

	.device_changed = face_device_changed,
	.port_changed = face_port_changed,
	.filters_changed = port_check_filters,
	.neighbour_changed = face_neighbour_changed,
	.routes_changed = on_routes_changed,

	.face_check = ndnd_face_check,
	.face_add = on_face_add,
	.face_set = on_face_set,
	.face_added = on_face_added,
	.face_del_check = ndnd_face_del_check,
	.face_del = ndnd_face_del,
	.face_free = on_face_free,
	.face_changed = tree_face_changed,
	.faces_settled = on_faces_settled,

	.job_del = on_job_del,

	.tree_prepare = deliver_tree_prepare,
	.tree_added = join_tree_added,
	.tree_changed = deliver_tree_changed,
	.tree_del = on_tree_del,
	.tree_gone = deliver_tree_gone,

	.packet = join_packet,
};
