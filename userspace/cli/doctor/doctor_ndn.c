// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib doctor: checks the NDN forwarder: faces and routes that lead nowhere,
 * PIT entries that upstream does not acknowledge, and counters that mean
 * trouble.
 */
#include <string.h>

#include "cli/object/ndn.h"
#include "doctor.h"

/* Indexed by name of face, entry or counter. */
static const json_t *find(const json_t *list, const char *name)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		if (!strcmp(jstr(v, "name"), name))
			return v;
	return NULL;
}

/* The forwarder may be off unless a face has an NDN role. */
static void check_off(struct doctor *d)
{
	const json_t *f;
	size_t i, n = 0;

	json_array_foreach(d->faces, i, f)
		n += ndn_is_face(f);
	if (n)
		doctor_note(d, DOCTOR_FAIL, "ndn", "", "restart tribd with --ndn 4096",
			    "the NDN forwarder is off, but %zu faces are for it", n);
}

static void check_rights(struct doctor *d, const json_t *f)
{
	char remedy[256];
	const char *name = jstr(f, "name");

	if (json_array_size(json_object_get(f, "ndn_subscribe")) ||
	    json_array_size(json_object_get(f, "ndn_write")))
		return;
	doctor_note(d, DOCTOR_WARN, "ndn", name,
		    doctor_text(remedy, sizeof(remedy),
				"trib face set %s subscribe PREFIX write PREFIX", name),
		    "may neither subscribe nor send Data: what it sends is dropped");
}

/* tribd keeps a route while its face is unusable. */
static void check_route(struct doctor *d, const json_t *route)
{
	const char *prefix = jstr(route, "prefix"), *via = jstr(route, "face");
	const json_t *f = find(d->faces, via);
	char remedy[256];

	if (!f)
		doctor_note(d, DOCTOR_FAIL, "route", prefix,
			    "trib face add, or trib fib add by another one",
			    "leads to face %s, which is gone", via);
	else if (!ndn_is_face(f))
		doctor_note(d, DOCTOR_FAIL, "route", prefix,
			    doctor_text(remedy, sizeof(remedy), "trib face set %s ndn host|router",
					via),
			    "leads to face %s, which is none for names", via);
	else if (!jnum(f, "ifindex"))
		doctor_note(d, DOCTOR_FAIL, "route", prefix,
			    "bring the device back: tribd attaches to it again",
			    "leads to face %s, whose device %s is gone", via, jstr(f, "ifname"));
}

static bool is_pending(const json_t *e)
{
	return e && !strcmp(jstr(e, "state"), "pending");
}

/*
 * An acknowledgement takes less than the second between two looks, and a
 * renewal comes after a quarter of the lease at the latest. So an entry that is
 * PENDING at both looks and was not acknowledged for a lease is stuck.
 */
static void check_entry(struct doctor *d, const json_t *e)
{
	const char *name = jstr(e, "name"), *up = jstr(e, "up");
	bool acked = json_object_get(e, "acked_ms");
	char remedy[256], age[32];

	if (!is_pending(e) || !is_pending(find(d->pit, name)) ||
	    jnum(e, "acked_ms") < (acked ? jnum(d->ndn, "lease_ms") : 0))
		return;
	doctor_text(remedy, sizeof(remedy),
		    "trib doctor on the router or host behind face %s; trib fib show",
		    *up ? up : "up");
	out_ms(jnum(e, "acked_ms"), age, sizeof(age));
	if (acked)
		doctor_note(d, DOCTOR_WARN, "entry", name, remedy,
			    "pending: face %s acknowledged last %s ago", up, age);
	else
		doctor_note(d, DOCTOR_WARN, "entry", name, remedy,
			    "pending: face %s has never acknowledged it", up);
}

void doctor_ndn(struct doctor *d)
{
	const json_t *v;
	size_t i, before = json_array_size(d->notes);
	json_t *routes;

	if (!d->ndn) {
		check_off(d);
		return;
	}
	json_array_foreach(d->faces, i, v)
		if (ndn_is_face(v))
			check_rights(d, v);
	if (cli_fetch_all(d->c, TRIB_CMD_ROUTE_GET, TRIB_A_ROUTE, &routes) ||
	    cli_fetch_all(d->c, TRIB_CMD_PIT_GET, TRIB_A_PIT, &d->pit)) {
		doctor_note(d, DOCTOR_FAIL, "ndn", "", NULL, "answers badly: %s", d->c->error);
		d->c->error[0] = '\0';
		return;
	}
	json_array_foreach(routes, i, v)
		check_route(d, v);
	if (!json_array_size(routes) && json_array_size(d->faces))
		doctor_note(d, DOCTOR_WARN, "ndn", "", "trib fib add PREFIX via FACE",
			    "the NDN forwarder is on, but has no routes");
	json_decref(routes);
	if (jnum(d->ndn, "entries_used") * 10 >= jnum(d->ndn, "entries") * 9)
		doctor_note(d, DOCTOR_WARN, "ndn", "",
			    "tribd --ndn N with a larger N; trib pit show",
			    "%u of %u entries are used", (unsigned int)jnum(d->ndn, "entries_used"),
			    (unsigned int)jnum(d->ndn, "entries"));
	if (json_array_size(d->notes) == before)
		doctor_note(d, DOCTOR_OK, "ndn", "", NULL, "%u routes, %u of %u entries",
			    (unsigned int)jnum(d->ndn, "routes"),
			    (unsigned int)jnum(d->ndn, "entries_used"),
			    (unsigned int)jnum(d->ndn, "entries"));
}

void doctor_entries(struct doctor *d)
{
	const json_t *e;
	json_t *pit;
	size_t i;

	if (!d->ndn)
		return;
	if (cli_fetch_all(d->c, TRIB_CMD_PIT_GET, TRIB_A_PIT, &pit)) {
		d->c->error[0] = '\0';
		return;
	}
	json_array_foreach(pit, i, e)
		check_entry(d, e);
	json_decref(pit);
}

/*
 * Meaning of a counter that has grown, as in doctor_job.c. SEEN, LOOP, PENDING
 * and LEAVING are part of normal recovery and left out.
 */
static const struct {
	const char *stat;
	int state;
	bool now;
	const char *remedy;
} signs[] = {
	{"ndn-drop-face", DOCTOR_WARN, false,
	 "tribd's log says who: trib face add NAME dev IFNAME addr ADDR ndn host"},
	{"ndn-drop-right", DOCTOR_WARN, false,
	 "trib face show NAME says what it may: trib face set NAME subscribe PREFIX write PREFIX"},
	{"ndn-drop-route", DOCTOR_WARN, false,
	 "trib fib add PREFIX via FACE; see what programs ask for"},
	{"ndn-drop-below", DOCTOR_WARN, true,
	 "two routers have each other's routes for a prefix: trib fib show on both"},
	{"ndn-drop-full", DOCTOR_FAIL, false, "tribd --ndn N with a larger N"},
	{"ndn-drop-quota", DOCTOR_WARN, true,
	 "a face floods, or needs more room: trib pit show; trib face set NAME; tribd --ndn N with a larger N"},
	{"ndn-drop-busy", DOCTOR_WARN, true,
	 "CPUs fight for an entry: give the ports of a job fewer queues"},
	{"ndn-drop-upstream", DOCTOR_WARN, true,
	 "two faces send what one job distributes: trib pit show, trib face set NAME write"},
	{"ndn-drop-nonce", DOCTOR_WARN, false,
	 "a program sends Interests without a nonce: update it"},
	{"ndn-drop-fragment", DOCTOR_FAIL, false,
	 "make segments smaller, or raise the MTU on the way"},
	{"ndn-drop-mtu", DOCTOR_FAIL, false,
	 "make segments smaller, or raise the MTU of the port they leave by"},
	{"ndn-drop-port", DOCTOR_WARN, false, "a port of a face is gone: trib face show"},
	{"ndn-drop-head", DOCTOR_FAIL, false,
	 "a driver leaves XDP no room before packets: use another port"},
	{"ndn-drop-offload", DOCTOR_FAIL, false, "ethtool -K DEV tx off on the sending device"},
};

bool doctor_ndn_counters(struct doctor *d, const json_t *later, double seconds)
{
	static const char bad[] = "ndn-bad-";
	bool any = false;
	const json_t *v;
	size_t i;

	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		any |= doctor_counter(d, signs[i].state, signs[i].now, signs[i].remedy,
				      find(d->stats, signs[i].stat), find(later, signs[i].stat),
				      seconds);
	json_array_foreach(later, i, v)
		if (!strncmp(jstr(v, "name"), bad, strlen(bad)))
			any |= doctor_counter(
				d, DOCTOR_WARN, true,
				"a program sends what is not NDN: find it with tcpdump udp port 6363",
				find(d->stats, jstr(v, "name")), v, seconds);
	return any;
}
