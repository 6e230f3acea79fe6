// SPDX-License-Identifier: BSD-2-Clause
/*
 * State on disk: the incarnation and checkpoints of the model.
 *
 * A checkpoint is little-endian: struct head, the values, and the momentum if
 * there is any. The digest covers values and momentum.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_write.h"
#include "base/text.h"
#include "ps_file.h"

#define MAGIC "TRIBCKP1"

struct head {
	char magic[8];
	uint64_t elements;
	uint32_t n;
	uint32_t momentum; /* 1: a momentum follows the values */
	uint8_t digest[crypto_generichash_BYTES];
};
_Static_assert(sizeof(struct head) == 56, "head of a checkpoint");

struct nps_disk {
	int dir;
	int lock;
};

/* ---- incarnation ---- */

static int incarnation_read(const struct nps_disk *d, const char *prefix, uint32_t *last, char *why,
			    size_t size)
{
	int fd = openat(d->dir, "incarnation", O_RDONLY | O_CLOEXEC);
	json_t *doc, *v;
	json_int_t n;
	bool ours;

	*last = 0;
	if (fd < 0)
		return errno == ENOENT
			       ? 0
			       : text_fail(why, size, -errno, "incarnation: %s", strerror(errno));
	doc = json_loadfd(fd, JSON_REJECT_DUPLICATES, NULL);
	close(fd);
	v = json_object_get(doc, "incarnation");
	n = json_integer_value(v);
	ours = json_is_string(json_object_get(doc, "prefix")) &&
	       !strcmp(json_string_value(json_object_get(doc, "prefix")), prefix);
	json_decref(doc);
	if (n < 1 || n >= UINT32_MAX)
		return text_fail(why, size, -EPROTO, "incarnation: the file is damaged");
	if (!ours)
		return text_fail(why, size, -EEXIST,
				 "incarnation: the folder belongs to a job with another prefix");
	*last = (uint32_t)n;
	return 0;
}

static int incarnation_write(const struct nps_disk *d, const char *prefix, uint32_t n)
{
	json_t *doc = json_pack("{s:s s:I}", "prefix", prefix, "incarnation", (json_int_t)n);
	int err = json_write(d->dir, "incarnation", 0600, doc, true);

	json_decref(doc);
	return err;
}

/* ---- checkpoints ---- */

static void digest(const struct nps_model *m, size_t bytes, uint8_t out[crypto_generichash_BYTES])
{
	crypto_generichash_state st;

	crypto_generichash_init(&st, NULL, 0, crypto_generichash_BYTES);
	crypto_generichash_update(&st, (const void *)m->values, bytes);
	if (m->momentum)
		crypto_generichash_update(&st, (const void *)m->momentum, bytes);
	crypto_generichash_final(&st, out, crypto_generichash_BYTES);
}

int nps_disk_save(struct nps_disk *d, uint64_t elements, const struct nps_model *m)
{
	size_t bytes = elements * sizeof(float);
	struct head h = {
		.elements = elements,
		.n = m->n,
		.momentum = m->momentum != NULL,
	};
	struct file_new f;
	int err;

	memcpy(h.magic, MAGIC, sizeof(h.magic));
	digest(m, bytes, h.digest);
	err = file_new_open(&f, d->dir, "model", 0600);
	if (err)
		return err;
	err = file_write_full(f.fd, &h, sizeof(h));
	if (!err)
		err = file_write_full(f.fd, m->values, bytes);
	if (!err && m->momentum)
		err = file_write_full(f.fd, m->momentum, bytes);
	return file_new_commit(&f, err, true);
}

/* @m has room for the job's vectors; its momentum is zeroed. */
static int model_read(int fd, uint64_t elements, struct nps_model *m, char *why, size_t size)
{
	uint8_t is[crypto_generichash_BYTES];
	size_t bytes = elements * sizeof(float);
	struct nps_model all = *m;
	float *other = NULL;
	struct head h;
	int err;

	err = file_read_full(fd, &h, sizeof(h));
	if (err || memcmp(h.magic, MAGIC, sizeof(h.magic)) || h.momentum > 1)
		return text_fail(why, size, -EPROTO, "model: not a checkpoint");
	if (h.elements != elements)
		return text_fail(why, size, -EPROTO,
				 "model: the checkpoint has %llu values, but the job %llu",
				 (unsigned long long)h.elements, (unsigned long long)elements);
	/* If the job has no momentum, the file's is read for the digest only. */
	if (h.momentum && !m->momentum)
		all.momentum = other = malloc(bytes);
	if (!h.momentum)
		all.momentum = NULL;
	if (h.momentum && !all.momentum)
		return text_fail(why, size, -ENOMEM, "out of memory");
	err = file_read_full(fd, all.values, bytes);
	if (!err && all.momentum)
		err = file_read_full(fd, all.momentum, bytes);
	if (!err) {
		digest(&all, bytes, is);
		err = memcmp(is, h.digest, sizeof(is)) ? -EBADMSG : 0;
	}
	free(other);
	if (err)
		return text_fail(why, size, err, "model: the checkpoint is damaged");
	m->n = h.n;
	return 0;
}

/* ---- the first model ---- */

static int first_read(const struct nps_file *f, float *to, char *why, size_t size)
{
	size_t bytes = f->spec.elements * sizeof(float);
	int fd = open(f->from, O_RDONLY | O_CLOEXEC), err;
	struct stat st;

	if (fd < 0)
		return text_fail(why, size, -errno, "model.file: %.200s: %s", f->from,
				 strerror(errno));
	err = fstat(fd, &st) || (uint64_t)st.st_size != bytes ? -EINVAL
							      : file_read_full(fd, to, bytes);
	close(fd);
	return err ? text_fail(why, size, err, "model.file: %.200s: want exactly %zu bytes",
			       f->from, bytes)
		   : 0;
}

static int first_make(const struct nps_file *f, struct nps_model *m, char *why, size_t size)
{
	struct ndn_random r = {.state = f->seed};
	uint64_t i;

	if (f->init == NPS_INIT_FILE)
		return first_read(f, m->values, why, size);
	if (f->init == NPS_INIT_SEED)
		for (i = 0; i < f->spec.elements; i++) {
			/* 24 bits: each value is exact as a float. */
			float u = (float)(ndn_random_next(&r) >> 40) / 8388608.0f;

			m->values[i] = (u - 1) * f->scale;
		}
	return 0;
}

/* ---- the folder ---- */

static int model_load(const struct nps_disk *d, const struct nps_file *f, struct nps_model *m,
		      char *why, size_t size)
{
	int fd = openat(d->dir, "model", O_RDONLY | O_CLOEXEC), err;

	*m = (struct nps_model){.values = calloc(f->spec.elements, sizeof(float))};
	if (f->spec.momentum > 0)
		m->momentum = calloc(f->spec.elements, sizeof(float));
	if (!m->values || (f->spec.momentum > 0 && !m->momentum))
		err = text_fail(why, size, -ENOMEM, "out of memory");
	else if (fd >= 0)
		err = model_read(fd, f->spec.elements, m, why, size);
	else if (errno == ENOENT)
		err = first_make(f, m, why, size);
	else
		err = text_fail(why, size, -errno, "model: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	if (err) {
		free(m->values);
		free(m->momentum);
	}
	return err;
}

static int folder_take(struct nps_disk *d, const char *path, char *why, size_t size)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		return text_fail(why, size, -errno, "%s", strerror(errno));
	d->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->dir < 0)
		return text_fail(why, size, -errno, "%s", strerror(errno));
	d->lock = openat(d->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (d->lock < 0)
		return text_fail(why, size, -errno, "lock: %s", strerror(errno));
	if (flock(d->lock, LOCK_EX | LOCK_NB))
		return text_fail(why, size, -EBUSY, "another job works on it");
	return 0;
}

int nps_disk_open(struct nps_disk **disk, const struct nps_file *f, uint32_t *incarnation,
		  struct nps_model *m, char *why, size_t size)
{
	struct nps_disk *d = malloc(sizeof(*d));
	char what[400];
	int err;

	if (!d)
		return text_fail(why, size, -ENOMEM, "out of memory");
	d->dir = d->lock = -1;
	err = folder_take(d, f->state, what, sizeof(what));
	if (!err)
		err = incarnation_read(d, f->prefix, incarnation, what, sizeof(what));
	if (!err)
		err = model_load(d, f, m, what, sizeof(what));
	if (err) {
		nps_disk_close(d);
		return text_fail(why, size, err, "%.200s: %s", f->state, what);
	}
	err = incarnation_write(d, f->prefix, ++*incarnation);
	if (err) {
		free(m->values);
		free(m->momentum);
		nps_disk_close(d);
		return text_fail(why, size, err, "%.200s: incarnation: %s", f->state,
				 strerror(-err));
	}
	*disk = d;
	return 0;
}

void nps_disk_close(struct nps_disk *d)
{
	if (!d)
		return;
	if (d->dir >= 0)
		close(d->dir);
	if (d->lock >= 0)
		close(d->lock);
	free(d);
}
