/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of collective sockets: limits, and waiting for memory. */
#include "sock.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/tap.h"

static void memory__is_limited_per_socket(void)
{
	size_t len = 1 << 16;
	struct trib_cm_send all = {.collective = TRIB_COLL_ALLGATHER};
	char *p = calloc(1, len);
	unsigned int r, k;

	expect_eq(set_u32(w.fd[0], TRIB_SO_MEM, 2 * len), 0);
	expect_eq(info_of(w.fd[0]).mem_max, 2 * len);
	/* More than the limit; the result counts, too. */
	expect_eq(send(w.fd[0], p, 2 * len + 4, 0), -1);
	expect_eq(errno, EMSGSIZE);
	expect_eq(send_cm(w.fd[0], p, len, &all, 0), -EMSGSIZE);
	expect_eq(send(w.fd[0], p, len, 0), len);
	expect_eq(send(w.fd[0], p, len, 0), len);
	expect_eq(info_of(w.fd[0]).mem, 2 * len);
	expect_eq(await(w.fd[0], POLLOUT, 0), POLLOUT);
	expect_eq(send(w.fd[0], p, 4, MSG_DONTWAIT), -1);
	expect_eq(errno, EAGAIN);
	expect_eq(await(w.fd[0], POLLOUT, 50), 0);
	for (k = 0; k < 2; k++)
		for (r = 1; r < w.n; r++)
			expect_eq(send(w.fd[r], p, len, 0), len);
	/* All memory is in use until a result is received. */
	expect_eq(await(w.fd[0], POLLIN, 5000), POLLIN);
	expect_eq(await(w.fd[0], POLLOUT, 50), 0);
	for (k = 0; k < 2; k++)
		for (r = 0; r < w.n; r++)
			expect_eq(recv(w.fd[r], p, len, 0), len);
	expect_eq(await(w.fd[0], POLLOUT, 0), POLLOUT);
	expect_eq(info_of(w.fd[0]).mem, 0);
	expect_eq(set_u32(w.fd[0], TRIB_SO_MEM, 0), 0);
	expect_eq(set_u32(w.fd[0], TRIB_SO_MEM, UINT32_MAX), -EINVAL);
	free(p);
}

/* A sender that waits for memory gets it when another process receives. */
static void memory__is_waited_for(void)
{
	size_t len = 1 << 16;
	char *p = calloc(1, len);
	unsigned int r, k;
	int status;
	pid_t pid;

	expect_eq(set_u32(w.fd[0], TRIB_SO_MEM, len), 0);
	expect_eq(send(w.fd[0], p, len, 0), len);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(send(w.fd[0], p, len, 0) != (ssize_t)len);
	for (k = 0; k < 2; k++)
		for (r = 1; r < w.n; r++)
			expect_eq(send(w.fd[r], p, len, 0), len);
	for (k = 0; k < 2; k++)
		for (r = 0; r < w.n; r++)
			expect_eq(recv(w.fd[r], p, len, 0), len);
	expect_eq(waitpid(pid, &status, 0), pid);
	expect_eq(status, 0);
	expect_eq(set_u32(w.fd[0], TRIB_SO_MEM, 0), 0);
	free(p);
}

/* Wait until process @pid sleeps in the call. */
static bool sleeps(pid_t pid)
{
	char path[32], state = 0;
	FILE *f;
	int i;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (i = 0; i < 5000 && state != 'S'; i++) {
		usleep(1000);
		f = fopen(path, "r");
		if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		if (f)
			fclose(f);
	}
	return state == 'S';
}

/* The limit shrinks below a waiting message: send() fails instead of waiting on. */
static void memory__may_shrink_meanwhile(void)
{
	size_t len = 1 << 16;
	char *p = calloc(1, len);
	unsigned int r;
	int status;
	pid_t pid;

	expect_eq(set_u32(w.fd[0], TRIB_SO_MEM, len), 0);
	expect_eq(send(w.fd[0], p, len, 0), len);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(send(w.fd[0], p, len, 0) == -1 ? errno : 0);
	expect(sleeps(pid));
	expect_eq(set_u32(w.fd[0], TRIB_SO_MEM, len / 2), 0);
	expect_eq(waitpid(pid, &status, 0), pid);
	expect(WIFEXITED(status));
	expect_eq(WEXITSTATUS(status), EMSGSIZE);
	/* Accepted messages stay. */
	for (r = 1; r < w.n; r++)
		expect_eq(send(w.fd[r], p, len, 0), len);
	for (r = 0; r < w.n; r++)
		expect_eq(recv(w.fd[r], p, len, 0), len);
	expect_eq(set_u32(w.fd[0], TRIB_SO_MEM, 0), 0);
	free(p);
}

static void messages__are_limited(void)
{
	struct trib_cm_send cm = {.collective = TRIB_COLL_BARRIER};
	struct trib_cm_recv got;
	unsigned int r, k, n = 0;
	int rc;

	while (!(rc = send_cm(w.fd[0], NULL, 0, &cm, MSG_DONTWAIT)) && n < 5000)
		n++;
	expect_eq(rc, -EAGAIN);
	expect_eq(n, 1024);
	for (k = 0; k < n; k++)
		for (r = 1; r < w.n; r++) {
			expect_eq(send_cm(w.fd[r], NULL, 0, &cm, 0), 0);
			if (tap_bad)
				return;
		}
	for (r = 0; r < w.n; r++)
		for (k = 0; k < n; k++)
			expect_eq(recv_cm(w.fd[r], NULL, 0, &got, 0), 0);
}

int main(void)
{
	world_read();
	tap_ok(!join_all(0), "join__all_ranks_run");
	run(memory__is_limited_per_socket);
	run(memory__is_waited_for);
	run(memory__may_shrink_meanwhile);
	run(messages__are_limited);
	leave_all(0);
	return tap_done();
}
