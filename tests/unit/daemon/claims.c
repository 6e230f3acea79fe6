// SPDX-License-Identifier: BSD-2-Clause
/*
 * job/claims.c: messages of the controller of generic netlink. That claims
 * follow jobs is tested in tests/vm, with the module.
 */
#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdint.h>
#include <string.h>

#include "tests/lib/tap.h"
#include "daemon/job/claims.h"

/* The module's id after a message; with 0 the message lacks @name or @id. */
static uint16_t after(uint16_t was, int type, uint8_t cmd, const char *name, uint16_t id)
{
	struct nl_msg *m = nlmsg_alloc_simple(type, 0);
	struct genlmsghdr g = {.cmd = cmd};

	nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO);
	if (name)
		nla_put_string(m, CTRL_ATTR_FAMILY_NAME, name);
	if (id)
		nla_put_u16(m, CTRL_ATTR_FAMILY_ID, id);
	claims_family(nlmsg_hdr(m), &was);
	nlmsg_free(m);
	return was;
}

static void family__comes_and_goes(void)
{
	expect_eq(after(0, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY, "trib", 31), 31);
	expect_eq(after(31, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY, "trib", 32), 32);
	expect_eq(after(32, GENL_ID_CTRL, CTRL_CMD_DELFAMILY, "trib", 32), 0);
}

static void family__others_are_of_no_interest(void)
{
	expect_eq(after(5, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY, "ethtool", 20), 5);
	expect_eq(after(5, GENL_ID_CTRL, CTRL_CMD_DELFAMILY, "tribe", 20), 5);
	expect_eq(after(5, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY, "tri", 20), 5);
	expect_eq(after(5, GENL_ID_CTRL, CTRL_CMD_NEWMCAST_GRP, "trib", 20), 5);
	expect_eq(after(5, 30, CTRL_CMD_NEWFAMILY, "trib", 20), 5);
}

static void family__broken_messages_change_nothing(void)
{
	struct nlmsghdr empty = {
		.nlmsg_len = NLMSG_HDRLEN,
		.nlmsg_type = GENL_ID_CTRL,
	};
	struct nl_msg *m = nlmsg_alloc_simple(GENL_ID_CTRL, 0);
	struct genlmsghdr g = {.cmd = CTRL_CMD_NEWFAMILY};
	uint16_t id = 5;

	claims_family(&empty, &id);
	expect_eq(id, 5);
	expect_eq(after(5, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY, NULL, 9), 5);
	expect_eq(after(5, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY, "trib", 0), 5);
	/* An id of one byte. */
	nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO);
	nla_put_string(m, CTRL_ATTR_FAMILY_NAME, "trib");
	nla_put_u8(m, CTRL_ATTR_FAMILY_ID, 9);
	claims_family(nlmsg_hdr(m), &id);
	expect_eq(id, 5);
	nlmsg_free(m);
}

int main(void)
{
	run(family__comes_and_goes);
	run(family__others_are_of_no_interest);
	run(family__broken_messages_change_nothing);
	return tap_done();
}
