/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A second, strict implementation of uapi/trib.h for the module's messages. nlfuzz
 * uses it to judge which requests the module accepts and how it answers.
 */
#ifndef NLSPEC_H
#define NLSPEC_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/trib.h"

/* Kinds of attributes. A name has at most 63 characters. */
enum nl_kind { NL_NONE = 0, NL_U8, NL_U16, NL_U32, NL_U64, NL_TEXT, NL_NAME };
#define NL_NAME_MAX 63

#define NL_ATTRS_MAX 16

/* A set of attributes: kinds, by number. */
struct nl_set {
	int max;
	uint8_t kind[NL_ATTRS_MAX];
};

/* The set nested in a top-level attribute; NULL if it is not the module's. */
const struct nl_set *nl_set_of(int top);

/**
 * struct nl_claim - contents of a valid request about a claim
 * @has_job, @has_uid: the attribute is present.
 */
struct nl_claim {
	bool has_job, has_uid;
	uint16_t job;
	uint32_t uid;
};

/* Commands of the module; of these, commands that change state, and commands that
 * dump. */
bool nl_cmd_is_ours(int cmd);
bool nl_cmd_changes(int cmd);
bool nl_cmd_dumps(int cmd);
bool nl_cmd_does(int cmd);

/* Reason why the module must refuse this request; NULL: it may accept it. */
const char *nl_judge_request(const struct nlmsghdr *nlh, struct nl_claim *claim);
/* Reason why an answer or event is wrong, or NULL. @claim: a claim in it. */
const char *nl_judge_answer(const struct nlmsghdr *nlh, struct nl_claim *claim);

#endif /* NLSPEC_H */
