// SPDX-License-Identifier: BSD-2-Clause
/* Saving the state, as every change does it. */
#include <string.h>

#include "tribd.h"

int hooks_save_without(struct tribd *d, const void *object, struct reason *why)
{
	int err = d->hooks->save(d, object);

	return err ? reason_set(why, err, "cannot save the state: %s", strerror(-err)) : 0;
}

int hooks_save(struct tribd *d, struct reason *why)
{
	return hooks_save_without(d, NULL, why);
}
