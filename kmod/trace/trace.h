/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints: /sys/kernel/tracing/events/trib. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM trib

#if !defined(TRIB_KMOD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TRIB_KMOD_TRACE_H

#include <linux/tracepoint.h>

/* Scalar code added @bytes in a call of @func, because the FPU was busy. */
TRACE_EVENT(trib_fallback, TP_PROTO(const char *func, u32 bytes), TP_ARGS(func, bytes),
	    TP_STRUCT__entry(__field(const char *, func) __field(u32, bytes)),
	    TP_fast_assign(__entry->func = func; __entry->bytes = bytes;),
	    TP_printk("func=%s bytes=%u", __entry->func, __entry->bytes));

DECLARE_EVENT_CLASS(trib_chunk, TP_PROTO(u16 job, u16 rank, u16 tree, u64 chunk),
		    TP_ARGS(job, rank, tree, chunk),
		    TP_STRUCT__entry(__field(u16, job) __field(u16, rank) __field(u16, tree)
					     __field(u64, chunk)),
		    TP_fast_assign(__entry->job = job; __entry->rank = rank; __entry->tree = tree;
				   __entry->chunk = chunk;),
		    TP_printk("job=%u rank=%u tree=%u chunk=%llu", __entry->job, __entry->rank,
			      __entry->tree, __entry->chunk));

/* The socket of @rank received the result of @chunk. */
DEFINE_EVENT(trib_chunk, trib_slot_done, TP_PROTO(u16 job, u16 rank, u16 tree, u64 chunk),
	     TP_ARGS(job, rank, tree, chunk));

/* The socket of @rank resends @chunk, or asks for its result. */
DEFINE_EVENT(trib_chunk, trib_resend, TP_PROTO(u16 job, u16 rank, u16 tree, u64 chunk),
	     TP_ARGS(job, rank, tree, chunk));

#endif /* TRIB_KMOD_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH trace
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
