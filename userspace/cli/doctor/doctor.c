// SPDX-License-Identifier: BSD-2-Clause
/* Owns the order of an examination. */
#include <time.h>

#include "base/clock.h"
#include "cli/netlink/request.h"
#include "cli/netlink/schema.h"
#include "cli/out/out.h"
#include "doctor.h"

/* Least time between two looks at counters and workers. */
#define APART_MS 1000

/* Compare two looks, for findings that one look cannot give. */
static void look_again(struct doctor *d, double since)
{
	double left = APART_MS - (clock_seconds() - since) * 1e3;
	struct timespec ts = {0};
	json_t *stats = NULL, *trees = NULL;

	if (left > 0) {
		ts.tv_sec = (time_t)(left / 1e3);
		ts.tv_nsec = (long)((left - (double)ts.tv_sec * 1e3) * 1e6);
		nanosleep(&ts, NULL);
	}
	if (cli_fetch_all(d->c, TRIB_CMD_STATS_GET, TRIB_A_STAT, &stats) ||
	    cli_fetch_all(d->c, TRIB_CMD_TREE_GET, TRIB_A_TREE, &trees)) {
		doctor_note(d, DOCTOR_FAIL, "tribd", "", NULL, "stopped answering: %s",
			    d->c->error);
		d->c->error[0] = '\0';
	} else {
		doctor_workers(d, trees, clock_seconds() - since);
		doctor_counters(d, stats, clock_seconds() - since);
		doctor_entries(d);
	}
	json_decref(stats);
	json_decref(trees);
}

void doctor_examine(struct doctor *d)
{
	double since = clock_seconds();

	doctor_tribd(d);
	if (!d->peer) {
		doctor_homes(d);
		doctor_host(d);
	}
	doctor_faces(d);
	if (d->peer || !d->status)
		return;
	doctor_jobs(d);
	doctor_peers(d);
	doctor_claims(d);
	doctor_ndn(d);
	look_again(d, since);
}
