// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compares the parser of ndn_xdp with that of user space: both accept the same
 * packets with the same fields, refuse the others for the same reason, and
 * refused packets change nothing.
 *
 * The first byte of an input selects: the rest is a raw packet; a script that
 * builds one of elements; or changes to a valid packet.
 */
#include <linux/bpf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bpf/ndn/ndn_work.h"
#include "tests/bpf/ndn/ndn_world.h"

#define PACKET_MAX 1400

/* Feedback for the fuzzer: outcomes instead of code coverage. */
static uint8_t feedback[8192] __attribute__((section("__libfuzzer_extra_counters")));

static uint64_t taken, refused;
static int ncpu, cpu;

static void note(uint64_t what)
{
	what *= 0x9e3779b97f4a7c15ULL;
	feedback[what >> 51] = 1;
}

static void show_stats(void)
{
	fprintf(stderr, "fuzz-forwarder: %llu taken, %llu refused\n", (unsigned long long)taken,
		(unsigned long long)refused);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	cpu_set_t set;

	(void)argc;
	(void)argv;
	/* The view is read for one CPU. */
	cpu = sched_getcpu();
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	ncpu = libbpf_num_possible_cpus();
	ndn_open();
	atexit(show_stats);
	return 0;
}

/* --- making packets */

struct script {
	const uint8_t *p, *end;
};

static uint8_t next(struct script *s)
{
	return s->p < s->end ? *s->p++ : 0;
}

static int varnum(uint8_t *to, uint64_t v, int form)
{
	if (form == 0 && v < 253) {
		to[0] = v;
		return 1;
	}
	to[0] = form < 2 ? 253 : form == 2 ? 254 : 255;
	for (int i = 0, n = form < 2 ? 2 : form == 2 ? 4 : 8; i < n; i++)
		to[1 + i] = v >> 8 * (n - 1 - i);
	return form < 2 ? 3 : form == 2 ? 5 : 9;
}

static const uint32_t types[] = {
	TRIB_NDN_INTEREST,
	TRIB_NDN_DATA,
	TRIB_NDN_LP,
	TRIB_NDN_NAME,
	TRIB_NDN_GENERIC,
	TRIB_NDN_GENERIC,
	TRIB_NDN_DIGEST,
	TRIB_NDN_PARAMS_DIGEST,
	TRIB_NDN_SEGMENT,
	TRIB_NDN_VERSION,
	TRIB_NDN_CAN_BE_PREFIX,
	TRIB_NDN_MUST_BE_FRESH,
	TRIB_NDN_HINT,
	TRIB_NDN_NONCE,
	TRIB_NDN_LIFETIME,
	TRIB_NDN_HOP_LIMIT,
	TRIB_NDN_PARAMS,
	TRIB_NDN_ISIG_INFO,
	TRIB_NDN_ISIG_VALUE,
	TRIB_NDN_META,
	TRIB_NDN_CONTENT,
	TRIB_NDN_SIG_INFO,
	TRIB_NDN_SIG_VALUE,
	TRIB_NDN_CONTENT_TYPE,
	TRIB_NDN_FRESHNESS,
	TRIB_NDN_FINAL_BLOCK,
	TRIB_NDN_LP_FRAGMENT,
	TRIB_NDN_LP_SEQUENCE,
	TRIB_NDN_LP_FRAG_INDEX,
	TRIB_NDN_LP_FRAG_COUNT,
	TRIB_NDN_LP_PIT_TOKEN,
	TRIB_NDN_LP_NACK,
	TRIB_NDN_LP_NACK_REASON,
	TRIB_NDN_LP_CONGESTION,
	TRIB_NDN_LP_ACK,
	0,
	801,
	804,
	0xf0,
	0xf1,
	0x10000,
};
#define TYPES (sizeof(types) / sizeof(*types))

/*
 * Build one element: a byte selects its type, one its form. The next byte counts
 * its bytes or its elements. Return: bytes written.
 */
static int element(struct script *s, uint8_t *to, int room, int depth)
{
	uint8_t inner[PACKET_MAX], form, n;
	uint64_t type;
	int len = 0, at;

	type = types[next(s) % TYPES];
	form = next(s);
	n = next(s);
	if ((form & 1) && depth < 5) {
		for (int i = 0; i < (n & 31) && s->p < s->end; i++)
			len += element(s, inner + len, PACKET_MAX - 20 - len, depth + 1);
	} else {
		/* Long values repeat a byte, so that scripts stay short. */
		len = form & 2 ? n + (form & 4 ? 256 : 0) : n & 31;
		for (int i = 0; i < len; i++)
			inner[i] = form & 2 ? n : next(s);
	}
	if (len + 20 > room)
		return 0;
	at = varnum(to, type, (form & 0xf0) == 0x10 ? 1 : type > 252);
	at += varnum(to + at, (form & 0xf0) == 0x20 ? len + n - 8 : len,
		     (form & 0xf0) == 0x30 ? form & 3 : len > 252);
	memcpy(to + at, inner, len);
	return at + len;
}

static int script(const uint8_t *data, size_t size, uint8_t *to)
{
	struct script s = {data, data + size};

	return element(&s, to, PACKET_MAX, 0);
}

/* A valid packet with a few changed bytes. */
static int spoiled(const uint8_t *data, size_t size, uint8_t *to)
{
	static const char *const names[] = {
		"/ps/job",
		"/distribute/ps/job",
		"/insert/ps/job",
		"/distribute/ps/job/v=3/seg=0",
		"/gpu/ps/job/v=70000",
		"/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p",
		"/32=newest/300=x",
	};
	struct script s = {data, data + size};
	uint8_t what = next(&s), buf[NFRAME_MAX];
	const char *name = names[next(&s) % 7];
	struct ask a = {
		.name = name,
		.nonce = 7,
		.prefix = what & 4,
		.fresh = what & 8,
		.hops = what & 16 ? 3 : 0,
		.life = what & 32 ? 70000 : 0,
		.pad = what & 64 ? what : 0,
	};
	int n = what & 1 ? ndn_make_interest(buf, &a) : ndn_make_data(buf, name, what);

	if (what & 2)
		n = ndn_make_link(buf, n, (what & 129) == 129);
	if (n > PACKET_MAX)
		return 0;
	while (s.p + 1 < s.end) {
		int at = next(&s) % (n < 80 ? n : 80);

		buf[at] = next(&s);
	}
	memcpy(to, buf, n);
	return n;
}

/* --- comparing */

static void wrong(const char *what, const uint8_t *b, int n, const struct ndn_view *want,
		  const struct ndn_view *got)
{
	const uint8_t *x = (const void *)want, *y = (const void *)got;

	fprintf(stderr, "%s: verdict %d, not %d (%s); view", what, got->verdict, want->verdict,
		ndn_err_text(want->verdict));
	for (size_t i = 0; i < sizeof(*want); i++)
		if (x[i] != y[i])
			fprintf(stderr, " [%zu] %d/%d", i, y[i], x[i]);
	fprintf(stderr, "\npacket of %d bytes:", n);
	for (int i = 0; i < n; i++)
		fprintf(stderr, " %02x", b[i]);
	fprintf(stderr, "\n");
	abort();
}

/* All counters of this CPU. */
static void counters(uint64_t out[NDN_STAT__MAX])
{
	static uint64_t v[1024][NDN_STAT__MAX];
	int row = 0;

	if (bpf_map_lookup_elem(ndn_map("ndn_stats"), &row, v))
		abort();
	memcpy(out, v[cpu], sizeof(v[cpu]));
}

static void view_of(struct ndn_view *v)
{
	static uint8_t rows[1024 * ((sizeof(struct ndn_work) + 7) & ~7)];
	int zero = 0;

	if (bpf_map_lookup_elem(ndn_map("ndn_works"), &zero, rows))
		abort();
	memcpy(v, rows + cpu * ((sizeof(struct ndn_work) + 7) & ~7UL), sizeof(*v));
}

/* Last state of the counters, and refusals since then. */
static uint64_t snap[NDN_STAT__MAX], pending[NDN_STAT__MAX - NDN_STAT_BAD];
static int npending;

/* Check that exactly the refusals were counted and nothing else changed. */
static void settle(const uint8_t *b, int n, const struct ndn_view *v)
{
	uint64_t now[NDN_STAT__MAX];

	counters(now);
	for (int i = 0; i < NDN_STAT__MAX; i++)
		if (now[i] != snap[i] + (i < NDN_STAT_BAD ? 0 : pending[i - NDN_STAT_BAD]))
			wrong("refused (a while ago), and more", b, n, v, v);
	if (ndn_entries() + ndn_rows("ndn_asks"))
		wrong("refused, and rows remain", b, n, v, v);
	memcpy(snap, now, sizeof(snap));
	memset(pending, 0, sizeof(pending));
	npending = 0;
}

static void compare(const uint8_t *b, int n)
{
	struct ndn_view want, got;
	struct nframe f;
	int verdict;

	nframe_from(&f, UP, b, n);
	/* Padding of a short frame is no part of a UDP packet. */
	ndn_view(&want, b, n);
	if (!want.verdict && npending)
		settle(b, n, &want);
	verdict = ndn_run(&f, UP);
	view_of(&got);
	if (got.verdict != want.verdict)
		wrong("verdict", b, n, &want, &got);
	note(want.verdict << 8 | want.count << 16 | want.type << 24);
	if (want.verdict) {
		refused++;
		if (verdict != XDP_DROP)
			wrong("refused, not dropped", b, n, &want, &got);
		pending[want.verdict]++;
		if (++npending == 64)
			settle(b, n, &want);
		return;
	}
	taken++;
	note((uint64_t)want.flags << 32 | want.type);
	if (memcmp(&want, &got, sizeof(want)))
		wrong("view", b, n, &want, &got);
	ndn_empty();
	counters(snap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t b[PACKET_MAX];
	int n;

	if (size < 2)
		return -1;
	if (data[0] % 3 == 2) {
		n = spoiled(data + 1, size - 1, b);
	} else if (data[0] % 3) {
		n = size - 1 < PACKET_MAX ? size - 1 : PACKET_MAX;
		memcpy(b, data + 1, n);
	} else {
		n = script(data + 1, size - 1, b);
	}
	if (!n)
		return -1;
	compare(b, n);
	return 0;
}
