// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of BPF maps: see area.h. The maps' own mmap() decides who may have which pages, so
 * nothing here depends on how a map keeps its values.
 */
#include <linux/bpf.h>
#include <linux/magic.h>
#include <linux/mman.h>
#include <linux/vmalloc.h>

#include "area.h"

/* BPF exports no test. Only the kernel names anonymous inodes' files. */
struct bpf_map *trib_area_map(const struct file *f)
{
	if (f->f_inode->i_sb->s_magic != ANON_INODE_FS_MAGIC ||
	    strcmp(f->f_path.dentry->d_name.name, "bpf-map"))
		return NULL;
	return f->private_data;
}

static int pin(struct trib_area *a, unsigned long at, unsigned long prot)
{
	unsigned int flags = FOLL_LONGTERM | (prot & PROT_WRITE ? FOLL_WRITE : 0);
	int n = pin_user_pages_fast(at, a->n, flags, a->page);

	if (n == a->n)
		return 0;
	a->n = n > 0 ? n : 0;
	return n < 0 ? n : -EFAULT;
}

int trib_area_take(struct trib_area *a, struct file *f, size_t off, size_t len, unsigned long prot)
{
	unsigned long at;
	int rc;

	a->n = 0;
	a->page = kvmalloc_array(len / PAGE_SIZE, sizeof(*a->page), GFP_KERNEL_ACCOUNT);
	if (!a->page)
		return -ENOMEM;
	at = vm_mmap(f, 0, len, prot, MAP_SHARED, off);
	if (IS_ERR_VALUE(at)) {
		rc = (long)at;
		goto out;
	}
	a->n = len / PAGE_SIZE;
	rc = pin(a, at, prot);
	vm_munmap(at, len);
	if (rc)
		goto out;
	a->base = vmap(a->page, a->n, VM_MAP, prot & PROT_WRITE ? PAGE_KERNEL : PAGE_KERNEL_RO);
	if (a->base)
		return 0;
	rc = -ENOMEM;
out:
	trib_area_drop(a);
	return rc;
}

void trib_area_drop(struct trib_area *a)
{
	vunmap(a->base);
	unpin_user_pages(a->page, a->n);
	kvfree(a->page);
	memset(a, 0, sizeof(*a));
}
