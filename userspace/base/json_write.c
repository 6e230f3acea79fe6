// SPDX-License-Identifier: BSD-2-Clause
/* Writes JSON documents into files; see json_write.h. */
#include "json_write.h"

#include <errno.h>

#include "file.h"

int json_write(int dir, const char *name, mode_t mode, const json_t *doc, bool sync)
{
	struct file_new f;
	int err;

	if (!doc)
		return -ENOMEM;
	err = file_new_open(&f, dir, name, mode);
	if (err)
		return err;
	/* jansson tells no reason of its own. */
	errno = EIO;
	if (json_dumpfd(doc, f.fd, JSON_INDENT(1)))
		err = -errno;
	return file_new_commit(&f, err, sync);
}
