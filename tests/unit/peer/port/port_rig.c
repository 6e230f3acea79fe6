// SPDX-License-Identifier: BSD-2-Clause
/* Ports that know each other, in one process. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/unit/peer/port/port_rig.h"

#define PATIENCE_MS 10000

/* libfabric 1.17 forgets connections that come while their endpoint closes. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libfabric.so";
}

int rig_open_one(struct rig *r, uint32_t rank, struct peer_fault *fault)
{
	uint32_t peers[RIG_MAX], n = 0, i;
	struct peer_port_conf conf = {
		.rank = rank,
		.world = r->n,
		.nic = r->nic,
		.provider = r->provider,
		.peers = peers,
		.chunk = r->chunk,
		.slots = r->slots,
		.name = r->name,
	};

	for (i = 0; i < r->n; i++)
		if (i != rank)
			peers[n++] = i;
	conf.npeer = n;
	return r->ops->open(&r->p[rank], &conf, fault);
}

bool rig_open(struct rig *r, uint32_t n)
{
	static uint8_t blob[PEER_BLOB_MAX];
	struct peer_fault fault;
	uint32_t i, j;
	size_t len;
	int err;

	r->n = n;
	memset(r->p, 0, sizeof(r->p));
	memset(r->in, 0, sizeof(r->in));
	memset(r->out, 0, sizeof(r->out));
	for (i = 0; i < n; i++) {
		err = rig_open_one(r, i, &fault);
		if (err) {
			printf("# open: %d: %s\n", err, fault.text);
			return false;
		}
	}
	for (i = 0; i < n; i++) {
		len = r->ops->blob(r->p[i], blob, sizeof(blob));
		for (j = 0; j < n; j++) {
			if (i == j)
				continue;
			err = r->ops->connect(r->p[j], rig_link(r, j, i), blob, len);
			if (err) {
				r->ops->fault(r->p[j], &fault);
				printf("# connect: %d: %s\n", err, fault.text);
				return false;
			}
		}
	}
	return true;
}

void rig_close(struct rig *r)
{
	uint32_t i;

	for (i = 0; i < r->n; i++) {
		if (r->p[i])
			r->ops->close(r->p[i]);
		r->p[i] = NULL;
	}
}

uint32_t rig_link(const struct rig *r, uint32_t rank, uint32_t peer)
{
	(void)r;
	return peer < rank ? peer : peer - 1;
}

int rig_poll(struct rig *r)
{
	struct peer_fault fault;
	int err = 0, n;
	uint32_t i;

	for (i = 0; i < r->n; i++) {
		n = r->p[i] ? r->ops->poll(r->p[i]) : 0;
		if (n < 0 && !err) {
			r->ops->fault(r->p[i], &fault);
			printf("# port %u: %s\n", i, fault.text);
			err = n;
		}
	}
	return err;
}

bool rig_next(struct rig *r, uint32_t rank, uint32_t link, struct peer_chunk *c)
{
	uint64_t end = clock_ms() + PATIENCE_MS;

	while (!r->ops->next(r->p[rank], link, c))
		if (rig_poll(r) || clock_ms() > end)
			return false;
	return true;
}

void rig_settle(struct rig *r, unsigned int ms)
{
	uint64_t end = clock_ms() + ms;
	uint32_t i;

	while (clock_ms() < end)
		for (i = 0; i < r->n; i++)
			if (r->p[i])
				r->ops->poll(r->p[i]);
}

/* After -EAGAIN: poll. Return: try again; else *@err is the result. */
static bool goes_on(struct rig *r, uint64_t end, int *err)
{
	if (*err != -EAGAIN)
		return false;
	*err = rig_poll(r);
	if (!*err && clock_ms() > end)
		*err = -ETIMEDOUT;
	return !*err;
}

int rig_send(struct rig *r, uint32_t rank, uint32_t link, struct peer_mem *m, const void *src,
	     size_t len)
{
	uint64_t end = clock_ms() + PATIENCE_MS;
	int err;

	do
		err = r->ops->send(r->p[rank], link, m, src, len);
	while (goes_on(r, end, &err));
	return err;
}

int rig_write(struct rig *r, uint32_t rank, uint32_t link, struct peer_mem *m, const void *src,
	      size_t len, uint64_t off)
{
	uint64_t end = clock_ms() + PATIENCE_MS;
	int err;

	do
		err = r->ops->write(r->p[rank], link, m, src, len, off);
	while (goes_on(r, end, &err));
	return err;
}

int rig_announce(struct rig *r, uint32_t rank, uint32_t link, struct peer_mem *m, void *dst,
		 size_t len)
{
	uint64_t end = clock_ms() + PATIENCE_MS;
	int err;

	do
		err = r->ops->announce(r->p[rank], link, m, dst, len);
	while (goes_on(r, end, &err));
	return err;
}

bool rig_ready(struct rig *r, uint32_t rank, uint32_t link, uint32_t nth)
{
	uint64_t end = clock_ms() + PATIENCE_MS;

	while (!r->ops->ready(r->p[rank], link, nth))
		if (rig_poll(r) || clock_ms() > end)
			return false;
	return true;
}

uint32_t rig_random(struct rig *r)
{
	r->rng = r->rng * 1664525 + 1013904223;
	return r->rng >> 8;
}
