// SPDX-License-Identifier: BSD-2-Clause
/* A relay in a thread; see relay_thread.h. */
#include "relay_thread.h"
#include "secrets.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

#define JOB 7
#define TREE 1
#define TRAIN_MAX 40000
#define TOKEN 0x746f6b656eULL

struct loop_train {
	uint8_t buf[TRAIN_MAX];
	size_t len, seg;
};

bool loop_netns(void)
{
	struct ifreq ifr = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd, rc;

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return false;
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0)
		return false;
	rc = ioctl(fd, SIOCSIFFLAGS, &ifr);
	close(fd);
	return !rc;
}

static bool unlucky(struct loop_relay *l)
{
	l->rng = l->rng * 6364136223846793005ULL + 1442695040888963407ULL;
	return (l->rng >> 33) % 1000 < l->loss;
}

static void send_to(struct loop_relay *l, unsigned int child, const void *buf, size_t len,
		    size_t seg)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)(TRIB_UDP_PORT_WORKER + child)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	union {
		char room[CMSG_SPACE(sizeof(uint16_t))];
		struct cmsghdr c;
	} control = {.c = {.cmsg_len = CMSG_LEN(sizeof(uint16_t)),
			   .cmsg_level = IPPROTO_UDP,
			   .cmsg_type = UDP_SEGMENT}};
	struct iovec iov = {(void *)buf, len};
	struct msghdr m = {
		.msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = &iov, .msg_iovlen = 1};
	uint16_t size = (uint16_t)seg;

	if (l->deaf >> child & 1)
		return;
	if (seg) {
		memcpy(CMSG_DATA(&control.c), &size, sizeof(size));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
	}
	if (sendmsg(l->fd, &m, 0) < 0 && errno != ECONNREFUSED)
		perror("# relay: sendmsg");
}

static void flush(struct loop_relay *l, unsigned int child)
{
	struct loop_train *t = &l->train[child];

	if (t->len)
		send_to(l, child, t->buf, t->len, t->len > t->seg ? t->seg : 0);
	t->len = 0;
}

static void out(struct relay *r, int to, const void *pkt, size_t len)
{
	struct loop_relay *l = r->ctx;
	struct loop_train *t = &l->train[to];

	if (unlucky(l))
		return;
	if (!l->trains) {
		send_to(l, (unsigned int)to, pkt, len, 0);
		return;
	}
	if (t->len && (len != t->seg || t->len + len > TRAIN_MAX))
		flush(l, (unsigned int)to);
	if (!t->len)
		t->seg = len;
	memcpy(t->buf + t->len, pkt, len);
	t->len += len;
}

static uint64_t everybody(const struct loop_relay *l)
{
	return (1ULL << l->world) - 1;
}

static void say(struct loop_relay *l, unsigned int child, const struct trib_hdr *like, size_t len,
		bool run, uint64_t nonce, uint32_t epoch)
{
	uint8_t buf[RELAY_PACKET_MAX] = {0};
	struct trib_hdr *h = (void *)buf;
	struct trib_start st = {
		.nonce = htobe64(nonce),
		.seen = htobe64(l->joined),
		.epoch = htobe32(epoch),
		.timeout_ms = htobe32(l->timeout_ms),
		.state = htobe16(run ? TRIB_START_RUN : TRIB_START_WAIT),
		.window = htobe16((uint16_t)l->window),
		.nval = htobe16((uint16_t)l->nval),
		.world = htobe16((uint16_t)l->world),
		.nchild = htobe16((uint16_t)l->world),
		.token = htobe64(TOKEN),
	};
	unsigned int i;

	for (i = 0; i < l->world; i++)
		st.child_rank[i] = htobe16((uint16_t)i);
	*h = *like;
	h->type = TRIB_T_START;
	h->flags = 0;
	memcpy(h + 1, &st, sizeof(st));
	secrets_rank(h, h + 1, len - sizeof(*h), (uint16_t)child);
	send_to(l, child, buf, len, 0);
}

static void say_start(struct loop_relay *l, unsigned int child, const struct trib_hdr *like,
		      size_t len, bool run)
{
	if (l->stale)
		say(l, child, like, len, true, l->nonce[child] - 1, 1000);
	say(l, child, like, len, run, l->nonce[child], run ? l->r.epoch : 0);
}

static void rx_join(struct loop_relay *l, unsigned int child, const struct trib_hdr *h, size_t len)
{
	struct trib_join j;
	uint64_t nonce;
	unsigned int i;

	memcpy(&j, h + 1, sizeof(j));
	nonce = be64toh(j.nonce);
	if (be64toh(j.token) != TOKEN) {
		say(l, child, h, len, false, nonce, 0);
		return;
	}
	/*
	 * The rank restarted before its former process's end became known: the
	 * running epoch is over.
	 */
	if (l->joined >> child & 1 && l->nonce[child] != nonce)
		l->joined = 0;
	l->nonce[child] = nonce;
	if (be16toh(h->nval) < l->nval) {
		say_start(l, child, h, len, false);
		return;
	}
	if (l->joined == everybody(l)) {
		say_start(l, child, h, len, true);
		return;
	}
	l->joined |= 1ULL << child;
	if (l->joined != everybody(l)) {
		say_start(l, child, h, len, false);
		return;
	}
	l->left = 0;
	l->r.epoch++;
	relay_wipe(&l->r);
	for (i = 0; i < l->world; i++)
		say_start(l, i, h, len, true);
}

static void rx(struct loop_relay *l, unsigned int child, const struct trib_hdr *h, size_t len)
{
	if (l->mute || child >= l->world || unlucky(l))
		return;
	switch (h->type) {
	case TRIB_T_JOIN:
		rx_join(l, child, h, len);
		break;
	case TRIB_T_LEAVE:
		if (be32toh(h->epoch) != l->r.epoch)
			break;
		l->left |= 1ULL << child;
		if (l->left == everybody(l))
			l->joined = 0;
		break;
	case TRIB_T_RESULT:
		l->results_up++;
		relay_rx(&l->r, (int)child, h, len);
		break;
	default:
		l->grads += h->type == TRIB_T_GRAD;
		l->alive += h->type == TRIB_T_ALIVE;
		relay_rx(&l->r, (int)child, h, len);
		break;
	}
}

static void *relay_main(void *arg)
{
	struct loop_relay *l = arg;
	uint8_t buf[RELAY_PACKET_MAX + 1];
	struct sockaddr_in from;
	socklen_t flen;
	unsigned int i;
	ssize_t n;

	for (;;) {
		struct pollfd p = {.fd = l->fd, .events = POLLIN};

		poll(&p, 1, 20);
		pthread_mutex_lock(&l->lock);
		if (l->stop)
			break;
		for (i = 0; i < 64; i++) {
			flen = sizeof(from);
			n = recvfrom(l->fd, buf, sizeof(buf), MSG_DONTWAIT,
				     (struct sockaddr *)&from, &flen);
			if (n < (ssize_t)sizeof(struct trib_hdr))
				break;
			rx(l, ntohs(from.sin_port) - TRIB_UDP_PORT_WORKER, (void *)buf, (size_t)n);
		}
		for (i = 0; i < l->world; i++)
			flush(l, i);
		pthread_mutex_unlock(&l->lock);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

void loop_start(struct loop_relay *l)
{
	struct sockaddr_in me = {
		.sin_family = AF_INET,
		.sin_port = htons(TRIB_UDP_PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int size = 8 << 20;

	l->r.root = true;
	memcpy(l->r.addr, (uint8_t[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}, 16);
	l->r.out = out;
	l->r.ctx = l;
	l->rng = 1;
	l->train = calloc(l->world, sizeof(*l->train));
	l->fd = socket(AF_INET, SOCK_DGRAM, 0);
	setsockopt(l->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	setsockopt(l->fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	pthread_mutex_init(&l->lock, NULL);
	if (!l->train || relay_init(&l->r, l->world, l->window) ||
	    bind(l->fd, (struct sockaddr *)&me, sizeof(me)) ||
	    pthread_create(&l->thread, NULL, relay_main, l))
		abort();
}

void loop_stop(struct loop_relay *l)
{
	pthread_mutex_lock(&l->lock);
	l->stop = true;
	pthread_mutex_unlock(&l->lock);
	pthread_join(l->thread, NULL);
	pthread_mutex_destroy(&l->lock);
	close(l->fd);
	free(l->train);
	relay_free(&l->r);
}

void loop_need(struct loop_relay *l, unsigned int to, uint32_t chunk)
{
	struct {
		struct trib_hdr h;
		uint64_t seen;
	} p = {.h = {.version = TRIB_WIRE_VERSION,
		     .type = TRIB_T_NEED,
		     .bmwords = 1,
		     .job = htobe16(JOB),
		     .tree = htobe16(TREE),
		     .chunk = htobe32(chunk)}};

	pthread_mutex_lock(&l->lock);
	p.h.epoch = htobe32(l->r.epoch);
	secrets_down(&p.h, &p.seen, sizeof(p.seen), l->r.addr);
	send_to(l, to, &p, sizeof(p), 0);
	pthread_mutex_unlock(&l->lock);
}

static const char *hex(const struct trib_key *key, char text[TRIB_KEY_HEX + 1])
{
	unsigned int i;

	for (i = 0; i < sizeof(key->b); i++)
		snprintf(text + 2 * i, 3, "%02x", key->b[i]);
	return text;
}

const char *loop_ticket(const struct loop_relay *l, unsigned int rank, char *buf, size_t len)
{
	struct trib_attach_rep rep = {.rank = (uint16_t)rank};
	char up[TRIB_KEY_HEX + 1], down[TRIB_KEY_HEX + 1];

	secrets_place(&rep);
	snprintf(buf, len, "trib://127.0.0.1/train?job=%u&keys=%s:%s&rank=%u&world=%u&tree=%u:%u",
		 JOB, hex(&rep.up, up), hex(&rep.down, down), rank, l->world, TREE, rank);
	return buf;
}
