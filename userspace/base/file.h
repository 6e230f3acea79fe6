/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole files: read with a bound, or replaced at once, so that a reader finds
 * the old content or the new, never a part.
 */
#ifndef TRIB_BASE_FILE_H
#define TRIB_BASE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Read or write exactly @n bytes. Return: 0, -errno; -ENODATA at an early end. */
int file_read_full(int fd, void *data, size_t n);
int file_write_full(int fd, const void *data, size_t n);

/**
 * file_read() - read a file, or what is left of @fd, up to its end
 * @max:  bytes; a longer file is -EFBIG.
 * @data: the caller frees it. A NUL follows the @len bytes.
 *
 * Pipes are read, too. Return: 0, or -errno with *@data NULL.
 */
int file_read(const char *path, size_t max, char **data, size_t *len);
int file_read_fd(int fd, size_t max, char **data, size_t *len);

/**
 * struct file_new - the new content of a file, while it is written
 *
 * @fd writes to NAME.new, beside the file. The caller owns the descriptor @dir
 * and @name until file_new_commit().
 */
struct file_new {
	int dir;
	int fd;
	const char *name;
	char temp[PATH_MAX];
};

/* Begin. @name is relative to @dir, or AT_FDCWD. Return: 0 or -errno. */
int file_new_open(struct file_new *f, int dir, const char *name, mode_t mode);

/**
 * file_new_commit() - replace the file by the new content, and close @fd
 * @err:  error of writing; if it is not 0, NAME.new is removed instead.
 * @sync: return only when the content and the name are on disk.
 *
 * Return: @err, or 0 or -errno.
 */
int file_new_commit(struct file_new *f, int err, bool sync);

/* Replace the content of a file by @data: begin, write and commit. */
int file_replace(int dir, const char *name, mode_t mode, const void *data, size_t len, bool sync);

#endif /* TRIB_BASE_FILE_H */
