// SPDX-License-Identifier: BSD-2-Clause
/* Ranks that meet over the loopback device. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/peer/boot_rig.h"

char rig_address[64];
static int port;

static struct sockaddr_in loopback(int p)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				    .sin_port = htons((uint16_t)p)};
}

int rig_port(void)
{
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in a = loopback(0);
	socklen_t len = sizeof(a);

	if (bind(s, (struct sockaddr *)&a, sizeof(a)) ||
	    getsockname(s, (struct sockaddr *)&a, &len))
		return -1;
	close(s);
	return ntohs(a.sin_port);
}

int rig_connect(void)
{
	struct sockaddr_in a = loopback(port);
	int s, i;

	for (i = 0; i < 200; i++) {
		s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (!connect(s, (struct sockaddr *)&a, sizeof(a)))
			return s;
		close(s);
		usleep(10000);
	}
	return -1;
}

static void rank_died(void *arg, const struct trib_peer_error *why)
{
	struct rank *r = arg;

	snprintf(r->text, sizeof(r->text), "%s", why->text);
	atomic_store(&r->dead, why->rank);
	atomic_fetch_add(&r->deaths, 1);
}

void ranks_init(struct rank *ranks, uint32_t n)
{
	uint32_t i;

	port = rig_port();
	snprintf(rig_address, sizeof(rig_address), "127.0.0.1:%d", port);
	memset(ranks, 0, n * sizeof(*ranks));
	for (i = 0; i < n; i++) {
		ranks[i].conf = (struct peer_boot_conf){
			.rank = i,
			.world = n,
			.job = 7,
			.address = rig_address,
			.key = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
			.join_timeout_ms = 10000,
			.timeout_ms = 5000,
			.died = rank_died,
			.arg = &ranks[i],
		};
		ranks[i].dead = -100;
	}
}

static void *rank_thread(void *arg)
{
	struct rank *r = arg;

	usleep(r->delay * 1000);
	r->result = peer_boot_open(&r->boot, &r->conf, &r->error);
	if (r->result)
		r->boot = NULL;
	else if (r->work)
		r->result = r->work(r);
	return NULL;
}

void ranks_run(struct rank *ranks, uint32_t n, int (*work)(struct rank *r))
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		ranks[i].work = work;
		if (!ranks[i].skip)
			pthread_create(&ranks[i].thread, NULL, rank_thread, &ranks[i]);
	}
	for (i = 0; i < n; i++)
		if (!ranks[i].skip)
			pthread_join(ranks[i].thread, NULL);
}

static void *close_thread(void *arg)
{
	struct rank *r = arg;

	peer_boot_close(r->boot, r->work != NULL);
	r->boot = NULL;
	return NULL;
}

static int orderly_work(struct rank *r)
{
	(void)r;
	return 0;
}

void ranks_close(struct rank *ranks, uint32_t n, bool orderly)
{
	bool open[RIG_WORLD] = {false};
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!ranks[i].boot)
			continue;
		open[i] = true;
		ranks[i].work = orderly ? orderly_work : NULL;
		pthread_create(&ranks[i].thread, NULL, close_thread, &ranks[i]);
	}
	for (i = 0; i < n; i++)
		if (open[i])
			pthread_join(ranks[i].thread, NULL);
}

int rank_wait_death(struct rank *r, unsigned int ms)
{
	uint64_t begin = clock_ms();

	while (!atomic_load(&r->deaths)) {
		if (clock_ms() - begin > ms)
			return -1;
		usleep(1000);
	}
	return (int)(clock_ms() - begin);
}
