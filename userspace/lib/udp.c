// SPDX-License-Identifier: BSD-2-Clause
/*
 * The transport that needs nothing: ordinary UDP sockets, one for each local
 * port (usually one). Runs of packets leave in one sendmsg() with
 * UDP_SEGMENT; results come by recvmmsg(), merged by the kernel (UDP_GRO)
 * where it does that.
 *
 * Receive buffers are one datagram each, back to back, so that they stay in
 * the cache. A merged train is longer: the rest of it goes to an area of its
 * own (never touched otherwise), before which there is room to move the first
 * datagram to.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <endian.h>

#include "internal.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#ifndef UDP_NO_CHECK6_RX
#define UDP_NO_CHECK6_RX 102
#endif

#define BATCH TRIB_TUNE_RECV_BATCH
/* Header and values of the largest chunk. */
#define SLOT ((unsigned int)sizeof(struct trib_hdr) + 4 * TRIB_NVAL_LARGE)
#define TRAIN 65536
#define CONTROL (CMSG_SPACE(sizeof(int)) * 2)
#define ECN_MASK 3
#define ECN_ECT0 2
#define ECN_CE 3

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct sock {
	int fd;
	bool v6;
	union address local;
	unsigned int streams;
};

struct dest {
	struct sock *sock;
	union address to;
	socklen_t len;
};

/**
 * struct trib_udp
 * @sock:  the sockets.
 * @dest:  where each stream sends, by its index.
 * @no_gso: UDP_SEGMENT was refused: one system call takes many packets still,
 *         but each is a packet from the start.
 * @slots: BATCH receive buffers of SLOT bytes.
 * @trains: BATCH areas of SLOT + TRAIN bytes.
 */
struct trib_udp {
	struct sock sock[TRIB_ATTACH_TREES];
	unsigned int nsock;
	struct dest dest[TRIB_ATTACH_TREES];
	bool no_gso;
	uint8_t *slots;
	uint8_t *trains;
	struct mmsghdr msg[BATCH];
	struct iovec iov[BATCH][2];
	union {
		char buf[CONTROL];
		struct cmsghdr align;
	} control[BATCH];
};

static bool is_set(const __be32 *addr)
{
	return addr[0] | addr[1] | addr[2] | addr[3];
}

static bool is_v4(const __be32 *addr)
{
	return !addr[0] && !addr[1] && addr[2] == htobe32(0xffff);
}

static socklen_t make_address(union address *a, bool v6, const __be32 *addr,
			      uint16_t port)
{
	memset(a, 0, sizeof(*a));
	if (v6) {
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_port = htons(port);
		memcpy(&a->in6.sin6_addr, addr, 16);
		return sizeof(a->in6);
	}
	a->in.sin_family = AF_INET;
	a->in.sin_port = htons(port);
	a->in.sin_addr.s_addr = addr[3];
	return sizeof(a->in);
}

static void set_int(int fd, int level, int name, int value)
{
	/* What a kernel lacks costs speed or congestion marks, no more. */
	(void)setsockopt(fd, level, name, &value, sizeof(value));
}

static void set_options(const struct sock *k)
{
	if (k->v6) {
		set_int(k->fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
		set_int(k->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
			IPV6_PMTUDISC_DO);
		set_int(k->fd, IPPROTO_IPV6, IPV6_TCLASS, ECN_ECT0);
		set_int(k->fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		/* Relays rewrite packets and leave the checksum out. */
		set_int(k->fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
	} else {
		set_int(k->fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
		set_int(k->fd, IPPROTO_IP, IP_TOS, ECN_ECT0);
		set_int(k->fd, IPPROTO_IP, IP_RECVTOS, 1);
	}
	set_int(k->fd, IPPROTO_UDP, UDP_GRO, 1);
	set_int(k->fd, SOL_SOCKET, SO_SNDBUF, TRIB_TUNE_SNDBUF);
	set_int(k->fd, SOL_SOCKET, SO_SNDBUFFORCE, TRIB_TUNE_SNDBUF);
}

static int join_group(struct trib *t, const struct sock *k,
		      const struct trib_attach_tree *a)
{
	struct ipv6_mreq m6 = { 0 };
	struct ip_mreq m4 = { 0 };
	int rc;

	if (!is_set(a->mcast_addr))
		return 0;
	if (k->v6) {
		memcpy(&m6.ipv6mr_multiaddr, a->mcast_addr, 16);
		rc = setsockopt(k->fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &m6,
				sizeof(m6));
	} else {
		m4.imr_multiaddr.s_addr = a->mcast_addr[3];
		m4.imr_interface.s_addr = a->local_addr[3];
		rc = setsockopt(k->fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &m4,
				sizeof(m4));
	}
	if (rc && errno != EADDRINUSE)
		return trib_fail(t, TRIB_ERR_SYSTEM, -errno,
				 "cannot join the multicast group: %s",
				 strerror(errno));
	return 0;
}

static int open_sock(struct trib *t, struct sock *k, socklen_t len)
{
	uint16_t port = ntohs(k->v6 ? k->local.in6.sin6_port :
				      k->local.in.sin_port);
	int err;

	k->fd = socket(k->v6 ? AF_INET6 : AF_INET,
		       SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (k->fd < 0)
		return trib_fail(t, TRIB_ERR_SYSTEM, -errno, "socket: %s",
				 strerror(errno));
	set_options(k);
	if (bind(k->fd, &k->local.sa, len)) {
		err = errno;
		return trib_fail(t, TRIB_ERR_SYSTEM,
				 err == EADDRINUSE ? -EBUSY : -err,
				 err == EADDRINUSE ?
					 "UDP port %u is taken: does another process have this rank?" :
					 "cannot bind UDP port %u: %s",
				 port, strerror(err));
	}
	return 0;
}

/* The socket of this local address and port: one that exists, or a new one. */
static int find_sock(struct trib *t, const struct trib_attach_tree *a,
		     struct sock **out)
{
	static const __be32 any[4];
	struct trib_udp *u = t->udp;
	bool v6 = !is_v4(a->addr);
	union address local;
	socklen_t len;
	unsigned int i;
	int rc;

	/* A socket bound to one address hears no multicast. */
	len = make_address(&local, v6,
			   is_set(a->mcast_addr) ? any : a->local_addr,
			   a->recv_port);
	for (i = 0; i < u->nsock; i++)
		if (!memcmp(&u->sock[i].local, &local, sizeof(local)))
			break;
	*out = &u->sock[i];
	if (i == u->nsock) {
		u->sock[i].v6 = v6;
		u->sock[i].local = local;
		u->sock[i].fd = -1;
		u->nsock++;
		rc = open_sock(t, *out, len);
		if (rc)
			return rc;
	}
	(*out)->streams++;
	return join_group(t, *out, a);
}

static int make_buffers(struct trib *t)
{
	struct trib_udp *u = t->udp;
	unsigned int i;

	u->slots = malloc(BATCH * SLOT);
	u->trains = mmap(NULL, (size_t)BATCH * (SLOT + TRAIN),
			 PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (u->trains == MAP_FAILED)
		u->trains = NULL;
	if (!u->slots || !u->trains)
		return trib_fail(t, TRIB_ERR_SYSTEM, -ENOMEM, "out of memory");
	for (i = 0; i < BATCH; i++) {
		u->iov[i][0] = (struct iovec){ u->slots + i * SLOT, SLOT };
		u->iov[i][1] = (struct iovec){
			u->trains + (size_t)i * (SLOT + TRAIN) + SLOT, TRAIN
		};
		u->msg[i].msg_hdr.msg_iov = u->iov[i];
		u->msg[i].msg_hdr.msg_iovlen = 2;
		u->msg[i].msg_hdr.msg_control = u->control[i].buf;
	}
	return 0;
}

static int udp_open(struct trib *t)
{
	unsigned int i;
	int rc;

	t->udp = calloc(1, sizeof(*t->udp));
	if (!t->udp)
		return trib_fail(t, TRIB_ERR_SYSTEM, -ENOMEM, "out of memory");
	rc = make_buffers(t);
	for (i = 0; !rc && i < t->nstream; i++) {
		const struct trib_attach_tree *a = &t->place.rep.tree[i];
		struct dest *d = &t->udp->dest[i];

		rc = find_sock(t, a, &d->sock);
		if (rc)
			break;
		d->len = make_address(&d->to, d->sock->v6, a->addr, a->port);
		t->stream[i]->overhead = 14 + (d->sock->v6 ? 40 : 20) + 8;
	}
	return rc;
}

/* Room for all results that can come at once, or fewer in flight. */
static int udp_start(struct trib *t)
{
	struct trib_udp *u = t->udp;
	unsigned int i, fits;
	int want, have;
	socklen_t len;

	for (i = 0; i < u->nsock; i++) {
		struct sock *k = &u->sock[i];
		unsigned int chunks = 2u * t->stream[0]->window * k->streams;

		/* The kernel doubles what it is asked for. */
		want = (int)(chunks * TRIB_TUNE_RECV_CHARGE / 2);
		if (setsockopt(k->fd, SOL_SOCKET, SO_RCVBUFFORCE, &want,
			       sizeof(want)))
			set_int(k->fd, SOL_SOCKET, SO_RCVBUF, want);
		len = sizeof(have);
		if (getsockopt(k->fd, SOL_SOCKET, SO_RCVBUF, &have, &len))
			continue;
		fits = (unsigned int)have / TRIB_TUNE_RECV_CHARGE / k->streams;
		if (!t->max_window || fits < t->max_window)
			t->max_window = fits;
	}
	return 0;
}

static void udp_close(struct trib *t)
{
	struct trib_udp *u = t->udp;
	unsigned int i;

	if (!u)
		return;
	for (i = 0; i < u->nsock; i++)
		if (u->sock[i].fd >= 0)
			close(u->sock[i].fd);
	free(u->slots);
	if (u->trains)
		munmap(u->trains, (size_t)BATCH * (SLOT + TRAIN));
	free(u);
	t->udp = NULL;
}

static int udp_pollfds(struct trib *t, struct pollfd *pfd)
{
	unsigned int i;

	for (i = 0; i < t->udp->nsock; i++)
		pfd[i] = (struct pollfd){ .fd = t->udp->sock[i].fd,
					  .events = POLLIN };
	return (int)i;
}

/* What sending may come back with, reduced to what the engine tells apart. */
static int send_error(int err)
{
	return err == EMSGSIZE ? -EMSGSIZE : -EAGAIN;
}

/* The next packet of @seg bytes out of @iov, as up to @max elements. */
static unsigned int slice(const struct iovec **iov, unsigned int *niov,
			  size_t *skip, unsigned int seg, struct iovec *out)
{
	unsigned int n = 0;
	size_t take;

	while (*niov && seg) {
		take = (*iov)->iov_len - *skip;
		if (take > seg)
			take = seg;
		out[n++] = (struct iovec){
			(uint8_t *)(*iov)->iov_base + *skip, take
		};
		seg -= (unsigned int)take;
		*skip += take;
		if (*skip == (*iov)->iov_len) {
			(*iov)++;
			(*niov)--;
			*skip = 0;
		}
	}
	return n;
}

static int send_each(struct dest *d, const struct iovec *iov,
		     unsigned int niov, unsigned int seg)
{
	struct mmsghdr m[TRIB_TUNE_BURST];
	struct iovec one[TRIB_TUNE_BURST][2];
	unsigned int n = 0;
	size_t skip = 0;
	int rc;

	memset(m, 0, sizeof(m));
	while (niov && n < TRIB_TUNE_BURST) {
		m[n].msg_hdr.msg_name = &d->to;
		m[n].msg_hdr.msg_namelen = d->len;
		m[n].msg_hdr.msg_iov = one[n];
		m[n].msg_hdr.msg_iovlen =
			slice(&iov, &niov, &skip, seg, one[n]);
		n++;
	}
	rc = sendmmsg(d->sock->fd, m, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	return rc > 0 ? rc : send_error(errno);
}

static int udp_send(struct trib *t, struct trib_stream *s,
		    const struct iovec *iov, unsigned int niov,
		    unsigned int seg)
{
	struct dest *d = &t->udp->dest[s->index];
	union {
		char buf[CMSG_SPACE(sizeof(uint16_t))];
		struct cmsghdr align;
	} control;
	struct msghdr m = {
		.msg_name = &d->to,
		.msg_namelen = d->len,
		.msg_iov = (struct iovec *)iov,
		.msg_iovlen = niov,
	};
	size_t total = 0;
	unsigned int i;
	uint16_t size = (uint16_t)seg;

	for (i = 0; i < niov; i++)
		total += iov[i].iov_len;
	if (total > seg) {
		if (t->udp->no_gso)
			return send_each(d, iov, niov, seg);
		memset(&control, 0, sizeof(control));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		control.align.cmsg_level = IPPROTO_UDP;
		control.align.cmsg_type = UDP_SEGMENT;
		control.align.cmsg_len = CMSG_LEN(sizeof(size));
		memcpy(CMSG_DATA(&control.align), &size, sizeof(size));
	}
	if (sendmsg(d->sock->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return (int)((total + seg - 1) / seg);
	if (total > seg && (errno == EIO || errno == EINVAL)) {
		t->udp->no_gso = true;
		return send_each(d, iov, niov, seg);
	}
	return send_error(errno);
}

/* One datagram, as it was sent. */
static void rx_packet(struct trib *t, const uint8_t *p, size_t len, bool ce)
{
	struct trib_hdr h;
	struct trib_rx rx;
	struct trib_stream *s;
	unsigned int nval;
	__be64 seen = 0;

	if (len < sizeof(h))
		goto bad;
	memcpy(&h, p, sizeof(h));
	p += sizeof(h);
	len -= sizeof(h);
	nval = be16toh(h.nval);
	if (h.version != TRIB_WIRE_VERSION || nval > TRIB_NVAL_LARGE ||
	    h.bmwords != (h.type == TRIB_T_NEED) ||
	    len != 8u * h.bmwords + trib_payload_len(nval) ||
	    be16toh(h.job) != t->place.rep.job ||
	    h.cookie != t->place.rep.cookie)
		goto bad;
	s = trib_stream_of(t, be16toh(h.tree));
	if (!s)
		goto bad;
	if (h.bmwords)
		memcpy(&seen, p, sizeof(seen));
	rx = (struct trib_rx){
		.type = h.type,
		.flags = h.flags | (ce ? TRIB_F_CE : 0),
		.op = h.op,
		.fmt = h.fmt,
		.child = be16toh(h.child),
		.nval = (uint16_t)nval,
		.aux = be16toh(h.aux),
		.chunk = be32toh(h.chunk),
		.epoch = be32toh(h.epoch),
		.scale = (int32_t)be32toh(h.scale),
		.seen = be64toh(seen),
		.v = nval ? p + 8u * h.bmwords : NULL,
		.len = (uint32_t)len,
	};
	trib_rx(s, &rx);
	return;
bad:
	t->count.bad_packets++;
}

static void read_control(struct msghdr *m, unsigned int *seg, bool *ce)
{
	struct cmsghdr *c;
	int v = 0;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
			memcpy(&v, CMSG_DATA(c), sizeof(v));
			if (v > 0)
				*seg = (unsigned int)v;
		} else if (c->cmsg_level == IPPROTO_IP &&
			   c->cmsg_type == IP_TOS) {
			*ce = (*CMSG_DATA(c) & ECN_MASK) == ECN_CE;
		} else if (c->cmsg_level == IPPROTO_IPV6 &&
			   c->cmsg_type == IPV6_TCLASS) {
			memcpy(&v, CMSG_DATA(c), sizeof(v));
			*ce = (v & ECN_MASK) == ECN_CE;
		}
	}
}

/* A datagram, or a train of them. */
static void rx_message(struct trib *t, unsigned int i, unsigned int len)
{
	struct trib_udp *u = t->udp;
	uint8_t *p = u->iov[i][0].iov_base;
	unsigned int seg = len, n;
	bool ce = false;

	read_control(&u->msg[i].msg_hdr, &seg, &ce);
	if (len > SLOT) {
		/* Close the gap between the two areas. */
		p = (uint8_t *)u->iov[i][1].iov_base - SLOT;
		memcpy(p, u->iov[i][0].iov_base, SLOT);
	}
	for (; len; p += n, len -= n) {
		n = len < seg ? len : seg;
		rx_packet(t, p, n, ce);
	}
}

static int recv_batch(struct trib *t, struct sock *k)
{
	struct trib_udp *u = t->udp;
	int i, n;

	for (i = 0; i < BATCH; i++)
		u->msg[i].msg_hdr.msg_controllen = CONTROL;
	n = recvmmsg(k->fd, u->msg, BATCH, MSG_DONTWAIT, NULL);
	for (i = 0; i < n; i++)
		rx_message(t, (unsigned int)i, u->msg[i].msg_len);
	return n > 0 ? n : 0;
}

static int udp_recv(struct trib *t)
{
	struct trib_udp *u = t->udp;
	unsigned int i;
	int n = 0;

	for (i = 0; i < u->nsock; i++)
		n += recv_batch(t, &u->sock[i]);
	return n;
}

const struct trib_transport_ops trib_udp = {
	.name = "udp",
	.open = udp_open,
	.start = udp_start,
	.close = udp_close,
	.pollfds = udp_pollfds,
	.send = udp_send,
	.recv = udp_recv,
};
