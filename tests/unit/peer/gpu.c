// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine of peers with values in the memory of GPUs, which are doubles: all
 * collectives by pinned host memory and by areas of the machine's ranks, on one machine
 * and on several, calls of host memory between them, and what fails.
 */
#include <sys/stat.h>

#include "engine_rig.h"
#include "tests/lib/gpu/double.h"

#define CUDA 1
#define SEGMENT 65536
#ifdef __SANITIZE_THREAD__
#define SLOWER 7
#else
#define SLOWER 1
#endif
#define SECONDS (240 * SLOWER)

static const struct trib_gpu_ops *gpu = &gpu_double;
static _Thread_local unsigned int machine;

/* Ranks are on the machines that the test says. */
int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st)
{
	int rc = __real_stat(path, st);

	if (!rc && !strcmp(path, "/proc/self/ns/net"))
		st->st_ino += machine;
	return rc;
}

/* The first half of the ranks on one machine, the others on another one. */
static void begin_on_two(struct job *j, uint32_t rank)
{
	machine = rank >= (j->world + 1) / 2;
}

/* --- values: integers that are exact in every type, also their sums and products */

struct kind {
	unsigned int dtype, op;
};

static const struct kind kinds[] = {
	{TRIB_REDUCE_F32, 0}, {TRIB_REDUCE_F32, 1},  {TRIB_REDUCE_I32, 4},
	{TRIB_REDUCE_F16, 0}, {TRIB_REDUCE_BF16, 0}, {TRIB_REDUCE_F64, 1},
	{TRIB_REDUCE_F64, 3}, {TRIB_REDUCE_BF16, 2}, {TRIB_REDUCE_F16, 4},
};

static int input(const struct kind *k, uint32_t rank, uint64_t i)
{
	return k->op == 4 ? (int)((i + rank) % 3) - 1 : (int)((i * 7 + rank * 13) % 41) - 20;
}

static double output(const struct kind *k, uint32_t world, uint64_t i)
{
	double a = input(k, 0, i), b;

	for (uint32_t r = 1; r < world; r++) {
		b = input(k, r, i);
		a = k->op == 4	 ? a * b
		    : k->op == 3 ? (a < b ? a : b)
		    : k->op == 2 ? (a > b ? a : b)
				 : a + b;
	}
	return k->op == 1 ? a / world : a;
}

/* Bits of a small number in a type; of a quotient, in f32 and f64. */
static uint64_t bits_of(unsigned int dtype, double d)
{
	uint64_t b = 0;
	float f = (float)d;
	int32_t n = (int32_t)d;
	_Float16 h = (_Float16)f;

	switch (dtype) {
	case TRIB_REDUCE_F64:
		memcpy(&b, &d, 8);
		break;
	case TRIB_REDUCE_I32:
		memcpy(&b, &n, 4);
		break;
	case TRIB_REDUCE_F16:
		memcpy(&b, &h, 2);
		break;
	case TRIB_REDUCE_F32:
		memcpy(&b, &f, 4);
		break;
	default:
		memcpy(&b, &f, 4);
		b >>= 16;
	}
	return b;
}

static void put(unsigned char *to, const struct kind *k, uint64_t i, double v)
{
	size_t size = trib_reduce_size(k->dtype);
	uint64_t b = bits_of(k->dtype, v);

	memcpy(to + i * size, &b, size);
}

static bool has(const unsigned char *from, const struct kind *k, uint64_t i, double v)
{
	size_t size = trib_reduce_size(k->dtype);
	uint64_t b = bits_of(k->dtype, v);

	return !memcmp(from + i * size, &b, size);
}

/* --- a rank with a GPU */

struct rank {
	struct trib_peer *p;
	uint32_t rank, world;
	void *stream;
	unsigned char *src, *dst;   /* of the GPU */
	unsigned char *from, *back; /* of the host, for the stream's copies */
	size_t room;
};

static bool rank_open(struct rank *r, struct job *j, uint32_t rank, struct trib_peer *p,
		      size_t room)
{
	*r = (struct rank){.p = p, .rank = rank, .world = j->world, .room = room};
	r->from = malloc(room);
	r->back = malloc(room);
	r->src = gpu->memory_new(room);
	r->dst = gpu->memory_new(room);
	return r->src && r->dst && !gpu->stream_new(&r->stream);
}

static void rank_close(struct rank *r)
{
	/* The stream's work needs the memory. */
	if (r->stream)
		gpu->stream_free(r->stream);
	if (r->src)
		gpu->memory_free(r->src);
	if (r->dst)
		gpu->memory_free(r->dst);
	free(r->from);
	free(r->back);
}

/* The stream still has to write src when the call is made, and dst is read at once. */
static bool device_call(struct rank *r, struct trib_peer_call c, size_t in, size_t out)
{
	size_t size = trib_reduce_size(c.dtype);
	void *src = c.collective == PEER_BROADCAST ? r->dst : r->src;

	c.memory = CUDA;
	c.src = c.collective == PEER_BROADCAST ? NULL : r->src;
	c.dst = r->dst;
	c.src_stream = c.dst_stream = r->stream;
	if (gpu->copy(src, r->from, in * size, r->stream) || call(r->p, c))
		return false;
	memset(r->back, 0x5a, out * size);
	memcpy(r->back, gpu_double_view(r->dst), out * size);
	return true;
}

static bool reduced_right(struct rank *r, const struct kind *k, uint64_t n)
{
	uint64_t all = n * r->world, i;
	struct trib_peer_call c = {
		.collective = PEER_ALLREDUCE, .dtype = k->dtype, .op = k->op, .count = n};
	bool good;

	for (i = 0; i < all; i++)
		put(r->from, k, i, input(k, r->rank, i));
	good = device_call(r, c, n, n);
	for (i = 0; i < n && good; i++)
		good = has(r->back, k, i, output(k, r->world, i));
	c.collective = PEER_REDUCE_SCATTER;
	good = good && device_call(r, c, all, n);
	for (i = 0; i < n && good; i++)
		good = has(r->back, k, i, output(k, r->world, r->rank * n + i));
	return good;
}

static bool moved_right(struct rank *r, const struct kind *k, uint64_t n)
{
	struct trib_peer_call c = {.collective = PEER_ALLGATHER, .dtype = k->dtype, .count = n};
	uint64_t i;
	bool good;

	for (i = 0; i < n; i++)
		put(r->from, k, i, input(k, r->rank, i));
	good = device_call(r, c, n, n * r->world);
	for (i = 0; i < n * r->world && good; i++)
		good = has(r->back, k, i, input(k, (uint32_t)(i / n), i % n));
	c.collective = PEER_BROADCAST;
	c.root = (uint32_t)n % r->world;
	good = good && device_call(r, c, n, n);
	for (i = 0; i < n && good; i++)
		good = has(r->back, k, i, input(k, c.root, i));
	return good;
}

/* Host memory, between calls of GPU memory. */
static bool host_right(struct rank *r)
{
	static const struct kind k = {TRIB_REDUCE_F32, 0};
	struct trib_peer_call c = {
		.collective = PEER_ALLREDUCE, .src = r->from, .dst = r->back, .count = 1000};
	bool good;
	uint64_t i;

	for (i = 0; i < 1000; i++)
		put(r->from, &k, i, input(&k, r->rank, i));
	good = !call(r->p, c);
	for (i = 0; i < 1000 && good; i++)
		good = has(r->back, &k, i, output(&k, r->world, i));
	return good && !call(r->p, (struct trib_peer_call){.collective = PEER_BARRIER});
}

static void all_kinds(struct job *j, uint32_t rank, struct trib_peer *p)
{
	static const uint64_t counts[] = {1, 5, 1000, 20011, 50000};
	struct rank r;
	bool good = rank_open(&r, j, rank, p, 8 * 50000 * WORLD_MAX);
	unsigned int i, k = 0;
	char text[1024];

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]) && good; i++)
		for (k = i % 2; k < sizeof(kinds) / sizeof(kinds[0]) && good; k += 2) {
			good = reduced_right(&r, &kinds[k], counts[i]) &&
			       moved_right(&r, &kinds[k], counts[i]) && (k % 3 || host_right(&r));
			if (!good)
				printf("# %llu elements, type %u, op %u\n",
				       (unsigned long long)counts[i], kinds[k].dtype, kinds[k].op);
		}
	trib_peer_ops.describe(p, text, sizeof(text));
	if (good && j->arg && !strstr(text, j->arg)) {
		printf("# %s\n", text);
		good = false;
	}
	trib_peer_ops.error(p, &j->error[rank]);
	if (!good)
		fail_rank(j, rank, j->error[rank].err ? j->error[rank].text : "a value is wrong");
	trib_peer_ops.leave(p, good);
	rank_close(&r);
}

static void job_right(struct job j)
{
	bool good;

	gpu_double_reset(j.world);
	/* Operations of NCCL occupy threads until all ranks are there. */
	gpu_double_start(8);
	good = run_job(&j);
	gpu_double_stop();
	expect(good);
	expect_eq(gpu_double_reset(1), 0); /* nothing is left */
}

/* A GPU a rank. */
static void begin_with_gpu(struct job *j, uint32_t rank)
{
	(void)j;
	gpu->use((int)rank);
}

static void begin_with_gpus_on_two(struct job *j, uint32_t rank)
{
	begin_on_two(j, rank);
	begin_with_gpu(j, rank);
}

static void gpu__one_rank_needs_nobody(void)
{
	job_right((struct job){.world = 1, .arg = "one rank", .work = all_kinds});
}

static void gpu__values_travel_by_host_memory(void)
{
	for (uint32_t n = 2; n <= 4; n++)
		job_right((struct job){.world = n,
				       .intra = n == 2 ? "none" : "allreduce",
				       .gpu_way = "host",
				       .gpu_segment = SEGMENT,
				       .arg = "pinned host memory",
				       .work = all_kinds});
	job_right((struct job){
		.world = 3, .gpu_segment = SEGMENT, .arg = "(intra is none)", .work = all_kinds});
}

static void gpu__ranks_of_a_machine_read_each_other_s_areas(void)
{
	for (uint32_t n = 2; n <= 4; n++) {
		job_right((struct job){.world = n,
				       .intra = "allreduce",
				       .gpu_segment = SEGMENT,
				       .arg = "by CUDA IPC",
				       .work = all_kinds});
		job_right((struct job){.world = n,
				       .intra = "reduce",
				       .gpu_way = "ipc",
				       .gpu_segment = SEGMENT,
				       .arg = "by CUDA IPC",
				       .work = all_kinds});
	}
}

static void gpu__leaders_carry_the_sums_of_machines(void)
{
	static const char *const intras[] = {"allreduce", "reduce"};

	for (uint32_t n = 3; n <= 5; n++)
		job_right((struct job){.world = n,
				       .algorithm = n == 4 ? "ring" : "auto",
				       .intra = intras[n % 2],
				       .gpu_segment = SEGMENT,
				       .begin = begin_on_two,
				       .arg = "machines by pinned host memory",
				       .work = all_kinds});
}

/* --- NCCL */

static void nccl__a_gpu_a_rank_is_nccl_s(void)
{
	for (uint32_t n = 2; n <= 4; n++)
		job_right((struct job){.world = n,
				       .intra = "allreduce",
				       .gpu_segment = SEGMENT,
				       .begin = begin_with_gpu,
				       .arg = "by NCCL",
				       .work = all_kinds});
}

static void nccl__leaders_carry_the_sums_of_machines(void)
{
	job_right((struct job){.world = 4,
			       .intra = "allreduce",
			       .gpu_segment = SEGMENT,
			       .gpu_way = "nccl",
			       .begin = begin_with_gpus_on_two,
			       .arg = "ranks of a machine by NCCL",
			       .work = all_kinds});
	job_right((struct job){.world = 3,
			       .intra = "reduce",
			       .gpu_segment = SEGMENT,
			       .begin = begin_with_gpus_on_two,
			       .arg = "ranks of a machine by NCCL",
			       .work = all_kinds});
}

static void nccl__ranks_that_cannot_take_another_way(void)
{
	struct job j = {.world = 2,
			.intra = "allreduce",
			.gpu_segment = SEGMENT,
			.begin = begin_with_gpu,
			.arg = "by CUDA IPC",
			.work = all_kinds};

	setenv("TRIB_NCCL_DOUBLE_FAIL", "init", 1);
	job_right(j);
	unsetenv("TRIB_NCCL_DOUBLE_FAIL");
	j.gpu_way = "ipc";
	job_right(j);
}

/* --- what fails */

/**
 * struct failing - a job in which something fails
 * @nth: call of the runtime, or piece of work, or 0. @all: all ranks are ready.
 * @good: by rank: all its calls succeeded.
 */
struct failing {
	unsigned int nth;
	bool work;
	pthread_barrier_t all;
	bool good[WORLD_MAX];
};

static void some_calls(struct job *j, uint32_t rank, struct trib_peer *p)
{
	struct failing *f = (struct failing *)(uintptr_t)j->arg;
	static const struct kind k = {TRIB_REDUCE_F32, 0};
	struct rank r;
	bool good = rank_open(&r, j, rank, p, 4 * COUNT * WORLD_MAX);

	if (pthread_barrier_wait(&f->all) == PTHREAD_BARRIER_SERIAL_THREAD) {
		if (f->work)
			gpu_double_fail_work(f->nth);
		else
			gpu_double_fail_call(f->nth);
	}
	pthread_barrier_wait(&f->all);
	for (int i = 0; i < 2 && good; i++)
		good = reduced_right(&r, &k, COUNT) && moved_right(&r, &k, 1000);
	trib_peer_ops.error(p, &j->error[rank]);
	if (!good && j->error[rank].err && !j->error[rank].text[0])
		fail_rank(j, rank, "it failed without a reason");
	/* Values are right, or a call failed: then all ranks hear of it. */
	if (!good && !j->error[rank].err && !gpu_double_failed())
		fail_rank(j, rank, "a value is wrong");
	f->good[rank] = good;
	trib_peer_ops.leave(p, good);
	rank_close(&r);
}

/* Let each call or piece of work fail in turn, until there is none of that number. */
static void each_fails(struct job j, bool work, unsigned int stride)
{
	struct failing f = {.work = work};
	unsigned int most = 0;
	bool failed = true;
	uint32_t i;

	for (f.nth = 1; failed && !tap_bad; f.nth += stride * SLOWER) {
		pthread_barrier_init(&f.all, NULL, j.world);
		gpu_double_reset(f.nth);
		gpu_double_start(2);
		j.arg = &f;
		expect(run_job(&j));
		failed = gpu_double_failed();
		gpu_double_stop();
		pthread_barrier_destroy(&f.all);
		for (i = 0; i < j.world && !failed; i++)
			expect(f.good[i]);
		if (!expect(!gpu_double_reset(1)) || tap_bad)
			printf("# %s %u fails\n", work ? "work" : "call", f.nth);
		most = f.nth;
	}
	expect(most > 20);
}

static void fail__any_call_of_the_runtime_ends_all_ranks(void)
{
	each_fails((struct job){.world = 2,
				.intra = "allreduce",
				.gpu_way = "ipc",
				.gpu_segment = SEGMENT,
				.work = some_calls},
		   false, 3);
	each_fails((struct job){.world = 3,
				.intra = "reduce",
				.gpu_segment = SEGMENT,
				.begin = begin_on_two,
				.work = some_calls},
		   false, 11);
	each_fails((struct job){.world = 2, .gpu_segment = SEGMENT, .work = some_calls}, false, 5);
}

static void fail__any_work_of_the_gpu_ends_all_ranks(void)
{
	each_fails((struct job){.world = 2,
				.intra = "allreduce",
				.gpu_way = "ipc",
				.gpu_segment = SEGMENT,
				.work = some_calls},
		   true, 5);
	each_fails((struct job){.world = 2, .gpu_segment = SEGMENT, .work = some_calls}, true, 5);
}

/* --- ranks that end or differ */

static void one_leaves(struct job *j, uint32_t rank, struct trib_peer *p)
{
	static const struct kind k = {TRIB_REDUCE_F32, 0};
	struct rank r;
	bool good = rank_open(&r, j, rank, p, 4 * COUNT * WORLD_MAX);
	int i;

	for (i = 0; i < 1000 && good; i++) {
		if ((int)rank == j->odd && i == (j->arg ? 0 : 3))
			break;
		good = reduced_right(&r, &k, COUNT);
	}
	trib_peer_ops.error(p, &j->error[rank]);
	if ((int)rank != j->odd && (good || j->error[rank].rank != j->odd)) {
		printf("# %s\n", j->error[rank].text);
		fail_rank(j, rank, "another rank is to blame");
	}
	trib_peer_ops.leave(p, false);
	rank_close(&r);
}

static void death__a_rank_that_ends_is_named_by_all(void)
{
	static const char *const ways[] = {"ipc", "host", "nccl"};

	for (int i = 0; i < 18; i++)
		job_right((struct job){.world = 3,
				       .intra = "allreduce",
				       .gpu_way = ways[i % 3],
				       .gpu_segment = SEGMENT,
				       .begin = i % 3 == 2 ? begin_with_gpu : NULL,
				       .odd = i / 3 % 3,
				       .arg = i < 9 ? NULL : "before the first call",
				       .work = one_leaves});
}

static void lengths_differ(struct job *j, uint32_t rank, struct trib_peer *p)
{
	static const struct kind k = {TRIB_REDUCE_F32, 0};
	struct rank r;
	bool good = rank_open(&r, j, rank, p, 4 * COUNT * WORLD_MAX) &&
		    reduced_right(&r, &k, 1000) &&
		    reduced_right(&r, &k, (int)rank == j->odd ? COUNT - 10000 : COUNT);

	trib_peer_ops.error(p, &j->error[rank]);
	if (good || !j->error[rank].err)
		fail_rank(j, rank, "nobody noticed");
	trib_peer_ops.leave(p, false);
	rank_close(&r);
}

static void death__ranks_that_disagree_end(void)
{
	job_right((struct job){.world = 3,
			       .intra = "allreduce",
			       .gpu_way = "ipc",
			       .gpu_segment = SEGMENT,
			       .odd = 1,
			       .work = lengths_differ});
	job_right(
		(struct job){.world = 2, .odd = 1, .gpu_segment = SEGMENT, .work = lengths_differ});
}

/* Without a library, or without a GPU, this rank says so, and all others hear it. */
static void no_gpu(struct job *j, uint32_t rank, struct trib_peer *p)
{
	struct trib_peer_call c = {.collective = PEER_ALLREDUCE, .count = 1000, .memory = CUDA};
	struct rank r;
	int rc;

	rank_open(&r, j, rank, p, 4000);
	gpu_double_missing(true);
	c.src = c.dst = r.src;
	rc = call(p, c);
	trib_peer_ops.error(p, &j->error[rank]);
	if (!rc || !strstr(j->error[rank].text, "libtrib-gpu.so is missing")) {
		printf("# %s\n", j->error[rank].text);
		fail_rank(j, rank, "it does not say what is missing");
	}
	trib_peer_ops.leave(p, false);
	rank_close(&r);
}

static void wrong_memory(struct job *j, uint32_t rank, struct trib_peer *p)
{
	struct trib_peer_call c = {.collective = PEER_ALLREDUCE, .count = 1000, .memory = CUDA};
	static float host[1000];
	struct rank r;
	bool good = rank_open(&r, j, rank, p, 4 * COUNT * WORLD_MAX);

	c.src = c.dst = host;
	if (trib_peer_ops.issue(p, &c, &c) != -EINVAL)
		fail_rank(j, rank, "host memory was taken for a GPU's");
	c.memory = 7;
	if (!trib_peer_ops.wrong(p, &c))
		fail_rank(j, rank, "an unknown memory was taken");
	if (!good || !reduced_right(&r, &kinds[0], 1000))
		fail_rank(j, rank, "the next call failed");
	c.memory = CUDA;
	c.src = c.dst = r.src + 2;
	if (!trib_peer_ops.wrong(p, &c))
		fail_rank(j, rank, "a crooked buffer was taken");
	trib_peer_ops.leave(p, true);
	rank_close(&r);
}

static void fail__what_is_missing_or_wrong_is_named(void)
{
	job_right((struct job){.world = 2, .work = no_gpu});
	job_right((struct job){.world = 2, .work = wrong_memory});
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(SECONDS);
	setenv("TRIB_NCCL_LIBRARY", "build/tests/gpu/double/libnccl.so.2", 1);
	run(gpu__one_rank_needs_nobody);
	run(gpu__values_travel_by_host_memory);
	run(gpu__ranks_of_a_machine_read_each_other_s_areas);
	run(gpu__leaders_carry_the_sums_of_machines);
	run(nccl__a_gpu_a_rank_is_nccl_s);
	run(nccl__leaders_carry_the_sums_of_machines);
	run(nccl__ranks_that_cannot_take_another_way);
	run(fail__what_is_missing_or_wrong_is_named);
	run(fail__any_call_of_the_runtime_ends_all_ranks);
	run(fail__any_work_of_the_gpu_ends_all_ranks);
	run(death__a_rank_that_ends_is_named_by_all);
	run(death__ranks_that_disagree_end);
	return tap_done();
}
