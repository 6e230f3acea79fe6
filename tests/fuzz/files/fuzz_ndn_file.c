// SPDX-License-Identifier: BSD-2-Clause
/*
 * The files of trib-ps with NDN. The first byte selects: a job's file, the
 * incarnation, or a checkpoint; its low bit, a checkpoint whose digest is right. An
 * error has a reason of one line; an accepted job can be begun; no incarnation comes
 * again; and a checkpoint that is read is written the same.
 */
#include <ctype.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "mutate.h"
#include "ndn/app/ps/ps_file.h"

const size_t mutate_from = 1;

#define ELEMENTS 6
#define HEAD 56
#define DIGEST (HEAD - crypto_generichash_BYTES)

static char folder[64];
static int dir = -1;

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "ndn-file: %s\n", what);
	abort();
}

static bool is_line(const char *s)
{
	for (; *s; s++)
		if (iscntrl((unsigned char)*s))
			return false;
	return true;
}

/* Linked in place of ndn_key_read(): an input must not open files of this machine. */
enum ndn_err __wrap_ndn_key_read(struct ndn_key *key, const char *path);
enum ndn_err __wrap_ndn_key_read(struct ndn_key *key, const char *path)
{
	*key = ndn_key_sha256;
	if (!strcmp(path, "ed25519"))
		key->type = TRIB_NDN_SIG_ED25519;
	return strlen(path) > 8 ? NDN_E_KEY_FILE : NDN_OK;
}

static void remove_folder(void)
{
	unlinkat(dir, "lock", 0);
	unlinkat(dir, "model", 0);
	unlinkat(dir, "incarnation", 0);
	rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	/* In memory: writing waits for the disk otherwise. */
	strcpy(folder, access("/dev/shm", W_OK) ? "/tmp/fuzz-XXXXXX" : "/dev/shm/fuzz-XXXXXX");
	must(mkdtemp(folder) != NULL, "mkdtemp()");
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(dir >= 0 && sodium_init() >= 0, "a folder");
	atexit(remove_folder);
	return 0;
}

static void write_file(const char *name, const void *data, size_t len)
{
	must(!file_replace(dir, name, 0600, data, len, false), "writing");
}

/* --- the job's file */

static void no_send(void *ctx, const void *pkt, size_t n)
{
	(void)ctx;
	(void)pkt;
	(void)n;
}

static int no_save(void *ctx, const struct nps_job *job)
{
	(void)ctx;
	(void)job;
	return 0;
}

/* Large jobs would only take memory. */
static void begin(const struct nps_file *f)
{
	static const struct nps_ops ops = {.send = no_send, .save = no_save};
	struct nps_model m = {.values = calloc(f->spec.elements, sizeof(float))};
	struct nps_spec spec = f->spec;
	uint32_t fits = nps_segment_fitting(&spec, 1400);
	struct nps *ps = nps_new(&ops, NULL, 1);
	char why[256] = "";

	if (f->spec.momentum > 0)
		m.momentum = calloc(f->spec.elements, sizeof(float));
	if (!spec.segment)
		spec.segment = fits;
	if (!fits || spec.segment > fits || nps_add(ps, &spec, 1, &m, 1, why, sizeof(why))) {
		must(!fits || spec.segment > fits || (*why && is_line(why)),
		     "no reason, or not one line");
		free(m.values);
		free(m.momentum);
	} else {
		nps_run(ps, 2);
	}
	nps_free(ps);
}

static void job(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char path[64], why[512] = "";
	struct nps_file *f = NULL;
	int err;

	if (fd < 0)
		fd = memfd_create("job", 0);
	must(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size, "memfd");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = nps_file_load(&f, path, why, sizeof(why));
	must(!err || (!strncmp(why, path, strlen(path)) && is_line(why)),
	     "an error names no place, or is not one line");
	if (err)
		return;
	must(f->spec.elements && f->spec.nworker && f->spec.versions, "a job of nothing");
	must(f->spec.segment % NDN_VALUE_SIZE == 0, "a segment");
	must(f->spec.rto_ms && f->spec.rto_ms <= f->spec.lease_ms / 16, "times");
	if (f->spec.elements < 4096)
		begin(f);
	nps_file_free(f);
}

/* --- the folder */

static struct nps_file *a_job(bool momentum)
{
	struct nps_file *f = calloc(1, sizeof(*f));

	must(f != NULL, "memory");
	f->spec.elements = ELEMENTS;
	f->spec.momentum = momentum ? 0.5f : 0;
	strcpy(f->prefix, "/ps/job");
	strcpy(f->state, folder);
	return f;
}

/* Return: 0 or -errno. */
static int take_folder(const struct nps_file *f, uint32_t *incarnation, struct nps_model *m,
		       struct nps_disk **disk)
{
	char why[512] = "";
	int err = nps_disk_open(disk, f, incarnation, m, why, sizeof(why));

	must(!err || (*why && is_line(why)), "no reason, or not one line");
	return err;
}

static void incarnation(const uint8_t *data, size_t size)
{
	struct nps_file *f = a_job(false);
	uint32_t first = 0, second = 0;
	struct nps_disk *disk;
	struct nps_model m;

	unlinkat(dir, "model", 0);
	write_file("incarnation", data, size);
	if (!take_folder(f, &first, &m, &disk)) {
		free(m.values);
		nps_disk_close(disk);
		/* The last one that there is has no next one. */
		if (first < UINT32_MAX) {
			must(!take_folder(f, &second, &m, &disk), "what was written is refused");
			free(m.values);
			nps_disk_close(disk);
			must(second == first + 1, "an incarnation comes again");
		}
	}
	free(f);
}

static void checkpoint(uint8_t how, const uint8_t *data, size_t size)
{
	struct nps_file *f = a_job(how & 2);
	uint8_t file[4096], again[sizeof(file)];
	struct nps_disk *disk;
	struct nps_model m;
	uint32_t n;
	ssize_t len;
	int fd;

	if (size > sizeof(file))
		size = sizeof(file);
	memcpy(file, data, size);
	if (how & 1 && size > HEAD)
		crypto_generichash(file + DIGEST, crypto_generichash_BYTES, file + HEAD,
				   size - HEAD, NULL, 0);
	unlinkat(dir, "incarnation", 0);
	write_file("model", file, size);
	if (!take_folder(f, &n, &m, &disk)) {
		must(!nps_disk_save(disk, ELEMENTS, &m), "saving");
		fd = openat(dir, "model", O_RDONLY | O_CLOEXEC);
		len = read(fd, again, sizeof(again));
		close(fd);
		/* The job decides about a momentum; bytes behind it are not read. */
		must(len >= HEAD + (ssize_t)(ELEMENTS * sizeof(float)), "a short checkpoint");
		must(!memcmp(file + HEAD, again + HEAD, ELEMENTS * sizeof(float)), "other values");
		must(!memcmp(file, again, 20), "another head");
		free(m.values);
		free(m.momentum);
		nps_disk_close(disk);
	}
	free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (*data >> 2 & 3) {
	case 0:
		incarnation(data + 1, size - 1);
		break;
	case 1:
		checkpoint(*data, data + 1, size - 1);
		break;
	default:
		job(data + 1, size - 1);
	}
	return 0;
}
