// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib doctor: checks jobs that wait for children, and counters that mean
 * trouble.
 */
#include <stdio.h>
#include <string.h>

#include "cli/object/tree_text.h"
#include "cli/watch/watch.h"
#include "uapi/trib_maps.h"
#include "doctor.h"

/* A star must have as many children as the job has workers. */
static void check_world(struct doctor *d, const json_t *job, const json_t *t)
{
	const json_t *list = json_object_get(t, "children"), *ch;
	char what[96];
	size_t i;

	json_array_foreach(list, i, ch)
		if (!json_object_get(ch, "rank"))
			return; /* a relay stands for an unknown number of workers */
	if (strcmp(tree_role(t), "root") || !json_array_size(list) ||
	    json_array_size(list) == jnum(job, "world"))
		return;
	doctor_note(d, DOCTOR_FAIL, "tree",
		    doctor_text(what, sizeof(what), "%u", (unsigned int)jnum(t, "id")),
		    "add the missing children, or the job with the right world",
		    "%zu children, but job %s has a world of %u", json_array_size(list),
		    jstr(job, "name"), (unsigned int)jnum(job, "world"));
}

static void check_tree(struct doctor *d, const json_t *t)
{
	const char *state = tree_state(t), *role = tree_role(t);
	char missing[OUT_CELL], what[32];

	doctor_text(what, sizeof(what), "%u", (unsigned int)jnum(t, "id"));
	tree_missing(t, missing, sizeof(missing));
	if (!strcmp(state, "running"))
		doctor_note(d, DOCTOR_OK, "tree", what, NULL, "job %s runs, epoch %u",
			    jstr(t, "job"), (unsigned int)jnum(t, "epoch"));
	else if (!strcmp(state, "draining") || !strcmp(state, "held"))
		doctor_note(d, DOCTOR_OK, "tree", what, NULL,
			    "job %s: of another generation, %s: trib apply removes it",
			    jstr(t, "job"), state);
	else if (!strcmp(state, "shared"))
		doctor_note(d, DOCTOR_OK, "tree", what, NULL, "job %s: a relay of a shared tree",
			    jstr(t, "job"));
	else if (!strcmp(state, "idle"))
		doctor_note(d, DOCTOR_OK, "tree", what, NULL, "job %s: nobody has joined yet (%s)",
			    jstr(t, "job"), role);
	else if (!strcmp(role, "worker"))
		doctor_note(d, DOCTOR_WARN, "tree", what,
			    "look at the PS: trib-ps logs whom it waits for",
			    "job %s: has not begun, its PS is %s", jstr(t, "job"), jstr(t, "ps"));
	else if (*missing)
		doctor_note(
			d, DOCTOR_WARN, "tree", what,
			"start these workers; or see why their JOINs do not arrive: trib doctor there",
			"job %s waits for %s", jstr(t, "job"), missing);
	else
		doctor_note(d, DOCTOR_WARN, "tree", what, "look at the parent: trib doctor there",
			    "job %s: all children joined, the parent %s has not started",
			    jstr(t, "job"), jstr(t, "parent"));
}

/* Say how the ranks of this host send: no fault, but the reason why it is not faster. */
static void check_ways(struct doctor *d, const json_t *t)
{
	const json_t *l;
	char what[32];
	size_t i;

	doctor_text(what, sizeof(what), "%u", (unsigned int)jnum(t, "id"));
	json_array_foreach(json_object_get(t, "local"), i, l) {
		if (!strcmp(jstr(l, "way"), "reflex"))
			doctor_note(d, DOCTOR_OK, "way", what, NULL,
				    "job %s: rank %u sends by XDP, in the frames of results",
				    jstr(t, "job"), (unsigned int)jnum(l, "rank"));
		else if (*jstr(l, "way"))
			doctor_note(d, DOCTOR_OK, "way", what, NULL,
				    "job %s: rank %u sends by socket: %s", jstr(t, "job"),
				    (unsigned int)jnum(l, "rank"), jstr(l, "why"));
	}
}

void doctor_jobs(struct doctor *d)
{
	const json_t *job, *t;
	size_t i, k, n;

	json_array_foreach(d->jobs, i, job) {
		n = 0;
		if (*jstr(job, "blocked"))
			doctor_note(d, DOCTOR_FAIL, "job", jstr(job, "name"),
				    "make room on that disk: the job then starts by itself",
				    "cannot start: %s", jstr(job, "blocked"));
		json_array_foreach(d->trees, k, t) {
			if (strcmp(jstr(t, "job"), jstr(job, "name")))
				continue;
			n++;
			check_world(d, job, t);
			check_tree(d, t);
			check_ways(d, t);
		}
		if (!n && !*jstr(job, "peers"))
			doctor_note(d, DOCTOR_WARN, "job", jstr(job, "name"), "trib tree add",
				    "has no tree on this host");
	}
}

/* Report the verdicts of trib watch. */
void doctor_workers(struct doctor *d, json_t *trees, double seconds)
{
	struct watch_sample a = {.status = d->status, .trees = d->trees};
	struct watch_sample b = {.status = d->status, .trees = trees};
	json_t *r, *t, *ch;
	size_t i, k;

	b.seconds = seconds;
	r = watch_rates(&a, &b);
	json_array_foreach(json_object_get(r, "trees"), i, t) {
		if (strcmp(jstr(t, "state"), "running"))
			continue;
		json_array_foreach(json_object_get(t, "children"), k, ch) {
			if (!strcmp(jstr(ch, "mark"), "silent"))
				doctor_note(d, DOCTOR_WARN, "worker", jstr(ch, "face"),
					    "see whether it lives, and trib doctor there",
					    "silent in tree %u: the others wait for it",
					    (unsigned int)jnum(t, "id"));
			else if (!strcmp(jstr(ch, "mark"), "late"))
				doctor_note(d, DOCTOR_WARN, "worker", jstr(ch, "face"),
					    "see what else runs there: trib watch",
					    "late in tree %u: the others waited %.0f%% of the time",
					    (unsigned int)jnum(t, "id"),
					    json_number_value(json_object_get(ch, "start_wait")) *
						    100);
			else if (!strcmp(jstr(ch, "mark"), "slow wire"))
				doctor_note(
					d, DOCTOR_WARN, "worker", jstr(ch, "face"),
					"see the speed and errors of its link: trib watch",
					"slow wire in tree %u: the others waited %.0f%% of the time",
					(unsigned int)jnum(t, "id"),
					json_number_value(json_object_get(ch, "data_wait")) * 100);
		}
	}
	json_decref(r);
}

/*
 * Meaning of a counter that has grown. DUP, STALE and SEEN are part of normal
 * recovery and left out. @now: report only growth between the two looks,
 * because a probe or a restart leaves a few.
 */
static const struct {
	int stat;
	int state;
	bool now;
	const char *remedy;
} signs[] = {
	{TRIB_DROP_SHORT, DOCTOR_WARN, true,
	 "something sends junk to UDP port 7417: find it with tcpdump"},
	{TRIB_DROP_VERSION, DOCTOR_WARN, false,
	 "update all hosts: one of them speaks another wire version"},
	{TRIB_DROP_TYPE, DOCTOR_WARN, false,
	 "update all hosts: one of them sends types unknown here"},
	{TRIB_DROP_FORMAT, DOCTOR_WARN, false,
	 "a worker uses a value format that is not for such a tree, or a newer one"},
	{TRIB_DROP_MODULE, DOCTOR_FAIL, false,
	 "modprobe trib, then restart tribd: a job's floats are dropped here"},
	{TRIB_DROP_LENGTH, DOCTOR_WARN, true,
	 "a NIC or a sender builds bad packets: switch off its tx offloads"},
	{TRIB_DROP_GSO, DOCTOR_FAIL, false,
	 "ethtool -K DEV tx-udp-segmentation off gso off on the sending device"},
	{TRIB_DROP_FRAGMENT, DOCTOR_FAIL, false,
	 "raise the MTU on the way: packets arrive as IP fragments"},
	{TRIB_DROP_NVAL, DOCTOR_FAIL, false, "start tribd with the same --values everywhere"},
	{TRIB_DROP_TREE, DOCTOR_WARN, false,
	 "a worker uses a tree that this host does not have: trib tree show"},
	{TRIB_DROP_AUTH, DOCTOR_WARN, false,
	 "forged, or the job was made anew: give all hosts the same key, and workers new tickets"},
	{TRIB_DROP_CHILD, DOCTOR_WARN, false,
	 "a worker uses a child index that the tree does not have"},
	{TRIB_DROP_FACE, DOCTOR_WARN, false,
	 "packets come by another port or address than the face says"},
	{TRIB_DROP_EPOCH, DOCTOR_WARN, true, "a worker still sends in an old epoch: restart it"},
	{TRIB_DROP_SCALE, DOCTOR_WARN, false,
	 "workers disagree about a scale: not all run the same program"},
	{TRIB_DROP_MISMATCH, DOCTOR_WARN, false,
	 "workers disagree about a call: not all run the same program"},
	{TRIB_DROP_BUSY, DOCTOR_WARN, true,
	 "CPUs fight for slots: give a job's ports fewer queues"},
	{TRIB_DROP_GROUP, DOCTOR_WARN, false, "a port of the tree is gone: trib face show"},
	{TRIB_DROP_REWRITE, DOCTOR_FAIL, false,
	 "a face of the tree has no MAC address: trib face show"},
	{TRIB_DROP_GROW, DOCTOR_WARN, false,
	 "packets could not grow: see the kernel log for lack of memory"},
	{TRIB_DROP_DELIVER, DOCTOR_WARN, false,
	 "results for ranks that are not attached here: trib tree show"},
	{TRIB_DROP_RING, DOCTOR_WARN, true,
	 "a worker does not read its ring: it is stopped or starved"},
	{TRIB_DROP_HOPS, DOCTOR_WARN, false,
	 "two relays are each other's parent: trib tree show on both"},
	{TRIB_DROP_OPTIONS, DOCTOR_WARN, false,
	 "something on the way adds IP options or extension headers"},
	{TRIB_DROP_MARK, DOCTOR_WARN, false,
	 "a host forges packets with our marks: find it with tcpdump ether src 03:54 or 03:6e"},
	{TRIB_DROP_META, DOCTOR_FAIL, false,
	 "the driver of a NIC has no XDP metadata: use another NIC for this relay"},
};

static const json_t *find(const json_t *list, int id)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		if (jnum(v, "id") == (uint64_t)id)
			return v;
	return NULL;
}

void doctor_counters(struct doctor *d, const json_t *later, double seconds)
{
	bool any = false;
	size_t i;

	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		any |= doctor_counter(d, signs[i].state, signs[i].now, signs[i].remedy,
				      find(d->stats, signs[i].stat), find(later, signs[i].stat),
				      seconds);
	any |= doctor_ndn_counters(d, later, seconds);
	if (!any)
		doctor_note(d, DOCTOR_OK, "counters", "", NULL, "none that means trouble");
}
