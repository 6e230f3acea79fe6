// SPDX-License-Identifier: BSD-2-Clause
/*
 * Places and messages: a worker learns its place, and a socket gets orders. The first
 * byte selects: an answer of tribd, with descriptors, as libtrib takes it; a place as the
 * module takes it (TRIB_SO_PLACE); a message of a collective socket. What is taken
 * must be in range; a ticket's rules and the module's agree; no descriptor is lost.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

#include "lib/place/tribd.c"
#include "sock/check/place.h"
#include "sock/check/want.h"
#include "tests/fuzz/input.h"

int trib_fail(struct trib *t, int code, int err, const char *fmt, ...)
{
	(void)t;
	(void)code;
	(void)fmt;
	return err;
}

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "place: %s\n", what);
	abort();
}

/* --- a place that makes sense, then changes to it */

static void sane(struct input *in, struct trib_attach_rep *r)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	uint8_t how = take8(in);

	memset(r, 0, sizeof(*r));
	r->magic = TRIB_ATTACH_MAGIC;
	r->version = TRIB_ATTACH_VERSION;
	r->world = 4;
	r->rank = how & 3;
	r->nval = how & 4 ? TRIB_NVAL_LARGE : TRIB_NVAL_SMALL;
	r->window = 16;
	r->ntree = (uint16_t)(1 + (how >> 3 & 3));
	for (unsigned int i = 0; i < r->ntree; i++) {
		struct trib_attach_tree *a = &r->tree[i];
		uint8_t *b = (uint8_t *)a->addr;

		a->tree = (uint16_t)(i + 1);
		a->port = 7417;
		a->recv_port = 7418;
		a->child = (uint16_t)r->rank;
		memcpy(b, mapped, sizeof(mapped));
		b[12] = 10;
		b[15] = (uint8_t)(1 + i);
		if (!(how & 0x20))
			continue;
		a->flags = TRIB_ATTACH_SHARED;
		a->nhop = 1;
		a->hop[0].relay = 3;
		a->hop[0].port = 7417;
		memcpy(a->hop[0].addr, a->addr, sizeof(a->addr));
	}
	if (how & 0x40)
		r->flags = TRIB_ATTACH_MAPPED;
	if (!(how & 0x80))
		return;
	memcpy(r->peers, r->tree[0].addr, sizeof(r->peers));
	r->peers_port = 7416;
	/* Such ranks need no tree. */
	if (how & 0x20)
		r->ntree = 0;
}

static void bend(struct input *in, void *p, size_t size)
{
	while (in->left) {
		size_t at = take(in, 2);

		((uint8_t *)p)[at % size] ^= take8(in);
	}
}

static void trees_hold(const struct trib_attach_rep *r)
{
	must(r->ntree <= TRIB_ATTACH_TREES, "trees");
	must(r->world >= 1 && r->world <= TRIB_WORLD_MAX && r->rank < r->world, "world, rank");
	must(!(r->window & (r->window - 1)), "a window");
	must(r->nval <= TRIB_NVAL_LARGE, "values");
	for (unsigned int i = 0; i < r->ntree; i++) {
		const struct trib_attach_tree *a = &r->tree[i];
		bool shared = a->flags & TRIB_ATTACH_SHARED;

		must(a->port && a->nhop <= TRIB_ATTACH_HOPS, "a tree");
		must(shared ? a->child == r->rank : a->child < TRIB_CHILDREN_MAX, "a child");
		must(shared || !a->nhop, "relays of a dedicated tree");
		for (unsigned int k = 0; k < a->nhop; k++)
			must(a->hop[k].port && a->hop[k].relay && a->hop[k].relay != TRIB_RELAY_PS,
			     "a relay");
	}
}

/* --- an answer of tribd */

static unsigned int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void send_answer(int fd, const void *data, size_t len, unsigned int nfd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(16 * sizeof(int))];
	} control = {};
	struct iovec iov = {(void *)data, len};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (nfd) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(nfd * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nfd * sizeof(int));
		for (unsigned int i = 0; i < nfd; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &null, sizeof(int));
	}
	must(sendmsg(fd, &m, MSG_DONTWAIT) >= 0, "sendmsg()");
	close(null);
}

static void answer(struct input *in)
{
	static struct trib_attach_rep rep;
	struct trib_attach_req req;
	struct trib_place p;
	uint8_t fds = take8(in), cut = take8(in);
	size_t len = sizeof(rep);
	unsigned int before = open_files();
	int pair[2], err;

	sane(in, &rep);
	fds = fds & 0x80 ? rep.ntree + 1 : fds & 15;
	if (cut == 0xff)
		len = take(in, 2) % (sizeof(rep) + 1);
	bend(in, &rep, sizeof(rep));
	must(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair),
	     "socketpair()");
	send_answer(pair[1], &rep, len, fds);
	place_clear(&p);
	p.sock = pair[0];
	trib_tribd_fill(&req, TRIB_ATTACH_HELLO, 0, 0, "train");
	err = hello(&p, &req);
	if (!err) {
		trees_hold(&p.rep);
		must(p.rep.ntree || (p.rep.peers_port && p.ring_fd < 0), "neither trees nor peers");
		must(!(rep.flags & TRIB_ATTACH_MAPPED) == (p.ring_fd < 0), "a ring");
	} else {
		memset(&p.rep, 0, sizeof(p.rep));
	}
	trib_tribd_release(&p, true);
	close(pair[1]);
	must(open_files() == before, "a descriptor is lost");
}

/* --- a place for the module */

static void place(struct input *in)
{
	struct trib_attach_rep *r = calloc(1, sizeof(*r));
	uint8_t cut = take8(in);
	const char *why;
	size_t len;

	must(r != NULL, "memory");
	sane(in, r);
	r->flags = 0;
	len = cut & 0x80 ? trib_place_len(r->ntree) : take(in, 2) % (sizeof(*r) + 1);
	bend(in, r, sizeof(*r));
	/* The kernel copies so many bytes; the rest is zeros. */
	memset((char *)r + len, 0, sizeof(*r) - len);
	why = trib_place_wrong(r, len);
	must(!why || *why, "no reason");
	if (!why) {
		trees_hold(r);
		must(r->ntree, "no trees");
		must(len >= trib_place_len(r->ntree), "trees behind the end");
		for (unsigned int i = 0; i < r->ntree; i++)
			must(r->tree[i].recv_port && trib_addr_is_set(r->tree[i].addr), "a port");
	}
	free(r);
}

/* --- a message */

static void message(struct input *in)
{
	struct trib_cm_send cm = {
		.collective = take8(in) & 7,
		.op = take8(in) & 7,
		.dtype = take8(in) & 3,
	};
	unsigned int world = 1 + take(in, 2) % TRIB_WORLD_MAX, rank = take(in, 2) % world;
	uint64_t len = take(in, 4);
	struct trib_want w;

	cm.root = (uint32_t)take(in, 2);
	bend(in, &cm, sizeof(cm));
	if (trib_want_of(&w, &cm, len, world, rank))
		return;
	must(w.bytes <= w.size && w.first <= w.size && len <= w.size - w.first,
	     "bytes outside of the buffer");
	must(w.count * 4 <= w.size && w.size <= len * world, "sizes");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};

	switch (take8(&in) & 3) {
	case 0:
		answer(&in);
		break;
	case 1:
		message(&in);
		break;
	default:
		place(&in);
	}
	return 0;
}
