// SPDX-License-Identifier: BSD-2-Clause
/* Owns the order in which a plan is compared with the state of its hosts. */
#include <string.h>

#include "uapi/trib.h"
#include "apply.h"

/* Refuse the plan if its new pools do not fit beside the old ones. */
static void check_slots(struct apply_host *h)
{
	const json_t *status = json_object_get(h->look, "status"), *step, *row;
	uint64_t need = 0, all = jnum(status, "slots"), window;
	uint64_t used = jnum(status, "slots_used");
	size_t i, k, n = 0;

	json_array_foreach(h->load, i, step)
		n += !strcmp(json_string_value(json_array_get(json_object_get(step, "run"), 0)),
			     "tree");
	json_array_foreach(json_object_get(h->plan, "trees"), k, row) {
		const char *job = jstr(row, "job");
		const json_t *old = apply_job_there(h, job);
		const json_t *want = apply_named(json_object_get(h->plan, "jobs"), job);

		/* All trees of a shared pool share its slots. */
		if (!json_array_size(json_object_get(row, "children")) ||
		    json_object_get(row, "relay"))
			continue;
		window = old ? jnum(old, "window") : apply_number(want, "window");
		need += 2 * (window ? window : TRIB_JOB_WINDOW_DEFAULT);
	}
	/* If only some trees change, tribd judges when it loads them. */
	if (n == json_array_size(json_object_get(h->plan, "trees")) && used + need > all)
		apply_refuse(
			h,
			"%llu slots are needed, %llu of %llu are used (smaller window, or tribd --slots)",
			(unsigned long long)need, (unsigned long long)used,
			(unsigned long long)all);
}

size_t apply_diff(struct apply *a)
{
	json_t *names = apply_all_jobs(a), *value;
	const json_t *v;
	const char *job;
	struct trib_key key;
	size_t i, k, bad = 0;

	for (i = 0; i < a->nhost; i++) {
		struct apply_host *h = &a->host[i];

		h->faces = json_object();
		h->load = json_array();
		h->flip = json_array();
		h->diff = json_array();
		apply_look(h);
		json_array_foreach(json_object_get(h->plan, "faces"), k, v)
			apply_diff_face(h, v);
		apply_ps_check(h);
	}
	apply_diff_watch(a);
	json_object_foreach(names, job, value) {
		key = apply_key(a, job);
		for (i = 0; i < a->nhost; i++)
			apply_diff_job(&a->host[i], job, &key);
		apply_diff_trees(a, job, &key);
	}
	json_decref(names);
	for (i = 0; i < a->nhost; i++) {
		check_slots(&a->host[i]);
		bad += *a->host[i].why != '\0';
	}
	return bad;
}
