// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib-ps's files: a job, then the same job's file after a change, then the state of
 * all trees, with NUL bytes between them. An error names the place; a refused change
 * changes nothing; an accepted job is in range; and a state that was saved comes back
 * as it was, with no epoch newer than its newest one.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/json_write.h"
#include "mutate.h"
#include "ps/sum/state.h"

const size_t mutate_from;

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "ps-file: %s\n", what);
	abort();
}

static bool is_line(const char *s)
{
	for (; *s; s++)
		if (iscntrl((unsigned char)*s))
			return false;
	return true;
}

/* --- the program around it */

static char *saved; /* text of the file written last */

/* Linked in place of json_write(). */
int __wrap_json_write(int dir, const char *name, mode_t mode, const json_t *doc, bool sync);
int __wrap_json_write(int dir, const char *name, mode_t mode, const json_t *doc, bool sync)
{
	(void)dir;
	(void)name;
	must(mode == 0600 && sync && doc, "how the state is written");
	free(saved);
	saved = json_dumps(doc, JSON_INDENT(1));
	return 0;
}

static void on_to(void *ctx, const struct ps_addr *to, const void *pkt, size_t len,
		  struct ps_place *z)
{
	(void)ctx;
	(void)to;
	(void)pkt;
	(void)len;
	(void)z;
}

static void on_place(void *ctx, struct ps_place *z)
{
	(void)ctx;
	(void)z;
}

static void on_result(void *ctx, struct ps_tree *t, struct ps_place *z)
{
	(void)ctx;
	(void)t;
	(void)z;
}

static int on_save(void *ctx)
{
	(void)ctx;
	return 0;
}

static void on_log(void *ctx, const char *line)
{
	(void)ctx;
	must(is_line(line), "a line of the log is not one");
}

static const struct ps_ops ops = {
	.to = on_to,
	.result = on_result,
	.settle = on_place,
	.save = on_save,
	.log = on_log,
};

/* Half a megabyte each, which ps_free() empties: few, and not from the heap. */
static struct ps pool[4];
static unsigned int used;

static struct ps *empty(void)
{
	struct ps *p = &pool[used++];

	must(used <= sizeof(pool) / sizeof(pool[0]), "more of them than thought");
	p->ops = &ops;
	p->everywhere = true;
	return p;
}

static void drop(struct ps *p)
{
	must(p == &pool[--used], "dropped in another order");
	ps_free(p);
	p->now = p->save_ms = 0;
}

/* --- jobs */

static void job_holds(const struct ps *p)
{
	unsigned int i, k;

	for (i = 0; i < p->njob; i++) {
		const struct ps_job *j = p->job[i];

		must(j->window && j->window <= PS_WINDOW_MAX && !(j->window & (j->window - 1)),
		     "a window");
		must(j->nval >= 48 && j->nval <= TRIB_NVAL_LARGE && !(j->nval % TRIB_NVAL_BLOCK),
		     "values of a packet");
		must(j->world && j->world <= TRIB_WORLD_MAX, "a world");
		for (k = 0; k < j->world; k++)
			must(j->worker[k].port && !addr_is_zero(&j->worker[k].ip), "a worker");
	}
	for (i = 0; i < p->ntree; i++) {
		const struct ps_tree *t = p->tree[i];

		must(p->by_tree[t->number] == t && t->ngroup && t->mask == 2u * t->job->window - 1,
		     "a tree");
		for (k = 0; k < t->ngroup; k++)
			must(t->group[k].port && !addr_is_zero(&t->group[k].ip), "a receiver");
	}
}

/* Check each number once; it may be none of these for a job that goes. */
static unsigned int trees_of(const struct ps *p)
{
	unsigned int i, sum = p->njob << 24;

	for (i = 0; i < p->ntree; i++)
		sum += 1 + p->tree[i]->number;
	return sum;
}

/* One turn of jobs.c: read the file, and put its job in the place of the old one. */
static void put(struct ps *p, struct ps_job **slot, const char *text, size_t len)
{
	unsigned int before = trees_of(p);
	struct ps *next = empty();
	char why[256] = "";
	int err = ps_config_text(next, "f", text, len, false, why, sizeof(why));

	must(!err || !strncmp(why, "f:", 2), "an error names no place");
	if (!err) {
		job_holds(next);
		err = ps_job_put(p, slot, next, why, sizeof(why));
	}
	must(!err || (*why && is_line(why)), "no reason, or not one line");
	must(!err || trees_of(p) == before, "a refused file changed something");
	drop(next);
	job_holds(p);
}

/* --- the state */

static int load(struct ps *p, const char *text, size_t len)
{
	static int fd = -1;
	char path[64], why[256] = "";
	int err;

	if (fd < 0)
		fd = memfd_create("state", 0);
	must(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, text, len, 0) == (ssize_t)len, "memfd");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = ps_state_load(p, path, why, sizeof(why));
	must(!err || (*why && is_line(why)), "no reason, or not one line");
	return err;
}

static char *save(const struct ps *p)
{
	must(!ps_state_save(p, "state"), "saving");
	return strdup(saved);
}

static struct ps *read_again(const char *job, size_t len)
{
	struct ps *p = empty();
	struct ps_job *slot = NULL;

	put(p, &slot, job, len);
	must(slot != NULL, "an accepted file is refused");
	return p;
}

static void state(const char *job, size_t joblen, const char *text, size_t len)
{
	struct ps *p = read_again(job, joblen), *q;
	char *before, *after;
	unsigned int i;

	if (!load(p, text, len)) {
		before = save(p);
		q = read_again(job, joblen);
		must(!load(q, before, strlen(before)), "what was saved is refused");
		after = save(q);
		must(!strcmp(before, after), "what was saved comes back different");
		for (i = 0; i < p->ntree; i++)
			must(p->tree[i]->epoch <= PS_EPOCH_MAX, "an epoch");
		ps_tick(q, 1000);
		free(before);
		free(after);
		drop(q);
	}
	drop(p);
}

static size_t part(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *nul = memchr(*at, 0, (size_t)(end - *at));

	return (size_t)((nul ? nul : end) - *at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size, *at = data;
	size_t len = part(&at, end), n;
	struct ps *p = empty();
	struct ps_job *slot = NULL;

	put(p, &slot, (const char *)at, len);
	if (slot) {
		at += len + (at + len < end);
		n = part(&at, end);
		if (n)
			put(p, &slot, (const char *)at, n);
		at += n + (at + n < end);
		if (at < end)
			state((const char *)data, len, (const char *)at, (size_t)(end - at));
		ps_job_drop(p, slot);
		must(!p->njob && !p->ntree, "something is left of a job");
	}
	drop(p);
	return 0;
}
