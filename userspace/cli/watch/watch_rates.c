// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the arithmetic of trib watch: rates, arrival lag, and children that are
 * late, silent or behind a slow wire. The data plane times the first chunk of each
 * message, and one in TRIB_LAG_EVERY.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/object/tree_text.h"
#include "cli/out/out.h"
#include "uapi/trib.h"
#include "uapi/trib_maps.h"
#include "uapi/trib_wire.h"
#include "watch.h"

void watch_free(struct watch_sample *s)
{
	json_decref(s->status);
	json_decref(s->jobs);
	json_decref(s->trees);
	json_decref(s->stats);
	json_decref(s->faces);
	json_decref(s->ndn);
	json_decref(s->ndn_stats);
	memset(s, 0, sizeof(*s));
}

/* tribd or an operator may have reset counters between the looks. */
static double grown(uint64_t before, uint64_t now)
{
	return (double)(now >= before ? now - before : now);
}

static const json_t *find(const json_t *list, const char *key, uint64_t id)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		if (jnum(v, key) == id)
			return v;
	return NULL;
}

static double stat_grown(const struct watch_sample *a, const struct watch_sample *b, int id)
{
	return grown(jnum(find(a->stats, "id", (uint64_t)id), "value"),
		     jnum(find(b->stats, "id", (uint64_t)id), "value"));
}

static json_t *host_rates(const struct watch_sample *a, const struct watch_sample *b, double dt)
{
	double packets = stat_grown(a, b, TRIB_RX_GRAD) + stat_grown(a, b, TRIB_RX_RESULT) +
			 stat_grown(a, b, TRIB_RX_NEED) + stat_grown(a, b, TRIB_RX_CONTROL);
	double drops = 0;
	int i;

	for (i = TRIB_DROP_SHORT; i < TRIB_STAT__MAX; i++)
		drops += stat_grown(a, b, i);
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "gbps",
			 stat_grown(a, b, TRIB_RX_BYTES) * 8 / dt / 1e9, "packets", packets / dt,
			 "results", stat_grown(a, b, TRIB_DONE) / dt, "delivered",
			 stat_grown(a, b, TRIB_DELIVERED) / dt, "resends",
			 stat_grown(a, b, TRIB_RX_RESEND) / dt, "needs",
			 stat_grown(a, b, TRIB_RX_NEED) / dt, "drops", drops / dt);
}

static json_t *drop_rates(const struct watch_sample *a, const struct watch_sample *b, double dt)
{
	json_t *out = json_object();
	const json_t *s;
	double v;
	size_t i;

	json_array_foreach(b->stats, i, s) {
		if (jnum(s, "id") < TRIB_DROP_SHORT)
			continue;
		v = stat_grown(a, b, (int)jnum(s, "id"));
		if (v > 0)
			json_object_set_new(out, jstr(s, "name"), json_real(v / dt));
	}
	return out;
}

/* One child of one tree over the interval. */
struct lag {
	const json_t *now;
	double samples;	   /* chunks sampled in the interval */
	double lag_us;	   /* their mean lag */
	double lag;	   /* the same, in windows */
	double last;	   /* samples in which it was the last */
	double starts;	   /* messages begun in the interval */
	double start_wait; /* share of the interval that others waited for its start */
	double data_wait;  /* the same, for its data */
	bool known;	   /* chunks timed since the tree began */
	bool current;	   /* samples that count for this epoch */
	uint32_t chunk;
	uint64_t age_ms;
	double behind;
};

/* How long the others waited for the child, as a share of the interval. */
static double waited(const struct lag *l)
{
	return l->start_wait + l->data_wait;
}

/*
 * Name the child that the others wait for: longer than a share of the interval, and
 * WATCH_MORE times as long as for any other. Somebody is always the last, and jitter
 * makes everybody the last in turns: neither is worth a mark. A child whose host was
 * busy for a moment stays the last until the message ends, since all wires are busy;
 * only a slow wire lets the others go ahead until their windows stop them.
 */
static const char *blame(const struct lag *l, size_t n, size_t i)
{
	bool wire = l[i].data_wait >= WATCH_WIRE && l[i].data_wait > l[i].start_wait;
	double mine = wire ? l[i].data_wait : l[i].start_wait;
	size_t k;

	if (n < 2 || mine < WATCH_WAIT)
		return "";
	for (k = 0; k < n; k++)
		if (k != i && mine < WATCH_MORE * waited(&l[k]))
			return "";
	if (!wire)
		return "late";
	return l[i].lag >= WATCH_LAG ? "slow wire" : "";
}

/*
 * Compare chunks only of children that were heard at about the same time: chunk
 * numbers of others may belong to an earlier epoch.
 */
#define SAME_TIME_MS 1000

static void compare(struct lag *l, size_t n)
{
	uint64_t youngest = UINT64_MAX;
	size_t i, k;
	int32_t d;

	for (i = 0; i < n; i++)
		if (l[i].known && l[i].age_ms < youngest)
			youngest = l[i].age_ms;
	for (i = 0; i < n; i++)
		l[i].current = l[i].known && l[i].age_ms - youngest <= SAME_TIME_MS;
	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++) {
			if (!l[i].current || !l[k].current)
				continue;
			d = trib_chunk_diff(l[k].chunk, l[i].chunk);
			if (d > l[i].behind)
				l[i].behind = d;
		}
}

/*
 * A child is silent if the others went on without it. If none goes on, it is
 * silent if it is among those that lack the oldest chunk: windows differ, so a
 * child behind the newest chunk may be waiting, too.
 */
static bool is_silent(const struct lag *l, size_t n, size_t i)
{
	uint64_t other = UINT64_MAX;
	bool moved = false;
	double most = 0;
	size_t k;

	if (l[i].samples + l[i].starts > 0)
		return false;
	for (k = 0; k < n; k++) {
		moved |= l[k].samples + l[k].starts > 0;
		if (l[k].behind > most)
			most = l[k].behind;
		if (k != i && l[k].known && l[k].age_ms < other)
			other = l[k].age_ms;
	}
	if (!l[i].known)
		return moved || (other != UINT64_MAX && other >= WATCH_SILENT_MS);
	if (!l[i].current)
		return true;
	return l[i].age_ms >= WATCH_SILENT_MS &&
	       (moved || (most > 0 && l[i].behind > most - TRIB_LAG_EVERY));
}

/* Growth of a sum of nanoseconds, as a share of the interval. */
static double share_grown(const json_t *old, const json_t *now, const char *key, double dt)
{
	double share = grown(jnum(old, key), jnum(now, key)) / 1e9 / dt;

	/* A wait that ended in the interval may have begun before it. */
	return share < 1 ? share : 1;
}

static size_t read_lags(const json_t *before, const json_t *now, double dt, struct lag *l)
{
	const json_t *list = json_object_get(now, "children"), *ch, *old;
	size_t i, n = json_array_size(list);

	if (n > TRIB_CHILDREN_MAX)
		n = TRIB_CHILDREN_MAX;
	for (i = 0; i < n; i++) {
		ch = json_array_get(list, i);
		old = find(json_object_get(before, "children"), "index", jnum(ch, "index"));
		memset(&l[i], 0, sizeof(l[i]));
		l[i].now = ch;
		l[i].samples = grown(jnum(old, "samples"), jnum(ch, "samples"));
		l[i].last = grown(jnum(old, "last"), jnum(ch, "last"));
		if (l[i].samples > 0)
			l[i].lag_us =
				grown(jnum(old, "lag_ns"), jnum(ch, "lag_ns")) / l[i].samples / 1e3;
		l[i].starts = grown(jnum(old, "starts"), jnum(ch, "starts"));
		/* A new tree has counted for an unknown time: it has no rates yet. */
		if (old) {
			l[i].start_wait = share_grown(old, ch, "start_wait_ns", dt);
			l[i].data_wait = share_grown(old, ch, "data_wait_ns", dt);
		}
		l[i].known = jnum(ch, "samples") + jnum(ch, "starts") > 0;
		l[i].chunk = (uint32_t)jnum(ch, "chunk");
		l[i].age_ms = jnum(ch, "seen_ms");
	}
	compare(l, n);
	return n;
}

static json_t *child_rates(const struct lag *l, size_t n, size_t i, double lasts, bool running)
{
	const char *mark = "";
	json_t *o = json_object(), *rank = json_object_get(l[i].now, "rank");

	if (!jbool(l[i].now, "joined"))
		mark = "not joined";
	else if (running && is_silent(l, n, i))
		mark = "silent";
	else if (running)
		mark = blame(l, n, i);
	json_object_set(o, "index", json_object_get(l[i].now, "index"));
	json_object_set_new(o, "face", json_string(jstr(l[i].now, "face")));
	if (rank)
		json_object_set(o, "rank", rank);
	if (l[i].samples > 0) {
		json_object_set_new(o, "lag_us", json_real(l[i].lag_us));
		json_object_set_new(o, "last_share", json_real(lasts > 0 ? l[i].last / lasts : 0));
	}
	if (l[i].samples + l[i].starts > 0) {
		json_object_set_new(o, "start_wait", json_real(l[i].start_wait));
		json_object_set_new(o, "data_wait", json_real(l[i].data_wait));
	}
	if (l[i].samples > 0)
		json_object_set_new(o, "lag_windows", json_real(l[i].lag));
	if (l[i].known)
		json_object_set_new(o, "age_ms", json_integer((json_int_t)l[i].age_ms));
	if (l[i].current)
		json_object_set_new(o, "behind", json_integer((json_int_t)l[i].behind));
	json_object_set_new(o, "mark", json_string(mark));
	return o;
}

/* Progress of the tree in chunks: that of its furthest child. */
static double chunks_grown(const json_t *before, const json_t *now)
{
	const json_t *ch, *old;
	double best = 0, samples;
	int32_t d;
	size_t i;

	json_array_foreach(json_object_get(now, "children"), i, ch) {
		old = find(json_object_get(before, "children"), "index", jnum(ch, "index"));
		samples = grown(jnum(old, "samples"), jnum(ch, "samples"));
		if (!samples && jnum(ch, "starts") == jnum(old, "starts"))
			continue;
		d = trib_chunk_diff((uint32_t)jnum(ch, "chunk"), (uint32_t)jnum(old, "chunk"));
		/*
		 * A new epoch counts from 0, but the chunk of a tree without epoch
		 * may be of an earlier one. Samples bound what can have passed.
		 */
		if (!old || d < 0 || jnum(before, "epoch") != jnum(now, "epoch"))
			d = (int32_t)jnum(ch, "chunk");
		if (d > (samples + 1) * TRIB_LAG_EVERY)
			d = (int32_t)(samples * TRIB_LAG_EVERY);
		if (d > best)
			best = d;
	}
	return best;
}

/*
 * @delivered: results written to mapped memory if all are this tree's, else
 * negative. A leaf needs it because it has no children to count.
 */
static json_t *tree_rates(const json_t *before, const json_t *now, double dt, uint32_t nval,
			  double delivered)
{
	struct lag l[TRIB_CHILDREN_MAX];
	json_t *list = json_array(), *o;
	double lasts = 0, samples = 0, chunks, packets, window = (double)jnum(now, "slots") / 2;
	char missing[OUT_CELL];
	size_t i, n = read_lags(before, now, dt, l);

	for (i = 0; i < n; i++) {
		lasts += l[i].last;
		samples += l[i].samples;
	}
	chunks = before ? chunks_grown(before, now) : 0;
	for (i = 0; i < n; i++)
		l[i].lag = window > 0 ? l[i].lag_us / 1e6 * chunks / dt / window : 0;
	for (i = 0; i < n; i++)
		json_array_append_new(list, child_rates(l, n, i, lasts, jnum(now, "epoch")));
	packets = samples * TRIB_LAG_EVERY;
	if (!n)
		chunks = packets = delivered;
	tree_missing(now, missing, sizeof(missing));
	o = json_pack("{s:I, s:s, s:s, s:s, s:I, s:s}", "id", (json_int_t)jnum(now, "id"), "job",
		      jstr(now, "job"), "role", tree_role(now), "state", tree_state(now), "epoch",
		      (json_int_t)jnum(now, "epoch"), "missing", missing);
	if (chunks >= 0) {
		json_object_set_new(o, "gbps", json_real(chunks * nval * 32 / dt / 1e9));
		json_object_set_new(o, "results", json_real(chunks / dt));
		json_object_set_new(o, "packets", json_real(packets / dt));
	}
	json_object_set_new(o, "children", list);
	return o;
}

/* Sampled chunks may promise more than came before the tree stood still. */
static void cap_rates(json_t *tree, const json_t *host)
{
	static const char *const keys[] = {"gbps", "results", "packets"};
	double most;
	size_t i;

	if (!json_array_size(json_object_get(tree, "children")))
		return;
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		most = json_number_value(json_object_get(host, keys[i]));
		if (json_number_value(json_object_get(tree, keys[i])) > most)
			json_object_set_new(tree, keys[i], json_real(most));
	}
}

static json_t *job_rates(const json_t *jobs, const json_t *trees)
{
	json_t *list = json_array();
	const json_t *job, *t;
	double gbps, results, packets;
	size_t i, k;

	json_array_foreach(jobs, i, job) {
		gbps = results = packets = 0;
		json_array_foreach(trees, k, t) {
			if (strcmp(jstr(t, "job"), jstr(job, "name")))
				continue;
			gbps += json_real_value(json_object_get(t, "gbps"));
			results += json_real_value(json_object_get(t, "results"));
			packets += json_real_value(json_object_get(t, "packets"));
		}
		json_array_append_new(
			list, json_pack("{s:s, s:I, s:I, s:f, s:f, s:f}", "name", jstr(job, "name"),
					"world", (json_int_t)jnum(job, "world"), "attached",
					(json_int_t)jnum(job, "attached"), "gbps", gbps, "results",
					results, "packets", packets));
	}
	return list;
}

json_t *watch_rates(const struct watch_sample *a, const struct watch_sample *b)
{
	double dt = b->seconds - a->seconds, delivered = -1;
	json_t *trees = json_array(), *jobs, *o = json_object(), *host, *rates;
	const json_t *t;
	size_t i;

	if (dt < 1e-3)
		dt = 1e-3;
	if (json_array_size(b->trees) == 1)
		delivered = stat_grown(a, b, TRIB_DELIVERED);
	host = host_rates(a, b, dt);
	json_array_foreach(b->trees, i, t) {
		rates = tree_rates(find(a->trees, "id", jnum(t, "id")), t, dt,
				   (uint32_t)jnum(b->status, "nval"), delivered);
		cap_rates(rates, host);
		json_array_append_new(trees, rates);
	}
	jobs = job_rates(b->jobs, trees);
	json_object_set_new(o, "interval", json_real(dt));
	json_object_set_new(o, "host", host);
	json_object_set_new(o, "jobs", jobs);
	json_object_set_new(o, "trees", trees);
	json_object_set(o, "faces", b->faces);
	json_object_set_new(o, "drops", drop_rates(a, b, dt));
	if (b->ndn)
		json_object_set_new(o, "ndn", watch_ndn(a, b, dt));
	return o;
}
