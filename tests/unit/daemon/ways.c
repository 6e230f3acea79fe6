// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ways round dead links: servers of a BCube behind a network of messages. Routes are
 * followed hop by hop; links and hosts die and come back; messages are repeated, forged,
 * sent back and cut short.
 */
#include <string.h>

#include "daemon/ways/node.h"
#include "daemon/ways/paths.h"
#include "tests/lib/tap.h"

#define N 3
#define K 2
#define SERVERS 9
#define PER_NODE ((N - 1) * K)
#define QUEUE 65536

struct server {
	struct ways_node node;
	struct ways_route *route;
	int nroutes;
	bool off;
};

struct message {
	unsigned int to;
	unsigned int link; /* of the receiver */
	size_t len;
	uint8_t data[WAYS_MESSAGE_MAX];
};

static struct server server[SERVERS];
static bool cut[SERVERS][SERVERS]; /* from, to */
static struct message *queue;
static unsigned int queued, sent;
static struct message last_news, last_probe;
static uint64_t seed;

static uint64_t draw(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return seed ^ seed >> 29;
}

/* --- the cube: server v has the address 10.LEVEL.SWITCH.(digit + 1) */

static unsigned int digit(unsigned int v, unsigned int level)
{
	return level ? v / N : v % N;
}

static struct in6_addr addr_of(unsigned int v, unsigned int level)
{
	struct in6_addr a = {};

	a.s6_addr[10] = a.s6_addr[11] = 0xff;
	a.s6_addr[12] = 10;
	a.s6_addr[13] = (uint8_t)level;
	a.s6_addr[14] = (uint8_t)digit(v, !level);
	a.s6_addr[15] = (uint8_t)(digit(v, level) + 1);
	return a;
}

/* The server at the other end of a link. */
static unsigned int neighbour(unsigned int v, unsigned int link)
{
	unsigned int level = link / (N - 1), d = link % (N - 1);

	d += d >= digit(v, level);
	return level ? v % N + N * d : v / N * N + d;
}

static unsigned int link_to(unsigned int v, unsigned int u)
{
	unsigned int i;

	for (i = 0; i < PER_NODE && neighbour(v, i) != u; i++)
		;
	return i;
}

static void links_make(unsigned int v, struct ways_want want[PER_NODE])
{
	unsigned int i;

	for (i = 0; i < PER_NODE; i++) {
		unsigned int u = neighbour(v, i), a = u < v ? u : v, b = u < v ? v : u;

		want[i].local = addr_of(v, i / (N - 1));
		want[i].peer = addr_of(u, i / (N - 1));
		memset(&want[i].key, (int)(1 + a * SERVERS + b), sizeof(want[i].key));
	}
}

/* --- messages */

static void send_out(struct ways_node *node, unsigned int link, const void *buf, size_t len)
{
	unsigned int v = (unsigned int)((struct server *)node->arg - server);
	unsigned int u = neighbour(v, link);
	struct message m = {.to = u, .link = link_to(u, v), .len = len};

	memcpy(m.data, buf, len);
	*(((const struct trib_ways_hdr *)buf)->type == TRIB_WAYS_NEWS ? &last_news : &last_probe) =
		m;
	sent++;
	if (!cut[v][u] && queued < QUEUE)
		queue[queued++] = m;
}

static uint64_t random_bits(struct ways_node *node)
{
	(void)node;
	return draw();
}

static bool arrive(const struct message *m)
{
	struct server *s = &server[m->to];

	return !s->off && ways_node_receive(&s->node, m->link, m->data, m->len);
}

static void deliver(void)
{
	unsigned int i;

	for (i = 0; i < queued; i++)
		if (!server[queue[i].to].off)
			expect(arrive(&queue[i]));
	queued = 0;
}

static void start(unsigned int v, uint64_t id, uint64_t clock)
{
	struct ways_want want[PER_NODE];
	struct server *s = &server[v];

	ways_node_free(&s->node);
	memset(&s->node, 0, sizeof(s->node));
	s->off = false;
	s->node.arg = s;
	s->node.send = send_out;
	s->node.random = random_bits;
	expect_eq(ways_node_start(&s->node, id, clock), 0);
	links_make(v, want);
	ways_node_links(&s->node, want, PER_NODE, TRIB_WAYS_PASSES_V4);
}

static void turns(unsigned int n)
{
	unsigned int v;

	while (n--) {
		for (v = 0; v < SERVERS; v++)
			if (!server[v].off)
				ways_node_turn(&server[v].node);
		deliver();
	}
}

static void cube(void)
{
	unsigned int v;

	memset(cut, 0, sizeof(cut));
	queued = 0;
	for (v = 0; v < SERVERS; v++)
		start(v, 100 + v, 1000000);
	turns(4);
}

static void cut_link(unsigned int a, unsigned int b, bool dead)
{
	cut[a][b] = cut[b][a] = dead;
}

/* --- routes */

static void routes_find(void)
{
	unsigned int v;

	for (v = 0; v < SERVERS; v++) {
		free(server[v].route);
		server[v].nroutes = ways_paths(&server[v].node.all, &server[v].route);
		expect(server[v].nroutes >= 0);
	}
}

/* The next server from @v to @a, -1: none. */
static int next_hop(unsigned int v, const struct in6_addr *a)
{
	const struct server *s = &server[v];
	unsigned int i;
	int r;

	for (r = 0; r < s->nroutes; r++)
		if (IN6_ARE_ADDR_EQUAL(&s->route[r].to, a))
			return (int)neighbour(v, s->route[r].link);
	for (i = 0; i < PER_NODE; i++)
		if (IN6_ARE_ADDR_EQUAL(&s->node.link[i].peer, a))
			return (int)neighbour(v, i);
	return -1;
}

/* Hops from @v to the address of @u at @level, 0: does not arrive. */
static unsigned int hops(unsigned int v, unsigned int u, unsigned int level)
{
	struct in6_addr a = addr_of(u, level);
	unsigned int n = 0;
	int next;

	while (v != u && n < SERVERS) {
		next = next_hop(v, &a);
		if (next < 0 || cut[v][next])
			return 0;
		v = (unsigned int)next;
		n++;
	}
	return v == u ? n : 0;
}

/* Every server reaches every other one; no way has more than @most hops. */
static void all_reached(unsigned int most)
{
	unsigned int v, u, level, n;

	routes_find();
	for (v = 0; v < SERVERS; v++)
		for (u = 0; u < SERVERS; u++)
			for (level = 0; v != u && level < K; level++) {
				if (server[v].off || server[u].off)
					continue;
				n = hops(v, u, level);
				if (!n || n > most)
					printf("# from %u to %u at level %u: %u hops\n", v, u,
					       level, n);
				expect(n && n <= most);
			}
}

/* --- tests */

static void shortest_ways(void)
{
	unsigned int r, same = 0;

	cube();
	all_reached(2);
	/* Packets for the address at a level leave by that level where they can. */
	for (r = 0; r < (unsigned int)server[0].nroutes; r++)
		same += server[0].route[r].to.s6_addr[13] == server[0].route[r].link / (N - 1);
	expect_eq(same, 8);
	expect_eq(server[0].nroutes, 12);
}

static void round_a_dead_link(void)
{
	cube();
	cut_link(0, 1, true);
	turns(WAYS_PROBES + 1);
	expect(server[0].node.link[link_to(0, 1)].dead);
	turns(3);
	all_reached(3);
	cut_link(0, 1, false);
	turns(WAYS_SIGNS + 4);
	expect(!server[0].node.link[link_to(0, 1)].dead);
	all_reached(2);
}

/* News of a death leaves in the turn that finds it. */
static void told_at_once(void)
{
	unsigned int i, news = 0;

	cube();
	turns(4);
	cut_link(0, 1, true);
	turns(WAYS_PROBES);
	expect(!server[0].node.link[link_to(0, 1)].dead);
	ways_node_turn(&server[0].node);
	expect(server[0].node.link[link_to(0, 1)].dead);
	for (i = 0; i < queued; i++)
		news += ((struct trib_ways_hdr *)queue[i].data)->type == TRIB_WAYS_NEWS;
	expect_eq(news, PER_NODE - 1);
	deliver();
}

/* A dead link that carries one packet in three stays dead; then it is good for a second. */
static void trust(void)
{
	struct ways_link *l;
	unsigned int n;

	cube();
	l = &server[0].node.link[link_to(0, 1)];
	cut_link(0, 1, true);
	turns(WAYS_PROBES + 1);
	for (n = 0; n < 300; n++) {
		cut_link(0, 1, n % 4);
		turns(1);
		expect(l->dead);
	}
	cut_link(0, 1, false);
	turns(WAYS_SIGNS / 2);
	expect(l->dead);
	turns(WAYS_SIGNS);
	expect(!l->dead);
}

/* A link is dead if only one end says so. */
static void one_end_says_so(void)
{
	struct ways_report r;
	unsigned int n;

	cube();
	for (n = 1; server[0].node.all.at[n].node != 101; n++)
		;
	r = server[0].node.all.at[n];
	r.number++;
	r.link[link_to(1, 0)].dead = true;
	expect(ways_reports_hear(&server[0].node.all, &r));
	routes_find();
	expect(next_hop(0, &server[1].node.link[link_to(1, 0)].local) == 2);
}

/* A link that works in one direction only is dead at both ends. */
static void half_dead(void)
{
	cube();
	cut[0][1] = true;
	turns(WAYS_PROBES + 6);
	expect(server[0].node.link[link_to(0, 1)].dead);
	expect(server[1].node.link[link_to(1, 0)].dead);
	all_reached(3);
}

static void random_cuts(void)
{
	unsigned int round, i, v;

	for (round = 0; round < 60; round++) {
		seed = round;
		cube();
		for (i = 0; i < 4; i++) {
			v = (unsigned int)(draw() % SERVERS);
			cut_link(v, neighbour(v, (unsigned int)(draw() % PER_NODE)), true);
		}
		/* With two living links each, nobody is alone. */
		for (v = 0; v < SERVERS; v++)
			for (i = 2; i < PER_NODE; i++)
				cut_link(v, neighbour(v, i), false);
		turns(WAYS_PROBES + 8);
		all_reached(SERVERS);
	}
}

static void nothing_to_tell(void)
{
	cube();
	turns(20);
	sent = 0;
	turns(10);
	expect_eq(sent, 10 * SERVERS * PER_NODE);
}

/* Lost news: the digests differ, so it is told again. */
static void lost_news(void)
{
	unsigned int v, n;

	cube();
	turns(5);
	cut_link(0, 1, true);
	for (n = 0; n < WAYS_PROBES + 4; n++) {
		for (v = 0; v < SERVERS; v++)
			ways_node_turn(&server[v].node);
		for (v = 0; v < queued; v++)
			if (((struct trib_ways_hdr *)queue[v].data)->type == TRIB_WAYS_NEWS)
				queue[v].len = 0;
		for (v = 0; v < queued; v++)
			if (queue[v].len)
				arrive(&queue[v]);
		queued = 0;
	}
	expect(server[8].node.all.digest != server[0].node.all.digest);
	turns(4);
	for (v = 1; v < SERVERS; v++)
		expect(server[v].node.all.digest == server[0].node.all.digest);
	all_reached(3);
}

static bool knows(unsigned int v, uint64_t node)
{
	const struct ways_reports *all = &server[v].node.all;
	unsigned int n;

	for (n = 0; n < all->n && all->at[n].node != node; n++)
		;
	return n < all->n;
}

static void host_dies_and_returns(void)
{
	unsigned int v;

	cube();
	server[4].off = true;
	turns(WAYS_PROBES + 4);
	all_reached(3);
	/* Its clock went back, and its maps are new. */
	start(4, 777, 1000);
	turns(WAYS_SIGNS + 8);
	all_reached(2);
	for (v = 0; v < SERVERS; v++) {
		expect_eq(server[v].node.all.n, SERVERS);
		expect(knows(v, 777) && !knows(v, 104));
	}
}

/* A neighbour that comes later than we is alive at once, and needs no second of echoes. */
static void late_neighbour(void)
{
	unsigned int v;

	memset(cut, 0, sizeof(cut));
	queued = 0;
	for (v = 0; v < SERVERS; v++)
		start(v, 100 + v, 1000000);
	server[4].off = true;
	turns(WAYS_PROBES + 5);
	expect(server[1].node.link[link_to(1, 4)].dead);
	start(4, 104, 2000000);
	turns(4);
	expect(!server[1].node.link[link_to(1, 4)].dead);
	all_reached(2);
}

/* A host that passes nothing on is no way. */
static void leaf_host(void)
{
	struct ways_want want[PER_NODE];

	cube();
	links_make(1, want);
	ways_node_links(&server[1].node, want, PER_NODE, 0);
	cut_link(0, 2, true);
	turns(WAYS_PROBES + 4);
	routes_find();
	/* By level 1 and back, since server 1 would be the shortest. */
	expect_eq(hops(0, 2, 0), 3);
}

static void forged_and_old(void)
{
	struct trib_ways_hdr *h;
	struct ways_node *node;
	struct message m, old;
	uint64_t digest;
	unsigned int i;

	cube();
	turns(2);
	m = last_probe;
	node = &server[m.to].node;
	digest = node->all.digest;
	/* Each bit counts. */
	for (i = 0; i < m.len * 8; i++) {
		m.data[i / 8] ^= (uint8_t)(1 << i % 8);
		expect(!arrive(&m));
		m.data[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	expect(arrive(&m));
	for (i = 0; i < m.len; i++) {
		old = m;
		old.len = i;
		expect(!arrive(&old));
	}
	/* Sent back to its sender. */
	old = m;
	old.to = neighbour(m.to, m.link);
	old.link = link_to(old.to, m.to);
	expect(!arrive(&old));
	/* News of before the change is not believed again. */
	old = last_news;
	cut_link(0, 1, true);
	turns(WAYS_PROBES + 4);
	digest = server[old.to].node.all.digest;
	expect(arrive(&old));
	expect(server[old.to].node.all.digest == digest);
	/* Probes of before keep no dead link alive. */
	cube();
	turns(2);
	node = &server[1].node;
	for (i = 0; i < WAYS_PROBES + 4; i++) {
		ways_node_turn(&server[0].node);
		ways_node_turn(node);
		if (!i)
			m = queue[0];
		for (unsigned int q = 0; q < queued && !i; q++)
			if (queue[q].to == 1 && queue[q].link == link_to(1, 0))
				m = queue[q];
		queued = 0;
		h = (struct trib_ways_hdr *)m.data;
		expect(h->type == TRIB_WAYS_PROBE && m.to == 1);
		arrive(&m);
	}
	expect(node->link[link_to(1, 0)].dead);
	/* A copy of an old probe does not change what is echoed. */
	cube();
	old = last_probe;
	turns(1);
	digest = server[old.to].node.link[old.link].heard;
	arrive(&old);
	expect(server[old.to].node.link[old.link].heard == digest);
}

/* Malformed news with a right authenticator. */
static void malformed(void)
{
	struct ways_reports all = {};
	struct ways_report r = {.node = 5, .number = 7, .nlinks = 1};
	uint8_t buf[WAYS_MESSAGE_MAX];
	unsigned int next = 0, refused = 0, i;
	struct ways_link *l;
	size_t len;

	cube();
	expect_eq(ways_reports_start(&all, 99, 1), 0);
	r.link[0].local = addr_of(0, 0);
	r.link[0].peer = addr_of(1, 0);
	ways_reports_hear(&all, &r);
	all.at[1].number = UINT64_MAX; /* cannot be outbid */
	l = &server[1].node.link[0];
	len = ways_news_write(l, &all, &next, buf);
	expect(!ways_node_receive(&server[0].node, 0, buf, len));
	/* Wrong counts. */
	all.at[1].number = 8;
	for (i = 0; i < 40; i++) {
		all.at[1].nlinks = 1;
		next = 0;
		len = ways_news_write(l, &all, &next, buf);
		refused += !ways_node_receive(&server[0].node, 0, buf, len - i);
	}
	expect_eq(refused, 39);
	ways_reports_free(&all);
}

int main(void)
{
	queue = calloc(QUEUE, sizeof(*queue));
	run(shortest_ways);
	run(round_a_dead_link);
	run(told_at_once);
	run(trust);
	run(one_end_says_so);
	run(half_dead);
	run(random_cuts);
	run(nothing_to_tell);
	run(lost_news);
	run(host_dies_and_returns);
	run(late_neighbour);
	run(leaf_host);
	run(forged_and_old);
	run(malformed);
	free(queue);
	return tap_done();
}
