// SPDX-License-Identifier: BSD-2-Clause
/*
 * Device memory of the double: mapped twice, without any right where the program sees it,
 * and where kernels see it.
 */
#include "double.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inner.h"

#define PAGE 4096

/* @fd: stays open, so that other processes can map it, too. */
struct memory {
	struct memory *next;
	int device;
	int fd;
	size_t room;
	unsigned char *shown, *seen; /* of @room bytes, to the program, by kernels */
	unsigned char *p;	     /* shown, where the area begins */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory *all;

void double_die(const char *what)
{
	printf("Bail out! double of a GPU: %s\n", what);
	fflush(stdout);
	abort();
}

void *double_alloc(size_t len)
{
	void *p = aligned_alloc(16, (len + 15) / 16 * 16); /* no calloc() can come of it */

	if (!p)
		double_die("no memory");
	return memset(p, 0, len);
}

static struct memory *find(const void *p)
{
	const unsigned char *at = p;
	struct memory *m;

	pthread_mutex_lock(&lock);
	for (m = all; m; m = m->next)
		if (at >= m->p && at < m->shown + m->room)
			break;
	pthread_mutex_unlock(&lock);
	return m;
}

void *double_view(const void *p, size_t len)
{
	struct memory *m = find(p);
	size_t at;

	if (!m)
		double_die("a kernel uses memory that is not the GPU's");
	at = (size_t)((const unsigned char *)p - m->shown);
	if (len > m->room - at)
		double_die("work reaches beyond its memory");
	return m->seen + at;
}

void *gpu_double_view(const void *p)
{
	return find(p) ? double_view(p, 0) : NULL;
}

static unsigned char *map(size_t len, int rights, int fd)
{
	void *p = mmap(NULL, len, rights, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		double_die("no memory");
	return p;
}

/* Make memory of @room bytes known, which begins at @at. */
static void *adopt(int fd, int device, size_t room, size_t at)
{
	struct memory *m = double_alloc(sizeof(*m));

	m->fd = fd;
	m->device = device;
	m->room = room;
	m->shown = map(room, PROT_NONE, fd);
	m->seen = map(room, PROT_READ | PROT_WRITE, fd);
	m->p = m->shown + at;
	pthread_mutex_lock(&lock);
	m->next = all;
	all = m;
	pthread_mutex_unlock(&lock);
	double_count(1);
	return m->p;
}

/* Areas end, but for alignment, where their memory does. */
void *double_memory_new(size_t len)
{
	size_t whole = (len + 15) / 16 * 16 + !len * 16, room = (whole + PAGE - 1) / PAGE * PAGE;
	unsigned char *p;
	int fd;

	if (double_call_fails())
		return NULL;
	fd = memfd_create("gpu", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)room))
		double_die("no memory");
	p = adopt(fd, double_device(), room, room - whole);
	memset(double_view(p, whole), 0xa5, whole);
	return p;
}

/* A handle, which ends in zeros. */
struct handle {
	uint32_t pid;
	int32_t fd;
	int32_t device;
	uint32_t magic;
	uint64_t room, at;
};

#define HANDLE_MAGIC 0x6d656d67

int double_export(unsigned char handle[TRIB_GPU_HANDLE], void *p)
{
	struct memory *m = find(p);
	struct handle h;

	if (double_call_fails())
		return -EIO;
	if (!m || m->p != p)
		return double_error("invalid argument: an area that is no one's");
	h = (struct handle){(uint32_t)getpid(), m->fd,	 m->device,
			    HANDLE_MAGIC,	m->room, (size_t)(m->p - m->shown)};
	memset(handle, 0, TRIB_GPU_HANDLE);
	memcpy(handle, &h, sizeof(h));
	return 0;
}

int double_open(void **p, const unsigned char handle[TRIB_GPU_HANDLE])
{
	struct handle h;
	char path[64];
	int fd;

	if (double_call_fails())
		return -EIO;
	memcpy(&h, handle, sizeof(h));
	snprintf(path, sizeof(path), "/proc/%u/fd/%d", h.pid, h.fd);
	fd = h.magic == HANDLE_MAGIC ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0)
		return double_error("invalid device context: no such memory");
	*p = adopt(fd, h.device, h.room, h.at);
	return 0;
}

void double_memory_free(void *p)
{
	struct memory *m = find(p), **link = &all;

	if (!m || m->p != p)
		double_die("memory is freed that is none");
	pthread_mutex_lock(&lock);
	while (*link != m)
		link = &(*link)->next;
	*link = m->next;
	pthread_mutex_unlock(&lock);
	munmap(m->shown, m->room);
	munmap(m->seen, m->room);
	close(m->fd);
	free(m);
	double_count(-1);
}

int double_owner(const void *p)
{
	struct memory *m = find(p);

	return m ? m->device : -1;
}

void *double_host_new(size_t len)
{
	void *p;

	if (double_call_fails())
		return NULL;
	p = aligned_alloc(PAGE, (len / PAGE + 1) * PAGE);
	if (!p)
		double_die("no memory");
	memset(p, 0xa5, len);
	double_count(1);
	return p;
}

void double_host_free(void *p)
{
	double_count(-1);
	free(p);
}

static void run_copy(const struct work *w)
{
	void *to = find(w->to) ? double_view(w->to, w->len) : w->to;
	const void *from = find(w->from) ? double_view(w->from, w->len) : w->from;

	memcpy(to, from, w->len);
}

int double_copy(void *to, const void *from, size_t len, void *stream)
{
	struct work w = {.run = run_copy, .to = to, .from = from, .len = len};

	/* Nobody may look at the result before the work is done. */
	if (!find(to))
		memset(to, 0xa5, len);
	return double_push(stream, &w);
}

static void run_clear(const struct work *w)
{
	memset(double_view(w->to, w->len), 0, w->len);
}

int double_clear(void *p, size_t len, void *stream)
{
	struct work w = {.run = run_clear, .launch = true, .to = p, .len = len};

	return double_push(stream, &w);
}
