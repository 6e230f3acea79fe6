// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib apply --local on the host of a trib-ps: reads and writes the files of
 * its jobs. A file is written under another name and renamed; trib-ps reports
 * the result in its status file.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/ps_folder.h"
#include "apply.h"

#define VERDICT_MS 5000
#define LOOK_MS 10

struct folder {
	char dir[128];
	char path[PATH_MAX], next[PATH_MAX];
};

static bool name_ok(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && n < NAME_MAX - 8 && *name != '.' && !strchr(name, '/') &&
	       !strcmp(name + n - 5, ".json");
}

static const char *path_of(struct folder *f, const char *name)
{
	snprintf(f->path, sizeof(f->path), "%s/%s", f->dir, name);
	return f->path;
}

/* True if a trib-ps holds the lock of the folder. */
static bool is_alive(struct folder *f)
{
	int fd = open(path_of(f, PS_LOCK_FILE), O_RDONLY | O_CLOEXEC);
	bool held;

	if (fd < 0)
		return false;
	held = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return held;
}

static json_t *read_files(struct folder *f)
{
	json_t *files = json_object(), *doc;
	DIR *d = opendir(f->dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (!name_ok(e->d_name))
			continue;
		/* trib-ps reports files that are not JSON. */
		doc = json_load_file(path_of(f, e->d_name), 0, NULL);
		if (doc)
			json_object_set_new(files, e->d_name, doc);
	}
	if (d)
		closedir(d);
	return files;
}

json_t *apply_ps_look(struct cli *c)
{
	json_t *status, *listen;
	struct folder f;

	if (ps_jobs_dir(f.dir, sizeof(f.dir))) {
		cli_error(c, "/proc/self/ns/net: %s", strerror(errno));
		return NULL;
	}
	status = json_load_file(path_of(&f, PS_STATUS_FILE), 0, NULL);
	listen = json_object_get(status, "listen");
	listen = json_pack("{s:s, s:b, s:s, s:o}", "dir", f.dir, "alive", is_alive(&f), "listen",
			   json_string_value(listen) ?: "", "files", read_files(&f));
	json_decref(status);
	return listen;
}

static int write_file(struct cli *c, struct folder *f, const char *name, const char *text)
{
	size_t len = strlen(text);
	int fd, err = 0;

	snprintf(f->next, sizeof(f->next), "%s/.%s.new", f->dir, name);
	fd = open(f->next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, len) != (ssize_t)len || fsync(fd))
		err = errno ? errno : EIO;
	if (fd >= 0)
		close(fd);
	if (!err && rename(f->next, path_of(f, name)))
		err = errno;
	return err ? cli_error(c, "%s/%s: %s", f->dir, name, strerror(err)) : 0;
}

/* Wait until trib-ps has read @text (NULL: has seen that the file is gone). */
static int wait_verdict(struct cli *c, struct folder *f, const char *name, const char *text)
{
	const struct timespec nap = {.tv_nsec = LOOK_MS * 1000000};
	char want[20] = "", why[400] = "";
	bool done = false;
	json_t *status;
	int ms;

	if (text)
		snprintf(want, sizeof(want), "%016" PRIx64, ps_digest(text, strlen(text)));
	for (ms = 0; !done && ms < VERDICT_MS; ms += LOOK_MS) {
		const json_t *file;

		status = json_load_file(path_of(f, PS_STATUS_FILE), 0, NULL);
		file = json_object_get(json_object_get(status, "files"), name);
		done = status && !strcmp(jstr(file, "digest"), want);
		snprintf(why, sizeof(why), "%s", jstr(file, "error"));
		json_decref(status);
		if (!done)
			nanosleep(&nap, NULL);
	}
	if (!done)
		return cli_error(c, "trib-ps does not take %s/%s", f->dir, name);
	return *why ? cli_error(c, "trib-ps: %s", why) : 0;
}

static int put(struct cli *c, struct folder *f, const char *name, const char *text)
{
	json_t *old = json_load_file(path_of(f, name), 0, NULL);
	char why[sizeof(c->error)];
	int err = write_file(c, f, name, text);
	char *before;

	if (!err)
		err = wait_verdict(c, f, name, text);
	if (err) {
		memcpy(why, c->error, sizeof(why));
		before = old ? json_dumps(old, JSON_INDENT(1)) : NULL;
		if (!before)
			unlink(path_of(f, name));
		else
			write_file(c, f, name, before);
		free(before);
		cli_error(c, "%s", why);
	}
	json_decref(old);
	return err;
}

int apply_ps_run(struct cli *c, const json_t *words)
{
	const char *what = json_string_value(json_array_get(words, 1));
	const char *name = json_string_value(json_array_get(words, 2));
	const char *text = json_string_value(json_array_get(words, 3));
	struct folder f;

	if (!what || !name || !name_ok(name))
		return cli_error(c, "ps: not a job's file");
	if (ps_jobs_dir(f.dir, sizeof(f.dir)))
		return cli_error(c, "/proc/self/ns/net: %s", strerror(errno));
	if (!is_alive(&f))
		return cli_error(c, "no trib-ps has its jobs from %s", f.dir);
	if (!strcmp(what, "put") && text && strlen(text) <= PS_JOB_FILE_MAX)
		return put(c, &f, name, text);
	if (strcmp(what, "del"))
		return cli_error(c, "ps: \"%s\" is not for apply", what);
	if (unlink(path_of(&f, name)) && errno != ENOENT)
		return cli_error(c, "%s: %s", f.path, strerror(errno));
	return wait_verdict(c, &f, name, NULL);
}
