// SPDX-License-Identifier: BSD-2-Clause
/* The emulated GPU's fibers and its table of functions. See emulator.h. */
#include "emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "kernels/gpu/kernels.h"

#define THREADS_MAX 256
#define STACK 65536
#define SHARED_MAX 49152
#define GUARD 4096

emulated_index threadIdx, blockIdx, blockDim, gridDim;
unsigned char *emulated_shared;

enum state { RUNS, MEETS, AT_BARRIER, GONE };

struct fiber {
	void *stack; /* pointer, while another runs */
	enum state state;
	int line;
	unsigned int meetings;
};

static fiber fibers[THREADS_MAX];
/* A lane may enter the next meeting before the others have left this one. */
static uint64_t values[2][THREADS_MAX];
static unsigned char *stacks;
static void *scheduler;
static const std::function<void()> *body;

/* Save the registers that a call keeps, and go on with those of another stack. */
extern "C" void emulated_switch(void **save, void *load);
asm(".text\n"
    ".globl emulated_switch\n"
    ".type emulated_switch, @function\n"
    "emulated_switch:\n"
    "	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
    "	mov %rsp, (%rdi)\n"
    "	mov %rsi, %rsp\n"
    "	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	pop %rbp\n"
    "	ret\n"
    ".size emulated_switch, .-emulated_switch\n");

static void die(const char *what)
{
	printf("Bail out! emulated GPU: %s (block %u, thread %u)\n", what, blockIdx.x, threadIdx.x);
	fflush(stdout);
	_Exit(1);
}

static void leave(enum state state)
{
	fiber &me = fibers[threadIdx.x];

	me.state = state;
	emulated_switch(&me.stack, scheduler);
}

static void start(void)
{
	(*body)();
	leave(GONE);
}

const uint64_t *emulated_meet(uint64_t value, int line)
{
	fiber &me = fibers[threadIdx.x];
	uint64_t *all = values[me.meetings++ & 1];

	all[threadIdx.x] = value;
	me.line = line;
	leave(MEETS);
	return all + (threadIdx.x & ~31u);
}

void emulated_barrier(void)
{
	leave(AT_BARRIER);
}

/* Let a warp go on whose lanes all meet. Return: whether it did. */
static bool release_warp(unsigned int first)
{
	unsigned int meet = 0, gone = 0;

	for (unsigned int i = first; i < first + 32; i++) {
		meet += fibers[i].state == MEETS;
		gone += fibers[i].state == GONE;
	}
	if (meet && gone)
		die("lanes wait for others that have left");
	if (meet < 32)
		return false;
	for (unsigned int i = first; i < first + 32; i++) {
		if (fibers[i].line != fibers[first].line)
			die("lanes meet at different calls");
		fibers[i].state = RUNS;
	}
	return true;
}

static bool release_block(unsigned int threads)
{
	for (unsigned int i = 0; i < threads; i++)
		if (fibers[i].state != AT_BARRIER)
			return false;
	for (unsigned int i = 0; i < threads; i++)
		fibers[i].state = RUNS;
	return true;
}

/* Run all that can run, warp by warp. Return: threads that are left. */
static unsigned int run_threads(unsigned int threads)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < threads; i++) {
		if (fibers[i].state == RUNS) {
			threadIdx.x = i;
			emulated_switch(&scheduler, fibers[i].stack);
		}
		left += fibers[i].state != GONE;
	}
	return left;
}

static void run_block(unsigned int threads)
{
	bool more = true;

	for (unsigned int i = 0; i < threads; i++) {
		void **top = (void **)(stacks + (i + 1) * STACK);

		/*
		 * The stack that emulated_switch() leaves: six registers, the
		 * address to go on at, and 8 bytes, as if that were a call.
		 */
		top -= 8;
		top[6] = (void *)start;
		fibers[i] = {top, RUNS, 0, 0};
	}
	memset(emulated_shared, 0xa5, SHARED_MAX);
	while (run_threads(threads)) {
		more = false;
		for (unsigned int w = 0; w < threads; w += 32)
			more |= release_warp(w);
		if (!more && !release_block(threads))
			die("a barrier that some threads never reach");
	}
}

static unsigned char *mapped(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("no memory");
	return (unsigned char *)p;
}

void emulated_launch(unsigned int blocks, unsigned int threads, size_t shared,
		     const std::function<void()> &kernel)
{
	if (!blocks || !threads || threads > THREADS_MAX || threads % 32 || shared > SHARED_MAX)
		die("a launch that a GPU would refuse");
	if (!stacks) {
		stacks = mapped(THREADS_MAX * STACK);
		emulated_shared = mapped(SHARED_MAX);
	}
	body = &kernel;
	blockDim.x = threads;
	gridDim.x = blocks;
	for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)
		run_block(threads);
}

int gpu_rc(cudaError_t error)
{
	return error ? -EIO : 0;
}

/* Memory ends at memory that traps; its length is in front. */
static void *memory_new(size_t len)
{
	size_t room = (len + 2 * GUARD - 1) / GUARD * GUARD;
	unsigned char *p = mapped(room + GUARD);

	*(size_t *)p = room + GUARD;
	mprotect(p + room, GUARD, PROT_NONE);
	memset(p + GUARD, 0xa5, room - GUARD);
	return p + room - len;
}

static void memory_free(void *p)
{
	unsigned char *base = (unsigned char *)((uintptr_t)p / GUARD * GUARD) - GUARD;

	/* An empty area is at its end. */
	munmap(base, *(size_t *)base);
}

static int copy(void *to, const void *from, size_t len, void *)
{
	if (len)
		memcpy(to, from, len);
	return 0;
}

static int stream_new(void **stream)
{
	*stream = NULL;
	return 0;
}

static void stream_free(void *)
{
}

static int wait_for(void *)
{
	return 0;
}

static int no_export(unsigned char *, void *)
{
	return -EIO;
}

static int no_open(void **, const unsigned char *)
{
	return -EIO;
}

static int describe(char *to, size_t len)
{
	snprintf(to, len, "\"gpu\": \"emulated\"");
	return 0;
}

static const char *text(void)
{
	return "emulated";
}

static int clear(void *p, size_t len, void *)
{
	memset(p, 0, len);
	return 0;
}

static int record(void *, void *)
{
	return 0;
}

static int tell(void *, trib_gpu_told fn, void *arg)
{
	fn(arg, NULL);
	return 0;
}

static int device_now(int *number)
{
	*number = 0;
	return 0;
}

static int use(int)
{
	return 0;
}

static int owner(const void *)
{
	return 0;
}

static int identify(unsigned char uuid[TRIB_GPU_UUID])
{
	memset(uuid, 0xe, TRIB_GPU_UUID);
	return 0;
}

extern "C" const struct trib_gpu_ops *trib_gpu_library(uint32_t abi)
{
	static const struct trib_gpu_ops ops = {
		TRIB_GPU_ABI,	 "emulated",
		gpu_select,	 gpu_amax,
		gpu_pack,	 gpu_pack_lanes,
		gpu_select_pack, gpu_unpack_lanes,
		gpu_expand,	 gpu_check,
		gpu_first_bad,	 gpu_add_peer,
		gpu_energy,	 memory_new,
		memory_free,	 copy,
		stream_new,	 stream_free,
		wait_for,	 no_export,
		no_open,	 memory_free,
		describe,	 text,
		memory_new,	 memory_free,
		clear,		 stream_new,
		stream_free,	 record,
		record,		 tell,
		device_now,	 use,
		owner,		 gpu_reduce,
		identify,
	};

	return abi == TRIB_GPU_ABI ? &ops : NULL;
}
