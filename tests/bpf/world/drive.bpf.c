// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that make one packet into many: BPF_PROG_TEST_RUN repeats a packet
 * as the last run left it, so these rewrite child and chunk and tail-call the
 * program under test. Their state is in the packet's destination MAC: a
 * counter, the lane (one for each CPU) and the number of lanes.
 */
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "uapi/trib_wire.h"

#define CHILDREN 4
#define RUN 16 /* consecutive chunks of one lane, like one NAPI poll */
#define WORDS (TRIB_NVAL_SMALL / 2)

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} target SEC(".maps");

/* Offsets in an Ethernet frame with IPv4 and without tags. */
enum {
	COUNT = 0,
	LANE = 4,
	LANES = 5,
	SOURCE = 6,
	NM = 11,
	HDR = 14 + 20 + 8,
	RELAY = HDR + 12,
	CHILD = HDR + 14,
	CHUNK = HDR + 16,
	NVAL = HDR + 24,
	SCALE = HDR + 28,
	VALUES = HDR + 40,
};

#define U16(f, off) (*(__u16 *)((f) + (off)))
#define U32(f, off) (*(__u32 *)((f) + (off)))
#define U64(f, off) (*(__u64 *)((f) + (off)))
#define U8(f, off) (*(__u8 *)((f) + (off)))

/* Current chunk of each lane, a cache line each. */
struct {
	volatile __u32 chunk;
	__u32 pad[31];
} progress[2];

const volatile struct {
	__u32 ahead; /* largest distance between the chunks of two lanes */
	__u32 end;   /* stop before this chunk */
} limits = {1, ~0U};

/*
 * Store as wide as the program loads later: a narrower store would stall the
 * load.
 */
static __always_inline void rewrite(void *f, __u32 child, __u32 chunk)
{
	U64(f, HDR) =
		TRIB_WIRE_VERSION | TRIB_T_GRAD << 8 | TRIB_F_UP << 16 | (__u64)TRIB_FMT_Q32 << 32;
	U16(f, SOURCE) = 2; /* the last run left a mark there */
	U16(f, CHILD) = bpf_htons(child);
	U32(f, CHUNK) = bpf_htonl(chunk);
	U16(f, NVAL) = bpf_htons(TRIB_NVAL_SMALL);
	U32(f, SCALE) = 0;
	U32(f, COUNT)++;
}

/* All children, chunk by chunk; each lane has its own runs of chunks. */
SEC("xdp")
int drive_chunks(struct xdp_md *ctx)
{
	void *f = (void *)(long)ctx->data;
	__u32 n, chunk;

	if (f + VALUES > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	n = U32(f, COUNT);
	chunk = n / CHILDREN;
	chunk = (chunk / RUN * U8(f, LANES) + U8(f, LANE)) * RUN + chunk % RUN;
	rewrite(f, n % CHILDREN, chunk);
	bpf_tail_call(ctx, &target, 0);
	return XDP_ABORTED;
}

/*
 * The same for a shared tree. Its packets carry relay and worker: a bitmap of
 * one word comes before the values.
 */
SEC("xdp")
int drive_shared(struct xdp_md *ctx)
{
	void *f = (void *)(long)ctx->data;
	__u32 n;

	if (f + VALUES + 8 > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	n = U32(f, COUNT);
	rewrite(f, n % CHILDREN, n / CHILDREN);
	U64(f, HDR) |= 1ULL << 56;
	U16(f, RELAY) = bpf_htons(1);
	U64(f, VALUES) = bpf_cpu_to_be64(1ULL << n % CHILDREN);
	bpf_tail_call(ctx, &target, 0);
	return XDP_ABORTED;
}

/*
 * The same as drive_chunks, with a mask (nm in the packet's source MAC). A packet that
 * completes its chunk is too short for the result and gets orders for trib_send.
 */
SEC("xdp")
int drive_masked(struct xdp_md *ctx)
{
	void *f = (void *)(long)ctx->data;
	__u32 n;

	if (ctx->data_meta != ctx->data) {
		bpf_xdp_adjust_meta(ctx, ctx->data - ctx->data_meta);
		f = (void *)(long)ctx->data;
	}
	if (f + VALUES > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	n = U32(f, COUNT);
	rewrite(f, n % CHILDREN, n / CHILDREN);
	U64(f, HDR) = TRIB_WIRE_VERSION | TRIB_T_GRAD << 8 | (TRIB_F_UP | TRIB_F_MASK) << 16 |
		      (__u64)TRIB_FMT_I32 << 32 | (__u64)U8(f, NM) << 40;
	bpf_tail_call(ctx, &target, 0);
	return XDP_ABORTED;
}

/* An empty target, to measure the cost of driving. */
SEC("xdp")
int drive_nothing(struct xdp_md *ctx)
{
	return XDP_DROP;
}

/* Two lanes with two children each, on the same chunks. */
static __always_inline bool next_of_lane(void *f, __u32 *child, __u32 *chunk)
{
	__u32 lane = U8(f, LANE) & 1, n = U32(f, COUNT);

	*chunk = n / 2;
	*child = lane * 2 + n % 2;
	progress[lane].chunk = *chunk;
	return *chunk < limits.end && (__s32)(*chunk - progress[!lane].chunk) < (__s32)limits.ahead;
}

SEC("xdp")
int drive_children(struct xdp_md *ctx)
{
	void *f = (void *)(long)ctx->data;
	__u32 child, chunk;

	if (f + VALUES > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	if (!next_of_lane(f, &child, &chunk))
		return XDP_PASS;
	rewrite(f, child, chunk);
	bpf_tail_call(ctx, &target, 0);
	return XDP_ABORTED;
}

/*
 * The same, with values that depend on chunk, child and word; threads.c checks
 * the sums.
 */
SEC("xdp")
int drive_values(struct xdp_md *ctx)
{
	void *f = (void *)(long)ctx->data;
	__u32 child, chunk;

	if (f + VALUES + 8 * WORDS > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	if (!next_of_lane(f, &child, &chunk))
		return XDP_PASS;
	for (__u32 i = 0; i < WORDS; i++)
		U64(f, VALUES + 8 * i) = (__u64)chunk * 1000003 + child * 257 + i;
	rewrite(f, child, chunk);
	bpf_tail_call(ctx, &target, 0);
	return XDP_ABORTED;
}

char _license[] SEC("license") = "GPL";
