/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of trib doctor share. Each doctor_*.c looks at one kind of
 * thing and notes what it finds; doctor.c collects and prints the notes.
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
 * @peer:   --peer: look at the way to this address only, else NULL.
 * @topology: --topology: look at the wiring that this file describes only,
 *          of --host @host, else of the host of our name.
 * @notes:  what was found, in order.
 * @worst:  enum doctor_state of the worst of them.
 * @status: what tribd said; NULL: there is no tribd.
 * @faces:  arrays, as are
 * @jobs:   jobs,
 * @trees:  trees, and
 * @stats:  counters when the examination began.
 * @names:  what the NDN forwarder said; NULL: it is off.
 * @pit:    array of its entries when the examination began.
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
 * doctor_note() - one finding
 * @state:   enum doctor_state.
 * @check:   what was looked at: "kernel", "mtu", ...
 * @subject: of which thing: a face, a tree, ...; "" if there is only one.
 * @remedy:  what to do about it, one line, or NULL.
 */
void doctor_note(struct doctor *d, int state, const char *check,
		 const char *subject, const char *remedy, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));

/* doctor.c: run all checks that @d's options ask for. */
void doctor_examine(struct doctor *d);
/* doctor_note.c: print the findings, each remedy below its finding. */
void doctor_print(const struct doctor *d);

/* Format a remedy into @buf, and return it. */
const char *doctor_text(char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* doctor_host.c: tribd itself, and what it needs of the kernel. */
void doctor_tribd(struct doctor *d);
void doctor_host(struct doctor *d);

/* doctor_face.c: each face: port, XDP, addresses; then the way to it. */
void doctor_faces(struct doctor *d);

/* doctor_wiring.c: a topology's. Returns enum cli_code: can it be read? */
int doctor_wiring(struct doctor *d);

/* doctor_job.c: who has not joined; who is slow or silent between two looks;
 * and counters that mean trouble. */
void doctor_jobs(struct doctor *d);
void doctor_workers(struct doctor *d, json_t *trees, double seconds);
void doctor_counters(struct doctor *d, const json_t *later, double seconds);
/* One of them, at two looks; @now: only if it grows while we look. True if it was
 * noted. */
bool doctor_counter(struct doctor *d, int state, bool now, const char *remedy,
		    const json_t *before, const json_t *stat, double seconds);

/* doctor_claims.c: whose jobs are, for the kernel module; and what of it is
 * wrong, of its list of claims. */
void doctor_claims(struct doctor *d);
void doctor_claims_judge(struct doctor *d, const json_t *claims);

/* doctor_ndn.c: the NDN forwarder; a second later its entries and
 * counters. */
void doctor_ndn(struct doctor *d);
void doctor_entries(struct doctor *d);
bool doctor_ndn_counters(struct doctor *d, const json_t *later, double seconds);

#endif /* TRIB_CLI_DOCTOR_H */
