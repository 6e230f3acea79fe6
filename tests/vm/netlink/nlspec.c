// SPDX-License-Identifier: BSD-2-Clause
/* A second implementation of the module's netlink contract: see nlspec.h. */
#include <string.h>

#include "nlspec.h"

static const struct nl_set sets[TRIB_A__MAX] = {
	[TRIB_A_MODULE] = {TRIB_A_MODULE__MAX,
			   {[TRIB_A_MODULE_VERSION] = NL_TEXT,
			    [TRIB_A_MODULE_API] = NL_U32,
			    [TRIB_A_MODULE_LEVEL] = NL_TEXT,
			    [TRIB_A_MODULE_FORMATS] = NL_U64,
			    [TRIB_A_MODULE_FPU_BUSY] = NL_U8,
			    [TRIB_A_MODULE_CALLS] = NL_U64,
			    [TRIB_A_MODULE_FALLBACKS] = NL_U64,
			    [TRIB_A_MODULE_CODEC] = NL_TEXT}},
	[TRIB_A_KFUNC] = {TRIB_A_KFUNC__MAX,
			  {[TRIB_A_KFUNC_NAME] = NL_NAME,
			   [TRIB_A_KFUNC_CALLS] = NL_U64,
			   [TRIB_A_KFUNC_BYTES] = NL_U64,
			   [TRIB_A_KFUNC_FALLBACKS] = NL_U64,
			   [TRIB_A_KFUNC_REFUSED] = NL_U64}},
	[TRIB_A_EVENT] = {TRIB_A_EVENT__MAX,
			  {[TRIB_A_EVENT_KIND] = NL_U32, [TRIB_A_EVENT_COUNT] = NL_U64}},
	[TRIB_A_SOCK] = {TRIB_A_SOCK__MAX,
			 {[TRIB_A_SOCK_INODE] = NL_U64,
			  [TRIB_A_SOCK_UID] = NL_U32,
			  [TRIB_A_SOCK_STATE] = NL_U8,
			  [TRIB_A_SOCK_JOB] = NL_U16,
			  [TRIB_A_SOCK_RANK] = NL_U16,
			  [TRIB_A_SOCK_WORLD] = NL_U16,
			  [TRIB_A_SOCK_MEM] = NL_U64,
			  [TRIB_A_SOCK_MESSAGES] = NL_U64,
			  [TRIB_A_SOCK_CHUNKS] = NL_U64,
			  [TRIB_A_SOCK_SENT] = NL_U64,
			  [TRIB_A_SOCK_RECEIVED] = NL_U64,
			  [TRIB_A_SOCK_RESENDS] = NL_U64,
			  [TRIB_A_SOCK_INFLIGHT] = NL_U64,
			  [TRIB_A_SOCK_CARRIED] = NL_U64,
			  [TRIB_A_SOCK_ERROR] = NL_TEXT}},
	[TRIB_A_CLAIM] = {TRIB_A_CLAIM__MAX,
			  {[TRIB_A_CLAIM_JOB] = NL_U16, [TRIB_A_CLAIM_UID] = NL_U32}},
};

/* Top-level attributes of each command: bits of requests and answers. */
static const struct {
	bool changes, does, dumps;
	uint32_t takes, gives;
} cmds[TRIB_CMD__MAX] = {
	[TRIB_CMD_MODULE_GET] = {.does = true, .gives = 1 << TRIB_A_MODULE},
	[TRIB_CMD_MODULE_RESET] = {.changes = true, .does = true},
	[TRIB_CMD_KFUNC_GET] = {.does = true,
				.dumps = true,
				.takes = 1 << TRIB_A_KFUNC,
				.gives = 1 << TRIB_A_KFUNC},
	[TRIB_CMD_MODULE_EVENT] = {.gives = 1 << TRIB_A_EVENT | 1 << TRIB_A_SOCK},
	[TRIB_CMD_SOCK_GET] = {.dumps = true, .gives = 1 << TRIB_A_SOCK},
	[TRIB_CMD_CLAIM_NEW] = {.changes = true, .does = true, .takes = 1 << TRIB_A_CLAIM},
	[TRIB_CMD_CLAIM_DEL] = {.changes = true, .does = true, .takes = 1 << TRIB_A_CLAIM},
	[TRIB_CMD_CLAIM_GET] = {.dumps = true, .gives = 1 << TRIB_A_CLAIM},
};

bool nl_cmd_is_ours(int cmd)
{
	return nl_cmd_does(cmd) || nl_cmd_dumps(cmd);
}

bool nl_cmd_changes(int cmd)
{
	return cmd < TRIB_CMD__MAX && cmds[cmd].changes;
}

bool nl_cmd_dumps(int cmd)
{
	return cmd < TRIB_CMD__MAX && cmds[cmd].dumps;
}

bool nl_cmd_does(int cmd)
{
	return cmd < TRIB_CMD__MAX && cmds[cmd].does;
}

const struct nl_set *nl_set_of(int top)
{
	return top < TRIB_A__MAX && sets[top].max ? &sets[top] : NULL;
}

/* --- walking attributes */

struct walk {
	const uint8_t *at, *end;
	const struct nlattr *attr;
	const uint8_t *data;
	uint16_t type, len;
	const char *wrong;
};

static struct walk walk_of(const void *from, size_t len)
{
	return (struct walk){.at = from, .end = (const uint8_t *)from + len};
}

/* The last attribute may lack padding. */
static bool walk_next(struct walk *w)
{
	size_t left = w->at < w->end ? w->end - w->at : 0, step;

	if (!left)
		return false;
	w->attr = (const struct nlattr *)w->at;
	if (left < NLA_HDRLEN || w->attr->nla_len < NLA_HDRLEN || w->attr->nla_len > left) {
		w->wrong = "an attribute of a wrong length";
		return false;
	}
	w->type = w->attr->nla_type & NLA_TYPE_MASK;
	w->len = w->attr->nla_len - NLA_HDRLEN;
	w->data = w->at + NLA_HDRLEN;
	step = NLA_ALIGN(w->attr->nla_len);
	w->at += step < left ? step : left;
	return true;
}

static bool text_is_good(const struct walk *w, size_t most)
{
	return w->len && w->len <= most + 1 && memchr(w->data, 0, w->len) == w->data + w->len - 1;
}

static const char *judge_value(const struct walk *w, enum nl_kind kind)
{
	static const uint8_t bytes[] = {
		[NL_U8] = 1,
		[NL_U16] = 2,
		[NL_U32] = 4,
		[NL_U64] = 8,
	};

	if (kind == NL_NONE)
		return "an attribute that the set does not have";
	if (w->attr->nla_type & NLA_F_NESTED)
		return "a value that says it is a nest";
	if (kind == NL_TEXT)
		return text_is_good(w, 255) ? NULL : "a text without its end";
	if (kind == NL_NAME)
		return text_is_good(w, NL_NAME_MAX) ? NULL : "no name";
	return w->len == bytes[kind] ? NULL : "a value of a wrong length";
}

/* If an attribute occurs twice, the last one counts. */
static const char *judge_nest(const struct walk *nest, uint32_t *seen, struct nl_claim *claim)
{
	const struct nl_set *set = &sets[nest->type];
	struct walk w = walk_of(nest->data, nest->len);
	const char *wrong;

	if (!(nest->attr->nla_type & NLA_F_NESTED))
		return "a nest that does not say so";
	*seen = 0;
	if (nest->type == TRIB_A_CLAIM)
		*claim = (struct nl_claim){0};
	while (walk_next(&w)) {
		wrong = judge_value(&w, w.type < set->max ? set->kind[w.type] : 0);
		if (wrong)
			return wrong;
		*seen |= 1U << w.type;
		if (nest->type != TRIB_A_CLAIM)
			continue;
		if (w.type == TRIB_A_CLAIM_JOB) {
			claim->has_job = true;
			memcpy(&claim->job, w.data, 2);
		} else {
			claim->has_uid = true;
			memcpy(&claim->uid, w.data, 4);
		}
	}
	return w.wrong;
}

/* --- requests */

static const char *judge_wants(int cmd, bool dump, uint32_t kfunc, const struct nl_claim *claim)
{
	switch (cmd) {
	case TRIB_CMD_KFUNC_GET:
		if (!dump && kfunc != 1 << TRIB_A_KFUNC_NAME)
			return "want one function, by its name";
		return NULL;
	case TRIB_CMD_CLAIM_NEW:
		return claim->has_job && claim->has_uid && claim->uid != UINT32_MAX
			       ? NULL
			       : "a claim needs job and user";
	case TRIB_CMD_CLAIM_DEL:
		return claim->has_job && !claim->has_uid
			       ? NULL
			       : "want the job of a claim and nothing else";
	default:
		return NULL;
	}
}

const char *nl_judge_request(const struct nlmsghdr *nlh, struct nl_claim *claim)
{
	bool dump = (nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	const struct genlmsghdr *g = NLMSG_DATA(nlh);
	uint32_t kfunc = 0, seen, takes;
	const char *wrong;
	uint16_t flags;
	struct walk w;

	*claim = (struct nl_claim){0};
	if (nlh->nlmsg_len < NLMSG_LENGTH(GENL_HDRLEN))
		return "shorter than its header";
	flags = nlh->nlmsg_flags & ~(NLM_F_REQUEST | NLM_F_ACK | NLM_F_ECHO);
	if (g->reserved || (flags && flags != NLM_F_DUMP))
		return "unknown flags";
	if (!(dump ? nl_cmd_dumps(g->cmd) : nl_cmd_does(g->cmd)))
		return "no such command";
	/* A dump takes no selection. */
	takes = dump ? 0 : cmds[g->cmd].takes;
	w = walk_of((const uint8_t *)g + GENL_HDRLEN, nlh->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN));
	while (walk_next(&w)) {
		if (w.type >= TRIB_A__MAX || !(takes & 1U << w.type))
			return "an attribute that the command does not take";
		wrong = judge_nest(&w, &seen, claim);
		if (wrong)
			return wrong;
		if (w.type == TRIB_A_KFUNC)
			kfunc = seen;
	}
	return w.wrong ?: judge_wants(g->cmd, dump, kfunc, claim);
}

/* --- answers */

const char *nl_judge_answer(const struct nlmsghdr *nlh, struct nl_claim *claim)
{
	const struct genlmsghdr *g = NLMSG_DATA(nlh);
	uint32_t seen, tops = 0;
	const char *wrong;
	struct walk w;

	*claim = (struct nl_claim){0};
	if (nlh->nlmsg_len < NLMSG_LENGTH(GENL_HDRLEN))
		return "shorter than its header";
	if (g->cmd >= TRIB_CMD__MAX || !cmds[g->cmd].gives)
		return "an answer to no command";
	if (g->version != TRIB_GENL_VERSION || g->reserved)
		return "another version";
	w = walk_of((const uint8_t *)g + GENL_HDRLEN, nlh->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN));
	while (walk_next(&w)) {
		if (w.type >= TRIB_A__MAX || !(cmds[g->cmd].gives & 1U << w.type))
			return "an attribute that the command does not have";
		if (tops & 1U << w.type)
			return "two objects in one message";
		tops |= 1U << w.type;
		/* Nests of the kernel lack NLA_F_NESTED, for compatibility. */
		((struct nlattr *)w.attr)->nla_type |= NLA_F_NESTED;
		wrong = judge_nest(&w, &seen, claim);
		if (wrong)
			return wrong;
		if (w.type != TRIB_A_SOCK && w.type != TRIB_A_EVENT &&
		    seen != (1U << sets[w.type].max) - 2)
			return "an object that lacks attributes";
	}
	return w.wrong ?: tops ? NULL : "nothing in it";
}
