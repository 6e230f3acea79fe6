// SPDX-License-Identifier: BSD-2-Clause
/* Owns the text of the kernel module's events. */
#include <stdio.h>
#include <string.h>

#include "cli/out/out.h"
#include "uapi/trib.h"
#include "module.h"

static void sock_text(const json_t *s, char *buf, size_t size)
{
	snprintf(buf, size, "job %llu rank %llu of %llu, uid %llu",
		 (unsigned long long)jnum(s, "job"), (unsigned long long)jnum(s, "rank"),
		 (unsigned long long)jnum(s, "world"), (unsigned long long)jnum(s, "uid"));
}

static void gone_text(const json_t *s, const char *who, char *buf, size_t size)
{
	const char *why = jstr(s, "error");

	if (!strcmp(jstr(s, "state"), "left"))
		snprintf(buf, size, "%s: left", who);
	else
		snprintf(buf, size, "%s: ended without leaving%s%s", who, *why ? ": " : "", why);
}

void module_event_text(const json_t *e, char *buf, size_t size)
{
	unsigned long long count = jnum(e, "count"), kind = jnum(e, "kind");
	const json_t *s = json_object_get(e, "sock");
	char who[96];

	sock_text(s, who, sizeof(who));
	switch (kind) {
	case TRIB_MODULE_EVENT_FALLBACK:
		snprintf(buf, size, "%llu calls used scalar code: the FPU was in use", count);
		break;
	case TRIB_MODULE_EVENT_ATTACHED:
		snprintf(buf, size, "%s: joined", who);
		break;
	case TRIB_MODULE_EVENT_GONE:
		gone_text(s, who, buf, size);
		break;
	case TRIB_MODULE_EVENT_STALLED:
		snprintf(buf, size, "%s: stalled, %llu chunks are without result", who, count);
		break;
	default:
		snprintf(buf, size, "event %llu, which this trib does not know", kind);
	}
}

void module_event_name(json_t *e)
{
	static const char *const name[] = {
		[TRIB_MODULE_EVENT_FALLBACK] = "fallback",
		[TRIB_MODULE_EVENT_ATTACHED] = "attached",
		[TRIB_MODULE_EVENT_GONE] = "gone",
		[TRIB_MODULE_EVENT_STALLED] = "stalled",
	};
	uint64_t kind = jnum(e, "kind");

	if (kind && kind < sizeof(name) / sizeof(name[0]))
		json_object_set_new(e, "kind", json_string(name[kind]));
}
