// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the carrier that needs no privilege: ordinary UDP sockets, one for each
 * local port (usually one).
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "udp.h"

/* Header and values of the largest chunk. */
#define SLOT (sizeof(struct trib_hdr) + 4 * TRIB_NVAL_LARGE)

static int udp_open(struct trib *t)
{
	unsigned int i;
	int rc;

	t->udp = calloc(1, sizeof(*t->udp));
	if (!t->udp)
		return trib_fail(t, TRIB_ERR_SYSTEM, -ENOMEM, "out of memory");
	rc = udp_rx_init(&t->udp->rx, SLOT, TRIB_TUNE_RECV_BATCH, UDP_RX_TRAINS);
	if (rc)
		return trib_fail(t, TRIB_ERR_SYSTEM, rc, "out of memory");
	for (i = 0; !rc && i < t->eng.nstream; i++)
		rc = trib_udp_dest(t, i);
	/* This connection lets tribd tell the other ranks if the process dies. */
	if (!rc && t->transport == &trib_udp && t->place.sock >= 0)
		(void)trib_watch_open(t, &t->udp->watch);
	return rc;
}

static int udp_start(struct trib *t)
{
	trib_watch_tell(t, &t->udp->watch);
	return trib_udp_size(t);
}

static void udp_epochs(struct trib *t)
{
	trib_watch_tell(t, &t->udp->watch);
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
	udp_rx_free(&u->rx);
	free(u);
	t->udp = NULL;
}

static int udp_pollfds(struct trib *t, struct pollfd *pfd)
{
	unsigned int i;

	for (i = 0; i < t->udp->nsock; i++)
		pfd[i] = (struct pollfd){.fd = t->udp->sock[i].fd, .events = POLLIN};
	if (t->udp->watch.state != TRIB_WATCH_OFF)
		pfd[i++] = (struct pollfd){t->udp->watch.fd, POLLIN, 0};
	return (int)i;
}

static int udp_send(struct trib_engine *eng, struct trib_stream *s, const struct iovec *iov,
		    unsigned int niov, unsigned int seg)
{
	struct trib_udp *u = trib_of(eng)->udp;
	struct trib_udp_dest *d = &u->dest[s->index][s->via];
	int rc = udp_send_run(d->sock->fd, &d->to, d->len, iov, niov, seg, &u->no_gso);

	/* The engine tells apart two errors: packet too long, and try again. */
	return rc > 0 ? rc : rc == -EMSGSIZE ? rc : -EAGAIN;
}

static void packet_rx(void *ctx, const struct udp_packet *p)
{
	struct trib *t = ctx;

	trib_packet_rx(&t->eng, p->data, (unsigned int)p->len, p->ce);
}

static int udp_recv(struct trib *t)
{
	struct trib_udp *u = t->udp;
	unsigned int i;
	int n = 0, got;

	for (i = 0; i < u->nsock; i++) {
		/* ICMP causes these errors, and they pass. */
		got = udp_rx_batch(&u->rx, u->sock[i].fd, packet_rx, t);
		n += got > 0 ? got : 0;
	}
	trib_watch_run(t, &u->watch, n);
	return n;
}

const struct trib_carrier trib_udp = {
	.name = "udp",
	.ops.send = udp_send,
	.open = udp_open,
	.start = udp_start,
	.epochs = udp_epochs,
	.close = udp_close,
	.pollfds = udp_pollfds,
	.recv = udp_recv,
};
