// SPDX-License-Identifier: BSD-2-Clause
/* The folder of job files; see jobs.h. */
#include "jobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/host/folder.h"
#include "base/json_write.h"
#include "base/ps_folder.h"
#include "mtu.h"
#include "ps/program/process.h"

#define FILES_MAX PS_TREES_MAX
#define EVENTS (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)

/**
 * struct file - a file that is, or was, in the folder
 * @job:    the job made from it; NULL: it was refused from the start.
 * @digest: of the content read last; @error: why that was refused.
 */
struct file {
	char name[NAME_MAX + 1];
	struct ps_job *job;
	uint64_t digest;
	char error[512];
	bool seen;
};

struct ps_jobs {
	struct ps *ps;
	const char *dir;
	char listen[80];
	bool v4;
	int lock, events;
	unsigned int nfile;
	struct file file[FILES_MAX];
};

/* --- the folder */

static bool is_below_run(const char *path)
{
	size_t n = strlen(PS_RUN_DIR);

	return !strncmp(path, PS_RUN_DIR, n) && (!path[n] || path[n] == '/');
}

/* Nobody else may have made the folder, nor a folder of ours above it. */
static int make_dirs(const char *dir, char *why, size_t size)
{
	char part[PATH_MAX];
	size_t i;
	int err;

	for (i = 1; dir[i] && i + 1 < sizeof(part); i++) {
		if (dir[i] != '/')
			continue;
		memcpy(part, dir, i);
		part[i] = '\0';
		if (!is_below_run(part)) {
			(void)mkdir(part, 0755);
			continue;
		}
		err = folder_own(part, 0755, why, size);
		if (err)
			return err;
	}
	/* Files in it hold keys. */
	return folder_own(dir, 0700, why, size);
}

static int take_lock(struct ps_jobs *j, char *why, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" PS_LOCK_FILE, j->dir);
	j->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (j->lock >= 0 && !flock(j->lock, LOCK_EX | LOCK_NB))
		return 0;
	snprintf(why, size, "%s: %s", path,
		 errno == EWOULDBLOCK ? "another trib-ps uses this folder" : strerror(errno));
	return -EBUSY;
}

static int write_status(const struct ps_jobs *j)
{
	json_t *files = json_object(), *doc;
	char path[PATH_MAX], hex[20];
	unsigned int i;
	int err;

	for (i = 0; i < j->nfile; i++) {
		const struct file *f = &j->file[i];

		snprintf(hex, sizeof(hex), "%016" PRIx64, f->digest);
		json_object_set_new(files, f->name,
				    json_pack("{s:s, s:s}", "digest", hex, "error", f->error));
	}
	doc = json_pack("{s:s, s:i, s:o}", "listen", j->listen, "pid", (int)getpid(), "files",
			files);
	snprintf(path, sizeof(path), "%s/" PS_STATUS_FILE, j->dir);
	err = json_write(AT_FDCWD, path, 0666, doc, false);
	json_decref(doc);
	return err;
}

/* --- files */

static bool is_name(const char *name)
{
	size_t n = strlen(name);

	return *name != '.' && n > 5 && !strcmp(name + n - 5, ".json");
}

/* Read a regular file; the caller frees @text. */
static int job_file_read(const struct ps_jobs *j, const char *name, char **text, size_t *len)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, err;

	snprintf(path, sizeof(path), "%s/%s", j->dir, name);
	/* O_NONBLOCK, in case the file is a FIFO. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	else
		err = file_read_fd(fd, PS_JOB_FILE_MAX, text, len);
	close(fd);
	return err;
}

static struct file *find_file(struct ps_jobs *j, const char *name)
{
	unsigned int i;

	for (i = 0; i < j->nfile; i++)
		if (!strcmp(j->file[i].name, name))
			return &j->file[i];
	if (j->nfile == FILES_MAX)
		return NULL;
	memset(&j->file[j->nfile], 0, sizeof(j->file[0]));
	snprintf(j->file[j->nfile].name, sizeof(j->file[0].name), "%s", name);
	return &j->file[j->nfile++];
}

/* Add, change or drop the PS's job as the file says. */
static void take(struct ps_jobs *j, struct file *f, const char *text, size_t len)
{
	struct ps *next = calloc(1, sizeof(*next));
	int err;

	f->error[0] = '\0';
	if (!next) {
		snprintf(f->error, sizeof(f->error), "out of memory");
		return;
	}
	next->ops = j->ps->ops;
	next->ctx = j->ps->ctx;
	next->everywhere = j->ps->everywhere;
	err = ps_config_text(next, f->name, text, len, j->v4, f->error, sizeof(f->error));
	if (!err)
		err = ps_mtu_check(next, f->error, sizeof(f->error));
	if (!err)
		err = ps_job_put(j->ps, &f->job, next, f->error, sizeof(f->error));
	ps_free(next);
	free(next);
	if (err)
		ps_log("%s/%s refused%s: %s", j->dir, f->name,
		       f->job ? ", its job runs on unchanged" : "", f->error);
	else
		ps_log("%s/%s: job %u", j->dir, f->name, f->job->number);
}

/* Return: whether anything has changed. */
static bool look_at(struct ps_jobs *j, const char *name)
{
	struct file *f = find_file(j, name);
	uint64_t digest;
	size_t len;
	char *text;
	int err;

	if (!f) {
		ps_log("%s/%s: more than %d files", j->dir, name, FILES_MAX);
		return false;
	}
	f->seen = true;
	err = job_file_read(j, name, &text, &len);
	if (err) {
		snprintf(f->error, sizeof(f->error), "cannot be read: %s", strerror(-err));
		f->digest = 0;
		return true;
	}
	digest = ps_digest(text, len);
	if (f->digest != digest) {
		f->digest = digest;
		take(j, f, text, len);
		free(text);
		return true;
	}
	free(text);
	return false;
}

static bool forget_gone(struct ps_jobs *j)
{
	bool changed = false;
	unsigned int i = 0;

	while (i < j->nfile) {
		struct file *f = &j->file[i];

		if (f->seen) {
			i++;
			continue;
		}
		changed = true;
		ps_log("%s/%s is gone", j->dir, f->name);
		if (f->job)
			ps_job_drop(j->ps, f->job);
		*f = j->file[--j->nfile];
	}
	return changed;
}

static int visible(const struct dirent *e)
{
	return is_name(e->d_name);
}

static void scan(struct ps_jobs *j, bool fresh)
{
	struct dirent **list = NULL;
	int n = scandir(j->dir, &list, visible, alphasort), i;
	unsigned int k;
	bool changed = fresh;

	if (n < 0) {
		ps_log("%s: %s", j->dir, strerror(errno));
		return;
	}
	for (k = 0; k < j->nfile; k++)
		j->file[k].seen = false;
	for (i = 0; i < n; i++)
		for (k = 0; k < j->nfile; k++)
			j->file[k].seen |= !strcmp(j->file[k].name, list[i]->d_name);
	/* Drop jobs first: that may make room for new ones. */
	changed |= forget_gone(j);
	for (i = 0; i < n; i++) {
		changed |= look_at(j, list[i]->d_name);
		free(list[i]);
	}
	free(list);
	if (!changed)
		return;
	if (!fresh)
		j->ps->ops->save(j->ps->ctx);
	i = write_status(j);
	if (i)
		ps_log("%s/" PS_STATUS_FILE ": %s", j->dir, strerror(-i));
}

/* trib-ps's own files also change in the folder. */
static bool is_news(const char *buf, size_t len)
{
	const struct inotify_event *e;
	size_t at;

	for (at = 0; at < len; at += sizeof(*e) + e->len) {
		e = (const void *)(buf + at);
		if (!e->len || is_name(e->name))
			return true;
	}
	return false;
}

void ps_jobs_turn(struct ps_jobs *j)
{
	char buf[16384] __attribute__((aligned(8)));
	bool news = false;
	ssize_t n;

	while ((n = read(j->events, buf, sizeof(buf))) > 0)
		news |= is_news(buf, (size_t)n);
	if (news)
		scan(j, false);
}

/* --- opening and closing */

int ps_jobs_open(struct ps_jobs **out, struct ps *ps, const char *dir, bool v4, const char *listen,
		 char *why, size_t size)
{
	struct ps_jobs *j = calloc(1, sizeof(*j));
	int err;

	if (!j) {
		snprintf(why, size, "out of memory");
		return -ENOMEM;
	}
	j->ps = ps;
	j->dir = dir;
	j->v4 = v4;
	j->lock = j->events = -1;
	snprintf(j->listen, sizeof(j->listen), "%s", listen);
	err = make_dirs(dir, why, size);
	if (!err)
		err = take_lock(j, why, size);
	if (!err) {
		j->events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
		if (j->events < 0 || inotify_add_watch(j->events, dir, EVENTS) < 0) {
			err = -errno;
			snprintf(why, size, "%s: cannot watch: %s", dir, strerror(-err));
		}
	}
	if (err) {
		ps_jobs_close(j);
		return err;
	}
	scan(j, true);
	*out = j;
	return 0;
}

void ps_jobs_close(struct ps_jobs *j)
{
	if (!j)
		return;
	if (j->events >= 0)
		close(j->events);
	if (j->lock >= 0)
		close(j->lock);
	free(j);
}

int ps_jobs_fd(const struct ps_jobs *j)
{
	return j->events;
}

unsigned int ps_jobs_refused(const struct ps_jobs *j)
{
	unsigned int i, n = 0;

	for (i = 0; i < j->nfile; i++)
		n += *j->file[i].error != '\0';
	return n;
}
