// SPDX-License-Identifier: BSD-2-Clause
/* Owns the check of folders; see folder.h. */
#include "folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

int folder_check(const char *path, char *why, size_t size)
{
	struct stat st;

	if (lstat(path, &st))
		return text_fail(why, size, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return text_fail(why, size, -EPERM,
				 "%s is %s, which uid %u made: want a folder; remove it", path,
				 S_ISLNK(st.st_mode) ? "a symbolic link" : "not a folder",
				 (unsigned int)st.st_uid);
	if (st.st_uid && st.st_uid != geteuid())
		return text_fail(
			why, size, -EPERM,
			"%s belongs to uid %u: want a folder of uid %u; look what is in it, and remove it",
			path, (unsigned int)st.st_uid, (unsigned int)geteuid());
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return text_fail(
			why, size, -EPERM,
			"%s has mode %04o: others may write to it; look what is in it, then `chmod go-w %s`",
			path, st.st_mode & 07777, path);
	return 0;
}

int folder_own(const char *path, mode_t mode, char *why, size_t size)
{
	if (!mkdir(path, mode))
		return 0;
	if (errno != EEXIST)
		return text_fail(why, size, -errno, "%s: %s", path, strerror(errno));
	return folder_check(path, why, size);
}
