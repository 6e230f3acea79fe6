// SPDX-License-Identifier: BSD-2-Clause
/* Random sendmsg() and recvmsg() on collective sockets: for sockops.c. */
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "sockops.h"
#include "tests/vm/rig/stress.h"

#define MSG_MAX (512 << 10)

static size_t some_length(void)
{
	switch (chance_below(8)) {
	case 0:
		return chance_below(4);
	case 1:
		return chance_below(MSG_MAX);
	case 2:
		return chance_odd();
	default:
		return 4 * chance_below(4000);
	}
}

static int some_iov(struct iovec *iov, bool sense)
{
	int n = sense ? 1 + chance_one_in(2) : (int)chance_below(6), i;

	for (i = 0; i < n; i++) {
		size_t len = sense ? 4 * chance_below(3000) : some_length();

		iov[i] = (struct iovec){sense ? chaos_memory() : chaos_somewhere(len), len};
	}
	return n;
}

static size_t some_control(uint8_t *room, size_t size)
{
	struct trib_cm_send cm = {
		.id = chance(),
		.collective = chance_below(chance_one_in(4) ? 256 : 5),
		.op = chance_below(chance_one_in(8) ? 256 : 4),
		.dtype = chance_below(chance_one_in(8) ? 256 : 2),
		.zero = chance_one_in(32),
		.root = chance_below(2) ? 0 : chance_below(4),
	};
	struct cmsghdr *c = (struct cmsghdr *)room;

	memset(room, 0, size);
	if (cm.collective >= TRIB_COLL_ALLGATHER && !chance_one_in(4))
		cm.op = 0;
	c->cmsg_level = chance_one_in(16) ? chance_odd() : SOL_TRIB;
	c->cmsg_type = chance_one_in(16) ? chance_below(4) : TRIB_CM_SEND;
	c->cmsg_len = CMSG_LEN(sizeof(cm));
	memcpy(CMSG_DATA(c), &cm, sizeof(cm));
	if (chance_one_in(16))
		c->cmsg_len = chance_odd();
	if (chance_one_in(16))
		chance_bytes(room, size);
	return chance_one_in(12) ? chance_below(size)
				 : CMSG_SPACE(sizeof(cm)) * (1 + chance_one_in(12));
}

static int some_flags(void)
{
	static const int flags[] = {0,	       MSG_DONTWAIT, MSG_DONTWAIT, MSG_PEEK,
				    MSG_TRUNC, MSG_WAITALL,  MSG_OOB,	   MSG_ERRQUEUE,
				    MSG_MORE,  MSG_EOR,	     MSG_CONFIRM,  MSG_ZEROCOPY};
	int f = flags[chance_below(12)];

	if (chance_one_in(4))
		f |= flags[chance_below(12)];
	return (chance_one_in(40) ? (int)chance() : f) | MSG_NOSIGNAL;
}

long chaos_send(void)
{
	uint8_t control[128] __attribute__((aligned(8)));
	struct iovec iov[6];
	struct msghdr m = {.msg_iov = iov};
	bool sense = !chance_one_in(3);

	m.msg_iovlen = some_iov(iov, sense);
	if (chance_one_in(2)) {
		m.msg_control = control;
		m.msg_controllen = some_control(control, sizeof(control));
	}
	if (chance_one_in(16)) {
		m.msg_name = chaos_somewhere(128);
		m.msg_namelen = chance_below(128);
	}
	/* Some calls wait for room while others close or change limits. */
	return sendmsg(chaos_any(), &m,
		       !sense		  ? some_flags()
		       : chance_one_in(4) ? 0
					  : MSG_DONTWAIT);
}

long chaos_recv(void)
{
	uint8_t control[128] __attribute__((aligned(8)));
	struct iovec iov[6];
	struct msghdr m = {.msg_iov = iov};
	bool sense = !chance_one_in(3);

	m.msg_iovlen = some_iov(iov, sense);
	if (chance_one_in(2)) {
		m.msg_control = chance_one_in(8) ? chaos_somewhere(128) : control;
		m.msg_controllen = chance_below(sizeof(control));
	}
	if (chance_one_in(16)) {
		m.msg_name = chaos_somewhere(128);
		m.msg_namelen = chance_below(128);
	}
	return recvmsg(chaos_any(), &m, sense ? MSG_DONTWAIT : some_flags());
}
