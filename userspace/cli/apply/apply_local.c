// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib apply --local: the part of trib apply that runs on each host. It reports
 * the host's state, or makes a list of changes, all or none.
 */
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/core/cli.h"
#include "cli/core/plan_file.h"
#include "cli/netlink/request.h"
#include "uapi/trib.h"
#include "apply.h"

#define WORDS_MAX 512

/* MTU of each device. */
static json_t *devices(void)
{
	struct if_nameindex *all = if_nameindex(), *i;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	json_t *list = json_object();
	struct ifreq r;

	for (i = all; i && i->if_name; i++) {
		memset(&r, 0, sizeof(r));
		snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", i->if_name);
		if (ioctl(fd, SIOCGIFMTU, &r))
			r.ifr_mtu = 0;
		json_object_set_new(list, i->if_name, json_integer(r.ifr_mtu));
	}
	if (fd >= 0)
		close(fd);
	if (all)
		if_freenameindex(all);
	return list;
}

static int look_tribd(struct cli *c)
{
	json_t *status = NULL, *faces = NULL, *jobs = NULL, *trees = NULL;
	int err = cli_fetch_one(c, TRIB_CMD_STATUS_GET, TRIB_A_STATUS, &status);

	if (!err)
		err = cli_fetch_all(c, TRIB_CMD_FACE_GET, TRIB_A_FACE, &faces);
	if (!err)
		err = cli_fetch_all(c, TRIB_CMD_JOB_GET, TRIB_A_JOB, &jobs);
	if (!err)
		err = cli_fetch_all(c, TRIB_CMD_TREE_GET, TRIB_A_TREE, &trees);
	if (!err)
		c->result = json_pack("{s:O, s:O, s:O, s:O, s:o}", "status", status, "faces", faces,
				      "jobs", jobs, "trees", trees, "devices", devices());
	json_decref(status);
	json_decref(faces);
	json_decref(jobs);
	json_decref(trees);
	return err;
}

static int look(struct cli *c, const json_t *what)
{
	json_t *ps;

	if (look_tribd(c)) {
		if (!json_is_false(json_object_get(what, "tribd")))
			return CLI_ERROR;
		c->error[0] = '\0';
		c->result = json_object();
	}
	if (!json_is_true(json_object_get(what, "ps")))
		return CLI_OK;
	ps = apply_ps_look(c);
	if (!ps)
		return CLI_ERROR;
	json_object_set_new(c->result, "ps", ps);
	return CLI_OK;
}

/* Run one command; only face, job, tree and ps are allowed. */
static int run(struct cli *c, const json_t *words)
{
	static const char *const objects[] = {"face", "job", "tree"};
	char *argv[WORDS_MAX];
	size_t n = json_array_size(words), i, k;
	int err;

	if (!strcmp(json_string_value(json_array_get(words, 0)) ?: "", "ps"))
		return apply_ps_run(c, words);
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
	err = c->run(c, (int)n, argv);
	json_decref(c->result);
	c->result = NULL;
	return err;
}

/* Undo the first @n steps, the last one first. */
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
			return cli_error(c, "%.400s; and not undone: %.400s", why, c->error);
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
	/* Once begun, the list is done or undone even if the caller dies. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	c->json = c->batch = true;
	list = json_object_get(request, "do");
	if (json_is_true(json_object_get(request, "look")))
		err = look(c, request);
	else if (json_is_array(list))
		err = change(c, list);
	else
		err = cli_error(c, "neither \"look\" nor \"do\"");
	json_decref(request);
	return err;
}
