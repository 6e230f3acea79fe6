/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maps of the NDN forwarder, which uapi/trib_ndn_maps.h describes, and its
 * counters. Sizes here suffice for tests; a loader sets its own.
 */
#ifndef TRIB_BPF_NDN_MAPS_H
#define TRIB_BPF_NDN_MAPS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "ndn_work.h"

/*
 * Store results of map helpers in an int: before 6.4 the upper half of the
 * register is undefined.
 */
#define EEXIST 17

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ndn_config);
} ndn_config SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NDN_FACES);
	__type(key, __u32);
	__type(value, struct ndn_face);
} ndn_faces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NDN_FACES);
	__type(key, struct ndn_from);
	__type(value, __u32);
} ndn_from SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NDN_FACES);
	__type(key, __u32);
	__type(value, __u32);
} ndn_first SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, NDN_FACES);
	__uint(key_size, sizeof(__u32)); /* devmaps have no BTF */
	__uint(value_size, sizeof(struct bpf_devmap_val));
} ndn_out SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP_HASH);
	__uint(max_entries, NDN_FACES);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct bpf_devmap_val));
} ndn_ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct ndn_route);
} ndn_fib SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct ndn_right_key);
	__type(value, struct ndn_right);
} ndn_rights SEC(".maps");

/*
 * The persistent PIT. Mappable so that user space can show it, and because the
 * first row then begins a page: rows are whole cache lines.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 110);
	__type(key, __u32);
	__type(value, struct ndn_tags);
} ndn_tags SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 110 * NDN_WAYS);
	__type(key, __u32);
	__type(value, struct ndn_entry);
} ndn_pit SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 110 * NDN_WAYS);
	__type(key, __u32);
	__type(value, struct ndn_more);
} ndn_more SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NDN_SEATS_SHARED + 1024);
	__type(key, __u64);
	__type(value, struct ndn_ask);
} ndn_asks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NDN_FACES);
	__type(key, __u32);
	__type(value, struct ndn_owner);
} ndn_owners SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NDN_SEATS_SHARED + 1024);
	__type(key, __u32);
	__type(value, struct ndn_seat);
} ndn_seats SEC(".maps");

/* Shared seats: a bit is set if the seat is taken. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1024 / 64);
	__type(key, __u32);
	__type(value, __u64);
} ndn_taken SEC(".maps");

/* Numbers of pending Interests by part of a key: 0 spares Data the look-up. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NDN_ASKED_PLACES);
	__type(key, __u32);
	__type(value, __u32);
} ndn_asked SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct ndn_nonces);
} ndn_nonces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, struct ndn_kept);
} ndn_cache SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NDN_FLIGHTS);
	__type(key, __u32);
	__type(value, struct ndn_flight);
} ndn_flights SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ndn_misses SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ndn_stats);
} ndn_stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ndn_work);
} ndn_works SEC(".maps");

/* Count @id, a constant: the mask that the verifier wants costs nothing then. */
static __always_inline void ndn_count(__u32 id)
{
	__u32 zero = 0;
	__u64 *v = bpf_map_lookup_elem(&ndn_stats, &zero);

	if (v)
		v[id & (NDN_STAT__MAX - 1)]++;
}

/* ndn_count_call() - the same out of line, for slow paths and computed numbers */
__noinline int ndn_count_call(__u32 id)
{
	ndn_count(id);
	return 0;
}

/* Return: XDP_DROP, for `return ndn_drop(NDN_DROP_...)`. */
static __always_inline int ndn_drop(__u32 why)
{
	ndn_count_call(why);
	return XDP_DROP;
}

/* Never NULL, but the verifier does not know. */
static __always_inline struct ndn_work *ndn_work(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&ndn_works, &zero);
}

static __always_inline struct ndn_owner *ndn_owner(__u32 face)
{
	return bpf_map_lookup_elem(&ndn_owners, &face);
}

static __always_inline const struct ndn_config *ndn_conf(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&ndn_config, &zero);
}

#endif /* TRIB_BPF_NDN_MAPS_H */
