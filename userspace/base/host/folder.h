/* SPDX-License-Identifier: BSD-2-Clause */
/* Folders that a service makes, and finds again at its next start. */
#ifndef TRIB_BASE_FOLDER_H
#define TRIB_BASE_FOLDER_H

#include <stddef.h>
#include <sys/types.h>

/**
 * folder_own() - make a folder, or check that an existing one is the caller's
 *
 * It must be a folder, no link to one, belong to the caller or root, and be
 * writable for its owner alone. A service that worked in any other would read and
 * write what somebody else chose.
 *
 * Return: 0; -EPERM or another -errno with one line in @why.
 */
int folder_own(const char *path, mode_t mode, char *why, size_t size);
/* The same for a folder that must exist; -ENOENT (with @why) if not. */
int folder_check(const char *path, char *why, size_t size);

#endif /* TRIB_BASE_FOLDER_H */
