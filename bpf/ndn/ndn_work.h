/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the names programs of one CPU know of the packet in hand. In a map, not
 * on the stack: the subprograms share it, and the verifier forgets which way a
 * value came.
 */
#ifndef TRIB_BPF_NDN_WORK_H
#define TRIB_BPF_NDN_WORK_H

#include "uapi/trib_ndn_maps.h"

#define NDN_NO_ROW 0xffffffff

/**
 * struct ndn_work - the packet in hand
 * @v:        its view; offsets count from @base. Undefined if refused.
 * @base:     where the NDN packet begins in the frame.
 * @len:      its bytes, a link header included.
 * @face:     that it came in by.
 * @flags:    of that face.
 * @mark:     enum ndn_mark.
 * @first:    components before the name proper: 1 if there is a marker.
 * @count:    components of the name proper.
 * @size:     its bytes.
 * @start:    where it begins in the Name.
 * @key:      of the name, marker and all.
 * @implicit: components that are implicit digests; @implicit_at: the last one.
 * @params:   components that are digests of parameters, as before.
 * @tick:     flights of this CPU.
 * @had:      of the container being read: a bit for each place in the order of
 *            its elements that was taken. Not a variable: the verifier would
 *            walk the loop for every set of them.
 * @faces:    who gets the packet.
 * @now:      time; the clock moves with @jiffies alone.
 * @last:     sender of the packet before, and @last_face, if @changes are those
 *            of the configuration.
 * @job:      components of the entry's name, of distribution.
 * @segmented: version and segment are there; else there may be a version.
 * @version:  of distribution, if @job is less than @count.
 * @segment:  as @version.
 * @pit_row:  where the entry may be that the packet needs; NDN_NO_ROW: nowhere.
 *            For names with a marker.
 * @pit_len:  bytes of the entry's name.
 * @pit_key:  its key.
 * @part:     sums of the hash over the first n words of the name.
 * @raw:      the name proper; behind it words may be read.
 * @new:      a row to be inserted into a hash.
 */
struct ndn_work {
	struct ndn_view v;
	__u32 base;
	__u32 len;
	__u32 face;
	__u32 flags;
	__u32 mark;
	__u32 first;
	__u32 count;
	__u32 size;
	__u32 start;
	__u64 key;
	__u8 implicit;
	__u8 implicit_at;
	__u8 params;
	__u8 params_at;
	__u32 tick;
	__u32 job;
	__u32 segmented;
	__u32 had;
	__u64 faces[NDN_FACE_WORDS];
	__u64 now;
	__u64 jiffies;
	struct ndn_from last;
	__u32 last_face;
	__u32 changes;
	__u64 version;
	__u64 segment;
	__u32 pit_row;
	__u32 pit_len;
	__u64 pit_key;
	__u64 part[NDN_NAME_WORDS + 1];
	__u8 raw[NDN_NAME_BYTES + 16];
	struct ndn_ask new;
};

#endif /* TRIB_BPF_NDN_WORK_H */
