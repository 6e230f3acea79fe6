// SPDX-License-Identifier: BSD-2-Clause
/* Owns whole files; see file.h. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int file_write_full(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

/* Return: bytes, fewer than @n only at the end of the file, or -errno. */
static ssize_t read_up_to(int fd, char *p, size_t n)
{
	size_t len = 0;

	while (len < n) {
		ssize_t done = read(fd, p + len, n - len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		if (!done)
			break;
		len += (size_t)done;
	}
	return (ssize_t)len;
}

int file_read_full(int fd, void *data, size_t n)
{
	ssize_t len = read_up_to(fd, data, n);

	return len < 0 ? (int)len : (size_t)len < n ? -ENODATA : 0;
}

int file_read_fd(int fd, size_t max, char **data, size_t *len)
{
	size_t room = 0, n = 0;
	char *buf = NULL, *more;
	ssize_t got = 0;
	int err = 0;

	*data = NULL;
	/* Ask for one byte more than @max: that shows a file that is too long. */
	while (!err && n == room && n <= max) {
		room = room ? 2 * room : 16384;
		if (room > max)
			room = max + 1;
		more = realloc(buf, room + 1);
		if (!more) {
			err = -ENOMEM;
			break;
		}
		buf = more;
		got = read_up_to(fd, buf + n, room - n);
		if (got < 0)
			err = (int)got;
		else
			n += (size_t)got;
	}
	if (!err && n > max)
		err = -EFBIG;
	if (err) {
		free(buf);
		return err;
	}
	buf[n] = '\0';
	*data = buf;
	*len = n;
	return 0;
}

int file_read(const char *path, size_t max, char **data, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	*data = NULL;
	if (fd < 0)
		return -errno;
	err = file_read_fd(fd, max, data, len);
	close(fd);
	return err;
}

int file_new_open(struct file_new *f, int dir, const char *name, mode_t mode)
{
	f->dir = dir;
	f->name = name;
	if ((size_t)snprintf(f->temp, sizeof(f->temp), "%s.new", name) >= sizeof(f->temp))
		return -ENAMETOOLONG;
	f->fd = openat(dir, f->temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	return f->fd < 0 ? -errno : 0;
}

/* The folder of a file holds its name. */
static int folder_sync(int dir, const char *name)
{
	const char *slash = strrchr(name, '/');
	char path[PATH_MAX];
	int fd, err;

	snprintf(path, sizeof(path), "%.*s", slash ? (int)(slash - name) + 1 : 1,
		 slash ? name : ".");
	fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Some file systems need no such call, and refuse it. */
	err = fsync(fd) && errno != EINVAL ? -errno : 0;
	close(fd);
	return err;
}

int file_new_commit(struct file_new *f, int err, bool sync)
{
	if (!err && sync && fsync(f->fd))
		err = -errno;
	if (close(f->fd) && !err)
		err = -errno;
	if (!err && renameat(f->dir, f->temp, f->dir, f->name))
		err = -errno;
	if (err) {
		(void)unlinkat(f->dir, f->temp, 0);
		return err;
	}
	return sync ? folder_sync(f->dir, f->name) : 0;
}

int file_replace(int dir, const char *name, mode_t mode, const void *data, size_t len, bool sync)
{
	struct file_new f;
	int err = file_new_open(&f, dir, name, mode);

	if (err)
		return err;
	return file_new_commit(&f, file_write_full(f.fd, data, len), sync);
}
