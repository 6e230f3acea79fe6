// SPDX-License-Identifier: BSD-2-Clause
/* Whole files through the codec, block by block: see nm_run.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "nm_run.h"

#define STREAM_BUFFER (1u << 20)

/**
 * struct job - open files and memory
 * @to:    of the new file, or standard output; NULL without one.
 * @fresh: content of the new file, if @named.
 * @back:  a block that came back. @x: as it was.
 */
struct job {
	FILE *from, *to, *raw;
	struct file_new fresh;
	bool named;
	struct nm_work work;
	char *x, *back, *block;
};

/* True if a name is a device or a pipe, which nothing may replace. */
static bool is_special(const char *name)
{
	struct stat st;

	return !stat(name, &st) && !S_ISREG(st.st_mode);
}

/* Bytes of a regular file; -1 for others. */
static int64_t bytes_of(FILE *f)
{
	struct stat st;

	return !fstat(fileno(f), &st) && S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
}

static FILE *open_read(struct cli *c, const char *name)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "re") : fdopen(dup(STDIN_FILENO), "r");

	if (!f)
		cli_error(c, "cannot open \"%s\": %s", name, strerror(errno));
	else
		setvbuf(f, NULL, _IOFBF, STREAM_BUFFER);
	return f;
}

static int open_write(struct cli *c, struct job *j, const char *name)
{
	int err;

	if (!name)
		return CLI_OK;
	if (!strcmp(name, "-")) {
		j->to = fdopen(dup(STDOUT_FILENO), "w");
	} else if (is_special(name)) {
		j->to = fopen(name, "we");
	} else {
		err = file_new_open(&j->fresh, AT_FDCWD, name, 0666);
		if (err)
			return cli_error(c, "cannot write \"%s\": %s", name, strerror(-err));
		j->named = true;
		j->to = fdopen(dup(j->fresh.fd), "w");
	}
	if (!j->to)
		return cli_error(c, "cannot write \"%s\": %s", name, strerror(errno));
	setvbuf(j->to, NULL, _IOFBF, STREAM_BUFFER);
	return CLI_OK;
}

static int allocate(struct cli *c, struct job *j, const struct nm_file *f)
{
	size_t floats = (size_t)f->block * nm_file_size(f->fmt);

	j->x = malloc(floats);
	j->back = malloc(floats);
	j->block = malloc(nm_file_block_bytes(f, f->block));
	if (nm_work_init(&j->work, f) || !j->x || !j->back || !j->block)
		return cli_error(c, "out of memory");
	return CLI_OK;
}

static int take(struct cli *c, FILE *f, const char *name, void *to, size_t len)
{
	size_t got = fread(to, 1, len, f);

	if (got == len)
		return CLI_OK;
	return cli_error(c, "%s: %s", name,
			 ferror(f) ? strerror(errno) : "has fewer bytes than its values need");
}

static int give(struct cli *c, struct job *j, const char *name, const void *from, size_t len)
{
	if (!j->to || fwrite(from, 1, len, j->to) == len)
		return CLI_OK;
	return cli_error(c, "cannot write \"%s\": %s", name, strerror(errno));
}

/* Close all; the new file takes its place unless @err. */
static int finish(struct cli *c, struct job *j, const struct nm_run *r, int err)
{
	int rc;

	if (j->from)
		fclose(j->from);
	if (j->raw)
		fclose(j->raw);
	if (j->to && fclose(j->to) && !err)
		err = cli_error(c, "cannot write \"%s\": %s", r->out, strerror(errno));
	if (j->named) {
		rc = file_new_commit(&j->fresh, err ? -ECANCELED : 0, false);
		if (rc && !err)
			err = cli_error(c, "cannot write \"%s\": %s", r->out, strerror(-rc));
	}
	nm_work_free(&j->work);
	free(j->x);
	free(j->back);
	free(j->block);
	return err;
}

static size_t next(const struct nm_file *f, uint64_t at)
{
	return f->count - at < f->block ? (size_t)(f->count - at) : f->block;
}

/* Find the number of values from the size of the file. */
static int count_values(struct cli *c, struct job *j, struct nm_run *r)
{
	size_t size = nm_file_size(r->f.fmt);
	int64_t bytes = bytes_of(j->from);

	if (bytes < 0)
		return cli_error(c, "%s: want a file of floats, whose size is known", r->in);
	if (bytes % (int64_t)size)
		return cli_error(c,
				 "%s: has %lld bytes, which is no multiple of %zu, the size of %s:"
				 " is --dtype right?",
				 r->in, (long long)bytes, size, nm_fmt_name(r->f.fmt));
	r->f.count = (uint64_t)bytes / size;
	if (r->f.count > NM_FILE_VALUES_MAX)
		return cli_error(c, "%s: has more than 2^40 values", r->in);
	return CLI_OK;
}

/* Expand what was compressed, and compare. */
static int check_back(struct cli *c, struct job *j, struct nm_run *r, uint64_t at, size_t n)
{
	char why[160];

	if (!r->stats)
		return CLI_OK;
	if (nm_block_read(&r->f, &r->level, &j->work, at, j->back, n, j->block, why, sizeof(why)))
		return cli_error(c, "%s: cannot be read back: %s", r->in, why);
	nm_stats_add(&r->kept, r->f.fmt, j->x, j->back, n);
	return CLI_OK;
}

static int compress_block(struct cli *c, struct job *j, struct nm_run *r, uint64_t at)
{
	size_t n = next(&r->f, at);
	uint64_t bad = 0;
	int64_t len;
	int err;

	err = take(c, j->from, r->in, j->x, n * nm_file_size(r->f.fmt));
	if (err)
		return err;
	len = nm_block_write(&r->f, &r->level, &j->work, at, j->x, n, j->block, &bad);
	if (len < 0)
		return cli_error(c, "%s: value %llu is not finite: is --dtype %s right?", r->in,
				 (unsigned long long)bad, nm_fmt_name(r->f.fmt));
	err = check_back(c, j, r, at, n);
	return err ? err : give(c, j, r->out, j->block, (size_t)len);
}

int nm_compress(struct cli *c, struct nm_run *r)
{
	unsigned char head[NM_FILE_HEAD];
	struct job j = {0};
	uint64_t at;
	int err;

	j.from = open_read(c, r->in);
	err = j.from ? count_values(c, &j, r) : CLI_ERROR;
	if (!err)
		err = allocate(c, &j, &r->f);
	if (!err)
		err = open_write(c, &j, r->out);
	if (!err) {
		nm_file_head_write(head, &r->f);
		err = give(c, &j, r->out, head, sizeof(head));
	}
	for (at = 0; !err && at < r->f.count; at += r->f.block)
		err = compress_block(c, &j, r, at);
	return finish(c, &j, r, err);
}

/* Read the head. The size of the file must be what it says. */
static int read_head(struct cli *c, struct job *j, struct nm_run *r)
{
	unsigned char head[NM_FILE_HEAD];
	size_t len = fread(head, 1, sizeof(head), j->from);
	int64_t bytes = bytes_of(j->from);
	char why[160];

	if (ferror(j->from))
		return cli_error(c, "%s: %s", r->in, strerror(errno));
	if (nm_file_head_read(&r->f, head, len, why, sizeof(why)))
		return cli_error(c, "%s: %s", r->in, why);
	if (bytes >= 0 && (uint64_t)bytes != nm_file_bytes(&r->f))
		return cli_error(c, "%s: has %lld bytes: want %llu for its %llu values", r->in,
				 (long long)bytes, (unsigned long long)nm_file_bytes(&r->f),
				 (unsigned long long)r->f.count);
	return CLI_OK;
}

/* Open the original floats, which must be as many. */
static int open_raw(struct cli *c, struct job *j, struct nm_run *r)
{
	uint64_t want = r->f.count * nm_file_size(r->f.fmt);
	int64_t bytes;

	if (!r->raw)
		return CLI_OK;
	j->raw = open_read(c, r->raw);
	if (!j->raw)
		return CLI_ERROR;
	bytes = bytes_of(j->raw);
	if (bytes < 0)
		return cli_error(c, "%s: want a file of floats, whose size is known", r->raw);
	if ((uint64_t)bytes == want)
		return CLI_OK;
	return cli_error(c, "%s: has %lld bytes: want %llu for the %llu values of %s in %s", r->raw,
			 (long long)bytes, (unsigned long long)want, (unsigned long long)r->f.count,
			 nm_fmt_name(r->f.fmt), r->in);
}

static int expand_block(struct cli *c, struct job *j, struct nm_run *r, uint64_t at)
{
	size_t n = next(&r->f, at), floats = n * nm_file_size(r->f.fmt);
	char why[160];
	int err;

	err = take(c, j->from, r->in, j->block, nm_file_block_bytes(&r->f, n));
	if (err)
		return err;
	if (nm_block_read(&r->f, &r->level, &j->work, at, j->back, n, j->block, why, sizeof(why)))
		return cli_error(c, "%s: %s", r->in, why);
	if (j->raw) {
		err = take(c, j->raw, r->raw, j->x, floats);
		if (!err)
			nm_stats_add(&r->kept, r->f.fmt, j->x, j->back, n);
	}
	return err ? err : give(c, j, r->out, j->back, floats);
}

int nm_expand(struct cli *c, struct nm_run *r)
{
	struct job j = {0};
	uint64_t at;
	int err;

	j.from = open_read(c, r->in);
	err = j.from ? read_head(c, &j, r) : CLI_ERROR;
	if (!err)
		err = open_raw(c, &j, r);
	if (!err)
		err = allocate(c, &j, &r->f);
	if (!err)
		err = open_write(c, &j, r->out);
	for (at = 0; !err && at < r->f.count; at += r->f.block)
		err = expand_block(c, &j, r, at);
	if (!err && getc(j.from) != EOF)
		err = cli_error(c, "%s: goes on behind its %llu values", r->in,
				(unsigned long long)r->f.count);
	return finish(c, &j, r, err);
}

bool nm_is_compressed(const char *name)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "re") : NULL;
	unsigned char head[NM_FILE_HEAD];
	bool is;

	if (!f)
		return false;
	is = nm_file_is(head, fread(head, 1, sizeof(head), f));
	fclose(f);
	return is;
}
