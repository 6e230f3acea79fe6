/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tunable numbers of libtrib, except those of the engine. Times are
 * nanoseconds.
 */
#ifndef TRIB_LIB_TUNABLES_H
#define TRIB_LIB_TUNABLES_H

#include "engine/tunables.h"

/* --- Progress thread ---------------------------------------------------- */

/*
 * After calls have returned, the thread takes over within this time. While
 * callers drive it looks at the handle once per tick; when all is idle it
 * sleeps in poll() without any timer.
 */
#define TRIB_TUNE_TICK (20 * TRIB_MS)

/* --- Sockets ------------------------------------------------------------ */

/* Datagrams taken by one recvmmsg(). */
#define TRIB_TUNE_RECV_BATCH 64
/*
 * Bytes that the kernel charges for a datagram in a receive buffer: a page and
 * its book-keeping. The buffer has room for 2W of them.
 */
#define TRIB_TUNE_RECV_CHARGE 4608
#define TRIB_TUNE_SNDBUF (4 << 20)

#endif /* TRIB_LIB_TUNABLES_H */
