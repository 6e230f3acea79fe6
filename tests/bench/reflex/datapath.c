// SPDX-License-Identifier: BSD-2-Clause
/*
 * bench-datapath: the rate of XDP alone. A rank whose cells are always ready: it neither
 * quantises nor reads values, and looks at its cells every SLEEP_US.
 *
 *	fabric run -- bench-datapath [-t SECONDS] [-d D] [-J FILE]
 *
 * It joins by libtrib, whose engine stays idle afterwards, and takes over the cells.
 */
#include <endian.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/inner.h"
#include "lib/handle/handle.h"
#include "lib/way/carrier.h"

#define SLEEP_US 100
#define BURST 32
#define SEC 1000000000ULL

/**
 * struct lane - what the rank does with its cells
 * @t, @s: handle and its stream.
 * @dist:  D.
 * @read:  the lowest chunk without result; @filled: the lowest that is not READY.
 * @late:  chunks that this rank sent itself, beside the first D.
 */
struct lane {
	struct trib *t;
	struct trib_stream *s;
	uint64_t dist;
	uint64_t read;
	uint64_t filled;
	uint64_t late;
};

static void die(const char *what, int err)
{
	fprintf(stderr, "bench-datapath: %s: %s\n", what, strerror(-err));
	exit(1);
}

/* Packets of one call */
struct burst {
	struct trib_iovec iov[BURST];
	unsigned int n;
};

static void flush(struct lane *l, struct burst *b)
{
	unsigned int done = 0;
	int rc;

	while (done < b->n) {
		rc = l->s->eng->ops->send(l->s->eng, l->s, b->iov + done, b->n - done,
					  (unsigned int)b->iov[0].iov_len);
		if (rc > 0)
			done += (unsigned int)rc;
		else
			usleep(SLEEP_US);
	}
	b->n = 0;
}

/* Send a chunk whose result XDP will not see again. */
static void send_self(struct lane *l, struct burst *b, uint64_t c)
{
	struct trib_hdr *h = (struct trib_hdr *)trib_cell(l->s, c);

	b->iov[b->n++] = (struct trib_iovec){h, trib_packet_len(h)};
	if (b->n == BURST)
		flush(l, b);
	l->late++;
}

static bool held(const struct lane *l, uint64_t c)
{
	return trib_cells_state(l->s, c) == TRIB_CELL_RESULT;
}

static void fill_one(struct lane *l, uint64_t c)
{
	struct trib_hdr *h = (struct trib_hdr *)trib_cell(l->s, c);

	trib_hdr_fill(l->s, h, TRIB_T_GRAD, (uint32_t)c);
	h->op = TRIB_WOP_ADD;
	h->fmt = TRIB_FMT_I32;
	h->nval = htobe16(l->s->nval);
	trib_cells_ready(l->s, c);
}

/*
 * Fill cells, but of the last W results, which others may lack. Then send those whose turn
 * has passed: a cell is READY before its result is looked at, and XDP does the reverse. The
 * lanes of D chunks are parts of those of W, so a result that lets a chunk go tells of both.
 */
static void fill(struct lane *l)
{
	uint64_t end = l->read + l->s->cell_mask + 1 - l->s->window, c = l->filled;
	struct burst b = {.n = 0};

	/* The engine wakes for a quarter of the cells, too. */
	if (end - c < (l->s->cell_mask + 1) / 4)
		return;

	for (; l->filled < end; l->filled++)
		fill_one(l, l->filled);
	trib_word_fence();
	for (; c < end; c++) {
		if (held(l, c - l->dist) && trib_cells_take(l->s, c))
			send_self(l, &b, c);
	}
	flush(l, &b);
}

static void begin(struct lane *l)
{
	struct trib_stream *s = l->s;

	l->read = l->filled = s->next;
	trib_word_store(&s->lanes.desk->dist, (uint32_t)l->dist);
	fill(l);
	l->late = 0;
}

/* Read results until @end. Return: chunks. */
static uint64_t run(struct lane *l, uint64_t end)
{
	uint64_t from = l->read, moved = clock_ns(), now;

	while ((now = clock_ns()) < end) {
		uint64_t before = l->read;

		while (held(l, l->read))
			l->read++;
		fill(l);
		if (l->read != before)
			moved = now;
		else if (now - moved > SEC)
			die("a packet was lost: run it again", -ETIMEDOUT);
		usleep(SLEEP_US);
	}
	return l->read - from;
}

static void report(const struct lane *l, uint64_t chunks, uint64_t ns, const char *json)
{
	double gbps = (double)chunks * l->s->nval * 32 / (double)ns;
	FILE *f = json ? fopen(json, "w") : NULL;

	printf("%.3f Gb/s of values, %llu chunks of %u, %llu of them sent by the rank\n", gbps,
	       (unsigned long long)chunks, l->s->nval, (unsigned long long)l->late);
	if (json && (!f || fprintf(f, "{\"gbps\": %.6f}\n", gbps) < 0 || fclose(f)))
		die(json, -errno);
}

int main(int argc, char **argv)
{
	struct lane l = {.dist = 16};
	const char *json = NULL;
	double seconds = 2;
	uint64_t start, n;
	int o, rc;

	while ((o = getopt(argc, argv, "t:d:J:")) != -1) {
		if (o == 't')
			seconds = atof(optarg);
		else if (o == 'd')
			l.dist = strtoul(optarg, NULL, 10);
		else if (o == 'J')
			json = optarg;
		else
			return 2;
	}
	rc = trib_attach(&l.t, NULL);
	if (rc)
		die(trib_error_text(NULL), rc);
	l.s = l.t->eng.stream[0];
	if (!l.s->lanes.able || l.dist < 1 || l.s->window % l.dist)
		die("XDP does not send for this rank, or D does not divide W", -EINVAL);
	pthread_mutex_lock(&l.t->lock);
	begin(&l);
	start = clock_ns();
	n = run(&l, start + (uint64_t)(seconds * SEC));
	if (l.t->eng.rank == 0)
		report(&l, n, clock_ns() - start, json);
	/* The others may still need this rank: all end by themselves, and the job with them. */
	usleep(200000);
	return 0;
}
