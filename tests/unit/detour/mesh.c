// SPDX-License-Identifier: BSD-2-Clause
/* The mesh: ranks meet among strangers, talk, leave; garbage on a connection ends it. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "lib/detour/mesh.h"
#include "tests/lib/rank_threads.h"
#include "tests/lib/tap.h"

#define N 4
#define ADDRESS "127.0.0.1:7498"

/**
 * struct node - a rank
 * @got: bytes that came from each rank, in order. @lost: the first rank that was lost, or -1.
 */
static struct node {
	struct trib_mesh m;
	pthread_mutex_t lock;
	pthread_t thread;
	unsigned int rank;
	uint8_t key;
	int rc;
	struct trib_peer_error e;
	unsigned int got[N];
	unsigned int wrong;
	int lost;
} nodes[N];

static int take(void *arg, unsigned int rank, const uint8_t *body, uint32_t len)
{
	struct node *n = arg;

	if (len == 3)
		return -EPROTO;
	n->wrong += len != 8 || body[0] != (uint8_t)n->got[rank] || body[1] != rank;
	n->got[rank]++;
	return 0;
}

static uint64_t turn(void *arg)
{
	(void)arg;
	return 0;
}

static void lost(void *arg, const struct trib_peer_error *why)
{
	struct node *n = arg;

	if (n->lost < 0)
		n->lost = why->rank;
}

static void *meet(void *arg)
{
	struct node *n = arg;
	struct trib_mesh_conf c = {
		.rank = n->rank,
		.world = N,
		.job = 5,
		.address = ADDRESS,
		.key = {{n->key}},
		.join_timeout_ms = 3000,
		.timeout_ms = 2000,
		.lock = &n->lock,
		.take = take,
		.turn = turn,
		.lost = lost,
		.arg = n,
	};

	n->rc = trib_mesh_meet(&n->m, &c, &n->e);
	if (!n->rc)
		n->rc = trib_mesh_start(&n->m);
	return NULL;
}

static void meet_all(unsigned int odd)
{
	unsigned int i;

	for (i = 0; i < N; i++) {
		memset(&nodes[i], 0, sizeof(nodes[i]));
		nodes[i].rank = i;
		nodes[i].key = i == odd ? 2 : 1;
		nodes[i].lost = -1;
		pthread_mutex_init(&nodes[i].lock, NULL);
		pthread_create(&nodes[i].thread, NULL, meet, &nodes[i]);
	}
	for (i = 0; i < N; i++)
		pthread_join(nodes[i].thread, NULL);
}

static void *leave(void *arg)
{
	trib_mesh_close(&((struct node *)arg)->m, true);
	return NULL;
}

static void leave_all(void)
{
	unsigned int i;

	for (i = 0; i < N; i++)
		pthread_create(&nodes[i].thread, NULL, leave, &nodes[i]);
	for (i = 0; i < N; i++)
		pthread_join(nodes[i].thread, NULL);
}

static void say(unsigned int from, unsigned int to, unsigned int no, uint32_t len)
{
	struct boot_body *b = boot_body_new(len);

	memset(b->data, 0, len);
	b->data[0] = (uint8_t)no;
	b->data[1] = (uint8_t)from;
	pthread_mutex_lock(&nodes[from].lock);
	trib_mesh_say(&nodes[from].m, to, b);
	pthread_mutex_unlock(&nodes[from].lock);
	boot_body_put(b);
}

static int lost_at(unsigned int i)
{
	int rank;

	pthread_mutex_lock(&nodes[i].lock);
	rank = nodes[i].lost;
	pthread_mutex_unlock(&nodes[i].lock);
	return rank;
}

static bool loses(unsigned int i, int rank)
{
	unsigned int k;

	for (k = 0; k < 500 && lost_at(i) < 0; k++)
		nap(5);
	return lost_at(i) == rank;
}

static void mesh__keeps_order_and_leaves_together(void)
{
	unsigned int no, i, k;
	uint64_t begun;

	meet_all(N);
	for (no = 0; no < 200; no++)
		for (i = 0; i < N; i++)
			for (k = 0; k < N; k++)
				if (k != i)
					say(i, k, no, 8);
	begun = now();
	leave_all();
	expect(now() - begun < 1500 * MS);
	for (i = 0; i < N; i++) {
		expect_eq(nodes[i].rc, 0);
		expect_eq(nodes[i].wrong, 0);
		expect_eq(nodes[i].lost, -1);
		for (k = 0; k < N; k++)
			expect_eq(nodes[i].got[k], k == i ? 0 : 200);
	}
}

static void mesh__of_another_key_does_not_meet(void)
{
	unsigned int i;

	meet_all(2);
	for (i = 0; i < N; i++) {
		expect(nodes[i].rc < 0);
		trib_mesh_close(&nodes[i].m, false);
	}
}

/* All that listens in this network namespace gets garbage. */
static void pester(const char *line, unsigned int seed)
{
	unsigned int ip, port, state, i;
	struct sockaddr_in to = {.sin_family = AF_INET};
	uint8_t junk[64];
	int fd;

	if (sscanf(line, " %*d: %x:%x %*x:%*x %x", &ip, &port, &state) != 3 || state != 10)
		return;
	to.sin_addr.s_addr = ip;
	to.sin_port = htons((uint16_t)port);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	for (i = 0; i < sizeof(junk); i++)
		junk[i] = (uint8_t)(seed * 37 + i * seed % 11);
	/* Half of them look like a proof. */
	if (seed & 1) {
		memset(junk, 0, 16);
		junk[0] = 24;
		junk[4] = BOOT_PROOF;
		junk[16] = (uint8_t)(seed / 2 % N);
	}
	connect(fd, (struct sockaddr *)&to, sizeof(to));
	nap(1);
	send(fd, junk, seed % 3 ? 40 : 7, MSG_NOSIGNAL);
	if (seed % 5)
		close(fd); /* the others stay, and say nothing more */
}

static volatile bool pestering;

static void *stranger(void *arg)
{
	unsigned int seed = 0;
	char line[256];
	FILE *f;

	(void)arg;
	while (pestering) {
		f = fopen("/proc/thread-self/net/tcp", "r");
		while (f && fgets(line, sizeof(line), f))
			pester(line, seed++);
		if (f)
			fclose(f);
	}
	return NULL;
}

static void mesh__meets_among_strangers(void)
{
	pthread_t t;
	unsigned int i;

	pestering = true;
	pthread_create(&t, NULL, stranger, NULL);
	nap(20);
	meet_all(N);
	pestering = false;
	pthread_join(t, NULL);
	for (i = 0; i < N; i++) {
		if (nodes[i].rc)
			printf("# %s\n", nodes[i].e.text);
		expect_eq(nodes[i].rc, 0);
	}
	say(0, 3, 0, 8);
	leave_all();
	expect_eq(nodes[3].got[0], 1);
}

/* Bytes that rank 1 did not mean to send. */
static void garbage(const void *bytes, size_t len)
{
	meet_all(N);
	expect_eq(nodes[1].rc, 0);
	pthread_mutex_lock(&nodes[1].lock);
	expect_eq(send(nodes[1].m.conn[0].fd, bytes, len, MSG_NOSIGNAL), (long)len);
	pthread_mutex_unlock(&nodes[1].lock);
	expect(loses(0, 1));
	expect_eq(lost_at(2), -1);
	leave_all();
}

static void mesh__garbage_is_told(void)
{
	struct boot_head h[2] = {{.len = 8, .type = BOOT_OWN, .auth = 77}};

	garbage(h, sizeof(h)); /* whose authenticator is wrong */
	h[0].len = TRIB_MESH_BODY_MAX + 1;
	garbage(h, sizeof(h));
	h[0] = (struct boot_head){.len = 0, .type = 99};
	garbage(h, sizeof(h));
	h[0].type = BOOT_BYE; /* anybody's */
	garbage(h, sizeof(h[0]));
}

static void mesh__what_the_user_refuses_ends_a_connection(void)
{
	meet_all(N);
	say(2, 0, 0, 3);
	expect(loses(0, 2));
	leave_all();
}

static void mesh__a_rank_that_ends_is_told(void)
{
	meet_all(N);
	trib_mesh_close(&nodes[3].m, false);
	expect(loses(0, 3) && loses(1, 3) && loses(2, 3));
	leave_all();
}

static void mesh__a_silent_rank_is_told(void)
{
	unsigned int i;

	meet_all(N);
	for (i = 0; i < N; i++) {
		pthread_mutex_lock(&nodes[i].lock);
		if (i != 2)
			trib_mesh_beat(&nodes[i].m, true);
	}
	/* Rank 2 keeps its lock, and so cannot say anything. */
	for (i = 0; i < N; i++)
		if (i != 2)
			pthread_mutex_unlock(&nodes[i].lock);
	nap(2500);
	expect(loses(0, 2) && loses(1, 2) && loses(3, 2));
	pthread_mutex_unlock(&nodes[2].lock);
	leave_all();
}

int main(void)
{
	if (!loop_netns())
		tap_skip_all("cannot make a network namespace");
	run(mesh__keeps_order_and_leaves_together);
	run(mesh__of_another_key_does_not_meet);
	run(mesh__meets_among_strangers);
	run(mesh__garbage_is_told);
	run(mesh__what_the_user_refuses_ends_a_connection);
	run(mesh__a_rank_that_ends_is_told);
	run(mesh__a_silent_rank_is_told);
	return tap_done();
}
