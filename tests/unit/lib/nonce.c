// SPDX-License-Identifier: BSD-2-Clause
/* Nonces of a process's attempts to join. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/tap.h"
#include "lib/place/place.h"

#define THREADS 4
#define DRAWS 20000

static void nonce__grows_within_one_instance(void)
{
	uint64_t a = trib_nonce_next(), b = trib_nonce_next();

	expect(a >> 32 != 0);
	expect_eq(a >> 32, b >> 32);
	expect_eq((uint32_t)b, (uint32_t)a + 1);
	expect(trib_nonce_is_older(a, b));
	expect(!trib_nonce_is_older(b, a));
	expect(!trib_nonce_is_older(a, a));
	expect(!trib_nonce_is_older(a, b + (1ULL << 32)));
	expect(!trib_nonce_is_older(a + (1ULL << 32), b));
}

static void *draw(void *arg)
{
	uint64_t *out = arg;
	unsigned int i;

	for (i = 0; i < DRAWS; i++)
		out[i] = trib_nonce_next();
	return NULL;
}

static void nonce__threads_never_draw_the_same(void)
{
	uint64_t *drawn = calloc(THREADS * DRAWS, sizeof(*drawn));
	uint8_t *had = calloc(THREADS * DRAWS, 1);
	unsigned int i, wrong = 0, first = (uint32_t)trib_nonce_next() + 1;
	pthread_t thread[THREADS];

	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, draw, drawn + i * DRAWS);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < THREADS * DRAWS; i++) {
		uint32_t at = (uint32_t)drawn[i] - first;

		if (at >= THREADS * DRAWS || had[at]++)
			wrong++;
		if (i % DRAWS && !trib_nonce_is_older(drawn[i - 1], drawn[i]))
			wrong++;
	}
	expect_eq(wrong, 0);
	free(drawn);
	free(had);
}

static void nonce__forked_child_is_another_instance(void)
{
	uint64_t mine = trib_nonce_next(), theirs = 0;
	int fd[2], status = -1;
	pid_t pid;

	if (!expect(!pipe(fd)))
		return;
	pid = fork();
	if (!pid) {
		theirs = trib_nonce_next();
		_exit(write(fd[1], &theirs, sizeof(theirs)) != sizeof(theirs));
	}
	expect_eq(waitpid(pid, &status, 0), pid);
	expect_eq(status, 0);
	expect_eq(read(fd[0], &theirs, sizeof(theirs)), sizeof(theirs));
	expect(theirs >> 32 && theirs >> 32 != mine >> 32);
	expect_eq((uint32_t)theirs, 1);
	expect_eq(trib_nonce_next(), mine + 1);
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	run(nonce__grows_within_one_instance);
	run(nonce__threads_never_draw_the_same);
	run(nonce__forked_child_is_another_instance);
	return tap_done();
}
