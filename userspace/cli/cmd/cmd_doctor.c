// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib doctor: looks for what silently kills such systems, and says what to do
 * about it. Owns the order of the examination and how findings are shown.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/doctor/doctor.h"
#include "cli/core/schema.h"

/* Counters and workers are looked at twice, this far apart at least. */
#define APART_MS 1000

static const char *const states[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_WARN] = "warn",
	[DOCTOR_FAIL] = "fail",
};

const char *doctor_text(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return buf;
}

void doctor_note(struct doctor *d, int state, const char *check,
		 const char *subject, const char *remedy, const char *fmt, ...)
{
	char text[OUT_CELL];
	va_list ap;
	json_t *note;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	note = json_pack("{s:s, s:s, s:o, s:o}", "state", states[state],
			 "check", check, "subject",
			 schema_string(subject, strlen(subject)), "text",
			 schema_string(text, strlen(text)));
	if (remedy)
		json_object_set_new(note, "remedy",
				    schema_string(remedy, strlen(remedy)));
	json_array_append_new(d->notes, note);
	if (state > d->worst)
		d->worst = state;
}

/* Aligned by hand: remedies go below what they cure. */
static void print_notes(const struct doctor *d)
{
	const json_t *note;
	char what[160];
	int width = 0, count[3] = {0}, n;
	size_t i, k;

	json_array_foreach(d->notes, i, note) {
		n = (int)(strlen(jstr(note, "check")) +
			  strlen(jstr(note, "subject")) + 1);
		if (n > width && n < (int)sizeof(what))
			width = n;
	}
	json_array_foreach(d->notes, i, note) {
		snprintf(what, sizeof(what), "%s %s", jstr(note, "check"),
			 jstr(note, "subject"));
		printf("%-4s  %-*s  %s\n", jstr(note, "state"), width, what,
		       jstr(note, "text"));
		if (json_object_get(note, "remedy"))
			printf("      %-*s  -> %s\n", width, "",
			       jstr(note, "remedy"));
		for (k = 0; k < 3; k++)
			count[k] += !strcmp(jstr(note, "state"), states[k]);
	}
	printf("\n%d ok, %d warnings, %d failures\n", count[DOCTOR_OK],
	       count[DOCTOR_WARN], count[DOCTOR_FAIL]);
}

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* What can be told only from two looks. */
static void look_again(struct doctor *d, double since)
{
	double left = APART_MS - (now_ms() - since);
	struct timespec ts = {0};
	json_t *stats = NULL, *trees = NULL;

	if (left > 0) {
		ts.tv_sec = (time_t)(left / 1e3);
		ts.tv_nsec = (long)((left - (double)ts.tv_sec * 1e3) * 1e6);
		nanosleep(&ts, NULL);
	}
	if (cli_fetch_all(d->c, TRIB_CMD_STATS_GET, TRIB_A_STAT, &stats) ||
	    cli_fetch_all(d->c, TRIB_CMD_TREE_GET, TRIB_A_TREE, &trees)) {
		doctor_note(d, DOCTOR_FAIL, "tribd", "", NULL,
			    "stopped answering: %s", d->c->error);
		d->c->error[0] = '\0';
	} else {
		doctor_workers(d, trees, (now_ms() - since) / 1e3);
		doctor_counters(d, stats, (now_ms() - since) / 1e3);
		doctor_entries(d);
	}
	json_decref(stats);
	json_decref(trees);
}

static void examine(struct doctor *d)
{
	double since = now_ms();

	doctor_tribd(d);
	if (!d->peer)
		doctor_host(d);
	doctor_faces(d);
	if (d->peer || !d->status)
		return;
	doctor_jobs(d);
	doctor_claims(d);
	doctor_ndn(d);
	look_again(d, since);
}

static int arguments(struct doctor *d, int argc, char **argv)
{
	static const char *const words[] = {"--peer", "--topology", "--host"};
	const char **to[] = {&d->peer, &d->topology, &d->host};
	static const char *const what[] = {"ADDR", "FILE", "NAME"};
	uint8_t addr[16];
	int i;

	for (; argc > 0; argc -= 2, argv += 2) {
		for (i = 0; i < 3 && strcmp(argv[0], words[i]); i++)
			;
		if (i == 3)
			return cli_no_args(d->c, argc, argv);
		if (argc < 2)
			return cli_usage(d->c, "%s needs %s", words[i],
					 what[i]);
		*to[i] = argv[1];
	}
	if (d->peer && parse_addr(d->peer, addr))
		return cli_error(d->c,
				 "--peer \"%s\" is not an IPv4 or IPv6 address",
				 d->peer);
	if (d->peer && d->topology)
		return cli_usage(d->c,
				 "--peer and --topology exclude each other");
	if (d->host && !d->topology)
		return cli_usage(d->c, "--host needs --topology FILE");
	return CLI_OK;
}

static int cmd_doctor(struct cli *c, int argc, char **argv)
{
	struct doctor d = {.c = c, .notes = json_array()};
	int err;

	err = arguments(&d, argc, argv);
	if (!err && d.topology)
		err = doctor_wiring(&d);
	if (err) {
		json_decref(d.notes);
		return err;
	}
	if (!d.topology)
		examine(&d);
	if (!c->json)
		print_notes(&d);
	json_decref(d.status);
	json_decref(d.faces);
	json_decref(d.jobs);
	json_decref(d.trees);
	json_decref(d.stats);
	json_decref(d.ndn);
	json_decref(d.pit);
	json_decref(c->result);
	c->result = NULL;
	if (c->json)
		c->result = d.notes;
	else
		json_decref(d.notes);
	/* The findings say it all: no error line besides. */
	return d.worst == DOCTOR_FAIL ? CLI_ERROR : CLI_OK;
}

static const struct cli_cmd cmds[] = {
	{"", "[--peer ADDR | --topology FILE [--host NAME]]",
	 "Look for what is wrong here, on the way to one address, or in the wiring.",
	 cmd_doctor},
};

CLI_OBJECT(doctor, "what is wrong, and what to do about it");
