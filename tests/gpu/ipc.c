// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two processes on one GPU: each selects and packs its gradient, tells the other
 * where mask and values are, and adds the other's straight from its memory. Both
 * must have the sums that the scalar level makes.
 */
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/gpu/gpu.h"
#include "tests/unit/kernels/nm/nm_rig.h"

#define COUNT 100000 /* no multiple of 32 */
#define SECONDS 60   /* until a silent peer counts as dead */

static const struct trib_nm_spec spec = {.group = 4, .kept = 2};

/* One process's end. */
struct peer {
	const struct trib_gpu_ops *gpu;
	int fd;
	void *stream;
	float *x, *acc, *packed;
	uint32_t *mask, *amax;
};

struct handles {
	unsigned char mask[TRIB_GPU_HANDLE], packed[TRIB_GPU_HANDLE];
};

static float gradients[2][COUNT];

static void make_gradients(void)
{
	size_t i;
	int k;

	for (k = 0; k < 2; k++)
		for (i = 0; i < COUNT; i++)
			gradients[k][i] = float_of(rig_float(BELL));
}

/* The sum that process @me has: its own values first. */
static void want_sum(float *sum, int me)
{
	static uint32_t mask[COUNT / 32 + 1];
	static float packed[COUNT], dense[COUNT];
	const struct trib_nm_ops *host = &trib_nm_scalar;
	size_t i;
	int k;

	for (k = 0; k < 2; k++) {
		struct trib_nm_range g = {gradients[me ^ k], NULL, COUNT, TRIB_FMT_F32, spec};

		host->select_pack(mask, packed, &g);
		host->expand(dense, TRIB_FMT_F32, COUNT, mask, packed, 1);
		for (i = 0; i < COUNT; i++)
			sum[i] = k ? sum[i] + dense[i] : dense[i];
	}
}

static bool meet(const struct peer *p)
{
	char byte = 0;

	return write(p->fd, &byte, 1) == 1 && read(p->fd, &byte, 1) == 1;
}

static bool swap(const struct peer *p, const struct handles *mine, struct handles *theirs)
{
	return write(p->fd, mine, sizeof(*mine)) == sizeof(*mine) &&
	       read(p->fd, theirs, sizeof(*theirs)) == sizeof(*theirs);
}

static bool pack(struct peer *p, int me, struct handles *mine)
{
	struct trib_nm_range g;

	p->x = p->gpu->memory_new(4 * COUNT);
	p->acc = p->gpu->memory_new(4 * COUNT);
	p->packed = p->gpu->memory_new(4 * COUNT);
	p->mask = p->gpu->memory_new(4 * (COUNT / 32 + 1));
	p->amax = p->gpu->memory_new(4);
	if (!p->x || !p->acc || !p->packed || !p->mask || !p->amax)
		return false;
	g = (struct trib_nm_range){p->x, NULL, COUNT, TRIB_FMT_F32, spec};
	return !p->gpu->copy(p->x, gradients[me], 4 * COUNT, p->stream) &&
	       !p->gpu->select_pack(p->mask, p->packed, NULL, p->amax, &g, COUNT / 32 * 32 + 32,
				    p->stream) &&
	       !p->gpu->wait(p->stream) && !p->gpu->export_memory(mine->mask, p->mask) &&
	       !p->gpu->export_memory(mine->packed, p->packed);
}

static bool add(struct peer *p, const struct handles *theirs)
{
	void *mask, *packed;
	bool done;

	if (p->gpu->open(&mask, theirs->mask) || p->gpu->open(&packed, theirs->packed))
		return false;
	done = !p->gpu->expand(p->acc, TRIB_FMT_F32, COUNT, spec, p->mask, p->packed, 1,
			       p->stream) &&
	       !p->gpu->add_peer(p->acc, COUNT, spec, mask, packed, p->stream) &&
	       !p->gpu->wait(p->stream);
	p->gpu->close(mask);
	p->gpu->close(packed);
	return done;
}

static bool sums_right(struct peer *p, int me)
{
	static float got[COUNT], want[COUNT];

	want_sum(want, me);
	return !p->gpu->copy(got, p->acc, 4 * COUNT, p->stream) && !p->gpu->wait(p->stream) &&
	       !memcmp(got, want, sizeof(got));
}

/* Return: 0; 4 if there is no GPU; 1 with a line that says what went wrong. */
static int one(int fd, int me)
{
	struct handles mine, theirs;
	struct peer p = {.fd = fd};
	const char *what = NULL;
	char text[256];

	p.gpu = trib_gpu_load("build/libtrib-gpu.so", text, sizeof(text));
	if (!p.gpu || p.gpu->describe(text, sizeof(text)) || p.gpu->stream_new(&p.stream)) {
		printf("# %s\n", p.gpu ? p.gpu->error_text() : text);
		return 4;
	}
	if (!pack(&p, me, &mine))
		what = "cannot pack";
	else if (!swap(&p, &mine, &theirs))
		what = "the peer is gone";
	else if (!add(&p, &theirs))
		what = "cannot add the peer's values";
	else if (!meet(&p)) /* its memory lives until both have added */
		what = "the peer is gone";
	else if (!sums_right(&p, me))
		what = "wrong sums";
	if (what)
		printf("# process %d: %s: %s\n", me, what, p.gpu->error_text());
	fflush(stdout);
	return what ? 1 : 0;
}

static void ipc__peers_add_each_other_s_values(void)
{
	int fd[2], status = 0, rc;
	pid_t child;

	if (!expect(!socketpair(AF_UNIX, SOCK_STREAM, 0, fd)))
		return;
	/* The runtime must start after the fork. */
	child = fork();
	if (!expect(child >= 0))
		return;
	if (!child) {
		alarm(SECONDS);
		close(fd[0]);
		_exit(one(fd[1], 1));
	}
	close(fd[1]);
	rc = one(fd[0], 0);
	close(fd[0]);
	waitpid(child, &status, 0);
	if (rc == 4)
		tap_skip_all("no GPU");
	expect(!rc && WIFEXITED(status) && !WEXITSTATUS(status));
}

int main(void)
{
	make_gradients();
	signal(SIGPIPE, SIG_IGN);
	alarm(SECONDS);
	run(ipc__peers_add_each_other_s_values);
	return tap_done();
}
