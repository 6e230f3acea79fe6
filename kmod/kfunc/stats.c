// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of kfuncs. Only its CPU writes a counter: a reset stores the current
 * values, and readers subtract them.
 */
#include <linux/errno.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/string.h>

#include "fallback.h"
#include "stats.h"
#include "trace/trace.h"

struct counters {
	struct trib_kstat of[TRIB_KFUNC__MAX];
};

static struct counters __percpu *counters;

/* Values at the last reset. */
static struct counters base;
static DEFINE_MUTEX(base_lock);

int trib_stats_init(void)
{
	counters = alloc_percpu(struct counters);
	return counters ? 0 : -ENOMEM;
}

void trib_stats_exit(void)
{
	free_percpu(counters);
}

/* BPF programs run with migration disabled, but some with preemption. */
void trib_stats_done(enum trib_kfunc_id id, __u32 bytes, int fallback)
{
	this_cpu_inc(counters->of[id].calls);
	this_cpu_add(counters->of[id].bytes, bytes);
	if (likely(!fallback))
		return;
	this_cpu_inc(counters->of[id].fallbacks);
	trace_trib_fallback(trib_kfunc_names[id], bytes);
	trib_fallback_tell();
}

void trib_stats_refused(enum trib_kfunc_id id)
{
	this_cpu_inc(counters->of[id].refused);
}

static void sum_up(enum trib_kfunc_id id, struct trib_kstat *out)
{
	const struct trib_kstat *k;
	int cpu;

	memset(out, 0, sizeof(*out));
	for_each_possible_cpu(cpu)
	{
		k = &per_cpu_ptr(counters, cpu)->of[id];
		out->calls += READ_ONCE(k->calls);
		out->bytes += READ_ONCE(k->bytes);
		out->fallbacks += READ_ONCE(k->fallbacks);
		out->refused += READ_ONCE(k->refused);
	}
}

void trib_stats_get(enum trib_kfunc_id id, struct trib_kstat *out)
{
	mutex_lock(&base_lock);
	sum_up(id, out);
	out->calls -= base.of[id].calls;
	out->bytes -= base.of[id].bytes;
	out->fallbacks -= base.of[id].fallbacks;
	out->refused -= base.of[id].refused;
	mutex_unlock(&base_lock);
}

void trib_stats_reset(void)
{
	int id;

	mutex_lock(&base_lock);
	for (id = 0; id < TRIB_KFUNC__MAX; id++)
		sum_up(id, &base.of[id]);
	mutex_unlock(&base_lock);
}

u64 trib_stats_fallbacks(void)
{
	struct trib_kstat k;
	u64 sum = 0;
	int id;

	for (id = 0; id < TRIB_KFUNC__MAX; id++) {
		sum_up(id, &k);
		sum += k.fallbacks;
	}
	return sum;
}
