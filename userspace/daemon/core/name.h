/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of faces and jobs. */
#ifndef TRIBD_NAME_H
#define TRIBD_NAME_H

#include "log.h"

/**
 * name_check() - refuse a name that is not 1 to 63 visible ASCII characters
 * @kind: of the object, for the reason.
 * @not:  characters that the name must not contain.
 *
 * Return: 0 or -EINVAL.
 */
int name_check(const char *kind, const char *name, const char * not, struct reason *why);

#endif /* TRIBD_NAME_H */
