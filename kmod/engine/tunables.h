/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Every tunable number of the engine, in one table. Times are nanoseconds unless
 * the name ends in _MS; windows are chunks.
 */
#ifndef TRIB_ENGINE_TUNABLES_H
#define TRIB_ENGINE_TUNABLES_H

#define TRIB_MS 1000000ULL
#define TRIB_SEC 1000000000ULL

/* --- Joining and leaving ------------------------------------------------ */

/* Time for the other ranks to join. */
#define TRIB_TUNE_JOIN_TIMEOUT_MS 60000
/* JOIN is repeated at this interval until START(RUN) comes. */
#define TRIB_TUNE_JOIN_REPEAT (200 * TRIB_MS)
/* Copies of LEAVE, which is not acknowledged. */
#define TRIB_TUNE_LEAVE_COPIES 3
/* Copies of ABORT, which is not acknowledged. */
#define TRIB_TUNE_ABORT_COPIES 3

/* --- Batches ------------------------------------------------------------ */

/*
 * Packets in one sendmsg() with UDP_SEGMENT. The kernel takes 64 segments and
 * 65507 bytes; one softirq batch at the relay is 64 packets.
 */
#define TRIB_TUNE_BURST 64
#define TRIB_TUNE_BURST_BYTES 65000
/* Chunks between two that wake the receivers (TRIB_F_PUSH), at most. */
#define TRIB_TUNE_PUSH_EVERY 64

/* --- Window ------------------------------------------------------------- */

/*
 * Bytes in flight before the first result: 500 Mb/s times 1.5 ms. Doubles each
 * round trip in slow start.
 */
#define TRIB_TUNE_WINDOW_INIT_BYTES 96000
/* Never fewer chunks than this in flight. */
#define TRIB_TUNE_WINDOW_MIN 4
/*
 * Queueing delay before the window shrinks: the larger of this and the minimum
 * round trip. Recovery from a loss needs two round trips within W chunks, which
 * this is short enough for.
 */
#define TRIB_TUNE_QUEUE_MAX (1 * TRIB_MS)
/*
 * With fewer own chunks in a queue the window does not shrink. Always giving way
 * would starve us beside a TCP that keeps the queue short.
 */
#define TRIB_TUNE_QUEUE_CHUNKS 48
/* Window factor on a standing queue, in 1/16: gentle, once a round trip. */
#define TRIB_TUNE_QUEUE_FACTOR 14
/* Window factor on congestion loss and on a round with ECN marks, in 1/16. */
#define TRIB_TUNE_LOSS_FACTOR 11
/* The planned rate times this bounds the window. */
#define TRIB_TUNE_PLANNED_NS (5 * TRIB_MS)
/*
 * Pace in percent of the planned rate: above 100 for retransmissions; other jobs
 * stay within 15 percent of their plans. Unused rate of TRIB_TUNE_PLANNED_NS may
 * be used in a burst.
 */
#define TRIB_TUNE_PACE_PERCENT 104
/*
 * Minimum of the bound by the planned rate for each of several trees. With fewer
 * chunks in flight there are no gaps to detect (TRIB_TUNE_REORDER), and timeouts
 * resend late chunks.
 */
#define TRIB_TUNE_PLANNED_SHARE 12
/* Lead of a tree over trees of other weight, in chunks of the smaller part. */
#define TRIB_TUNE_AHEAD 12
/*
 * Own packets lost, in percent, above which loss means congestion even without a
 * longer round trip; TRIB_TUNE_LOSS_CHUNKS is the averaging period.
 */
#define TRIB_TUNE_LOSS_PERCENT 4
/* Loss alone, without a longer round trip, shrinks the window no further. */
#define TRIB_TUNE_WINDOW_LOSSY 32
#define TRIB_TUNE_LOSS_CHUNKS 128
/*
 * A round trip has grown if it exceeds the minimum by this, or by the minimum if
 * that is larger: losses mean congestion then.
 */
#define TRIB_TUNE_LOSS_QUEUE (TRIB_MS / 2)

/* --- Recovery ----------------------------------------------------------- */

/*
 * Retransmission timeout: MIN to INIT for the first one, INIT without a sample; it
 * doubles up to MAX. If results take longer than half of INIT, the bound is twice
 * that time, so that late ranks are not asked again.
 */
#define TRIB_TUNE_RTO_INIT (50 * TRIB_MS)
#define TRIB_TUNE_RTO_MIN (5 * TRIB_MS)
#define TRIB_TUNE_RTO_MAX (250 * TRIB_MS)
/* Minimum timeout of a chunk after which others have come. */
#define TRIB_TUNE_HOLE_MIN (1 * TRIB_MS)
/* Number of oldest chunks that timeouts resend; gaps reveal losses of others. */
#define TRIB_TUNE_RTO_PROBES 4
/* Later transmissions with results before a chunk counts as lost. */
#define TRIB_TUNE_REORDER 12
/* Chunks resent at once because of gaps. */
#define TRIB_TUNE_FAST_BURST 32
/* Interval between answers to NEED for the same chunk. */
#define TRIB_TUNE_NEED_PACE (2 * TRIB_MS)
/* Interval between ALIVEs per tree; a beat, if that is shorter. */
#define TRIB_TUNE_ALIVE_PACE (50 * TRIB_MS)
/*
 * Shared pools: a timeout probes the relays on the way, at intervals of PROBE_PACE
 * until they answer. A relay that owes PROBES answers is dead and probed at
 * intervals of PROBE_AGAIN. Timeout and probes take less than 200 ms together.
 */
#define TRIB_TUNE_PROBE_PACE (25 * TRIB_MS)
#define TRIB_TUNE_PROBES 4
#define TRIB_TUNE_PROBE_AGAIN (200 * TRIB_MS)
/* Leaving listens for this many of the longest timeouts. */
#define TRIB_TUNE_DETACH_TIMEOUTS 30
/* Delay after a send that the transport refused: its buffer is full. */
#define TRIB_TUNE_SEND_RETRY (1 * TRIB_MS)

/* --- Sending by XDP ------------------------------------------------------- */

/* The window is twice what the path holds, and at least: */
#define TRIB_TUNE_LANE_DIST_MIN 16
/* A CPU that has delivered nothing for so long has no lanes any more. */
#define TRIB_TUNE_LANE_CPU_QUIET (20 * TRIB_MS)
/* Results that come meanwhile and must be read before late chunks are sent. */
#define TRIB_TUNE_LANE_NEWS 16
/* Results after which the time of a missing chunk counts. */
#define TRIB_TUNE_LANE_MOVED 4
/* Chunks resent in a quarter of a round trip: the queue that dropped them is full. */
#define TRIB_TUNE_LANE_BURST 16
/*
 * Share of gaps among the last results, one in so many: above MOST the rank sends by its
 * window until there are FEW.
 */
#define TRIB_TUNE_LANE_GAPS_LAST 1024
#define TRIB_TUNE_LANE_GAPS_MOST 50
#define TRIB_TUNE_LANE_GAPS_FEW 500
/*
 * Rounds with long round trips after which a queue counts as others' and the window is tried.
 * If that gets no more than 5/4, so many times as many are borne before the next try, up to MOST,
 * while the lanes get at least half of what they got then.
 */
#define TRIB_TUNE_LANE_SLOW 4
#define TRIB_TUNE_LANE_SLOW_TIMES 16
#define TRIB_TUNE_LANE_SLOW_MOST 1024
/* Ranks take turns in resending, by a quarter of a round each, at most so many. */
#define TRIB_TUNE_LANE_TURNS 8
/* Least time-outs: other results came; none came. */
#define TRIB_TUNE_LANE_HOLE_MIN (1 * TRIB_MS)
#define TRIB_TUNE_LANE_RTO_MIN (2 * TRIB_MS)
/* Looks without a loss after which the rank sleeps for whole batches again. */
#define TRIB_TUNE_LANE_QUIET 8

/* --- Failing ------------------------------------------------------------ */

/* Silence after which a rank is dead; default for job and caller. */
#define TRIB_TUNE_TIMEOUT_MS 5000
/*
 * Beats in that time. At each beat a rank that waits or was
 * asked sends ALIVE and checks the other ranks.
 */
#define TRIB_TUNE_BEATS 16

/*
 * With a detour: a rank without a sign of the relay for FIRST asks, and again after each PACE.
 * If none of ASKS is answered, or its packets were refused for REFUSED, the relay is dead. All
 * ranks know that within 200 ms.
 */
#define TRIB_TUNE_LOST_FIRST (40 * TRIB_MS)
#define TRIB_TUNE_LOST_PACE (20 * TRIB_MS)
#define TRIB_TUNE_LOST_ASKS 4
#define TRIB_TUNE_LOST_REFUSED (120 * TRIB_MS)

/* --- Messages ----------------------------------------------------------- */

/* Messages up to this number of chunks use one tree of several. */
#define TRIB_TUNE_SPLIT_CHUNKS 64

#endif /* TRIB_ENGINE_TUNABLES_H */
