/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the two halves of an emulated wire: the BPF program on both ends
 * (wire.bpf.c) and the process that set them up and delays packets (wire.c).
 */
#ifndef WIRE_H
#define WIRE_H

#include <linux/types.h>

#define WIRE_ENDS_MAX 1024
#define WIRE_FRAME_MAX 4096 /* longer ones are never delayed */

/**
 * struct wire_end - one end: what comes in here, and where it goes
 * @peer:    ifindex of the other end.
 * @loss:    chance of a loss, in units of 2^-32; likewise
 * @dup:     of a second copy, and
 * @reorder: of being delayed.
 * @packets: that came in; segments of a large one count each. @lost, @dups and
 *           @delayed: what became of them.
 * @slow:    every packet is delayed.
 */
struct wire_end {
	__u32 peer;
	__u32 loss;
	__u32 dup;
	__u32 reorder;
	__u64 packets;
	__u64 bytes;
	__u64 lost;
	__u64 dups;
	__u64 delayed;
	__u64 slow;
};

/**
 * struct wire_late - a packet on its way through user space
 * @peer:  ifindex to send it to.
 * @len:   bytes of @frame.
 * @vlan:  tag that the kernel took out of the frame.
 * @tagged: there is one.
 */
struct wire_late {
	__u32 peer;
	__u32 len;
	__u16 vlan;
	__u16 tagged;
	__u8 frame[WIRE_FRAME_MAX];
};

#endif /* WIRE_H */
