// SPDX-License-Identifier: BSD-2-Clause
/* Owns the rates of the NDN forwarder's counters. */
#include <string.h>

#include "cli/out/out.h"
#include "watch.h"

static double rate(const struct watch_sample *a, const struct watch_sample *b, const char *stat,
		   double dt)
{
	const json_t *s;
	uint64_t was = 0, is = 0;
	size_t i;

	json_array_foreach(a->ndn_stats, i, s)
		if (!strcmp(jstr(s, "name"), stat))
			was = jnum(s, "value");
	json_array_foreach(b->ndn_stats, i, s)
		if (!strcmp(jstr(s, "name"), stat))
			is = jnum(s, "value");
	/* A counter may have been reset between the looks. */
	return (double)(is >= was ? is - was : is) / dt;
}

json_t *watch_ndn(const struct watch_sample *a, const struct watch_sample *b, double dt)
{
	static const struct {
		const char *key;
		const char *stat;
	} rates[] = {
		{"interests", "ndn-rx-interest"},
		{"data", "ndn-rx-data"},
		{"interests_out", "ndn-tx-interest"},
		{"data_out", "ndn-tx-data"},
		{"copied", "ndn-tx-copy"},
		{"slow", "ndn-tx-slow"},
		{"inserted", "ndn-inserted"},
		{"cache_hits", "ndn-hit"},
	};
	json_t *o = json_object(), *drops = json_object();
	static const char drop[] = "ndn-drop-", bad[] = "ndn-bad-";
	const json_t *s;
	const char *name;
	double v, sum = 0;
	size_t i;

	json_object_set(o, "entries", json_object_get(b->ndn, "entries_used"));
	json_object_set(o, "cached", json_object_get(b->ndn, "cache_used"));
	json_object_set(o, "routes", json_object_get(b->ndn, "routes"));
	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		json_object_set_new(o, rates[i].key, json_real(rate(a, b, rates[i].stat, dt)));
	json_array_foreach(b->ndn_stats, i, s) {
		name = jstr(s, "name");
		/* DROP_MISS counts events, not packets. */
		if (!strcmp(name, "ndn-drop-miss"))
			continue;
		if (strncmp(name, drop, strlen(drop)) && strncmp(name, bad, strlen(bad)))
			continue;
		v = rate(a, b, name, dt);
		sum += v;
		if (v > 0)
			json_object_set_new(drops, name, json_real(v));
	}
	json_object_set_new(o, "dropped", json_real(sum));
	json_object_set_new(o, "drops", drops);
	return o;
}

void watch_show_ndn(FILE *f, const json_t *names)
{
	static const struct {
		const char *key;
		const char *text;
	} rates[] = {
		{"interests", "Interests"}, {"data", "Data"},	  {"data_out", "Data out"},
		{"copied", "copied"},	    {"dropped", "drops"},
	};
	const char *name;
	const json_t *v;
	char text[32];
	size_t i;

	if (!names)
		return;
	fprintf(f, "ndn: %llu entries, %llu routes, %llu cached",
		(unsigned long long)jnum(names, "entries"),
		(unsigned long long)jnum(names, "routes"),
		(unsigned long long)jnum(names, "cached"));
	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		v = json_object_get(names, rates[i].key);
		out_rate(json_number_value(v), text, sizeof(text));
		fprintf(f, ", %s %s/s", rates[i].text, text);
	}
	fputc('\n', f);
	json_object_foreach(json_object_get(names, "drops"), name, v) {
		out_rate(json_number_value(v), text, sizeof(text));
		fprintf(f, "  %s %s/s\n", name, text);
	}
}
