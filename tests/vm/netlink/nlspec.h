/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What uapi/trib.h says of the module's messages, once more, and strictly: by
 * this nlfuzz judges what the module takes and what it answers.
 */
#ifndef NLSPEC_H
#define NLSPEC_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/trib.h"

/* What an attribute holds. A name is a text of 63 characters at most. */
enum nl_kind { NL_NONE = 0, NL_U8, NL_U16, NL_U32, NL_U64, NL_TEXT, NL_NAME };
#define NL_NAME_MAX 63

#define NL_ATTRS_MAX 16

/* A set of attributes: kinds by number. */
struct nl_set {
	int max;
	uint8_t kind[NL_ATTRS_MAX];
};

/* Of a top-level attribute; NULL: it is none of the module's. */
const struct nl_set *nl_set_of(int top);

/**
 * struct nl_claim - what a legal request for a claim says
 * @has_job, @has_uid: it names one.
 */
struct nl_claim {
	bool has_job, has_uid;
	uint16_t job;
	uint32_t uid;
};

/* A command of the module's that can be asked; of these, ones that change
 * something, and ones that are answered by many messages. */
bool nl_cmd_is_ours(int cmd);
bool nl_cmd_changes(int cmd);
bool nl_cmd_dumps(int cmd);
bool nl_cmd_does(int cmd);

/* Why the module must not take this request; NULL: it may. */
const char *nl_judge_request(const struct nlmsghdr *nlh,
			     struct nl_claim *claim);
/* Why it must not have sent this answer or event. Of a claim it is in @claim. */
const char *nl_judge_answer(const struct nlmsghdr *nlh, struct nl_claim *claim);

#endif /* NLSPEC_H */
