// SPDX-License-Identifier: GPL-2.0
/*
 * The ring buffer by which XDP wakes a rank and passes on packets without values. Records
 * may be anything: the process could have made the map itself.
 */
#include <linux/bpf.h>
#include <linux/mman.h>
#include <linux/poll.h>

#include "cells.h"

/* Most records that one turn takes. */
#define BATCH 256
#define DATA_LEN (PAGE_SIZE + TRIB_RING_BYTES)

size_t trib_ring_bytes(void)
{
	return PAGE_SIZE + DATA_LEN + trib_area_bytes(PAGE_SIZE + DATA_LEN);
}

/* --- waking */

/* Any context. remove_wait_queue() ends calls. */
static int woken(struct wait_queue_entry *wait, unsigned int mode, int sync, void *key)
{
	struct trib_ring *r = container_of(wait, struct trib_ring, wait);
	struct trib_handed *h = container_of(r, struct trib_handed, ring);

	h->kick(h->ctx);
	return 1;
}

struct listen {
	poll_table table;
	struct trib_ring *ring;
};

static void found_queue(struct file *f, wait_queue_head_t *head, poll_table *table)
{
	struct trib_ring *r = container_of(table, struct listen, table)->ring;

	if (r->head)
		return;
	r->head = head;
	add_wait_queue(head, &r->wait);
}

/* The queue is the map's, which @r->file keeps. */
static bool listen(struct trib_ring *r)
{
	struct listen l = {.ring = r};

	init_waitqueue_func_entry(&r->wait, woken);
	init_poll_funcptr(&l.table, found_queue);
	vfs_poll(r->file, &l.table);
	return r->head;
}

/* --- taking over */

static bool is_ring(const struct file *f)
{
	const struct bpf_map *map = trib_area_map(f);

	return map && map->map_type == BPF_MAP_TYPE_RINGBUF && map->max_entries == TRIB_RING_BYTES;
}

int trib_ring_take(struct trib_ring *r, int fd, const char **why)
{
	int rc;

	r->file = fget(fd);
	if (!r->file) {
		*why = "the ring's descriptor is not open";
		return -EBADF;
	}
	*why = "the ring is not a BPF ring buffer of tribd's size";
	if (!is_ring(r->file))
		return -EINVAL;
	*why = "the ring cannot be mapped";
	rc = trib_area_take(&r->consumer, r->file, 0, PAGE_SIZE, PROT_READ | PROT_WRITE);
	if (!rc)
		rc = trib_area_take(&r->data, r->file, PAGE_SIZE, DATA_LEN, PROT_READ);
	if (rc)
		return rc;
	r->at = READ_ONCE(*(unsigned long *)r->consumer.base) & ~7ul;
	return listen(r) ? 0 : -EINVAL;
}

void trib_ring_drop(struct trib_ring *r)
{
	if (r->head)
		remove_wait_queue(r->head, &r->wait);
	trib_area_drop(&r->consumer);
	trib_area_drop(&r->data);
	if (r->file)
		fput(r->file);
}

/* --- reading */

/* The part of the ring from @at on, @len bytes, which may go on at its beginning. */
static void copy_out(const struct trib_ring *r, unsigned long at, void *to, unsigned int len)
{
	const u8 *data = (const u8 *)r->data.base + PAGE_SIZE;
	unsigned int off = at & (TRIB_RING_BYTES - 1);
	unsigned int first = min_t(unsigned int, len, TRIB_RING_BYTES - off);

	trib_snapshot(to, data + off, first);
	trib_snapshot((u8 *)to + first, data, len - first);
}

static void rx_event(struct trib_engine *eng, const struct trib_event *ev)
{
	struct trib_stream *s = trib_stream_of(eng, ev->tree);
	struct trib_rx rx = {
		.type = ev->type,
		.flags = ev->flags,
		.aux = ev->aux,
		.chunk = ev->chunk,
		.epoch = ev->epoch,
		.seen = ev->seen,
	};

	/* The record of a result only wakes: its cell holds the values. */
	if (s && (ev->type == TRIB_T_NEED || ev->type == TRIB_T_ALIVE || ev->type == TRIB_T_ABORT))
		trib_rx(s, &rx);
}

/* The length of the record at @r->at, and its flags. */
static u32 record_len(const struct trib_ring *r)
{
	const u8 *data = (const u8 *)r->data.base + PAGE_SIZE;

	return smp_load_acquire((const u32 *)(data + (r->at & (TRIB_RING_BYTES - 1))));
}

/* Return: the position behind the record at @r->at, or the same one if it is not complete. */
static unsigned long rx_record(struct trib_ring *r, struct trib_engine *eng)
{
	u32 len = record_len(r);
	struct trib_event ev;

	if (len & BPF_RINGBUF_BUSY_BIT)
		return r->at;
	if (!(len & BPF_RINGBUF_DISCARD_BIT) && len >= sizeof(ev)) {
		copy_out(r, r->at + BPF_RINGBUF_HDR_SZ, &ev, sizeof(ev));
		rx_event(eng, &ev);
	}
	len &= ~BPF_RINGBUF_DISCARD_BIT;
	return r->at + round_up(len + BPF_RINGBUF_HDR_SZ, 8);
}

/* Is there a complete record? XDP wakes nobody for it. */
static bool has_record(const struct trib_ring *r)
{
	unsigned long end = smp_load_acquire((unsigned long *)r->data.base) & ~7ul;

	return r->at != end && !(record_len(r) & BPF_RINGBUF_BUSY_BIT);
}

bool trib_ring_drain(struct trib_ring *r, struct trib_engine *eng)
{
	unsigned long end = smp_load_acquire((unsigned long *)r->data.base) & ~7ul, next;
	unsigned int n;

	/* A position that is not possible: begin anew there. */
	if (end - r->at > TRIB_RING_BYTES)
		r->at = end;
	for (n = 0; n < BATCH && r->at != end; n++) {
		next = rx_record(r, eng);
		if (next == r->at)
			break;
		r->at = next - r->at > end - r->at ? end : next;
	}
	/*
	 * From here on XDP wakes us again. An exchange, not a store: the next look at the
	 * cells and at the ring must see what XDP wrote before.
	 */
	(void)xchg((unsigned long *)r->consumer.base, r->at);
	return has_record(r);
}
