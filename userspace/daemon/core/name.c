// SPDX-License-Identifier: BSD-2-Clause
/* Names of faces and jobs: see name.h. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "name.h"
#include "uapi/trib.h"

int name_check(const char *kind, const char *name, const char * not, struct reason *why)
{
	const char *s;

	if (!name[0])
		return reason_set(why, -EINVAL, "the %s has no name", kind);
	if (strlen(name) >= TRIB_NAME_MAX)
		return reason_set(why, -EINVAL, "%s name of %zu bytes: at most %d", kind,
				  strlen(name), TRIB_NAME_MAX - 1);
	if (name[0] == '-')
		return reason_set(why, -EINVAL, "%s name %s starts with -", kind, name);
	for (s = name; *s; s++)
		if (!isgraph((unsigned char)*s) || strchr(not, *s))
			return reason_set(why, -EINVAL, "%s name '%s' contains '%c'", kind, name,
					  *s);
	return 0;
}
