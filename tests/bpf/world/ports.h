/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The veth ports of a test's own network namespace: p0, p1, ... with peers q0, q1,
 * ... And the end of a test program whose set-up fails.
 */
#ifndef BPF_PORTS_H
#define BPF_PORTS_H

#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static inline void command(const char *text)
{
	if (system(text)) {
		printf("Bail out! failed: %s\n", text);
		exit(1);
	}
}

/*
 * Enter a namespace that ends with the process, and make @n ports in it. Skip the
 * program without the rights for that.
 */
static inline void ports_make(int n, int *ifindex, int *peer)
{
	char name[16], text[256];

	if (unshare(CLONE_NEWNET)) {
		printf("1..0 # SKIP needs root, for a network namespace\n");
		exit(4);
	}
	/* Without IPv6 the ports send nothing by themselves. */
	command("echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6; ip link set lo up");
	for (int i = 0; i < n; i++) {
		snprintf(text, sizeof(text),
			 "ip link add p%d mtu 3500 type veth peer name q%d mtu 3500 && "
			 "ip link set p%d up && ip link set q%d up",
			 i, i, i, i);
		command(text);
		snprintf(name, sizeof(name), "p%d", i);
		ifindex[i] = (int)if_nametoindex(name);
		snprintf(name, sizeof(name), "q%d", i);
		peer[i] = (int)if_nametoindex(name);
	}
}

#endif /* BPF_PORTS_H */
