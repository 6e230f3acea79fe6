// SPDX-License-Identifier: GPL-2.0
/* Tracepoints that the engine calls for single chunks: see engine/host.h. */
#include "engine/engine.h"
#include "engine/stream.h"
#include "trace/trace.h"

void trib_trace_done(const struct trib_stream *s, uint64_t chunk)
{
	const struct trib_engine *eng = s->eng;

	trace_trib_slot_done(eng->rep->job, eng->rank, s->tree, chunk);
}

void trib_trace_resend(const struct trib_stream *s, uint64_t chunk)
{
	const struct trib_engine *eng = s->eng;

	trace_trib_resend(eng->rep->job, eng->rank, s->tree, chunk);
}
