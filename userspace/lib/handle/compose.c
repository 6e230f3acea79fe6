// SPDX-License-Identifier: BSD-2-Clause
/* See compose.h. */
#include "compose.h"

int trib_compose_prepare(struct trib *t, const struct trib_call *call, struct trib_req **out)
{
	if (t->way->prepare)
		return t->way->prepare(t, call, out);
	return trib_call_prepare(&t->eng, call, out);
}

void trib_compose_start(struct trib_req *r)
{
	struct trib *t = trib_of(r->eng);

	if (t->way->start)
		t->way->start(t, r);
	else
		trib_call_start(r);
}

void trib_compose_release(struct trib_req *r)
{
	struct trib *t = trib_of(r->eng);

	if (t->way->release)
		t->way->release(t, r);
	else
		trib_req_release(r);
}

void trib_compose_drop(struct trib_req *r)
{
	struct trib *t = trib_of(r->eng);

	if (t->way->drop)
		t->way->drop(t, r);
	else
		trib_req_drop(r);
}
