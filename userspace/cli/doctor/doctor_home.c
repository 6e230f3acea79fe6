// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib doctor: who has tribd's addresses. Any process may take one while tribd is
 * down.
 */
#include <string.h>
#include <unistd.h>

#include "base/host/holder.h"
#include "base/host/home.h"
#include "doctor.h"

/* systemd keeps addresses for tribd. */
static bool is_at_home(const struct doctor *d, const struct holder *h)
{
	return h->is_root && (d->status || h->pid == 1 || !strcmp(h->comm, "tribd"));
}

static void judge(struct doctor *d, const struct home *s, const struct holder *h)
{
	char who[HOLDER_TEXT_MAX], cure[64];

	holder_text(h, who, sizeof(who));
	if (is_at_home(d, h)) {
		doctor_note(d, DOCTOR_OK, "address", s->what, NULL, "%s", who);
	} else if (h->pid) {
		doctor_text(cure, sizeof(cure), "kill %d; then tribd can have it", (int)h->pid);
		doctor_note(d, DOCTOR_FAIL, "address", s->what, cure, "taken by %s", who);
	} else if (h->uid != (uid_t)-1 && h->uid) {
		doctor_note(d, DOCTOR_FAIL, "address", s->what,
			    "run trib doctor as root, to see which process it is", "taken by %s",
			    who);
	} else if (!geteuid() && !d->status) {
		doctor_note(d, DOCTOR_WARN, "address", s->what,
			    "look in containers that share this network namespace", "taken by %s",
			    who);
	}
}

void doctor_homes(struct doctor *d)
{
	struct holder h;
	struct home s;
	int id;

	for (id = 0; id < HOME__MAX; id++) {
		home_tribd(id, &s);
		if (!holder_find(&s.sa, s.len, s.protocol, &h))
			judge(d, &s, &h);
	}
}
