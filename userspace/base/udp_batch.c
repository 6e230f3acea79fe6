// SPDX-License-Identifier: BSD-2-Clause
/* Owns the system calls of UDP in batches; see udp_batch.h. */
#include "udp_batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#ifndef UDP_NO_CHECK6_RX
#define UDP_NO_CHECK6_RX 102
#endif

#define TRAIN 65536
#define RUN_MAX 64 /* packets of one udp_send_run() that are sent one by one */
#define ECN_MASK 3
#define ECN_ECT0 2
#define ECN_CE 3

/* --- options */

static void set_int(int fd, int level, int name, int value)
{
	(void)setsockopt(fd, level, name, &value, sizeof(value));
}

void udp_set_rcvbuf(int fd, int bytes)
{
	set_int(fd, SOL_SOCKET, SO_RCVBUF, bytes);
	set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, bytes);
}

void udp_set_options(int fd, int family, const struct udp_options *o)
{
	if (family == AF_INET6) {
		set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, o->v6only);
		set_int(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
		/* Relays change packets and leave the checksum out. */
		set_int(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
	}
	if (family == AF_INET6 && o->ecn) {
		set_int(fd, IPPROTO_IPV6, IPV6_TCLASS, ECN_ECT0);
		set_int(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
	}
	/* An IPv6 socket may speak IPv4, too. */
	if (family == AF_INET || !o->v6only) {
		set_int(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
		if (o->ecn) {
			set_int(fd, IPPROTO_IP, IP_TOS, ECN_ECT0);
			set_int(fd, IPPROTO_IP, IP_RECVTOS, 1);
		}
	}
	if (o->gro)
		set_int(fd, IPPROTO_UDP, UDP_GRO, 1);
	if (o->lost)
		set_int(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
	if (o->rcvbuf)
		udp_set_rcvbuf(fd, o->rcvbuf);
	if (o->sndbuf) {
		set_int(fd, SOL_SOCKET, SO_SNDBUF, o->sndbuf);
		set_int(fd, SOL_SOCKET, SO_SNDBUFFORCE, o->sndbuf);
	}
}

/* --- receiving */

int udp_rx_init(struct udp_rx *rx, size_t slot, unsigned int batch, unsigned int flags)
{
	size_t stride = slot + TRAIN;
	unsigned int i;

	memset(rx, 0, sizeof(*rx));
	rx->slot = slot;
	rx->batch = batch;
	rx->flags = flags;
	rx->slots = malloc(batch * slot);
	if (!rx->slots)
		return -ENOMEM;
	if (flags & UDP_RX_TRAINS) {
		rx->train = mmap(NULL, batch * stride, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (rx->train == MAP_FAILED) {
			rx->train = NULL;
			return -ENOMEM;
		}
	}
	for (i = 0; i < batch; i++) {
		struct msghdr *m = &rx->msg[i].msg_hdr;

		rx->iov[i][0] = (struct iovec){rx->slots + i * slot, slot};
		if (rx->train)
			rx->iov[i][1] = (struct iovec){rx->train + i * stride + slot, TRAIN};
		m->msg_iov = rx->iov[i];
		m->msg_iovlen = rx->train ? 2 : 1;
		m->msg_control = &rx->control[i];
		m->msg_name = flags & UDP_RX_FROM ? &rx->from[i] : NULL;
	}
	return 0;
}

void udp_rx_free(struct udp_rx *rx)
{
	if (rx->train)
		munmap(rx->train, rx->batch * (rx->slot + TRAIN));
	free(rx->slots);
	rx->train = rx->slots = NULL;
}

static void control_read(struct udp_rx *rx, struct msghdr *m, size_t *seg, bool *ce)
{
	struct cmsghdr *c;
	uint32_t lost;
	int v = 0;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
			memcpy(&v, CMSG_DATA(c), sizeof(v));
			if (v > 0)
				*seg = (size_t)v;
		} else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
			*ce = (*CMSG_DATA(c) & ECN_MASK) == ECN_CE;
		} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
			memcpy(&v, CMSG_DATA(c), sizeof(v));
			*ce = (v & ECN_MASK) == ECN_CE;
		} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
			memcpy(&lost, CMSG_DATA(c), sizeof(lost));
			rx->lost += lost - rx->kernel_lost;
			rx->kernel_lost = lost;
		}
	}
}

static void datagram_rx(struct udp_rx *rx, unsigned int i, udp_rx_fn *fn, void *ctx)
{
	struct udp_packet p = {.from = &rx->from[i]};
	const uint8_t *data = rx->iov[i][0].iov_base;
	size_t len = rx->msg[i].msg_len, seg = len;

	control_read(rx, &rx->msg[i].msg_hdr, &seg, &p.ce);
	rx->datagrams++;
	rx->bytes += len;
	rx->trains += seg < len;
	if (len > rx->slot) {
		/* Close the gap between the two areas. */
		uint8_t *whole = (uint8_t *)rx->iov[i][1].iov_base - rx->slot;

		memcpy(whole, data, rx->slot);
		data = whole;
	}
	do {
		p.data = data;
		p.len = len < seg ? len : seg;
		rx->packets++;
		fn(ctx, &p);
		data += p.len;
		len -= p.len;
	} while (len);
}

int udp_rx_batch(struct udp_rx *rx, int fd, udp_rx_fn *fn, void *ctx)
{
	unsigned int i;
	int n;

	for (i = 0; i < rx->batch; i++) {
		rx->msg[i].msg_hdr.msg_namelen = rx->flags & UDP_RX_FROM ? sizeof(rx->from[i]) : 0;
		rx->msg[i].msg_hdr.msg_controllen = sizeof(rx->control[i]);
	}
	n = recvmmsg(fd, rx->msg, rx->batch, MSG_DONTWAIT, NULL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	for (i = 0; i < (unsigned int)n; i++)
		datagram_rx(rx, i, fn, ctx);
	return n;
}

/* --- sending */

/* Does the kernel, or the device, refuse trains with this error? */
static bool refuses_trains(int err)
{
	return err == EIO || err == EINVAL;
}

bool udp_is_passing(int err)
{
	switch (err) {
	case ECONNREFUSED:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EHOSTDOWN:
	case ENETDOWN:
	case ENONET:
	case ENOPROTOOPT:
	case EOPNOTSUPP:
	case EPROTO:
	case EACCES:
	case EMSGSIZE:
		return true;
	}
	return false;
}

static void control_put(struct msghdr *m, int level, int type, const void *value, size_t len)
{
	struct cmsghdr *c = (void *)((char *)m->msg_control + m->msg_controllen);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), value, len);
	m->msg_controllen += CMSG_SPACE(len);
}

static size_t bytes_of(const struct msghdr *m)
{
	size_t bytes = 0, i;

	for (i = 0; i < m->msg_iovlen; i++)
		bytes += m->msg_iov[i].iov_len;
	return bytes;
}

static void count_sent(struct udp_tx *tx, const struct msghdr *m)
{
	tx->packets += m->msg_iovlen;
	tx->bytes += bytes_of(m);
}

static void count_lost(struct udp_tx *tx, size_t packets, int err)
{
	/* EMSGSIZE: more likely it is this packet that is too long, for the device. */
	if (err == EAGAIN || err == ENOBUFS ||
	    (tx->connected && udp_is_passing(err) && err != EMSGSIZE)) {
		tx->full += packets;
		return;
	}
	tx->error += packets;
	tx->error_no = err;
}

/* Send the packets of a train one by one. */
static void send_apart(struct udp_tx *tx, const struct msghdr *m)
{
	struct msghdr one = *m;
	size_t i;

	tx->no_gso = true;
	/* The segment size is the last control message. */
	one.msg_controllen -= CMSG_SPACE(sizeof(uint16_t));
	one.msg_iovlen = 1;
	for (i = 0; i < m->msg_iovlen; i++) {
		one.msg_iov = &m->msg_iov[i];
		if (sendmsg(tx->fd, &one, tx->flags) < 0) {
			tx->error++;
			tx->error_no = errno;
		} else {
			count_sent(tx, &one);
		}
	}
}

void udp_tx_push(struct udp_tx *tx)
{
	unsigned int at = 0;
	int rc;

	while (at < tx->n) {
		const struct msghdr *m = &tx->msg[at].msg_hdr;

		rc = sendmmsg(tx->fd, tx->msg + at, tx->n - at, tx->flags);
		if (rc < 0 && errno == EINTR)
			continue;
		if (rc <= 0) {
			/* The first one failed: drop it and go on. */
			if (m->msg_iovlen > 1 && refuses_trains(errno))
				send_apart(tx, m);
			else
				count_lost(tx, m->msg_iovlen, errno);
			at++;
			continue;
		}
		while (rc--)
			count_sent(tx, &tx->msg[at++].msg_hdr);
	}
	tx->n = 0;
}

void udp_tx_post(struct udp_tx *tx, const union addr_sock *to, socklen_t to_len, struct iovec *iov,
		 unsigned int niov, size_t seg, unsigned int device)
{
	struct msghdr *m = &tx->msg[tx->n].msg_hdr;
	struct in_pktinfo by = {.ipi_ifindex = (int)device};
	uint16_t size = (uint16_t)seg;

	memset(m, 0, sizeof(*m));
	if (to) {
		tx->to[tx->n] = *to;
		m->msg_name = &tx->to[tx->n];
		m->msg_namelen = to_len;
	}
	m->msg_iov = iov;
	m->msg_iovlen = niov;
	m->msg_control = &tx->control[tx->n];
	if (device)
		control_put(m, IPPROTO_IP, IP_PKTINFO, &by, sizeof(by));
	if (niov > 1)
		control_put(m, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size));
	if (++tx->n == UDP_BATCH_MAX)
		udp_tx_push(tx);
}

/* Cut the next packet of @seg bytes out of @iov. Return: its elements. */
static unsigned int slice(const struct iovec **iov, unsigned int *niov, size_t *skip, size_t seg,
			  struct iovec *out)
{
	unsigned int n = 0;
	size_t take;

	while (*niov && seg) {
		take = (*iov)->iov_len - *skip;
		if (take > seg)
			take = seg;
		out[n++] = (struct iovec){(uint8_t *)(*iov)->iov_base + *skip, take};
		seg -= take;
		*skip += take;
		if (*skip == (*iov)->iov_len) {
			(*iov)++;
			(*niov)--;
			*skip = 0;
		}
	}
	return n;
}

/* One system call still takes many packets, each a packet from the start. */
static int run_apart(int fd, const union addr_sock *to, socklen_t to_len, const struct iovec *iov,
		     unsigned int niov, size_t seg)
{
	struct iovec part[RUN_MAX][2];
	struct mmsghdr m[RUN_MAX];
	unsigned int n = 0;
	size_t skip = 0;
	int rc;

	for (; niov && n < RUN_MAX; n++) {
		memset(&m[n], 0, sizeof(m[n]));
		m[n].msg_hdr.msg_name = (void *)to;
		m[n].msg_hdr.msg_namelen = to_len;
		m[n].msg_hdr.msg_iov = part[n];
		m[n].msg_hdr.msg_iovlen = slice(&iov, &niov, &skip, seg, part[n]);
	}
	rc = sendmmsg(fd, m, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	return rc > 0 ? rc : -errno;
}

int udp_send_run(int fd, const union addr_sock *to, socklen_t to_len, const struct iovec *iov,
		 unsigned int niov, size_t seg, bool *no_gso)
{
	union {
		char room[CMSG_SPACE(sizeof(uint16_t))];
		struct cmsghdr align;
	} control = {};
	struct msghdr m = {
		.msg_name = (void *)to,
		.msg_namelen = to_len,
		.msg_iov = (struct iovec *)iov,
		.msg_iovlen = niov,
	};
	uint16_t size = (uint16_t)seg;
	size_t total = bytes_of(&m);

	if (total > seg) {
		if (*no_gso)
			return run_apart(fd, to, to_len, iov, niov, seg);
		m.msg_control = &control;
		control_put(&m, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size));
	}
	if (sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return (int)((total + seg - 1) / seg);
	if (total <= seg || !refuses_trains(errno))
		return -errno;
	*no_gso = true;
	return run_apart(fd, to, to_len, iov, niov, seg);
}
