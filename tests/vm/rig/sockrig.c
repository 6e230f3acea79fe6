// SPDX-License-Identifier: BSD-2-Clause
/* Rig for tests with collective sockets: see sockrig.h. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sockrig.h"
#include "stress.h"

static void loopback(__be32 *addr)
{
	addr[2] = htobe32(0xffff);
	addr[3] = htobe32(INADDR_LOOPBACK);
}

struct trib_key rig_key(uint64_t seed)
{
	struct trib_key key = {};

	memcpy(key.b, &seed, sizeof(seed));
	return key;
}

size_t rig_place(struct trib_attach_rep *rep, const struct rig_place *p)
{
	struct trib_attach_tree *t = rep->tree;
	struct trib_key key;

	memset(rep, 0, sizeof(*rep));
	rep->magic = TRIB_ATTACH_MAGIC;
	rep->version = TRIB_ATTACH_VERSION;
	rep->rank = p->rank;
	rep->world = p->world;
	rep->job = p->job;
	rep->ntree = 1;
	key = rig_key(p->seed);
	trib_key_rank(&rep->up, &key, p->rank);
	trib_key_members(&rep->down, &key);
	rep->timeout_ms = 10000;
	loopback(t->addr);
	loopback(t->local_addr);
	t->port = p->relay_port;
	t->tree = p->tree;
	t->child = p->rank;
	t->recv_port = p->recv_port + p->rank;
	return offsetof(struct trib_attach_rep, tree[1]);
}

struct sockaddr_trib rig_address(const struct rig_place *p)
{
	struct sockaddr_trib a = {
		.family = AF_INET, .job = htobe16(p->job), .rank = htobe16(p->rank)};
	struct trib_key key = rig_key(p->seed);

	trib_key_rank(&key, &key, p->rank);
	memcpy(a.secret, key.b, sizeof(a.secret));
	return a;
}

int rig_socket(const struct rig_place *p)
{
	struct sockaddr_trib addr = rig_address(p);
	struct trib_attach_rep rep;
	size_t len = rig_place(&rep, p);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_TRIB), err;

	if (fd >= 0 && !setsockopt(fd, SOL_TRIB, TRIB_SO_PLACE, &rep, len) &&
	    !setsockopt(fd, SOL_TRIB, TRIB_SO_JOIN_TIMEOUT, &p->join_ms, sizeof(p->join_ms)) &&
	    !bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	err = errno;
	if (fd >= 0)
		close(fd);
	errno = err;
	return -1;
}

static bool wait_for(bool (*good)(long), long arg, unsigned int ms)
{
	uint64_t end = stress_now_ms() + ms;

	while (!good(arg)) {
		if (stress_now_ms() >= end)
			return false;
		usleep(20000);
	}
	return true;
}

/* The first line is the heading. */
static bool proc_is_empty(long unused)
{
	FILE *f = fopen("/proc/net/trib", "r");
	char line[512];
	int n = 0;

	(void)unused;
	while (f && fgets(line, sizeof(line), f))
		n++;
	if (f)
		fclose(f);
	return n == 1;
}

long rig_users(void)
{
	FILE *f = fopen("/proc/modules", "r");
	char name[64];
	long size, users;
	int n;

	do
		n = f ? fscanf(f, "%63s %ld %ld%*[^\n]", name, &size, &users) : 0;
	while (n == 3 && strcmp(name, "trib"));
	if (f)
		fclose(f);
	return n == 3 ? users : -1;
}

static bool users_are(long users)
{
	return rig_users() == users;
}

bool rig_no_sockets(unsigned int ms)
{
	return wait_for(proc_is_empty, 0, ms);
}

bool rig_unused(long users, unsigned int ms)
{
	return wait_for(users_are, users, ms);
}

long rig_kernel_memory(void)
{
	static const char *const names[] = {
		"SUnreclaim:", "Percpu:", "VmallocUsed:", "KernelStack:"};
	FILE *f = fopen("/proc/meminfo", "r");
	char line[200], name[64];
	long sum = 0, kb;

	while (f && fgets(line, sizeof(line), f))
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			if (sscanf(line, "%63s %ld", name, &kb) == 2 && !strcmp(name, names[i]))
				sum += kb;
	if (f)
		fclose(f);
	return sum;
}

bool rig_hoards(void)
{
	return !access("/sys/kernel/debug/kmemleak", F_OK);
}
