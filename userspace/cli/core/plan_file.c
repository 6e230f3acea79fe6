// SPDX-License-Identifier: BSD-2-Clause
/* Owns reading the planner's files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "plan_file.h"

int plan_file_read(struct cli *c, const char *name, char **text, size_t *len)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "re") : stdin;
	size_t room = 65536, n;
	char *buf = NULL, *more;
	int err = 0;

	*len = 0;
	if (!f)
		return cli_error(c, "cannot open \"%s\": %s", name, strerror(errno));
	for (;;) {
		more = realloc(buf, room);
		if (!more) {
			err = cli_error(c, "out of memory");
			break;
		}
		buf = more;
		n = fread(buf + *len, 1, room - *len, f);
		*len += n;
		if (ferror(f))
			err = cli_error(c, "%s: %s", name, strerror(errno));
		else if (*len > PLAN_TEXT_MAX)
			err = cli_error(c, "%s: more than %u bytes", name, PLAN_TEXT_MAX);
		if (err || *len < room)
			break;
		room *= 2;
	}
	if (f != stdin)
		fclose(f);
	if (err) {
		free(buf);
		buf = NULL;
	}
	*text = buf;
	return err;
}

int plan_file_topology(struct cli *c, const char *name, struct plan_topology **topo)
{
	struct plan_error e;
	size_t len;
	char *text;
	int err = plan_file_read(c, name, &text, &len);

	if (err && strchr(name, ':') && access(name, F_OK))
		return cli_error(c, "no file \"%s\": for a topology of that name use --builtin %s",
				 name, name);
	if (err)
		return err;
	if (plan_topology_parse(topo, name, text, len, &e))
		err = cli_error(c, "%s", e.text);
	free(text);
	return err;
}

int plan_file_plan(struct cli *c, const char *name, json_t **plan)
{
	struct plan_error e;
	size_t len;
	char *text;
	int err = plan_file_read(c, name, &text, &len);

	if (err)
		return err;
	if (plan_read(plan, name, text, len, &e))
		err = cli_error(c, "%s", e.text);
	free(text);
	return err;
}
