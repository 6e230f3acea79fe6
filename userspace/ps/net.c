// SPDX-License-Identifier: BSD-2-Clause
/* Owns the socket, and the queue of packets on their way out; see net.h. */
#include "net.h"

#include <endian.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host/home.h"
#include "base/host/service.h"
#include "base/text.h"
#include "base/udp_batch.h"
#include "ps/program/process.h"

#define BATCH 32       /* datagrams of one recvmmsg() */
#define DATAGRAM 65536 /* the longest train */
#define RESULTS 256    /* queued RESULTs for groups */
#define SINGLES 64     /* queued packets for single receivers */
#define SINGLE_COPY (sizeof(struct trib_hdr) + 8 * TRIB_BMWORDS_MAX)
#define BUFFER (64 << 20)
#define SEND_WAIT_US 5000 /* longest wait for a full device */

/* A train: RESULTs of one tree, all but the last of one size. */
struct run {
	struct iovec iov[UDP_TRAIN_PACKETS];
	unsigned int n;
	size_t seg;
	size_t bytes;
};

/**
 * struct ps_net - the socket
 * @family: AF_INET, or AF_INET6 for both.
 * @local:  index of TRIB_LOCAL_PEER, looked up at @looked_ms; 0: look it up
 *          again.
 * @now:    time of the current batch.
 * @turn:   number of the queue; a place with this number has packets in the
 *          queue.
 * @result: queued packets for groups.
 * @single: queued packets for single receivers, some of them in @copy.
 */
struct ps_net {
	struct ps *ps;
	int fd;
	int family;
	unsigned int local;
	uint64_t looked_ms;
	uint64_t now;
	uint64_t turn;
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
	struct udp_rx rx;
	struct udp_tx tx;
};

/* --- sending */

/* The device exists while tribd has a LOCAL face, with a new index each time. */
static unsigned int local_device(struct ps_net *n)
{
	uint64_t now = clock_ms();

	if (!n->local && n->looked_ms != now) {
		n->looked_ms = now;
		n->local = if_nametoindex(TRIB_LOCAL_PEER);
	}
	return n->local;
}

static socklen_t make_address(const struct ps_net *n, const struct ps_addr *a, union addr_sock *out)
{
	socklen_t len = addr_to_sock(n->family, &a->ip, a->port, out);

	if (n->family == AF_INET6 && a->local && IN6_IS_ADDR_LINKLOCAL(&a->ip))
		out->in6.sin6_scope_id = n->local;
	return len;
}

static void push(struct ps_net *n)
{
	uint64_t before = n->tx.error;

	udp_tx_push(&n->tx);
	/* TRIB_LOCAL_PEER may have been made anew since. */
	if (n->tx.error != before)
		n->local = 0;
}

/* @seg: bytes of each packet but the last, if there are several. */
static void post(struct ps_net *n, const struct ps_addr *to, struct iovec *iov, unsigned int niov,
		 size_t seg)
{
	unsigned int device = to->local ? local_device(n) : 0;
	union addr_sock sa;
	socklen_t len;

	if (to->local && !device) {
		n->tx.error += niov;
		n->tx.error_no = ENODEV;
		return;
	}
	len = make_address(n, to, &sa);
	udp_tx_post(&n->tx, &sa, len, iov, niov, seg, addr_is_v4(&to->ip) ? device : 0);
}

/* Send queued RESULTs from @i to @end as trains. Return: number of trains. */
static unsigned int make_runs(struct ps_net *n, unsigned int i, unsigned int end)
{
	unsigned int nrun = 0;
	bool closed = true;

	for (; i < end; i++) {
		struct trib_hdr *h = &n->result[i].z->h;
		size_t len = sizeof(*h) + trib_payload_len(be16toh(h->nval));
		struct run *r = nrun ? &n->run[nrun - 1] : NULL;

		if (closed || n->tx.no_gso || len > r->seg || r->n == UDP_TRAIN_PACKETS ||
		    r->bytes + len > UDP_TRAIN_BYTES) {
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
			post(n, n->dest[d], n->run[r].iov, n->run[r].n, n->run[r].seg);
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

void ps_net_to(struct ps_net *n, const struct ps_addr *to, const void *pkt, size_t len,
	       struct ps_place *z)
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

static void packet_rx(void *ctx, const struct udp_packet *p)
{
	struct ps_net *n = ctx;
	struct ps_addr from = {};

	addr_from_sock(p->from, &from.ip, &from.port);
	ps_rx(n->ps, &from, p->data, p->len, p->ce, n->now);
}

int ps_net_turn(struct ps_net *n)
{
	int got;

	n->now = clock_ms();
	got = udp_rx_batch(&n->rx, n->fd, packet_rx, n);
	if (got <= 0)
		return 0;
	ps_net_flush(n);
	return got;
}

/* --- opening */

static void set_options(const struct ps_net *n)
{
	static const struct udp_options o = {
		.ecn = true,
		.gro = true,
		.lost = true,
		.rcvbuf = BUFFER,
		.sndbuf = BUFFER,
	};
	struct timeval tv = {.tv_usec = SEND_WAIT_US};

	udp_set_options(n->fd, n->family, &o);
	(void)setsockopt(n->fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}

static void say(const char *line)
{
	ps_log("%s", line);
}

/* Take the socket that systemd kept from the last trib-ps, or bind a new one. */
static int open_socket(struct ps_net *n, const struct ps_addr *listen)
{
	struct home_wait wait = {.twin = "trib-ps", .say = say};
	struct home a = {.type = SOCK_DGRAM, .name = "udp"};
	struct service_sockets kept;
	char text[ADDR_TEXT_MAX];
	bool is_kept;
	int err;

	a.len = make_address(n, listen, &a.ip);
	snprintf(a.what, sizeof(a.what), "UDP address %s", ps_addr_text(listen, text));
	service_sockets_get(&kept);
	n->fd = service_sockets_take(&kept, a.type, &a.sa, a.len);
	service_sockets_close(&kept);
	is_kept = n->fd >= 0;
	if (!is_kept)
		n->fd = socket(n->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (n->fd < 0)
		return -errno;
	set_options(n);
	if (is_kept)
		service_drain(n->fd);
	err = is_kept ? 0 : home_bind(&wait, n->fd, &a);
	if (!err)
		(void)service_keep(n->fd, a.name);
	return err;
}

int ps_net_open(struct ps_net **out, struct ps *ps, const struct ps_addr *listen, char *why,
		size_t size)
{
	struct ps_net *n = calloc(1, sizeof(*n));
	char text[ADDR_TEXT_MAX];
	int err;

	if (!n || udp_rx_init(&n->rx, DATAGRAM, BATCH, UDP_RX_FROM)) {
		if (n)
			udp_rx_free(&n->rx);
		free(n);
		return text_fail(why, size, -ENOMEM, "out of memory");
	}
	n->ps = ps;
	n->turn = 1;
	n->family = addr_is_v4(&listen->ip) ? AF_INET : AF_INET6;
	err = open_socket(n, listen);
	if (err) {
		text_fail(why, size, err, "cannot listen on %s: %s", ps_addr_text(listen, text),
			  strerror(-err));
		ps_net_close(n);
		return err;
	}
	n->tx.fd = n->fd;
	n->tx.flags = MSG_NOSIGNAL;
	*out = n;
	return 0;
}

void ps_net_close(struct ps_net *n)
{
	if (!n)
		return;
	if (n->fd >= 0)
		close(n->fd);
	udp_rx_free(&n->rx);
	free(n);
}

int ps_net_fd(const struct ps_net *n)
{
	return n->fd;
}

struct ps_net_stats ps_net_stats(const struct ps_net *n)
{
	return (struct ps_net_stats){
		.rx_datagrams = n->rx.datagrams,
		.rx_trains = n->rx.trains,
		.rx_packets = n->rx.packets,
		.rx_bytes = n->rx.bytes,
		.rx_overflow = n->rx.lost,
		.tx_packets = n->tx.packets,
		.tx_bytes = n->tx.bytes,
		.tx_full = n->tx.full,
		.tx_error = n->tx.error,
		.tx_errno = n->tx.error_no,
	};
}
