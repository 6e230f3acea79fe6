// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compressed sums by peers have the bits of those by a relay: the same gradients, seed and
 * schedule, through both, for every algorithm. Then: the order of calls behind held ones,
 * counts of bytes, and ranks that are killed.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "lib/handle/handle.h"
#include "tests/lib/peer/env.h"
#include "tests/lib/rank_threads.h"
#include "tests/lib/tap.h"
#include "trib_compress.h"

#define WORLD_MAX 5
#define COUNT_MAX 20000
#define STEPS 3
#define TENSORS 2

/**
 * struct kind - a job that is run twice
 * @exact: floats travel; relays and peers both add them as integers.
 */
struct kind {
	const char *schedule;
	const char *mask;
	bool exact;
};

static const struct kind kinds[] = {
	{"int8", NULL, false},
	{"2:4+int8", NULL, false},
	{"1:8+int4", NULL, false},
	{"5:16+int16", NULL, false},
	{"0:dense,1:2:4+int8", NULL, true},
	{"dense", NULL, true},
	{"2:4", NULL, true},
	{"3:32", NULL, true},
	{"auto", NULL, true},
	{"2:4", "local", true},
	{"1:32", "local", true},
	{"31:32", "local", true},
	{"3:8", "local", true},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct {
	const struct kind *kind;
	uint64_t seed;
	size_t count[TENSORS];
	size_t bucket;
	enum trib_op op;
} job;

typedef float results[WORLD_MAX][STEPS][TENSORS][COUNT_MAX];
static results by_relay, by_peers, *out;

static uint64_t state = 7;

static uint64_t chance(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 16;
}

/* Floats of magnitudes that differ, so that sums of floats would depend on the order. */
static void fill(float *x, size_t n, unsigned int rank, unsigned int step, unsigned int tensor)
{
	uint64_t h = job.seed ^ (rank * 131 + step * 17 + tensor + 1) * 0x9e3779b97f4a7c15ULL;
	size_t i;

	for (i = 0; i < n; i++) {
		h = h * 6364136223846793005ULL + 1442695040888963407ULL;
		x[i] = (float)((int64_t)(h >> 40) - (1 << 23)) * 0x1p-23f /
		       (float)(1 << (h >> 30 & 15));
	}
}

static void train(struct member *m, struct trib_compress *c)
{
	static float grad[WORLD_MAX][TENSORS][COUNT_MAX];
	struct trib_req *req[TENSORS];
	unsigned int s, i;

	for (s = 0; s < STEPS && !m->rc; s++) {
		for (i = 0; i < TENSORS && !m->rc; i++) {
			fill(grad[m->rank][i], job.count[i], m->rank, s, i);
			m->rc = trib_compress_iallreduce(c, i, grad[m->rank][i],
							 (*out)[m->rank][s][i], job.count[i],
							 TRIB_F32, job.op, &req[i]);
		}
		for (i = 0; i < TENSORS && !m->rc; i++)
			m->rc = trib_wait(req[i]);
		m->wrong += !m->rc && trib_compress_step(c) != (int)s + 1;
	}
}

static void compressed(struct member *m)
{
	struct trib_compress_options o = {.size = sizeof(o),
					  .schedule = job.kind->schedule,
					  .mask = job.kind->mask,
					  .seed = job.seed,
					  .bucket = job.bucket};
	struct trib_compress *c;

	m->wrong += strcmp(trib_transport_name(m->t), out == &by_peers ? "peer" : "udp") != 0;
	m->rc = trib_compress_open(&c, m->t, &o);
	if (m->rc)
		return;
	train(m, c);
	m->rc |= trib_compress_close(c);
}

static bool all_good(const struct loop_relay *l, const struct member *m)
{
	bool good = true;

	for (unsigned int r = 0; r < l->world; r++)
		good = good && !m[r].rc && !m[r].wrong;
	return good;
}

/* @algorithm: of peers; NULL: by a relay. */
static bool run_job(unsigned int world, const char *algorithm)
{
	struct loop_relay l = relay(world);
	struct member m[WORLD_MAX];

	out = algorithm ? &by_peers : &by_relay;
	memset(out, 0xff, sizeof(*out));
	if (algorithm) {
		peer_env_on(algorithm);
		if (!strcmp(algorithm, "bcube"))
			setenv("TRIB_PEER_NICS", "127.0.0.1,127.0.0.1", 1);
		if (!strcmp(algorithm, "leaders")) {
			setenv("TRIB_PEER_ALGORITHM", "ring", 1);
			setenv("TRIB_PEER_INTRA", "reduce", 1);
		}
		if (job.kind->exact)
			setenv("TRIB_REPRODUCIBLE", "1", 1);
	} else {
		loop_start(&l);
	}
	all_ranks(&l, m, compressed);
	if (algorithm)
		peer_env_off();
	else
		loop_stop(&l);
	return all_good(&l, m);
}

static bool compare(unsigned int world, const char *algorithm)
{
	bool good = run_job(world, algorithm);

	for (unsigned int r = 0; r < world && good; r++)
		good = !memcmp(by_relay[0], by_peers[r], sizeof(by_relay[0]));
	if (!good)
		printf("# %s of %u: %s, mask %s, seed %lu, %zu and %zu values, bucket %zu, op %d\n",
		       algorithm, world, job.kind->schedule, job.kind->mask, job.seed, job.count[0],
		       job.count[1], job.bucket, (int)job.op);
	return good;
}

static void random_job(const struct kind *kind)
{
	static const size_t some[] = {1, 31, 32, 33, 1000, 4099, 12288, COUNT_MAX};

	job.kind = kind;
	job.seed = chance();
	for (int i = 0; i < TENSORS; i++)
		job.count[i] = chance() % 2 ? some[chance() % 8] : 1 + chance() % COUNT_MAX;
	job.bucket = chance() % 3 ? 1024 << chance() % 4 : 0;
	job.op = chance() % 2 ? TRIB_SUM : TRIB_AVG;
}

static void sums__are_the_bits_of_a_relay(void)
{
	static const char *const algs[] = {"ring", "halving", "direct", "auto", "torus"};

	for (unsigned int k = 0; k < KINDS; k++)
		for (unsigned int world = 2; world <= WORLD_MAX; world++) {
			random_job(&kinds[k]);
			if (!expect(run_job(world, NULL)))
				continue;
			expect(compare(world, algs[(k + world) % (world < 4 ? 4 : 5)]));
		}
}

/* Two NICs; and a leader for a machine's ranks. */
static void sums__are_so_by_bcube_and_leaders(void)
{
	for (unsigned int k = 0; k < KINDS; k += 2) {
		random_job(&kinds[k]);
		if (!expect(run_job(4, NULL)))
			continue;
		expect(compare(4, "bcube"));
		expect(compare(4, "leaders"));
	}
}

/* --- calls behind a held one */

#define BEHIND 20

/* Sums, a broadcast and a barrier are issued while the message's requests are held. */
static void issue_behind(struct member *m)
{
	struct trib_compress_options o = {
		.size = sizeof(o), .schedule = "2:4+int8", .bucket = 1024};
	static float x[WORLD_MAX][COUNT_MAX];
	static int32_t v[WORLD_MAX][BEHIND][100];
	struct trib_req *req[BEHIND + 2];
	struct trib_compress *c;
	int i, k;

	m->rc = trib_compress_open(&c, m->t, &o);
	if (m->rc)
		return;
	fill(x[m->rank], COUNT_MAX, m->rank, 0, 0);
	m->rc = trib_compress_iallreduce(c, 1, x[m->rank], x[m->rank], COUNT_MAX, TRIB_F32,
					 TRIB_SUM, &req[BEHIND]);
	for (i = 0; i < BEHIND && !m->rc; i++) {
		for (k = 0; k < 100; k++)
			v[m->rank][i][k] = i * k + (int)m->rank;
		m->rc = trib_iallreduce(m->t, v[m->rank][i], v[m->rank][i], 100, TRIB_I32, TRIB_SUM,
					&req[i]);
	}
	if (!m->rc)
		m->rc = trib_ibarrier(m->t, &req[BEHIND + 1]);
	for (i = BEHIND + 1; i >= 0 && !m->rc; i--)
		m->rc = trib_wait(req[i]);
	for (i = 0; i < BEHIND; i++)
		for (k = 0; k < 100; k++)
			m->wrong += v[m->rank][i][k] != 3 * i * k + 3;
	m->rc |= trib_compress_close(c);
}

static void held__calls_keep_those_behind_them_in_order(void)
{
	struct loop_relay l = relay(3);
	struct member m[3];

	peer_env_on("ring");
	all_ranks(&l, m, issue_behind);
	peer_env_off();
	expect_good(&l, m);
}

/* --- a handle that dies of itself */

static pthread_barrier_t waited;

/* Rank 0's values are under way, for which the others have no call. */
static void die(struct member *m)
{
	struct trib_compress_options o = {.size = sizeof(o), .schedule = "2:4+int8"};
	static float x[COUNT_MAX];
	struct trib_compress *c;
	struct trib_req *req[2];
	uint64_t begin = now();
	int rc;

	m->rc = trib_compress_open(&c, m->t, &o);
	if (m->rc)
		return;
	if (!m->rank) {
		m->rc = trib_iallreduce(m->t, x, x, 100, TRIB_F32, TRIB_SUM, &req[0]);
		m->rc |= trib_compress_iallreduce(c, 1, x, x, COUNT_MAX, TRIB_F32, TRIB_SUM,
						  &req[1]);
		nap(50);
		pthread_mutex_lock(&m->t->lock);
		trib_die_rank(&m->t->eng, TRIB_ERR_SYSTEM, -EIO, 0, "the GPU failed");
		pthread_mutex_unlock(&m->t->lock);
		m->wrong += trib_wait(req[1]) != -EIO;
		m->wrong += trib_wait(req[0]) != -EIO;
		m->wrong += now() - begin > 5000 * MS;
	}
	pthread_barrier_wait(&waited);
	if (m->rank) {
		rc = trib_allreduce(m->t, x, x, 100, TRIB_F32, TRIB_SUM);
		m->wrong += rc != -EHOSTDOWN || !strstr(trib_error_text(m->t), "rank 0");
	}
	m->rc |= trib_compress_close(c);
}

static void death__of_a_handle_lets_go_of_its_buffers(void)
{
	struct loop_relay l = relay(2);
	struct member m[2];

	pthread_barrier_init(&waited, NULL, 2);
	peer_env_on("ring");
	all_ranks(&l, m, die);
	peer_env_off();
	pthread_barrier_destroy(&waited);
	expect_good(&l, m);
}

/* --- ranks that are processes */

#define N 4

struct news {
	unsigned int rank;
	int rc, blamed;
	bool kept;
};

static pid_t pids[N];
static int ready[2], heard[2];

/* Train until it fails. Return: the failure. */
static int sum_until(struct trib_compress *c, unsigned int rank)
{
	static float x[COUNT_MAX], y[COUNT_MAX];
	int rc = 0;

	for (unsigned int s = 0; !rc; s++) {
		fill(x, COUNT_MAX, rank, s, 0);
		rc = trib_compress_allreduce(c, 5, x, y, COUNT_MAX, TRIB_F32, TRIB_SUM);
		if (!rc && trib_compress_step(c) < 0)
			rc = -EPROTO;
		if (s == 2 && write(ready[1], &rank, sizeof(rank)) != sizeof(rank))
			_exit(1);
	}
	return rc;
}

static void child(unsigned int rank, const struct kind *kind)
{
	struct loop_relay l = relay(N);
	struct trib_compress_options o = {
		.size = sizeof(o), .schedule = kind->schedule, .mask = kind->mask, .bucket = 2048};
	char ticket[200];
	struct trib_options a = {.size = sizeof(a),
				 .job = loop_ticket(&l, rank, ticket, sizeof(ticket)),
				 .join_timeout_ms = 10000,
				 .timeout_ms = 5000};
	struct news news = {.rank = rank};
	struct trib_compress *c;
	struct trib_error e;
	struct trib *t;

	alarm(60);
	if (trib_attach(&t, &a) || trib_compress_open(&c, t, &o))
		_exit(1);
	news.rc = sum_until(c, rank);
	trib_error(t, &e);
	news.blamed = e.rank;
	news.kept = trib_compress_residual(c, 5, COUNT_MAX) != NULL;
	if (write(heard[1], &news, sizeof(news)) != sizeof(news))
		_exit(1);
	trib_detach(t);
	_exit(trib_compress_close(c) != 0);
}

static bool start(const struct kind *kind)
{
	unsigned int i, rank;

	if (pipe(ready) || pipe(heard))
		return false;
	fflush(stdout);
	for (i = 0; i < N; i++) {
		pids[i] = fork();
		if (!pids[i])
			child(i, kind);
	}
	close(ready[1]);
	close(heard[1]);
	for (i = 0; i < N; i++)
		if (!expect(read(ready[0], &rank, sizeof(rank)) == sizeof(rank)))
			return false;
	return true;
}

static void listen_to_all(unsigned int victim)
{
	struct pollfd p = {.fd = heard[0], .events = POLLIN};
	struct news n;

	for (int i = 0; i < N - 1; i++) {
		if (!expect(poll(&p, 1, 15000) == 1) ||
		    !expect(read(heard[0], &n, sizeof(n)) == sizeof(n)))
			return;
		expect(n.rank != victim);
		expect_eq(n.rc, -EHOSTDOWN);
		expect_eq(n.blamed, (int)victim);
		expect(n.kept);
	}
}

/* Survivors leave by themselves, in order. */
static void finish(unsigned int victim)
{
	int status;

	close(ready[0]);
	close(heard[0]);
	for (unsigned int i = 0; i < N; i++) {
		if (!expect(waitpid(pids[i], &status, 0) == pids[i]))
			continue;
		if (i != victim)
			expect(WIFEXITED(status) && !WEXITSTATUS(status));
	}
}

static void killed__is_named_by_all(void)
{
	static const char *const algs[] = {"ring", "direct", "halving", "auto"};

	for (unsigned int i = 0; i < 8; i++) {
		unsigned int victim = i % N;

		peer_env_on(algs[i % 4]);
		if (start(&kinds[i < 4 ? 1 : 9])) {
			nap((unsigned int)(chance() % 60));
			kill(pids[victim], SIGKILL);
			listen_to_all(victim);
		}
		finish(victim);
		peer_env_off();
	}
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	unsetenv("TRIB_JOB");
	unsetenv("TRIB_RANK");
	unsetenv("RANK");
	unsetenv("TRIB_COMPRESS");
	if (!loop_netns())
		tap_skip_all("cannot make a network namespace");
	run(sums__are_the_bits_of_a_relay);
	run(sums__are_so_by_bcube_and_leaders);
	run(held__calls_keep_those_behind_them_in_order);
	run(death__of_a_handle_lets_go_of_its_buffers);
	run(killed__is_named_by_all);
	return tap_done();
}
