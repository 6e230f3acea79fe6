/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of messages, and the sizes of each collective. */
#include <errno.h>

#include "sock/check/want.h"
#include "tests/lib/tap.h"

#define W 4
#define R 2

static struct trib_want w;

static int want(unsigned int coll, unsigned int op, unsigned int dtype, __u32 root, __u64 len)
{
	struct trib_cm_send cm = {
		.collective = (__u8)coll,
		.op = (__u8)op,
		.dtype = (__u8)dtype,
		.root = root,
	};

	return trib_want_of(&w, &cm, len, W, R);
}

static void expect_want(__u64 count, __u64 size, __u64 first, __u64 bytes)
{
	expect_eq(w.count, count);
	expect_eq(w.size, size);
	expect_eq(w.first, first);
	expect_eq(w.bytes, bytes);
}

static void sizes__follow_the_collective(void)
{
	expect_eq(want(TRIB_COLL_ALLREDUCE, 0, 0, 0, 400), 0);
	expect_want(100, 400, 0, 400);
	expect_eq(want(TRIB_COLL_REDUCE_SCATTER, 0, 0, 0, 400), 0);
	expect_want(25, 400, 0, 100);
	expect_eq(want(TRIB_COLL_ALLGATHER, 0, 0, 0, 400), 0);
	expect_want(100, 1600, 800, 1600);
	expect_eq(want(TRIB_COLL_BROADCAST, 0, 0, 3, 400), 0);
	expect_want(100, 400, 0, 400);
	expect_eq(want(TRIB_COLL_BARRIER, 0, 0, 0, 0), 0);
	expect_want(0, 0, 0, 0);
}

static void sizes__empty_messages_are_valid(void)
{
	unsigned int coll;

	for (coll = 0; coll <= TRIB_COLL_BARRIER; coll++) {
		expect_eq(want(coll, 0, 1, 0, 0), 0);
		expect_want(0, 0, 0, 0);
	}
}

static void sizes__largest_message_does_not_wrap(void)
{
	struct trib_cm_send cm = {.collective = TRIB_COLL_ALLGATHER};

	expect_eq(trib_want_of(&w, &cm, 0xfffffffcu, 1024, 1023), 0);
	expect_eq(w.size, 0xfffffffcull * 1024);
	expect_eq(w.first, 0xfffffffcull * 1023);
}

static void message__must_be_whole_elements(void)
{
	unsigned int i;

	for (i = 1; i < 4; i++)
		expect_eq(want(TRIB_COLL_ALLREDUCE, 0, 0, 0, 400 + i), -EINVAL);
	expect_eq(want(TRIB_COLL_REDUCE_SCATTER, 0, 0, 0, 404), -EINVAL);
	expect_eq(want(TRIB_COLL_REDUCE_SCATTER, 0, 0, 0, 416), 0);
	expect_eq(want(TRIB_COLL_BARRIER, 0, 0, 0, 4), -EINVAL);
}

static void message__collective_op_and_type_must_exist(void)
{
	unsigned int coll;

	expect_eq(want(TRIB_COLL_BARRIER + 1, 0, 0, 0, 0), -EINVAL);
	expect_eq(want(0, TRIB_SOCK_MIN, 0, 0, 4), 0);
	expect_eq(want(0, TRIB_SOCK_MIN + 1, 0, 0, 4), -EINVAL);
	expect_eq(want(0, 0, TRIB_SOCK_I32 + 1, 0, 4), -EINVAL);
	expect_eq(want(0, TRIB_SOCK_AVG, TRIB_SOCK_F32, 0, 4), 0);
	expect_eq(want(0, TRIB_SOCK_AVG, TRIB_SOCK_I32, 0, 4), -EINVAL);
	for (coll = TRIB_COLL_ALLGATHER; coll <= TRIB_COLL_BARRIER; coll++)
		expect_eq(want(coll, TRIB_SOCK_MAX, 0, 0, 0), -EINVAL);
	for (coll = 0; coll <= TRIB_COLL_BARRIER; coll++)
		expect_eq(want(coll, 0, 0, W - 1, 0), coll == TRIB_COLL_BROADCAST ? 0 : -EINVAL);
	expect_eq(want(TRIB_COLL_BROADCAST, 0, 0, W, 4), -EINVAL);
}

static void message__unused_byte_is_zero(void)
{
	struct trib_cm_send cm = {.zero = 1};

	expect_eq(trib_want_of(&w, &cm, 4, W, R), -EINVAL);
}

int main(void)
{
	run(sizes__follow_the_collective);
	run(sizes__empty_messages_are_valid);
	run(sizes__largest_message_does_not_wrap);
	run(message__must_be_whole_elements);
	run(message__collective_op_and_type_must_exist);
	run(message__unused_byte_is_zero);
	return tap_done();
}
