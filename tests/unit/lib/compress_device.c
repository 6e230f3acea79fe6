// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compressed sums of gradients in GPU memory, on the double of a GPU, whose work is done
 * late and in random order: results and residuals have the bits of the CPU's.
 */
#include "compress_rig.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/lib/gpu/double.h"

static void sums__are_those_of_the_oracle_for_all_specs(void)
{
	unsigned int i;

	for (i = 0; i < 2 * NSPEC; i++) {
		struct sim_options net = bad_network(1 + i % 5, i);
		struct trib_compress_options o = {.schedule = specs[i / 2],
						  .seed = i,
						  .bucket = 4096,
						  .memory = TRIB_MEMORY_CUDA};

		net.racks = i % 3 == 1 && net.workers > 1 ? 2 : 0;
		net.trees = i % 3 == 2 ? 2 : 0;
		o.no_feedback = i % 7 == 3;
		cw_init(&w, &sim, &net, &o, 20000 + i);
		w.in_place = i % 4 == 3;
		w.op = i % 3 ? TRIB_SUM : TRIB_AVG;
		steps(3);
		cw_free(&w);
	}
}

static void sums__are_right_for_all_tails(void)
{
	all_tails(specs, NSPEC, (struct trib_compress_options){.memory = TRIB_MEMORY_CUDA});
}

static void local__sums_are_those_of_the_oracle(void)
{
	static const char *const local[] = {"dense", "2:4", "4:8", "1:32", "7:16", "31:32"};
	static const size_t counts[] = {1, 31, 33, 1025, 20001};
	unsigned int i, k;

	for (i = 0; i < 6; i++) {
		for (k = 0; k < 5; k++) {
			struct sim_options net = bad_network(2 + k % 3, i);
			struct trib_compress_options o = {.schedule = local[i],
							  .bucket = 2048,
							  .mask = "local",
							  .memory = TRIB_MEMORY_CUDA};

			net.fmt = k % 2 ? TRIB_FMT_F32 : 0;
			cw_init(&w, &sim, &net, &o, counts[k]);
			w.in_place = k % 2;
			steps(3);
			cw_free(&w);
		}
	}
}

static void sums__follow_the_schedule(void)
{
	struct sim_options net = sim_star(3);
	struct trib_compress_options o = {.schedule = "0:dense,2:4:8,4:2:4+int8,6:int4",
					  .bucket = 1024,
					  .memory = TRIB_MEMORY_CUDA};

	cw_init(&w, &sim, &net, &o, 3000);
	steps(8);
	cw_free(&w);
}

static void sums__are_right_in_jobs_of_floats(void)
{
	static const char *const few[] = {"dense", "2:4", "2:4+int8"};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct sim_options net = bad_network(4, i);
		struct trib_compress_options o = {
			.schedule = few[i], .bucket = 2048, .memory = TRIB_MEMORY_CUDA};

		net.fmt = TRIB_FMT_F32;
		cw_init(&w, &sim, &net, &o, 9000);
		steps(3);
		cw_free(&w);
	}
}

/* Ranks with a GPU and ranks without are in one job. */
static void ranks__may_use_any_memory(void)
{
	unsigned int i;

	for (i = 0; i < NSPEC; i++) {
		struct sim_options net = bad_network(4, i);
		struct trib_compress_options o = {
			.schedule = specs[i], .bucket = 2048, .memory = TRIB_MEMORY_CUDA};

		cw_hosts = 1 + i % 14;
		cw_init(&w, &sim, &net, &o, 9001);
		steps(4);
		cw_free(&w);
	}
	cw_hosts = 0;
}

/* --- auto, energies, states: compared with the same run in host memory */

#define COUNT 9001

struct run {
	float y[COUNT], residual[COUNT];
	struct trib_compress_counters n;
	int rung;
	uint8_t state[65536];
	int64_t len;
};

/* Save, and load into a new object with @memory. */
static void reload(enum trib_memory memory)
{
	static uint8_t buf[65536];
	unsigned int r;
	int64_t len;

	for (r = 0; r < sim.nworker; r++) {
		struct trib_compress_options o = w.o;

		o.memory = memory;
		len = trib_compress_save(w.rank[r].c, buf, sizeof(buf));
		expect(len > 0 && len <= (int64_t)sizeof(buf));
		expect_eq(trib_compress_close(w.rank[r].c), 0);
		expect_eq(compress_make(&w.rank[r].c, sim.worker[r].t, &o, false), 0);
		expect_eq(trib_compress_load(w.rank[r].c, buf, (size_t)len), 0);
	}
}

static void train(struct run *out, enum trib_memory memory, const char *schedule, bool again)
{
	struct sim_options net = sim_star(3);
	struct trib_compress_options o = {
		.schedule = schedule, .seed = 3, .memory = memory, .measure = 1, .bucket = 4096};
	unsigned int k;
	size_t i;

	cw_init(&w, &sim, &net, &o, COUNT);
	for (k = 0; k < 40; k++) {
		/* Gradients whose squares are not exact in sums. */
		for (i = 0; i < 3 * COUNT; i++)
			w.rank[i % 3].x[i / 3] =
				(float)((i + 1) * (k + 7) % 10007) / (float)(997 + i % 1013) - 2;
		expect_eq(cw_issue(&w), 0);
		expect(cw_run(&w));
		cw_step(&w);
		if (again && k % 10 == 9)
			reload(memory);
	}
	memcpy(out->y, cw_result(&w, 2), sizeof(out->y));
	memcpy(out->residual, cw_residual(&w, 1), sizeof(out->residual));
	out->n.size = sizeof(out->n);
	trib_compress_counters(w.rank[0].c, &out->n);
	out->n.codec_ns = 0;
	out->rung = w.rank[0].c->schedule.rung;
	out->len = trib_compress_save(w.rank[2].c, out->state, sizeof(out->state));
	cw_free(&w);
}

static struct run host, device;

static void training__has_the_same_bits_as_in_host_memory(void)
{
	static const char *const schedules[] = {"auto", "2:4+int8", "0:dense,9:4:8"};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		train(&host, TRIB_MEMORY_HOST, schedules[i], false);
		train(&device, TRIB_MEMORY_CUDA, schedules[i], false);
		expect(!memcmp(host.y, device.y, sizeof(host.y)));
		expect(!memcmp(host.residual, device.residual, sizeof(host.residual)));
		expect(!memcmp(&host.n, &device.n, sizeof(host.n)));
		expect(host.n.energy > 0 && host.n.energy_left > 0);
		expect_eq(host.rung, device.rung);
		expect(i || host.rung > 0);
		expect(host.len > 0 && host.len == device.len);
		expect(!memcmp(host.state, device.state, (size_t)host.len));
	}
}

static void states__are_resumed_bit_by_bit(void)
{
	train(&host, TRIB_MEMORY_HOST, "auto", false);
	train(&device, TRIB_MEMORY_CUDA, "auto", true);
	expect(!memcmp(host.y, device.y, sizeof(host.y)));
	expect(!memcmp(host.state, device.state, (size_t)host.len));
}

/* --- order */

/* The library starts after what the caller's streams hold, and not before. */
static void streams__of_the_caller_come_first(void)
{
	struct sim_options net = sim_star(1);
	struct trib_compress_options o = {.schedule = "2:4", .memory = TRIB_MEMORY_CUDA};
	struct trib_buffer src, dst;
	void *other, *event;
	unsigned int i;

	cw_init(&w, &sim, &net, &o, 1000);
	cw_gradients(&w);
	cw_oracle(&w);
	expect_eq(gpu_double.stream_new(&other), 0);
	expect_eq(gpu_double.event_new(&event), 0);
	for (i = 0; i < 2; i++) {
		/* The stream of one of the buffers does not go on yet. */
		expect_eq(gpu_double.copy(w.rank[0].far_x, w.rank[0].x, 4000, w.rank[0].stream), 0);
		gpu_double_hold(other, true);
		expect_eq(gpu_double.clear(w.rank[0].far_y, 4000, other), 0);
		src = (struct trib_buffer){w.rank[0].far_x, TRIB_MEMORY_CUDA,
					   i ? other : w.rank[0].stream};
		dst = (struct trib_buffer){w.rank[0].far_y, TRIB_MEMORY_CUDA,
					   i ? w.rank[0].stream : other};
		expect_eq(trib_compress_iallreduce_buffer(w.rank[0].c, 77 + i, &src, &dst, 1000,
							  TRIB_F32, TRIB_SUM, &w.rank[0].req),
			  0);
		w.rank[0].status = 1;
		cw_turn(&w, 0);
		expect_eq(w.rank[0].c->first->gate, FLIGHT_UP);
		expect_eq(w.rank[0].c->first->bucket[0].stage, STAGE_SELECT);
		expect_eq(trib_compress_close(w.rank[0].c), -EBUSY);
		gpu_double_hold(other, false);
		sim_call_at(&sim.worker[0], sim.now);
		expect(cw_run(&w));
		expect_eq(w.rank[0].status, 0);
		expect(!memcmp(gpu_double_view(w.rank[0].far_y), w.want, 4000));
	}
	gpu_double.event_free(event);
	gpu_double.stream_free(other);
	cw_free(&w);
}

/* --- opening */

static void open_says(enum trib_memory memory, int rc, const char *text)
{
	struct trib_compress_options o = {
		.size = sizeof(o), .schedule = "2:4", .memory = memory, .gpu_library = "gpu.so"};
	struct trib_compress *c;

	expect_eq(compress_make(&c, sim.worker[0].t, &o, false), rc);
	if (!expect(strstr(trib_error_text(sim.worker[0].t), text)))
		printf("# %s\n", trib_error_text(sim.worker[0].t));
	expect_eq(gpu_double_reset(0), 0);
}

static void open__says_what_is_missing(void)
{
	struct sim_options net = sim_star(1);
	unsigned int i;

	sim_init(&sim, &net);
	gpu_double_missing(true);
	open_says(TRIB_MEMORY_CUDA, -ENODEV, "gpu.so is missing");
	gpu_double_absent(true);
	open_says(TRIB_MEMORY_CUDA, -ENODEV, "no GPU to use: no GPU is detected; nvidia-smi");
	open_says((enum trib_memory)2, -EINVAL, "TRIB_MEMORY_CUDA");
	/* Each call of the GPU fails once. */
	for (i = 2; i < 9; i++) {
		gpu_double_fail_call(i);
		open_says(TRIB_MEMORY_CUDA, -EIO, "the GPU: a call that fails");
	}
	sim_free(&sim);
}

static void buffers__must_be_in_the_memory_of_the_object(void)
{
	struct trib_compress_options o = {.schedule = "2:4", .memory = TRIB_MEMORY_CUDA};
	struct sim_options net = sim_star(2);
	struct trib_req *r;
	float x[4] = {0};
	unsigned int i;

	cw_hosts = 2;
	cw_init(&w, &sim, &net, &o, 8);
	cw_hosts = 0;
	for (i = 0; i < 4; i++) {
		struct trib_buffer near = {x, TRIB_MEMORY_HOST, NULL};
		struct trib_buffer far = {w.rank[0].far_x, TRIB_MEMORY_CUDA, NULL};
		struct trib_buffer lie = {x, TRIB_MEMORY_CUDA, NULL};
		struct trib_buffer odd = {(char *)w.rank[0].far_x + 2, TRIB_MEMORY_CUDA, NULL};
		const struct {
			const struct trib_buffer *src, *dst;
			unsigned int rank;
			const char *text;
		} try[] = {
			{&near, &far, 0, "host memory"},
			{&far, &lie, 0, "not in the memory of the GPU"},
			{&odd, &far, 0, "aligned"},
			{&near, &far, 1, "TRIB_MEMORY_CUDA"},
		};

		expect_eq(trib_compress_iallreduce_buffer(w.rank[try[i].rank].c, 1, try[i].src,
							  try[i].dst, 4, TRIB_F32, TRIB_SUM, &r),
			  -EINVAL);
		expect(strstr(trib_error_text(sim.worker[try[i].rank].t), try[i].text));
	}
	expect_eq(trib_compress_iallreduce(w.rank[0].c, 1, x, x, 4, TRIB_F32, TRIB_SUM, &r),
		  -EINVAL);
	expect(strstr(trib_error_text(sim.worker[0].t), "trib_compress_iallreduce_buffer"));
	cw_free(&w);
}

int main(void)
{
	run(sums__are_those_of_the_oracle_for_all_specs);
	run(sums__are_right_for_all_tails);
	run(local__sums_are_those_of_the_oracle);
	run(sums__follow_the_schedule);
	run(sums__are_right_in_jobs_of_floats);
	run(ranks__may_use_any_memory);
	run(training__has_the_same_bits_as_in_host_memory);
	run(states__are_resumed_bit_by_bit);
	run(streams__of_the_caller_come_first);
	run(open__says_what_is_missing);
	run(buffers__must_be_in_the_memory_of_the_object);
	return tap_done();
}
