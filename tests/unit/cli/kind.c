// SPDX-License-Identifier: BSD-2-Clause
/*
 * userspace/cli/object/kind.c: attributes of kmod/trib.yaml that no table of
 * the command line names.
 */
#include <string.h>

#include "cli/netlink/client.h"
#include "cli/object/kind.h"
#include "tests/lib/tap.h"
#include "uapi/trib.h"

static const struct arg rows[] = {
	ARG_ROW(NULL, "NAME", ARG_NAME, TRIB_A_FACE_NAME, ARG_NEEDED),
	ARG_ROW("dev", "IFNAME", ARG_IFNAME, TRIB_A_FACE_IFNAME, ARG_NEEDED),
	ARG_NUM("port", "P", ARG_U16, TRIB_A_FACE_PORT, 1, 65535, 0),
};

static const struct kind_args some = {rows, 3, NULL, TRIB_A_FACE, NULL};
static const struct cli_kind kind = {.attr = TRIB_A_FACE};

static void usage__names_plain_attributes_without_a_row(void)
{
	char text[1024];

	kind_usage(&some, text, sizeof(text));
	expect(strstr(text, " [mac MAC]") != NULL);
	expect(strstr(text, " [vlan N]") != NULL);
	expect(strstr(text, " [ndn none|router|host]") != NULL);
	/* One has a row, one is read only, one is a list. */
	expect(!strstr(text, "port P"));
	expect(!strstr(text, "mtu"));
	expect(!strstr(text, "ndn-write"));
}

static void usage__leaves_out_rows_of_another_command(void)
{
	const struct kind_args set = {rows, 1, NULL, TRIB_A_FACE, &some};
	char text[1024];

	kind_usage(&set, text, sizeof(text));
	expect(strstr(text, " [mac MAC]") != NULL);
	expect(!strstr(text, " [port"));
	expect(!strstr(text, " [ifname"));
}

/* Find the first attribute of type @type in the nest, or NULL. */
static struct nlattr *made(struct nl_msg *msg, int type)
{
	struct nlattr *nest = nlmsg_find_attr(nlmsg_hdr(msg), 4, TRIB_A_FACE);

	return nest ? nla_find(nla_data(nest), nla_len(nest), type) : NULL;
}

static void message__holds_them_within_their_limits(void)
{
	char *good[] = {"w0", "dev", "eth0", "vlan", "4094", "ndn", "host"};
	char *range[] = {"w0", "dev", "eth0", "vlan", "4095"};
	char *word[] = {"w0", "dev", "eth0", "ndn", "hosts"};
	struct nl_msg *msg;
	struct cli c = {0};

	expect_eq(kind_message(&c, &kind, TRIB_CMD_FACE_NEW, 0, 7, good, &some, &msg), CLI_OK);
	expect(made(msg, TRIB_A_FACE_VLAN) && nla_get_u16(made(msg, TRIB_A_FACE_VLAN)) == 4094);
	expect(made(msg, TRIB_A_FACE_NDN) &&
	       nla_get_u8(made(msg, TRIB_A_FACE_NDN)) == TRIB_FACE_NDN_HOST);
	nlmsg_free(msg);
	expect_eq(kind_message(&c, &kind, TRIB_CMD_FACE_NEW, 0, 5, range, &some, &msg), CLI_ERROR);
	expect(strstr(c.error, "from 1 to 4094") != NULL);
	expect_eq(kind_message(&c, &kind, TRIB_CMD_FACE_NEW, 0, 5, word, &some, &msg), CLI_ERROR);
	expect(strstr(c.error, "none, router, host") != NULL);
}

int main(void)
{
	run(usage__names_plain_attributes_without_a_row);
	run(usage__leaves_out_rows_of_another_command);
	run(message__holds_them_within_their_limits);
	return tap_done();
}
