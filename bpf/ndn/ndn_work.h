/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of the packet in hand, per CPU. It is in a map instead of on the stack so
 * that subprograms share it and the verifier does not track every value.
 */
#ifndef TRIB_BPF_NDN_WORK_H
#define TRIB_BPF_NDN_WORK_H

#include "uapi/trib_ndn_maps.h"

#define NDN_NO_ROW 0xffffffff
#define NDN_MISSES_A_TICK 16 /* reports of unknown senders by one CPU in a jiffy */

/**
 * struct ndn_work - the packet in hand
 * @v:        parsed packet; offsets count from @base. Undefined if refused.
 * @base:     offset of the NDN packet in the frame.
 * @len:      its bytes, with link header.
 * @face:     incoming face.
 * @flags:    &ndn_face.flags of that face.
 * @mark:     enum ndn_mark.
 * @first:    1 if the name has a marker, else 0.
 * @count:    components of the name without its marker.
 * @size:     its bytes.
 * @start:    its offset in the Name.
 * @key:      ndn_hash() of the name, with @mark.
 * @implicit: number of implicit digests in the name; @implicit_at: the last one.
 * @params:   number of digests of parameters; @params_at: the last one.
 * @tick:     number of this CPU's last flight.
 * @job:      components of the job's name in the name of a distribution.
 * @segmented: the name has a version and a segment.
 * @had:      positions already seen in the container being read, a bit each. Not
 *            a local variable: the verifier would walk the loop for every value.
 * @faces:    receivers of the packet.
 * @now:      time in ns, updated when @jiffies change.
 * @jiffies:  when @now was read.
 * @last:     sender of the last packet.
 * @last_face: its face, valid while @changes equals &ndn_config.changes.
 * @changes:  see @last_face.
 * @version:  version in the name, if @job is less than @count.
 * @segment:  segment in the name, if @segmented.
 * @pit_row:  candidate row of the entry; NDN_NO_ROW: none. Names with a marker.
 * @pit_len:  bytes of the entry's name.
 * @pit_key:  its key.
 * @part:     sums of the hash over the first n words of the name.
 * @raw:      copy of the name without its marker; whole words may be read.
 * @new:      scratch row for insertion into ndn_asks.
 * @missed_at: tick of the last report of an unknown sender.
 * @missed:   reports in that tick.
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
	__u64 missed_at;
	__u64 missed;
};

#endif /* TRIB_BPF_NDN_WORK_H */
