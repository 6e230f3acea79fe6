// SPDX-License-Identifier: BSD-2-Clause
/* Writes JSON documents into files; see json_write.h. */
#include "json_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

int json_write(int dir, const char *name, mode_t mode, const json_t *doc, bool sync)
{
	char *text = doc ? json_dumps(doc, JSON_INDENT(1)) : NULL;
	int err;

	if (!text)
		return -ENOMEM;
	err = file_replace(dir, name, mode, text, strlen(text), sync);
	free(text);
	return err;
}
