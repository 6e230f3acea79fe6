// SPDX-License-Identifier: BSD-2-Clause
/* Doubles around the engine; see engine_double.h. */
#include <errno.h>

#include "engine_double.h"
#include "secrets.h"

/* --- allocations: the @fail_at-th from now fails; 0: none */

static unsigned int fail_at;
unsigned int allocations;
bool refuse_room;
struct notes note;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	if (++allocations == fail_at)
		return NULL;
	return __real_calloc(n, size);
}

bool failed(void)
{
	bool was = fail_at && allocations >= fail_at;

	fail_at = 0;
	return was;
}

void fail(unsigned int nth)
{
	allocations = 0;
	fail_at = nth;
}

/* --- the host */

static int take(struct trib_engine *eng, struct trib_stream *s, const struct trib_iovec *iov,
		unsigned int niov, unsigned int seg)
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
	note.wrong += !r->done;
}

static void on_died(struct trib_engine *eng)
{
	note.died++;
	note.wrong += !eng->dead;
}

static int on_room(struct trib_engine *eng, size_t bytes)
{
	(void)eng;
	note.bytes += bytes;
	return refuse_room ? -ENOBUFS : 0;
}

static const struct trib_host_ops host = {
	.done = on_done,
	.died = on_died,
	.room = on_room,
};

struct trib_attach_rep place(unsigned int trees)
{
	struct trib_attach_rep rep = {
		.rank = RANK,
		.world = WORLD,
		.job = 9,
		.ntree = (uint16_t)trees,
	};
	unsigned int i;

	secrets_place(&rep);

	for (i = 0; i < trees; i++) {
		rep.tree[i].tree = (uint16_t)(40 + i);
		rep.tree[i].child = RANK;
		rep.tree[i].weight = (uint8_t)(1 + i);
	}
	return rep;
}

int engine_init(struct trib_engine *eng, const struct trib_attach_rep *rep)
{
	memset(eng, 0, sizeof(*eng));
	memset(&note, 0, sizeof(note));
	refuse_room = false;
	eng->now = TRIB_SEC;
	eng->join_timeout_ns = TRIB_SEC;
	return trib_engine_init(eng, &transport, &host, &trib_codec_scalar, rep);
}

struct trib_hdr header(unsigned int type, unsigned int tree)
{
	return (struct trib_hdr){
		.version = TRIB_WIRE_VERSION,
		.type = (uint8_t)type,
		.job = htobe16(9),
		.tree = htobe16((uint16_t)tree),
		.epoch = htobe32(EPOCH),
	};
}

static void hear_start(struct trib_engine *eng, unsigned int tree, unsigned int state,
		       uint64_t nonce, unsigned int window, unsigned int room)
{
	struct {
		struct trib_hdr h;
		struct trib_start st;
		uint8_t pad[NVAL * 4 - sizeof(struct trib_start)];
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

	p.h.nval = htobe16((uint16_t)room);
	for (i = 0; i < WORLD; i++)
		p.st.child_rank[i] = htobe16((uint16_t)i);
	secrets_rank(&p.h, &p.st, trib_payload_len(room), RANK);
	trib_packet_rx(eng, &p, (unsigned int)sizeof(p.h) + trib_payload_len(room), false);
}

void hear(struct trib_engine *eng, unsigned int tree, unsigned int state, uint64_t nonce,
	  unsigned int window)
{
	hear_start(eng, tree, state, nonce, window, NVAL);
}

void hear_short(struct trib_engine *eng, unsigned int tree, unsigned int state, unsigned int room)
{
	hear_start(eng, tree, state, NONCE, 4, room);
}

void engine_begin(struct trib_engine *eng, const struct trib_attach_rep *rep)
{
	unsigned int i;

	note.wrong += engine_init(eng, rep) != 0;
	trib_join_start(eng, NONCE);
	note.wrong += trib_join_turn(eng) != 0;
	for (i = 0; i < rep->ntree; i++)
		hear(eng, 40 + i, TRIB_START_RUN, NONCE, 4);
	note.wrong += trib_join_turn(eng) != 1;
	trib_engine_start(eng);
}

static float in[3 * 3 * 64 * NVAL], out[3 * 64 * NVAL * 3];

const struct trib_call calls[NCALL] = {
	{TRIB_COLL_ALLREDUCE, TRIB_SOCK_SUM, TRIB_SOCK_F32, in, out, 100, 0, false, false, NULL, 0},
	{TRIB_COLL_ALLREDUCE, TRIB_SOCK_AVG, TRIB_SOCK_F32, in, in, 3 * 64 * NVAL, 0, false, false,
	 NULL, 0},
	{TRIB_COLL_ALLREDUCE, TRIB_SOCK_MAX, TRIB_SOCK_F32, in, out, 3 * 64 * NVAL, 0, false, false,
	 NULL, 0},
	{TRIB_COLL_ALLREDUCE, TRIB_SOCK_SUM, TRIB_SOCK_I32, in, out, 3 * 64 * NVAL, 0, false, false,
	 NULL, 0},
	{TRIB_COLL_REDUCE_SCATTER, TRIB_SOCK_SUM, TRIB_SOCK_F32, in, in, 64 * NVAL, 0, false, false,
	 NULL, 0},
	{TRIB_COLL_ALLGATHER, 0, TRIB_SOCK_F32, NULL, out, 64 * NVAL, 0, false, false, NULL, 0},
	{TRIB_COLL_BROADCAST, 0, TRIB_SOCK_I32, NULL, out, 64 * NVAL, 2, false, false, NULL, 0},
	{TRIB_COLL_BARRIER, 0, 0, NULL, NULL, 0, 0, false, false, NULL, 0},
	{TRIB_COLL_ALLREDUCE, TRIB_SOCK_SUM, TRIB_SOCK_F32, NULL, NULL, 0, 0, false, false, NULL,
	 0},
};
