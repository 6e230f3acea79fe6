/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of gpu/. Segments have numbers from 0 on, over all calls; segment s uses slot
 * s % PEER_GPU_SLOTS of each area. Each stage takes them in order, so its progress is
 * two counts: segments that it has begun and that it has done. A stage's work is in a
 * stream of its own, and the runtime tells when it is done.
 *
 *	FILL   caller's memory -> slot in (or pinned memory)
 *	SUM    slots in of all -> slot out
 *	DOWN   slots out -> pinned memory	leader, if there are other machines
 *	NET    the crew's call
 *	UP     pinned memory -> slot out
 *	TAKE   slots out of all (or pinned memory) -> caller's memory
 */
#ifndef PEER_GPU_OWN_H
#define PEER_GPU_OWN_H

#include <pthread.h>
#include <stdatomic.h>

#include "gpu.h"
#include "kernels/gpu/gpu.h"

#define PEER_GPU_SLOTS 4
#define PEER_GPU_SEGMENT (8 << 20)
#define PEER_GPU_SEGMENT_MIN (64 << 10)
#define PEER_GPU_SEGMENT_MAX (256 << 20)
#define PEER_GPU_ALIGN 64
/* Calls whose kind is remembered, to compare it with that of other ranks. */
#define PEER_GPU_SIGNS 64

struct gpu_call;

enum gpu_wanted { GPU_AUTO, GPU_HOST, GPU_IPC, GPU_NCCL, GPU_WANTED__MAX };

enum gpu_stage { GPU_FILL, GPU_SUM, GPU_DOWN, GPU_NET, GPU_UP, GPU_TAKE, GPU_STAGES };

/**
 * struct gpu_seg - elements @at to @at + @n - 1 of each part of a call
 */
struct gpu_seg {
	struct gpu_call *call;
	uint64_t at;
	uint64_t n;
};

/**
 * struct gpu_way - how segments pass the stages
 * @uncut: a call is one segment. @drains: a call begins when those before it have passed.
 * @work: by stage: give the segment's work to the stage's stream. Return: 0, then the
 *        segment has passed when the stream has done it; 1: it has passed; or -errno,
 *        noted. NULL: it passes at once.
 * @may:  by stage: whether segment @s may begin, besides that it passed the stage before.
 *        NULL: yes.
 */
struct gpu_way {
	const char *name;
	bool uncut;
	bool drains;
	int (*work[GPU_STAGES])(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s);
	bool (*may[GPU_STAGES])(const struct peer_gpu *g, uint64_t s);
};

extern const struct gpu_way gpu_way_alone;
extern const struct gpu_way gpu_way_host;
extern const struct gpu_way gpu_way_ipc;
extern const struct gpu_way gpu_way_nccl;
extern const struct gpu_way gpu_way_nccl_call; /* on one machine */

/**
 * struct gpu_call - a call in the queue
 * @way:   NULL: not looked at, or of host memory, or empty: only its place in the order
 *         matters.
 * @drains: it begins when all segments before it have passed.
 * @whole: it is one segment, in &peer_gpu.whole: chunks of exact sums are not cut.
 * @each:  elements of a segment. @left: segments that have not passed.
 * @begun: elements that are in segments. @base: number of its first segment, of @nseg.
 * @event: after what the caller's streams held.
 * @status, @detail: as in struct trib_peer_done.
 */
struct gpu_call {
	struct gpu_call *next;
	struct peer_gpu *g;
	struct trib_peer_call c;
	struct peer_task *token;
	void *cookie;
	unsigned int shape;
	const struct gpu_way *way;
	bool drains;
	bool whole;
	size_t size;
	uint64_t each;
	uint64_t begun;
	uint64_t base;
	uint64_t nseg;
	uint64_t left;
	void *event[2];
	int status;
	int64_t detail;
};

/**
 * struct gpu_note - progress of a rank, as the others of its machine see it
 * @done: by stage: segments that passed. @calls, @sign: number and kind of its newest call.
 */
struct gpu_note {
	uint64_t done[GPU_STAGES];
	uint64_t calls;
	uint64_t sign;
};

/**
 * struct gpu_local - a rank of this machine
 * @in, @out: its areas, as this process sees them: one piece of memory.
 * @note: its newest. @sent: of this rank's own notes.
 */
struct gpu_local {
	uint32_t rank;
	unsigned char *in, *out;
	struct gpu_note note;
	struct gpu_note sent;
};

/** struct gpu_told - for the runtime's thread: a stage's work is done */
struct gpu_told {
	struct peer_gpu *g;
	enum gpu_stage stage;
};

struct nccl_lib; /* nccl.h */

/**
 * struct peer_gpu - see gpu.h
 * @wanted: enum gpu_wanted. @chosen: for allreduces, @rest: for other collectives; @why: in
 *         a sentence.
 * @number: of the GPU.
 * @local, @nlocal: ranks of this machine, ascending; @me and @lead are indices of it.
 * @pinned: of PEER_GPU_SLOTS slots; @whole: of a call that is not cut.
 * @port:  notes to the others of the machine, or NULL.
 *
 * Under @lock: the queue, @stop, @chosen and @why; @over, the errno of calls when the
 * thread takes no more.
 *
 * The thread's own: @begun, the ring of segments, all of @local.
 * @pipe: the way of all segments under way. @passed: segments whose calls know it.
 * @done: by stage, written by the runtime's threads and the crew's.
 * @net_issued, @net_back: calls of the crew that were issued, and that ended.
 */
struct peer_gpu {
	struct peer_gpu_conf conf;
	const struct trib_gpu_ops *ops;
	int number;
	unsigned int wanted;
	size_t slot;

	pthread_t thread;
	bool runs;
	int wake;
	pthread_mutex_t lock;
	struct gpu_call *head, **tail;
	bool stop;
	int over;
	const struct gpu_way *chosen;
	const struct gpu_way *rest;
	char why[256];

	bool agreed;
	void *stream[GPU_STAGES];
	unsigned char *in, *out, *pinned, *whole;
	size_t whole_len;
	struct gpu_local *local;
	unsigned int nlocal, me, lead;
	bool leads;
	struct peer_port *port;
	struct peer_mem *note_mem;
	struct gpu_note note;
	uint64_t sign[PEER_GPU_SIGNS];
	struct gpu_call *uncut; /* the first call that is not all in segments; under @lock */

	struct gpu_seg seg[PEER_GPU_SLOTS];
	const struct gpu_way *pipe;
	uint64_t begun[GPU_STAGES];
	_Atomic uint64_t done[GPU_STAGES];
	uint64_t passed;
	struct gpu_told told[GPU_STAGES];
	uint64_t net_issued;
	_Atomic uint64_t net_back;

	const struct nccl_lib *nccl_lib;
	void *nccl;

	pthread_mutex_t fail_lock;
	_Atomic int failed;
	char fail_text[192];
};

/* fail.c: make the thread look. Any thread. */
void gpu_ring(struct peer_gpu *g);
/* Note why the GPU or something else failed; the first reason stays. Return: @err. */
int gpu_fail(struct peer_gpu *g, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for a function of the GPU that returned @rc. Return: 0 or -EIO. */
int gpu_rc(struct peer_gpu *g, int rc);

/* call.c: choose the way of a call that the thread sees for the first time */
void gpu_cut(struct peer_gpu *g, struct gpu_call *k);
void gpu_call_free(struct gpu_call *k);

/* loop.c */
void *gpu_main(void *gpu);

/* cut.c: segments of a call */
uint64_t gpu_each(const struct peer_gpu *g, const struct trib_peer_call *c);
uint64_t gpu_sign(const struct gpu_call *k);
/* The rank's own elements of a call: of src, or from their place in dst. */
const unsigned char *gpu_source(const struct peer_gpu *g, const struct gpu_call *k);
/* Bytes from one part to the next in a slot in, with 16-byte alignment. */
size_t gpu_pitch(const struct gpu_seg *s);
/* Local @i's share of @n elements of @size bytes. Return: its elements; *@at: the first. */
uint64_t gpu_share(const struct peer_gpu *g, const struct gpu_seg *s, unsigned int i, uint64_t *at);
bool gpu_reduces(const struct trib_peer_call *c);

/* meet.c: choose the way, by all ranks; open what it needs. Return: 0 or -errno, noted */
int gpu_meet(struct peer_gpu *g);
/* Let go of the others' memory. */
void gpu_part(struct peer_gpu *g);

/* join_nccl.c: this rank's part of the hello, and of a machine's communicator */
bool gpu_nccl_offer(struct peer_gpu *g, unsigned char id[128], char *why, size_t room);
/* Return: 0 or -EIO with @why. */
int gpu_nccl_join(struct peer_gpu *g, const unsigned char id[128], char *why, size_t room);
/* Leave it; what others wait for in a GPU then ends. */
void gpu_nccl_part(struct peer_gpu *g);

/* note.c */
int gpu_notes_open(struct peer_gpu *g);
/* Take what came, send what is new. Return: events, or -errno: noted, or the crew ended. */
int gpu_notes_turn(struct peer_gpu *g);
/* Whether all others have all of this rank's notes. */
bool gpu_notes_told(const struct peer_gpu *g);
/* All ranks of the machine have passed @s in this stage. */
bool gpu_all_passed(const struct peer_gpu *g, enum gpu_stage stage, uint64_t s);

/* way_host.c */
/* Copy in the stage's stream. */
int gpu_copy(struct peer_gpu *g, enum gpu_stage stage, void *to, const void *from, size_t len);
/* Let the crew exchange a segment among leaders, in pinned memory. */
int gpu_net_leaders(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s);

static inline unsigned char *gpu_slot(const struct peer_gpu *g, unsigned char *area, uint64_t s)
{
	return area + s % PEER_GPU_SLOTS * g->slot;
}

#endif /* PEER_GPU_OWN_H */
