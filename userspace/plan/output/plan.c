// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes a plan: runs the search, then writes down what it found.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"

int plan_make(const struct plan_jobs *jobs, const struct plan_options *opt, json_t **out,
	      struct plan_error *err)
{
	static const struct plan_options none;
	struct findings *f = calloc(1, sizeof(*f));
	int rc;

	*out = NULL;
	*err->text = '\0';
	if (!f)
		return plan_fail(err, -ENOMEM, "out of memory");
	rc = findings_make(f, jobs, opt ? opt : &none, err);
	if (!rc)
		rc = emit_plan(f, out);
	if (rc && !*err->text)
		plan_fail(err, rc, "%s",
			  rc == -EIO	? "the LP solver died again and again"
			  : rc == -EDOM ? "an LP has no solution"
					: strerror(-rc));
	findings_free(f);
	free(f);
	return rc;
}

char *plan_write(const json_t *plan)
{
	return json_dumps(plan, JSON_COMPACT | JSON_REAL_PRECISION(9));
}
