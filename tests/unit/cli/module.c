/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text about the kernel module: its events (cmd/module_event.c), and findings
 * about claims (doctor_claims.c).
 */
#include <string.h>

#include "cli/cmd/module.h"
#include "cli/doctor/doctor.h"
#include "cli/out/out.h"
#include "tests/lib/tap.h"

#define SOCK(state)                                                                                \
	"\"sock\":{\"job\":7,\"rank\":1,\"world\":4,\"uid\":1000,\"state\":\"" state "\"}"

/* Check the text and the kind of the event @json. */
static void reads(const char *json, const char *text, const char *kind)
{
	json_t *e = json_loads(json, 0, NULL);
	char buf[OUT_CELL];

	expect(e != NULL);
	module_event_text(e, buf, sizeof(buf));
	if (!expect(!strcmp(buf, text)))
		printf("# %s\n", buf);
	module_event_name(e);
	expect(!strcmp(jstr(e, "kind"), kind));
	json_decref(e);
}

static void event__fallbacks_are_counted(void)
{
	reads("{\"kind\":1,\"count\":12}", "12 calls used scalar code: the FPU was in use",
	      "fallback");
}

static void event__says_whose_socket_it_is(void)
{
	reads("{\"kind\":2," SOCK("running") "}", "job 7 rank 1 of 4, uid 1000: joined",
	      "attached");
	reads("{\"kind\":4,\"count\":9," SOCK("running") "}",
	      "job 7 rank 1 of 4, uid 1000: stalled, 9 chunks are without result", "stalled");
}

static void event__tells_leaving_from_ending(void)
{
	reads("{\"kind\":3," SOCK("left") "}", "job 7 rank 1 of 4, uid 1000: left", "gone");
	reads("{\"kind\":3," SOCK("running") "}",
	      "job 7 rank 1 of 4, uid 1000: ended without leaving", "gone");
	reads("{\"kind\":3,\"sock\":{\"job\":7,\"rank\":0,\"world\":2,"
	      "\"state\":\"dead\",\"error\":\"rank 1 gave no sign\"}}",
	      "job 7 rank 0 of 2, uid 0: ended without leaving: rank 1 gave no sign", "gone");
}

static void event__of_a_newer_module_stays_a_number(void)
{
	json_t *e = json_loads("{\"kind\":99}", 0, NULL);
	char buf[OUT_CELL];

	module_event_text(e, buf, sizeof(buf));
	expect(strstr(buf, "99") != NULL);
	module_event_name(e);
	expect_eq(jnum(e, "kind"), 99);
	json_decref(e);
}

/* Findings of doctor for jobs and claims: state and text of the notes. */
static void judged(const char *jobs, const char *claims, size_t n, const char *state,
		   const char *text)
{
	struct doctor d = {
		.jobs = json_loads(jobs, 0, NULL),
		.notes = json_array(),
	};
	json_t *list = json_loads(claims, 0, NULL), *note;

	doctor_claims_judge(&d, list);
	expect_eq(json_array_size(d.notes), n);
	note = json_array_get(d.notes, 0);
	if (n) {
		expect(!strcmp(jstr(note, "state"), state));
		if (!expect(strstr(jstr(note, "text"), text) != NULL))
			printf("# %s\n", jstr(note, "text"));
	}
	json_decref(list);
	json_decref(d.jobs);
	json_decref(d.notes);
}

#define JOBS "[{\"name\":\"train\",\"id\":7,\"owner\":1000}]"

static void doctor__jobs_must_be_claimed_for_their_owners(void)
{
	judged(JOBS, "[{\"job\":7,\"uid\":1000}]", 1, "ok", "all jobs");
	judged(JOBS, "[]", 1, "warn", "not claimed");
	judged(JOBS, "[{\"job\":8,\"uid\":1000}]", 1, "warn", "not claimed");
	judged(JOBS, "[{\"job\":7,\"uid\":4242}]", 1, "warn", "claimed for 4242");
}

static void doctor__claims_without_jobs_are_the_operators(void)
{
	judged("[]", "[{\"job\":7,\"uid\":1000}]", 0, NULL, NULL);
}

int main(void)
{
	run(event__fallbacks_are_counted);
	run(event__says_whose_socket_it_is);
	run(event__tells_leaving_from_ending);
	run(event__of_a_newer_module_stays_a_number);
	run(doctor__jobs_must_be_claimed_for_their_owners);
	run(doctor__claims_without_jobs_are_the_operators);
	return tap_done();
}
