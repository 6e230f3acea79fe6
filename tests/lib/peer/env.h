/* SPDX-License-Identifier: BSD-2-Clause */
/* The environment of handles that exchange by peers, with the library of this build. */
#ifndef TESTS_PEER_ENV_H
#define TESTS_PEER_ENV_H

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Find libtrib-peer.so.0 of the build that this test is in: build/tests/unit/ROOM/TEST. */
static inline void peer_env_library(void)
{
	char path[600];
	ssize_t n = readlink("/proc/self/exe", path, 500);
	int up;

	path[n < 0 ? 0 : n] = 0;
	for (up = 0; up < 4 && strrchr(path, '/'); up++)
		*strrchr(path, '/') = 0;
	strcat(path, "/libtrib-peer.so.0");
	setenv("TRIB_PEER_LIBRARY", path, 1);
}

/* A new place to meet, on a port that was free a moment ago. */
static inline void peer_env_meet(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char text[32];

	if (bind(fd, (struct sockaddr *)&sa, len) || getsockname(fd, (struct sockaddr *)&sa, &len))
		abort();
	close(fd);
	snprintf(text, sizeof(text), "127.0.0.1:%u", ntohs(sa.sin_port));
	setenv("TRIB_PEERS", text, 1);
}

/* Handles that are attached from now on exchange over the loopback device. */
static inline void peer_env_on(const char *algorithm)
{
	peer_env_library();
	peer_env_meet();
	setenv("TRIB_TRANSPORT", "peer", 1);
	setenv("TRIB_PEER_ALGORITHM", algorithm, 1);
	setenv("TRIB_PEER_NICS", "127.0.0.1", 1);
	setenv("TRIB_PEER_PROVIDER", "tcp;ofi_rxm", 1);
	setenv("TRIB_PEER_INTRA", "none", 1);
}

static inline void peer_env_off(void)
{
	static const char *const names[] = {
		"TRIB_TRANSPORT",     "TRIB_PEERS",	 "TRIB_PEER_ALGORITHM", "TRIB_PEER_NICS",
		"TRIB_PEER_PROVIDER", "TRIB_PEER_INTRA", "TRIB_REPRODUCIBLE"};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

#endif /* TESTS_PEER_ENV_H */
