// SPDX-License-Identifier: BSD-2-Clause
/* trib doctor: looks for faults that nothing else reports, with remedies. */
#include <string.h>

#include "cli/doctor/doctor.h"
#include "cmd.h"

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
			return cli_usage(d->c, "%s needs %s", words[i], what[i]);
		*to[i] = argv[1];
	}
	if (d->peer && parse_addr(d->peer, addr))
		return cli_error(d->c, "--peer \"%s\" is not an IPv4 or IPv6 address", d->peer);
	if (d->peer && d->topology)
		return cli_usage(d->c, "--peer and --topology exclude each other");
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
		doctor_examine(&d);
	if (!c->json)
		doctor_print(&d);
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
	/* The findings replace an error line. */
	return d.worst == DOCTOR_FAIL ? CLI_ERROR : CLI_OK;
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("", "[--peer ADDR | --topology FILE [--host NAME]]",
		"Find faults on this host, on the path to one address, or in the wiring.",
		cmd_doctor),
};

CLI_OBJECT(doctor, "find faults, and name remedies");
