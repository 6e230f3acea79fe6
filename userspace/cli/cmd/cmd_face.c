// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib face: neighbours of this host, each behind a port with XDP.
 */
#include <stdio.h>
#include <string.h>

#include "cli/object/ndn.h"
#include "cmd.h"

/* Arguments for the NDN forwarder. */
#define NDN_ARGS                                                                                   \
	ARG_ROW("ndn", "host, router or none", ARG_NDN, TRIB_A_FACE_NDN, 0),                       \
		ARG_ROW("ndn-port", "P or ether", ARG_NDN_PORT, TRIB_A_FACE_NDN_PORT, 0),          \
		ARG_ROW("subscribe", "PREFIX", ARG_PREFIXES, TRIB_A_FACE_NDN_SUBSCRIBE, ARG_LIST), \
		ARG_ROW("write", "PREFIX", ARG_PREFIXES, TRIB_A_FACE_NDN_WRITE, ARG_LIST)

static const struct arg add_args[] = {
	ARG_ROW(NULL, "NAME", ARG_NAME, TRIB_A_FACE_NAME, ARG_NEEDED),
	ARG_ROW("dev", "IFNAME", ARG_IFNAME, TRIB_A_FACE_IFNAME, ARG_NEEDED),
	ARG_ROW("addr", "ADDR", ARG_ADDR, TRIB_A_FACE_ADDR, 0),
	ARG_ROW("mac", "MAC", ARG_MAC, TRIB_A_FACE_MAC, 0),
	ARG_NUM("port", "P", ARG_U16, TRIB_A_FACE_PORT, 1, 65535, 0),
	ARG_ROW("local", "ADDR", ARG_ADDR, TRIB_A_FACE_LOCAL_ADDR, 0),
	ARG_NUM("vlan", "V", ARG_U16, TRIB_A_FACE_VLAN, 1, 4094, 0),
	ARG_NUM("inner", "V", ARG_U16, TRIB_A_FACE_VLAN_INNER, 1, 4094, 0),
	NDN_ARGS,
};

static const struct arg set_args[] = {
	ARG_ROW(NULL, "NAME", ARG_NAME, TRIB_A_FACE_NAME, ARG_NEEDED),
	NDN_ARGS,
};

static const struct arg name_args[] = {
	ARG_ROW(NULL, "NAME", ARG_NAME, TRIB_A_FACE_NAME, ARG_NEEDED),
};

static void addr_text(const json_t *f, char *buf, size_t size)
{
	const char *addr = jstr(f, "addr");

	/* A face for NDN over Ethernet has no address. */
	if (!*addr || !strcmp(addr, "::"))
		snprintf(buf, size, "-");
	else
		snprintf(buf, size, strchr(addr, ':') ? "[%s]:%u" : "%s:%u", addr,
			 (unsigned int)jnum(f, "port"));
}

static void vlan_text(const json_t *f, char *buf, size_t size)
{
	if (jnum(f, "vlan_inner"))
		snprintf(buf, size, "%u.%u", (unsigned int)jnum(f, "vlan"),
			 (unsigned int)jnum(f, "vlan_inner"));
	else if (jnum(f, "vlan"))
		snprintf(buf, size, "%u", (unsigned int)jnum(f, "vlan"));
	else
		snprintf(buf, size, "-");
}

static void dev_text(const json_t *f, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s", jstr(f, "ifname"), jnum(f, "ifindex") ? "" : " (gone)");
}

static const struct out_col table[] = {
	{.key = "name"},
	{.title = "dev", .text = dev_text},
	{.title = "address", .text = addr_text},
	{.key = "mac"},
	{.title = "vlan", .text = vlan_text},
	{.title = "xdp", .key = "xdp_mode"},
	{.key = "mtu", .right = true},
	{.key = "trees", .right = true},
	{.title = "ndn", .text = ndn_face_text},
};

static const struct out_col details[] = {
	{.key = "name"},
	{.title = "dev", .text = dev_text},
	{.key = "ifindex"},
	{.title = "address", .text = addr_text},
	{.key = "mac"},
	{.title = "local address", .key = "local_addr"},
	{.title = "local mac", .key = "local_mac"},
	{.title = "vlan", .text = vlan_text},
	{.title = "xdp", .key = "xdp_mode"},
	{.title = "why not native", .key = "reason"},
	{.key = "mtu"},
	{.key = "trees"},
	{.title = "ndn", .text = ndn_face_text},
	{.title = "ndn number", .key = "ndn_number"},
	{.title = "may subscribe to", .key = "ndn_subscribe"},
	{.title = "may send Data of", .key = "ndn_write"},
};

const struct cli_kind cmd_face_kind = {
	.get = TRIB_CMD_FACE_GET,
	.attr = TRIB_A_FACE,
	.name = name_args,
	.table = table,
	.ntable = sizeof(table) / sizeof(table[0]),
	.details = details,
	.ndetails = sizeof(details) / sizeof(details[0]),
	.shown = "addr port ifname vlan vlan_inner ndn ndn_port",
};

static int face_show(struct cli *c, int argc, char **argv)
{
	return kind_show(c, &cmd_face_kind, argc, argv);
}

#define NDN_GIVEN                                                                                  \
	(ARG_BIT(TRIB_A_FACE_NDN) | ARG_BIT(TRIB_A_FACE_NDN_PORT) |                                \
	 ARG_BIT(TRIB_A_FACE_NDN_SUBSCRIBE) | ARG_BIT(TRIB_A_FACE_NDN_WRITE))

static int check_add(struct cli *c, uint32_t seen)
{
	/* A face with ndn-port ether needs none; tribd checks that. */
	if (!(seen & (ARG_BIT(TRIB_A_FACE_ADDR) | ARG_BIT(TRIB_A_FACE_NDN_PORT))))
		return cli_usage(c, "addr ADDR is missing");
	if ((seen & ARG_BIT(TRIB_A_FACE_VLAN_INNER)) && !(seen & ARG_BIT(TRIB_A_FACE_VLAN)))
		return cli_usage(c, "inner needs vlan, the outer tag");
	if ((seen & NDN_GIVEN) && !(seen & ARG_BIT(TRIB_A_FACE_NDN)))
		return cli_usage(c, "ndn-port, subscribe and write need ndn host or ndn router");
	return CLI_OK;
}

static int check_set(struct cli *c, uint32_t seen)
{
	if (seen & ~ARG_BIT(TRIB_A_FACE_NAME))
		return CLI_OK;
	return cli_usage(
		c,
		"nothing to change: give comment, forward, watch, ndn, ndn-port, subscribe or write");
}

static const struct kind_args add = {add_args, sizeof(add_args) / sizeof(add_args[0]), check_add,
				     TRIB_A_FACE, NULL};

static int face_add(struct cli *c, int argc, char **argv)
{
	return kind_change(c, &cmd_face_kind, TRIB_CMD_FACE_NEW, argc, argv, &add);
}

static const struct kind_args set = {set_args, sizeof(set_args) / sizeof(set_args[0]), check_set,
				     TRIB_A_FACE, &add};

static int face_set(struct cli *c, int argc, char **argv)
{
	return kind_change(c, &cmd_face_kind, TRIB_CMD_FACE_SET, argc, argv, &set);
}

static int face_del(struct cli *c, int argc, char **argv)
{
	struct kind_args args = {name_args, 1, NULL, 0, NULL};

	return kind_change(c, &cmd_face_kind, TRIB_CMD_FACE_DEL, argc, argv, &args);
}

#define NDN_USAGE                                                                                  \
	"[ndn host|router|none] [ndn-port P|ether] [subscribe PREFIX...|none] [write PREFIX...|none]"

static const struct cli_cmd cmds[] = {
	CLI_CMD("show", "[NAME]", "List the faces, or show one in full.", face_show),
	{"add",
	 "NAME dev IFNAME addr ADDR [mac MAC] [port P] [local ADDR] [vlan V [inner V]] " NDN_USAGE,
	 "Add a neighbour, and attach XDP to its port.", face_add, &add},
	{"set", "NAME " NDN_USAGE,
	 "Change the role of a face in the NDN forwarder, and the names that it may use.", face_set,
	 &set},
	CLI_CMD("del", "NAME", "Remove a face that no tree and no route uses.", face_del),
};

CLI_OBJECT(face, "neighbours of this host, each behind a port");
