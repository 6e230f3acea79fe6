// SPDX-License-Identifier: BSD-2-Clause
/* trib codec: files of raw floats, compressed, expanded, inspected. Needs no tribd. */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "cli/codec/nm_run.h"
#include "cmd.h"

#define BLOCK 4096
#define FILES_MAX 3

/* Specs that inspect tries on raw floats. */
#define SPECS "4:8,2:4,1:4,int16,int8,int4,2:4+int8,2:4+int4"

/**
 * struct words - the command line
 * @file: arguments with a fixed place.
 * @spec: of --spec.
 */
struct words {
	const char *file[FILES_MAX];
	int nfile;
	const char *spec;
	struct nm_run run;
};

enum {
	OPT_DTYPE = 1,
	OPT_BLOCK = 2,
	OPT_SEED = 4,
	OPT_LEVEL = 8,
	OPT_SPEC = 16,
	OPT_AGAINST = 32,
	OPT_STATS = 64,
};

static const struct {
	const char *word;
	int bit;
} options[] = {
	{"--dtype", OPT_DTYPE}, {"--block", OPT_BLOCK},	    {"--seed", OPT_SEED},
	{"--level", OPT_LEVEL}, {"--against", OPT_AGAINST}, {"--spec", OPT_SPEC},
	{"--stats", OPT_STATS},
};

#define NOPTIONS (sizeof(options) / sizeof(options[0]))

static int read_spec(struct cli *c, struct trib_nm_spec *spec, const char *text, size_t len)
{
	char why[160];

	if (trib_nm_parse(spec, text, len, why, sizeof(why)))
		return cli_usage(c, "%s", why);
	return CLI_OK;
}

static int read_level(struct cli *c, struct words *w, const char *value)
{
	int err = nm_level_find(&w->run.level, value);

	if (err == -EINVAL)
		return cli_usage(c, "--level \"%s\": want scalar, avx2 or avx512", value);
	if (err)
		return cli_error(c,
				 "--level %s: this CPU has no such instructions; without --level"
				 " the best that it has are used",
				 value);
	return CLI_OK;
}

static int read_option(struct cli *c, struct words *w, int bit, const char *value)
{
	struct nm_file *f = &w->run.f;
	uint64_t n;

	switch (bit) {
	case OPT_DTYPE:
		f->fmt = nm_fmt_find(value);
		return f->fmt ? CLI_OK
			      : cli_usage(c, "--dtype \"%s\": want f32, f16 or bf16", value);
	case OPT_BLOCK:
		if (text_number(value, 32, NM_FILE_BLOCK_MAX, &n) || n % 32)
			return cli_usage(c, "--block \"%s\": want a multiple of 32, at most %u",
					 value, NM_FILE_BLOCK_MAX);
		f->block = (uint32_t)n;
		return CLI_OK;
	case OPT_SEED:
		if (text_number(value, 0, UINT64_MAX, &f->seed))
			return cli_usage(c, "--seed \"%s\": want a number below 2^64", value);
		return CLI_OK;
	case OPT_LEVEL:
		return read_level(c, w, value);
	case OPT_AGAINST:
		w->run.raw = value;
		return CLI_OK;
	default:
		w->spec = value;
		return CLI_OK;
	}
}

/* Read the command line; @allowed: bits of its options, @nfile: arguments wanted. */
static int parse(struct cli *c, int argc, char **argv, struct words *w, int allowed, int nfile,
		 const char *want)
{
	int i, err = CLI_OK;
	size_t k;

	w->run.f.fmt = TRIB_FMT_F32;
	w->run.f.block = BLOCK;
	nm_level_find(&w->run.level, NULL);
	for (i = 0; !err && i < argc; i++) {
		if (argv[i][0] != '-' || !argv[i][1]) {
			if (w->nfile == nfile)
				return cli_usage(c, "\"%s\" is not expected here", argv[i]);
			w->file[w->nfile++] = argv[i];
			continue;
		}
		for (k = 0; k < NOPTIONS; k++)
			if (!strcmp(argv[i], options[k].word))
				break;
		if (k == NOPTIONS || !(options[k].bit & allowed))
			return cli_usage(c, "no option \"%s\"", argv[i]);
		if (options[k].bit == OPT_STATS) {
			w->run.stats = true;
			continue;
		}
		if (i + 1 == argc)
			return cli_usage(c, "%s needs a value", argv[i]);
		err = read_option(c, w, options[k].bit, argv[++i]);
	}
	if (!err && w->nfile < nfile)
		return cli_usage(c, "want %s", want);
	return err;
}

/* Only data goes to a standard output that is OUT. */
static int check_out(struct cli *c, const struct nm_run *r)
{
	if (strcmp(r->out, "-") || (!r->stats && !c->json))
		return CLI_OK;
	return cli_usage(c, "OUT is standard output, which takes no %s besides",
			 c->json ? "JSON" : "--stats");
}

static void ratio_text(const json_t *row, char *buf, size_t size)
{
	snprintf(buf, size, "%.2f", json_number_value(json_object_get(row, "ratio")));
}

static void energy_text(const json_t *row, char *buf, size_t size)
{
	const json_t *kept = json_object_get(row, "kept_energy");

	if (kept)
		snprintf(buf, size, "%.3f %%", 100 * json_number_value(kept));
	else
		snprintf(buf, size, "-");
}

static const struct out_col list[] = {
	{.key = "spec"},
	{.key = "dtype"},
	{.key = "values"},
	{.key = "kept"},
	{.key = "block"},
	{.title = "dense bytes", .key = "dense_bytes"},
	{.key = "bytes"},
	{.key = "ratio", .text = ratio_text},
	{.title = "kept energy", .key = "kept_energy", .text = energy_text},
	{.title = "largest error", .key = "largest_error"},
	{.key = "level"},
};
#define NLIST (sizeof(list) / sizeof(list[0]))
/* Without the original values. */
#define NLIST_ALONE 8

static json_t *describe(const struct nm_run *r, bool compared)
{
	json_t *j = nm_stats_json(&r->f, compared ? &r->kept : NULL);

	json_object_set_new(j, "level", json_string(r->level.nm->name));
	return j;
}

/* Print one file. */
static int show(struct cli *c, const struct nm_run *r, bool compared)
{
	struct out_col cols[NLIST];
	size_t n = NLIST;

	memcpy(cols, list, sizeof(list));
	if (!compared) {
		n = NLIST_ALONE + 1;
		cols[NLIST_ALONE] = list[NLIST - 1];
	}
	return out_list(c, describe(r, compared), cols, n);
}

static int codec_compress(struct cli *c, int argc, char **argv)
{
	struct words w = {0};
	int err = parse(c, argc, argv, &w, OPT_DTYPE | OPT_BLOCK | OPT_SEED | OPT_LEVEL | OPT_STATS,
			3, "SPEC, FILE and OUT");

	if (err)
		return err;
	w.run.in = w.file[1];
	w.run.out = w.file[2];
	err = read_spec(c, &w.run.f.spec, w.file[0], strlen(w.file[0]));
	if (!err)
		err = check_out(c, &w.run);
	if (!err)
		err = nm_compress(c, &w.run);
	if (err)
		return err;
	if (w.run.stats)
		return show(c, &w.run, true);
	return strcmp(w.run.out, "-") ? out_done(c) : CLI_OK;
}

static int codec_expand(struct cli *c, int argc, char **argv)
{
	struct words w = {0};
	int err = parse(c, argc, argv, &w, OPT_LEVEL | OPT_AGAINST | OPT_STATS, 2, "FILE and OUT");

	if (err)
		return err;
	w.run.in = w.file[0];
	w.run.out = w.file[1];
	w.run.stats |= w.run.raw != NULL;
	err = check_out(c, &w.run);
	if (!err)
		err = nm_expand(c, &w.run);
	if (err)
		return err;
	if (w.run.stats)
		return show(c, &w.run, w.run.raw);
	return strcmp(w.run.out, "-") ? out_done(c) : CLI_OK;
}

/* Print what each of several specs would keep of raw floats. */
static int inspect_raw(struct cli *c, struct words *w)
{
	static const struct out_col table[] = {
		{.key = "spec"},
		{.key = "bytes", .right = true},
		{.key = "ratio", .right = true, .text = ratio_text},
		{.title = "kept energy", .right = true, .text = energy_text},
		{.title = "largest error", .key = "largest_error", .right = true},
	};
	const char *at = w->spec ? w->spec : SPECS, *end;
	json_t *rows = json_array();
	int err = CLI_OK;

	w->run.stats = true;
	for (; !err && at; at = *end ? end + 1 : NULL) {
		end = strchrnul(at, ',');
		w->run.kept = (struct nm_stats){0};
		err = read_spec(c, &w->run.f.spec, at, (size_t)(end - at));
		if (!err)
			err = nm_compress(c, &w->run);
		if (!err)
			json_array_append_new(rows, describe(&w->run, true));
	}
	if (err) {
		json_decref(rows);
		return err;
	}
	return out_table(c, rows, table, sizeof(table) / sizeof(table[0]));
}

static int codec_inspect(struct cli *c, int argc, char **argv)
{
	struct words w = {0};
	int err = parse(c, argc, argv, &w,
			OPT_DTYPE | OPT_BLOCK | OPT_SEED | OPT_LEVEL | OPT_AGAINST | OPT_SPEC, 1,
			"FILE");

	if (err)
		return err;
	w.run.in = w.file[0];
	if (!w.run.raw && !nm_is_compressed(w.run.in))
		return inspect_raw(c, &w);
	if (w.spec)
		return cli_usage(c, "--spec is for files of raw floats");
	err = nm_expand(c, &w.run);
	return err ? err : show(c, &w.run, w.run.raw);
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("compress",
		"SPEC FILE OUT [--dtype f32|f16|bf16] [--block N] [--seed N] [--level LEVEL] [--stats]",
		"Keep M of every N floats, as floats or as integers: 2:4, int8, 2:4+int8.",
		codec_compress),
	CLI_CMD("expand", "FILE OUT [--against RAW] [--level LEVEL] [--stats]",
		"Make raw floats of a compressed file.", codec_expand),
	CLI_CMD("inspect",
		"FILE [--against RAW] [--dtype f32|f16|bf16] [--block N] [--seed N] [--spec SPEC,...] [--level LEVEL]",
		"Check a compressed file; or show what specs would keep of raw floats.",
		codec_inspect),
};

CLI_OBJECT(codec, "compress files of floats, as gradients are compressed");
