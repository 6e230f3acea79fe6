// SPDX-License-Identifier: BSD-2-Clause
/*
 * A hostile network on the loopback device: a relay that mostly answers correctly,
 * so that sockets get far, and then does not; and a sender of packets of all kinds
 * to every port of a worker.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sockevil.h"
#include "sockops.h"
#include "tests/vm/rig/stress.h"

#define PACKET_MAX 4096

struct packet {
	struct trib_hdr h;
	uint8_t v[PACKET_MAX];
};

static const uint8_t types[] = {TRIB_T_GRAD,  TRIB_T_RESULT, TRIB_T_NEED, TRIB_T_ALIVE,
				TRIB_T_ABORT, TRIB_T_PROBE,  TRIB_T_JOIN, TRIB_T_START,
				TRIB_T_START, TRIB_T_LEAVE,  64,	  0};

/* The newest packet to the relay, a template for others. Races may mix two
 * packets, which is welcome. */
static struct packet heard;
static size_t heard_len;

static int udp_socket(uint16_t port)
{
	struct sockaddr_in me = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&me, sizeof(me)))
		stress_complain("no UDP socket: %s", strerror(errno));
	return fd;
}

static size_t make_start(struct packet *p, bool sense)
{
	static uint32_t epoch;
	struct trib_join j;
	struct trib_start st = {
		.epoch = htobe32(++epoch),
		.timeout_ms = htobe32(sense ? 10000 : chance_odd()),
		.state = htobe16(sense ? TRIB_START_RUN : chance_below(4)),
		.window = htobe16(sense ? 4U << chance_below(4) : chance_odd()),
		.nval = htobe16(sense ? TRIB_NVAL_SMALL : chance_odd()),
		.world = htobe16(chaos_world(be16toh(p->h.tree))),
		.nchild = htobe16(sense ? CHAOS_RANKS : chance_below(70)),
	};
	unsigned int nval = be16toh(p->h.nval);
	int i;

	memcpy(&j, p->v + 8 * p->h.bmwords, sizeof(j));
	st.nonce = sense ? j.nonce : chance();
	for (i = 0; i < TRIB_CHILDREN_MAX; i++)
		st.child_rank[i] = htobe16(i);
	p->h.type = TRIB_T_START;
	p->h.bmwords = 0;
	memset(p->v, 0, sizeof(p->v));
	memcpy(p->v, &st, sizeof(st));
	if (nval < sizeof(st) / 4) {
		nval = sizeof(st) / 4;
		p->h.nval = htobe16(nval);
	}
	return sizeof(p->h) + trib_payload_len(nval);
}

/* Turn a packet into its answer. Return: length, or 0 for none. */
static size_t answer(struct packet *p, size_t len)
{
	p->h.flags &= ~TRIB_F_UP;
	switch (p->h.type) {
	case TRIB_T_JOIN:
		if (8 * p->h.bmwords + sizeof(struct trib_join) > sizeof(p->v))
			return 0;
		return make_start(p, !chance_one_in(20));
	case TRIB_T_GRAD:
		p->h.type = TRIB_T_RESULT;
		p->h.flags &= ~TRIB_F_RESEND;
		return len;
	case TRIB_T_ALIVE:
	case TRIB_T_PROBE:
	case TRIB_T_ABORT:
		return len;
	default:
		return 0;
	}
}

static size_t damage(struct packet *p, size_t len)
{
	uint8_t *bytes = (uint8_t *)p;
	int n;

	for (n = 1 + chance_below(3); n--;) {
		switch (chance_below(6)) {
		case 0:
			p->h.type = types[chance_below(sizeof(types))];
			break;
		case 1:
			p->h.chunk = htobe32(be32toh(p->h.chunk) + chance_below(9) - 4);
			break;
		case 2:
			p->h.nval = htobe16(chance_odd());
			break;
		case 3:
			len = chance_below(PACKET_MAX);
			break;
		case 4:
			p->h.bmwords = chance_below(20);
			break;
		default:
			bytes[chance_below(len ?: 1)] = chance();
		}
	}
	return len;
}

/* Sign as a relay at the loopback address, or as the PS, for the rank in the packet. */
static void sign(struct packet *p, size_t len)
{
	static const uint8_t loopback[16] = {[10] = 0xff, 0xff, 127, [15] = 1};
	static uint32_t number;
	struct trib_key key = rig_key(CHAOS_SEED);

	if (len < sizeof(p->h) || len > sizeof(*p) || chance_one_in(16))
		return;
	if (p->h.type == TRIB_T_START || p->h.type == TRIB_T_PROBE || chance_one_in(4)) {
		trib_key_up(&key, &key, be16toh(p->h.tree), be16toh(p->h.child));
	} else {
		trib_key_down(&key, &key, be16toh(p->h.tree));
		if (!trib_auth_is_secret(p->h.type) && !chance_one_in(4))
			trib_key_node(&key, &key, loopback);
	}
	if (trib_auth_is_secret(p->h.type)) {
		p->h.auth = trib_key_secret(&key);
		return;
	}
	if (p->h.type < TRIB_T_JOIN && !chance_one_in(8))
		p->h.scale = htobe32(++number);
	p->h.auth = trib_auth(&key, &p->h, p->v, (uint32_t)(len - sizeof(p->h)));
}

void *evil_relay(void *unused)
{
	int fd = udp_socket(EVIL_PORT);
	struct sockaddr_in from;
	struct packet p;
	socklen_t flen;
	ssize_t len;
	size_t n;

	(void)unused;
	while (!stress_over()) {
		struct pollfd pfd = {.fd = fd, .events = POLLIN};

		if (poll(&pfd, 1, 50) <= 0)
			continue;
		flen = sizeof(from);
		len = recvfrom(fd, &p, sizeof(p), MSG_DONTWAIT, (struct sockaddr *)&from, &flen);
		if (len < (ssize_t)sizeof(p.h))
			continue;
		memcpy(&heard, &p, len);
		heard_len = len;
		stress_count(EVIL_HEARD);
		n = answer(&p, len);
		if (n && chance_one_in(12))
			n = damage(&p, n);
		sign(&p, n);
		if (!n || chance_one_in(30))
			continue;
		do
			sendto(fd, &p, n, 0, (struct sockaddr *)&from, flen);
		while (chance_one_in(20));
	}
	close(fd);
	return NULL;
}

/* A packet of the job with the known key, or of the other job. */
static size_t make(struct packet *p)
{
	size_t len = heard_len;
	bool known = !chance_one_in(4);

	if (len < sizeof(p->h) || chance_one_in(4)) {
		chance_bytes(p, sizeof(*p));
		p->h.version = TRIB_WIRE_VERSION;
		p->h.type = types[chance_below(sizeof(types))];
		p->h.nval = htobe16(chance_below(TRIB_NVAL_LARGE));
		p->h.bmwords = p->h.type == TRIB_T_NEED;
		p->h.tree = htobe16(chaos_tree(1 + chance_below(CHAOS_RANKS), chance_below(2)));
		len = sizeof(p->h) + 8 * p->h.bmwords + trib_payload_len(be16toh(p->h.nval));
	} else {
		memcpy(p, &heard, sizeof(*p));
		p->h.type = types[chance_below(sizeof(types))];
		if (p->h.type == TRIB_T_START)
			len = make_start(p, false);
	}
	if (chance_one_in(3))
		len = damage(p, len);
	p->h.job = htobe16(known ? CHAOS_JOB + chance_below(CHAOS_JOBS) : RIG_JOB);
	sign(p, len);
	return len;
}

void *evil_sender(void *unused)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = udp_socket(0), n;
	struct packet p;
	uint16_t port;
	size_t len;

	(void)unused;
	while (!stress_over()) {
		for (n = chance_below(16); n--;) {
			len = make(&p);
			port = chance_one_in(4) ? TRIB_UDP_PORT_WORKER : CHAOS_PORT;
			to.sin_port = htons(port + chance_below(CHAOS_JOBS * CHAOS_RANKS));
			sendto(fd, &p, len, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to));
			stress_count(EVIL_SENT);
		}
		usleep(chance_below(16000));
	}
	close(fd);
	return NULL;
}
