// SPDX-License-Identifier: BSD-2-Clause
/*
 * Jobs: a name, a secret, and numbers that its trees and workers share. A job
 * has no row in the maps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "claims.h"
#include "base/dtype.h"
#include "base/name.h"
#include "job.h"

struct job *job_find(struct tribd *d, const char *name)
{
	struct job *j;

	TAILQ_FOREACH(j, &d->jobs, link)
		if (!strcmp(j->name, name))
			return j;
	return NULL;
}

struct job *job_find_id(struct tribd *d, uint16_t id)
{
	struct job *j;

	TAILQ_FOREACH(j, &d->jobs, link)
		if (j->id == id)
			return j;
	return NULL;
}

static int id_choose(struct tribd *d, struct job_spec *s, struct reason *why)
{
	struct job *j;
	uint32_t id;

	if (s->id) {
		j = job_find_id(d, s->id);
		return j ? reason_set(why, -EEXIST, "job id %u belongs to job %s already", s->id,
				      j->name)
			 : 0;
	}
	for (id = 1; id <= UINT16_MAX; id++)
		if (!job_find_id(d, (uint16_t)id)) {
			s->id = (uint16_t)id;
			return 0;
		}
	return reason_set(why, -ENOSPC, "all %u job ids are in use", UINT16_MAX);
}

int job_spec_peers(struct job_spec *s, const char *text, struct reason *why)
{
	const char *bad = addr_parse_meeting(text, &s->peers, &s->peers_port);

	return bad ? reason_set(why, -EINVAL, "peers %s %s", text, bad) : 0;
}

static int numbers_check(struct job_spec *s, struct reason *why)
{
	if (s->world < 1 || s->world > TRIB_WORLD_MAX)
		return reason_set(why, -ERANGE, "world %u: 1 to %u workers", s->world,
				  TRIB_WORLD_MAX);
	if (!s->window)
		s->window = TRIB_JOB_WINDOW_DEFAULT;
	if (s->window > TRIB_JOB_WINDOW_MAX || (s->window & (s->window - 1)))
		return reason_set(why, -ERANGE, "window %u: want a power of 2 from 1 to %u",
				  s->window, TRIB_JOB_WINDOW_MAX);
	if (!s->timeout_ms)
		s->timeout_ms = TRIB_JOB_TIMEOUT_DEFAULT;
	if (s->timeout_ms < TRIB_JOB_TIMEOUT_MIN || s->timeout_ms > TRIB_JOB_TIMEOUT_MAX)
		return reason_set(why, -ERANGE, "timeout %u ms: %u to %u", s->timeout_ms,
				  TRIB_JOB_TIMEOUT_MIN, TRIB_JOB_TIMEOUT_MAX);
	if (!s->fmt)
		s->fmt = TRIB_FMT_Q32;
	if (!trib_dtype_name(s->fmt))
		return reason_set(why, -EINVAL, "format %u: want int, f32, f16 or bf16", s->fmt);
	return 0;
}

/* Programs look for the module once, when they are loaded. */
static int module_check(const struct tribd *d, const struct job_spec *s, struct reason *why)
{
	if (!trib_fmt_is_float(s->fmt) || d->kfuncs)
		return 0;
	return reason_set(
		why, -EOPNOTSUPP,
		"dtype %s needs the kernel module, without which tribd loaded its programs: modprobe trib, restart tribd (jobs go on); or use dtype int",
		trib_dtype_name(s->fmt));
}

/* @bad: what is wrong with the name, if @err. */
static int spec_check(struct tribd *d, struct job_spec *s, int err, const char *bad,
		      struct reason *why)
{
	if (err)
		return reason_set(why, err, "job name '%s' %s", s->name, bad);
	if (job_find(d, s->name))
		return reason_set(why, -EEXIST, "job %s exists", s->name);
	err = numbers_check(s, why);
	if (!err)
		err = id_choose(d, s, why);
	if (err || s->has_key)
		return err;
	if (getrandom(&s->key, sizeof(s->key), 0) != sizeof(s->key))
		return reason_set(why, -EIO, "no random numbers");
	s->has_key = true;
	return 0;
}

int job_check(struct tribd *d, struct job_spec *s, struct reason *why)
{
	char bad[NAME_WHY_MAX];
	int err = name_check(s->name, bad);

	return spec_check(d, s, err, bad, why);
}

static void job_free(struct tribd *d, struct job *j)
{
	TAILQ_REMOVE(&d->jobs, j, link);
	d->njobs--;
	d->generation++;
	explicit_bzero(&j->key, sizeof(j->key));
	free(j);
}

static int job_make(struct tribd *d, const struct job_spec *s, struct job **out)
{
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		return -ENOMEM;
	memcpy(j->name, s->name, sizeof(j->name));
	j->id = s->id;
	j->key = s->key;
	j->world = s->world;
	j->window = s->window;
	j->owner = s->owner;
	j->timeout_ms = s->timeout_ms;
	j->rate = s->rate;
	j->fmt = s->fmt;
	j->peers = s->peers;
	j->peers_port = s->peers_port;
	TAILQ_INSERT_TAIL(&d->jobs, j, link);
	d->njobs++;
	d->generation++;
	*out = j;
	return 0;
}

int job_restore(struct tribd *d, struct job_spec *s, struct reason *why)
{
	char bad[NAME_WHY_MAX];
	struct job *j;
	int err = name_check_word(s->name, "?&#\"\\%", bad);

	/* Older versions let such names in; their jobs stay. */
	err = spec_check(d, s, err, bad, why);
	return err ? err : job_make(d, s, &j);
}

int job_new(struct tribd *d, struct job_spec *s, struct reason *why)
{
	struct job *j;
	int err = job_check(d, s, why);

	if (!err)
		err = module_check(d, s, why);
	if (err)
		return err;
	err = job_make(d, s, &j);
	if (err)
		return reason_set(why, err, "no memory");
	err = hooks_save(d, why);
	if (err)
		job_free(d, j);
	else
		claims_job_added(d, j);
	return err;
}

int job_set_rate(struct tribd *d, const char *name, uint64_t rate, struct reason *why)
{
	struct job *j = job_find(d, name);
	uint64_t was;
	int err;

	if (!j)
		return reason_set(why, -ENOENT, "no job %s", name);
	was = j->rate;
	j->rate = rate;
	err = hooks_save(d, why);
	if (err)
		j->rate = was;
	return err;
}

int job_del(struct tribd *d, const char *name, struct reason *why)
{
	struct job *j = job_find(d, name);
	int err;

	if (!j)
		return reason_set(why, -ENOENT, "no job %s", name);
	/* The next start would remove the rows that the file lacks. */
	err = hooks_save_without(d, j, why);
	if (err)
		return err;
	d->hooks->job_del(d, j);
	claims_job_removed(d, j);
	job_free(d, j);
	return 0;
}

void job_warn(struct tribd *d)
{
	struct job *j;

	TAILQ_FOREACH(j, &d->jobs, link)
		if (trib_fmt_is_float(j->fmt) && !d->kfuncs)
			log_warn(
				"job %s: its sums of %s need the kernel module: modprobe trib, restart tribd",
				j->name, trib_dtype_name(j->fmt));
}

void job_free_all(struct tribd *d)
{
	while (TAILQ_FIRST(&d->jobs))
		job_free(d, TAILQ_FIRST(&d->jobs));
}
