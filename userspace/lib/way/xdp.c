// SPDX-License-Identifier: BSD-2-Clause
/*
 * The mapped transport: this process shares cells with tribd's XDP program
 * (uapi/trib_cell.h). XDP writes results there, and sends what the engine leaves to it.
 * It writes all other packets for this rank into a ring buffer, which also wakes the
 * process. udp.c's socket sends the rest, joins and receives START.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "carrier.h"
#include "lib/place/tribd.h"
#include "uapi/trib_maps.h"

/* Copied from linux/bpf.h, which clashes with other headers here. */
#define RING_BUSY (1U << 31)
#define RING_DISCARD (1U << 30)
#define RING_HDR 8
/* Most records that one turn takes. */
#define RING_BATCH 256
/* Turns after which the ring is read, even if results still come. */
#define TURNS 16

/**
 * struct trib_xdp - see t->xdp
 * @cells:    cells and desk of each stream, @cells_len bytes each; NULL: not mapped.
 * @consumer: ring position up to which this process has read; it writes this.
 * @producer: ring position up to which XDP has written; the data begins one
 *            page later.
 * @page:     bytes of a page.
 * @watch:    the connection to tribd.
 * @turns:    calls of recv() since the ring was read.
 */
struct trib_xdp {
	void *cells[TRIB_ATTACH_TREES];
	size_t cells_len;
	unsigned long *consumer;
	const unsigned long *producer;
	size_t page;
	struct trib_watch watch;
	unsigned int turns;
};

/* --- opening and closing */

static int map_cells(struct trib *t, struct trib_xdp *x)
{
	const struct trib_attach_rep *rep = &t->place.rep;
	unsigned int i;
	void *p;

	x->cells_len =
		(rep->ncell + 1) * (sizeof(struct trib_cell) - 4 * TRIB_NVAL + 4ul * rep->nval);
	for (i = 0; i < rep->ntree; i++) {
		p = mmap(NULL, x->cells_len, PROT_READ | PROT_WRITE, MAP_SHARED,
			 t->place.cells_fd[i], 0);
		if (p == MAP_FAILED)
			return -errno;
		x->cells[i] = p;
	}
	return 0;
}

/* The kernel maps the data twice in a row, so a record is never split. */
static int map_ring(struct trib *t, struct trib_xdp *x)
{
	void *p = mmap(NULL, x->page, PROT_READ | PROT_WRITE, MAP_SHARED, t->place.ring_fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	x->consumer = p;
	p = mmap(NULL, x->page + 2 * TRIB_RING_BYTES, PROT_READ, MAP_SHARED, t->place.ring_fd,
		 (off_t)x->page);
	if (p == MAP_FAILED)
		return -errno;
	x->producer = p;
	return 0;
}

static void xdp_close(struct trib *t)
{
	struct trib_xdp *x = t->xdp;
	unsigned int i;

	trib_udp.close(t);
	if (!x)
		return;
	trib_watch_close(&x->watch);
	for (i = 0; i < TRIB_ATTACH_TREES; i++)
		if (x->cells[i])
			munmap(x->cells[i], x->cells_len);
	if (x->producer)
		munmap((void *)(uintptr_t)x->producer, x->page + 2 * TRIB_RING_BYTES);
	if (x->consumer)
		munmap(x->consumer, x->page);
	free(x);
	t->xdp = NULL;
}

static int xdp_open(struct trib *t)
{
	struct trib_xdp *x = calloc(1, sizeof(*x));
	int err;

	t->xdp = x;
	if (!x)
		return trib_fail(t, TRIB_ERR_SYSTEM, -ENOMEM, "out of memory");
	x->page = (size_t)sysconf(_SC_PAGESIZE);
	err = map_cells(t, x);
	if (!err)
		err = map_ring(t, x);
	if (err)
		return trib_fail(t, TRIB_ERR_SYSTEM, err,
				 "cannot map tribd's result cells and ring: %s", strerror(-err));
	err = trib_watch_open(t, &x->watch);
	if (err)
		return trib_fail(t, TRIB_ERR_SYSTEM, err,
				 "cannot watch the connection to tribd: %s", strerror(-err));
	return trib_udp.open(t);
}

static int xdp_start(struct trib *t)
{
	unsigned int i;
	int err;

	for (i = 0; i < t->eng.nstream; i++) {
		struct trib_stream *s = t->eng.stream[i];

		err = trib_watch_epoch(t, &t->xdp->watch, s->tree, s->epoch);
		if (err && !t->eng.dead)
			trib_fail(t, TRIB_ERR_SYSTEM, err, "tribd refuses epoch %u of tree %u: %s",
				  s->epoch, s->tree, strerror(-err));
		if (err)
			return err;
	}
	return trib_udp.start ? trib_udp.start(t) : 0;
}

static void xdp_epochs(struct trib *t)
{
	trib_watch_tell(t, &t->xdp->watch);
}

static int xdp_pollfds(struct trib *t, struct pollfd *pfd)
{
	int n = trib_udp.pollfds(t, pfd);

	pfd[n++] = (struct pollfd){t->place.ring_fd, POLLIN, 0};
	pfd[n++] = (struct pollfd){t->xdp->watch.fd, POLLIN, 0};
	return n;
}

/* --- receiving */

static void rx_event(struct trib *t, const struct trib_event *ev)
{
	struct trib_stream *s = trib_stream_of(&t->eng, ev->tree);
	struct trib_rx rx = {
		.type = ev->type,
		.flags = ev->flags,
		.aux = ev->aux,
		.chunk = ev->chunk,
		.epoch = ev->epoch,
		.seen = ev->seen,
	};

	/* The record of a result only wakes: its cell holds the values. */
	if (s && ev->type != TRIB_T_RESULT)
		trib_rx(s, &rx);
}

static int drain_ring(struct trib *t)
{
	struct trib_xdp *x = t->xdp;
	const uint8_t *data = (const uint8_t *)x->producer + x->page;
	unsigned long at = *x->consumer, end;
	int n = 0;

	end = __atomic_load_n(x->producer, __ATOMIC_ACQUIRE);
	while (at < end && n < RING_BATCH) {
		const uint32_t *hdr = (const void *)(data + (at & (TRIB_RING_BYTES - 1)));
		uint32_t len = __atomic_load_n(hdr, __ATOMIC_ACQUIRE);
		struct trib_event ev;

		if (len & RING_BUSY)
			break;
		if (!(len & RING_DISCARD) && len >= sizeof(ev)) {
			memcpy(&ev, (const uint8_t *)hdr + RING_HDR, sizeof(ev));
			rx_event(t, &ev);
		}
		len &= ~RING_DISCARD;
		at += (len + RING_HDR + 7) & ~7u;
		__atomic_store_n(x->consumer, at, __ATOMIC_RELEASE);
		n++;
	}
	/*
	 * From here on XDP wakes this process again. An exchange, not a store:
	 * the next look at the cells must see what XDP wrote before.
	 */
	__atomic_exchange_n(x->consumer, at, __ATOMIC_SEQ_CST);
	return n;
}

static int read_all(struct trib *t)
{
	unsigned int i;
	int n = 0;

	for (i = 0; i < t->eng.nstream; i++)
		n += (int)trib_cells_read(t->eng.stream[i]);
	return n;
}

/*
 * While results come, leave the ring unread: XDP wakes this process only if the
 * ring was read. Read it before sleeping, and every TURNS turns.
 */
static int xdp_recv(struct trib *t)
{
	struct trib_xdp *x = t->xdp;
	int n, err;

	n = read_all(t);
	if (n && ++x->turns < TURNS)
		return TRIB_TUNE_RECV_BATCH; /* call again: there may be more */
	x->turns = 0;
	n += drain_ring(t);
	n += read_all(t);
	err = trib_udp.recv(t);
	if (err < 0)
		return err;
	n += err;
	trib_watch_run(t, &x->watch, n);
	return n;
}

static int xdp_send(struct trib_engine *eng, struct trib_stream *s, const struct iovec *iov,
		    unsigned int niov, unsigned int seg)
{
	return trib_udp.ops.send(eng, s, iov, niov, seg);
}

static int xdp_cells(struct trib_engine *eng, struct trib_stream *s, struct trib_cells *out)
{
	const struct trib *t = trib_of(eng);
	const struct trib_attach_rep *rep = &t->place.rep;

	*out = (struct trib_cells){
		.base = t->xdp->cells[s->index],
		.n = rep->ncell,
		.reflex = rep->tree[s->index].flags & TRIB_ATTACH_REFLEX,
	};
	return 0;
}

static bool xdp_rest(struct trib *t)
{
	return trib_cells_rest(&t->eng);
}

const struct trib_carrier trib_xdp = {
	.name = "xdp",
	.ops =
		{
			.send = xdp_send,
			.cells = xdp_cells,
		},
	.open = xdp_open,
	.start = xdp_start,
	.epochs = xdp_epochs,
	.close = xdp_close,
	.pollfds = xdp_pollfds,
	.recv = xdp_recv,
	.rest = xdp_rest,
};
