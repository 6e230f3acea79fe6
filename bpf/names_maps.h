/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maps of the names forwarder, as uapi/trib_names.h describes them. Sizes
 * here are what a test needs; a loader sets its own.
 */
#ifndef TRIB_BPF_NAMES_MAPS_H
#define TRIB_BPF_NAMES_MAPS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "names_work.h"

/*
 * What a helper of a map returns is an int: before 6.4 the upper half of the
 * register may be anything, so it must not be looked at as a long.
 */
#define EEXIST 17

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct names_config);
} names_config SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NAMES_FACES);
	__type(key, __u32);
	__type(value, struct names_face);
} names_faces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NAMES_FACES);
	__type(key, struct names_from);
	__type(value, __u32);
} names_from SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NAMES_FACES);
	__type(key, __u32);
	__type(value, __u32);
} names_first SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, NAMES_FACES);
	__uint(key_size, sizeof(__u32)); /* devmaps have no BTF */
	__uint(value_size, sizeof(struct bpf_devmap_val));
} names_out SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP_HASH);
	__uint(max_entries, NAMES_FACES);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct bpf_devmap_val));
} names_ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct names_route);
} names_fib SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct names_right_key);
	__type(value, struct names_right);
} names_rights SEC(".maps");

/*
 * The persistent PIT. Mappable, so that user space may walk it, and because then
 * the first row begins a page: rows are whole cache lines.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 110);
	__type(key, __u32);
	__type(value, struct names_tags);
} names_tags SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 110 * NAMES_WAYS);
	__type(key, __u32);
	__type(value, struct names_entry);
} names_pit SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 110 * NAMES_WAYS);
	__type(key, __u32);
	__type(value, struct names_more);
} names_more SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct names_ask);
} names_asks SEC(".maps");

/* Where there is 0, nobody asked: most Data need not look further. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NAMES_ASKED_PLACES);
	__type(key, __u32);
	__type(value, __u32);
} names_asked SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct names_nonces);
} names_nonces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, struct names_kept);
} names_cache SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NAMES_FLIGHTS);
	__type(key, __u32);
	__type(value, struct names_flight);
} names_flights SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} names_misses SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NAMES_STAT__MAX);
	__type(key, __u32);
	__type(value, __u64);
} names_stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct names_work);
} names_works SEC(".maps");

static __always_inline void names_count(__u32 id)
{
	__u64 *v = bpf_map_lookup_elem(&names_stats, &id);

	if (v)
		*v += 1;
}

/* Return: XDP_DROP, for `return names_drop(NAMES_DROP_...)`. */
static __always_inline int names_drop(__u32 why)
{
	names_count(why);
	return XDP_DROP;
}

/* NULL never, but to the verifier. */
static __always_inline struct names_work *names_work(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&names_works, &zero);
}

static __always_inline const struct names_config *names_conf(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&names_config, &zero);
}

#endif /* TRIB_BPF_NAMES_MAPS_H */
