// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that turn one packet into many, for tests/bench/ndn/pit.c: they rewrite
 * headers, name and numbers and tail-call the forwarder.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} target SEC(".maps");

/**
 * struct ndn_drive - parameters, filled in by the bench
 * @head:  Ethernet, IP and UDP headers of the frame.
 * @count: packets so far.
 * @mask:  names - 1.
 * @mul:   odd: names come in the order count * mul.
 * @name:  offset of the first of the three components' values in the frame.
 * @nonce: of the Nonce, or of the version's last 8 bytes.
 */
struct ndn_drive {
	__u64 head[6];
	__u32 count;
	__u32 mask;
	__u32 mul;
	__u32 name;
	__u32 nonce;
	__u32 is_data;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ndn_drive);
} drive SEC(".maps");

#define U64(p) (*(__u64 *)(p))
#define U32(p) (*(__u32 *)(p))

/* Scramble a number, so that components of names differ everywhere. */
static __always_inline __u64 mixed(__u64 x)
{
	x = (x + 1) * 0x9e3779b97f4a7c15ULL;
	return x ^ x >> 29;
}

SEC("xdp")
int ndn_drive(struct xdp_md *ctx)
{
	void *f = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	void *name, *number;
	__u32 zero = 0, n;
	struct ndn_drive *d = bpf_map_lookup_elem(&drive, &zero);

	if (!d || f + 128 > end)
		return XDP_ABORTED;
#pragma clang loop unroll(full)
	for (int i = 0; i < 5; i++)
		U64(f + 8 * i) = d->head[i];
	*(__u16 *)(f + 40) = d->head[5];
	n = ++d->count;
	n = n * d->mul & d->mask;
	name = f + (d->name & 127);
	if (name + 28 > end)
		return XDP_ABORTED;
	U64(name) = mixed(n);
	U64(name + 10) = mixed(n + 0x10000000);
	U64(name + 20) = mixed(n + 0x20000000);
	number = f + (d->nonce & 127);
	if (number + 8 > end)
		return XDP_ABORTED;
	if (d->is_data)
		U64(number) = bpf_cpu_to_be64((1ULL << 32) + d->count);
	else
		U32(number) = d->count;
	bpf_tail_call(ctx, &target, 0);
	return XDP_ABORTED;
}

SEC("xdp")
int ndn_nothing(struct xdp_md *ctx)
{
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
