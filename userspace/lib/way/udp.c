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
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "udp.h"

/* Header and values of the largest chunk. */
#define SLOT ((unsigned int)sizeof(struct trib_hdr) + 4 * TRIB_NVAL_LARGE)
#define TRAIN 65536

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
		u->iov[i][0] = (struct iovec){u->slots + i * SLOT, SLOT};
		u->iov[i][1] = (struct iovec){
			u->trains + (size_t)i * (SLOT + TRAIN) + SLOT, TRAIN};
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
	for (i = 0; !rc && i < t->eng.nstream; i++)
		rc = trib_udp_dest(t, i);
	/* Without it, nobody tells the others should this process die. */
	if (!rc && t->transport == &trib_udp && t->place.sock >= 0)
		(void)trib_watch_open(t, &t->udp->watch);
	return rc;
}

static int udp_start(struct trib *t)
{
	trib_watch_tell(t, &t->udp->watch);
	return trib_udp_size(t);
}

static void udp_close(struct trib *t)
{
	struct trib_udp *u = t->udp;
	unsigned int i;

	if (!u)
		return;
	trib_watch_close(&u->watch);
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
		pfd[i] = (struct pollfd){.fd = t->udp->sock[i].fd,
					 .events = POLLIN};
	if (t->udp->watch.state != TRIB_WATCH_OFF)
		pfd[i++] = (struct pollfd){t->udp->watch.fd, POLLIN, 0};
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
		out[n++] = (struct iovec){(uint8_t *)(*iov)->iov_base + *skip,
					  take};
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

static int send_each(struct dest *d, const struct iovec *iov, unsigned int niov,
		     unsigned int seg)
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

static int udp_send(struct trib_engine *eng, struct trib_stream *s,
		    const struct iovec *iov, unsigned int niov,
		    unsigned int seg)
{
	struct trib_udp *u = trib_of(eng)->udp;
	struct dest *d = &u->dest[s->index][s->via];
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
		if (u->no_gso)
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
		u->no_gso = true;
		return send_each(d, iov, niov, seg);
	}
	return send_error(errno);
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
		trib_packet_rx(&t->eng, p, n, ce);
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
	trib_watch_run(t, &u->watch, n);
	return n;
}

const struct trib_carrier trib_udp = {
	.name = "udp",
	.ops.send = udp_send,
	.open = udp_open,
	.start = udp_start,
	.close = udp_close,
	.pollfds = udp_pollfds,
	.recv = udp_recv,
};
