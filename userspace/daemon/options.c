// SPDX-License-Identifier: BSD-2-Clause
/* The command line: see options.h. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "daemon/core/instance.h"
#include "daemon/ndn/ndnd.h"
#include "daemon/tree/tree.h"
#include "options.h"

#define SLOTS_MAX (1u << 20)
#define TREES_MAX 65536

static const char usage_text[] =
	"usage: tribd [--instance NAME] [--values auto|352|832] [--slots N]\n"
	"             [--trees N] [--pool N] [--ndn N [--ndn-cache N]]\n"
	"             [--spread auto|N] [--no-reflex] [--log error|warn|info|debug]\n"
	"       tribd --check [the same options]\n"
	"       tribd --purge [--instance NAME]\n"
	"       tribd --version | --help\n"
	"see tribd(8)\n";

static int usage(const char *fmt, const char *value)
{
	fprintf(stderr, "tribd: ");
	fprintf(stderr, fmt, value);
	fprintf(stderr, "\n%s", usage_text);
	return 2;
}

static bool number_parse(const char *s, uint32_t min, uint32_t max, uint32_t *out)
{
	uint64_t v;

	if (text_number(s, min, max, &v))
		return false;
	*out = (uint32_t)v;
	return true;
}

static bool values_parse(const char *s, uint32_t *nval)
{
	if (!strcmp(s, "auto")) {
		*nval = 0;
		return true;
	}
	return number_parse(s, 0, UINT32_MAX, nval) &&
	       (*nval == TRIB_NVAL_SMALL || *nval == TRIB_NVAL_LARGE);
}

static bool log_parse(const char *s, enum log_level *level)
{
	static const char *const name[] = {"error", "warn", "info", "debug"};
	unsigned int i;

	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (!strcmp(s, name[i])) {
			*level = (enum log_level)i;
			return true;
		}
	return false;
}

static bool spread_parse(const char *s, uint32_t *n)
{
	*n = 0;
	return !strcmp(s, "auto") || number_parse(s, 1, TRIB_SPREAD_MAX, n);
}

/* 0, or the exit status. */
static int option_parse(struct options *o, int c, const char *arg)
{
	switch (c) {
	case 'i':
		o->instance = arg;
		if (!instance_name_ok(arg))
			return usage("--instance %s: want 1 to 48 letters, digits, - and _", arg);
		return 0;
	case 'v':
		return values_parse(arg, &o->nval)
			       ? 0
			       : usage("--values %s: want auto, 352 or 832", arg);
	case 's':
		return number_parse(arg, 2, SLOTS_MAX, &o->nslots)
			       ? 0
			       : usage("--slots %s: want 2 to 1048576", arg);
	case 't':
		return number_parse(arg, 2, TREES_MAX, &o->ntrees)
			       ? 0
			       : usage("--trees %s: want 2 to 65536", arg);
	case 'o':
		return number_parse(arg, 1, POOL_MAX, &o->pool)
			       ? 0
			       : usage("--pool %s: want 1 to 4096", arg);
	case 'n':
		return number_parse(arg, 1, NDND_ENTRIES_MAX, &o->ndn)
			       ? 0
			       : usage("--ndn %s: want 1 to 1048576", arg);
	case 'c':
		return number_parse(arg, 0, NDND_CACHE_MAX, &o->ndn_cache)
			       ? 0
			       : usage("--ndn-cache %s: want 0 to 65536", arg);
	case 'l':
		return log_parse(arg, &o->log)
			       ? 0
			       : usage("--log %s: want error, warn, info or debug", arg);
	case 'u':
		return spread_parse(arg, &o->spread)
			       ? 0
			       : usage("--spread %s: want auto or 1 to 16", arg);
	case 'r':
		o->no_reflex = true;
		return 0;
	case 'p':
		o->purge = true;
		return 0;
	case 'k':
		o->check = true;
		return 0;
	default:
		fputs(usage_text, stderr);
		return 2;
	}
}

int options_parse(struct options *o, int argc, char **argv)
{
	static const struct option option[] = {
		{"instance", required_argument, NULL, 'i'},
		{"values", required_argument, NULL, 'v'},
		{"slots", required_argument, NULL, 's'},
		{"trees", required_argument, NULL, 't'},
		{"pool", required_argument, NULL, 'o'},
		{"ndn", required_argument, NULL, 'n'},
		{"ndn-cache", required_argument, NULL, 'c'},
		{"spread", required_argument, NULL, 'u'},
		{"no-reflex", no_argument, NULL, 'r'},
		{"log", required_argument, NULL, 'l'},
		{"purge", no_argument, NULL, 'p'},
		{"check", no_argument, NULL, 'k'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c, err;

	o->log = LOG_INFO;
	o->ndn_cache = UINT32_MAX;
	while ((c = getopt_long(argc, argv, "", option, NULL)) != -1) {
		if (c == 'V') {
			puts("tribd " TRIB_VERSION);
			return 0;
		}
		if (c == 'h') {
			fputs(usage_text, stdout);
			return 0;
		}
		err = option_parse(o, c, optarg);
		if (err)
			return err;
	}
	if (optind < argc)
		return usage("unexpected argument %s", argv[optind]);
	if (o->purge && o->check)
		return usage("%s with --purge", "--check");
	if (!o->ndn && o->ndn_cache != UINT32_MAX)
		return usage("%s without --ndn", "--ndn-cache");
	if (o->ndn_cache == UINT32_MAX)
		o->ndn_cache = NDND_CACHE_DEFAULT;
	return -1;
}
