// SPDX-License-Identifier: BSD-2-Clause
/* A rank meets rank 0: connects until the time is over, proves the key, waits for all. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "peer/boot/boot_priv.h"

#define RETRY_MS 50
#define CONNECT_MS 1000
#define GRACE_MS 1000 /* rank 0 may have begun later, and knows who is missing */

/* Connect. Return: 0 or -errno. */
static int rank_connect(struct peer_boot *b, struct boot_conn *c, uint64_t end)
{
	uint64_t soon = clock_ms() + CONNECT_MS;
	struct in6_addr ip;
	uint16_t port = 0;
	int fd = -1, err;

	addr_parse_port(b->conf.address, &ip, &port);
	err = boot_dial(&ip, port, soon < end ? soon : end, &fd);
	if (!err)
		boot_conn_init(c, fd);
	return err;
}

/* Send what is queued, and wait for one message. Return: 0 or -errno. */
static int rank_wait(struct boot_conn *c, struct boot_msg *m, uint64_t end)
{
	int out, in;

	for (;;) {
		out = boot_conn_flush(c);
		in = boot_conn_read(c, m);
		if (in == 1)
			return 0;
		if (in < 0 || out < 0)
			return in < 0 ? in : out;
		if (boot_await(c->fd, (short)(POLLIN | (out ? 0 : POLLOUT)), end))
			return -ETIMEDOUT;
	}
}

/* Prove the key to each other. Return: 0; -EACCES: another key; -errno. */
static int rank_handshake(struct peer_boot *b, struct boot_conn *c, uint64_t end)
{
	uint64_t soon = clock_ms() + BOOT_HANDSHAKE_MS;
	struct boot_proof p = {0};
	struct boot_msg m;
	int err;

	c->hello = (struct boot_hello){
		.magic = BOOT_MAGIC,
		.job = b->conf.job,
		.rank = b->conf.rank,
		.world = b->conf.world,
	};
	err = boot_nonce(c->hello.nonce);
	if (!err)
		err = boot_conn_say(c, BOOT_HELLO, &c->hello, sizeof(c->hello));
	if (!err)
		err = rank_wait(c, &m, soon < end ? soon : end);
	if (err)
		return err;
	if (m.type != BOOT_CHALLENGE || m.len != sizeof(p))
		return -EPROTO;
	memcpy(&p, m.body, sizeof(p));
	boot_keys_make(&c->keys, &b->conf.key, &c->hello, p.nonce);
	if (!boot_equal(p.proof, c->keys.proof_root, 2))
		return -EACCES;
	memset(&p, 0, sizeof(p));
	memcpy(p.proof, c->keys.proof_rank, sizeof(p.proof));
	err = boot_conn_say(c, BOOT_PROOF, &p, sizeof(p));
	if (err)
		return err;
	boot_conn_secure(c, false, 8 + 4ULL * b->conf.world + BOOT_ALL_MAX);
	return 0;
}

/* Wait for START. @missing: what rank 0 said last. Return: 0; -errno; 1: final, in @e. */
static int rank_start(struct peer_boot *b, struct boot_conn *c, uint64_t end,
		      char missing[BOOT_TEXT_MAX + 1], struct trib_peer_error *e)
{
	struct boot_msg m;
	size_t len;
	int err;

	while (!(err = rank_wait(c, &m, end))) {
		switch (m.type) {
		case BOOT_START:
			return 0;
		case BOOT_WAIT:
			len = m.len < BOOT_TEXT_MAX ? m.len : BOOT_TEXT_MAX;
			memcpy(missing, m.body, len);
			missing[len] = '\0';
			text_one_line(missing);
			break;
		case BOOT_REFUSE:
		case BOOT_FAULT:
			return boot_fault_parse(&m, b->conf.world, e) ? -EPROTO : 1;
		default:
			return -EPROTO;
		}
	}
	return err;
}

/* Say why the meeting failed. */
static int rank_late(struct peer_boot *b, int last, const char *missing, struct trib_peer_error *e)
{
	if (missing[0])
		return peer_error(e, TRIB_PEER_MISSING, -ETIMEDOUT, -1,
				  "ranks did not come in %u ms: %s", b->conf.join_timeout_ms,
				  missing);
	return peer_error(e, TRIB_PEER_MISSING, -ETIMEDOUT, 0,
			  "rank 0 did not answer at %s in %u ms: %s", b->conf.address,
			  b->conf.join_timeout_ms,
			  last == -EPROTO ? "somebody else is there" : strerror(-last));
}

int boot_join_rank(struct peer_boot *b, struct trib_peer_error *e)
{
	uint64_t end = clock_ms() + b->conf.join_timeout_ms;
	char missing[BOOT_TEXT_MAX + 1] = "";
	struct boot_conn *c = &b->conns[0];
	int err, last = -ETIMEDOUT;

	do {
		err = rank_connect(b, c, end);
		if (!err)
			err = rank_handshake(b, c, end);
		if (!err)
			err = rank_start(b, c, end + GRACE_MS, missing, e);
		if (!err)
			return 0;
		boot_conn_end(c);
		if (err == 1)
			return e->err;
		if (err == -EACCES)
			return peer_error(e, TRIB_PEER_ARGUMENT, err, 0,
					  "rank 0 at %s has another key", b->conf.address);
		if (err != -ETIMEDOUT)
			last = err;
		poll(NULL, 0, RETRY_MS);
	} while (clock_ms() < end);
	return rank_late(b, last, missing, e);
}
