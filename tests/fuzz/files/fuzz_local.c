// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib apply --local: what a host of a plan is told. It runs no command but those on
 * faces, jobs and trees, and touches no file but a job's in trib-ps's folder; after a
 * step that fails, the steps before it are undone, the last one first.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "mutate.h"

/* The code under test, without its effects on this process and machine. */
#define signal(number, handler) ((void)(handler))
#define unlink fuzz_unlink
#define rename fuzz_rename
#define open(...) fuzz_open(__VA_ARGS__)
#define flock fuzz_flock
static int fuzz_unlink(const char *path);
static int fuzz_rename(const char *from, const char *to);
static int fuzz_flock(int fd, int how);
static int fuzz_open(const char *path, ...);
#include "cli/apply/apply_ps_local.c"
#include "cli/apply/apply_local.c"
#undef open
#undef unlink
#undef rename

#define FOLDER "/nowhere/jobs"

const size_t mutate_from;

static const uint8_t *input;
static size_t input_len;
static unsigned int calls, failing;

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "local: %s\n", what);
	abort();
}

/* --- the rest of trib */

int plan_file_read(struct cli *c, const char *name, char **text, size_t *len)
{
	must(!strcmp(name, "-"), "another file than standard input");
	(void)c;
	*text = malloc(input_len + 1);
	must(*text != NULL, "memory");
	memcpy(*text, input, input_len);
	*len = input_len;
	return 0;
}

int cli_fetch_one(struct cli *c, int cmd, int top, json_t **out)
{
	(void)c;
	(void)cmd;
	(void)top;
	*out = json_object();
	return 0;
}

int cli_fetch_all(struct cli *c, int cmd, int top, json_t **out)
{
	(void)c;
	(void)cmd;
	(void)top;
	*out = json_array();
	return 0;
}

static int run_command(struct cli *c, int argc, char **argv)
{
	must(argc >= 2 && (!strcmp(argv[0], "face") || !strcmp(argv[0], "job") ||
			   !strcmp(argv[0], "tree")),
	     "a command that is not apply's");
	for (int i = 0; i < argc; i++)
		must(argv[i] != NULL, "a word is missing");
	return ++calls == failing ? cli_error(c, "refused") : 0;
}

/* --- the folder of trib-ps: paths lead into it, and no further */

static void path_holds(const char *path)
{
	must(!strncmp(path, FOLDER "/", sizeof(FOLDER)), "a path outside of the folder");
	must(!strchr(path + sizeof(FOLDER), '/'), "a path below the folder");
}

int __wrap_ps_jobs_dir(char *buf, size_t size);
int __wrap_ps_jobs_dir(char *buf, size_t size)
{
	snprintf(buf, size, FOLDER);
	return 0;
}

static int fuzz_unlink(const char *path)
{
	path_holds(path);
	return 0;
}

static int fuzz_rename(const char *from, const char *to)
{
	path_holds(from);
	path_holds(to);
	return 0;
}

static int fuzz_open(const char *path, ...)
{
	path_holds(path);
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

/* A trib-ps holds the lock. */
static int fuzz_flock(int fd, int how)
{
	(void)fd;
	(void)how;
	errno = EWOULDBLOCK;
	return -1;
}

/* Linked in place of nanosleep(): trib-ps never answers here. */
int __wrap_nanosleep(const struct timespec *t, struct timespec *left);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
	(void)t;
	(void)left;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cli c = {.run = run_command};

	input = data;
	input_len = size;
	calls = 0;
	failing = (unsigned int)size % 8;
	if (apply_local(&c))
		must(*c.error && !strpbrk(c.error, "\r\n\x1b"), "no reason, or not one line");
	else
		must(json_is_object(c.result), "no answer");
	json_decref(c.result);
	return 0;
}
