/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peer exchange, as libtrib sees it: libtrib-peer.so has one symbol, trib_peer_ops.
 * libtrib loads it by dlopen() where a job wants peers, so that hosts without libfabric
 * run everything else.
 *
 *	open: meet the other ranks, open ports, start a thread a lane
 *	issue: queue a call   ---> lanes carry it out --->  fd readable
 *	collect: the calls that are done
 *
 * One thread of the caller uses a handle at a time. Nothing prints or exits. All ranks
 * issue the same calls in the same order.
 */
#ifndef TRIB_PEER_H
#define TRIB_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/trib_auth.h"

struct trib_peer;

#define TRIB_PEER_ABI 3
#define TRIB_PEER_NICS 8

/**
 * struct trib_peer_conf - for open(); zero means default
 * @rank, @world, @job: of this process.
 * @address: rendezvous, "ADDR:PORT": rank 0 listens there.
 * @key:   that all ranks share.
 * @algorithm: "auto", "direct", "ring", "halving", "bcube", "torus"; NULL: auto.
 * @shape: "NxK" of a BCube, "RxC" of a torus; NULL: the best for the world.
 * @nics:  comma-separated devices, addresses or domains, a BCube level or torus
 *         direction each; NULL: all that @provider finds.
 * @provider: "stream": TCP sockets; or of libfabric: "verbs", "tcp;ofi_rxm", "verbs;ofi_rxm",
 *         "tcp"; NULL: best.
 * @intra: "allreduce", "reduce" or "none"; NULL: allreduce where several ranks share a
 *         machine.
 * @gpu:   of this process: index, PCI address or "none"; the nearest to the first NIC
 *         leads its machine. NULL: CUDA_VISIBLE_DEVICES, if that names one.
 * @gpu_way: how values in GPU memory travel: "host", "ipc", "nccl"; NULL or "auto": the
 *         best that all ranks can.
 * @gpu_library: file of libtrib-gpu.so; NULL: as trib_gpu_load() finds it.
 * @gpu_segment: bytes of such values that travel together; 0: default.
 * @exact: sums and averages of f32, masked ones too, have the bits that relays give, for
 *         any algorithm; @nval: values in a chunk of the job's packets; 0: 352.
 * @chunk: bytes that travel together; 0: by the network's rate, as measured.
 * @join_timeout_ms, @timeout_ms: as in struct trib_options.
 */
struct trib_peer_conf {
	uint32_t rank, world, job;
	const char *address;
	struct trib_key key;
	const char *algorithm;
	const char *shape;
	const char *nics;
	const char *provider;
	const char *intra;
	const char *gpu;
	const char *gpu_way;
	const char *gpu_library;
	size_t gpu_segment;
	bool exact;
	uint32_t nval;
	size_t chunk;
	unsigned int join_timeout_ms;
	unsigned int timeout_ms;
};

/**
 * struct trib_peer_call - a collective; numbers as in trib.h and uapi/trib_sock.h
 * @src, @dst: as in struct trib_call: ALLGATHER and BROADCAST take this rank's elements
 *         from their place in @dst. They stay the engine's until the call is collected.
 * @memory: enum trib_memory, of both; with TRIB_MEMORY_CUDA an ALLGATHER may take its
 *         elements from @src. @src_stream, @dst_stream: the call begins after their work.
 * @words: ALLREDUCE: sum of @count 64-bit words modulo 2^64, of host memory; @dtype is
 *         ignored.
 * @nm:    not 0: ALLREDUCE: sum or average of @count f32 elements of host memory, of which
 *         this rank sends those in its own mask: as in struct trib_call of the engine.
 * @mask:  the mask words.
 */
struct trib_peer_call {
	unsigned int collective;
	unsigned int op;
	unsigned int dtype;
	const void *src;
	void *dst;
	uint64_t count;
	uint32_t root;
	unsigned int memory;
	void *src_stream;
	void *dst_stream;
	bool words;
	uint8_t nm;
	const void *mask;
};

/**
 * struct trib_peer_error - the reason of a failure
 * @code: enum trib_error_code. @err: negative errno. @rank: to blame, or -1.
 */
struct trib_peer_error {
	int code;
	int err;
	int rank;
	char text[256];
};

/**
 * struct trib_peer_done - a call that is done
 * @status: 0; the errno that ended the engine; of exact sums -EDOM or -ERANGE.
 * @detail: -EDOM: report as in trib_exp_bad(); -ERANGE: 1 + the element.
 */
struct trib_peer_done {
	void *cookie;
	int status;
	int64_t detail;
};

/** struct trib_peer_counters - activity since open() */
struct trib_peer_counters {
	uint64_t calls;
	uint64_t chunks;     /* received */
	uint64_t sent_bytes; /* of values */
	uint64_t recv_bytes;
	uint64_t sent_by_nic[TRIB_PEER_NICS];
	uint64_t in_place; /* chunks that the network wrote to their place */
	uint64_t waits;	   /* times a lane slept */
};

/**
 * struct trib_peer_ops - the engine
 * @abi:   TRIB_PEER_ABI.
 * @open:  join. Return: 0, or a negative errno with @error.
 * @wrong: check a call; any time. Return: NULL, or a text that names the mistake.
 * @element: bytes of an element of a type.
 * @issue: queue a call. @cookie comes back. Return: 0, -ENOMEM, -EINVAL with error(): a
 *         buffer is not where the call says, or the error that ended the engine.
 * @fd:    readable while collect() has something.
 * @collect: the next call that is done. Return: false: none.
 * @error: why the engine ended, or, once, why it did not take the last call; @error.err
 *         is 0 if neither is so.
 * @describe: one line: algorithm, shape, NICs and providers, with reasons.
 * @leave: end the exchange. @orderly: wait until all ranks leave, or the time-out has
 *         passed. Afterwards nobody uses the memory of calls any more, and collect() has
 *         those that were under way.
 * @close: free all, after leave().
 */
struct trib_peer_ops {
	unsigned int abi;
	int (*open)(struct trib_peer **out, const struct trib_peer_conf *conf,
		    struct trib_peer_error *error);
	const char *(*wrong)(const struct trib_peer *p, const struct trib_peer_call *c);
	size_t (*element)(unsigned int dtype);
	int (*issue)(struct trib_peer *p, const struct trib_peer_call *c, void *cookie);
	int (*fd)(const struct trib_peer *p);
	bool (*collect)(struct trib_peer *p, struct trib_peer_done *done);
	void (*error)(struct trib_peer *p, struct trib_peer_error *error);
	void (*count)(struct trib_peer *p, struct trib_peer_counters *out);
	void (*describe)(struct trib_peer *p, char *buf, size_t room);
	void (*leave)(struct trib_peer *p, bool orderly);
	void (*close)(struct trib_peer *p);
};

extern const struct trib_peer_ops trib_peer_ops;

#endif /* TRIB_PEER_H */
