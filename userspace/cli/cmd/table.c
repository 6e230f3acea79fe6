// SPDX-License-Identifier: BSD-2-Clause
/* The objects of trib, in the order of help. */
#include "cmd.h"

extern const struct cli_object object_status, object_face, object_job, object_tree, object_group,
	object_fib, object_pit, object_cs, object_strategy, object_stats, object_watch,
	object_doctor, object_plan, object_apply, object_batch, object_codec, object_topo,
	object_module, object_help;

const struct cli_object *const cli_objects[] = {
	&object_status, &object_face,	&object_job,	&object_tree,	  &object_group,
	&object_fib,	&object_pit,	&object_cs,	&object_strategy, &object_stats,
	&object_watch,	&object_doctor, &object_plan,	&object_apply,	  &object_batch,
	&object_codec,	&object_topo,	&object_module, &object_help,	  NULL,
};
