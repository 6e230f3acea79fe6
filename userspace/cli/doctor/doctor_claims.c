// SPDX-License-Identifier: BSD-2-Clause
/* trib doctor: compares owners of jobs with the claims of the kernel module. */
#include <stdio.h>
#include <unistd.h>

#include "cli/netlink/family.h"
#include "doctor.h"

static const json_t *claim_of(const json_t *claims, uint64_t job)
{
	const json_t *claim;
	size_t i;

	json_array_foreach(claims, i, claim)
		if (jnum(claim, "job") == job)
			return claim;
	return NULL;
}

void doctor_claims_judge(struct doctor *d, const json_t *claims)
{
	char remedy[160], user[64];
	const json_t *job, *claim;
	unsigned int bad = 0;
	size_t i;

	json_array_foreach(d->jobs, i, job) {
		claim = claim_of(claims, jnum(job, "id"));
		if (claim && jnum(claim, "uid") == jnum(job, "owner"))
			continue;
		bad++;
		doctor_text(remedy, sizeof(remedy), "trib module claim add %s %llu",
			    jstr(job, "name"), (unsigned long long)jnum(job, "owner"));
		if (!claim) {
			doctor_note(
				d, DOCTOR_WARN, "claim", jstr(job, "name"), remedy,
				"not claimed for its owner: sockets of any user who has a place in it may join");
			continue;
		}
		out_user((uint32_t)jnum(claim, "uid"), user, sizeof(user));
		doctor_note(d, DOCTOR_WARN, "claim", jstr(job, "name"), remedy,
			    "claimed for %s, who is not its owner", user);
	}
	if (!bad && json_array_size(d->jobs))
		doctor_note(d, DOCTOR_OK, "claim", "", NULL,
			    "all jobs are claimed for their owners");
}

void doctor_claims(struct doctor *d)
{
	json_t *claims;

	/* A request would load the module. */
	if (access("/sys/module/trib", F_OK))
		return;
	if (family_ask(d->c, TRIB_CMD_CLAIM_GET, NLM_F_DUMP, TRIB_A_CLAIM, &claims)) {
		doctor_note(d, DOCTOR_WARN, "claim", "",
			    "load the trib.ko that belongs to this trib",
			    "the kernel module does not list claims: %s", d->c->error);
		d->c->error[0] = '\0';
		return;
	}
	doctor_claims_judge(d, claims);
	json_decref(claims);
}
