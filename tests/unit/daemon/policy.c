// SPDX-License-Identifier: BSD-2-Clause
/*
 * nl_policy.c: attributes that requests may hold. With --commands it prints the
 * table of commands, which spec.py compares with trib.yaml.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <string.h>

#include "tests/lib/tap.h"
#include "daemon/netlink/nl.h"

/* --- attributes by hand, right or wrong */

static char buf[4096];
static size_t at;

static void start(void)
{
	memset(buf, 0xee, sizeof(buf));
	at = 0;
}

static void put(int type, const void *data, size_t len)
{
	struct nlattr a = {.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = (uint16_t)type};

	memcpy(buf + at, &a, sizeof(a));
	memcpy(buf + at + NLA_HDRLEN, data, len);
	at += NLA_ALIGN(NLA_HDRLEN + len);
}

static void put_text(int type, const char *s)
{
	put(type, s, strlen(s) + 1);
}

static struct nlattr *tb[NL_SET_MAX + 1];
static struct reason why;

static int parse(const struct nl_set *set)
{
	why.text[0] = 0;
	return nl_parse_set(set, buf, at, tb, &why);
}

static bool says(const char *word)
{
	if (strstr(why.text, word))
		return true;
	printf("# it says: %s\n", why.text);
	return false;
}

static void parse__finds_what_was_put(void)
{
	uint32_t world = 4;

	start();
	put_text(TRIB_A_JOB_NAME, "train");
	put(TRIB_A_JOB_WORLD, &world, 4);
	expect_eq(parse(&nl_job), 0);
	expect(tb[TRIB_A_JOB_NAME] && tb[TRIB_A_JOB_WORLD]);
	expect(!tb[TRIB_A_JOB_ID]);
	if (tb[TRIB_A_JOB_WORLD])
		expect_eq(nla_get_u32(tb[TRIB_A_JOB_WORLD]), 4);
}

static void parse__wrong_size_is_refused_with_the_name(void)
{
	uint32_t port = 7417;

	start();
	put(TRIB_A_FACE_PORT, &port, 4);
	expect_eq(parse(&nl_face), -EINVAL);
	expect(says("port") && says("4 bytes, not 2"));
}

static void parse__address_must_be_16_bytes(void)
{
	start();
	put(TRIB_A_FACE_ADDR, "\x0a\x00\x00\x01", 4);
	expect_eq(parse(&nl_face), -EINVAL);
	expect(says("addr"));
}

static void parse__text_without_end_is_refused(void)
{
	start();
	put(TRIB_A_FACE_NAME, "abc", 3);
	expect_eq(parse(&nl_face), -EINVAL);
	expect(says("not a string"));
	start();
	put(TRIB_A_FACE_NAME, "", 0);
	expect_eq(parse(&nl_face), -EINVAL);
}

static void parse__text_with_a_zero_inside_is_refused(void)
{
	start();
	put(TRIB_A_FACE_NAME, "a\0b", 4);
	expect_eq(parse(&nl_face), -EINVAL);
}

static void parse__text_that_is_too_long_is_refused(void)
{
	char name[TRIB_NAME_MAX + 1];

	memset(name, 'x', TRIB_NAME_MAX);
	name[TRIB_NAME_MAX] = 0;
	start();
	put_text(TRIB_A_FACE_NAME, name);
	expect_eq(parse(&nl_face), -ENAMETOOLONG);
	start();
	put_text(TRIB_A_FACE_NAME, name + 1); /* the longest that fits */
	expect_eq(parse(&nl_face), 0);
}

static void parse__control_characters_are_refused(void)
{
	start();
	put_text(TRIB_A_FACE_NAME, "a\x1b[2J");
	expect_eq(parse(&nl_face), -EINVAL);
	expect(says("0x1b"));
	expect(!strchr(why.text, '\x1b'));
}

static void parse__unknown_attribute_is_refused(void)
{
	start();
	put_text(77, "x");
	expect_eq(parse(&nl_face), -EINVAL);
	expect(says("77"));
	start();
	put_text(0, "x");
	expect_eq(parse(&nl_face), -EINVAL);
	start();
	put_text(NLA_TYPE_MASK, "x");
	expect_eq(parse(&nl_face), -EINVAL);
}

static void parse__read_only_attribute_is_refused(void)
{
	uint32_t v = 1;

	start();
	put(TRIB_A_FACE_IFINDEX, &v, 4);
	expect_eq(parse(&nl_face), -EINVAL);
	expect(says("ifindex is read only"));
}

static void parse__attribute_given_twice_is_refused(void)
{
	start();
	put_text(TRIB_A_FACE_NAME, "a");
	put_text(TRIB_A_FACE_NAME, "b");
	expect_eq(parse(&nl_face), -EINVAL);
	expect(says("twice"));
}

static void parse__repeated_attribute_keeps_the_first(void)
{
	start();
	put_text(TRIB_A_TREE_DOWN, "a");
	put_text(TRIB_A_TREE_DOWN, "b");
	expect_eq(parse(&nl_tree), 0);
	expect(tb[TRIB_A_TREE_DOWN] && !strcmp(nla_get_string(tb[TRIB_A_TREE_DOWN]), "a"));
}

static void parse__cut_attribute_is_refused(void)
{
	struct nlattr a = {.nla_len = 200, .nla_type = TRIB_A_FACE_NAME};

	start();
	memcpy(buf, &a, sizeof(a));
	at = 20;
	expect_eq(parse(&nl_face), -EINVAL);
	a.nla_len = 3; /* shorter than its header */
	memcpy(buf, &a, sizeof(a));
	expect_eq(parse(&nl_face), -EINVAL);
}

static void parse__missing_padding_of_the_last_is_allowed(void)
{
	start();
	put_text(TRIB_A_FACE_NAME, "abcd");
	at = NLA_HDRLEN + 5;
	expect_eq(parse(&nl_face), 0);
	expect(tb[TRIB_A_FACE_NAME] != NULL);
}

/* Any bytes get an answer: no crash, and no pointer outside. */
static void parse__random_bytes_stay_inside(void)
{
	static const struct nl_set *const set[] = {&nl_top,   &nl_face,	  &nl_job, &nl_tree,
						   &nl_child, &nl_ticket, &nl_ndn, &nl_route,
						   &nl_pit,   &nl_cs};
	unsigned int seed = 7417, i, k, n;

	for (n = 0; n < 200000; n++) {
		start();
		at = rand_r(&seed) % 64;
		for (i = 0; i < at; i++)
			buf[i] = (char)(rand_r(&seed) % 20);
		if (parse(set[n % (sizeof(set) / sizeof(set[0]))]))
			continue;
		for (k = 0; k <= NL_SET_MAX; k++) {
			char *p = (char *)tb[k];

			if (p)
				expect(p >= buf && p + nla_len(tb[k]) <= buf + at);
		}
	}
}

static void need__names_what_is_missing(void)
{
	start();
	expect_eq(parse(&nl_job), 0);
	expect_eq(nl_need(&nl_job, tb, TRIB_A_JOB_WORLD, &why), -EINVAL);
	expect(says("world is missing"));
}

static void refuse__makes_text_printable(void)
{
	struct reason r;

	expect_eq(reason_set(&r, -EINVAL, "name '%s'", "a\nb\x07"), -EINVAL);
	expect(!strcmp(r.text, "name 'a?b?'"));
	expect_eq(reason_set(NULL, -EPERM, "nobody listens"), -EPERM);
}

/* --- for spec.py */

/* Number of each command, whether it changes something, whether it dumps. */
static int print_commands(void)
{
	unsigned int i;

	for (i = 1; i < TRIB_CMD__MAX; i++)
		printf("%u %d %d\n", i, nl_command[i].changes, nl_command[i].dump_next != NULL);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--commands"))
		return print_commands();
	run(parse__finds_what_was_put);
	run(parse__wrong_size_is_refused_with_the_name);
	run(parse__address_must_be_16_bytes);
	run(parse__text_without_end_is_refused);
	run(parse__text_with_a_zero_inside_is_refused);
	run(parse__text_that_is_too_long_is_refused);
	run(parse__control_characters_are_refused);
	run(parse__unknown_attribute_is_refused);
	run(parse__read_only_attribute_is_refused);
	run(parse__attribute_given_twice_is_refused);
	run(parse__repeated_attribute_keeps_the_first);
	run(parse__cut_attribute_is_refused);
	run(parse__missing_padding_of_the_last_is_allowed);
	run(parse__random_bytes_stay_inside);
	run(need__names_what_is_missing);
	run(refuse__makes_text_printable);
	return tap_done();
}
