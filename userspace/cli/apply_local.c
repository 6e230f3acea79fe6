// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib apply --local: the part of trib apply that runs on each host. It says
 * what there is, or makes a list of changes, all or none.
 */
#include <net/if.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "plan_file.h"

#define WORDS_MAX 512

static json_t *devices(void)
{
	struct if_nameindex *all = if_nameindex(), *i;
	json_t *list = json_array();

	for (i = all; i && i->if_name; i++)
		json_array_append_new(list, schema_string(i->if_name,
							  strlen(i->if_name)));
	if (all)
		if_freenameindex(all);
	return list;
}

static int look(struct cli *c)
{
	struct nl_msg *msg = cli_message(c, TRIB_CMD_STATUS_GET, 0);
	json_t *status = NULL, *faces = NULL, *jobs = NULL, *trees = NULL;
	int err = msg ? cli_fetch(c, msg, TRIB_A_STATUS, &status) : CLI_ERROR;

	if (!err)
		err = cli_fetch_all(c, TRIB_CMD_FACE_GET, TRIB_A_FACE, &faces);
	if (!err)
		err = cli_fetch_all(c, TRIB_CMD_JOB_GET, TRIB_A_JOB, &jobs);
	if (!err)
		err = cli_fetch_all(c, TRIB_CMD_TREE_GET, TRIB_A_TREE, &trees);
	if (!err)
		c->result = json_pack("{s:O, s:O, s:O, s:O, s:o}", "status",
				      json_array_get(status, 0), "faces", faces,
				      "jobs", jobs, "trees", trees, "devices",
				      devices());
	json_decref(status);
	json_decref(faces);
	json_decref(jobs);
	json_decref(trees);
	return err;
}

/* One command; only what changes faces, jobs and trees is taken. */
static int run(struct cli *c, const json_t *words)
{
	static const char *const objects[] = {"face", "job", "tree"};
	char *argv[WORDS_MAX];
	size_t n = json_array_size(words), i, k;
	int err;

	if (n < 2 || n > WORDS_MAX)
		return cli_error(c, "a command of %zu words", n);
	for (i = 0; i < n; i++) {
		argv[i] = (char *)json_string_value(json_array_get(words, i));
		if (!argv[i])
			return cli_error(c, "a word that is not text");
	}
	for (k = 0; k < 3 && strcmp(objects[k], argv[0]);)
		k++;
	if (k == 3)
		return cli_error(c, "\"%s\" is not for apply", argv[0]);
	err = cli_run(c, (int)n, argv);
	json_decref(c->result);
	c->result = NULL;
	return err;
}

/* Those before @n, the last one first. */
static int take_back(struct cli *c, const json_t *list, size_t n)
{
	const json_t *words;
	int bad = 0;

	while (n--) {
		words = json_object_get(json_array_get(list, n), "undo");
		if (json_array_size(words))
			bad |= run(c, words);
	}
	return bad;
}

static int change(struct cli *c, const json_t *list)
{
	char why[sizeof(c->error)];
	const json_t *step;
	size_t i;

	json_array_foreach(list, i, step) {
		if (!run(c, json_object_get(step, "run")))
			continue;
		memcpy(why, c->error, sizeof(why));
		if (take_back(c, list, i))
			return cli_error(c, "%.400s; and not undone: %.400s",
					 why, c->error);
		return cli_error(c, "%s", why);
	}
	c->error[0] = '\0';
	c->result = json_object();
	return CLI_OK;
}

int apply_local(struct cli *c)
{
	json_t *request, *list;
	size_t len;
	char *text;
	int err = plan_file_read(c, "-", &text, &len);

	if (err)
		return err;
	request = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	if (!request)
		return cli_error(c, "standard input is not JSON");
	/* Once begun it is done or undone, whatever becomes of the caller. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	c->json = c->batch = true;
	list = json_object_get(request, "do");
	if (json_is_true(json_object_get(request, "look")))
		err = look(c);
	else if (json_is_array(list))
		err = change(c, list);
	else
		err = cli_error(c, "neither \"look\" nor \"do\"");
	json_decref(request);
	return err;
}
