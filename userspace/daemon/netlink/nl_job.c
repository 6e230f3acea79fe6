// SPDX-License-Identifier: BSD-2-Clause
/* Netlink: jobs and tickets. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/attach/attach.h"
#include "daemon/attach/ticket.h"
#include "nl.h"

#define TICKET_MAX 4096

int nl_job_new(struct tribd *d, struct nl_request *r)
{
	struct job_spec s = {.owner = r->uid};
	struct nlattr **tb = r->tb;
	int err;

	err = nl_need(&nl_job, tb, TRIB_A_JOB_NAME, &r->why);
	if (!err)
		err = nl_need(&nl_job, tb, TRIB_A_JOB_WORLD, &r->why);
	if (err)
		return err;
	nla_strlcpy(s.name, tb[TRIB_A_JOB_NAME], sizeof(s.name));
	s.world = nla_get_u32(tb[TRIB_A_JOB_WORLD]);
	if (tb[TRIB_A_JOB_ID])
		s.id = nla_get_u16(tb[TRIB_A_JOB_ID]);
	if (tb[TRIB_A_JOB_WINDOW])
		s.window = nla_get_u32(tb[TRIB_A_JOB_WINDOW]);
	if (tb[TRIB_A_JOB_TIMEOUT_MS])
		s.timeout_ms = nla_get_u32(tb[TRIB_A_JOB_TIMEOUT_MS]);
	if (tb[TRIB_A_JOB_OWNER])
		s.owner = nla_get_u32(tb[TRIB_A_JOB_OWNER]);
	if (tb[TRIB_A_JOB_RATE])
		s.rate = nla_get_u64(tb[TRIB_A_JOB_RATE]);
	if (tb[TRIB_A_JOB_FMT])
		s.fmt = nla_get_u8(tb[TRIB_A_JOB_FMT]);
	if (tb[TRIB_A_JOB_KEY]) {
		memcpy(&s.key, nla_data(tb[TRIB_A_JOB_KEY]), sizeof(s.key));
		s.has_key = true;
	}
	/* 0 means default in job_spec; in a request it is an error. */
	if (tb[TRIB_A_JOB_ID] && !s.id)
		return reason_set(&r->why, -ERANGE, "job id 0: 1 to 65535");
	if (tb[TRIB_A_JOB_WINDOW] && !s.window)
		return reason_set(&r->why, -ERANGE, "window 0: want a power of 2 from 1 to %u",
				  TRIB_JOB_WINDOW_MAX);
	if (tb[TRIB_A_JOB_TIMEOUT_MS] && !s.timeout_ms)
		return reason_set(&r->why, -ERANGE, "timeout 0 ms: %u to %u", TRIB_JOB_TIMEOUT_MIN,
				  TRIB_JOB_TIMEOUT_MAX);
	if (tb[TRIB_A_JOB_FMT] && !s.fmt)
		return reason_set(&r->why, -ERANGE, "format 0 is none");
	if (tb[TRIB_A_JOB_PEERS])
		err = job_spec_peers(&s, nla_get_string(tb[TRIB_A_JOB_PEERS]), &r->why);
	return err ? err : job_new(d, &s, &r->why);
}

int nl_job_set(struct tribd *d, struct nl_request *r)
{
	int err = nl_need(&nl_job, r->tb, TRIB_A_JOB_NAME, &r->why);
	int type;

	if (!err)
		err = nl_need(&nl_job, r->tb, TRIB_A_JOB_RATE, &r->why);
	for (type = 1; !err && type < TRIB_A_JOB__MAX; type++)
		if (r->tb[type] && type != TRIB_A_JOB_NAME && type != TRIB_A_JOB_RATE)
			err = reason_set(&r->why, -EINVAL, "job: only its rate can be changed");
	if (err)
		return err;
	return job_set_rate(d, nla_get_string(r->tb[TRIB_A_JOB_NAME]),
			    nla_get_u64(r->tb[TRIB_A_JOB_RATE]), &r->why);
}

int nl_job_del(struct tribd *d, struct nl_request *r)
{
	int err = nl_need(&nl_job, r->tb, TRIB_A_JOB_NAME, &r->why);

	if (err)
		return err;
	return job_del(d, nla_get_string(r->tb[TRIB_A_JOB_NAME]), &r->why);
}

/* Only the owner and CAP_NET_ADMIN may read the key. */
static bool may_know(const struct job *j, struct nl_request *r)
{
	return r->uid == j->owner || nl_is_admin(r);
}

static int blocked_put(struct tribd *d, struct nl_msg *m)
{
	char text[320];

	if (!d->save_err)
		return 0;
	snprintf(text, sizeof(text), "cannot write %s/state.json: %s", d->run_dir,
		 strerror(-d->save_err));
	return nla_put_string(m, TRIB_A_JOB_BLOCKED, text);
}

static int peers_put(const struct job *j, struct nl_msg *m)
{
	char text[ADDR_TEXT_MAX];

	if (!j->peers_port)
		return 0;
	return nla_put_string(m, TRIB_A_JOB_PEERS, addr_text_port(&j->peers, j->peers_port, text));
}

/* @secret: with the key. */
static int job_put(struct tribd *d, const struct job *j, bool secret, struct nl_msg *m)
{
	struct nlattr *nest = nla_nest_start(m, TRIB_A_JOB);

	if (!nest || nla_put_string(m, TRIB_A_JOB_NAME, j->name) ||
	    nla_put_u16(m, TRIB_A_JOB_ID, j->id) || nla_put_u32(m, TRIB_A_JOB_WORLD, j->world) ||
	    nla_put_u32(m, TRIB_A_JOB_WINDOW, j->window) ||
	    nla_put_u32(m, TRIB_A_JOB_OWNER, j->owner) ||
	    nla_put_u32(m, TRIB_A_JOB_TIMEOUT_MS, j->timeout_ms) ||
	    nla_put_u64(m, TRIB_A_JOB_RATE, j->rate) ||
	    nla_put_u32(m, TRIB_A_JOB_TREES, j->ntrees) ||
	    nla_put_u32(m, TRIB_A_JOB_ATTACHED, attach_count(d, j)) ||
	    nla_put_u8(m, TRIB_A_JOB_FMT, j->fmt))
		return -EMSGSIZE;
	if (blocked_put(d, m) || peers_put(j, m))
		return -EMSGSIZE;
	if (secret && nla_put(m, TRIB_A_JOB_KEY, sizeof(j->key), &j->key))
		return -EMSGSIZE;
	nla_nest_end(m, nest);
	return 0;
}

static int job_named(struct tribd *d, struct nl_request *r, struct job **j)
{
	int err = nl_need(&nl_job, r->tb, TRIB_A_JOB_NAME, &r->why);
	const char *name;

	if (err)
		return err;
	name = nla_get_string(r->tb[TRIB_A_JOB_NAME]);
	*j = job_find(d, name);
	return *j ? 0 : reason_set(&r->why, -ENOENT, "no job %s", name);
}

int nl_job_get(struct tribd *d, struct nl_request *r)
{
	struct job *j;
	int err = job_named(d, r, &j);

	return err ? err : job_put(d, j, may_know(j, r), r->reply);
}

int nl_job_start(struct tribd *d, struct nl_request *r, struct nl_cursor *c)
{
	(void)d;
	c->admin = nl_is_admin(r);
	return 0;
}

int nl_job_next(struct tribd *d, struct nl_cursor *c, struct nl_msg *m)
{
	uint32_t at = 0;
	struct job *j;
	int err;

	TAILQ_FOREACH(j, &d->jobs, link)
		if (at++ == c->at)
			break;
	if (!j)
		return 0;
	c->at++;
	err = job_put(d, j, c->admin || c->uid == j->owner, m);
	return err ? err : 1;
}

int nl_ticket_get(struct tribd *d, struct nl_request *r)
{
	struct nlattr *tb[NL_SET_MAX + 1], *nest;
	char text[TICKET_MAX];
	struct job *j;
	uint16_t rank;
	int err = job_named(d, r, &j);

	if (err)
		return err;
	if (!may_know(j, r))
		return reason_set(&r->why, -EACCES, "job %s belongs to uid %u", j->name, j->owner);
	if (!r->ticket)
		return reason_set(&r->why, -EINVAL, "ticket: rank is missing");
	err = nl_parse_nest(&nl_ticket, r->ticket, tb, &r->why);
	if (!err)
		err = nl_need(&nl_ticket, tb, TRIB_A_TICKET_RANK, &r->why);
	if (err)
		return err;
	rank = nla_get_u16(tb[TRIB_A_TICKET_RANK]);
	err = ticket_write(d, j, rank, text, sizeof(text), &r->why);
	if (err)
		return err;
	nest = nla_nest_start(r->reply, TRIB_A_TICKET);
	if (!nest || nla_put_u16(r->reply, TRIB_A_TICKET_RANK, rank) ||
	    nla_put_string(r->reply, TRIB_A_TICKET_TEXT, text))
		return -EMSGSIZE;
	nla_nest_end(r->reply, nest);
	return 0;
}
