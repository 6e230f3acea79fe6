/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names that operators give. They become words of commands, lines of logs and, of
 * jobs, names of files: every program checks them by these rules.
 */
#ifndef TRIB_BASE_NAME_H
#define TRIB_BASE_NAME_H

#include <stddef.h>

/* Room for the reason of a refusal. */
#define NAME_WHY_MAX 80

/**
 * name_check() - check the name of a new job
 * @why: out: the reason of a refusal, to be put behind the name: "contains '/'".
 *
 * Accept letters, digits, dots, dashes and underscores, at most
 * TRIB_NAME_MAX - 1, beginning with neither a dot nor a dash.
 *
 * Return: 0 or -EINVAL.
 */
int name_check(const char *s, char why[NAME_WHY_MAX]);

/**
 * name_check_word() - check a name of faces or nodes, or of what is there already
 * @refused: characters that it must not contain.
 *
 * Accept visible ASCII, as long as above, not beginning with a dash. Faces of
 * former plans have names like "w0~2", and tribd keeps jobs that were made under
 * this rule.
 *
 * Return: 0 or -EINVAL.
 */
int name_check_word(const char *s, const char *refused, char why[NAME_WHY_MAX]);

#endif /* TRIB_BASE_NAME_H */
