/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words of cells and desks (uapi/trib_cell.h), which XDP and a rank share: look-ups,
 * reads, and the exchanges that move a cell from state to state.
 */
#ifndef TRIB_BPF_CELL_H
#define TRIB_BPF_CELL_H

#include <stdbool.h>
#include "packet/maps.h"
#include "packet/packet.h"

/* Read a word that a rank may write, once: the compiler must not read it again. */
#define CELL_READ(x) (*(const volatile __typeof__(x) *)&(x))

/* Entry @key of a rank's array; NULL if there is none. */
static __always_inline void *cell_at(void *array, __u32 key)
{
	return bpf_map_lookup_elem(array, &key);
}

/* The desk is behind the last cell. */
static __always_inline struct trib_desk *desk_at(void *array, __u32 mask)
{
	return cell_at(array, mask + 1);
}

/* This CPU's line of the desk; never NULL. */
static __always_inline struct trib_desk_cpu *desk_line(struct trib_desk *desk)
{
	__u64 cpu = bpf_get_smp_processor_id();

	if (cpu >= TRIB_DESK_CPUS)
		cpu %= TRIB_DESK_CPUS;
	HIDE(cpu);
	if (cpu >= TRIB_DESK_CPUS)
		return NULL;
	/* The address comes behind the check, for the verifier. */
	HIDE(cpu);
	return &desk->cpu[cpu];
}

/*
 * Read the state word. Reads behind it come after it, and those before it before: x86
 * keeps loads in order, others need an atomic operation, whose result is used.
 */
static __always_inline __u64 cell_word(struct trib_cell *cell)
{
	__u64 word;

#ifdef __TARGET_ARCH_x86
	asm volatile("" ::: "memory");
	word = CELL_READ(cell->state);
	asm volatile("" ::: "memory");
#else
	word = __sync_fetch_and_or(&cell->state, 0);
#endif
	HIDE(word);
	return word;
}

/*
 * Is the cell in @state of the chunk? A subprogram, because its argument puts the whole
 * struct trib_cell into BTF, where libbpf needs it: an inner map's value type alone is a
 * forward declaration.
 */
static __noinline bool cell_has(struct trib_cell *cell, __u32 epoch, __u32 chunk, __u32 state)
{
	return cell_word(cell) == TRIB_CELL(epoch, chunk, state);
}

/* Move the chunk's cell from state @from to @to. Return: true if it was in @from. */
static __always_inline bool cell_swap(struct trib_cell *cell, __u32 epoch, __u32 chunk, __u32 from,
				      __u32 to)
{
	__u64 word = TRIB_CELL(epoch, chunk, from);

	return __sync_val_compare_and_swap(&cell->state, word, TRIB_CELL(epoch, chunk, to)) == word;
}

/* Store the state, after all that was written and before all that is read from now on. */
static __always_inline void cell_put(struct trib_cell *cell, __u32 epoch, __u32 chunk, __u32 state)
{
	(void)__sync_lock_test_and_set(&cell->state, TRIB_CELL(epoch, chunk, state));
}

#endif /* TRIB_BPF_CELL_H */
