// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random requests. Each starts as a valid one; most are then damaged: foreign
 * attributes, short values, nested nests, flags, wrong lengths, flipped bytes.
 */
#include <string.h>

#include "nlgen.h"
#include "nlspec.h"
#include "tests/vm/rig/stress.h"
#include "uapi/trib_kfunc.h"

static const char *const names[] = {"trib_mem_add",
				    "trib_mem_store",
				    "trib_pkt_emit",
				    "trib_pkt_add",
				    "trib_pkt_emi",
				    "trib_pkt_expand_add",
				    "",
				    "x",
				    "trib_pkt_emit "};

static size_t nest_begin(struct nl_request *r, int type)
{
	size_t at = r->len;

	nl_put(r, type | NLA_F_NESTED, NULL, 0);
	return at;
}

static void nest_end(struct nl_request *r, size_t at)
{
	if (r->len > at)
		((struct nlattr *)(r->bytes + at))->nla_len = r->len - at;
}

/* --- valid parts */

static void put_name(struct nl_request *r)
{
	char text[90];
	const char *name = names[chance_below(sizeof(names) / sizeof(*names))];
	size_t len = strlen(name) + 1;

	switch (chance_below(6)) {
	case 0:
		/* Any length, often near the limit. */
		len = chance_one_in(2) ? 60 + chance_below(8) : chance_below(sizeof(text));
		memset(text, 'a', sizeof(text));
		if (len && !chance_one_in(3))
			text[len - 1] = 0;
		name = text;
		break;
	case 1:
		len--;
		break;
	}
	nl_put(r, TRIB_A_KFUNC_NAME, name, len);
}

static void put_claim(struct nl_request *r, bool with_uid)
{
	/* Often one of a few distant jobs. */
	uint16_t job = chance_one_in(8) ? chance() : chance_below(24) * 2731;
	uint32_t uid = chance_one_in(4) ? chance_odd() : chance_below(3) * 1000;
	size_t at = nest_begin(r, TRIB_A_CLAIM);

	if (!chance_one_in(16))
		nl_put(r, TRIB_A_CLAIM_JOB, &job, sizeof(job));
	if (with_uid ? !chance_one_in(16) : chance_one_in(8))
		nl_put(r, TRIB_A_CLAIM_UID, &uid, sizeof(uid));
	nest_end(r, at);
}

static void put_sense(struct nl_request *r, int cmd, bool dump)
{
	size_t at;

	if (dump && !chance_one_in(16))
		return;
	switch (cmd) {
	case TRIB_CMD_KFUNC_GET:
		at = nest_begin(r, TRIB_A_KFUNC);
		put_name(r);
		nest_end(r, at);
		break;
	case TRIB_CMD_CLAIM_NEW:
	case TRIB_CMD_CLAIM_DEL:
		put_claim(r, cmd == TRIB_CMD_CLAIM_NEW);
		break;
	}
}

/* --- damage */

static void put_any(struct nl_request *r, int depth);

static void put_value(struct nl_request *r, int type, int kind)
{
	static const uint8_t bytes[] = {
		[NL_NONE] = 3, [NL_U8] = 1,    [NL_U16] = 2,   [NL_U32] = 4,
		[NL_U64] = 8,  [NL_TEXT] = 12, [NL_NAME] = 12,
	};
	uint8_t value[300];
	size_t len = bytes[kind];

	chance_bytes(value, sizeof(value));
	if (chance_one_in(5))
		len = chance_below(chance_one_in(3) ? sizeof(value) : 20);
	if (kind >= NL_TEXT && len && !chance_one_in(4))
		value[len - 1] = 0;
	nl_put(r, type, value, len);
}

static void put_nest_of(struct nl_request *r, int top, int depth)
{
	const struct nl_set *set = nl_set_of(top);
	int n = chance_below(5), max = set ? set->max : 12, type;
	size_t at = nest_begin(r, top);

	while (n--) {
		type = chance_below(max + 2);
		if (depth < 6 && chance_one_in(8))
			put_any(r, depth + 1);
		else
			put_value(r, type, set && type < max ? set->kind[type] : NL_NONE);
	}
	nest_end(r, at);
	if (chance_one_in(12) && r->len > at)
		((struct nlattr *)(r->bytes + at))->nla_type &= ~NLA_F_NESTED;
}

static void put_any(struct nl_request *r, int depth)
{
	int top = chance_one_in(10) ? chance() & 0x3fff : 1 + chance_below(TRIB_A__MAX);

	if (chance_one_in(8))
		put_value(r, top | (chance_one_in(2) ? 0 : NLA_F_NET_BYTEORDER),
			  chance_below(NL_NAME + 1));
	else
		put_nest_of(r, top, depth);
}

/* Change bytes of attributes, lengths included. */
static void damage(struct nl_request *r)
{
	size_t from = NLMSG_HDRLEN, n = 1 + chance_below(4);

	while (n-- && r->len > from) {
		size_t at = from + chance_below(r->len - from);

		r->bytes[at] = chance_one_in(2) ? chance() : chance_odd();
	}
}

/* Damage the message's header: the rest may be parsed as another message. */
static void damage_header(struct nl_request *r, int family)
{
	switch (chance_below(5)) {
	case 0:
		r->nlh.nlmsg_len = chance_odd();
		break;
	case 1:
		r->nlh.nlmsg_flags = chance();
		break;
	case 2:
		r->nlh.nlmsg_type = chance_one_in(2) ? chance_below(16) : chance();
		break;
	case 3:
		r->len = r->nlh.nlmsg_len = chance_below(r->len + 1);
		if (r->len < NLMSG_HDRLEN)
			r->len = NLMSG_HDRLEN;
		break;
	case 4:
		/* Two messages in one. */
		if (r->len * 2 > sizeof(r->bytes))
			break;
		memcpy(r->bytes + NLMSG_ALIGN(r->len), r->bytes, r->len);
		r->len += NLMSG_ALIGN(r->len);
		break;
	}
	r->clear = r->nlh.nlmsg_len == r->len && r->nlh.nlmsg_flags & NLM_F_REQUEST &&
		   r->nlh.nlmsg_flags & NLM_F_ACK && r->nlh.nlmsg_type == family;
}

void nl_make(struct nl_request *r, int family, uint32_t seq)
{
	int cmd = chance_one_in(16)
			  ? chance_below(256)
			  : TRIB_CMD_MODULE_GET + chance_below(TRIB_CMD__MAX - TRIB_CMD_MODULE_GET);
	bool dump = nl_cmd_dumps(cmd) ? !nl_cmd_does(cmd) || chance_one_in(2) : false;
	struct genlmsghdr *g = NLMSG_DATA(&r->nlh);
	int n;

	if (chance_one_in(32))
		dump = !dump;
	memset(r->bytes, 0, sizeof(r->bytes));
	nl_begin(r, family, cmd, NLM_F_ACK | (dump ? NLM_F_DUMP : 0), seq);
	put_sense(r, cmd, dump);
	if (chance_one_in(4))
		for (n = chance_below(4); n--;)
			put_any(r, 0);
	if (chance_one_in(24))
		g->reserved = chance();
	if (chance_one_in(24))
		g->version = chance();
	if (chance_one_in(4))
		damage(r);
	r->nlh.nlmsg_len = r->len;
	if (chance_one_in(6))
		damage_header(r, family);
}
