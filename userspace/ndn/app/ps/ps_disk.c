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
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ps_file.h"

#define MAGIC "TRIBCKP1"

struct head {
	char magic[8];
	uint64_t elements;
	uint32_t n;
	uint32_t momentum; /* 1: there is some */
	uint8_t digest[crypto_generichash_BYTES];
};
_Static_assert(sizeof(struct head) == 56, "head of a checkpoint");

struct nps_disk {
	int dir;
	int lock;
};

__attribute__((format(printf, 4, 5))) static int
refuse(char *why, size_t size, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, size, fmt, ap);
	va_end(ap);
	return err;
}

/* ---- whole files ---- */

static int write_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

/* Too short: -ENODATA. */
static int read_all(int fd, void *data, size_t n)
{
	char *p = data;

	while (n) {
		ssize_t done = read(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -ENODATA;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static int begin(const struct nps_disk *d, const char *name)
{
	int fd = openat(d->dir, name,
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
			0600);

	return fd < 0 ? -errno : fd;
}

/* What was written to @fd, as @from, is on disk, and then it is @to. */
static int finish(const struct nps_disk *d, int fd, int err, const char *from,
		  const char *to)
{
	if (!err && fsync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(d->dir, from, d->dir, to))
		err = -errno;
	if (!err && fsync(d->dir))
		err = -errno;
	return err;
}

/* ---- incarnation ---- */

static int incarnation_read(const struct nps_disk *d, const char *prefix,
			    uint32_t *last, char *why, size_t size)
{
	int fd = openat(d->dir, "incarnation", O_RDONLY | O_CLOEXEC);
	json_t *doc, *v;
	json_int_t n;
	bool ours;

	*last = 0;
	if (fd < 0)
		return errno == ENOENT
			       ? 0
			       : refuse(why, size, -errno, "incarnation: %s",
					strerror(errno));
	doc = json_loadfd(fd, JSON_REJECT_DUPLICATES, NULL);
	close(fd);
	v = json_object_get(doc, "incarnation");
	n = json_integer_value(v);
	ours = json_is_string(json_object_get(doc, "prefix")) &&
	       !strcmp(json_string_value(json_object_get(doc, "prefix")),
		       prefix);
	json_decref(doc);
	if (n < 1 || n >= UINT32_MAX)
		return refuse(why, size, -EPROTO,
			      "incarnation: not what trib-ps wrote");
	if (!ours)
		return refuse(why, size, -EEXIST,
			      "incarnation: it is of a job of another prefix");
	*last = (uint32_t)n;
	return 0;
}

static int incarnation_write(const struct nps_disk *d, const char *prefix,
			     uint32_t n)
{
	json_t *doc = json_pack("{s:s s:I}", "prefix", prefix, "incarnation",
				(json_int_t)n);
	int fd = begin(d, "incarnation.new"), err = 0;

	if (fd < 0) {
		json_decref(doc);
		return fd;
	}
	if (!doc || json_dumpfd(doc, fd, JSON_INDENT(1)))
		err = -EIO;
	json_decref(doc);
	return finish(d, fd, err, "incarnation.new", "incarnation");
}

/* ---- checkpoints ---- */

static void digest(const struct nps_model *m, size_t bytes,
		   uint8_t out[crypto_generichash_BYTES])
{
	crypto_generichash_state st;

	crypto_generichash_init(&st, NULL, 0, crypto_generichash_BYTES);
	crypto_generichash_update(&st, (const void *)m->values, bytes);
	if (m->momentum)
		crypto_generichash_update(&st, (const void *)m->momentum,
					  bytes);
	crypto_generichash_final(&st, out, crypto_generichash_BYTES);
}

int nps_disk_save(struct nps_disk *d, uint64_t elements,
		  const struct nps_model *m)
{
	size_t bytes = elements * sizeof(float);
	struct head h = {
		.elements = elements,
		.n = m->n,
		.momentum = m->momentum != NULL,
	};
	int fd, err;

	memcpy(h.magic, MAGIC, sizeof(h.magic));
	digest(m, bytes, h.digest);
	fd = begin(d, "model.new");
	if (fd < 0)
		return fd;
	err = write_all(fd, &h, sizeof(h));
	if (!err)
		err = write_all(fd, m->values, bytes);
	if (!err && m->momentum)
		err = write_all(fd, m->momentum, bytes);
	return finish(d, fd, err, "model.new", "model");
}

/* @m has room for all that the job needs, momentum of 0 in it. */
static int model_read(int fd, uint64_t elements, struct nps_model *m, char *why,
		      size_t size)
{
	uint8_t is[crypto_generichash_BYTES];
	size_t bytes = elements * sizeof(float);
	struct nps_model all = *m;
	float *other = NULL;
	struct head h;
	int err;

	err = read_all(fd, &h, sizeof(h));
	if (err || memcmp(h.magic, MAGIC, sizeof(h.magic)) || h.momentum > 1)
		return refuse(why, size, -EPROTO, "model: not a checkpoint");
	if (h.elements != elements)
		return refuse(why, size, -EPROTO,
			      "model: it has %llu values, the job has %llu",
			      (unsigned long long)h.elements,
			      (unsigned long long)elements);
	/* Momentum that the job has no use for is read for the digest. */
	if (h.momentum && !m->momentum)
		all.momentum = other = malloc(bytes);
	if (!h.momentum)
		all.momentum = NULL;
	if (h.momentum && !all.momentum)
		return refuse(why, size, -ENOMEM, "out of memory");
	err = read_all(fd, all.values, bytes);
	if (!err && all.momentum)
		err = read_all(fd, all.momentum, bytes);
	if (!err) {
		digest(&all, bytes, is);
		err = memcmp(is, h.digest, sizeof(is)) ? -EBADMSG : 0;
	}
	free(other);
	if (err)
		return refuse(why, size, err, "model: it is damaged");
	m->n = h.n;
	return 0;
}

/* ---- the first model ---- */

static int first_read(const struct nps_file *f, float *to, char *why,
		      size_t size)
{
	size_t bytes = f->spec.elements * sizeof(float);
	int fd = open(f->from, O_RDONLY | O_CLOEXEC), err;
	struct stat st;

	if (fd < 0)
		return refuse(why, size, -errno, "model.file: %.200s: %s",
			      f->from, strerror(errno));
	err = fstat(fd, &st) || (uint64_t)st.st_size != bytes
		      ? -EINVAL
		      : read_all(fd, to, bytes);
	close(fd);
	return err ? refuse(why, size, err, "model.file: %.200s: not %zu bytes",
			    f->from, bytes)
		   : 0;
}

static int first_make(const struct nps_file *f, struct nps_model *m, char *why,
		      size_t size)
{
	struct ndn_random r = {.state = f->seed};
	uint64_t i;

	if (f->init == NPS_INIT_FILE)
		return first_read(f, m->values, why, size);
	if (f->init == NPS_INIT_SEED)
		for (i = 0; i < f->spec.elements; i++) {
			/* 24 bits: every one is a float. */
			float u =
				(float)(ndn_random_next(&r) >> 40) / 8388608.0f;

			m->values[i] = (u - 1) * f->scale;
		}
	return 0;
}

/* ---- the folder ---- */

static int model_load(const struct nps_disk *d, const struct nps_file *f,
		      struct nps_model *m, char *why, size_t size)
{
	int fd = openat(d->dir, "model", O_RDONLY | O_CLOEXEC), err;

	*m = (struct nps_model){
		.values = calloc(f->spec.elements, sizeof(float))};
	if (f->spec.momentum > 0)
		m->momentum = calloc(f->spec.elements, sizeof(float));
	if (!m->values || (f->spec.momentum > 0 && !m->momentum))
		err = refuse(why, size, -ENOMEM, "out of memory");
	else if (fd >= 0)
		err = model_read(fd, f->spec.elements, m, why, size);
	else if (errno == ENOENT)
		err = first_make(f, m, why, size);
	else
		err = refuse(why, size, -errno, "model: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	if (err) {
		free(m->values);
		free(m->momentum);
	}
	return err;
}

static int folder_take(struct nps_disk *d, const char *path, char *why,
		       size_t size)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		return refuse(why, size, -errno, "%s", strerror(errno));
	d->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->dir < 0)
		return refuse(why, size, -errno, "%s", strerror(errno));
	d->lock = openat(d->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (d->lock < 0)
		return refuse(why, size, -errno, "lock: %s", strerror(errno));
	if (flock(d->lock, LOCK_EX | LOCK_NB))
		return refuse(why, size, -EBUSY, "another job works on it");
	return 0;
}

int nps_disk_open(struct nps_disk **disk, const struct nps_file *f,
		  uint32_t *incarnation, struct nps_model *m, char *why,
		  size_t size)
{
	struct nps_disk *d = malloc(sizeof(*d));
	char what[400];
	int err;

	if (!d)
		return refuse(why, size, -ENOMEM, "out of memory");
	d->dir = d->lock = -1;
	err = folder_take(d, f->state, what, sizeof(what));
	if (!err)
		err = incarnation_read(d, f->prefix, incarnation, what,
				       sizeof(what));
	if (!err)
		err = model_load(d, f, m, what, sizeof(what));
	if (err) {
		nps_disk_close(d);
		return refuse(why, size, err, "%.200s: %s", f->state, what);
	}
	err = incarnation_write(d, f->prefix, ++*incarnation);
	if (err) {
		free(m->values);
		free(m->momentum);
		nps_disk_close(d);
		return refuse(why, size, err, "%.200s: incarnation: %s",
			      f->state, strerror(-err));
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
