/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of a BPF map that the kernel maps as a process may: its pages, pinned. */
#ifndef TRIB_SOCK_AREA_H
#define TRIB_SOCK_AREA_H

#include <linux/fs.h>
#include <linux/mm.h>

/**
 * struct trib_area - mapped pages
 * @base: their address; NULL: none.
 *
 * Others write there at any time, and whatever the map's owner did with them since, they
 * remain: no access faults.
 */
struct trib_area {
	void *base;
	struct page **page;
	unsigned int n;
};

/* The BPF map behind a descriptor; NULL: it is no map. Holds @f as long as it is used. */
struct bpf_map *trib_area_map(const struct file *f);

/**
 * trib_area_take() - map @len bytes from @off of a map
 * @len, @off: whole pages.
 * @prot: PROT_READ, or with PROT_WRITE.
 *
 * The current process must be allowed to map them; it does so for a moment, hence no lock
 * that a page fault may need is held. Return: 0 or -errno.
 */
int trib_area_take(struct trib_area *a, struct file *f, size_t off, size_t len, unsigned long prot);
void trib_area_drop(struct trib_area *a);

/* Bytes that an area of @len bytes takes besides its pages. */
static inline size_t trib_area_bytes(size_t len)
{
	return len / PAGE_SIZE * sizeof(struct page *);
}

#endif /* TRIB_SOCK_AREA_H */
