// SPDX-License-Identifier: BSD-2-Clause
/* trib stats: counters of the data plane, with explanations. */
#include <stdio.h>
#include <string.h>

#include "cli/object/ndn.h"
#include "cmd.h"

static const struct out_col table[] = {
	{.title = "counter", .key = "name"},
	{.key = "value", .right = true},
	{.title = "meaning", .key = "text"},
};
#define NCOLS (sizeof(table) / sizeof(table[0]))

/* Text output leaves out zeros; JSON has every counter. */
static int stats_show(struct cli *c, int argc, char **argv)
{
	bool all = argc > 0 && !strcmp(argv[0], "all");
	json_t *stats, *ndn;
	size_t i;
	int err;

	err = cli_no_args(c, argc - all, argv + all);
	if (err)
		return err;
	err = cli_fetch_all(c, TRIB_CMD_STATS_GET, TRIB_A_STAT, &stats);
	if (err)
		return err;
	for (i = json_array_size(stats); !all && !c->json && i-- > 0;)
		if (!jnum(json_array_get(stats, i), "value"))
			json_array_remove(stats, i);
	if (c->json)
		return out_table(c, stats, table, NCOLS);
	ndn = ndn_take_stats(stats);
	out_print_table(stdout, "", stats, table, NCOLS);
	if (json_array_size(ndn)) {
		printf("\nNDN forwarder\n");
		out_print_table(stdout, "", ndn, table, NCOLS);
	}
	json_decref(ndn);
	json_decref(stats);
	return CLI_OK;
}

static int stats_reset(struct cli *c, int argc, char **argv)
{
	struct nl_msg *msg;
	int err;

	err = cli_no_args(c, argc, argv);
	if (err)
		return err;
	msg = cli_message(c, TRIB_CMD_STATS_RESET, NLM_F_ACK);
	err = msg ? cli_change(c, msg) : CLI_ERROR;
	return err ? err : out_done(c);
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("show", "[all]", "Show the counters that are not zero, or all (-j: always all).",
		stats_show),
	CLI_CMD("reset", "", "Set all counters to zero.", stats_reset),
};

CLI_OBJECT(stats, "counters of the data plane");
