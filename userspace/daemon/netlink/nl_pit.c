// SPDX-License-Identifier: BSD-2-Clause
/* Netlink: entries of the persistent PIT, and the content store. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/face/face.h"
#include "daemon/ndn/ndnd.h"
#include "nl.h"

/*
 * A dump of names below a prefix. @given: rows given so far. It is one more
 * than the cursor's count if the last row did not fit and must come again.
 */
struct below {
	uint32_t given;
	struct ndn_row_name prefix;
	struct ndnd_walk *walk;
};

static void below_free(void *own)
{
	struct below *b = own;

	ndnd_walk_free(b->walk);
	free(b);
}

/*
 * Begin a walk below @text, or of all names if it is NULL. @walk becomes NULL
 * without memory.
 */
static int below_start(struct nl_request *r, struct nl_cursor *c, const struct nlattr *text,
		       struct ndnd_walk *walk)
{
	struct below *b = calloc(1, sizeof(*b));
	int err = 0;

	if (!b || !walk) {
		ndnd_walk_free(walk);
		free(b);
		return reason_set(&r->why, -ENOMEM, "no memory");
	}
	if (text)
		err = ndnd_name_parse(nla_get_string((struct nlattr *)text), &b->prefix, &r->why);
	b->walk = walk;
	if (err) {
		below_free(b);
		return err;
	}
	c->own = b;
	c->own_free = below_free;
	return 0;
}

/* Call before each row, and after it. */
static void below_before(struct below *b, const struct nl_cursor *c)
{
	if (b->given == c->at)
		return;
	ndnd_walk_undo(b->walk);
	b->given--;
}

static void below_after(struct below *b, struct nl_cursor *c)
{
	c->at++;
	b->given++;
}

/* --- entries */

static const char *face_name(struct tribd *d, unsigned int number)
{
	const struct face *f;

	TAILQ_FOREACH(f, &d->faces, link)
		if (f->ndn && f->ndn->number == number)
			return f->name;
	return NULL;
}

static int faces_put(struct tribd *d, const struct ndnd_pit_row *row, struct nl_msg *m)
{
	const struct face *f;

	TAILQ_FOREACH(f, &d->faces, link) {
		unsigned int n = f->ndn ? f->ndn->number : NDN_FACE_NONE;

		if (n && (row->live[n / 64] >> n % 64 & 1) &&
		    nla_put_string(m, TRIB_A_PIT_FACE, f->name))
			return -EMSGSIZE;
	}
	return 0;
}

static int pit_put(struct tribd *d, const struct ndnd_pit_row *row, struct nl_msg *m)
{
	struct nlattr *nest = nla_nest_start(m, TRIB_A_PIT);
	const char *up = face_name(d, row->up);
	char text[NDND_TEXT_MAX];

	if (!nest || nla_put_string(m, TRIB_A_PIT_NAME, ndnd_name_text(&row->name, text)) ||
	    (up && nla_put_string(m, TRIB_A_PIT_UP, up)) || faces_put(d, row, m) ||
	    nla_put_u8(m, TRIB_A_PIT_STATE, row->state) ||
	    (row->acked_ms != NDND_NEVER && nla_put_u64(m, TRIB_A_PIT_ACKED_MS, row->acked_ms)))
		return -EMSGSIZE;
	if (row->taken_ms != NDND_NEVER && (nla_put_u64(m, TRIB_A_PIT_VERSION, row->version) ||
					    nla_put_u64(m, TRIB_A_PIT_SEGMENT, row->segment) ||
					    nla_put_u64(m, TRIB_A_PIT_TAKEN_MS, row->taken_ms)))
		return -EMSGSIZE;
	nla_nest_end(m, nest);
	return 0;
}

static int pit_name(struct tribd *d, struct nl_request *r, struct ndn_row_name *name)
{
	int err = ndnd_need(d, &r->why);

	if (!err)
		err = nl_need(&nl_pit, r->tb, TRIB_A_PIT_NAME, &r->why);
	return err ? err : ndnd_name_parse(nla_get_string(r->tb[TRIB_A_PIT_NAME]), name, &r->why);
}

int nl_pit_get(struct tribd *d, struct nl_request *r)
{
	struct ndnd_pit_row row;
	struct ndn_row_name name;
	int err = pit_name(d, r, &name);

	if (err)
		return err;
	err = ndnd_pit_find(d, &name, &row);
	if (err)
		return reason_set(&r->why, err, "no entry %.100s",
				  nla_get_string(r->tb[TRIB_A_PIT_NAME]));
	return pit_put(d, &row, r->reply);
}

int nl_pit_del(struct tribd *d, struct nl_request *r)
{
	struct ndn_row_name name;
	int err = pit_name(d, r, &name);

	return err ? err : ndnd_pit_forget(d, &name, &r->why);
}

int nl_pit_start(struct tribd *d, struct nl_request *r, struct nl_cursor *c)
{
	int err = ndnd_need(d, &r->why);

	return err ? err : below_start(r, c, r->tb[TRIB_A_PIT_NAME], ndnd_pit_walk(d));
}

int nl_pit_next(struct tribd *d, struct nl_cursor *c, struct nl_msg *m)
{
	struct below *b = c->own;
	struct ndnd_pit_row row;
	int err;

	below_before(b, c);
	err = ndnd_pit_next(d, b->walk, &b->prefix, &row);
	if (err <= 0)
		return err;
	below_after(b, c);
	err = pit_put(d, &row, m);
	return err ? err : 1;
}

/* --- the content store */

int nl_cs_start(struct tribd *d, struct nl_request *r, struct nl_cursor *c)
{
	int err = ndnd_need(d, &r->why);

	return err ? err : below_start(r, c, r->tb[TRIB_A_CS_NAME], ndnd_cs_walk(d));
}

int nl_cs_next(struct tribd *d, struct nl_cursor *c, struct nl_msg *m)
{
	struct below *b = c->own;
	char text[NDND_TEXT_MAX];
	struct ndn_row_name name;
	uint32_t bytes, place;
	struct nlattr *nest;
	int err;

	(void)d;
	below_before(b, c);
	err = ndnd_cs_next(b->walk, &b->prefix, &name, &bytes, &place);
	if (err <= 0)
		return err;
	below_after(b, c);
	nest = nla_nest_start(m, TRIB_A_CS);
	if (!nest || nla_put_string(m, TRIB_A_CS_NAME, ndnd_name_text(&name, text)) ||
	    nla_put_u32(m, TRIB_A_CS_BYTES, bytes))
		return -EMSGSIZE;
	nla_nest_end(m, nest);
	return 1;
}

int nl_cs_wipe(struct tribd *d, struct nl_request *r)
{
	struct ndn_row_name prefix = {};
	int err = ndnd_need(d, &r->why);

	if (!err && r->tb[TRIB_A_CS_NAME])
		err = ndnd_name_parse(nla_get_string(r->tb[TRIB_A_CS_NAME]), &prefix, &r->why);
	if (!err)
		err = ndnd_cs_wipe(d, &prefix, &r->why);
	return err < 0 ? err : 0;
}
