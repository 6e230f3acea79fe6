/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Every number in the engine that somebody may want to turn, in one table.
 * Times are nanoseconds unless the name ends in _MS; windows are chunks.
 */
#ifndef TRIB_ENGINE_TUNABLES_H
#define TRIB_ENGINE_TUNABLES_H

#define TRIB_MS 1000000ULL
#define TRIB_SEC 1000000000ULL

/* --- Joining and leaving ------------------------------------------------ */

/* How long trib_attach() waits for the other ranks. */
#define TRIB_TUNE_JOIN_TIMEOUT_MS 60000
/* JOIN is repeated at this interval until START(RUN) comes. */
#define TRIB_TUNE_JOIN_REPEAT (200 * TRIB_MS)
/* LEAVE is not acknowledged: so many copies are sent. */
#define TRIB_TUNE_LEAVE_COPIES 3
/* Nor is ABORT. */
#define TRIB_TUNE_ABORT_COPIES 3

/* --- Batches ------------------------------------------------------------ */

/*
 * Packets in one sendmsg() with UDP_SEGMENT. The kernel takes 64 segments and
 * 65507 bytes; one softirq batch at the relay is 64 packets.
 */
#define TRIB_TUNE_BURST 64
#define TRIB_TUNE_BURST_BYTES 65000
/* A chunk at which the receivers are woken, at least every so many. */
#define TRIB_TUNE_PUSH_EVERY 64

/* --- Window ------------------------------------------------------------- */

/*
 * Bytes in flight before the first result has come: 500 Mb/s times 1.5 ms.
 * Doubles each round trip until something speaks against it.
 */
#define TRIB_TUNE_WINDOW_INIT_BYTES 96000
/* Never fewer chunks than this in flight. */
#define TRIB_TUNE_WINDOW_MIN 4
/*
 * Standing queue that is tolerated before the window shrinks: this, or the
 * least round trip time, whichever is more. Short enough that W chunks cover
 * two round trips of it, which is what recovery from a loss needs.
 */
#define TRIB_TUNE_QUEUE_MAX (1 * TRIB_MS)
/*
 * Our share of a queue that others stand in, too: with fewer chunks in it we
 * stay. Who always gave way would be starved by a TCP that keeps it short.
 */
#define TRIB_TUNE_QUEUE_CHUNKS 48
/* Window factor on a standing queue, in 1/16: gentle, once a round trip. */
#define TRIB_TUNE_QUEUE_FACTOR 14
/* Window factor on congestion loss and on a round with ECN marks, in 1/16. */
#define TRIB_TUNE_LOSS_FACTOR 11
/* With a planned rate the window is at most what it carries in this time. */
#define TRIB_TUNE_PLANNED_NS (5 * TRIB_MS)
/*
 * A planned rate is kept in percent: a little more than it, because what is sent
 * again comes on top, and others stay within 15 percent of their plans. What was
 * not sent in as long as above may follow at once.
 */
#define TRIB_TUNE_PACE_PERCENT 104
/*
 * Each of several trees may have so many chunks in flight, whatever its share
 * of the planned rate: with fewer, gaps do not show (TRIB_TUNE_REORDER), and
 * time-outs ask for what is merely late.
 */
#define TRIB_TUNE_PLANNED_SHARE 12
/* Of trees with different weights none is further ahead, in chunks of the one
 * that has less to carry. */
#define TRIB_TUNE_AHEAD 12
/*
 * Share of own packets lost, in percent, from which on loss is congestion even
 * when the round trip time has not grown; averaged over so many chunks.
 */
#define TRIB_TUNE_LOSS_PERCENT 4
/* Much loss alone, without a longer round trip, shrinks it no further. */
#define TRIB_TUNE_WINDOW_LOSSY 32
#define TRIB_TUNE_LOSS_CHUNKS 128
/*
 * A round trip that is longer by this, or by the least round trip time if that
 * is more, has grown: losses are congestion then.
 */
#define TRIB_TUNE_LOSS_QUEUE (TRIB_MS / 2)

/* --- Recovery ----------------------------------------------------------- */

/*
 * Retransmission time-out: the first one at most INIT (also before any sample)
 * and at least MIN; doubling up to MAX. Where results take longer than half of
 * INIT, it is at most twice that: who is only late is not asked again.
 */
#define TRIB_TUNE_RTO_INIT (50 * TRIB_MS)
#define TRIB_TUNE_RTO_MIN (5 * TRIB_MS)
#define TRIB_TUNE_RTO_MAX (250 * TRIB_MS)
/* The same for a chunk after which others have come: at least. */
#define TRIB_TUNE_HOLE_MIN (1 * TRIB_MS)
/* The oldest chunks, which time-outs resend; gaps tell about the others. */
#define TRIB_TUNE_RTO_PROBES 4
/* Later transmissions answered before a silent one is taken for lost. */
#define TRIB_TUNE_REORDER 12
/* Chunks resent at once because of gaps. */
#define TRIB_TUNE_FAST_BURST 32
/* NEED for one chunk is answered at most once in this time. */
#define TRIB_TUNE_NEED_PACE (2 * TRIB_MS)
/* ALIVE is said at most once in this time, or in a beat, per tree. */
#define TRIB_TUNE_ALIVE_PACE (50 * TRIB_MS)
/*
 * Shared pools: a time-out asks the relays on the way whether they live, and
 * again in this time until they answer; one that owes so many answers is dead,
 * and asked more rarely from then on. Who waits for a time-out, and then for the
 * answers, has gone around a dead relay within 200 ms.
 */
#define TRIB_TUNE_PROBE_PACE (25 * TRIB_MS)
#define TRIB_TUNE_PROBES 4
#define TRIB_TUNE_PROBE_AGAIN (200 * TRIB_MS)
/* Detach listens for so many of the longest time-outs. */
#define TRIB_TUNE_DETACH_TIMEOUTS 30
/* A send that the socket refused (its buffer is full) is tried again after. */
#define TRIB_TUNE_SEND_RETRY (1 * TRIB_MS)

/* --- Failing ------------------------------------------------------------ */

/* Silence after which a rank is dead, when neither job nor caller says. */
#define TRIB_TUNE_TIMEOUT_MS 5000
/*
 * Beats in that time: how often who waits, or is asked, says that it is alive
 * (from the second beat without a result on), and looks who else is.
 */
#define TRIB_TUNE_BEATS 16

/* --- Messages ----------------------------------------------------------- */

/* Chunks up to which a message travels in one tree when there are several. */
#define TRIB_TUNE_SPLIT_CHUNKS 64

#endif /* TRIB_ENGINE_TUNABLES_H */
