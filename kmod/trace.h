/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints: /sys/kernel/tracing/events/trib. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM trib

#if !defined(TRIB_KMOD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TRIB_KMOD_TRACE_H

#include <linux/tracepoint.h>

/* @func was called while the FPU was not to be had: @bytes by scalar code. */
TRACE_EVENT(trib_fallback,
	TP_PROTO(const char *func, u32 bytes),
	TP_ARGS(func, bytes),
	TP_STRUCT__entry(
		__field(const char *, func)
		__field(u32, bytes)
	),
	TP_fast_assign(
		__entry->func = func;
		__entry->bytes = bytes;
	),
	TP_printk("func=%s bytes=%u", __entry->func, __entry->bytes)
);

#endif /* TRIB_KMOD_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
