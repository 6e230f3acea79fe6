/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums by collective sockets: every collective, operation and type, and many
 * lengths. All values are integers that are exact in every format, so the oracle is
 * plain arithmetic.
 */
#include "sock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/tap.h"

static int value(unsigned int rank, size_t i)
{
	return (int)((i * 7 + rank * 13) % 1001) - 500;
}

static int expected(unsigned int op, size_t i)
{
	int sum = 0, most = -1000, least = 1000, v;
	unsigned int r;

	for (r = 0; r < w.n; r++) {
		v = value(r, i);
		sum += v;
		most = v > most ? v : most;
		least = v < least ? v : least;
	}
	return op == TRIB_SOCK_MAX ? most : op == TRIB_SOCK_MIN ? least : sum;
}

/* Elements of f32 or i32. */
static void put(void *p, size_t i, int v, unsigned int dtype)
{
	if (dtype == TRIB_SOCK_F32)
		((float *)p)[i] = (float)v;
	else
		((int32_t *)p)[i] = v;
}

static double get(const void *p, size_t i, unsigned int dtype)
{
	return dtype == TRIB_SOCK_F32 ? ((const float *)p)[i] : ((const int32_t *)p)[i];
}

/* Number of elements that a rank sends, and receives. */
static size_t in_of(const struct trib_cm_send *cm, size_t n)
{
	return cm->collective == TRIB_COLL_REDUCE_SCATTER ? n * w.n
	       : cm->collective == TRIB_COLL_BARRIER	  ? 0
							  : n;
}

static size_t out_of(const struct trib_cm_send *cm, size_t n)
{
	return cm->collective == TRIB_COLL_ALLGATHER ? n * w.n
	       : cm->collective == TRIB_COLL_BARRIER ? 0
						     : n;
}

/* Element @i of the result of @rank. */
static double oracle(const struct trib_cm_send *cm, unsigned int rank, size_t i, size_t n)
{
	switch (cm->collective) {
	case TRIB_COLL_REDUCE_SCATTER:
		i += rank * n;
		break;
	case TRIB_COLL_ALLGATHER:
		return value(i / n, i % n);
	case TRIB_COLL_BROADCAST:
		return value(cm->root, i);
	}
	if (cm->op == TRIB_SOCK_AVG)
		return expected(TRIB_SOCK_SUM, i) / (double)w.n;
	return expected(cm->op, i);
}

static void send_one(unsigned int rank, const struct trib_cm_send *cm, size_t n)
{
	size_t len = in_of(cm, n), i;
	void *p = malloc(4 * len + 1);

	for (i = 0; i < len; i++)
		put(p, i, value(rank, i), cm->dtype);
	expect_eq(send_cm(w.fd[rank], p, 4 * len, cm, 0), 4 * len);
	free(p);
}

static void recv_one(unsigned int rank, const struct trib_cm_send *cm, size_t n)
{
	size_t len = out_of(cm, n), i;
	struct trib_cm_recv got;
	void *p = malloc(4 * len + 4);
	ssize_t rc = recv_cm(w.fd[rank], p, 4 * len + 4, &got, 0);

	expect_eq(rc, 4 * len);
	expect_eq(got.id, cm->id);
	expect_eq(got.bytes, 4 * len);
	expect_eq(got.err, 0);
	expect_eq(got.rank, -1);
	expect_eq(got.index, -1);
	for (i = 0; rc > 0 && i < len; i++)
		if (get(p, i, cm->dtype) != oracle(cm, rank, i, n)) {
			printf("# rank %u, element %zu of %zu: %g, not %g\n", rank, i, len,
			       get(p, i, cm->dtype), oracle(cm, rank, i, n));
			tap_bad++;
			break;
		}
	free(p);
}

static void collective(const struct trib_cm_send *cm, size_t n)
{
	unsigned int r;

	for (r = 0; r < w.n; r++)
		send_one(r, cm, n);
	for (r = 0; r < w.n; r++)
		recv_one(r, cm, n);
}

static const size_t lengths[] = {0, 1, 2, 15, 352, 353, 1000, 12345, 100003};

static void allreduce__all_lengths(void)
{
	unsigned int i, dtype;

	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		for (dtype = 0; dtype < 2; dtype++)
			collective(&(struct trib_cm_send){.id = 100 + i, .dtype = dtype},
				   lengths[i]);
}

static void allreduce__a_million(void)
{
	collective(&(struct trib_cm_send){.id = 7}, 1 << 20);
}

static void allreduce__all_operations(void)
{
	unsigned int op, dtype;

	for (op = 0; op <= TRIB_SOCK_MIN; op++)
		for (dtype = 0; dtype < 2; dtype++)
			if (op != TRIB_SOCK_AVG || dtype == TRIB_SOCK_F32)
				collective(&(struct trib_cm_send){.op = op, .dtype = dtype}, 5000);
}

static void reduce_scatter__each_gets_its_part(void)
{
	unsigned int i, op;

	for (i = 0; i < 7; i++)
		for (op = 0; op <= TRIB_SOCK_MIN; op++)
			collective(&(struct trib_cm_send){.collective = TRIB_COLL_REDUCE_SCATTER,
							  .op = op},
				   lengths[i]);
}

static void allgather__all_get_all(void)
{
	unsigned int i, dtype;

	for (i = 0; i < 8; i++)
		for (dtype = 0; dtype < 2; dtype++)
			collective(&(struct trib_cm_send){.collective = TRIB_COLL_ALLGATHER,
							  .dtype = dtype},
				   lengths[i]);
}

static void broadcast__from_each_root(void)
{
	unsigned int root;

	for (root = 0; root < w.n; root++)
		collective(&(struct trib_cm_send){.collective = TRIB_COLL_BROADCAST, .root = root},
			   3333);
}

static void barrier__waits_for_all(void)
{
	struct trib_cm_send cm = {.collective = TRIB_COLL_BARRIER, .id = 5};
	struct trib_cm_recv got;
	unsigned int r;

	for (r = 1; r < w.n; r++)
		send_one(r, &cm, 0);
	expect_eq(await(w.fd[1], POLLIN, 100), 0);
	expect_eq(recv_cm(w.fd[1], NULL, 0, &got, MSG_DONTWAIT), -EAGAIN);
	send_one(0, &cm, 0);
	for (r = 0; r < w.n; r++)
		recv_one(r, &cm, 0);
}

/* Send all messages before receiving the first: results come in order. */
static void many__are_under_way_together(void)
{
	struct trib_cm_send cm = {0};
	unsigned int r, k;

	for (k = 0; k < 16; k++) {
		cm = (struct trib_cm_send){.id = 1000 + k,
					   .dtype = k % 2,
					   .op = k % 3 ? TRIB_SOCK_SUM : TRIB_SOCK_MAX};
		for (r = 0; r < w.n; r++)
			send_one(r, &cm, 1 + k * 977);
	}
	for (k = 0; k < 16; k++) {
		cm = (struct trib_cm_send){.id = 1000 + k,
					   .dtype = k % 2,
					   .op = k % 3 ? TRIB_SOCK_SUM : TRIB_SOCK_MAX};
		for (r = 0; r < w.n; r++)
			recv_one(r, &cm, 1 + k * 977);
	}
}

/* Without a control message: f32 sums with ids from 0 on. */
static void send__without_control_is_an_allreduce(void)
{
	float x[3] = {1, 2, 3}, y[3];
	struct trib_cm_recv got;
	uint64_t id = info_of(w.fd[0]).messages;
	unsigned int r;

	for (r = 0; r < w.n; r++)
		expect_eq(send(w.fd[r], x, sizeof(x), 0), sizeof(x));
	for (r = 0; r < w.n; r++) {
		expect_eq(recv_cm(w.fd[r], y, sizeof(y), &got, 0), sizeof(y));
		expect_eq(got.id, id);
		expect(y[0] == 4 && y[1] == 8 && y[2] == 12);
	}
	/* With TRIB_SO_DTYPE: i32 sums. */
	for (r = 0; r < w.n; r++) {
		expect_eq(set_u32(w.fd[r], TRIB_SO_DTYPE, TRIB_SOCK_I32), 0);
		expect_eq(send(w.fd[r], x, sizeof(x), 0), sizeof(x));
	}
	for (r = 0; r < w.n; r++) {
		expect_eq(recv(w.fd[r], y, sizeof(y), 0), sizeof(y));
		expect_eq(get(y, 0, TRIB_SOCK_I32), (int32_t)(4u * 0x3f800000u));
		expect_eq(set_u32(w.fd[r], TRIB_SO_DTYPE, TRIB_SOCK_F32), 0);
	}
}

/* All ranks learn rank and index; the socket continues. */
static void nan__is_reported_by_rank_and_index(void)
{
	size_t n = 2000;
	float *x = calloc(n, 4), y[1];
	struct trib_cm_recv got;
	unsigned int r;

	for (r = 0; r < w.n; r++) {
		x[1234] = r == 2 ? NAN : 0;
		expect_eq(send(w.fd[r], x, 4 * n, 0), 4 * n);
	}
	for (r = 0; r < w.n; r++) {
		if (r == 3) { /* no room for a control message */
			expect_eq(recv(w.fd[r], y, 4, 0), -1);
			expect_eq(errno, EDOM);
			continue;
		}
		expect_eq(recv_cm(w.fd[r], y, 4, &got, 0), 0);
		expect_eq(got.err, EDOM);
		expect_eq(got.bytes, 0);
		expect_eq(got.rank, 2);
		expect_eq(got.index, 1234);
	}
	free(x);
	collective(&(struct trib_cm_send){.id = 3}, 100);
}

/* All ranks learn the first element whose sum is beyond fp32, and get all sums. */
static void overflow__is_reported_with_the_sums(void)
{
	const size_t n = 2000;
	float *x = calloc(n, 4), *y = calloc(n, 4);
	struct trib_cm_recv got;
	unsigned int r;

	x[7] = 1;
	x[1234] = x[1500] = 3.4e38f;
	for (r = 0; r < w.n; r++)
		expect_eq(send(w.fd[r], x, 4 * n, 0), 4 * n);
	for (r = 0; r < w.n; r++) {
		if (r == 3) { /* no room for a control message */
			expect_eq(recv(w.fd[r], y, 4 * n, 0), -1);
			expect_eq(errno, ERANGE);
			continue;
		}
		expect_eq(recv_cm(w.fd[r], y, 4 * n, &got, 0), 4 * n);
		expect_eq(got.err, ERANGE);
		expect_eq(got.bytes, 4 * n);
		expect_eq(got.rank, -1);
		expect_eq(got.index, 1234);
		expect(y[7] == (float)w.n && isinf(y[1234]) && isinf(y[1500]));
	}
	free(x);
	free(y);
	collective(&(struct trib_cm_send){.id = 4}, 100);
}

int main(void)
{
	int rc;

	world_read();
	rc = join_all(0);
	tap_ok(!rc, "join__all_ranks_run");
	if (rc)
		return 1;
	run(allreduce__all_lengths);
	run(allreduce__a_million);
	run(allreduce__all_operations);
	run(reduce_scatter__each_gets_its_part);
	run(allgather__all_get_all);
	run(broadcast__from_each_root);
	run(barrier__waits_for_all);
	run(many__are_under_way_together);
	run(send__without_control_is_an_allreduce);
	run(nan__is_reported_by_rank_and_index);
	run(overflow__is_reported_with_the_sums);
	leave_all(0);
	return tap_done();
}
