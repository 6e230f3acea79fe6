// SPDX-License-Identifier: BSD-2-Clause
/*
 * Registrations of a port. Those in use are found again by mem_get(); with the last
 * mem_put() one ends, for two reasons: the caller may free the memory and map other
 * pages there, which a registration that pins (verbs) would not notice; and peers keep
 * its key.
 *
 * So that this is cheap:
 * - Providers that do not pin (tcp) register a range of addresses, which costs little,
 *   and only what is announced: sources need no registration.
 * - verbs has a cache of libfabric below, with a monitor that sees memory go
 *   (FI_MR_CACHE_MONITOR; FI_MR_CACHE_MAX_SIZE and _COUNT limit it, least recently used
 *   first out). "disabled" is safe, too, and slower.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "peer/net/ofi.h"

#define KEY_TRIES 8

/* Whether registrations hold pages. */
static bool mem_pins(const struct ofi_port *o)
{
	return o->info->domain_attr->mr_mode & (FI_MR_LOCAL | FI_MR_ALLOCATED);
}

/* A key that outsiders do not guess, where the choice is ours. */
static uint64_t mem_key(const struct ofi_port *o)
{
	size_t size = o->info->domain_attr->mr_key_size;
	uint64_t key = 0;

	if (getrandom(&key, sizeof(key), 0) != sizeof(key))
		key = (uintptr_t)&key;
	return size >= sizeof(key) ? key : key & ((1ULL << (8 * size)) - 1);
}

static int mem_enable(struct ofi_port *o, struct peer_mem *m)
{
	int err;

	if (!(o->info->domain_attr->mr_mode & FI_MR_ENDPOINT) || !o->ep)
		return 0;
	err = fi_mr_bind(m->mr, &o->ep->fid, 0);
	return err ? err : fi_mr_enable(m->mr);
}

int ofi_mem_register(struct ofi_port *o, struct peer_mem *m)
{
	uint64_t access = FI_WRITE | FI_REMOTE_WRITE;
	int tries = 0, err;

	if (m->mr)
		return 0;
	do {
		err = fi_mr_reg(o->domain, (void *)m->base, m->len, access, 0, mem_key(o), 0,
				&m->mr, NULL);
	} while (err == -FI_ENOKEY && ++tries < KEY_TRIES);
	if (err) {
		m->mr = NULL;
		return err;
	}
	err = mem_enable(o, m);
	if (err) {
		fi_close(&m->mr->fid);
		m->mr = NULL;
		return err;
	}
	m->desc = fi_mr_desc(m->mr);
	m->key = fi_mr_key(m->mr);
	return 0;
}

uint64_t ofi_mem_address(const struct ofi_port *o, const struct peer_mem *m, const void *p)
{
	bool virt = o->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;

	return virt ? (uintptr_t)p : (uintptr_t)p - m->base;
}

/* A registration that covers the range, moved to the front. */
static struct peer_mem *mem_find(struct ofi_port *o, uintptr_t base, size_t len)
{
	struct peer_mem **at, *m;

	for (at = &o->mems; (m = *at); at = &m->next)
		if (base >= m->base && len <= m->len && base - m->base <= m->len - len)
			break;
	if (!m)
		return NULL;
	*at = m->next;
	m->next = o->mems;
	o->mems = m;
	m->refs++;
	return m;
}

struct peer_mem *ofi_mem_get(struct ofi_port *o, void *mem, size_t len)
{
	struct peer_mem *m = mem_find(o, (uintptr_t)mem, len);

	if (m)
		return m;
	if ((uintptr_t)mem + len < (uintptr_t)mem)
		return NULL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->base = (uintptr_t)mem;
	m->len = len;
	m->refs = 1;
	if (mem_pins(o) && ofi_mem_register(o, m)) {
		free(m);
		return NULL;
	}
	m->next = o->mems;
	o->mems = m;
	return m;
}

static void mem_end(struct peer_mem *m)
{
	if (m->mr)
		fi_close(&m->mr->fid);
	free(m);
}

void ofi_mem_put(struct ofi_port *o, struct peer_mem *m)
{
	struct peer_mem **at = &o->mems;

	if (--m->refs)
		return;
	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	mem_end(m);
}

void ofi_mem_end(struct ofi_port *o)
{
	struct peer_mem *m;

	while ((m = o->mems)) {
		o->mems = m->next;
		mem_end(m);
	}
}
