// SPDX-License-Identifier: BSD-2-Clause
/*
 * A crowd of sockets, each in its own job without a relay: more than one part
 * of a dump holds. Their join timeout is short, because so many joining sockets
 * would use all CPU time. One socket after another, young ones more often, gets
 * packets, is closed while a worker processes them, and is opened again.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sockcrowd.h"
#include "sockevil.h"
#include "tests/vm/rig/sockrig.h"
#include "tests/vm/rig/stress.h"

#define JOB 100
#define PORT 7600
#define JOIN_MS 500

static int crowd[CROWD];

static int member(int i)
{
	struct rig_place p = {.job = JOB + i,
			      .world = 1,
			      .relay_port = PORT - 1,
			      .recv_port = PORT + i,
			      .join_ms = JOIN_MS};

	return rig_socket(&p);
}

void crowd_start(void)
{
	for (int i = 0; i < CROWD; i++) {
		crowd[i] = member(i);
		if (crowd[i] < 0)
			stress_complain("no crowd: %s", strerror(errno));
	}
}

void crowd_stop(void)
{
	for (int i = 0; i < CROWD; i++)
		close(crowd[i]);
}

static void send_some(int fd, int i)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(PORT + i),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	unsigned int n = chance_below(4);
	uint8_t packet[64];

	chance_bytes(packet, sizeof(packet));
	while (n--)
		sendto(fd, packet, chance_below(sizeof(packet)), 0, (struct sockaddr *)&to,
		       sizeof(to));
}

void *crowd_churn(void *unused)
{
	int udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), i = 0;
	uint64_t end;

	(void)unused;
	chance_seed(stress->seed + 77);
	while (!stress_over()) {
		if (chance_one_in(2))
			i = chance_below(CROWD);
		send_some(udp, i);
		close(crowd[i]);
		stress_count(CHURNED);
		/*
		 * A killed child holds the port until it has closed all else. On a slow
		 * kernel a packet socket takes minutes: it waits for RCU.
		 */
		end = stress_now_ms() + 200000;
		while ((crowd[i] = member(i)) < 0) {
			if (errno != EADDRINUSE || stress_now_ms() > end)
				stress_complain("cannot open a socket of the crowd again: %s",
						strerror(errno));
			usleep(1000);
		}
		usleep(1000);
	}
	close(udp);
	return NULL;
}
