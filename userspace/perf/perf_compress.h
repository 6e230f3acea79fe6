/* SPDX-License-Identifier: BSD-2-Clause */
/* trib-perf -z: allreduces by trib_compress.h. */
#ifndef PERF_COMPRESS_H
#define PERF_COMPRESS_H

#include "measure.h"
#include "perf_device.h"
#include "trib_compress.h"

/**
 * struct perf_compress
 * @spec:  of -z, without "/local", or NULL: no compression.
 * @local: each rank selects by itself.
 * @text:  the same, as the library prints it.
 * @keep:  what it keeps, for the oracle.
 * @step:  messages finished: each is a training step, with the next leader.
 * @saved: for the report.
 * @device: where values are.
 */
struct perf_compress {
	const char *spec;
	bool local;
	struct trib_compress *c;
	char text[16 + sizeof("/local")];
	struct oracle_keep keep;
	unsigned int step;
	struct perf_saved saved;
	struct perf_device device;
};

/* Read -z, which is in z->spec, and check the other options against it. Return: 0, or -1 (a message was printed). */
int perf_compress_options(struct perf_compress *z, const struct perf_opts *o);
/* Start to compress; @t is attached. Return: 0, or a negative errno of the library. */
int perf_compress_open(struct perf_compress *z, const struct perf_opts *opts, struct perf_net *net,
		       struct trib *t);
int perf_compress_start(struct perf_compress *z, const struct perf_opts *o,
			const struct perf_call *call, struct trib_req **req);
/* After the message is done: end the step. */
int perf_compress_finish(struct perf_compress *z, struct perf_net *net);
/* After the last message of @count values. */
int perf_compress_forget(struct perf_compress *z, size_t count);
/* Fill in @saved. */
void perf_compress_count(struct perf_compress *z);
void perf_compress_close(struct perf_compress *z);

#endif /* PERF_COMPRESS_H */
