/* SPDX-License-Identifier: BSD-2-Clause */
/* The planner's files on a command line. All return enum cli_code. */
#ifndef TRIB_CLI_PLAN_FILE_H
#define TRIB_CLI_PLAN_FILE_H

#include "plan/plan.h"
#include "cli.h"

/* Read a whole file, which the caller frees; "-" is standard input. */
int plan_file_read(struct cli *c, const char *name, char **text, size_t *len);
int plan_file_topology(struct cli *c, const char *name, struct plan_topology **topo);
int plan_file_plan(struct cli *c, const char *name, json_t **plan);

#endif /* TRIB_CLI_PLAN_FILE_H */
