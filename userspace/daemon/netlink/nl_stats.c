// SPDX-License-Identifier: BSD-2-Clause
/* Netlink: counters. */
#include <errno.h>

#include "nl.h"

int nl_stats_next(struct tribd *d, struct nl_cursor *c, struct nl_msg *m)
{
	const struct stat_text *s;
	struct nlattr *nest;
	uint64_t sum;
	int err;

	c->at = stat_next(d, c->at);
	if (c->at == STAT_NONE)
		return 0;
	s = stat_text(c->at);
	err = stat_read(d, c->at, &sum);
	if (err)
		return err;
	nest = nla_nest_start(m, TRIB_A_STAT);
	if (!nest || nla_put_u32(m, TRIB_A_STAT_ID, c->at) ||
	    nla_put_string(m, TRIB_A_STAT_NAME, s->name) ||
	    nla_put_u64(m, TRIB_A_STAT_VALUE, sum) || nla_put_string(m, TRIB_A_STAT_TEXT, s->text))
		return -EMSGSIZE;
	nla_nest_end(m, nest);
	c->at++;
	return 1;
}

int nl_stats_reset(struct tribd *d, struct nl_request *r)
{
	(void)r;
	return stat_reset(d);
}
