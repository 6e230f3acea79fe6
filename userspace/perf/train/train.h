/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the parts of trib-train: options, the course of one training,
 * and its report.
 */
#ifndef PERF_TRAIN_H
#define PERF_TRAIN_H

#include <stddef.h>
#include <stdint.h>

#include "mlp.h"
#include "sync.h"
#include "task.h"
#include "trib.h"
#include "wire.h"

#define TRAIN_EPOCHS_MAX 1000
#define TRAIN_POINTS 8 /* of the curve, an epoch */

/**
 * struct train_opts - the command line
 * @epochs:  passes over the samples.
 * @hidden:  widths of the hidden layers.
 * @nhidden: number of hidden layers.
 * @batch:   samples of one step, over all ranks.
 * @task:    generated data.
 * @samples: of the training set.
 * @test:    samples of the test set.
 * @rate:    initial learning rate; it falls linearly.
 * @momentum: of SGD.
 * @seed:    of data and first weights.
 * @bucket:  least number of bytes of gradients to send.
 * @alone:   number of ranks that this process replaces, without a job; or 0.
 * @json:    file for the figures, or NULL.
 * @compress: schedule of trib_compress.h, or NULL.
 * @local:   each rank selects values of its own.
 * @no_feedback: what is not sent is lost.
 * @ps:      train with a parameter server.
 * @parts:   parts of the samples, one for each of the PS's workers.
 * @part:    part of this worker, if @has_part.
 * @pause_ms: pause after each gradient, to act as a slow machine.
 * @initial: file for the first parameters, or NULL.
 */
struct train_opts {
	unsigned int epochs;
	unsigned int hidden[MLP_LAYERS_MAX - 1];
	unsigned int nhidden;
	unsigned int batch;
	enum task_kind task;
	unsigned int samples;
	unsigned int test;
	double rate;
	double momentum;
	uint64_t seed;
	size_t bucket;
	unsigned int alone;
	const char *json;
	const char *compress;
	int local;
	int no_feedback;
	int ps;
	unsigned int parts;
	unsigned int part;
	int has_part;
	unsigned int pause_ms;
	const char *initial;
};

/* 0, 1 (help or version was printed) or -2 (a message was printed). */
int train_parse(struct train_opts *o, int argc, char **argv);

/**
 * struct train_data - this process's samples
 * @part:  one for each rank that this process does the work of.
 * @nparts: 1, or all of them with --alone.
 */
struct train_data {
	struct task_part *train;
	struct task_part *test;
	unsigned int nparts;
};

/**
 * struct train_epoch - one line of the report
 * @loss:  mean cross-entropy over the epoch's training batches.
 * @train: share of their samples predicted right.
 * @test:  share of the test set predicted right after the epoch.
 * @algbw: gradient bytes over the time that sums took, 10^9 bytes/s.
 * @seconds: of training up to the end of the epoch, without evaluation.
 */
struct train_epoch {
	double loss;
	double train;
	double test;
	double algbw;
	double seconds;
};

/**
 * struct train_point - a point of the curve of the loss
 * @seconds: of training, without evaluation.
 * @loss:    mean of this rank's samples since the last point.
 */
struct train_point {
	double seconds;
	double loss;
};

/**
 * struct train_result - figures of a training
 * @epoch:     o->epochs of them.
 * @point:     TRAIN_POINTS for each epoch.
 * @seconds:   of training, evaluation included.
 * @samples:   seen, over all ranks.
 * @linear:    share of the test set a linear model gets right.
 * @nparam:    parameters.
 * @hash:      of this rank's parameters.
 * @identical: all ranks have the same hash.
 * @counters:  trib_counters() of this rank over the training.
 * @packed:    trib_compress_counters() of this rank.
 * @wire:      interface counters over the training.
 * @has_wire:  @wire is known.
 * @steps, @bytes, @busy_s, @wait_s: as in struct sync.
 */
struct train_result {
	struct train_epoch *epoch;
	struct train_point *point;
	double seconds;
	double samples;
	double linear;
	size_t nparam;
	uint64_t hash;
	int identical;
	struct trib_counters counters;
	struct trib_compress_counters packed;
	struct wire_bytes wire;
	int has_wire;
	uint64_t steps;
	uint64_t bytes;
	double busy_s;
	double wait_s;
};

struct board; /* output of rank 0 */

/*
 * Train a model with the hidden layers of @o and leave the figures in @res;
 * @b may be NULL. Return: 0 or a negative errno.
 */
int train_model(const struct train_opts *o, struct trib *t, struct train_data *data,
		struct board *b, struct train_result *res);

/* Train a linear model on the same data; fills in @res->linear. */
int train_linear(const struct train_opts *o, struct trib *t, struct train_data *data,
		 struct train_result *res);

struct board *board_begin(const struct train_opts *o, struct trib *t, size_t nparam);
/* Show that @share of epoch number @epoch (from 0) is done. */
void board_progress(struct board *b, unsigned int epoch, double share,
		    const struct train_epoch *so_far);
void board_epoch(struct board *b, unsigned int epoch, const struct train_epoch *e);
/* Print the summary, and write the JSON of --json. 0 or a negative errno. */
int board_end(struct board *b, const struct train_result *res);
void board_free(struct board *b);

#endif /* PERF_TRAIN_H */
