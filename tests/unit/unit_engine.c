// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine as its hosts see it: joining, calls and leaving, one step at a
 * time, with a transport that only takes notes; and every allocation failing
 * once. Wires and relays are in the tests on an imagined network.
 */
#include <errno.h>

#include "engine/inner.h"
#include "tests/tap.h"

#define NVAL 352
#define WORLD 3
#define RANK 1
#define NONCE 0x100000007ULL
#define EPOCH 5

/* --- allocations: the @fail_at-th from now fails; 0: none does */

static unsigned int fail_at, allocations;
static bool refuse_room;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	if (++allocations == fail_at)
		return NULL;
	return __real_calloc(n, size);
}

/* Did the failure come? From here on there are none. */
static bool failed(void)
{
	bool was = fail_at && allocations >= fail_at;

	fail_at = 0;
	return was;
}

static void fail(unsigned int nth)
{
	allocations = 0;
	fail_at = nth;
}

/* --- the host */

static struct {
	unsigned int sent[32]; /* by type */
	struct trib_hdr last;
	unsigned int done, died;
} note;

static int take(struct trib_engine *eng, struct trib_stream *s,
		const struct trib_iovec *iov, unsigned int niov,
		unsigned int seg)
{
	size_t total = 0;
	unsigned int i, n;

	(void)eng;
	(void)s;
	for (i = 0; i < niov; i++)
		total += iov[i].iov_len;
	memcpy(&note.last, iov[0].iov_base, sizeof(note.last));
	n = (unsigned int)((total + seg - 1) / seg);
	note.sent[note.last.type] += n;
	return (int)n;
}

static const struct trib_transport_ops transport = {.send = take};

static void on_done(struct trib_req *r)
{
	note.done++;
	expect(r->done);
}

static void on_died(struct trib_engine *eng)
{
	note.died++;
	expect(eng->dead);
}

static int on_room(struct trib_engine *eng, size_t bytes)
{
	(void)eng;
	expect(bytes > 8 * NVAL * 4);
	return refuse_room ? -ENOBUFS : 0;
}

static const struct trib_host_ops host = {
	.done = on_done,
	.died = on_died,
	.room = on_room,
};

static struct trib_attach_rep place(unsigned int trees)
{
	struct trib_attach_rep rep = {
		.rank = RANK,
		.world = WORLD,
		.job = 9,
		.ntree = (uint16_t)trees,
		.cookie = 0x1234,
	};
	unsigned int i;

	for (i = 0; i < trees; i++) {
		rep.tree[i].tree = (uint16_t)(40 + i);
		rep.tree[i].child = RANK;
		rep.tree[i].weight = (uint8_t)(1 + i);
	}
	return rep;
}

static int init(struct trib_engine *eng, const struct trib_attach_rep *rep)
{
	memset(eng, 0, sizeof(*eng));
	memset(&note, 0, sizeof(note));
	refuse_room = false;
	eng->now = TRIB_SEC;
	eng->join_timeout_ns = TRIB_SEC;
	return trib_engine_init(eng, &transport, &host, &trib_codec_scalar,
				rep);
}

static struct trib_hdr header(unsigned int type, unsigned int tree)
{
	return (struct trib_hdr){
		.version = TRIB_WIRE_VERSION,
		.type = (uint8_t)type,
		.job = htobe16(9),
		.tree = htobe16((uint16_t)tree),
		.cookie = 0x1234,
		.epoch = htobe32(EPOCH),
	};
}

/* START, of 48 values, for tree @tree. */
static void hear(struct trib_engine *eng, unsigned int tree, unsigned int state,
		 uint64_t nonce, unsigned int window)
{
	struct {
		struct trib_hdr h;
		struct trib_start st;
		uint8_t pad[192 - sizeof(struct trib_start)];
	} p = {
		.h = header(TRIB_T_START, tree),
		.st =
			{
				.nonce = htobe64(nonce),
				.seen = htobe64(3),
				.epoch = htobe32(EPOCH),
				.timeout_ms = htobe32(1000),
				.state = htobe16((uint16_t)state),
				.window = htobe16((uint16_t)window),
				.nval = htobe16(NVAL),
				.world = htobe16(WORLD),
				.nchild = htobe16(WORLD),
			},
	};
	unsigned int i;

	p.h.nval = htobe16(48);
	for (i = 0; i < WORLD; i++)
		p.st.child_rank[i] = htobe16((uint16_t)i);
	trib_packet_rx(eng, &p, sizeof(p), false);
}

/* Joined and started. */
static void begin(struct trib_engine *eng, const struct trib_attach_rep *rep)
{
	unsigned int i;

	expect_eq(init(eng, rep), 0);
	trib_join_start(eng, NONCE);
	expect_eq(trib_join_turn(eng), 0);
	for (i = 0; i < rep->ntree; i++)
		hear(eng, 40 + i, TRIB_START_RUN, NONCE, 4);
	expect_eq(trib_join_turn(eng), 1);
	trib_engine_start(eng);
}

/* --- joining */

static void join__is_said_again_until_all_trees_run(void)
{
	struct trib_attach_rep rep = place(2);
	struct trib_engine eng;

	expect_eq(init(&eng, &rep), 0);
	trib_join_start(&eng, NONCE);
	expect_eq(trib_join_turn(&eng), 0);
	expect_eq(note.sent[TRIB_T_JOIN], 2);
	expect_eq(be16toh(note.last.nval), TRIB_NVAL_SMALL);
	expect(trib_join_deadline(&eng) > eng.now);
	/* Not before it is time. */
	expect_eq(trib_join_turn(&eng), 0);
	expect_eq(note.sent[TRIB_T_JOIN], 2);
	hear(&eng, 40, TRIB_START_RUN, NONCE, 4);
	hear(&eng, 41, TRIB_START_RUN, NONCE - 1,
	     4); /* to somebody before us */
	hear(&eng, 41, TRIB_START_WAIT, NONCE, 4);
	eng.now = trib_join_deadline(&eng);
	expect_eq(trib_join_turn(&eng), 0);
	expect_eq(note.sent[TRIB_T_JOIN], 3);
	hear(&eng, 41, TRIB_START_RUN, NONCE, 4);
	expect_eq(trib_join_turn(&eng), 1);
	expect_eq(eng.count.bad_packets, 1);
	trib_engine_free(&eng);
}

static void join__ends_in_time_and_names_who_is_missing(void)
{
	struct trib_attach_rep rep = place(1);
	struct trib_engine eng;

	expect_eq(init(&eng, &rep), 0);
	trib_join_start(&eng, NONCE);
	hear(&eng, 40, TRIB_START_WAIT, NONCE, 4);
	eng.now += TRIB_SEC;
	expect_eq(trib_join_turn(&eng), -ETIMEDOUT);
	expect_eq(eng.dead, -ETIMEDOUT);
	expect_eq(note.died, 1);
	expect_eq(eng.error.code, TRIB_SOCK_ERR_MISSING);
	expect_eq(eng.error.err, ETIMEDOUT);
	expect_eq(eng.error.rank, 2);
	expect(!strcmp(eng.error.text, "rank 2 did not join within 1000 ms"));
	/* Others hear that we do not come; nothing is to be aborted. */
	trib_leave_end(&eng);
	expect_eq(note.sent[TRIB_T_ABORT], 0);
	expect_eq(note.sent[TRIB_T_LEAVE], TRIB_TUNE_LEAVE_COPIES);
	trib_engine_free(&eng);
}

static void join__takes_no_windows_that_cannot_be(void)
{
	static const unsigned int windows[] = {0, 3, 5, 32768};
	struct trib_attach_rep rep = place(1);
	struct trib_engine eng;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		expect_eq(init(&eng, &rep), 0);
		trib_join_start(&eng, NONCE);
		hear(&eng, 40, TRIB_START_RUN, NONCE, windows[i]);
		expect_eq(eng.dead, -EPROTO);
		trib_engine_free(&eng);
	}
}

static void place__of_impossible_size_is_refused(void)
{
	struct trib_attach_rep good = place(1), bad[6];
	struct trib_engine eng;
	unsigned int i;

	for (i = 0; i < 6; i++)
		bad[i] = good;
	bad[0].ntree = 0;
	bad[1].ntree = TRIB_ATTACH_TREES + 1;
	bad[2].rank = WORLD;
	bad[3].world = TRIB_WORLD_MAX + 1;
	bad[4].nval = TRIB_NVAL_LARGE + 1;
	bad[5].tree[0].nhop = TRIB_ATTACH_HOPS + 1;
	for (i = 0; i < 6; i++) {
		expect_eq(init(&eng, &bad[i]), -EINVAL);
		trib_engine_free(&eng);
	}
}

static void packet__of_somebody_else_is_counted_and_ignored(void)
{
	struct trib_attach_rep rep = place(1);
	struct trib_engine eng;
	struct {
		struct trib_hdr h;
		uint8_t v[64];
	} p;
	unsigned int i;

	for (i = 0; i < 9; i++) {
		size_t len = sizeof(p.h);

		begin(&eng, &rep);
		memset(&p, 0, sizeof(p));
		p.h = header(TRIB_T_ABORT, 40);
		p.h.chunk = htobe32(TRIB_ABORT_ADMIN);
		switch (i) {
		case 1:
			p.h.version++;
			break;
		case 2:
			p.h.job = htobe16(8);
			break;
		case 3:
			p.h.tree = htobe16(41);
			break;
		case 4:
			p.h.cookie = 1;
			break;
		case 5:
			p.h.epoch = htobe32(EPOCH - 1);
			break;
		case 6:
			len--;
			break;
		case 7:
			len++;
			break;
		case 8:
			p.h.bmwords = 1;
			len += 8;
			break;
		}
		trib_packet_rx(&eng, &p, len, false);
		expect_eq(eng.dead, i ? 0 : -ECONNABORTED);
		expect_eq(eng.count.bad_packets, i != 0);
		trib_engine_free(&eng);
	}
}

/* --- calls */

static float in[3 * 3 * 64 * NVAL], out[3 * 64 * NVAL * 3];

/* One of each kind; large ones are cut into parts for all trees. */
static const struct trib_call calls[] = {
	{TRIB_COLL_ALLREDUCE, TRIB_SOCK_SUM, TRIB_SOCK_F32, in, out, 100, 0},
	{TRIB_COLL_ALLREDUCE, TRIB_SOCK_AVG, TRIB_SOCK_F32, in, in,
	 3 * 64 * NVAL, 0},
	{TRIB_COLL_ALLREDUCE, TRIB_SOCK_MAX, TRIB_SOCK_F32, in, out,
	 3 * 64 * NVAL, 0},
	{TRIB_COLL_ALLREDUCE, TRIB_SOCK_SUM, TRIB_SOCK_I32, in, out,
	 3 * 64 * NVAL, 0},
	{TRIB_COLL_REDUCE_SCATTER, TRIB_SOCK_SUM, TRIB_SOCK_F32, in, in,
	 64 * NVAL, 0},
	{TRIB_COLL_ALLGATHER, 0, TRIB_SOCK_F32, NULL, out, 64 * NVAL, 0},
	{TRIB_COLL_BROADCAST, 0, TRIB_SOCK_I32, NULL, out, 64 * NVAL, 2},
	{TRIB_COLL_BARRIER, 0, 0, NULL, NULL, 0, 0},
	{TRIB_COLL_ALLREDUCE, TRIB_SOCK_SUM, TRIB_SOCK_F32, NULL, NULL, 0, 0},
};

#define NCALL (sizeof(calls) / sizeof(*calls))

static void call__with_bad_arguments_is_refused(void)
{
	const struct trib_call bad[] = {
		{5, 0, 0, in, out, 1, 0},
		{TRIB_COLL_ALLREDUCE, 4, 0, in, out, 1, 0},
		{TRIB_COLL_ALLREDUCE, 0, 2, in, out, 1, 0},
		{TRIB_COLL_ALLREDUCE, TRIB_SOCK_AVG, TRIB_SOCK_I32, in, out, 1,
		 0},
		{TRIB_COLL_ALLREDUCE, 0, 0, NULL, out, 1, 0},
		{TRIB_COLL_ALLREDUCE, 0, 0, in, NULL, 1, 0},
		{TRIB_COLL_ALLREDUCE, 0, 0, in, out, 1ULL << 46, 0},
		{TRIB_COLL_REDUCE_SCATTER, 0, 0, in, out, (1ULL << 46) / 3, 0},
		{TRIB_COLL_ALLGATHER, 0, 0, in, out, UINT64_MAX / 3 + 2, 0},
		{TRIB_COLL_ALLGATHER, TRIB_SOCK_MAX, 0, in, out, 1, 0},
		{TRIB_COLL_BROADCAST, 0, 0, NULL, out, 1, WORLD},
		{TRIB_COLL_BROADCAST, 0, 0, NULL, NULL, 1, 0},
		{TRIB_COLL_BARRIER, 0, 0, NULL, NULL, 1, 0},
	};
	struct trib_attach_rep rep = place(1);
	struct trib_engine eng;
	struct trib_req *r;
	unsigned int i;

	begin(&eng, &rep);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		expect(trib_call_wrong(&eng, &bad[i]));
		expect_eq(trib_call_issue(&eng, &bad[i], &r), -EINVAL);
		expect_eq(eng.error.code, TRIB_SOCK_ERR_ARGUMENT);
	}
	expect_eq(eng.unfinished, 0);
	for (i = 0; i < NCALL; i++)
		expect(!trib_call_wrong(&eng, &calls[i]));
	trib_engine_free(&eng);
}

static void call__requests_end_with_the_engine(void)
{
	struct trib_attach_rep rep = place(3);
	struct trib_req *r[NCALL];
	struct trib_engine eng;
	unsigned int i;

	begin(&eng, &rep);
	for (i = 0; i < NCALL; i++)
		expect_eq(trib_call_issue(&eng, &calls[i], &r[i]), 0);
	expect_eq(note.done, 1); /* the one without elements */
	expect_eq(eng.unfinished, NCALL - 1);
	trib_leave_start(&eng);
	expect_eq(trib_call_issue(&eng, &calls[0], &r[0]), -ECANCELED);
	expect(trib_leave_turn(&eng));
	trib_leave_end(&eng);
	expect_eq(note.sent[TRIB_T_ABORT], TRIB_TUNE_ABORT_COPIES);
	expect_eq(note.done, NCALL);
	expect_eq(note.died, 1);
	expect_eq(eng.unfinished, 0);
	for (i = 0; i < NCALL - 1; i++)
		expect_eq(r[i]->status, -ECANCELED);
	/* One that its host keeps. */
	trib_req_orphan(r[2]);
	trib_engine_free(&eng);
	expect(!r[2]->eng && r[2]->done);
	trib_free(r[2]);
}

static void leave__listens_until_nobody_lacks_anything(void)
{
	struct trib_attach_rep rep = place(2);
	struct trib_engine eng;
	uint64_t first;

	begin(&eng, &rep);
	trib_leave_start(&eng);
	expect(eng.barrier && !eng.barrier->done);
	expect(!trib_leave_turn(&eng));
	first = trib_leave_deadline(&eng);
	expect_eq(first, eng.now + TRIB_SEC);
	eng.now = first - 1;
	eng.stream[1]->lacks_ns = eng.now;
	eng.now = first;
	expect(!trib_leave_turn(&eng));
	expect_eq(trib_leave_deadline(&eng), first - 1 + TRIB_SEC);
	eng.now = first - 1 + TRIB_SEC;
	expect(trib_leave_turn(&eng));
	trib_leave_end(&eng);
	expect_eq(eng.error.code, TRIB_SOCK_ERR_GONE);
	expect_eq(note.sent[TRIB_T_LEAVE], 2 * TRIB_TUNE_LEAVE_COPIES);
	trib_engine_free(&eng);
}

/* --- no memory */

static void memory__fails_while_a_place_is_taken(void)
{
	struct trib_attach_rep rep = place(3);
	struct trib_engine eng;
	unsigned int nth;
	int rc;

	for (nth = 1;; nth++) {
		fail(nth);
		rc = init(&eng, &rep);
		trib_engine_free(&eng);
		if (!failed())
			break;
		expect_eq(rc, -ENOMEM);
		expect_eq(eng.error.code, TRIB_SOCK_ERR_SYSTEM);
		expect_eq(eng.error.err, ENOMEM);
	}
	expect_eq(rc, 0);
	expect_eq(nth, 1 + 1 + 3); /* scratch, streams */
}

static void memory__fails_while_trees_start(void)
{
	struct trib_attach_rep rep = place(2);
	struct trib_engine eng;
	unsigned int nth;

	for (nth = 1;; nth++) {
		expect_eq(init(&eng, &rep), 0);
		trib_join_start(&eng, NONCE);
		fail(nth);
		hear(&eng, 40, TRIB_START_RUN, NONCE, 4);
		hear(&eng, 41, TRIB_START_RUN, NONCE, 4);
		if (!failed())
			break;
		expect_eq(trib_join_turn(&eng), -ENOMEM);
		expect_eq(eng.error.code, TRIB_SOCK_ERR_SYSTEM);
		expect_eq(note.died, 1);
		trib_leave_end(&eng);
		trib_engine_free(&eng);
	}
	expect_eq(trib_join_turn(&eng), 1);
	expect_eq(nth, 1 + 2 * 3); /* chunks, cells, lives */
	trib_engine_free(&eng);
}

static void memory__may_be_refused_by_the_host(void)
{
	struct trib_attach_rep rep = place(1);
	struct trib_engine eng;

	expect_eq(init(&eng, &rep), 0);
	trib_join_start(&eng, NONCE);
	refuse_room = true;
	fail(0);
	hear(&eng, 40, TRIB_START_RUN, NONCE, 4);
	expect_eq(allocations, 0);
	expect_eq(trib_join_turn(&eng), -ENOBUFS);
	trib_engine_free(&eng);
}

/* A call that fails leaves nothing behind, and the next one goes. */
static void memory__fails_in_calls(void)
{
	unsigned int trees, i, nth;
	struct trib_engine eng;
	struct trib_req *r;
	int rc;

	for (trees = 1; trees <= 3; trees++) {
		struct trib_attach_rep rep = place(trees);

		for (i = 0; i < NCALL; i++) {
			begin(&eng, &rep);
			for (nth = 1;; nth++) {
				fail(nth);
				rc = trib_call_issue(&eng, &calls[i], &r);
				if (!failed())
					break;
				expect_eq(rc, -ENOMEM);
				expect_eq(eng.error.code, TRIB_SOCK_ERR_SYSTEM);
				expect_eq(eng.unfinished, 0);
				expect(!eng.reqs && !eng.dead);
				expect_eq(eng.seq, 0);
				expect_eq(note.sent[TRIB_T_GRAD], 0);
			}
			expect_eq(rc, 0);
			/* The request; exponents of each part of a float sum. */
			expect_eq(nth, 2 + (i < 2 ? r->npart : i == 4));
			trib_engine_free(&eng);
		}
	}
}

static void memory__fails_on_leaving_and_the_others_are_told(void)
{
	struct trib_attach_rep rep = place(3);
	struct trib_engine eng;

	begin(&eng, &rep);
	fail(1);
	trib_leave_start(&eng);
	expect(failed());
	expect(!eng.barrier);
	expect(trib_leave_turn(&eng));
	trib_leave_end(&eng);
	expect_eq(note.sent[TRIB_T_ABORT], TRIB_TUNE_ABORT_COPIES);
	expect_eq(eng.dead, -ECANCELED);
	trib_engine_free(&eng);
}

int main(void)
{
	run(join__is_said_again_until_all_trees_run);
	run(join__ends_in_time_and_names_who_is_missing);
	run(join__takes_no_windows_that_cannot_be);
	run(place__of_impossible_size_is_refused);
	run(packet__of_somebody_else_is_counted_and_ignored);
	run(call__with_bad_arguments_is_refused);
	run(call__requests_end_with_the_engine);
	run(leave__listens_until_nobody_lacks_anything);
	run(memory__fails_while_a_place_is_taken);
	run(memory__fails_while_trees_start);
	run(memory__may_be_refused_by_the_host);
	run(memory__fails_in_calls);
	run(memory__fails_on_leaving_and_the_others_are_told);
	return tap_done();
}
