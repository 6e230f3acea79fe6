/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * userspace/cli/parse: every kind of value at its limits, and wrong command
 * lines of every kind.
 */
#include <errno.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "base/text.h"
#include "cli/core/cli.h"
#include "cli/netlink/client.h"
#include "cli/parse/parse.h"
#include "uapi/trib.h"
#include "uapi/trib_wire.h"
#include "tests/lib/tap.h"

static int number(const char *s, uint64_t min, uint64_t max)
{
	uint64_t v = 99;
	int err = text_number(s, min, max, &v);

	return err ? err : (int)v;
}

static void parse__numbers(void)
{
	uint64_t v;

	expect_eq(number("0", 0, 5), 0);
	expect_eq(number("5", 0, 5), 5);
	expect_eq(number("007", 0, 9), 7);
	expect_eq(number("6", 0, 5), -ERANGE);
	expect_eq(number("0", 1, 5), -ERANGE);
	expect_eq(number("", 0, 5), -EINVAL);
	expect_eq(number("-1", 0, 5), -EINVAL);
	expect_eq(number("+1", 0, 5), -EINVAL);
	expect_eq(number(" 1", 0, 5), -EINVAL);
	expect_eq(number("1 ", 0, 5), -EINVAL);
	expect_eq(number("0x1", 0, 5), -EINVAL);
	expect_eq(number("1.5", 0, 5), -EINVAL);
	expect_eq(text_number("18446744073709551615", 0, UINT64_MAX, &v), 0);
	expect(v == UINT64_MAX);
	expect_eq(number("18446744073709551616", 0, 5), -ERANGE);
	expect_eq(number("99999999999999999999999", 0, 5), -ERANGE);
}

static void text__hexadecimal(void)
{
	uint64_t v = 0;

	expect_eq(text_hex("fedcba9876543210", &v), 0);
	expect(v == 0xfedcba9876543210ULL);
	expect_eq(text_hex("Ab", &v), 0);
	expect_eq(v, 0xab);
	expect_eq(text_hex("00000000000000001", &v), -ERANGE);
	expect_eq(text_hex("", &v), -EINVAL);
	expect_eq(text_hex("12g", &v), -EINVAL);
	expect_eq(text_hex("-1", &v), -EINVAL);
}

static void parse__rates(void)
{
	uint64_t v = 0;

	expect_eq(parse_rate("0", &v), 0);
	expect_eq(parse_rate("500M", &v), 0);
	expect_eq(v, 500000000);
	expect_eq(parse_rate("10G", &v), 0);
	expect_eq(v, 10000000000);
	expect_eq(parse_rate("2k", &v), 0);
	expect_eq(v, 2000);
	expect_eq(parse_rate("2K", &v), 0);
	expect_eq(parse_rate("1T", &v), 0);
	expect_eq(v, 1000000000000);
	expect_eq(parse_rate("M", &v), -EINVAL);
	expect_eq(parse_rate("1m", &v), -EINVAL);
	expect_eq(parse_rate("1Mbit", &v), -EINVAL);
	expect_eq(parse_rate("-1", &v), -EINVAL);
	expect_eq(parse_rate("9300000000G", &v), -ERANGE);
	expect_eq(parse_rate("99999999999999999999999999G", &v), -ERANGE);
}

static void parse__addresses(void)
{
	static const uint8_t v4[16] = {[10] = 0xff, 0xff, 10, 77, 0, 2};
	uint8_t a[16];

	expect_eq(parse_addr("10.77.0.2", a), 0);
	expect(!memcmp(a, v4, 16));
	expect_eq(parse_addr("::ffff:10.77.0.2", a), 0);
	expect(!memcmp(a, v4, 16));
	expect_eq(parse_addr("fd00::1", a), 0);
	expect(a[0] == 0xfd && a[15] == 1);
	expect_eq(parse_addr("10.77.0", a), -EINVAL);
	expect_eq(parse_addr("10.77.0.256", a), -EINVAL);
	expect_eq(parse_addr("10.77.0.2/24", a), -EINVAL);
	expect_eq(parse_addr("fd00::1::", a), -EINVAL);
	expect_eq(parse_addr("fe80::1%eth0", a), -EINVAL);
	expect_eq(parse_addr("", a), -EINVAL);
	expect_eq(parse_addr("host", a), -EINVAL);
}

static void parse__hosts(void)
{
	static const char *const bad[] = {
		"",	      ":1",	      "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536",
		"[10.0.0.1]", "[10.0.0.1]:5", "[fd00::1",  "[fd00::1]5", "[]",
		"[]:5",	      "fd00::1]:5",   "host:5"};
	uint8_t addr[16], want[16];
	uint16_t port;
	size_t i;

	expect_eq(parse_addr("10.0.0.1", want), 0);
	expect_eq(parse_host("10.0.0.1", addr, &port), 0);
	expect(!memcmp(addr, want, 16) && !port);
	expect_eq(parse_host("10.0.0.1:7500", addr, &port), 0);
	expect(!memcmp(addr, want, 16) && port == 7500);
	expect_eq(parse_addr("fd00::1", want), 0);
	expect_eq(parse_host("fd00::1", addr, &port), 0);
	expect(!memcmp(addr, want, 16) && !port);
	expect_eq(parse_host("[fd00::1]", addr, &port), 0);
	expect(!memcmp(addr, want, 16) && !port);
	expect_eq(parse_host("[fd00::1]:65535", addr, &port), 0);
	expect(!memcmp(addr, want, 16) && port == 65535);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!expect(parse_host(bad[i], addr, &port) != 0))
			printf("# %s\n", bad[i]);
}

static void parse__macs(void)
{
	uint8_t m[6];

	expect_eq(parse_mac("02:00:5e:10:fF:Fe", m), 0);
	expect(m[0] == 2 && m[2] == 0x5e && m[4] == 0xff && m[5] == 0xfe);
	expect_eq(parse_mac("02:00:5e:10:ff", m), -EINVAL);
	expect_eq(parse_mac("02:00:5e:10:ff:fe:01", m), -EINVAL);
	expect_eq(parse_mac("02:00:5e:10:ff:f", m), -EINVAL);
	expect_eq(parse_mac("2:00:5e:10:ff:fe", m), -EINVAL);
	expect_eq(parse_mac("02-00-5e-10-ff-fe", m), -EINVAL);
	expect_eq(parse_mac("02:00:5e:10:ff:fg", m), -EINVAL);
	expect_eq(parse_mac("", m), -EINVAL);
}

static void parse__users(void)
{
	uint32_t u = 7;

	expect_eq(parse_uid("1000", &u), 0);
	expect_eq(u, 1000);
	expect_eq(parse_uid("root", &u), 0);
	expect_eq(u, 0);
	expect_eq(parse_uid("4294967295", &u), -ERANGE);
	expect_eq(parse_uid("no-such-user-here", &u), -EINVAL);
	expect_eq(parse_uid("", &u), -EINVAL);
}

static void parse__seconds(void)
{
	uint32_t ms = 0;

	expect_eq(parse_seconds("2", 100, 3600000, &ms), 0);
	expect_eq(ms, 2000);
	expect_eq(parse_seconds("0.25", 100, 3600000, &ms), 0);
	expect_eq(ms, 250);
	expect_eq(parse_seconds("1.23456", 100, 3600000, &ms), 0);
	expect_eq(ms, 1234);
	expect_eq(parse_seconds("0.05", 100, 3600000, &ms), -ERANGE);
	expect_eq(parse_seconds("3601", 100, 3600000, &ms), -ERANGE);
	expect_eq(parse_seconds("99999999999999999999", 100, 3600000, &ms), -ERANGE);
	expect_eq(parse_seconds(".5", 100, 3600000, &ms), -EINVAL);
	expect_eq(parse_seconds("1.", 100, 3600000, &ms), -EINVAL);
	expect_eq(parse_seconds("1s", 100, 3600000, &ms), -EINVAL);
	expect_eq(parse_seconds("nan", 100, 3600000, &ms), -EINVAL);
}

static void parse__ranks(void)
{
	uint8_t bits[128], want[128] = {0};

	expect_eq(parse_ranks("0-2,65", bits), 0);
	want[7] = 7; /* big-endian words */
	want[15] = 2;
	expect(!memcmp(bits, want, sizeof(bits)));
	expect_eq(parse_ranks("1023", bits), 0);
	expect_eq(bits[120], 0x80);
	expect_eq(parse_ranks("0-1023", bits), 0);
	expect_eq(bits[64], 0xff);
	expect_eq(parse_ranks("1024", bits), -ERANGE);
	expect_eq(parse_ranks("99999999999999999999", bits), -ERANGE);
	expect_eq(parse_ranks("", bits), -EINVAL);
	expect_eq(parse_ranks("3-2", bits), -EINVAL);
	expect_eq(parse_ranks("1,", bits), -EINVAL);
	expect_eq(parse_ranks("1--2", bits), -EINVAL);
	expect_eq(parse_ranks("a", bits), -EINVAL);
}

static const struct arg args[] = {
	ARG_ROW(NULL, "NAME", ARG_NAME, 1, ARG_NEEDED),
	ARG_ROW("dev", "IFNAME", ARG_IFNAME, 2, ARG_NEEDED),
	ARG_NUM("port", "P", ARG_U16, 3, 1, 65535, 0),
	ARG_NUM("window", "W", ARG_U32, 4, 1, 16384, ARG_POW2),
	ARG_ROW("child", "FACE[:RANK]", ARG_CHILD, 5, ARG_LIST),
	ARG_ROW("local", "RANK[:INDEX]", ARG_LOCAL, 6, ARG_LIST),
	ARG_ROW("hop", "RELAY:FACE", ARG_HOP, 7, ARG_LIST),
	ARG_ROW("ps", "ADDR[:PORT]", ARG_HOST, 8, 0),
};

/* Parse a line split at blanks; the code, and the error in @c. */
static int line(struct cli *c, const char *text, struct nl_msg **out, uint32_t *seen)
{
	struct nl_msg *msg = client_message(1, 0);
	char copy[8192], *argv[256], *save = NULL, *w;
	int argc = 0, code;

	memset(c, 0, sizeof(*c));
	snprintf(copy, sizeof(copy), "%s", text);
	for (w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	code = parse_args(c, argc, argv, args, sizeof(args) / sizeof(args[0]), msg, seen);
	if (out)
		*out = msg;
	else
		nlmsg_free(msg);
	return code;
}

static void args__order_is_free_and_lists_collect(void)
{
	struct nlattr *nla, *sub;
	struct nl_msg *msg;
	uint32_t seen = 0;
	struct cli c;
	int children = 0, rem, subrem;

	expect_eq(line(&c, "n0 child a:0 b:1 port 80 child c dev eth0", &msg, &seen), CLI_OK);
	expect_eq(seen, ARG_BIT(1) | ARG_BIT(2) | ARG_BIT(3) | ARG_BIT(5));
	nla_for_each_attr(nla, (struct nlattr *)((char *)nlmsg_data(nlmsg_hdr(msg)) + 4),
			  nlmsg_datalen(nlmsg_hdr(msg)) - 4, rem) {
		if (nla_type(nla) != 5)
			continue;
		nla_for_each_nested(sub, nla, subrem)
			if (nla_type(sub) == TRIB_A_CHILD_INDEX)
				expect_eq(nla_get_u16(sub), children);
		children++;
	}
	expect_eq(children, 3);
	nlmsg_free(msg);
}

/* A face may have a keyword's name if it is the first value. */
static void args__first_value_is_never_a_keyword(void)
{
	struct cli c;

	expect_eq(line(&c, "dev dev eth0", NULL, NULL), CLI_OK);
	expect_eq(line(&c, "n0 dev eth0 child dev", NULL, NULL), CLI_OK);
	expect_eq(line(&c, "n0 dev eth0 local 1:63 2:1024 hop 1:a 65534:b ps [fd00::1]:7500", NULL,
		       NULL),
		  CLI_OK);
}

static void bad(const char *text, int code, const char *offender)
{
	struct cli c;

	expect_eq(line(&c, text, NULL, NULL), code);
	if (!expect(strstr(c.error, offender) != NULL))
		printf("# \"%s\" gave \"%s\"\n", text, c.error);
}

/* The same of one argument. */
static int one(enum arg_kind kind, char *text, struct cli *c)
{
	const struct arg row[] = {ARG_ROW(NULL, "NAME", kind, 1, ARG_NEEDED)};
	struct nl_msg *msg = client_message(1, 0);
	char *argv[] = {text};
	int code;

	memset(c, 0, sizeof(*c));
	code = parse_args(c, 1, argv, row, 1, msg, NULL);
	nlmsg_free(msg);
	return code;
}

static void args__names(void)
{
	char longest[TRIB_NAME_MAX + 1];
	struct cli c;

	expect_eq(one(ARG_NAME, "w0~2", &c), CLI_OK);
	expect_eq(one(ARG_NAME, "/ps/job", &c), CLI_OK); /* of an older tribd */
	expect_eq(one(ARG_NAME, "", &c), CLI_ERROR);
	expect_eq(one(ARG_NAME, "-w", &c), CLI_ERROR);
	expect_eq(one(ARG_NAME, "a b", &c), CLI_ERROR);
	expect_eq(one(ARG_NAME, "a\n", &c), CLI_ERROR);
	expect_eq(one(ARG_NAME, "\xc3\xa4", &c), CLI_ERROR);
	memset(longest, 'a', sizeof(longest));
	longest[TRIB_NAME_MAX] = '\0';
	expect_eq(one(ARG_NAME, longest, &c), CLI_ERROR);
	longest[TRIB_NAME_MAX - 1] = '\0';
	expect_eq(one(ARG_NAME, longest, &c), CLI_OK);
	expect_eq(one(ARG_NEW_JOB, longest, &c), CLI_OK);
}

static void args__names_of_new_jobs_are_plain(void)
{
	static const char odd[] = "/~:?&#\"\\%'@$ ";
	char text[] = "a/b";
	struct cli c;

	expect_eq(one(ARG_NEW_JOB, "ps_job-1.a", &c), CLI_OK);
	expect_eq(one(ARG_NEW_JOB, "9", &c), CLI_OK);
	expect_eq(one(ARG_NEW_JOB, "..", &c), CLI_ERROR);
	expect_eq(one(ARG_NEW_JOB, ".a", &c), CLI_ERROR);
	expect_eq(one(ARG_NEW_JOB, "-a", &c), CLI_ERROR);
	expect_eq(one(ARG_NEW_JOB, "", &c), CLI_ERROR);
	for (const char *o = odd; *o; o++) {
		text[1] = *o;
		expect_eq(one(ARG_NEW_JOB, text, &c), CLI_ERROR);
	}
	expect_eq(one(ARG_NEW_JOB, "../../etc", &c), CLI_ERROR);
	expect(!strcmp(c.error, "NAME \"../../etc\" contains '/'"));
}

static void args__meeting_is_an_address_with_a_port(void)
{
	struct cli c;

	expect_eq(one(ARG_MEETING, "10.0.0.1:7416", &c), CLI_OK);
	expect_eq(one(ARG_MEETING, "[fd00::1]:7416", &c), CLI_OK);
	expect_eq(one(ARG_MEETING, "10.0.0.1", &c), CLI_ERROR);
	expect_eq(one(ARG_MEETING, "w0:7416", &c), CLI_ERROR);
	expect_eq(one(ARG_MEETING, "0.0.0.0:7416", &c), CLI_ERROR);
	expect(strstr(c.error, "\"0.0.0.0:7416\" is not the address of one host") != NULL);
}

static void args__errors_name_the_offender(void)
{
	bad("", CLI_USAGE, "NAME is missing");
	bad("n0", CLI_USAGE, "dev IFNAME is missing");
	bad("n0 dev", CLI_USAGE, "dev needs IFNAME");
	bad("n0 dev eth0 dev eth1", CLI_USAGE, "dev is given twice");
	bad("n0 dev eth0 speed 3", CLI_USAGE, "\"speed\"");
	bad("n0 dev eth0 n1", CLI_USAGE, "\"n1\"");
	bad("-n dev eth0", CLI_ERROR, "\"-n\"");
	bad("n0 dev a/b", CLI_ERROR, "\"a/b\"");
	bad("n0 dev abcdefghijklmnop", CLI_ERROR, "\"abcdefghijklmnop\"");
	bad("n0 dev eth0 port 0", CLI_ERROR, "\"0\"");
	bad("n0 dev eth0 port 65536", CLI_ERROR, "1 to 65535");
	bad("n0 dev eth0 port http", CLI_ERROR, "\"http\"");
	bad("n0 dev eth0 window 3", CLI_ERROR, "power of 2");
	bad("n0 dev eth0 window 32768", CLI_ERROR, "1 to 16384");
	bad("n0 dev eth0 child", CLI_USAGE, "child needs FACE[:RANK]");
	bad("n0 dev eth0 child a:1024", CLI_ERROR, "\"1024\"");
	bad("n0 dev eth0 child a:", CLI_ERROR, "\"\"");
	bad("n0 dev eth0 child :1", CLI_ERROR, "\"\"");
	bad("n0 dev eth0 child a:1:2", CLI_ERROR, "\"1:2\"");
	bad("n0 dev eth0 local a", CLI_ERROR, "\"a\"");
	bad("n0 dev eth0 local 1:64", CLI_ERROR, "0 to 63");
	bad("n0 dev eth0 local 1:1023", CLI_ERROR, "1024 to 65535");
	bad("n0 dev eth0 local 1:65536", CLI_ERROR, "\"65536\"");
	bad("n0 dev eth0 hop tor", CLI_ERROR, "RELAY:FACE");
	bad("n0 dev eth0 hop tor:1", CLI_ERROR, "\"tor\"");
	bad("n0 dev eth0 hop 0:tor", CLI_ERROR, "1 to 65534");
	bad("n0 dev eth0 hop 123456789:tor", CLI_ERROR, "1 to 65534");
	bad("n0 dev eth0 hop 1:", CLI_ERROR, "\"\"");
	bad("n0 dev eth0 ps host", CLI_ERROR, "\"host\"");
	bad("n0 dev eth0 ps 1.2.3.4 ps 1.2.3.5", CLI_USAGE, "twice");
}

static void args__too_many_children_are_refused(void)
{
	char text[4096] = "n0 dev eth0 child";
	struct cli c;
	int i;

	for (i = 0; i < TRIB_CHILDREN_MAX; i++)
		snprintf(text + strlen(text), 16, " face%d", i);
	expect_eq(line(&c, text, NULL, NULL), CLI_OK);
	strcat(text, " child onemore");
	expect_eq(line(&c, text, NULL, NULL), CLI_ERROR);
	expect(strstr(c.error, "\"onemore\"") != NULL);
}

int main(void)
{
	run(parse__numbers);
	run(text__hexadecimal);
	run(parse__rates);
	run(parse__addresses);
	run(parse__hosts);
	run(parse__macs);
	run(parse__users);
	run(parse__seconds);
	run(parse__ranks);
	run(args__order_is_free_and_lists_collect);
	run(args__first_value_is_never_a_keyword);
	run(args__names);
	run(args__names_of_new_jobs_are_plain);
	run(args__meeting_is_an_address_with_a_port);
	run(args__errors_name_the_offender);
	run(args__too_many_children_are_refused);
	return tap_done();
}
