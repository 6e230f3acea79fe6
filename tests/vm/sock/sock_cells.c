/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets with cells of their host's tribd (TRIB_SO_CELLS): sums, descriptors that are
 * refused, and processes that close, write and die. tests/vm/cells.t makes the fabric.
 */
#include "sock.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/place/tribd.h"
#include "tests/lib/tap.h"
#include "uapi/trib_cell.h"

#define COUNT 60000
#define ROUNDS 4

static struct trib_place place[WORLD];
static uint32_t in[WORLD][COUNT], out[WORLD][COUNT];

/* --- sockets with places of tribd */

static void find_hosts(void)
{
	unsigned int i;

	w.n = WORLD;
	for (i = 0; i < WORLD; i++)
		snprintf(w.ns[i], sizeof(w.ns[i]), "/run/netns/%s-w%u", getenv("FABRIC"), i);
}

static void get_place(unsigned int rank)
{
	enter(rank);
	if (trib_tribd_attach(&place[rank], "train", rank, true))
		printf("# rank %u gets no place\n", rank);
}

static int set_place(int fd, unsigned int rank)
{
	const struct trib_attach_rep *rep = &place[rank].rep;

	return setsockopt(fd, SOL_TRIB, TRIB_SO_PLACE, rep,
			  offsetof(struct trib_attach_rep, tree[rep->ntree]));
}

static struct trib_sock_cells cells_of(unsigned int rank)
{
	return (struct trib_sock_cells){.ring = place[rank].ring_fd,
					.cells = {place[rank].cells_fd[0]}};
}

static int hand_over(int fd, const struct trib_sock_cells *c)
{
	return setsockopt(fd, SOL_TRIB, TRIB_SO_CELLS, c,
			  offsetof(struct trib_sock_cells, cells[1]))
		       ? -errno
		       : 0;
}

static int bind_place(int fd, unsigned int rank)
{
	const struct trib_attach_rep *rep = &place[rank].rep;
	struct sockaddr_trib a = {
		.family = AF_INET, .job = htobe16(rep->job), .rank = htobe16(rep->rank)};

	memcpy(a.secret, rep->up.b, sizeof(a.secret));
	return bind(fd, (struct sockaddr *)&a, sizeof(a)) ? -errno : 0;
}

static int socket_of(unsigned int rank)
{
	enter(rank);
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_TRIB);
}

/* Let @rank begin to join. Return: 0 or -errno. */
static int begin(unsigned int rank)
{
	struct trib_sock_cells c;
	int rc;

	get_place(rank);
	w.fd[rank] = socket_of(rank);
	set_u32(w.fd[rank], TRIB_SO_TIMEOUT, 4000);
	rc = set_place(w.fd[rank], rank) ? -errno : 0;
	c = cells_of(rank);
	if (!rc)
		rc = hand_over(w.fd[rank], &c);
	if (!rc)
		rc = bind_place(w.fd[rank], rank);
	if (rc)
		printf("# rank %u: %s\n", rank, error_of(w.fd[rank]).text);
	return rc;
}

/* Wait until @rank runs, and tell tribd. */
static int go(unsigned int rank)
{
	uint32_t epoch = 0;
	socklen_t len = sizeof(epoch);

	if (await(w.fd[rank], POLLOUT, 20000) != POLLOUT)
		return -ETIMEDOUT;
	if (getsockopt(w.fd[rank], SOL_TRIB, TRIB_SO_EPOCHS, &epoch, &len) || !epoch)
		return -EPROTO;
	return trib_tribd_epoch(&place[rank], place[rank].rep.tree[0].tree, epoch);
}

static int start(void)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; !rc && i < WORLD; i++)
		rc = begin(i);
	for (i = 0; !rc && i < WORLD; i++)
		rc = go(i);
	return rc;
}

static void end(void)
{
	unsigned int i;

	for (i = 0; i < WORLD; i++)
		trib_tribd_release(&place[i], true);
}

/* --- sums */

static void *sum_one(void *arg)
{
	unsigned int rank = (unsigned int)((uint32_t(*)[COUNT])arg - in);
	struct trib_cm_send cm = {.dtype = TRIB_SOCK_I32};
	ssize_t n = send_cm(w.fd[rank], in[rank], sizeof(in[0]), &cm, 0);

	if (n == sizeof(in[0]))
		n = recv(w.fd[rank], out[rank], sizeof(out[0]), 0);
	return n == sizeof(out[0]) ? NULL : arg;
}

/* One sum by all ranks, a thread each. Return: the ranks that failed. */
static unsigned int sum(unsigned int round)
{
	unsigned int i, k, failed = 0;
	pthread_t t[WORLD];
	void *bad;

	memset(out, 0xee, sizeof(out));
	for (i = 0; i < WORLD; i++)
		for (k = 0; k < COUNT; k++)
			in[i][k] = (k + round) * 2654435761u + i;
	for (i = 0; i < WORLD; i++)
		pthread_create(&t[i], NULL, sum_one, in[i]);
	for (i = 0; i < WORLD; i++) {
		pthread_join(t[i], &bad);
		failed |= !!bad << i;
	}
	return failed;
}

static bool right(void)
{
	unsigned int i, k;
	uint32_t want;

	for (k = 0; k < COUNT; k++) {
		want = in[0][k] + in[1][k] + in[2][k] + in[3][k];
		for (i = 0; i < WORLD; i++)
			if (out[i][k] != want)
				return false;
	}
	return true;
}

static uint64_t carried(unsigned int rank)
{
	struct trib_sock_info info = info_of(w.fd[rank]);

	return info.carried <= info.sent_packets ? info.carried : UINT64_MAX;
}

static void sums(void)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		expect_eq(sum(i), 0);
		expect(right());
	}
}

static void cells__sums_are_right_and_xdp_sends(void)
{
	uint64_t n = 0;
	unsigned int i;

	expect_eq(start(), 0);
	sums();
	for (i = 0; i < WORLD; i++) {
		/* START came by UDP, and no result. */
		n += carried(i);
		expect(carried(i) != UINT64_MAX);
	}
	printf("# XDP sent %llu packets\n", (unsigned long long)n);
	expect(n > 0);
	leave_all(0);
	end();
}

/* --- the process and what it handed over */

static void cells__stay_when_the_process_closes_all(void)
{
	unsigned int i;

	expect_eq(start(), 0);
	for (i = 0; i < WORLD; i++) {
		close(place[i].cells_fd[0]);
		close(place[i].ring_fd);
		place[i].cells_fd[0] = place[i].ring_fd = -1;
	}
	sums();
	leave_all(0);
	end();
}

static long mem_used(void)
{
	FILE *f = fopen("/sys/module/trib/parameters/mem_used", "r");
	long n = -1;

	if (!f || fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

static void cells__of_a_killed_process_go(void)
{
	unsigned int i;
	int ready[2], status;
	pid_t pid;
	char c;

	expect(!pipe(ready));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		/* The places of the others are for the parent. */
		if (begin(0) || write(ready[1], "", 1) != 1 || go(0))
			_exit(1);
		recv(w.fd[0], &c, 1, 0);
		_exit(0);
	}
	expect_eq(read(ready[0], &c, 1), 1);
	for (i = 1; i < WORLD; i++)
		expect_eq(begin(i), 0);
	for (i = 1; i < WORLD; i++)
		expect_eq(go(i), 0);
	expect(mem_used() > 4 * 1000 * 1000);
	kill(pid, SIGKILL);
	expect(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	for (i = 1; i < WORLD; i++) {
		expect(await(w.fd[i], POLLIN, 20000) & POLLERR);
		expect_eq(error_of(w.fd[i]).rank, 0);
	}
	close_all(1);
	for (i = 1; i < WORLD; i++)
		trib_tribd_release(&place[i], true);
	for (i = 0; i < 100 && mem_used(); i++)
		usleep(100000);
	expect_eq(mem_used(), 0);
	close(ready[0]);
	close(ready[1]);
}

static atomic_bool over;

/* Write anything anywhere in the cells of rank 0, but states mostly. */
static void *write_all(void *arg)
{
	size_t stride = offsetof(struct trib_cell, v) + 4ul * place[0].rep.nval;
	uint64_t x = 88172645463325252ull, *state;
	uint8_t *base = arg, *at;

	while (!atomic_load(&over)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		at = base + (x >> 40) % (place[0].rep.ncell + 1) * stride;
		state = (void *)at;
		if (x & 3)
			*state = (*state & ~7ull) | (x >> 8) % 5;
		else
			at[24 + (x >> 8) % (x & 4 ? 40 : stride - 24)] = (uint8_t)(x >> 32);
	}
	return NULL;
}

static void cells__that_the_process_writes_harm_no_kernel(void)
{
	size_t stride = offsetof(struct trib_cell, v) + 4ul * TRIB_NVAL_SMALL, len;
	unsigned int failed = 0, i;
	pthread_t thread;
	void *p;

	expect_eq(start(), 0);
	len = (place[0].rep.ncell + 1) * stride;
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, place[0].cells_fd[0], 0);
	expect(p != MAP_FAILED);
	over = false;
	expect(!pthread_create(&thread, NULL, write_all, p));
	/* It contributes anything; but each rank has a result or an error. */
	for (i = 0; i < ROUNDS && !failed; i++)
		failed = sum(i);
	over = true;
	pthread_join(thread, NULL);
	printf("# %u rounds, ranks that failed: %x\n", i, failed);
	for (i = 0; i < WORLD; i++)
		if (failed >> i & 1)
			printf("# rank %u: %s\n", i, error_of(w.fd[i]).text);
	munmap(p, len);
	close_all(0);
	end();
	/* The next job is right. */
	expect_eq(start(), 0);
	sums();
	leave_all(0);
	end();
}

/* --- refusals */

#define expect_refused(fd, c, want)                                                                \
	do {                                                                                       \
		expect_eq(hand_over(fd, c), want);                                                 \
		expect_eq(error_of(fd).err, -(want));                                              \
		expect(error_of(fd).text[0]);                                                      \
	} while (0)

static void cells__of_another_kind_are_refused(void)
{
	struct trib_sock_cells good, bad;
	int fd = socket_of(0), file = open("/dev/zero", O_RDWR), mem = memfd_create("bpf-map", 0);
	unsigned int i;

	get_place(0);
	good = cells_of(0);
	expect_refused(fd, &good, -EINVAL); /* no place */
	expect(!set_place(fd, 0));
	expect_eq(bind_place(fd, 0), -EINVAL);
	expect(strstr(error_of(fd).text, "TRIB_SO_CELLS"));
	int wrong[] = {-1, 9999, fd, file, mem, good.ring, good.cells[0], place[0].sock};

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		bad = good;
		bad.ring = wrong[i];
		if (wrong[i] != good.ring)
			expect_refused(fd, &bad, i < 2 ? -EBADF : -EINVAL);
		bad = good;
		bad.cells[0] = wrong[i];
		if (wrong[i] != good.cells[0])
			expect_refused(fd, &bad, i < 2 ? -EBADF : -EINVAL);
	}
	expect(setsockopt(fd, SOL_TRIB, TRIB_SO_CELLS, &good, 4) && errno == EINVAL);
	expect(setsockopt(fd, SOL_TRIB, TRIB_SO_CELLS, &good, 12) && errno == EINVAL);
	expect(setsockopt(fd, SOL_TRIB, TRIB_SO_CELLS, &good, sizeof(good) + 4) && errno == EINVAL);
	expect(setsockopt(fd, SOL_TRIB, TRIB_SO_CELLS, (void *)8, 8) && errno == EFAULT);
	expect_eq(hand_over(fd, &good), 0);
	expect_eq(hand_over(fd, &good), 0);
	/* A place that says more cells than the array has. */
	place[0].rep.ncell *= 2;
	expect(!set_place(fd, 0));
	expect_refused(fd, &good, -EINVAL);
	place[0].rep.ncell /= 2;
	expect(!set_place(fd, 0));
	expect_eq(hand_over(fd, &good), 0);
	expect_eq(bind_place(fd, 0), 0);
	expect_eq(hand_over(fd, &good), -EISCONN);
	close(fd);
	close(file);
	close(mem);
	trib_tribd_release(&place[0], true);
	expect_eq(mem_used(), 0);
}

static void set_limit(const char *text)
{
	int fd = open("/sys/module/trib/parameters/mem_user", O_WRONLY);

	expect(write(fd, text, strlen(text)) > 0);
	close(fd);
}

static void cells__beyond_the_limits_are_refused(void)
{
	struct trib_sock_cells c;
	int fd = socket_of(0);

	get_place(0);
	c = cells_of(0);
	expect(!set_place(fd, 0));
	set_limit("1000000");
	expect_refused(fd, &c, -EDQUOT);
	expect(strstr(error_of(fd).text, "mem_user"));
	set_limit("0");
	expect_eq(hand_over(fd, &c), 0);
	expect(mem_used() > 1000000);
	close(fd);
	trib_tribd_release(&place[0], true);
	expect_eq(mem_used(), 0);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	find_hosts();
	run(cells__of_another_kind_are_refused);
	run(cells__beyond_the_limits_are_refused);
	run(cells__sums_are_right_and_xdp_sends);
	run(cells__stay_when_the_process_closes_all);
	run(cells__of_a_killed_process_go);
	run(cells__that_the_process_writes_harm_no_kernel);
	return tap_done();
}
