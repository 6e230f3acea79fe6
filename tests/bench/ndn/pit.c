// SPDX-License-Identifier: BSD-2-Clause
/*
 * CPU time of the NDN forwarder for a packet: the real program under
 * BPF_PROG_TEST_RUN with a million entries, whose names have three random
 * components. First they are made, one insert each; then renewed, by others
 * too; then distribution Data for them come in another order, each for three
 * subscribers. A driver (ndn_drive.bpf.c) writes the packets. It is part of
 * the times that are printed, which are the CPU time of this thread: others may
 * run, too; by itself it is measured first, and Mpps are without it.
 *
 *	bench-pit [-n LOG2] [-r ROUNDS] [-o FILE]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/bpf/ndn/ndn_world.h"

#define ROUNDS_MAX 1000
#define REPEAT 4096
#define CALLS 16 /* of REPEAT in a round */

struct ndn_drive {
	uint64_t head[6];
	uint32_t count, mask, mul, name, nonce, is_data;
};

static struct bpf_object *obj;
static struct nframe frame;
static struct ndn_drive drive;
static int log2n = 20, rounds = 40;

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "bench-pit: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int prog(const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(obj, name);

	must(p, name);
	return bpf_program__fd(p);
}

static void open_driver(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/ndn_drive.bpf.o", TRIB_DRIVE_DIR);
	obj = bpf_object__open(path);
	must(obj && !bpf_object__load(obj), path);
	/* A program that is attached nowhere is run slowly. */
	must(!bpf_xdp_attach(nw.ifindex[1], prog("ndn_drive"), XDP_FLAGS_DRV_MODE, NULL), "attach");
}

static void aim(int fd)
{
	must(!bpf_map_update_elem(bpf_object__find_map_fd_by_name(obj, "target"), &(int){0}, &fd,
				  0),
	     "target");
}

static int drive_fd(void)
{
	return bpf_object__find_map_fd_by_name(obj, "drive");
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The frame that @face sends, with the offsets that the driver writes to. */
static void prepare(int face, const uint8_t *ndn, int n, uint32_t mul)
{
	static const uint8_t first[8] = "AAAAAAAA";
	const uint8_t *at;

	nframe_from(&frame, face, ndn, n);
	must(frame.len >= 128, "a frame so short");
	memset(&drive, 0, sizeof(drive));
	memcpy(drive.head, frame.b, 42);
	at = memmem(frame.b, frame.len, first, 8);
	must(at, "the name");
	drive.name = at - frame.b;
	drive.mask = (1u << log2n) - 1;
	drive.mul = mul;
	/* No nonce comes twice; and all names from the first on. */
	drive.count = (uint32_t)face << 28;
	must(!bpf_map_update_elem(drive_fd(), &(int){0}, &drive, 0), "drive");
}

static void prepare_insert(int face)
{
	/* No HopLimit: that would count down, and the driver leaves it. */
	struct ask a = {
		.name = "/insert/AAAAAAAA/BBBBBBBB/CCCCCCCC",
		.nonce = 0x51525354,
		.life = 4000,
		.pad = 40,
	};
	uint8_t buf[NFRAME_MAX];
	int n = ndn_make_interest(buf, &a);
	const uint8_t *at;

	prepare(face, buf, n, 1);
	at = memmem(frame.b, frame.len, "QRST", 4);
	must(at, "the nonce");
	drive.nonce = at - frame.b;
	must(!bpf_map_update_elem(drive_fd(), &(int){0}, &drive, 0), "drive");
}

static void prepare_data(void)
{
	uint8_t buf[NFRAME_MAX];
	int n = ndn_make_data(buf,
			      "/distribute/AAAAAAAA/BBBBBBBB/CCCCCCCC"
			      "/v=4702111234474983745/seg=0",
			      200);
	const uint8_t *at;

	prepare(UP, buf, n, 0x9e3779b1);
	at = memmem(frame.b, frame.len, "AAAAAAAA", 8);
	at = memmem(at + 8, 60, "AAAAAAA", 7);
	must(at, "the version");
	drive.nonce = at - frame.b;
	drive.is_data = 1;
	must(!bpf_map_update_elem(drive_fd(), &(int){0}, &drive, 0), "drive");
}

/* ns of one packet, over @calls times REPEAT. */
static double go(int face, int calls)
{
	struct xdp_md ctx = {
		.ingress_ifindex = nw.ifindex[ndn_port_of(face)],
		.data_end = frame.len,
	};
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = frame.b, .data_size_in = frame.len,
		    .ctx_in = &ctx, .ctx_size_in = sizeof(ctx), .repeat = REPEAT);
	uint64_t start = now_ns();

	for (int i = 0; i < calls; i++)
		must(!bpf_prog_test_run_opts(prog("ndn_drive"), &o), "run");
	return (double)(now_ns() - start) / calls / REPEAT;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/**
 * struct kind - one way to run
 * @name: in the table.
 * @best: of all rounds, ns; @median.
 */
struct kind {
	const char *name;
	double best, median;
};

enum { ALONE, NEW, RENEW, DATA, KEPT, KINDS };

static struct kind kinds[KINDS] = {
	{.name = "driver alone"},	    {.name = "insert, new"},
	{.name = "insert, renewed"},	    {.name = "distribution to three"},
	{.name = "... and into the cache"},
};

/* Million packets a second of the forwarder, when one and the driver take @ns. */
static double mpps(double ns)
{
	return 1e3 / (ns - kinds[ALONE].best);
}

static void measure(struct kind *k, int face, int n, int calls)
{
	double ns[ROUNDS_MAX];

	for (int i = 0; i < n; i++)
		ns[i] = go(face, calls);
	qsort(ns, n, sizeof(*ns), by_value);
	k->best = ns[0];
	k->median = ns[n / 2];
	printf("  %-24s %8.1f %8.1f", k->name, k->best, k->median);
	if (k != &kinds[ALONE])
		printf(" %8.2f %8.2f", mpps(k->best), mpps(k->median));
	printf("\n");
	fflush(stdout);
}

static int write_json(const char *path)
{
	FILE *f = fopen(path, "w");

	must(f, path);
	fprintf(f,
		"{\"figures\": {\"mpps_data_1m\": %.3f, \"mpps_insert\": %.3f, "
		"\"mpps_renew\": %.3f, \"mpps_data_kept\": %.3f, "
		"\"ns_data_1m\": %.1f, "
		"\"ns_data_1m_median\": %.1f, \"ns_names_driver\": %.1f}}\n",
		mpps(kinds[DATA].best), mpps(kinds[NEW].median), mpps(kinds[RENEW].median),
		mpps(kinds[KEPT].best), kinds[DATA].best, kinds[DATA].median, kinds[ALONE].best);
	return fclose(f) ? 1 : 0;
}

/* Did what was measured happen? */
static bool all_done(uint64_t data)
{
	uint64_t n = 1ULL << log2n, sent = ndn_stat(NDN_STAT_TX_DATA);

	printf("  %llu entries, %llu subscriptions, %llu of %llu Data sent\n",
	       (unsigned long long)ndn_stat(NDN_STAT_NEW),
	       (unsigned long long)ndn_stat(NDN_STAT_INSERTED), (unsigned long long)sent,
	       (unsigned long long)data);
	return ndn_stat(NDN_STAT_NEW) == n && ndn_stat(NDN_STAT_INSERTED) == 3 * n && sent == data;
}

static void run_all(void)
{
	int calls = (1 << log2n) / REPEAT;
	int each = calls < CALLS ? calls : CALLS;

	printf("  %-24s %8s %8s %8s %8s\n", "", "ns/pkt", "median", "Mpps", "median");
	prepare_data();
	aim(prog("ndn_nothing"));
	measure(&kinds[ALONE], UP, rounds, CALLS);
	aim(nw.xdp);
	prepare_insert(H1);
	measure(&kinds[NEW], H1, calls / each, each);
	prepare_insert(H2);
	go(H2, calls);
	prepare_insert(H3);
	measure(&kinds[RENEW], H3, calls / each, each);
	nw.config.ncache = 0;
	ndn_configure();
	prepare_data();
	measure(&kinds[DATA], UP, rounds, CALLS);
	nw.config.ncache = 64;
	ndn_configure();
	measure(&kinds[KEPT], UP, rounds, CALLS);
}

int main(int argc, char **argv)
{
	const char *path = NULL;
	struct ndn_face f;
	cpu_set_t set;
	int opt;

	while ((opt = getopt(argc, argv, "n:r:o:")) != -1) {
		if (opt == 'o')
			path = optarg;
		else if (opt == 'r')
			rounds = atoi(optarg);
		else if (opt == 'n')
			log2n = atoi(optarg);
		if (opt == '?' || rounds < 1 || rounds > ROUNDS_MAX || log2n < 12 || log2n > 24) {
			fprintf(stderr, "usage: bench-pit [-n LOG2] "
					"[-r ROUNDS] [-o FILE]\n");
			return 2;
		}
	}
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	must(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
	nw.npit = 1 << log2n;
	nw.nnonces = 16384;
	ndn_open();
	for (int face = H1; face <= H3; face++) {
		f = ndn_face(face);
		f.flags |= NDN_FACE_SUBSCRIBE;
		/* A host may have a part of the entries only. */
		f.flags &= ~NDN_FACE_HOST;
		ndn_face_put(face, &f);
	}
	/* Leases are not the matter: none ends while it runs. */
	nw.config.lease_ns = 3600000000000ULL;
	ndn_route("/", UP);
	open_driver();
	run_all();
	if (!all_done(2ULL * rounds * CALLS * REPEAT)) {
		fprintf(stderr, "bench-pit: not all was done: drop %d\n", ndn_the_drop());
		return 1;
	}
	return path ? write_json(path) : 0;
}
