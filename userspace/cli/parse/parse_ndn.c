// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns arguments for NDN: names, markers, and roles of faces. tribd gets the
 * canonical text of a name, however it was written.
 */
#include <string.h>

#include <netlink/attr.h>

#include "base/text.h"
#include "cli/core/cli.h"
#include "ndn/packet/ndn.h"
#include "uapi/trib.h"
#include "uapi/trib_ndn_maps.h"
#include "parse.h"

static const char *what(const struct arg *a)
{
	return a->word ? a->word : a->value;
}

static int put_prefix(struct cli *c, const struct arg *a, const char *s, struct nl_msg *msg)
{
	char text[NDN_NAME_TEXT_MAX];
	struct ndn_name_buf buf = {};
	struct ndn_name name;
	enum ndn_err err;

	err = ndn_name_parse(&buf, s);
	if (!err) {
		name = ndn_name_of(&buf);
		err = ndn_name_text(&name, text, sizeof(text));
	}
	if (err == NDN_E_TEXT)
		return cli_error(
			c,
			"%s \"%s\" is not a name like /ps/job or /ps/job/v=4294967297/seg=0, with %%XX for odd bytes",
			what(a), s);
	if (err)
		return cli_error(c, "%s \"%s\": %s", what(a), s, ndn_err_text(err));
	return nla_put_string(msg, a->attr, text);
}

/* tribd takes a marker as one component, without slashes. */
static int put_mark(struct cli *c, const struct arg *a, const char *s, struct nl_msg *msg)
{
	char text[NDN_NAME_TEXT_MAX] = "/";
	struct ndn_name_buf buf = {};
	struct ndn_name name;

	if (*s && strlen(s) < sizeof(text) - 1)
		strcpy(text + 1, s);
	if (strchr(s, '/') || ndn_name_parse(&buf, text) || !buf.len)
		return cli_error(c, "%s \"%s\" is not one component of a name, without slashes",
				 a->word, s);
	if (buf.len > NDN_MARKER_BYTES)
		return cli_error(
			c,
			"%s \"%s\": a marker has at most %d bytes, with type and length; this has %u",
			a->word, s, NDN_MARKER_BYTES, buf.len);
	name = ndn_name_of(&buf);
	if (ndn_name_text(&name, text, sizeof(text)))
		return cli_error(c, "%s \"%s\" is too long", a->word, s);
	return nla_put_string(msg, a->attr, text + 1);
}

static int put_ndn(struct cli *c, const struct arg *a, const char *s, struct nl_msg *msg)
{
	static const char *const words[] = {
		[TRIB_FACE_NDN_NONE] = "none",
		[TRIB_FACE_NDN_ROUTER] = "router",
		[TRIB_FACE_NDN_HOST] = "host",
	};
	uint8_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(s, words[i]))
			return nla_put_u8(msg, a->attr, i);
	return cli_error(c, "%s \"%s\" is none of host, router and none", a->word, s);
}

static int put_port(struct cli *c, const struct arg *a, const char *s, struct nl_msg *msg)
{
	uint64_t port = 0;

	if (strcmp(s, "ether") && text_number(s, 1, 65535, &port))
		return cli_error(c, "%s \"%s\" is neither a port from 1 to 65535 nor ether",
				 a->word, s);
	return nla_put_u16(msg, a->attr, (uint16_t)port);
}

bool parse_is_none(const struct arg *a, const char *s)
{
	return a->kind == ARG_PREFIXES && !strcmp(s, "none");
}

int parse_put_ndn(struct cli *c, const struct arg *a, const char *s, int order, struct nl_msg *msg)
{
	switch (a->kind) {
	case ARG_MARK:
		return put_mark(c, a, s, msg);
	case ARG_NDN:
		return put_ndn(c, a, s, msg);
	case ARG_NDN_PORT:
		return put_port(c, a, s, msg);
	default:
		if (!order && parse_is_none(a, s))
			return nla_put_string(msg, a->attr, "");
		return put_prefix(c, a, s, msg);
	}
}
