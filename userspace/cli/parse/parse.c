// SPDX-License-Identifier: BSD-2-Clause
/* Owns how arguments become attributes: see parse.h. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include <netlink/attr.h>

#include "base/addr.h"
#include "base/dtype.h"
#include "base/name.h"
#include "base/text.h"
#include "cli/core/cli.h"
#include "uapi/trib.h"
#include "uapi/trib_wire.h"
#include "parse.h"

/* tribd refuses further characters in names of new faces. */
static int check_name(struct cli *c, const char *what, const char *s, bool new_job)
{
	char why[NAME_WHY_MAX];

	if (new_job ? !name_check(s, why) : !name_check_word(s, "", why))
		return 0;
	return cli_error(c, "%s \"%s\" %s", what, s, why);
}

static int put_name(struct cli *c, const struct arg *a, const char *s, struct nl_msg *msg)
{
	const char *what = a->word ? a->word : a->value;
	size_t len = strlen(s);

	if (a->kind == ARG_IFNAME) {
		if (len < 1 || len >= IF_NAMESIZE || strpbrk(s, "/ \t\n"))
			return cli_error(c, "%s \"%s\" is not the name of a device", what, s);
	} else if (check_name(c, what, s, a->kind == ARG_NEW_JOB)) {
		return CLI_ERROR;
	}
	return nla_put_string(msg, a->attr, s);
}

static int put_text(struct cli *c, const struct arg *a, const char *s, struct nl_msg *msg)
{
	size_t i, len = strlen(s);

	if (len > a->max)
		return cli_error(c, "%s has %zu bytes, at most %llu: \"%.40s...\"", a->word, len,
				 (unsigned long long)a->max, s);
	for (i = 0; i < len; i++)
		if (s[i] < 0x20 || s[i] > 0x7e)
			return cli_error(c, "%s \"%s\" is not printable ASCII text", a->word, s);
	return nla_put_string(msg, a->attr, s);
}

void parse_words_text(const char *const *words, const char *between, char *buf, size_t size)
{
	size_t at = 0;
	int i;

	*buf = '\0';
	for (i = 0; words && words[i] && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? between : "", words[i]);
}

static int put_word(struct cli *c, const struct arg *a, const char *s, struct nl_msg *msg)
{
	char words[256];
	int i;

	for (i = 0; a->words[i]; i++)
		if (!strcmp(a->words[i], s))
			return nla_put_u8(msg, a->attr, (uint8_t)i);
	parse_words_text(a->words, ", ", words, sizeof(words));
	return cli_error(c, "%s \"%s\" is none of %s", a->word, s, words);
}

static int put_addr(struct cli *c, const struct arg *a, const char *s, struct nl_msg *msg)
{
	uint8_t addr[16];

	if (parse_addr(s, addr))
		return cli_error(c, "%s \"%s\" is not an IPv4 or IPv6 address", a->word, s);
	return nla_put(msg, a->attr, sizeof(addr), addr);
}

static int put_host(struct cli *c, const struct arg *a, const char *s, struct nl_msg *msg)
{
	uint8_t addr[16];
	uint16_t port;
	int err;

	if (parse_host(s, addr, &port))
		return cli_error(
			c,
			"%s \"%s\" is not an address with or without a port, like 10.0.0.1:7417 or [fd00::1]:7417",
			a->word, s);
	err = nla_put(msg, a->attr, sizeof(addr), addr);
	return err || !port ? err : nla_put_u16(msg, a->attr + 1, port);
}

static int put_mac(struct cli *c, const struct arg *a, const char *s, struct nl_msg *msg)
{
	static const uint8_t zero[6];
	uint8_t mac[6];

	if (parse_mac(s, mac) || !memcmp(mac, zero, sizeof(mac)))
		return cli_error(c, "%s \"%s\" is not a MAC address like 02:00:00:00:00:01",
				 a->word, s);
	return nla_put(msg, a->attr, sizeof(mac), mac);
}

static int check_number(struct cli *c, const char *what, const char *s, uint64_t min, uint64_t max,
			uint64_t *v)
{
	if (text_number(s, min, max, v))
		return cli_error(c, "%s \"%s\" is not a number from %llu to %llu", what, s,
				 (unsigned long long)min, (unsigned long long)max);
	return 0;
}

static int put_number(struct cli *c, const struct arg *a, const char *s, struct nl_msg *msg)
{
	const char *what = a->word ? a->word : a->value;
	uint64_t v;

	if (check_number(c, what, s, a->min, a->max, &v))
		return CLI_ERROR;
	if ((a->flags & ARG_POW2) && (v & (v - 1)))
		return cli_error(c, "%s \"%s\" is not a power of 2", what, s);
	if (a->kind == ARG_U8)
		return nla_put_u8(msg, a->attr, (uint8_t)v);
	if (a->kind == ARG_U16)
		return nla_put_u16(msg, a->attr, (uint16_t)v);
	if (a->kind == ARG_U64)
		return nla_put_u64(msg, a->attr, v);
	return nla_put_u32(msg, a->attr, (uint32_t)v);
}

/*
 * Read a key's digits from a file, or from standard input: arguments of a process are
 * everybody's to read.
 */
static int read_key(struct cli *c, const struct arg *a, const char *path, char text[64])
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	bool got;

	if (!f)
		return cli_error(c, "%s: cannot read %s: %s", a->word, path, strerror(errno));
	got = fgets(text, 64, f);
	if (f != stdin)
		fclose(f);
	if (!got)
		return cli_error(c, "%s: %s holds no line", a->word,
				 strcmp(path, "-") ? path : "standard input");
	text[strcspn(text, "\r\n")] = '\0';
	return 0;
}

/* Errors do not repeat the text: it may be nearly the secret. */
static int put_key(struct cli *c, const struct arg *a, const char *s, struct nl_msg *msg)
{
	struct trib_key key;
	char text[64];
	int err = 0;

	if (!strcmp(s, "-") || strchr(s, '/')) {
		err = read_key(c, a, s, text);
		s = text;
	}
	if (!err && text_key(s, &key))
		err = cli_error(
			c,
			"%s: want %d hexadecimal digits, a file that has them (/root/key), or - for standard input",
			a->word, (int)TRIB_KEY_HEX);
	if (!err)
		err = nla_put(msg, a->attr, sizeof(key), &key);
	explicit_bzero(&key, sizeof(key));
	explicit_bzero(text, sizeof(text));
	return err;
}

static int put_meeting(struct cli *c, const struct arg *a, const char *s, struct nl_msg *msg)
{
	struct in6_addr ip;
	uint16_t port;
	const char *bad = addr_parse_meeting(s, &ip, &port);

	if (bad)
		return cli_error(c, "%s \"%s\" %s", a->word, s, bad);
	return nla_put_string(msg, a->attr, s);
}

static int put_other(struct cli *c, const struct arg *a, const char *s, struct nl_msg *msg)
{
	uint32_t uid, ms;
	uint64_t v;

	switch (a->kind) {
	case ARG_DTYPE:
		if (!trib_dtype_parse(s))
			return cli_error(c, "%s \"%s\" is not int, f32, f16 or bf16", a->word, s);
		return nla_put_u8(msg, a->attr, trib_dtype_parse(s));
	case ARG_MEETING:
		return put_meeting(c, a, s, msg);
	case ARG_RATE:
		if (parse_rate(s, &v))
			return cli_error(c, "%s \"%s\" is not a rate in bit/s like 10G or 500M",
					 a->word, s);
		return nla_put_u64(msg, a->attr, v);
	case ARG_TIME:
		if (parse_time(s, (uint32_t)a->min, (uint32_t)a->max, &ms))
			return cli_error(
				c,
				"%s \"%s\" is not a time like 30s or 500ms, from %llums to %llus",
				a->word, s, (unsigned long long)a->min,
				(unsigned long long)a->max / 1000);
		return nla_put_u32(msg, a->attr, ms);
	default:
		if (parse_uid(s, &uid))
			return cli_error(c, "%s \"%s\" is not a user", a->word, s);
		return nla_put_u32(msg, a->attr, uid);
	}
}

/*
 * Read the part after the colon of a local rank: an index, or in a row with a
 * PS a port. Ports begin at 1024, so tribd can tell which one was meant.
 */
static int check_local(struct cli *c, const char *s, uint64_t *v)
{
	if (text_number(s, 0, 65535, v) || (*v >= TRIB_CHILDREN_MAX && *v < 1024))
		return cli_error(
			c,
			"behind the local rank, \"%s\" is neither an index from 0 to %d nor a port from 1024 to 65535",
			s, TRIB_CHILDREN_MAX - 1);
	return 0;
}

/* RELAY:FACE */
static int put_hop(struct cli *c, const struct arg *a, const char *s, struct nl_msg *msg)
{
	const char *colon = strchr(s, ':');
	struct nlattr *nest;
	char number[8];
	uint64_t relay;

	if (!colon)
		return cli_error(c, "hop \"%s\" is not RELAY:FACE", s);
	snprintf(number, sizeof(number), "%.*s", (int)(colon - s), s);
	if (check_number(c, "hop", number, 1, TRIB_RELAY_PS - 1, &relay))
		return CLI_ERROR;
	if (check_name(c, a->word, colon + 1, false))
		return CLI_ERROR;
	nest = nla_nest_start(msg, a->attr);
	if (!nest)
		return -1;
	nla_put_u16(msg, TRIB_A_CHILD_RELAY, (uint16_t)relay);
	nla_put_string(msg, TRIB_A_CHILD_FACE, colon + 1);
	nla_nest_end(msg, nest);
	return 0;
}

/* Put FACE[:RANK] or RANK[:INDEX]. The order of children is their index. */
static int put_child(struct cli *c, const struct arg *a, const char *s, int order,
		     struct nl_msg *msg)
{
	const char *colon = strchr(s, ':');
	size_t len = colon ? (size_t)(colon - s) : strlen(s);
	char first[TRIB_NAME_MAX];
	bool child = a->kind == ARG_CHILD;
	struct nlattr *nest;
	uint64_t rank, v;

	if (len >= sizeof(first))
		return cli_error(c, "%s \"%s\" has more than %d bytes before the colon", a->word, s,
				 TRIB_NAME_MAX - 1);
	memcpy(first, s, len);
	first[len] = '\0';
	if (child && check_name(c, a->word, first, false))
		return CLI_ERROR;
	if (!child && check_number(c, "local rank", first, 0, TRIB_WORLD_MAX - 1, &rank))
		return CLI_ERROR;
	if (colon && child && check_number(c, "child rank", colon + 1, 0, TRIB_WORLD_MAX - 1, &v))
		return CLI_ERROR;
	if (colon && !child && check_local(c, colon + 1, &v))
		return CLI_ERROR;

	nest = nla_nest_start(msg, a->attr);
	if (!nest)
		return -1;
	if (child) {
		nla_put_u16(msg, TRIB_A_CHILD_INDEX, (uint16_t)order);
		nla_put_string(msg, TRIB_A_CHILD_FACE, first);
		if (colon)
			nla_put_u16(msg, TRIB_A_CHILD_RANK, (uint16_t)v);
	} else {
		nla_put_u16(msg, TRIB_A_CHILD_RANK, (uint16_t)rank);
		if (colon)
			nla_put_u16(msg,
				    v < TRIB_CHILDREN_MAX ? TRIB_A_CHILD_INDEX : TRIB_A_CHILD_PORT,
				    (uint16_t)v);
	}
	nla_nest_end(msg, nest);
	return 0;
}

static int put_ranks(struct cli *c, const struct arg *a, const char *s, struct nl_msg *msg)
{
	uint8_t bits[TRIB_BMWORDS_MAX * 8];

	if (parse_ranks(s, bits))
		return cli_error(c, "%s \"%s\" is not a list of ranks like 0-3,8, up to %d",
				 a->word, s, TRIB_WORLD_MAX - 1);
	return nla_put(msg, a->attr, sizeof(bits), bits);
}

static int put_arg(struct cli *c, const struct arg *a, const char *s, int order, struct nl_msg *msg)
{
	int err;

	switch (a->kind) {
	case ARG_NAME:
	case ARG_NEW_JOB:
	case ARG_IFNAME:
		err = put_name(c, a, s, msg);
		break;
	case ARG_ADDR:
		err = put_addr(c, a, s, msg);
		break;
	case ARG_MAC:
		err = put_mac(c, a, s, msg);
		break;
	case ARG_KEY:
		err = put_key(c, a, s, msg);
		break;
	case ARG_TEXT:
		err = put_text(c, a, s, msg);
		break;
	case ARG_WORD:
		err = put_word(c, a, s, msg);
		break;
	case ARG_U8:
	case ARG_U16:
	case ARG_U32:
	case ARG_U64:
		err = put_number(c, a, s, msg);
		break;
	case ARG_CHILD:
	case ARG_LOCAL:
		err = put_child(c, a, s, order, msg);
		break;
	case ARG_HOP:
		err = put_hop(c, a, s, msg);
		break;
	case ARG_HOST:
		err = put_host(c, a, s, msg);
		break;
	case ARG_RANKS:
		err = put_ranks(c, a, s, msg);
		break;
	case ARG_PREFIX:
	case ARG_PREFIXES:
	case ARG_MARK:
	case ARG_NDN:
	case ARG_NDN_PORT:
		err = parse_put_ndn(c, a, s, order, msg);
		break;
	default:
		err = put_other(c, a, s, msg);
	}
	/* libnl fails only if the message is full. */
	if (err < 0)
		return cli_error(c, "too many arguments at \"%s\"", s);
	return err;
}

/* A keyword may be written as an option: --window 64. */
static const struct arg *find_word(const struct arg *args, size_t n, const char *word)
{
	size_t i;

	if (!strncmp(word, "--", 2))
		word += 2;
	for (i = 0; i < n; i++)
		if (args[i].word && !strcmp(args[i].word, word))
			return &args[i];
	return NULL;
}

/* Read one value after a keyword, or all up to the next keyword for a list. */
static int take_values(struct cli *c, int *argc, char ***argv, const struct arg *args, size_t n,
		       const struct arg *a, int *order, struct nl_msg *msg)
{
	int err;

	if (*argc < 1)
		return cli_usage(c, "%s needs %s", a->word, a->value);
	do {
		if (*order < 0)
			return cli_usage(c, "%s none stands alone, not with %s", a->word, **argv);
		if (*order >= TRIB_CHILDREN_MAX)
			return cli_error(c, "more than %d of %s at \"%s\"", TRIB_CHILDREN_MAX,
					 a->word, **argv);
		err = put_arg(c, a, **argv, *order, msg);
		if (err)
			return err;
		*order = parse_is_none(a, **argv) ? -1 : *order + 1;
		--*argc;
		++*argv;
	} while ((a->flags & ARG_LIST) && *argc > 0 && !find_word(args, n, **argv));
	return 0;
}

int parse_args(struct cli *c, int argc, char **argv, const struct arg *args, size_t n,
	       struct nl_msg *msg, uint32_t *seen)
{
	const struct arg *a;
	uint32_t got = 0;
	int order[ARG_MAX] = {0}, err;
	size_t i;

	for (i = 0; i < n && !args[i].word && argc > 0; i++, argc--, argv++) {
		err = put_arg(c, &args[i], *argv, 0, msg);
		if (err)
			return err;
		got |= ARG_BIT(args[i].attr);
	}
	while (argc > 0) {
		a = find_word(args, n, *argv);
		if (!a)
			return cli_usage(c, "\"%s\" is not expected here", *argv);
		i = (size_t)(a - args);
		if ((got & ARG_BIT(a->attr)) && !(a->flags & ARG_LIST))
			return cli_usage(c, "%s is given twice", a->word);
		got |= ARG_BIT(a->attr);
		argc--;
		argv++;
		if (a->kind == ARG_FLAG) {
			if (nla_put_u8(msg, a->attr, 1))
				return cli_error(c, "too many arguments at \"%s\"", a->word);
			continue;
		}
		err = take_values(c, &argc, &argv, args, n, a, &order[i], msg);
		if (err)
			return err;
	}
	for (i = 0; i < n; i++)
		if ((args[i].flags & ARG_NEEDED) && !(got & ARG_BIT(args[i].attr)))
			return cli_usage(c, "%s%s%s is missing", args[i].word ? args[i].word : "",
					 args[i].word ? " " : "", args[i].value);
	if (seen)
		*seen = got;
	return 0;
}
