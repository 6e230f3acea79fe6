// SPDX-License-Identifier: BSD-2-Clause
/* The socket; see net.h. */
#include "net.h"

#include <endian.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#ifndef UDP_NO_CHECK6_RX
#define UDP_NO_CHECK6_RX 102
#endif

#define BATCH 32       /* datagrams of one recvmmsg() */
#define DATAGRAM 65536 /* the longest, of one train */
#define SEND_BATCH 64  /* datagrams of one sendmmsg() */
#define RUN_PACKETS 64 /* packets of one train: what the kernel takes */
#define RUN_BYTES 65000
#define RESULTS 256 /* queued RESULTs for groups */
#define SINGLES 64  /* queued packets for one receiver each */
#define SINGLE_COPY (sizeof(struct trib_hdr) + 8 * TRIB_BMWORDS_MAX)
#define BUFFER (64 << 20)
#define SEND_WAIT_US 5000 /* that a full device may hold us up */
#define ECN_MASK 3
#define ECN_ECT0 2
#define ECN_CE 3

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* What sendmsg() is told besides: the device first, then the segments. */
union control {
	char room[CMSG_SPACE(sizeof(struct in_pktinfo)) +
		  CMSG_SPACE(sizeof(uint16_t))];
	struct cmsghdr align;
};

/* RESULTs of one tree, of one size but for the last: a train. */
struct run {
	struct iovec iov[RUN_PACKETS];
	unsigned int n;
	size_t seg;
	size_t bytes;
};

/**
 * struct ps_net
 * @turn:   number of the queue: a place with it has packets in there.
 * @result: for groups; @single: for one receiver, some of them in @copy.
 * @no_gso: UDP_SEGMENT was refused.
 * @local:  index of TRIB_LOCAL_PEER, as of @looked_ms; 0: look again.
 */
struct ps_net {
	struct ps *ps;
	int fd;
	bool v4;
	bool no_gso;
	unsigned int local;
	uint64_t looked_ms;
	uint64_t turn;
	struct ps_net_stats stats;
	unsigned int nresult;
	struct {
		struct ps_tree *t;
		struct ps_place *z;
	} result[RESULTS];
	unsigned int nsingle;
	struct {
		struct ps_addr to;
		struct iovec iov;
	} single[SINGLES];
	uint8_t copy[SINGLES][SINGLE_COPY];
	struct run run[RESULTS];
	const struct ps_addr *dest[PS_GROUP_MAX + TRIB_WORLD_MAX];
	unsigned int nout;
	struct mmsghdr out[SEND_BATCH];
	union address out_to[SEND_BATCH];
	union control out_control[SEND_BATCH];
	struct mmsghdr in[BATCH];
	struct iovec in_iov[BATCH];
	union address in_from[BATCH];
	union {
		char room[128];
		struct cmsghdr align;
	} in_control[BATCH];
	uint8_t *buffer;
};

/* --- sending */

/* It comes with tribd's first LOCAL face, goes with the last, and is new then. */
static unsigned int local_device(struct ps_net *n)
{
	uint64_t now = clock_ms();

	if (!n->local && n->looked_ms != now) {
		n->looked_ms = now;
		n->local = if_nametoindex(TRIB_LOCAL_PEER);
	}
	return n->local;
}

static socklen_t make_address(const struct ps_net *n, const struct ps_addr *a,
			      union address *out)
{
	memset(out, 0, sizeof(*out));
	if (n->v4) {
		out->in.sin_family = AF_INET;
		out->in.sin_port = htons(a->port);
		memcpy(&out->in.sin_addr, a->ip.s6_addr + 12, 4);
		return sizeof(out->in);
	}
	out->in6.sin6_family = AF_INET6;
	out->in6.sin6_port = htons(a->port);
	out->in6.sin6_addr = a->ip;
	if (a->local && IN6_IS_ADDR_LINKLOCAL(&a->ip))
		out->in6.sin6_scope_id = n->local;
	return sizeof(out->in6);
}

static size_t bytes_of(const struct msghdr *m)
{
	size_t bytes = 0, i;

	for (i = 0; i < m->msg_iovlen; i++)
		bytes += m->msg_iov[i].iov_len;
	return bytes;
}

/* The device or the path takes no trains: its packets, one by one. */
static void send_apart(struct ps_net *n, const struct msghdr *m)
{
	struct msghdr one = *m;
	size_t i;

	n->no_gso = true;
	one.msg_controllen -= CMSG_SPACE(sizeof(uint16_t));
	one.msg_iovlen = 1;
	for (i = 0; i < m->msg_iovlen; i++) {
		one.msg_iov = &m->msg_iov[i];
		if (sendmsg(n->fd, &one, MSG_NOSIGNAL) < 0) {
			n->stats.tx_error++;
			n->stats.tx_errno = errno;
			continue;
		}
		n->stats.tx_packets++;
		n->stats.tx_bytes += one.msg_iov->iov_len;
	}
}

static void failed(struct ps_net *n, const struct msghdr *m, int err)
{
	if (m->msg_iovlen > 1 && (err == EIO || err == EINVAL)) {
		send_apart(n, m);
	} else if (err == EAGAIN || err == ENOBUFS) {
		n->stats.tx_full += m->msg_iovlen;
	} else {
		n->local = 0; /* maybe it is another one by now */
		n->stats.tx_error += m->msg_iovlen;
		n->stats.tx_errno = err;
	}
}

static void push(struct ps_net *n)
{
	unsigned int at = 0;
	int rc;

	while (at < n->nout) {
		rc = sendmmsg(n->fd, n->out + at, n->nout - at, MSG_NOSIGNAL);
		if (rc < 0 && errno == EINTR)
			continue;
		if (rc <= 0) {
			failed(n, &n->out[at++].msg_hdr, errno);
			continue;
		}
		while (rc--) {
			const struct msghdr *m = &n->out[at++].msg_hdr;

			n->stats.tx_packets += m->msg_iovlen;
			n->stats.tx_bytes += bytes_of(m);
		}
	}
	n->nout = 0;
}

static void put_control(struct msghdr *m, int level, int type,
			const void *value, size_t len)
{
	struct cmsghdr *c =
		(void *)((char *)m->msg_control + m->msg_controllen);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), value, len);
	m->msg_controllen += CMSG_SPACE(len);
}

/* @seg: of each packet but the last, if @niov says that there are several. */
static void post(struct ps_net *n, const struct ps_addr *to, struct iovec *iov,
		 unsigned int niov, size_t seg)
{
	struct msghdr *m = &n->out[n->nout].msg_hdr;
	struct in_pktinfo by = {};
	uint16_t segment = (uint16_t)seg;

	if (to->local) {
		by.ipi_ifindex = (int)local_device(n);
		if (!by.ipi_ifindex) {
			n->stats.tx_error += niov;
			n->stats.tx_errno = ENODEV;
			return;
		}
	}
	memset(m, 0, sizeof(*m));
	m->msg_namelen = make_address(n, to, &n->out_to[n->nout]);
	m->msg_name = &n->out_to[n->nout];
	m->msg_iov = iov;
	m->msg_iovlen = niov;
	m->msg_control = &n->out_control[n->nout];
	if (to->local && IN6_IS_ADDR_V4MAPPED(&to->ip))
		put_control(m, IPPROTO_IP, IP_PKTINFO, &by, sizeof(by));
	if (niov > 1)
		put_control(m, IPPROTO_UDP, UDP_SEGMENT, &segment,
			    sizeof(segment));
	if (++n->nout == SEND_BATCH)
		push(n);
}

/* Queued RESULTs from @i to @end as trains. Return: their number. */
static unsigned int make_runs(struct ps_net *n, unsigned int i,
			      unsigned int end)
{
	unsigned int nrun = 0;
	bool closed = true;

	for (; i < end; i++) {
		struct trib_hdr *h = &n->result[i].z->h;
		size_t len = sizeof(*h) + trib_payload_len(be16toh(h->nval));
		struct run *r = nrun ? &n->run[nrun - 1] : NULL;

		if (closed || n->no_gso || len > r->seg ||
		    r->n == RUN_PACKETS || r->bytes + len > RUN_BYTES) {
			r = &n->run[nrun++];
			r->n = 0;
			r->bytes = 0;
			r->seg = len;
			closed = false;
		}
		r->iov[r->n++] = (struct iovec){h, len};
		r->bytes += len;
		closed = len < r->seg;
	}
	return nrun;
}

static void flush_tree(struct ps_net *n, unsigned int from, unsigned int end)
{
	unsigned int nrun = make_runs(n, from, end), ndest, d, r;

	ndest = ps_tree_dests(n->result[from].t, n->ps->now, n->dest);
	for (d = 0; d < ndest; d++)
		for (r = 0; r < nrun; r++)
			post(n, n->dest[d], n->run[r].iov, n->run[r].n,
			     n->run[r].seg);
	push(n);
}

void ps_net_flush(struct ps_net *n)
{
	unsigned int i, from = 0;

	for (i = 1; i <= n->nresult; i++) {
		if (i < n->nresult && n->result[i].t == n->result[from].t)
			continue;
		flush_tree(n, from, i);
		from = i;
	}
	for (i = 0; i < n->nsingle; i++)
		post(n, &n->single[i].to, &n->single[i].iov, 1, 0);
	push(n);
	n->nresult = n->nsingle = 0;
	n->turn++;
}

void ps_net_to(struct ps_net *n, const struct ps_addr *to, const void *pkt,
	       size_t len, struct ps_place *z)
{
	struct iovec iov = {(void *)pkt, len};
	unsigned int i;

	if (!z && len > SINGLE_COPY) {
		/* A START: rare, and long. */
		post(n, to, &iov, 1, 0);
		push(n);
		return;
	}
	if (n->nsingle == SINGLES)
		ps_net_flush(n);
	i = n->nsingle++;
	if (z)
		z->queued = n->turn;
	else
		iov.iov_base = memcpy(n->copy[i], pkt, len);
	n->single[i].to = *to;
	n->single[i].iov = iov;
}

void ps_net_result(struct ps_net *n, struct ps_tree *t, struct ps_place *z)
{
	if (n->nresult == RESULTS)
		ps_net_flush(n);
	n->result[n->nresult].t = t;
	n->result[n->nresult++].z = z;
	z->queued = n->turn;
}

void ps_net_settle(struct ps_net *n, const struct ps_place *z)
{
	if (z->queued == n->turn)
		ps_net_flush(n);
}

/* --- receiving */

static void read_control(struct ps_net *n, struct msghdr *m, size_t *seg,
			 bool *ce)
{
	struct cmsghdr *c;
	uint32_t lost;
	int v = 0;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
			memcpy(&v, CMSG_DATA(c), sizeof(v));
			if (v > 0)
				*seg = (size_t)v;
		} else if (c->cmsg_level == IPPROTO_IP &&
			   c->cmsg_type == IP_TOS) {
			*ce = (*CMSG_DATA(c) & ECN_MASK) == ECN_CE;
		} else if (c->cmsg_level == IPPROTO_IPV6 &&
			   c->cmsg_type == IPV6_TCLASS) {
			memcpy(&v, CMSG_DATA(c), sizeof(v));
			*ce = (v & ECN_MASK) == ECN_CE;
		} else if (c->cmsg_level == SOL_SOCKET &&
			   c->cmsg_type == SO_RXQ_OVFL) {
			memcpy(&lost, CMSG_DATA(c), sizeof(lost));
			n->stats.rx_overflow = lost;
		}
	}
}

static void source(const struct ps_net *n, const union address *a,
		   struct ps_addr *out)
{
	memset(out, 0, sizeof(*out));
	if (n->v4) {
		out->port = ntohs(a->in.sin_port);
		out->ip.s6_addr[10] = out->ip.s6_addr[11] = 0xff;
		memcpy(out->ip.s6_addr + 12, &a->in.sin_addr, 4);
	} else {
		out->port = ntohs(a->in6.sin6_port);
		out->ip = a->in6.sin6_addr;
	}
}

/* A datagram, or a train of them. */
static void datagram(struct ps_net *n, unsigned int i, uint64_t now)
{
	const uint8_t *p = n->in_iov[i].iov_base;
	size_t len = n->in[i].msg_len, seg = len, take;
	struct ps_addr from;
	bool ce = false;

	read_control(n, &n->in[i].msg_hdr, &seg, &ce);
	source(n, &n->in_from[i], &from);
	n->stats.rx_datagrams++;
	n->stats.rx_bytes += len;
	n->stats.rx_trains += seg < len;
	do {
		take = len < seg ? len : seg;
		n->stats.rx_packets++;
		ps_rx(n->ps, &from, p, take, ce, now);
		p += take;
		len -= take;
	} while (len);
}

int ps_net_turn(struct ps_net *n)
{
	uint64_t now;
	int i, got;

	for (i = 0; i < BATCH; i++) {
		n->in[i].msg_hdr.msg_namelen = sizeof(n->in_from[i]);
		n->in[i].msg_hdr.msg_controllen = sizeof(n->in_control[i]);
	}
	got = recvmmsg(n->fd, n->in, BATCH, MSG_DONTWAIT, NULL);
	if (got <= 0)
		return 0;
	now = clock_ms();
	for (i = 0; i < got; i++)
		datagram(n, (unsigned int)i, now);
	ps_net_flush(n);
	return got;
}

/* --- opening */

static void set_int(int fd, int level, int name, int value)
{
	/* What a kernel lacks costs speed or congestion marks, no more. */
	(void)setsockopt(fd, level, name, &value, sizeof(value));
}

static void set_options(const struct ps_net *n)
{
	struct timeval tv = {.tv_usec = SEND_WAIT_US};

	set_int(n->fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
	set_int(n->fd, IPPROTO_IP, IP_TOS, ECN_ECT0);
	set_int(n->fd, IPPROTO_IP, IP_RECVTOS, 1);
	if (!n->v4) {
		set_int(n->fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
		set_int(n->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
			IPV6_PMTUDISC_DO);
		set_int(n->fd, IPPROTO_IPV6, IPV6_TCLASS, ECN_ECT0);
		set_int(n->fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		/* Relays rewrite packets and leave the checksum out. */
		set_int(n->fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
	}
	set_int(n->fd, IPPROTO_UDP, UDP_GRO, 1);
	set_int(n->fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
	set_int(n->fd, SOL_SOCKET, SO_RCVBUF, BUFFER);
	set_int(n->fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER);
	set_int(n->fd, SOL_SOCKET, SO_SNDBUF, BUFFER);
	set_int(n->fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER);
	(void)setsockopt(n->fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}

static int make_buffers(struct ps_net *n)
{
	unsigned int i;

	n->buffer = malloc((size_t)BATCH * DATAGRAM);
	if (!n->buffer)
		return -ENOMEM;
	for (i = 0; i < BATCH; i++) {
		n->in_iov[i] = (struct iovec){n->buffer + (size_t)i * DATAGRAM,
					      DATAGRAM};
		n->in[i].msg_hdr.msg_iov = &n->in_iov[i];
		n->in[i].msg_hdr.msg_iovlen = 1;
		n->in[i].msg_hdr.msg_name = &n->in_from[i];
		n->in[i].msg_hdr.msg_control = &n->in_control[i];
	}
	return 0;
}

int ps_net_open(struct ps_net **out, struct ps *ps,
		const struct ps_addr *listen, char *why, size_t size)
{
	struct ps_net *n = calloc(1, sizeof(*n));
	union address a;
	socklen_t len;
	char text[ADDR_TEXT_MAX];
	int err;

	if (!n || make_buffers(n)) {
		free(n);
		snprintf(why, size, "out of memory");
		return -ENOMEM;
	}
	n->ps = ps;
	n->turn = 1;
	n->v4 = IN6_IS_ADDR_V4MAPPED(&listen->ip);
	n->fd = socket(n->v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC,
		       0);
	err = n->fd < 0 ? -errno : 0;
	if (!err) {
		set_options(n);
		len = make_address(n, listen, &a);
		if (bind(n->fd, &a.sa, len))
			err = -errno;
	}
	if (err) {
		snprintf(why, size, "cannot listen on %s: %s",
			 ps_addr_text(listen, text), strerror(-err));
		ps_net_close(n);
		return err;
	}
	*out = n;
	return 0;
}

void ps_net_close(struct ps_net *n)
{
	if (!n)
		return;
	if (n->fd >= 0)
		close(n->fd);
	free(n->buffer);
	free(n);
}

int ps_net_fd(const struct ps_net *n)
{
	return n->fd;
}

const struct ps_net_stats *ps_net_stats(const struct ps_net *n)
{
	return &n->stats;
}
