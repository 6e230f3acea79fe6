/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trib doctor: each doctor_*.c checks one kind of thing and notes its findings.
 * doctor.c runs the checks in order.
 */
#ifndef TRIB_CLI_DOCTOR_H
#define TRIB_CLI_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <jansson.h>

#include "cli/core/cli.h"
#include "cli/netlink/request.h"
#include "cli/out/out.h"
#include "cli/parse/parse.h"
#include "uapi/trib.h"
#include "uapi/trib_wire.h"

enum doctor_state { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL };

/**
 * struct doctor - one examination
 * @c:      for requests to tribd.
 * @peer:   --peer: check only the path to this address; else NULL.
 * @topology: --topology: check only the wiring that this file describes.
 * @host:   --host: name in @topology; NULL: our host name.
 * @notes:  array of findings, in order.
 * @worst:  enum doctor_state of the worst finding.
 * @status: status of tribd; NULL without tribd.
 * @faces, @jobs, @trees, @stats, @pit: arrays of objects at the first look.
 * @ndn:    the NDN forwarder; NULL if it is off.
 */
struct doctor {
	struct cli *c;
	const char *peer;
	const char *topology;
	const char *host;
	json_t *notes;
	int worst;
	json_t *status;
	json_t *faces;
	json_t *jobs;
	json_t *trees;
	json_t *stats;
	json_t *ndn;
	json_t *pit;
};

/**
 * doctor_note() - append a finding
 * @state:   enum doctor_state.
 * @check:   the check: "kernel", "mtu", ...
 * @subject: name of the face, tree, ...; "" if there is only one.
 * @remedy:  advice in one line, or NULL.
 */
void doctor_note(struct doctor *d, int state, const char *check, const char *subject,
		 const char *remedy, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* doctor.c: run all checks that @d's options ask for. */
void doctor_examine(struct doctor *d);
/* doctor_note.c: print the findings, each remedy below its finding. */
void doctor_print(const struct doctor *d);

/*
 * Note a counter that has grown; with @now only if it grows between the two
 * looks. True if it was noted.
 */
bool doctor_counter(struct doctor *d, int state, bool now, const char *remedy, const json_t *before,
		    const json_t *stat, double seconds);

/* Format a remedy into @buf, and return it. */
const char *doctor_text(char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* doctor_host.c: check tribd, and the kernel for its needs. */
void doctor_tribd(struct doctor *d);
void doctor_host(struct doctor *d);

/* doctor_home.c: find who has tribd's addresses. */
void doctor_homes(struct doctor *d);

/*
 * doctor_face.c: check the port, XDP and addresses of each face, then the path
 * to its peer.
 */
void doctor_faces(struct doctor *d);

/*
 * doctor_wiring.c: check the wiring of a topology. Returns enum cli_code for
 * the file.
 */
int doctor_wiring(struct doctor *d);

/*
 * doctor_job.c: find children that have not joined, children that are slow or
 * silent between two looks, and counters that mean trouble.
 */
void doctor_jobs(struct doctor *d);
void doctor_workers(struct doctor *d, json_t *trees, double seconds);
void doctor_counters(struct doctor *d, const json_t *later, double seconds);

/*
 * doctor_peers.c: check the way of jobs whose ranks exchange without relays.
 */
void doctor_peers(struct doctor *d);

/*
 * doctor_claims.c: fetch the module's claims, and compare them with the jobs.
 */
void doctor_claims(struct doctor *d);
void doctor_claims_judge(struct doctor *d, const json_t *claims);

/*
 * doctor_ndn.c: check the NDN forwarder, and at the second look its PIT entries
 * and counters.
 */
void doctor_ndn(struct doctor *d);
void doctor_entries(struct doctor *d);
bool doctor_ndn_counters(struct doctor *d, const json_t *later, double seconds);

#endif /* TRIB_CLI_DOCTOR_H */
