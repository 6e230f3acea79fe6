/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of users: the module's parameter mem_user. */
#include "sock.h"

#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/tap.h"

#define PARAMETERS "/sys/module/trib/parameters/"
#define NOBODY 65534
#define MAPPED 200000 /* root of a user namespace, outside */

static unsigned long long mem_used(void)
{
	FILE *f = fopen(PARAMETERS "mem_used", "r");
	unsigned long long v = 0;

	expect(f && fscanf(f, "%llu", &v) == 1);
	if (f)
		fclose(f);
	return v;
}

static void set_mem_user(unsigned long long v)
{
	FILE *f = fopen(PARAMETERS "mem_user", "w");

	expect(f && fprintf(f, "%llu\n", v) > 0 && !fclose(f));
}

/* Bind rank 2 as root. Return: its socket; *@one: what it takes. */
static int bind_root(unsigned long long *one)
{
	unsigned long long before = mem_used();
	int fd = make_socket(2);

	expect_eq(bind_socket(fd, 2), 0);
	*one = mem_used() - before;
	expect(*one > 0);
	return fd;
}

/* Bind one rank, and fail to bind a second one. Return: 0, or the step that failed. */
static int bind_one_only(void *arg)
{
	int first, second;

	(void)arg;
	first = make_socket_here(0);
	if (bind_socket(first, 0))
		return 1;
	second = make_socket_here(1);
	if (bind_socket(second, 1) != -EDQUOT)
		return 2;
	if (!strstr(error_of(second).text, "mem_user") || error_of(second).err != EDQUOT)
		return 3;
	/* Memory that was charged is free again. */
	close(first);
	return bind_socket(second, 1) ? 4 : 0;
}

static void limit__is_each_users_own(void)
{
	unsigned long long before = mem_used(), one;
	int fd = bind_root(&one), other;

	enter(0);
	set_mem_user(one + one / 2);
	expect_eq(as_nobody(bind_one_only, NULL), 0);
	other = make_socket(3);
	expect_eq(bind_socket(other, 3), -EDQUOT);
	set_mem_user(0);
	expect_eq(bind_socket(other, 3), 0);
	close(other);
	close(fd);
	expect_eq(mem_used(), before);
}

/* Messages count, too, and a refused one leaves nothing charged. */
static void limit__is_for_messages(void)
{
	size_t len = 1 << 20;
	char *p = calloc(1, len);
	unsigned long long used;
	unsigned int r;

	expect_eq(join_all(0), 0);
	used = mem_used();
	set_mem_user(used + len / 2);
	expect_eq(send(w.fd[0], p, len, 0), -1);
	expect_eq(errno, EDQUOT);
	expect_eq(mem_used(), used);
	set_mem_user(0);
	for (r = 0; r < w.n; r++)
		expect_eq(send(w.fd[r], p, len, 0), len);
	for (r = 0; r < w.n; r++)
		expect_eq(recv(w.fd[r], p, len, 0), len);
	leave_all(0);
	free(p);
}

/* A job whose trees do not fit says so. */
static void limit__is_named_when_a_job_begins(void)
{
	unsigned long long one;
	int fd = bind_root(&one);

	close(fd);
	set_mem_user(mem_used() + 4 * one + one / 2);
	expect(join_all(0) < 0);
	expect(strstr(error_of(w.fd[0]).text, "mem_user") ||
	       strstr(error_of(w.fd[1]).text, "mem_user") ||
	       strstr(error_of(w.fd[2]).text, "mem_user") ||
	       strstr(error_of(w.fd[3]).text, "mem_user"));
	close_all(0);
	set_mem_user(0);
}

/*
 * A user without rights binds rank 0, makes a user namespace, and becomes another user
 * there, whom @map maps. Return: 0, or the step that failed.
 */
static int bind_mapped(int ready, int map)
{
	char c;
	int fd;

	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return 1;
	fd = make_socket_here(0);
	if (bind_socket(fd, 0) || unshare(CLONE_NEWUSER) || write(ready, "", 1) != 1)
		return 2;
	if (read(map, &c, 1) != 1 || setresuid(0, 0, 0))
		return 3;
	fd = make_socket_here(1);
	return bind_socket(fd, 1) == -EDQUOT ? 0 : 4;
}

static void limit__counts_a_users_user_namespaces(void)
{
	unsigned long long one;
	int fd = bind_root(&one), ready[2], go[2], status;
	char path[64], c;
	pid_t pid;
	FILE *f;

	enter(0);
	set_mem_user(one + one / 2);
	expect(!pipe(ready) && !pipe(go));
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(bind_mapped(ready[1], go[0]));
	close(ready[1]);
	expect_eq(read(ready[0], &c, 1), 1);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	f = fopen(path, "w");
	expect(f && fprintf(f, "0 %d 1\n", MAPPED) > 0 && !fclose(f));
	expect_eq(write(go[1], "", 1), 1);
	expect(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	expect_eq(WEXITSTATUS(status), 0);
	set_mem_user(0);
	close(ready[0]);
	close(go[0]);
	close(go[1]);
	close(fd);
}

static bool proc_says(const char *want)
{
	FILE *f = fopen("/proc/thread-self/net/trib", "r");
	bool found = false;
	char line[256];

	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, want) != NULL;
	if (f)
		fclose(f);
	return found;
}

static void proc__has_the_memory_of_the_user(void)
{
	unsigned long long one;
	char want[32];
	int fd = bind_root(&one);

	snprintf(want, sizeof(want), " %10llu ", one);
	enter(2);
	expect(proc_says("user-mem"));
	expect(proc_says(want));
	close(fd);
}

int main(void)
{
	world_read();
	run(limit__is_each_users_own);
	run(limit__is_for_messages);
	run(limit__is_named_when_a_job_begins);
	run(limit__counts_a_users_user_namespaces);
	run(proc__has_the_memory_of_the_user);
	return tap_done();
}
