/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parse/parse_ndn.c, object/ndn.c, watch/watch_ndn.c: names, markers, times and
 * NDN roles on the command line; counters of the NDN forwarder.
 */
#include <errno.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "cli/core/cli.h"
#include "cli/netlink/client.h"
#include "cli/netlink/schema.h"
#include "cli/object/ndn.h"
#include "cli/out/out.h"
#include "cli/parse/parse.h"
#include "cli/watch/watch.h"
#include "uapi/trib.h"
#include "uapi/trib_wire.h"
#include "tests/lib/tap.h"

static const struct arg args[] = {
	ARG_ROW(NULL, "NAME", ARG_PREFIX, TRIB_A_PIT_NAME, 0),
	ARG_ROW("ndn", "KIND", ARG_NDN, 20, 0),
	ARG_ROW("ndn-port", "P", ARG_NDN_PORT, 21, 0),
	ARG_ROW("write", "PREFIX", ARG_PREFIXES, 22, ARG_LIST),
	ARG_ROW("insert", "C", ARG_MARK, 23, 0),
	ARG_NUM("lease", "TIME", ARG_TIME, 24, 100, 86400000, 0),
};

/* Parse a line split at blanks; the attributes in *@out, if it is not NULL. */
static int line(struct cli *c, const char *text, struct nl_msg **out)
{
	struct nl_msg *msg = client_message(1, 0);
	char copy[8192], *argv[256], *save = NULL, *w;
	int argc = 0, code;

	memset(c, 0, sizeof(*c));
	snprintf(copy, sizeof(copy), "%s", text);
	for (w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	code = parse_args(c, argc, argv, args, sizeof(args) / sizeof(args[0]), msg, NULL);
	if (out)
		*out = msg;
	else
		nlmsg_free(msg);
	return code;
}

/* Return the @nth attribute @type made from @text; "" if there is none. */
static const char *made(const char *text, int type, int nth)
{
	static char buf[2048];
	struct nl_msg *msg;
	struct nlattr *nla;
	struct cli c;
	int rem;

	buf[0] = '\0';
	if (line(&c, text, &msg))
		snprintf(buf, sizeof(buf), "%s", c.error);
	else
		nla_for_each_attr(nla, (struct nlattr *)((char *)nlmsg_data(nlmsg_hdr(msg)) + 4),
				  nlmsg_datalen(nlmsg_hdr(msg)) - 4, rem) {
			if (nla_type(nla) != type || nth-- != 0)
				continue;
			snprintf(buf, sizeof(buf),
				 nla_len(nla) == 4   ? "%u"
				 : nla_len(nla) == 2 ? "%hu"
						     : "%hhu",
				 nla_len(nla) == 4   ? nla_get_u32(nla)
				 : nla_len(nla) == 2 ? nla_get_u16(nla)
						     : nla_get_u8(nla));
			if (type == TRIB_A_PIT_NAME || type == 22 || type == 23)
				snprintf(buf, sizeof(buf), "<%s>", nla_get_string(nla));
		}
	nlmsg_free(msg);
	return buf;
}

static void is(const char *text, int type, int nth, const char *wanted)
{
	const char *got = made(text, type, nth);

	if (!expect(!strcmp(got, wanted)))
		printf("# \"%s\" gave \"%s\"\n", text, got);
}

static void bad(const char *text, int code, const char *offender)
{
	struct cli c;

	expect_eq(line(&c, text, NULL), code);
	if (!expect(strstr(c.error, offender) != NULL))
		printf("# \"%s\" gave \"%s\"\n", text, c.error);
}

static void ndn__one_text_for_one_name(void)
{
	is("/", TRIB_A_PIT_NAME, 0, "</>");
	is("/ps/train", TRIB_A_PIT_NAME, 0, "</ps/train>");
	is("ndn:/ps/train", TRIB_A_PIT_NAME, 0, "</ps/train>");
	is("/%70s/a%2fb", TRIB_A_PIT_NAME, 0, "</ps/a%2Fb>");
	is("/8=ps/54=%01", TRIB_A_PIT_NAME, 0, "</ps/v=1>");
	is("/ps/v=4294967297/seg=0", TRIB_A_PIT_NAME, 0, "</ps/v=4294967297/seg=0>");
}

static void ndn__what_is_none_is_refused(void)
{
	char text[1024];

	bad("ps", CLI_ERROR, "NAME \"ps\"");
	bad("/ps/", CLI_ERROR, "\"/ps/\"");
	bad("//ps", CLI_ERROR, "\"//ps\"");
	bad("/ps/%", CLI_ERROR, "\"/ps/%\"");
	bad("/ps/%4", CLI_ERROR, "\"/ps/%4\"");
	bad("/ps/..", CLI_ERROR, "\"/ps/..\"");
	bad("/ps/v=", CLI_ERROR, "\"/ps/v=\"");
	bad("/ps/v=01", CLI_ERROR, "\"/ps/v=01\"");
	bad("/ps/v=18446744073709551616", CLI_ERROR, "v=1844");
	bad("/ps/a,b", CLI_ERROR, "\"/ps/a,b\"");
	bad("/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h", CLI_ERROR, "components");
	memset(text, 'a', sizeof(text));
	text[0] = '/';
	text[300] = '\0';
	bad(text, CLI_ERROR, "longer than 255");
}

static void lists__none_stands_alone(void)
{
	is("/x write /a /b", 22, 0, "</a>");
	is("/x write /a write /b", 22, 1, "</b>");
	is("/x write none", 22, 0, "<>");
	is("/x write none", 22, 1, "");
	is("/x write none lease 1s", 24, 0, "1000");
	bad("/x write none /a", CLI_USAGE, "none stands alone");
	bad("/x write none none", CLI_USAGE, "none stands alone");
	bad("/x write none write /a", CLI_USAGE, "none stands alone");
	bad("/x write /a none", CLI_ERROR, "write \"none\"");
	bad("/x write a", CLI_ERROR, "write \"a\"");
	bad("/x write", CLI_USAGE, "write needs PREFIX");
	/* Allowed only where a list may be empty. */
	bad("none", CLI_ERROR, "NAME \"none\"");
}

static void lists__too_many_are_refused(void)
{
	char text[4096] = "/x write";
	struct cli c;
	int i;

	for (i = 0; i < TRIB_CHILDREN_MAX; i++)
		snprintf(text + strlen(text), 16, " /w%d", i);
	expect_eq(line(&c, text, NULL), CLI_OK);
	strcat(text, " /more");
	expect_eq(line(&c, text, NULL), CLI_ERROR);
	expect(strstr(c.error, "\"/more\"") != NULL);
}

static void faces__what_they_are(void)
{
	is("/x ndn none", 20, 0, "0");
	is("/x ndn router", 20, 0, "1");
	is("/x ndn host", 20, 0, "2");
	bad("/x ndn", CLI_USAGE, "ndn needs KIND");
	bad("/x ndn relay", CLI_ERROR, "\"relay\"");
	is("/x ndn-port ether", 21, 0, "0");
	is("/x ndn-port 65535", 21, 0, "65535");
	bad("/x ndn-port 0", CLI_ERROR, "\"0\"");
	bad("/x ndn-port 65536", CLI_ERROR, "\"65536\"");
	bad("/x ndn-port ethernet", CLI_ERROR, "\"ethernet\"");
}

static void markers__are_one_component(void)
{
	is("/x insert sub", 23, 0, "<sub>");
	is("/x insert %73ub", 23, 0, "<sub>");
	is("/x insert 123456789012345678901234567890", 23, 0, "<123456789012345678901234567890>");
	bad("/x insert 1234567890123456789012345678901", CLI_ERROR, "at most 32 bytes");
	bad("/x insert a/b", CLI_ERROR, "\"a/b\"");
	bad("/x insert /a", CLI_ERROR, "\"/a\"");
	bad("/x insert .", CLI_ERROR, "\".\"");
	bad("/x insert a,b", CLI_ERROR, "\"a,b\"");
}

static int timed(const char *s)
{
	uint32_t ms = 7;
	int err = parse_time(s, 100, 86400000, &ms);

	return err ? err : (int)ms;
}

static void times__have_units(void)
{
	expect_eq(timed("30s"), 30000);
	expect_eq(timed("1.5s"), 1500);
	expect_eq(timed("0.1s"), 100);
	expect_eq(timed("100ms"), 100);
	expect_eq(timed("2m"), 120000);
	expect_eq(timed("0.5m"), 30000);
	expect_eq(timed("1440m"), 86400000);
	expect_eq(timed("99ms"), -ERANGE);
	expect_eq(timed("1441m"), -ERANGE);
	expect_eq(timed("0s"), -ERANGE);
	expect_eq(timed("99999999999999999999999m"), -ERANGE);
	expect_eq(timed("30"), -EINVAL);
	expect_eq(timed(""), -EINVAL);
	expect_eq(timed("s"), -EINVAL);
	expect_eq(timed("-1s"), -EINVAL);
	expect_eq(timed("1.s"), -EINVAL);
	expect_eq(timed("0.5ms"), -EINVAL);
	expect_eq(timed("1h"), -EINVAL);
	expect_eq(timed("1 s"), -EINVAL);
	is("/x lease 500ms", 24, 0, "500");
	bad("/x lease 30", CLI_ERROR, "lease \"30\"");
}

static json_t *stat(const char *name, json_int_t v)
{
	return json_pack("{s:s, s:I}", "name", name, "value", v);
}

static json_t *counters(json_int_t in, json_int_t copy, json_int_t drop)
{
	return json_pack("[o, o, o, o, o, o]", stat("ndn-rx-data", in), stat("ndn-tx-copy", copy),
			 stat("ndn-drop-right", drop), stat("ndn-bad-cut", drop),
			 stat("ndn-drop-miss", drop), stat("ndn-drop-loop", 0));
}

static void stats__are_told_apart(void)
{
	json_t *all = json_pack("[o, o, o, o]", stat("rx-grad", 1), stat("ndn-hit", 2),
				stat("drop-short", 3), stat("ndn-new", 4));
	json_t *names = ndn_take_stats(all);

	expect_eq(json_array_size(all), 2);
	expect_eq(json_array_size(names), 2);
	expect_eq(jnum(json_array_get(all, 1), "value"), 3);
	expect_eq(jnum(json_array_get(names, 1), "value"), 4);
	json_decref(all);
	json_decref(names);
	expect(ndn_take_stats(NULL) == NULL);
}

static double real(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static void watch__names_are_rates(void)
{
	struct watch_sample a = {.seconds = 1, .ndn_stats = counters(10, 5, 3)};
	struct watch_sample b = {
		.seconds = 3,
		.ndn = json_pack("{s:i, s:i}", "entries_used", 2, "routes", 3),
		.ndn_stats = counters(30, 1, 3),
	};
	json_t *r = watch_rates(&a, &b);
	const json_t *n = json_object_get(r, "ndn");

	expect_eq(jnum(n, "entries"), 2);
	expect_eq(jnum(n, "routes"), 3);
	expect_eq((int)real(n, "data"), 10);
	/* Counts from 0 after a reset. */
	expect_eq((int)(real(n, "copied") * 2), 1);
	expect_eq((int)real(n, "dropped"), 0);
	expect_eq(json_object_size(json_object_get(n, "drops")), 0);
	json_decref(r);
	json_decref(b.ndn_stats);
	b.ndn_stats = counters(30, 5, 7);
	r = watch_rates(&a, &b);
	n = json_object_get(r, "ndn");
	expect_eq((int)real(n, "dropped"), 4);
	expect_eq((int)real(json_object_get(n, "drops"), "ndn-drop-right"), 2);
	expect_eq((int)real(json_object_get(n, "drops"), "ndn-bad-cut"), 2);
	/* Not a packet. */
	expect_eq(json_object_size(json_object_get(n, "drops")), 2);
	json_decref(r);
	/* The forwarder is off: nothing is shown. */
	json_decref(b.ndn);
	b.ndn = NULL;
	r = watch_rates(&a, &b);
	expect(json_object_get(r, "ndn") == NULL);
	json_decref(r);
	watch_free(&a);
	watch_free(&b);
}

static void schema__entry_in_full(void)
{
	struct nl_msg *msg = client_message(TRIB_CMD_PIT_GET, 0);
	struct nlattr *nest = nla_nest_start(msg, TRIB_A_PIT);
	json_t *o;

	nla_put_string(msg, TRIB_A_PIT_NAME, "/ps/train");
	nla_put_string(msg, TRIB_A_PIT_FACE, "w0");
	nla_put_string(msg, TRIB_A_PIT_FACE, "w1");
	nla_put_u8(msg, TRIB_A_PIT_STATE, TRIB_PIT_STATE_LEAVING);
	nla_put_u64(msg, TRIB_A_PIT_VERSION, 3ULL << 32 | 17);
	nla_nest_end(msg, nest);
	expect_eq(schema_decode(nlmsg_hdr(msg), TRIB_A_PIT, &o), 0);
	nlmsg_free(msg);
	expect(!strcmp(jstr(o, "state"), "leaving"));
	expect_eq(json_array_size(json_object_get(o, "faces")), 2);
	expect(jnum(o, "version") == 12884901905);
	expect(json_object_get(o, "acked_ms") == NULL);
	json_decref(o);
}

static const char *ndn_of(const char *ndn, int port)
{
	static char buf[32];
	json_t *f = json_pack("{s:s, s:i}", "ndn", ndn, "ndn_port", port);

	ndn_face_text(f, buf, sizeof(buf));
	json_decref(f);
	return buf;
}

static void faces__are_shown(void)
{
	expect(!strcmp(ndn_of("none", 0), "-"));
	expect(!strcmp(ndn_of("host", 6363), "host"));
	expect(!strcmp(ndn_of("host", 7000), "host:7000"));
	expect(!strcmp(ndn_of("router", 0), "router:ether"));
}

int main(void)
{
	run(ndn__one_text_for_one_name);
	run(ndn__what_is_none_is_refused);
	run(lists__none_stands_alone);
	run(lists__too_many_are_refused);
	run(faces__what_they_are);
	run(faces__are_shown);
	run(markers__are_one_component);
	run(times__have_units);
	run(stats__are_told_apart);
	run(watch__names_are_rates);
	run(schema__entry_in_full);
	return tap_done();
}
