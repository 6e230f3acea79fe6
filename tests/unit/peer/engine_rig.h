/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs of the whole engine of peers: ranks are threads of this process that meet on the
 * loopback device and exchange over libfabric's TCP.
 */
#ifndef ENGINE_RIG_H
#define ENGINE_RIG_H

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernels/reduce/reduce.h"
#include "peer/peer.h"
#include "peer/sched/sched.h"
#include "tests/lib/tap.h"

#define WORLD_MAX 8
#define COUNT 40000

/* A port that was free a moment ago. */
static unsigned int free_port(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ||
	    getsockname(fd, (struct sockaddr *)&sa, &len))
		abort();
	close(fd);
	return ntohs(sa.sin_port);
}

struct job {
	uint32_t world;
	char address[32];
	const char *algorithm, *shape, *nics, *intra;
	bool exact;
	size_t chunk;
	const char *gpu_way;
	size_t gpu_segment;
	/* by rank: called in its thread before it opens */
	void (*begin)(struct job *j, uint32_t rank);
	const void *arg;
	/* rank that does not do as the others: see the tests */
	int odd;
	void (*work)(struct job *j, uint32_t rank, struct trib_peer *p);
	int failed[WORLD_MAX];
	struct trib_peer_error error[WORLD_MAX];
	float sum[WORLD_MAX][64];
};

static void fail_rank(struct job *j, uint32_t rank, const char *what)
{
	printf("# rank %u: %s\n", rank, what);
	j->failed[rank] = 1;
}

struct member {
	struct job *j;
	uint32_t rank;
};

static void *run_rank(void *arg)
{
	struct member *m = arg;
	struct job *j = m->j;
	struct trib_peer_conf conf = {
		.rank = m->rank,
		.world = j->world,
		.job = 7,
		.address = j->address,
		.key = {{1, 2, 3, (uint8_t)(j->odd == -2 && m->rank), (uint8_t)getpid(),
			 (uint8_t)(getpid() >> 8), (uint8_t)(getpid() >> 16)}},
		.algorithm = j->algorithm,
		.shape = j->shape,
		.nics = j->nics ? j->nics : "127.0.0.1",
		.provider = "tcp;ofi_rxm",
		.intra = j->intra ? j->intra : "none",
		.exact = j->exact,
		.chunk = j->chunk,
		.gpu_way = j->gpu_way,
		.gpu_segment = j->gpu_segment,
		.join_timeout_ms = 5000,
		.timeout_ms = 3000,
	};
	struct trib_peer *p;
	int rc;

	if (j->begin)
		j->begin(j, m->rank);
	rc = trib_peer_ops.open(&p, &conf, &j->error[m->rank]);
	if (rc) {
		fail_rank(j, m->rank, j->error[m->rank].text);
		return NULL;
	}
	j->work(j, m->rank, p);
	trib_peer_ops.close(p);
	return NULL;
}

static inline bool run_job(struct job *j)
{
	pthread_t thread[WORLD_MAX];
	struct member m[WORLD_MAX];
	bool good = true;
	uint32_t r;

	snprintf(j->address, sizeof(j->address), "127.0.0.1:%u", free_port());
	for (r = 0; r < j->world; r++) {
		m[r] = (struct member){j, r};
		pthread_create(&thread[r], NULL, run_rank, &m[r]);
	}
	for (r = 0; r < j->world; r++) {
		pthread_join(thread[r], NULL);
		good = good && !j->failed[r];
	}
	return good;
}

/* --- calls */

static int await(struct trib_peer *p, struct trib_peer_done *d)
{
	struct pollfd pfd = {.fd = trib_peer_ops.fd(p), .events = POLLIN};

	while (!trib_peer_ops.collect(p, d))
		if (poll(&pfd, 1, 20000) <= 0)
			return -ETIMEDOUT;
	return d->status;
}

static int call(struct trib_peer *p, struct trib_peer_call c)
{
	struct trib_peer_done d;
	int rc = trib_peer_ops.issue(p, &c, &c);

	return rc ? rc : await(p, &d);
}

#endif /* ENGINE_RIG_H */
