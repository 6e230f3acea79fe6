// SPDX-License-Identifier: BSD-2-Clause
/*
 * bench-gloo: Gloo's allreduce over TCP, measured by the same loop, with the
 * same inputs, oracle, table and JSON as trib-perf, so that both can run on
 * the same wires in the same run. One process per rank (TRIB_RANK and
 * TRIB_WORLD, or RANK and WORLD_SIZE); -D names a folder that all ranks see,
 * -I the interface to use.
 *
 * ring and bcube are gloo::allreduce(), what PyTorch calls; the others are
 * Gloo's older classes, which work in place and, as *_sync, without Gloo's
 * event thread in the path.
 */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gloo/allreduce.h>
#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/types.h>

#include "perf/measure.h"
#include "perf/opts.h"
#include "perf/report.h"

namespace
{

using context_ptr = std::shared_ptr<gloo::rendezvous::Context>;

struct peer {
	struct perf_opts *o;
	std::string folder, iface, fault;
	context_ptr data, control; /* *_sync changes data's pairs */
	std::map<std::pair<void *, size_t>, std::unique_ptr<gloo::Algorithm>> algorithms;
};

peer *of(struct perf_net *net)
{
	return static_cast<peer *>(net->ctx);
}

/* Gloo throws; the measuring loop wants a number and a text. */
int guarded(struct perf_net *net, const std::function<void()> &fn)
{
	try {
		fn();
		return 0;
	} catch (const std::exception &e) {
		of(net)->fault = e.what();
		return -EIO;
	}
}

bool is_new_api(const peer *p)
{
	return !strcmp(p->o->algorithm, "ring") || !strcmp(p->o->algorithm, "bcube");
}

template <typename T>
void allreduce(const context_ptr &context, const T *src, T *dst, size_t n, enum trib_op op,
	       gloo::AllreduceOptions::Algorithm how)
{
	using fn = void (*)(void *, const void *, const void *, size_t);
	gloo::AllreduceOptions opts(context);

	opts.setAlgorithm(how);
	if (src != dst)
		opts.setInput(const_cast<T *>(src), n);
	opts.setOutput(dst, n);
	opts.setReduceFunction(op == TRIB_MAX	? fn(&gloo::max<T>)
			       : op == TRIB_MIN ? fn(&gloo::min<T>)
						: fn(&gloo::sum<T>));
	gloo::allreduce(opts);
}

template <typename T> std::unique_ptr<gloo::Algorithm> make(const peer *p, T *buf, size_t n)
{
	const gloo::ReductionFunction<T> *fn =
		p->o->op == TRIB_MAX   ? gloo::ReductionFunction<T>::max
		: p->o->op == TRIB_MIN ? gloo::ReductionFunction<T>::min
				       : gloo::ReductionFunction<T>::sum;
	std::string name = p->o->algorithm;
	std::vector<T *> ptrs{buf};
	int count = static_cast<int>(n);

	if (name.rfind("ring_chunked", 0) == 0)
		return std::make_unique<gloo::AllreduceRingChunked<T>>(p->data, ptrs, count, fn);
	if (name.rfind("halving_doubling", 0) == 0)
		return std::make_unique<gloo::AllreduceHalvingDoubling<T>>(p->data, ptrs, count,
									   fn);
	return std::make_unique<gloo::AllreduceBcube<T>>(p->data, ptrs, count, fn);
}

template <typename T> void run(const peer *p, const struct perf_call *call)
{
	auto how = !strcmp(p->o->algorithm, "ring") ? gloo::AllreduceOptions::Algorithm::RING
						    : gloo::AllreduceOptions::Algorithm::BCUBE;

	allreduce(p->data, static_cast<const T *>(call->src), static_cast<T *>(call->dst),
		  call->count, p->o->op, how);
}

/* The old classes are set up once for each buffer, as their users do. */
gloo::Algorithm *algorithm_of(peer *p, const struct perf_call *call)
{
	auto &a = p->algorithms[{call->dst, call->count}];

	if (!a && p->o->dtype == TRIB_F32)
		a = make(p, static_cast<float *>(call->dst), call->count);
	else if (!a)
		a = make(p, static_cast<int32_t *>(call->dst), call->count);
	return a.get();
}

int start(struct perf_net *net, const struct perf_call *call)
{
	return guarded(net, [&] {
		peer *p = of(net);

		if (!call->count)
			return;
		if (!is_new_api(p))
			algorithm_of(p, call)->run();
		else if (p->o->dtype == TRIB_F32)
			run<float>(p, call);
		else
			run<int32_t>(p, call);
	});
}

int finish(struct perf_net *, unsigned int)
{
	return 0; /* Gloo's calls block */
}

int barrier(struct perf_net *net)
{
	return guarded(net, [&] {
		gloo::BarrierOptions opts(of(net)->control);

		gloo::barrier(opts);
	});
}

template <typename T> int control(struct perf_net *net, T *v, size_t n, enum trib_op op)
{
	return guarded(net, [&] {
		allreduce(of(net)->control, v, v, n, op, gloo::AllreduceOptions::Algorithm::RING);
	});
}

int max_f32(struct perf_net *net, float *v, size_t n)
{
	return control(net, v, n, TRIB_MAX);
}

int max_i32(struct perf_net *net, int32_t *v, size_t n)
{
	return control(net, v, n, TRIB_MAX);
}

int sum_i32(struct perf_net *net, int32_t *v, size_t n)
{
	return control(net, v, n, TRIB_SUM);
}

const char *fault(struct perf_net *net)
{
	return of(net)->fault.c_str();
}

int on_extra(void *arg, int letter, const char *value)
{
	peer *p = static_cast<peer *>(arg);

	(letter == 'D' ? p->folder : p->iface) = value;
	return *value ? 0 : -1;
}

int env_number(const char *name, const char *other, unsigned int max, unsigned int *out)
{
	const char *text = getenv(name) ? getenv(name) : getenv(other);

	return text ? perf_parse_uint(text, 0, max, out) : -1;
}

void join(struct perf_net *net)
{
	peer *p = of(net);
	gloo::rendezvous::FileStore store(p->folder);
	gloo::transport::tcp::attr attr;

	attr.iface = p->iface;
	auto connect = [&](const char *name) {
		auto device = gloo::transport::tcp::CreateDevice(attr);
		auto context = std::make_shared<gloo::rendezvous::Context>(int(net->rank),
									   int(net->world));
		gloo::rendezvous::PrefixStore prefix(name, store);

		context->connectFullMesh(prefix, device);
		return context;
	};
	p->control = connect("control");
	p->data = connect("data");
	if (!strstr(p->o->algorithm, "_sync"))
		return;
	for (unsigned int i = 0; i < net->world; i++)
		if (i != net->rank)
			p->data->getPair(int(i))->setSync(true, false);
}

int measure_all(struct perf_net *net, const struct perf_opts *o)
{
	struct perf_report *report = net->rank ? nullptr : perf_report_begin(net, o);
	size_t bytes = o->min_bytes;
	struct perf_row row;
	int rc = 0, json = 0, wrong = 0;

	do {
		rc = perf_measure(net, o, bytes, &row);
		if (rc) {
			fprintf(stderr, "%s: rank %u: %zu bytes: %s\n", o->tool, net->rank, bytes,
				fault(net));
			break;
		}
		wrong |= row.wrong || row.differ;
		of(net)->algorithms.clear();
		if (report)
			rc = perf_report_row(report, &row);
		bytes = perf_opts_next(o, bytes);
	} while (!rc && bytes);
	if (report)
		json = perf_report_end(report, nullptr, rc);
	return rc || json ? 3 : wrong;
}

} // namespace

int main(int argc, char **argv)
{
	static const char *const names[] = {"ring",
					    "bcube",
					    "ring_chunked",
					    "ring_chunked_sync",
					    "halving_doubling",
					    "halving_doubling_sync",
					    "bcube_old",
					    nullptr};
	struct perf_opts o = {};
	struct perf_net net = {};
	peer p;
	int rc;

	o.tool = "bench-gloo";
	o.algorithms = names;
	o.extra = "D:I:";
	o.on_extra = on_extra;
	o.arg = &p;
	p.o = &o;
	rc = perf_opts_parse(&o, argc, argv);
	if (rc)
		return rc == 1 ? 0 : 2;
	if (p.folder.empty() || p.iface.empty() || o.collective != PERF_ALLREDUCE ||
	    o.inflight != 1 || o.op == TRIB_AVG || o.op == TRIB_PROD || o.dtype > TRIB_I32) {
		fprintf(stderr,
			"bench-gloo: needs -D FOLDER -I INTERFACE; allreduce of sum, max or min of float or int32, one at a time\n");
		return 2;
	}
	if (env_number("TRIB_WORLD", "WORLD_SIZE", 1024, &net.world) ||
	    env_number("TRIB_RANK", "RANK", 1023, &net.rank)) {
		fprintf(stderr, "bench-gloo: TRIB_RANK or TRIB_WORLD is not set\n");
		return 2;
	}
	net.name = o.tool;
	net.detail = o.algorithm;
	net.ctx = &p;
	net.in_place = !is_new_api(&p);
	net.bound = ORACLE_F32_SUMS;
	net.start = start;
	net.finish = finish;
	net.barrier = barrier;
	net.max_f32 = max_f32;
	net.max_i32 = max_i32;
	net.sum_i32 = sum_i32;
	net.fault = fault;
	rc = guarded(&net, [&] { join(&net); });
	if (rc) {
		fprintf(stderr, "bench-gloo: %s\n", fault(&net));
		return 3;
	}
	return measure_all(&net, &o);
}
