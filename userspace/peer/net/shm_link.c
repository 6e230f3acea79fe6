// SPDX-License-Identifier: BSD-2-Clause
/*
 * One link of a port over shared memory: takes what the other end wrote, all of which
 * may change while it is read and is hostile: it is copied first, then checked.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "peer/net/shm.h"

void shm_link_kick(struct shm_link *l)
{
	uint64_t one = 1;
	ssize_t n;

	/* Before: stores of what it is woken for. After: the load of the flag. */
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&l->theirs->asleep, memory_order_relaxed) ||
	    !atomic_exchange(&l->theirs->asleep, 0))
		return;
	n = write(l->kick, &one, sizeof(one));
	(void)n; /* a full counter wakes, too */
}

bool shm_link_waits(const struct shm_link *l)
{
	return atomic_load(&l->theirs->head) != l->seen ||
	       atomic_load(&l->theirs->notes_head) != l->heard ||
	       atomic_load(&l->theirs->tail) != l->flow.acked;
}

/* A chunk that its receiver has to put into its place. */
static int take_copy(struct shm_port *s, struct shm_link *l, const struct shm_desc *d)
{
	if (!l->notes || d->nth != l->notes - 1 || d->off > l->note.len ||
	    d->len > l->note.len - d->off)
		return -EPROTO;
	memcpy((uint8_t *)(uintptr_t)l->note.addr + d->off,
	       l->slots_in + (size_t)(l->slots_seen % s->slots) * s->chunk, d->len);
	return 0;
}

static int take_chunk(struct shm_port *s, struct shm_link *l, const struct shm_desc *d)
{
	bool staged = d->kind != SHM_DIRECT;
	int err = 0;

	if (d->kind < SHM_STAGED || d->kind > SHM_COPY || (!staged && !l->notes) ||
	    d->len > s->chunk)
		return -EPROTO;
	if (d->kind == SHM_COPY)
		err = take_copy(s, l, d);
	if (err)
		return err;
	l->placed[l->seen % PEER_FLOW_WINDOW] = d->kind == SHM_COPY;
	l->slots_seen += staged;
	return peer_flow_arrived(&l->flow, (uint16_t)l->seen, staged, d->len);
}

static int take_chunks(struct shm_port *s, struct shm_link *l)
{
	uint32_t n = atomic_load_explicit(&l->theirs->head, memory_order_acquire) - l->seen, i;
	struct shm_desc d;
	int err;

	if (n > PEER_FLOW_WINDOW)
		return -EPROTO;
	for (i = 0; i < n; i++) {
		memcpy(&d, &l->theirs->desc[l->seen % PEER_FLOW_WINDOW], sizeof(d));
		/* The copy is what is checked: no reading again. */
		atomic_signal_fence(memory_order_seq_cst);
		err = take_chunk(s, l, &d);
		if (err)
			return err;
		l->seen++;
	}
	return (int)n;
}

static int take_notes(struct shm_link *l)
{
	uint32_t n = atomic_load_explicit(&l->theirs->notes_head, memory_order_acquire) - l->heard;

	if (!n)
		return 0;
	if (n > SHM_NOTES)
		return -EPROTO;
	l->heard += n;
	memcpy(&l->target, &l->theirs->notes[(l->heard - 1) % SHM_NOTES], sizeof(l->target));
	return (int)n;
}

static int take_credits(struct shm_link *l)
{
	uint32_t tail = atomic_load_explicit(&l->theirs->tail, memory_order_acquire);
	uint32_t n = tail - l->flow.acked;

	if (!n)
		return 0;
	if (n > PEER_FLOW_WINDOW || peer_flow_credit(&l->flow, (uint16_t)tail))
		return -EPROTO;
	return (int)n;
}

int shm_link_take(struct shm_port *s, uint32_t link)
{
	struct shm_link *l = &s->links[link];
	int chunks = take_chunks(s, l);
	int notes = chunks < 0 ? chunks : take_notes(l);
	int credits = notes < 0 ? notes : take_credits(l);

	if (credits < 0)
		return peer_fault_set(&s->fault, EPROTO, (int)l->rank,
				      "rank %u wrote garbage to shared memory", l->rank);
	return chunks + notes + credits;
}
