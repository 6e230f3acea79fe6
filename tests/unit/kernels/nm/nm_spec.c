// SPDX-License-Identifier: BSD-2-Clause
/* Texts of specs: what is read, what is refused, and with which words. */
#include <errno.h>

#include "kernels/nm/nm.h"
#include "tests/lib/sum_oracle.h"

static int parse(struct trib_nm_spec *s, const char *text)
{
	char why[96];

	return trib_nm_parse(s, text, strlen(text), why, sizeof(why));
}

static void reads(const char *text, unsigned int kept, unsigned int group, unsigned int bits,
		  const char *again)
{
	char back[TRIB_NM_TEXT];
	struct trib_nm_spec s;

	if (!expect(!parse(&s, text)))
		return;
	expect_eq(s.kept, kept);
	expect_eq(s.group, group);
	expect_eq(s.bits, bits);
	expect(trib_nm_valid(s));
	trib_nm_print(back, s);
	if (!expect(!strcmp(back, again)))
		printf("# %s is printed as %s\n", text, back);
}

static void parse__reads_every_spec(void)
{
	static const char *const more[] = {"", "+int16", "+int8", "+int4"};
	unsigned int group, kept, b;
	char text[TRIB_NM_TEXT];

	for (group = 2; group <= 32; group *= 2)
		for (kept = 1; kept < group; kept++)
			for (b = 0; b < 4; b++) {
				snprintf(text, sizeof(text), "%u:%u%s", kept, group, more[b]);
				reads(text, kept, group, b ? 32u >> b : 0, text);
			}
	reads("dense", 1, 1, 0, "dense");
	reads("4:4", 1, 1, 0, "dense");
	reads("int8", 1, 1, 8, "int8");
	reads("dense+int4", 1, 1, 4, "int4");
	reads("32:32+int16", 1, 1, 16, "int16");
}

static void parse__refuses_all_else_and_changes_nothing(void)
{
	static const char *const bad[] = {
		"",	    " ",	"2",	     "2:",	  ":4",	     "0:4",
		"5:4",	    "2:3",	"1:1",	     "2:64",	  "2:128",   "002:4",
		"2:04",	    "2:4 ",	"2 :4",	     "-2:4",	  "+2:4",    "2:4+",
		"2:4+int",  "2:4+int2", "2:4+int88", "2:4+int08", "2:4int8", "2:4+8",
		"2:4+INT8", "int",	"int0",	     "int32",	  "int8+",   "int8+int8",
		"densee",   "dens",	"dense+",    "2:4+int8,", "2:4:8",   "99999999999:4",
	};
	struct trib_nm_spec s = {7, 7, 7};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!expect(parse(&s, bad[i]) == -EINVAL))
			printf("# it took '%s'\n", bad[i]);
	expect(s.group == 7 && s.kept == 7 && s.bits == 7);
}

static void parse__says_what_it_wants(void)
{
	struct trib_nm_spec s;
	char why[96];

	trib_nm_parse(&s, "5:4", 3, why, sizeof(why));
	expect(!strcmp(why, "compression '5:4' keeps more values than a group has: "
			    "'2:4' keeps 2 of every 4"));
	trib_nm_parse(&s, "2:4+int9\nand more, much more", 28, why, sizeof(why));
	expect(!strcmp(why, "compression '2:4+int9?and more, much ...' wants int16, int8 or int4"));
	memset(why, 'x', sizeof(why));
	expect(trib_nm_parse(&s, "2:3", 3, why, 0) == -EINVAL && why[0] == 'x');
	trib_nm_parse(&s, "2:3", 3, why, 5);
	expect(!strcmp(why, "comp") && why[5] == 'x');
}

/* Random bytes and changed texts before unmapped memory: read or refused. */
static void parse__survives_any_bytes(void)
{
	static const char bytes[] = "0123468:+intdes ";
	static struct area area;
	struct trib_nm_spec s;
	size_t len, i;
	char why[96];
	char *p;
	int n;

	area_make(&area);
	for (n = 0; n < 200000; n++) {
		len = rnd() % 14;
		p = (char *)area_at(&area, len, 0);
		for (i = 0; i < len; i++)
			p[i] = rnd() % 8 ? bytes[rnd() % 16] : (char)rnd();
		if (!trib_nm_parse(&s, p, len, why, sizeof(why)))
			expect(trib_nm_valid(s));
		else
			expect(strlen(why) < sizeof(why));
		n += 15; /* area_at() fills the whole area */
	}
}

static void counts__of_packed_values_and_words(void)
{
	struct trib_nm_spec s = {.group = 8, .kept = 3};

	expect_eq(trib_nm_packed(s, 0), 0);
	expect_eq(trib_nm_packed(s, 8), 3);
	expect_eq(trib_nm_packed(s, 10), 5);
	expect_eq(trib_nm_packed(s, 13), 6);
	expect_eq(trib_nm_mask_words(s, 0), 0);
	expect_eq(trib_nm_mask_words(s, 32), 1);
	expect_eq(trib_nm_mask_words(s, 33), 2);
	s = (struct trib_nm_spec){.group = 1, .kept = 1};
	expect_eq(trib_nm_packed(s, 13), 13);
	expect_eq(trib_nm_mask_words(s, 33), 0);
}

static void valid__is_only_what_the_parser_makes(void)
{
	unsigned int group, kept, bits, n = 0;

	for (group = 0; group < 256; group++)
		for (kept = 0; kept < 256; kept++)
			for (bits = 0; bits < 256; bits++)
				n += trib_nm_valid((struct trib_nm_spec){
					(uint8_t)group, (uint8_t)kept, (uint8_t)bits});
	expect_eq(n, 4 * (1 + 1 + 3 + 7 + 15 + 31));
}

int main(void)
{
	run(parse__reads_every_spec);
	run(parse__refuses_all_else_and_changes_nothing);
	run(parse__says_what_it_wants);
	run(parse__survives_any_bytes);
	run(counts__of_packed_values_and_words);
	run(valid__is_only_what_the_parser_makes);
	return tap_done();
}
