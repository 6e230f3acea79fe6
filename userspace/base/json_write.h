/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON documents into files. */
#ifndef TRIB_BASE_JSON_WRITE_H
#define TRIB_BASE_JSON_WRITE_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/**
 * json_write() - replace the content of a file by @doc, as file_replace() does
 * @doc: borrowed; NULL is -ENOMEM, so that json_pack()'s result may be passed.
 *
 * Return: 0 or -errno; after an error the file is unchanged.
 */
int json_write(int dir, const char *name, mode_t mode, const json_t *doc, bool sync);

#endif /* TRIB_BASE_JSON_WRITE_H */
